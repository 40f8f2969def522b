"""The three questions of the main job, asked on the embedded store by the command line."""

import json
import shutil
import subprocess
import sys
import time
import zipfile
from datetime import datetime
from pathlib import Path

import pytest
from e2e.command import ROOT, outcome, run, run_json

EXAMPLES = ROOT / "examples"
PRESS, NEWS = EXAMPLES / "ferry-press-release.txt", EXAMPLES / "ferry-news-evening-edition.txt"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = f"sqlite:///{tmp_path_factory.mktemp('cli')}/index.db"
    account = run_json("index", EXAMPLES, store=url)
    assert account["indexed"] == account["seen"] == len(list(EXAMPLES.iterdir()))
    assert account["failed"] == []
    return url


def test_second_run_finds_everything_unchanged(store: str) -> None:
    account = run_json("index", EXAMPLES, store=store)
    assert account["unchanged"] == account["seen"]


def test_similar_finds_the_other_edition_and_says_why(store: str) -> None:
    answer = run_json("similar", PRESS, store=store)
    matches = {Path(match["path"]).name: match for match in answer["matches"]}
    assert NEWS.name in matches and PRESS.name not in matches
    match = matches[NEWS.name]
    assert match["measure"] == "lcs" and match["low"] == match["similarity"] == match["high"] > 0.9
    assert match["in_order"]
    assert max(passage["words"] for passage in match["shared"]) > 50
    text = PRESS.read_text(encoding="utf-8")
    start, end = max(match["shared"], key=lambda passage: passage["words"])["a"]
    assert text[start:end] in NEWS.read_text(encoding="utf-8")


def test_similar_by_id_and_by_stdin_agree(store: str) -> None:
    answer = run_json("search", "Vega quay", "--fold", "none", store=store)
    ids = {Path(hit["path"]).name: hit["id"] for hit in answer["hits"]}
    by_id = run_json("similar", "--id", ids[PRESS.name], store=store)
    by_text = run_json("similar", "-", store=store, stdin=PRESS.read_text(encoding="utf-8"))
    assert [m["id"] for m in by_id["matches"]] == [
        m["id"] for m in by_text["matches"] if m["id"] != ids[PRESS.name]
    ]
    assert by_text["matches"][0]["similarity"] == 1.0


def test_search_folds_near_duplicates_and_drops_none(store: str) -> None:
    folded = run_json("search", "ferry", store=store)
    plain = run_json("search", "ferry", "--fold", "none", store=store)
    hit_ids = [hit["id"] for hit in folded["hits"]]
    folded_ids = [folded_hit["id"] for hit in folded["hits"] for folded_hit in hit["folded"]]
    assert sorted(hit_ids + folded_ids) == sorted(hit["id"] for hit in plain["hits"])
    assert folded["total"] == plain["total"] == len(plain["hits"])
    assert folded["families"] == {"value": len(hit_ids), "relation": "eq"}
    assert (folded["measure"], folded["threshold"]) == ("lcs", 0.9)
    assert all(match["similarity"] >= 0.9 for hit in folded["hits"] for match in hit["folded"])
    assert "similarity to the hit above by measure: lcs" in run("search", "ferry", store=store)
    assert folded_ids and len(hit_ids) < len(plain["hits"])


def test_hits_have_a_snippet_of_the_words_that_match(store: str) -> None:
    [hit] = run_json("search", "café +timetable", "--limit", "1", store=store)["hits"]
    found = [piece["text"] for piece in hit["snippet"] if piece["found"]]
    assert found and {text.casefold() for text in found} <= {"timetable"}
    printed = run("search", "timetable", "--limit", "1", store=store)
    assert "".join(piece["text"] for piece in hit["snippet"]) in printed
    without = run("search", "timetable", "--limit", "1", "--no-snippets", store=store)
    assert found[0] not in without


