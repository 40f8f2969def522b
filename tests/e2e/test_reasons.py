"""What match, families, search and similar say of a pair beside its similarity."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from e2e.command import run, run_json

TEXT = " ".join(f"The tenant of house {place} keeps the garden in order." for place in range(12))
TEXTS = {
    "a.txt": f"{TEXT} Rent below < 500 is due in May.",
    "b.txt": f"{TEXT} rent  below > 500 is due in May.",
    "c.txt": f"{TEXT} Rent below < 600 is due in May quarterly.",
}


@pytest.fixture
def store(tmp_path: Path) -> str:
    folder = tmp_path / "files"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    url = f"sqlite:///{tmp_path}/index.db"
    run("index", folder, store=url)
    return url


def both(a: str, b: str) -> str:
    return "".join(sorted(Path(path).name[0] for path in (a, b)))


def test_match_explains_each_pair(store: str) -> None:
    plain = [line.split("\t") for line in run("match", store=store).splitlines()]
    assert plain[0][0] == "0.999" and plain[0].pop() == "no copy; --explain says what differs"
    assert [len(columns) for columns in plain] == [3, 3, 3]
    lines = [line.split("\t") for line in run("match", "--explain", store=store).splitlines()]
    assert sorted(columns[:3] for columns in lines) == sorted(plain)
    reasons = {both(a, b): text for _, a, b, text in lines}
    assert reasons["ab"].startswith("marks: symbol; 1 sign differs")
    assert (
        reasons["ac"].startswith("marks: number; 1 number differs: ")
        and "; 3 new words, " in reasons["ac"]
    )
    assert "1 sign differs: " in reasons["bc"] and "1 sign differs: " not in reasons["ac"]
    table = csv.DictReader(run("match", "--explain", "--format", "csv", store=store).splitlines())
    assert sorted(row["reasons"] for row in table) == sorted(reasons.values())
    pairs = [
        json.loads(line) for line in run("match", "--explain", "--json", store=store).splitlines()
    ]
    [copies] = [pair for pair in pairs if pair["similarity"] == 1]
    assert copies["same"] is None and not copies["rearranged"]
    [difference] = copies["differences"]
    assert {difference["a"], difference["b"]} == {"< 500", "> 500"}
    new = [pair["new_words"] for pair in pairs]
    assert sorted(words["left"] + words["right"] for words in new) == [0, 3, 3]
    run("match", "--explain", "--format", "copietje", store=store, code=2)


def test_families_explain_each_member(store: str) -> None:
    run("group", store=store)
    plain = run("families", store=store)
    assert "differs" not in plain
    explained = run("families", "--explain", store=store)
    assert "1 sign differs" in explained and "1 number differs: 500 / 600" in explained
    [family] = [run_json("families", "--explain", store=store)]
    assert ["differences" in member for member in family["members"]] == [False, True, True]


def test_what_holds_of_the_text_that_was_read_only_says_so(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/cut.db"
    for name, end in (("a.txt", "one"), ("b.txt", "other"), ("c.txt", "")):
        (tmp_path / name).write_text(TEXT[:400] + f" and so on to {end}" * (len(end) > 0), "utf-8")
    run("index", tmp_path, "--max-chars", "400", store=url)
    assert "0 near-duplicate groups" in run("group", store=url)
    run("group", "--policy", "loose", store=url)
    remarks = {
        both(*columns[1:3]): columns[3:]
        for columns in (line.split("\t") for line in run("match", store=url).splitlines())
    }
    remark = "as far as read; no copy; --explain says what differs"
    assert remarks == {pair: [remark] for pair in ("ab", "ac", "bc")}
    assert run("families", store=url).count("(as far as read)") == 2
    found = run("search", "tenant", "--policy", "loose", store=url)
    assert found.count("(as far as read)") == 2
    [family] = [run_json("families", store=url)]
    assert [member["as_read"] for member in family["members"]] == [False, True, True]
    explained = run("match", "--explain", store=url)
    assert explained.count("attachments differ:") == 3


def test_copies_that_were_extracted_from_other_files_say_so(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text('<?xml version="1.0"?><a>near fold</a>', "utf-8")
    (tmp_path / "b.xml").write_text('<?xml version="1.0"?><!-- b --><a>near\n fold</a>', "utf-8")
    url = f"sqlite:///{tmp_path}/index.db"
    run("index", tmp_path / "a.xml", tmp_path / "b.xml", store=url)
    assert "the same words, as extracted from files that differ; ignored: blanks" in run(
        "similar", tmp_path / "a.xml", store=url
    )


def test_texts_without_features_contain_nothing(tmp_path: Path) -> None:
    for name, text in (("a.txt", "hi"), ("b.txt", "Hi!")):
        (tmp_path / name).write_text(text, "utf-8")
    url = f"sqlite:///{tmp_path}/index.db"
    run("index", tmp_path / "a.txt", tmp_path / "b.txt", store=url)
    assert "of the query is in it" not in run("similar", tmp_path / "a.txt", store=url)
    [match] = run_json("similar", tmp_path / "a.txt", store=url)["matches"]
    assert (match["similarity"], match["containment"]) == (1.0, None)


def test_a_document_without_near_duplicates_may_be_in_another(store: str, tmp_path: Path) -> None:
    excerpt = tmp_path / "excerpt.txt"
    excerpt.write_text(TEXT[:120], "utf-8")
    assert "`nearfold match --contained`" in run("similar", excerpt, store=store)


def test_rearranged_documents_are_folded_by_overlap(tmp_path: Path) -> None:
    sentences = [f"Quay gate{place} bell{place} rope{place} mast{place}." for place in range(40)]
    (tmp_path / "a.txt").write_text(" ".join(sentences), "utf-8")
    (tmp_path / "b.txt").write_text(" ".join(sentences[20:] + sentences[:20]), "utf-8")
    url = f"sqlite:///{tmp_path}/index.db"
    run("index", tmp_path / "a.txt", tmp_path / "b.txt", store=url)
    assert "is rearranged: " in run("similar", tmp_path / "a.txt", store=url)
    assert run_json("group", store=url)["families"] == 0
    [pair] = run("match", "--measure", "overlap", "--explain", store=url).splitlines()
    assert "rearranged: nearly all passages are shared" in pair
    assert run_json("group", "--measure", "overlap", store=url)["families"] == 1
    found = run_json("search", "quay", "--measure", "overlap", store=url)["hits"]
    assert [len(hit["folded"]) for hit in found] == [1]


ROWS = re.findall(
    r"^\| (.+) \| (.+) \|$",
    (Path(__file__).parents[2] / "docs/families.md")
    .read_text("utf-8")
    .partition("| output | marks |\n|---|---|\n")[2]
    .partition("\n\n")[0],
    re.MULTILINE,
)
COMMANDS = [
    (command, not said.startswith("none"))
    for outputs, said in ROWS
    for command in re.findall(r"`([a-z][^`]*)`", outputs)
]


@pytest.fixture(scope="module")
def negated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return what stands for words of the commands, of a store with one negated member."""
    base = tmp_path_factory.mktemp("lease")
    folder = base / "files"
    folder.mkdir()
    text = f"{TEXT} The tenant may {{}}assign this lease."
    for name, word in (("a.txt", ""), ("b.txt", "not ")):
        (folder / name).write_text(text.format(word), encoding="utf-8")
    (base / "c.txt").write_text(text.format("never "), encoding="utf-8")
    url = f"sqlite:///{base}/index.db"
    run("index", folder, store=url)
    run("group", "--policy", "loose", store=url)
    return {"QUERY": "tenant", "DOCUMENT": f"{folder}/a.txt", "FILE": f"{base}/c.txt", "": url}


