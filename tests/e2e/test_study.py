"""The commands of docs/study.md on the example folder, their files, and refusals."""

import json
from pathlib import Path

from command import ROOT, outcome, run_json


def test_copies_and_texts_without_content_are_counted_apart(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, text in (
        ("a", "A ferry opens in May."),
        ("b", "A ferry opens in May."),
        ("c", ""),
        ("d", "1234567"),
        ("e", "abc"),
    ):
        (folder / f"{name}.txt").write_text(text)
    (folder / "f.txt").write_text("Another text about something else.")
    options = ("--out", tmp_path / "out", "--bits", "32,64", "--sample", "1")
    study = run_json("study", folder, *options, "--no-keep-duplicates")
    expected = {
        "documents": 6,
        "failed": 0,
        "empty": 1,
        "copies": 1,
        "numbers_only": 1,
        "too_short": 1,
        "studied": 2,
    }
    assert expected.items() <= study["account"].items()
    assert all(
        spread["collisions"] == 1
        for spread in study["spreads"]
        if spread["method"] == "weighted-topsig"
    )
    again = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert study["spreads"] == again["spreads"] and study["findings"] == again["findings"]


def test_refusals(tmp_path: Path) -> None:
    out, empty = tmp_path / "out", tmp_path / "empty"
    empty.mkdir()
    assert (
        "only one of them"
        in outcome("study", ROOT / "examples", "--out", out, "--store", "sqlite://:memory:").stderr
    )
    assert (
        "multiple of 8" in outcome("study", ROOT / "examples", "--out", out, "--bits", "20").stderr
    )
    assert outcome("study", ROOT / "examples", "--out", out, "--bits", "many").returncode == 2
    assert "no text to fingerprint" in outcome("study", empty, "--out", out).stderr


def test_texts_added_after_a_refusal_are_studied(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    assert (
        "no text to fingerprint"
        in outcome("study", folder, "--out", tmp_path / "out", "--bits", "16").stderr
    )
    (folder / "a.txt").write_text("A ferry opens in May.")
    study = run_json("study", folder, "--out", tmp_path / "out", "--bits", "16")
    assert study["account"]["studied"] == 1
    assert (
        study["findings"][0]
        == "16 bits: as many collisions by every method (1.0000 documents a signature)."
    )
    assert "<h2>Neighbours</h2>" not in (tmp_path / "out" / "report.html").read_text(
        encoding="utf-8"
    )