def test_documents_are_named_by_id_or_path(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    shown = run_json("show", PRESS.name, "--near", store=store)
    assert shown["path"] == str(PRESS) and "FERRY LINE" in shown["text"]
    assert shown["id"] in {member["id"] for member in shown["near"]}
    assert run_json("show", shown["id"], "--near", store=store) == shown
    printed = run("show", PRESS.name, store=store)
    assert f"path: {PRESS.name}" in printed and "FERRY LINE" in printed
    assert "\nferry-" in run("search", "ferry", "--filter", "folder=.", store=store)
    by_path = run_json("similar", "--id", PRESS.name, store=store)
    assert by_path == run_json("similar", "--id", shown["id"], store=store)
    run("label", PRESS.name, "--label", "seen", store=store)
    assert run_json("show", PRESS.name, store=store)["labels"] == ["seen"]
    run("label", PRESS.name, "--remove", "seen", store=store)
    assert run_json("versions", PRESS.name, store=store)["documents"] >= 1


def test_a_file_is_one_document_whatever_path_it_came_by(tmp_path: Path) -> None:
    url, folder = f"sqlite:///{tmp_path}/x.db", tmp_path / "nest"
    shutil.copytree(EXAMPLES, folder / "sub", ignore=shutil.ignore_patterns("*.pdf"))
    with zipfile.ZipFile(folder / "sub" / "some.zip", "w") as archive:
        archive.write(PRESS, "press.txt")
    first = run_json("index", folder, "--containers", "all", "--attachments", store=url)
    everything = ("search", "", "--fold", "none", "--limit", "99")
    ids = {hit["id"] for hit in run_json(*everything, store=url)["hits"]}
    for path in (
        folder / "sub",
        folder / "sub" / PRESS.name,
        tmp_path,
        folder / "sub" / "some.zip",
    ):
        again = run_json(
            "index", path, "--containers", "all", "--attachments", "--prune", store=url
        )
        assert (again["indexed"], again["removed"]) == (0, 0)
    (folder / "sub" / PRESS.name).write_text("The ferry was sold.")
    changed = run_json("index", folder / "sub", "--containers", "all", "--attachments", store=url)
    assert changed["indexed"] == 1
    assert run_json("status", store=url)["documents"] == first["indexed"]
    assert {hit["id"] for hit in run_json(*everything, store=url)["hits"]} == ids
    assert run_json("index", folder, "--namespace", "other", store=url)["indexed"] > 0


def test_a_chinese_word_inside_a_sentence_is_found(store: str) -> None:
    hits = run_json("search", "渡轮", store=store)["hits"]
    assert [Path(hit["path"]).name for hit in hits] == ["港口通知.txt"]


def test_pages_show_every_group_once(store: str) -> None:
    all_groups = [
        hit["id"]
        for hit in run_json("search", "", "--sort", "path", "--limit", "50", store=store)["hits"]
    ]
    pages = [
        run_json("search", "", "--sort", "path", "--limit", "2", "--page", str(n), store=store)[
            "hits"
        ]
        for n in range(1, 10)
    ]
    assert [hit["id"] for page in pages for hit in page] == all_groups


def test_compare_marks_shared_passages() -> None:
    compared = run_json("compare", PRESS, NEWS)
    assert set(compared["measures"]) >= {
        "jaccard",
        "resemblance",
        "jaccard_words",
        "overlap",
        "containment",
        "terminology",
        "estimate",
    }
    assert "Vega" in run("compare", PRESS, NEWS)


@pytest.mark.parametrize("recipe", ["default", "default_v2"])
def test_hash_prints_what_fingerprint_gives(recipe: str) -> None:
    from indexer.fingerprinting.fingerprint import fingerprint
    from indexer.recipe import recipe_named

    line = run_json("hash", PRESS, "--recipe", recipe)
    sketch = fingerprint(PRESS.read_text(encoding="utf-8"), recipe_named(recipe))
    assert sketch.minhash is not None and (sketch.simhash is not None) == (recipe == "default")
    assert (line["simhash"], line["minhash"], line["bands"]) == (
        None if sketch.simhash is None else f"{sketch.simhash:016x}",
        sketch.minhash.tolist(),
        list(sketch.bands),
    )
    if recipe == "default":
        assert run_json("hash", PRESS) == line


def test_plan_status_doctor(store: str) -> None:
    assert "areas of error" in run("plan", "--measure", "jaccard")
    assert "areas of error" not in run("plan")  # they are of the features, not of lcs
    planned = run_json("plan", "--threshold", "0.5")
    assert (planned["bands"], planned["rows"]) == (47, 2)
    layout = f"{planned['bands']} bands x {planned['rows']} rows"
    assert layout in outcome("match", "--threshold", "0.5", store=store).stderr
    assert run_json("status", store=store)["documents"] == len(list(EXAMPLES.iterdir()))
    assert {check["verdict"] for check in run_json("doctor", store=store)["checks"]} <= {
        "good",
        "note",
    }


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["index", "no-such-folder"], 2, "does not exist"),
        (["similar"], 2, "--id"),
        (["similar", "x", "--id", "y"], 2, "only one"),
        (["frobnicate"], 2, "frobnicate"),
        (["search", "x", "--filter", "nonsense"], 2, "FIELD=VALUE"),
        (["search", "x", "--store", "sqlite:///absent.db"], 3, "nearfold index"),
        (["search", "x", "--store", "ftp://elsewhere/x"], 2, "sqlite:///"),
        (["index", "examples", "--recipe", "nonsense"], 2, "default"),
        (["plan", "--threshold", "0"], 2, "between 0 and 1"),
        (["search", "x", "--threshold", "nan"], 2, "not a number"),
        (["hash", "README.md", "absent.txt"], 2, "absent.txt does not exist"),
        (["compare", "README.md", "absent.txt"], 3, "no document absent.txt in the store"),
        (["compare", "README.md", "0" * 32], 3, "no document"),
        (["similar", "--id", "0" * 32], 3, "no document"),
        (["show", "absent.txt"], 3, "no document"),
        (["versions", "absent.txt"], 3, "no document"),
    ],
)
def test_mistakes_get_a_sentence_and_the_documented_code(
    words: list[str], code: int, sentence: str, store: str
) -> None:
    done = outcome(*words, store=store)
    assert done.returncode == code, done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_pruning_removes_what_is_gone_and_nothing_else(tmp_path: Path) -> None:
    folder, url = tmp_path / "docs", f"sqlite:///{tmp_path}/x.db"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.txt").write_text(
            f"This is document {name}, which says something of its own {name * 30}."
        )
    run("index", folder, store=url)
    (folder / "a.txt").unlink()
    assert run_json("index", folder, store=url)["removed"] == 0
    assert run_json("index", folder, "--prune", store=url)["removed"] == 1
    assert run_json("status", store=url)["documents"] == 1


