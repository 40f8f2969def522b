"""`match --format copietje` beside what copietje's algorithm prints by the libraries that it uses.

`tests/data/copietje/make_reference.py` wrote the files, with datasketch, clean-text and Beautiful
Soup. `words` and `sents` are not among them: copietje takes those from a Dutch model of spaCy.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexer import IndexOptions, index
from indexer.cli.main import run
from indexer.cli.match import copietje_line
from indexer.documents.base import ReadOptions
from indexer.recipe import recipe_named

USUAL = "ws:norm-html:sha1:128"
DATA = Path(__file__).parent.parent / "data/copietje"


def sections(name: str) -> dict[str, str]:
    """Return the lines of a reference file by condenser."""
    parts = (DATA / name).read_text(encoding="utf-8").split("## ")[1:]
    return dict(part.split("\n", 1) for part in parts)


EXPECTED = sections("expected-2.0.txt")
FORMER = sections("expected-1.6.txt")


@pytest.fixture(scope="module")
def case(tmp_path_factory) -> Path:
    """Return the documents as a table, whose labels begin with one for every labelled document."""
    path = tmp_path_factory.mktemp("copietje") / "case.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for line in (DATA / "documents.jsonl").read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            status = record["privileged_status"]
            record["labels"] = ["privileged", status] if status else []
            file.write(json.dumps(record) + "\n")
    return path


def store_of(case: Path, recipe: str) -> str:
    """Return the URL of a store of the documents under a recipe."""
    for library in ("ftfy", "unidecode", "emoji", "bs4"):
        pytest.importorskip(library)
    url = f"sqlite:///{case.parent}/{recipe.replace(':', '-')}.db"
    reading = ReadOptions(id_field="uid", own_ids=True, label_field="labels")
    index([str(case)], url, IndexOptions(recipe_named(recipe), reading=reading))
    return url


def printed(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """Return what `match --format copietje` prints with these options."""
    capsys.readouterr()
    assert run(["match", "--format", "copietje", *options]) == 0
    return capsys.readouterr().out


QUICK = {name for place, name in enumerate(EXPECTED) if place % 7 == 0 or not name.endswith("128")}


@pytest.mark.parametrize(
    "condenser",
    [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in EXPECTED],
)
def test_every_condenser_prints_the_lines_of_copietje(condenser, case, capsys) -> None:
    url = store_of(case, condenser)
    lines = printed(capsys, "--store", url, "--against", "privileged", "--ids")
    assert lines == EXPECTED[condenser]


def test_the_scheme_of_datasketch_before_2_prints_its_lines(case, capsys) -> None:
    url = store_of(case, "ws:norm-html:sha1:128:legacy")
    lines = printed(capsys, "--store", url, "--against", "privileged", "--ids")
    assert lines == FORMER[USUAL]


@pytest.mark.parametrize(("name", "lines"), [("2.0", EXPECTED), ("1.6", FORMER)])
def test_the_database_of_copietje_gives_the_same_lines(name, lines, capsys) -> None:
    assert printed(capsys, "--minhashes", str(DATA / f"case-{name}.db")) == lines[USUAL]


def test_the_pairs_of_a_database_as_json(capsys) -> None:
    database = str(DATA / "case-2.0.db")
    for options in (["--json"], ["--format", "jsonl"]):
        assert run(["match", "--minhashes", database, *options]) == 0
        pairs = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        by_document: dict[str, list[tuple[float, str]]] = {}
        for pair in pairs:
            by_document.setdefault(pair["a"], []).append((pair["similarity"], pair["b"]))
        lines = [copietje_line(*document) for document in by_document.items()]
        assert "".join(lines) == EXPECTED[USUAL]
    assert run(["match", "--minhashes", database, "--format", "csv"]) == 2
    assert "or --format jsonl" in capsys.readouterr().err


def test_another_weight_takes_other_bands(case, capsys) -> None:
    url = store_of(case, USUAL)
    for weight, bands in (("0.75", "26 bands x 4 rows"), ("0.5", "25 bands x 5 rows")):
        options = ("--store", url, "--ids", "--false-negative-weight", weight)
        assert run(["match", "--format", "copietje", *options]) == 0
        assert bands in capsys.readouterr().err


def test_a_file_that_is_no_database_of_copietje_is_refused(tmp_path, capsys) -> None:
    other = tmp_path / "other.db"
    other.write_text("text")
    assert run(["match", "--minhashes", str(other)]) == 2
    assert "no database of copietje" in capsys.readouterr().err