@pytest.mark.parametrize(("command", "has_marks"), COMMANDS, ids=str)
def test_outputs_have_the_marks_that_the_table_promises(
    negated: dict[str, str], command: str, has_marks: bool
) -> None:
    words = [negated.get(word, word) for word in command.split()]
    if words[0] in ("search", "match", "group"):
        words += ["--policy", "loose"]
    elif command == "compare FILE FILE":
        words[2] = negated["DOCUMENT"]
    elif words[0] in ("delete", "dedup", "duplicates"):
        return  # they write, or read other files
    assert ("negat" in run(*words, store=negated[""])) == has_marks


def test_a_dry_run_of_labels_counts_marks(negated: dict[str, str]) -> None:
    command = ("label", negated["DOCUMENT"], "--label", "x", "--family", "--dry-run")
    assert "marks of members: negated 1" in run(*command, store=negated[""])
    planned = run_json(*command, store=negated[""])
    assert planned["marks"] == {"negated": 1}
    assert [mark["kind"] for change in planned["changes"] for mark in change["marks"]] == [
        "negated"
    ]


def test_pairs_are_exported_with_marks(negated: dict[str, str]) -> None:
    written = run("export", "--what", "pairs", "--out", "-", store=negated[""])
    assert [row["marks"] for row in csv.DictReader(written.splitlines())] == ["negated"]
