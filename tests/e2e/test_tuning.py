"""`synth` and `tune`: their outcomes in JSON, and what they refuse."""

from pathlib import Path

from command import ROOT, outcome, run, run_json


def test_synth_in_json_and_its_refusals(tmp_path: Path) -> None:
    out = tmp_path / "corpus"
    corpus = run_json(
        "synth", ROOT / "examples", "--out", out, "--kinds", "copy, edit-05", "--documents", "2"
    )
    assert (
        corpus["kinds"] == {"copy": 2, "edit-05": 2}
        and corpus["files"] == 6
        and Path(corpus["gold"]).is_file()
    )
    again = outcome("synth", ROOT / "examples", "--out", out)
    assert again.returncode == 2 and "give --out a new one" in again.stderr
    unknown = outcome("synth", ROOT / "examples", "--out", tmp_path / "new", "--kinds", "copies")
    assert (
        unknown.returncode == 2 and "copies" in unknown.stderr and not (tmp_path / "new").exists()
    )
    assert outcome("synth", tmp_path / "nowhere", "--out", tmp_path / "new").returncode == 2


def test_tune_in_json_and_its_refusals(tmp_path: Path) -> None:
    run(
        "synth",
        ROOT / "examples",
        "--out",
        tmp_path / "corpus",
        "--kinds",
        "copy,edit-20,boilerplate",
        "--documents",
        "4",
    )
    gold, out = tmp_path / "corpus" / "gold.csv", tmp_path / "tuned"
    answer = run_json("tune", gold, "--out", out, "--recipe", "default")
    assert (
        answer["recipe"] == "default_v3" and answer["kept"] == 0 and (out / "report.html").is_file()
    )
    assert run_json("tune", gold, "--out", out, "--recipe", "default")["kept"] == 1
    printed = run("tune", gold, "--out", out, "--recipe", "default", "--strict")
    assert "use default_v3 with lcs" in printed and "1 of them from an earlier run" in printed
    assert outcome("tune", gold, "--out", gold).returncode == 2
    assert outcome("tune", gold, "--out", out, "--recipe", "ws:norm").returncode == 2
    (tmp_path / "bad.csv").write_text("a,b,type\nnowhere,none,fuzzy\n")
    assert "nowhere" in outcome("tune", tmp_path / "bad.csv", "--out", out).stderr
