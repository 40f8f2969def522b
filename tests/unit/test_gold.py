"""Gold sets and sheets as files.

Accepted rows, refused rows with their line, and sheets cut short.
"""

import csv
import json
from pathlib import Path

import pytest

from indexer.errors import SourceNotFound, UsageError
from indexer.lab.evaluation.gold import gold_sets, read_gold
from indexer.lab.evaluation.judge import write_blank_sheet
from indexer.lab.evaluation.judgements import Sheet
from indexer.lab.evaluation.sheets import SheetWriter, disagreements, read_sheets, resolve


def write_file(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_pairs_of_csv(tmp_path: Path) -> None:
    gold = read_gold(
        write_file(
            tmp_path,
            "g.csv",
            "A,b,Type,query\nx,y,Near Identical,q1\n\ny,z,fuzzy_duplicate,q1\nx,w,,q2\n",
        )
    )
    assert [(pair.pair, pair.type, pair.group, pair.location[-6:]) for pair in gold.pairs] == [
        (("x", "y"), "near-identical", "q1", "line 2"),
        (("y", "z"), "fuzzy", "q1", "line 4"),
        (("w", "x"), "duplicate", "q2", "line 5"),
    ]
    assert gold.closed
    assert [(pair.documents, pair.type) for pair in gold_sets(gold)] == [
        (("x", "y", "z"), "fuzzy"),
        (("w", "x"), "duplicate"),
    ]


def test_where_different_pairs_are_listed_nothing_is_concluded_of_others(tmp_path: Path) -> None:
    path = write_file(
        tmp_path, "g.jsonl", '{"a":"x","b":"y","type":"identical"}\n{"a":"x","b":"z","type":"no"}\n'
    )
    assert not read_gold(path).closed
    assert read_gold(path, closed=True).closed


def test_sets_of_csv_and_of_json_lines(tmp_path: Path) -> None:
    rows = write_file(
        tmp_path,
        "s.csv",
        "set,document,type\n1,x,fuzzy\n2,v,identical\n1,y,fuzzy\n1,z,fuzzy\n2,w,identical\n",
    )
    lines = (
        '{"documents":["x","y","z"],"type":"fuzzy"}\n{"documents":["v","w"],"type":"identical"}\n'
    )
    from_csv, from_json = read_gold(rows), read_gold(write_file(tmp_path, "s.jsonl", lines))
    assert [(s.documents, s.type) for s in from_csv.sets] == [
        (s.documents, s.type) for s in from_json.sets
    ]
    assert {p.pair: p.type for p in from_csv.pairs} == {p.pair: p.type for p in from_json.pairs}
    assert len(from_csv.pairs) == 4
    assert from_csv.closed


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("g.csv", "a,b,type\nx,y,fuzzy\nx,z,similar\n", "line 3: 'similar' is not a type"),
        ("g.csv", "a,b\nx,x\n", "line 2: x is paired with itself"),
        ("g.csv", "a,b\nx,\n", "line 2: b is missing"),
        ("g.csv", "a,b\nx,y,z\n", "line 2: 3 fields under 2 names"),
        ("g.csv", "left,right\nx,y\n", "line 2: pairs have the columns a and b"),
        ("g.csv", "a,b,a\nx,y,z\n", "line 1: the header names a column twice"),
        ("g.csv", 'a,b\n"two\nlines",y\nx,x\n', "line 4: x is paired"),
        ("g.csv", "a,b\n", "holds no pairs"),
        (
            "g.csv",
            "a,b,type\nx,y,fuzzy\ny,x,identical\n",
            "line 3: y and x are identical here, but fuzzy in",
        ),
        ("g.csv", "set,document\n1,x\n2,y\n2,z\n", "line 2: a set must name two or more"),
        ("g.csv", "set,document,type\n1,x,fuzzy\n1,y,identical\n", "line 3: the rows of one set"),
        ("g.jsonl", '{"a":"x","b":"y"}\nnothing\n{}\n', "line 2: not JSON"),
        ("g.jsonl", "[1]\n", "line 1: not a JSON object"),
        ("g.jsonl", '{"a":"x","b":7}\n', "line 1: b is 7, not text"),
        ("g.jsonl", '{"documents":"x y"}\n', "line 1: documents must be a list"),
        ("g.txt", "x y\n", "give a .csv file"),
    ],
)
def test_errors_name_their_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_gold(write_file(tmp_path, name, text))
    assert message in str(caught.value)