def test_pruning_one_folder_leaves_rows_whose_files_exist(tmp_path: Path) -> None:
    """Ids of a subfolder given by itself differ, so a row may be unseen although its file is
    there.
    """
    folder, url = tmp_path / "docs", f"sqlite:///{tmp_path}/x.db"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.txt").write_text(
        "A document in a subfolder, with something to say for itself."
    )
    run("index", folder, store=url)
    assert run_json("index", folder / "sub", "--prune", store=url)["removed"] == 0


def test_labels_reach_unchanged_documents_too(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/x.db"
    run("index", EXAMPLES, "--label", "first", store=url)
    again = run_json("index", EXAMPLES, "--label", "second", store=url)
    assert again["indexed"] == again["seen"]
    for label in ("first", "second"):
        assert (
            run_json("search", "", "--filter", f"labels={label}", store=url)["total"]
            == again["seen"]
        )
    assert run_json("index", EXAMPLES, "--label", "second", store=url)["unchanged"] == again["seen"]


def test_stdin_is_read_as_a_file_is(tmp_path: Path) -> None:
    text = PRESS.read_text(encoding="utf-8")
    (tmp_path / "wide.txt").write_bytes(text.encode("utf-16"))
    by_path = run_json("hash", tmp_path / "wide.txt")
    command = [sys.executable, "-m", "indexer", "hash", "-", "--json"]
    done = subprocess.run(
        command, input=text.encode("utf-16"), capture_output=True, check=True, cwd=ROOT
    )
    assert json.loads(done.stdout)["minhash"] == by_path["minhash"]


def test_a_recipe_of_bits_alone_finds_by_blocks(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/x.db"
    run("index", EXAMPLES, "--recipe", "simhash-doc", store=url)
    answer = run_json("similar", PRESS, "--threshold", "0.5", store=url)
    assert "ferry-web-page.html" in {Path(match["path"]).name for match in answer["matches"]}
    assert "by measure: hamming, folded at 0.953125" in run("search", "ferry", store=url)


def test_the_recipe_of_loose_look_ups_goes_by_its_distance(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/x.db"
    run("index", EXAMPLES, "--recipe", "simhash-doc-loose", store=url)
    assert "of 0.90625 or more" in outcome("match", store=url).stderr
    run("group", store=url)
    assert "by measure: hamming, folded at 0.90625" in run("search", "ferry", store=url)
    refused = outcome("match", "--format", "copietje", store=url)
    assert refused.returncode == 2 and "need MinHash slots" in refused.stderr
    refused = outcome("match", "--threshold", "0.5", store=url)
    assert "or compare texts by `match --complete`" in refused.stderr


def test_pairs_of_a_file_of_fingerprints_are_json_lines(tmp_path: Path) -> None:
    file = tmp_path / "fingerprints.txt"
    file.write_text("ff a\nfe b\n00 c\n")
    done = outcome("match", "--fingerprints", file, "--json")
    pair = {"a": "a", "b": "b", "similarity": 1 - 1 / 64, "measure": "hamming", "distance": 1}
    assert [json.loads(line) for line in done.stdout.splitlines()] == [pair]
    summary = json.loads(done.stderr)
    assert (summary["fingerprints"], summary["pairs"], summary["tables"]) == (3, 1, 16)
    file.write_text("\ufeffff a\nfe b\n00 c\n", encoding="utf-8")
    lines = run("match", "--fingerprints", file, "--format", "jsonl").splitlines()
    assert [json.loads(line) for line in lines] == [pair]
    refused = outcome("match", "--fingerprints", file, "--format", "csv")
    assert refused.returncode == 2 and "or with --format jsonl" in refused.stderr
    refused = outcome("match", "--fingerprints", file, "--threshold", "0.5")
    assert refused.returncode == 2 and "--complete" not in refused.stderr
    file.write_text("ff a\n", encoding="utf-16")
    refused = outcome("match", "--fingerprints", file)
    assert refused.returncode == 2 and "is not UTF-8" in refused.stderr


def test_a_number_of_bytes_is_digits(tmp_path: Path) -> None:
    for wrong, reason in (("1k", "no number of bytes; write digits"), ("0", "x>=1")):
        refused = outcome("index", EXAMPLES, "--max-bytes", wrong, store=f"sqlite:///{tmp_path}/x")
        assert refused.returncode == 2 and reason in refused.stderr


def test_index_says_that_patterns_leave_everything_out(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/x.db"
    done = outcome("index", EXAMPLES, "--include", "nope", store=url)
    count = len(list(EXAMPLES.iterdir()))
    assert f"{count} documents left out, which is all, by --include nope" in done.stderr
    assert "left out" not in outcome("index", EXAMPLES, "--include", "*.txt", store=url).stderr
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("ferry")
    (tmp_path / "docs" / "link.txt").symlink_to("a.txt")
    done = outcome("index", tmp_path / "docs", "--include", "nope", store=url)
    assert "1 document left out, which is all, by --include nope" in done.stderr


def test_an_index_of_the_former_default_keeps_its_recipe_until_reindex(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/x.db"
    run("index", EXAMPLES, "--recipe", "default_v1", store=url)
    (tmp_path / "edition.txt").write_text(PRESS.read_text(encoding="utf-8") + "\nSecond edition.\n")
    account = run_json("index", EXAMPLES, tmp_path / "edition.txt", store=url)
    assert (account["indexed"], account["unchanged"]) == (1, len(list(EXAMPLES.iterdir())))
    assert run_json("status", store=url)["recipe"]["name"] == "default_v1"
    answer = run_json("similar", tmp_path / "edition.txt", "--measure", "hamming", store=url)
    assert PRESS.name in {Path(match["path"]).name for match in answer["matches"]}
    refusal = outcome("index", EXAMPLES, "--recipe", "default", store=url)
    assert refusal.returncode == 3 and "built with recipe default_v1" in refusal.stderr
    run("reindex", "--recipe", "default", store=url)
    assert run_json("status", store=url)["recipe"]["name"] == "default_v3"


def test_status_answers_while_a_job_holds_the_journal(tmp_path: Path) -> None:
    from indexer.stores.address import parse_address
    from indexer.stores.journal import Journal, journal_path

    url = f"sqlite:///{tmp_path}/x.db"
    run("index", EXAMPLES, store=url)
    with Journal(journal_path(parse_address(url))):
        assert run_json("status", store=url)["running"] is True
        assert outcome("index", EXAMPLES, store=url).returncode == 3
    assert run_json("status", store=url)["running"] is False


def test_a_file_that_cannot_be_read_any_more_leaves_no_row(tmp_path: Path) -> None:
    import samples

    folder, url = tmp_path / "docs", f"sqlite:///{tmp_path}/x.db"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(samples.pdf())
    run("index", folder, store=url)
    (folder / "a.pdf").write_bytes(samples.pdf(password="unguessable"))
    assert len(run_json("index", folder, store=url, code=1)["failed"]) == 1
    assert run_json("status", store=url)["documents"] == 0
    again = run_json("index", folder, store=url, code=1)
    assert "encrypted" in again["failed"][0]["error"]


def test_what_failed_is_counted_listed_and_tried_again(tmp_path: Path) -> None:
    import samples

    folder, url = tmp_path / "docs", f"sqlite:///{tmp_path}/x.db"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(samples.pdf(password="unguessable"))
    run("index", folder, store=url, code=1)
    assert "1  failed: " in run("status", store=url)
    [failure] = run_json("status", store=url)["failed"]
    assert failure["path"] == str(folder / "a.pdf") and "encrypted" in failure["error"]
    assert time.time() - datetime.fromisoformat(failure["at"]).timestamp() < 60
    assert run_json("status", "--failures", store=url) == failure
    assert (
        run("status", "--failures", store=url)
        == f"{failure['at']}  {failure['id']}  {failure['path']}: {failure['error']}\n"
    )
    (folder / "a.pdf").write_bytes(samples.pdf())
    assert run_json("index", folder, "--retry", store=url)["indexed"] == 1
    assert run("status", "--failures", store=url) == ""


@pytest.mark.parametrize(
    "recipe",
    [
        "baseline:i-match",
        "ws:none:sha1:16:affine64",
        "baseline:winnowing",
    ],
)
def test_a_recipe_that_cannot_be_kept_leaves_nothing_behind(recipe: str, tmp_path: Path) -> None:
    done = outcome("index", EXAMPLES, "--recipe", recipe, "--store", f"sqlite:///{tmp_path}/x.db")
    assert done.returncode == 2, done.stderr
    assert recipe.partition(":")[0] in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "recipe",
    [
        "default",
        ":::",
        "white_space:norm:mmh3:64:legacy",
        "2-word-shingles:none:crc32:32:affine64",
        "ws:none:sha1:32:fss",
        "3-byte-grams:none:sha1:32:icws:b2",
        "simhash-doc",
        "simhash-doc-loose",
        "simhash-doc-v4-loose:stop-en",
        "simhash-doc-v5",
        "signature-study:simhash:40",
        "signature-study:minhash:1024",
        "signature-study:topsig-released:512",
        "baseline:super-shingles",
        "baseline:mega-shingles",
        "baseline:winnowing",
    ],
)
def test_every_recipe_is_printed_by_hash(recipe: str) -> None:
    line = run_json("hash", PRESS, "--recipe", recipe)
    assert line["status"] == "complete"
    assert line["simhash"] or line["minhash"] or line["blocks"]
    if recipe.startswith("simhash-doc"):
        [printed] = run("hash", PRESS, "--recipe", recipe).split()[:1]
        assert line["base32"] == printed
    else:
        assert "base32" not in line


@pytest.mark.parametrize(
    "recipe",
    [
        "clauses:60",
        pytest.param("signature-study:weighted-topsig:32", marks=pytest.mark.slow),
        pytest.param("baseline:i-match", marks=pytest.mark.slow),
    ],
)
def test_recipes_with_weights_take_statistics_of_a_folder_or_a_file(
    recipe: str, tmp_path: Path
) -> None:
    saved = tmp_path / "statistics"
    counted = run_json(
        "hash", PRESS, "--recipe", recipe, "--statistics", EXAMPLES, "--save-statistics", saved
    )
    assert run_json("hash", PRESS, "--recipe", recipe, "--statistics", saved) == counted
    url = f"sqlite:///{tmp_path}/x.db"
    run("index", EXAMPLES, store=url)
    assert run_json("hash", PRESS, "--recipe", recipe, "--statistics", url) == counted
    assert "--statistics" in outcome("hash", PRESS, "--recipe", recipe).stderr


def test_one_measure_alone(tmp_path: Path) -> None:
    assert run("compare", PRESS, NEWS, "--measure", "overlap").split()[0] == "overlap"
    assert run("compare", PRESS, NEWS, "--measure", "overlap:8").split()[0] == "overlap:8"
    variant = "--measure", "overlap", "--matching", "information", "--shingle-width", "8"
    assert "overlap:8:information" in run("plan", *variant)
    assert "not lcs" in outcome("plan", "--shingle-width", "8").stderr


@pytest.mark.parametrize("arguments", [["plan"], ["compare", str(PRESS), str(NEWS)]])
def test_a_reader_that_stops_early_is_no_error(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "indexer", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as job:
        assert job.stdout and job.stderr
        job.stdout.close()
        assert (job.stderr.read(), job.wait()) == (b"", 0)


def test_skipped_links_are_counted_in_words(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / name).symlink_to(PRESS)
    printed = run("index", folder, store=f"sqlite:///{tmp_path}/x.db")
    assert "2 symbolic links" in printed
    (folder / "two").unlink()
    assert "1 symbolic link," in run("index", folder, store=f"sqlite:///{tmp_path}/x.db")
