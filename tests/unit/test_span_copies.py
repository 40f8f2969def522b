"""Copies of approved passages that `dedup` removes from the rows that stay."""

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer import DedupOptions, dedup
from indexer.comparing.words import normal_words
from indexer.errors import UsageError
from indexer.jobs.dedup_passages import RowName, SpanCopies, with_csv_text, with_json_text
from indexer.system.approved_passages import ApprovedPassages

NOTICE = "This licence lets you copy and change all of it, if you keep these lines as they are."
LICENCE = ApprovedPassages((NOTICE,), (r"^Page \d+$",))


def licensed(number: int) -> str:
    return f"Only row {number} says this.\n{NOTICE}\nPage 1\nAnd this, {number}."


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_of_approved_passages_the_first_copy_stays(tmp_path, ending):
    texts = [licensed(0), licensed(1), f"Twice: {NOTICE}\nand\n{NOTICE}", f"No {NOTICE[12:]}"]
    rows = [{"id": number, "text": text, "x": 1.5} for number, text in enumerate(texts)]
    place, out = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    write_rows(place, rows)
    before = place.read_bytes()
    result = dedup([str(place)], out, DedupOptions(threshold=1.0), spans=LICENCE)
    kept = read_rows(out)
    shorter = "Only row 1 says this.\n \n \nAnd this, 1."
    assert [row["text"] for row in kept] == [texts[0], shorter, "Twice:  \nand\n ", texts[3]]
    assert [str(row["id"]) for row in kept] == ["0", "1", "2", "3"]
    report = [json.loads(line) for line in Path(f"{out}.spans.jsonl").read_text().splitlines()]
    words = len(normal_words(NOTICE))
    assert [(line["row"], line["words"], line["kept_row"]) for line in report] == [
        (number + 1, count, 1) for number, count in ((1, words), (1, 2), (2, words), (2, words))
    ]
    removed = [texts[int(kept[line["row"] - 1]["id"])] for line in report]
    spans = [text[line["start"] : line["stop"]] for text, line in zip(removed, report, strict=True)]
    assert spans == [NOTICE, "Page 1", NOTICE, NOTICE]
    assert (result.spans, result.span_words) == (4, 3 * words + 2)
    assert place.read_bytes() == before


def write_rows(place: Path, rows: list[dict]) -> None:
    if place.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), place)
    elif place.suffix == ".csv":
        with place.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    else:
        place.write_text("".join(json.dumps(row) + "\n" for row in rows))


def read_rows(place: Path) -> list[dict]:
    if place.suffix == ".parquet":
        return pq.read_table(place).to_pylist()
    with place.open(newline="") as file:
        if place.suffix == ".csv":
            return list(csv.DictReader(file))
        return [json.loads(line) for line in file]


@given(st.lists(st.lists(st.sampled_from([NOTICE, "Page 1", "Page 2", "ferry", "$"])), max_size=8))
def test_each_copy_that_is_removed_stays_in_an_earlier_place(rows):
    copies = SpanCopies(LICENCE)
    texts = ["\n".join(items) for items in rows]
    shorter = [copies.shorten(text, RowName("a", row)) for row, text in enumerate(texts)]
    for row, (text, removed) in enumerate(shorter):
        for span in removed:
            copy = texts[row][span.start : span.stop]
            assert span.kept.row <= row and copy in shorter[span.kept.row][0]
        left = len(normal_words(texts[row])) - sum(span.words for span in removed)
        assert len(normal_words(text)) == left


def test_a_row_in_which_the_text_is_not_found_once_stays():
    assert with_json_text('{"text": "a b", "of": {"text": "a b"}}', "text", "a b", "a") is None
    assert with_json_text('{"of": {"text": "a\\u0020b"}}', "of.text", "a b", "ä") == (
        '{"of": {"text": "\\u00e4"}}'
    )
    assert with_json_text('{"text": ["a b"]}', "text", "c", "a") is None
    assert with_csv_text("a b,a b", "a b", "a") is None


def test_a_report_that_exists_is_not_replaced(tmp_path):
    place = tmp_path / "in.jsonl"
    write_rows(place, [{"text": NOTICE}])
    (tmp_path / "out.jsonl.spans.jsonl").write_text("mine")
    with pytest.raises(UsageError, match=r"spans\.jsonl exists"):
        dedup([str(place)], tmp_path / "out.jsonl", spans=LICENCE)
    assert dedup([str(place)], tmp_path / "out.jsonl").spans == 0
    assert (tmp_path / "out.jsonl.spans.jsonl").read_text() == "mine"
