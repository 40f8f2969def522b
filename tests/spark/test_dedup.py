"""A dataset without its duplicates on Spark: the rows and the report of one machine."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import pyarrow
import pyarrow.parquet
import pytest
from click.testing import CliRunner
from pyspark.errors import PythonException
from pyspark.sql import SparkSession
from synthetic_library import library, short_library

from indexer import DedupOptions, dedup
from indexer.errors import SourceNotFound, UsageError
from indexer.jobs.dataset_files import KINDS
from indexer.spark import dedup as dedup_job
from indexer.spark.dataset import Dataset, Kind, list_files, read_dataset, read_rows
from indexer.spark.deduplicate import command
from indexer.spark.session import nearfold_error

pytestmark = pytest.mark.spark
TEMPLATE = "To {0} the {1}, press {0} and choose the {1} to {0}; the {1} is {2} at once. " * 3
ODD_LINES = (
    *(b"", b"   ", b"\xef\xbb\xbf{}", b'{"text": null}', b'{"text": 7}', b"[1, 2]", b"no JSON"),
    *(b'{"text": ["a list", null, "of parts"]}', b'{"text": ""}', b'{"text": " "}'),
    *(b'{"text": "caf\xe9"}', b'{"text": "\\ud800"}', b'{"other": "no text"}', b'{"text": "!"}'),
    *(b'{"text": "one"}\r', b'{"text": "ONE"}', b'{"text": "12 34"}', b'{"text": "12 34"}'),
)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Near duplicates, copies, short texts, and pages of one template."""
    records = library(seed=3, size=90) + short_library(seed=5, size=40)
    pages = [
        TEMPLATE.format(verb, noun, done)
        for verb, done in (("add", "added"), ("remove", "removed"))
        for noun in ("disk", "rule")
    ]
    ticks = [f"{records[0].text} {tick}" for tick in "\u2610\u2612\u2612"]
    found = [record.text for record in records] + pages + ticks
    return found + [text.upper() for text in found[::9]]