def test_a_file_that_is_not_there_or_not_utf8(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        read_gold(str(tmp_path))
    with pytest.raises(SourceNotFound):
        read_gold(str(tmp_path / "none.csv"))
    (tmp_path / "latin.csv").write_bytes("a,b\nx,\xe9\n".encode("latin-1"))
    with pytest.raises(UsageError, match="not UTF-8 at byte 6"):
        read_gold(str(tmp_path / "latin.csv"))


def test_a_sheet_for_a_spreadsheet_is_blind_and_read_once_it_is_filled_in(tmp_path: Path) -> None:
    for name, text in (("x", "=1+1 of the ferry"), ("y", "y" * 50_000), ("z", "the bread")):
        (tmp_path / f"{name}.txt").write_text(text)
    pairs = write_file(tmp_path, "p.csv", "a,b,similarity\nx.txt,y.txt,.9\ny.txt,z.txt,.1\n")
    sheet = tmp_path / "p.anna.csv"
    assert write_blank_sheet(pairs, None, "anna", sheet) == 2
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["judgement"] for row in rows] == ["", ""] and "similarity" not in rows[0]
    shown = {row[column] for row in rows for column in ("left", "right")}
    assert shown == {"'=1+1 of the ferry", "y" * 32_000, "the bread"}
    assert [judged.verdicts for judged in read_sheets(str(sheet))] == [{}]
    sheet.write_bytes(sheet.read_bytes().replace(b"\n,", b"\nfuzzy,", 1))
    [judged] = read_sheets(str(sheet))
    assert judged.assessor == "anna" and [answer.type for answer in judged.verdicts.values()] == [
        "fuzzy"
    ]
    with pytest.raises(UsageError, match="exists"):
        write_blank_sheet(pairs, None, "anna", sheet)


def test_a_sheet_goes_on_where_it_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "anna.jsonl"
    sheet = SheetWriter(path, "anna")
    sheet.judge("x", "y", "fuzzy")
    sheet.judge("x", "z", "identical")
    sheet.close()
    path.write_bytes(path.read_bytes() + b'{"a": "x", "b": "w", "judg')
    [read] = read_sheets(str(path))
    assert {pair: judgement.type for pair, judgement in read.judgements.items()} == {
        ("x", "y"): "fuzzy",
        ("x", "z"): "identical",
    }
    again = SheetWriter(path, "anna")
    again.judge("z", "x", None)
    again.judge("x", "y", "different")
    again.close()
    [read] = read_sheets(str(path))
    assert {pair: judgement.type for pair, judgement in read.judgements.items()} == {
        ("x", "y"): "different"
    }
    assert all(json.loads(line) for line in path.read_text().splitlines())


def test_a_sheet_of_somebody_else_and_a_file_of_something_else_are_left_alone(
    tmp_path: Path,
) -> None:
    path = tmp_path / "anna.jsonl"
    SheetWriter(path, "anna").close()
    for assessor, role in (("bert", "assessor"), ("anna", "arbiter")):
        with pytest.raises(UsageError, match=r"is the sheet of anna \(assessor\)"):
            SheetWriter(path, assessor, role)
    for text in ("no line end", "a,b\n", "[1]\n"):
        (tmp_path / "other").write_text(text)
        with pytest.raises(UsageError, match="not a sheet"):
            SheetWriter(tmp_path / "other", "anna")
        assert (tmp_path / "other").read_text() == text
    with pytest.raises(UsageError, match="cannot write"):
        SheetWriter(tmp_path / "nowhere" / "sheet.jsonl", "anna")


def sheets(folder: Path, **judgements: str) -> list[Sheet]:
    """Return sheets by name; each letter judges one pair: i, n, f, d, or . for none."""
    types = {"i": "identical", "n": "near-identical", "f": "fuzzy", "d": "different"}
    lines = [
        f"x,y{place},{types[letter]},{name},{'arbiter' if name == 'carol' else 'assessor'}"
        for name, letters in judgements.items()
        for place, letter in enumerate(letters)
        if letter != "."
    ]
    return read_sheets(
        write_file(folder, "all.csv", "\n".join(["a,b,judgement,assessor,role", *lines]) + "\n")
    )


def test_the_arbiter_decides_where_assessors_differ(tmp_path: Path) -> None:
    resolution = resolve(sheets(tmp_path, anna="ifddf.", bert="ifdff.", carol="dd.n.."))
    assert {pair.b: pair.type for pair in resolution.gold.pairs} == {
        "y0": "identical",
        "y1": "fuzzy",
        "y2": "different",
        "y3": "near-identical",
        "y4": "fuzzy",
    }
    assert [(pair.b, pair.judgements, pair.type) for pair in resolution.disagreements] == [
        ("y3", {"anna": "different", "bert": "fuzzy"}, "near-identical")
    ]
    assert not resolution.gold.closed


def test_without_an_arbiter_the_majority_decides(tmp_path: Path) -> None:
    resolution = resolve(sheets(tmp_path, anna="ifd", bert="iff", dora="dfn"))
    assert {pair.b: pair.type for pair in resolution.gold.pairs} == {
        "y0": "identical",
        "y1": "fuzzy",
    }
    assert (resolution.unsettled, len(resolution.disagreements)) == (1, 2)
    assert resolve(sheets(tmp_path, anna="i.", bert="if")).alone == 1


def test_the_arbiter_decides_where_two_differ(tmp_path: Path) -> None:
    assert disagreements(sheets(tmp_path, anna="iffd.i", bert="ifdnd.", carol="ffffff")) == [
        ("x", "y2"),
        ("x", "y3"),
    ]


def test_one_arbiter_and_an_assessor_are_needed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at most one arbiter"):
        resolve(sheets(tmp_path, carol="if"))
    with pytest.raises(UsageError, match="is assessor in an earlier line"):
        read_sheets(
            write_file(
                tmp_path,
                "s.csv",
                "a,b,judgement,assessor,role\nx,y,i,anna,\nx,z,i,anna,arbiter\n".replace(
                    ",i,", ",fuzzy,"
                ),
            )
        )