@pytest.fixture(scope="module")
def lines(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of JSON Lines, some of them odd, in files whose order is not that of a listing."""
    folder = tmp_path_factory.mktemp("lines") / "data"
    whole = [json.dumps({"n": place, "text": text}).encode() for place, text in enumerate(texts)]
    names = ("b.jsonl", "b/é %20.ndjson", "b-.jsonl")
    for place, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        mine = [*whole[place :: len(names)], *ODD_LINES[place:], b'{"text": "no line feed"}']
        path.write_bytes((b"\xef\xbb\xbf" if place == 1 else b"") + b"\n".join(mine))
    (folder / "notes.txt").write_text("no row")
    return folder


ODD_ROWS = (
    *(b'7\t"an unclosed quote', b"8", b"9\tcaf\xe9", b'10\t"two ""quotes"" in it"\ttoo many'),
    *(b"", b'11\t"a row\r\nof two lines"', b"12\t", b"13\t ", b'14\t"12 34"', b'15\t"12 34"\r'),
    b" ",
)
HOSTILE = {
    "c.tsv": b'"the\nnumber"\ttext\r\n1\t"one, two"\r\n2\t"a ""quote"" and\r\n\r\na blank"\r\n',
    "d.tsv.gz": b'\xef\xbb\xbf"the\nnumber"\ttext\n3\tfour\rfive\n4\n\n5\t"one, TWO"\n6\tx\ty\n',
    "e.tsv": b'"the\nnumber"\ttext\n7\t"closed"late\n8\tsix\n9\t"never closed\n10\tseven\n\n',
    "f.tsv": b'"the\nnumber"\ttext',
}


@pytest.fixture(scope="module")
def tables(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of tables, some rows of them odd; texts have line breaks, commas and quotes."""
    folder = tmp_path_factory.mktemp("tables") / "data"
    names = ("b.tsv", "b/a b.tsv", "b/é%20.tsv.gz", "a.tsv", "utf-16-le.tsv", "utf-16-be.tsv")
    for place, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = io.StringIO(newline="")
        end = "\r\n" if place == 1 else "\n"
        rows = csv.writer(stream, delimiter="\t", lineterminator=end)
        rows.writerow(["the\nnumber", "text"])
        rows.writerows(
            (number, text.replace(" the ", ' "the",\n'))
            for number, text in enumerate(texts[place :: len(names)])
        )
        data = stream.getvalue().encode() + b"\n".join(ODD_ROWS[place:])
        if "utf-16" in name:
            mark = codecs.BOM_UTF16_LE if "le" in name else codecs.BOM_UTF16_BE
            data = mark + stream.getvalue().encode(name.removesuffix(".tsv"))
        elif place == 3:
            data = codecs.BOM_UTF8 + data
        path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    for name, data in HOSTILE.items():
        (folder / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    return folder


@pytest.mark.slow
def test_rows_of_csv_are_those_of_one_machine(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    options = DedupOptions(id_field="the\nnumber")
    own = dedup(tables, tmp_path / "own.tsv", options)
    (tables / "empty.tsv").touch()
    account = dedup_job.dedup(spark, dataset(tables, "csv", options), f"{tmp_path}/out", options)
    assert written(tmp_path / "out" / "rows") == (tmp_path / "own.tsv").read_bytes()
    assert written(tmp_path / "out" / "removed") == Path(own.report).read_bytes()
    counts = {name: account[name] for name in ("read", "kept", "exact", "near", "failed")}
    assert counts == {name: getattr(own, name) for name in counts} and own.near and own.failed


@pytest.mark.slow
def test_rows_are_whole_where_several_tasks_read_a_file(
    spark: SparkSession, tmp_path: Path
) -> None:
    texts = [f"row {number},\n" + "of several lines\n" * (number % 7) for number in range(400)]
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows([["text"], *([text] for text in texts)])
    (tmp_path / "a.csv").write_bytes(stream.getvalue().encode())
    with several_tasks_a_file(spark):
        source = dataset(tmp_path, "csv", DedupOptions())
        lines = read_dataset(spark, source)
        rows = read_rows(spark, source, list_files(spark, source)).orderBy("id").collect()
        assert lines.rdd.getNumPartitions() > 1
    assert [row["text"] for row in rows[1:]] == texts


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        (b"n;text\n1;a\n", "b.csv has other columns than a.csv .n is separated by ';'"),
        pytest.param(
            *(b"n,body\n1,a\n", "b.csv: it has no column 'text', but: n, body"),
            marks=pytest.mark.slow,
        ),
        pytest.param(b"\n", "b.csv: it has no row of column names", marks=pytest.mark.slow),
        ("\ufeffn,text\n1,a".encode("utf-16-be") + b"x", "b.csv: it cannot be read completely"),
    ],
)
def test_csv_that_one_table_cannot_hold_is_refused(
    spark: SparkSession, tmp_path: Path, rows: bytes, error: str
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("n,text\n1,one\n")
    (tmp_path / "in" / "b.csv").write_bytes(rows)
    options = DedupOptions()
    source = dataset(tmp_path / "in", "csv", options)
    with pytest.raises((UsageError, PythonException)) as caught:
        dedup_job.dedup(spark, source, f"{tmp_path}/out", options)
    raised = caught.value
    own = nearfold_error(raised) if isinstance(raised, PythonException) else raised
    assert re.search(error, str(own))


@pytest.mark.parametrize(
    "options",
    [
        DedupOptions(),
        pytest.param(
            DedupOptions(
                threshold=0.6, id_field="n", measure="jaccard", keep="first", numbers="distinguish"
            ),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["default", "others"],
)
def test_lines_are_those_of_one_machine(
    spark: SparkSession, lines: Path, tmp_path: Path, options: DedupOptions
) -> None:
    own = dedup(lines, tmp_path / "own", options)
    files = sorted(
        (path.relative_to(tmp_path / "own").as_posix().encode(), path)
        for path in (tmp_path / "own").rglob("*")
        if path.is_file()
    )
    with several_tasks_a_file(spark):
        source = dataset(lines, "jsonl", options)
        account = dedup_job.dedup(spark, source, f"{tmp_path}/out", options)
    assert written(tmp_path / "out" / "rows") == b"".join(path.read_bytes() for _, path in files)
    report = Path(own.report).read_bytes()
    assert written(tmp_path / "out" / "removed") == report
    counts = {name: account[name] for name in ("read", "kept", "exact", "near", "failed")}
    assert counts == {name: getattr(own, name) for name in counts} and own.near and own.failed


@pytest.mark.slow
def test_tables_are_those_of_one_machine(
    spark: SparkSession, texts: list[str], tmp_path: Path
) -> None:
    rows: list[dict[str, Any]] = [
        {"n": place, "labels": ["a"], "text": text, "page": {"text": text}}
        for place, text in enumerate([*texts, None, "", "12 34", "12 34"])
    ]
    folder = tmp_path / "data"
    folder.mkdir()
    for place in range(3):
        table = pyarrow.Table.from_pylist(rows[place::3])
        pyarrow.parquet.write_table(table, folder / f"{2 - place}.parquet", row_group_size=20)
    options = DedupOptions(text_field="page.text", id_field="n")
    own = dedup(folder, tmp_path / "own.parquet", options)
    dedup_job.dedup(spark, dataset(folder, "parquet", options), f"{tmp_path}/out", options)
    kept = pyarrow.parquet.read_table(tmp_path / "own.parquet").to_pylist()
    parts = sorted((tmp_path / "out" / "rows").glob("*.parquet"))
    assert [row for part in parts for row in read(part)] == kept
    assert written(tmp_path / "out" / "removed") == Path(own.report).read_bytes()
    assert own.exact and own.near and own.without_text
    again = dedup_job.dedup(spark, dataset(folder, "parquet", options), f"{tmp_path}/out", options)
    assert again["stages"]["made"] == [] and again["kept"] == own.kept


def test_what_cannot_be_read_is_said(spark: SparkSession, lines: Path, tmp_path: Path) -> None:
    options, out = DedupOptions(), f"{tmp_path}/out"
    with pytest.raises(SourceNotFound):
        dedup_job.dedup(spark, dataset(tmp_path / "none", "jsonl", options), out, options)
    with pytest.raises(UsageError, match="no rows in files"):
        dedup_job.dedup(spark, dataset(lines, "parquet", options), out, options)
    pyarrow.parquet.write_table(pyarrow.table({"body": ["a"]}), tmp_path / "a.parquet")
    with pytest.raises(UsageError, match="no column 'text', but: body"):
        dedup_job.dedup(spark, dataset(tmp_path, "parquet", options), out, options)
    assert CliRunner().invoke(command, ["in", "--out", "out", "--require", "novelty<=2"]).exit_code
    assert set(get_args(Kind)) < set(KINDS.values())


@contextmanager
def several_tasks_a_file(spark: SparkSession) -> Iterator[None]:
    spark.conf.set("spark.sql.files.maxPartitionBytes", "16384")
    try:
        yield
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")


def dataset(place: Path, kind: Kind, options: DedupOptions) -> Dataset:
    return Dataset(str(place), kind, options.reading())


def written(folder: Path) -> bytes:
    """Return what Spark wrote, part after part."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob("part-*")))


def read(path: Path) -> list[dict[str, Any]]:
    return list(pyarrow.parquet.read_table(path).to_pylist())
