"""Stages of a run, its inputs, and the algorithms that work in rounds."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from synthetic_library import Record, add_pictures, as_json, illustrated, library, store_of

from indexer.comparing.criteria import Criteria
from indexer.documents.sources import walk
from indexer.errors import SourceNotFound, StoreError, UsageError
from indexer.grouping.group import ConnectedTexts, group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions, match
from indexer.recipe import DEFAULT, DEFAULT_V1, DEFAULT_V2, Recipe
from indexer.spark.group import Components
from indexer.spark.input_documents import Input, failures, fingerprinted_documents
from indexer.spark.run import Job, run
from indexer.spark.session import Stage, Work

pytestmark = pytest.mark.spark


def test_a_whole_stage_is_kept_and_another_is_made_anew(
    spark: SparkSession, tmp_path: Path
) -> None:
    def numbers(work: Work, size: int) -> Stage:
        return work.stage(
            "numbers",
            {"size": size},
            [],
            lambda: spark.range(size),
            lambda rows: {"rows": rows.count()},
        )

    first, again = Work(spark, str(tmp_path)), Work(spark, str(tmp_path))
    stage = numbers(first, 3)
    assert (numbers(again, 3).facts, len(again.old_stages), again.new_stages) == (
        {"rows": 3},
        1,
        [],
    )
    assert numbers(again, 4).rows.count() == 4
    (tmp_path / f"numbers-{stage.digest}" / "done").unlink()
    third = Work(spark, str(tmp_path))
    assert numbers(third, 3).rows.count() == 3
    assert third.old_stages == []


def test_wrong_options_are_refused_before_anything_is_computed(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    records = tmp_path / "in.jsonl"
    records.write_text(
        '{"id": "1", "text": "The harbour ferry leaves at eight in the morning.",'
        ' "labels": ["known"]}\n'
    )
    with pytest.raises(UsageError, match="choose another path for --out"):
        run(spark, Job(Input(str(records), "json"), str(tmp_path / "file" / "out")))
    with pytest.raises(UsageError, match="choose one of: known"):
        run(
            spark,
            Job(
                Input(str(records), "json"),
                str(tmp_path / "out"),
                match_options=MatchOptions(against="nosuch"),
            ),
        )


def test_text_files_that_are_read_as_parquet_are_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("The harbour ferry leaves at eight.")
    with pytest.raises(UsageError, match="holds files that are not parquet; say what they are"):
        run(spark, Job(Input(str(tmp_path / "texts"), "parquet"), str(tmp_path / "out")))


@pytest.mark.slow
def test_components_in_rounds_are_those_of_one_task(spark: SparkSession, tmp_path: Path) -> None:
    rng = random.Random(5)
    nodes = rng.sample(range(10_000), 300)
    path = [(nodes[place], nodes[place + 1]) for place in range(40)]
    edges = path + [tuple(rng.sample(nodes[70:], 2)) for _ in range(150)]
    chains = ConnectedTexts(10_000)
    for a, b in edges:
        chains.join(a, b)
    frame = spark.createDataFrame(edges, "a long, b long")
    source = Stage("source", frame)
    for at_once in (0, 1000):
        roots = (
            Components(Work(spark, str(tmp_path / str(at_once))), at_once)
            .find("chains", {}, [source], frame)
            .rows.collect()
        )
        assert dict(roots) == {node: chains.root(node) for edge in edges for node in edge}


def test_text_files_get_the_ids_of_index(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    (folder / "sub dir").mkdir(parents=True)
    (folder / "one.txt").write_text("The first text, which has enough words to be signed.")
    (folder / "sub dir" / "zwei ü%.txt").write_text(
        "Der zweite Text, ebenfalls lang genug für eine Signatur."
    )
    (folder / "scan.pdf").write_bytes(b"%PDF-1.7")
    stage = fingerprinted_documents(
        Work(spark, str(tmp_path / "work")), Input(str(folder), "text", labels=("new",)), DEFAULT
    )
    rows = {row["path"]: row for row in stage.rows.collect() if row["error"] is None}
    assert {path: row["id"] for path, row in rows.items()} == {
        blob.path: blob.id for blob in walk([str(folder)]) if blob.path.endswith(".txt")
    }
    assert [row["labels"] for row in rows.values()] == [["new"], ["new"]]
    assert stage.facts["failed"] == 1
    assert [row["path"] for row in failures(stage).collect()] == [str(folder / "scan.pdf")]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ('{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}', "id 'a' comes 2 times"),
        ('{"id": "a", "text": "x"}\n{"text": "y"}', "1 record without an id"),
        ('{"id": "a", "body": "x"}', "no column text; it has body, id"),
    ],
)
def test_records_without_distinct_ids_are_refused(
    spark: SparkSession, tmp_path: Path, lines: str, says: str
) -> None:
    (tmp_path / "in.jsonl").write_text(lines)
    with pytest.raises(UsageError, match=says):
        fingerprinted_documents(
            Work(spark, str(tmp_path / "work")), Input(str(tmp_path / "in.jsonl"), "json"), DEFAULT
        )


def test_columns_of_json_that_are_known_are_not_looked_for(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark would read all records to find them; values of every kind are taken all the same."""
    records = [
        {"id": 7, "text": "The harbour ferry leaves at eight.", "other": {"a": 1}},
        {"id": "b", "text": "Another text of some words.", "labels": ["p", "q"], "modified": 1000},
        {"id": "c", "text": None, "labels": "p", "modified": "1970-01-01T00:00:02Z"},
        {"id": "d", "labels": "[draft]", "modified": 3.0e3, "truncated": True},
    ]
    (tmp_path / "in.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    schemas: list[str] = []
    read = DataFrameReader.json

    def noted(reader: DataFrameReader, path: str) -> DataFrame:
        table = read(reader, path)
        schemas.append(table.schema["id"].dataType.simpleString() + str(len(table.columns)))
        return table

    monkeypatch.setattr(DataFrameReader, "json", noted)
    source = Input(str(tmp_path / "in.jsonl"), "json")
    stage = fingerprinted_documents(Work(spark, str(tmp_path / "work")), source, DEFAULT)
    assert schemas == ["string8"]
    rows = {row["id"]: row for row in stage.rows.collect()}
    assert {id: (row["modified"], row["labels"], row["status"]) for id, row in rows.items()} == {
        "7": (None, [], "complete"),
        "b": (1000, ["p", "q"], "complete"),
        "c": (2000, ["p"], "empty"),
        "d": (3000, ["[draft]"], "empty"),
    }


def test_missing_input_is_reported(spark: SparkSession, tmp_path: Path) -> None:
    work = Work(spark, str(tmp_path / "work"))
    with pytest.raises(SourceNotFound):
        fingerprinted_documents(work, Input(str(tmp_path / "nothing"), "parquet"), DEFAULT)
    with pytest.raises(StoreError, match="holds no documents yet"):
        run(spark, Job(Input(f"sqlite:///{tmp_path}/none.db", "store"), str(tmp_path / "out")))


def test_a_store_is_read_grouped_and_gets_its_families(spark: SparkSession, tmp_path: Path) -> None:
    records = illustrated() + library(seed=3, size=60)
    url = f"sqlite:///{tmp_path}/there.db"
    there, single = store_of(records, url), store_of(records, f"sqlite:///{tmp_path}/one.db")
    for store in (there, single):
        add_pictures(store, records[:2])
    options = GroupOptions(threshold=0.7, criteria=Criteria(policy="standard"))
    group(single, options)
    job = Job(Input(url, "store"), str(tmp_path / "out"), group_options=options, store=url)
    account = run(spark, job)
    rows = list(there.scan())
    assert rows == list(single.scan())
    of_pictures = {row.family for row in rows if row.id.startswith("text")}
    assert len(of_pictures) == 4  # of two texts, each around two pictures
    written = {"url": url, "wrote": "families", "refused": 0, "left_alone": 0, "outdated": 0}
    assert account["store"] == written
    digests = {row.id: row.exact for row in rows}
    changes = spark.read.parquet(f"{tmp_path}/out/work/changes-*/rows").collect()
    assert len(changes) == len(rows)
    for change in changes:
        of_principal = None if change.family == change.id else digests[change.family]
        assert (change.exact, change.principal_exact) == (digests[change.id], of_principal)
    pairs = spark.read.parquet(f"{tmp_path}/out/pairs").orderBy("a", "b").collect()
    columns = ("a", "b", "similarity", "measure", "low", "high", "as_read")
    assert [tuple(pair) for pair in pairs] == [
        tuple(getattr(pair, name) for name in columns) for pair in match(single)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "recipe",
    [DEFAULT_V1, DEFAULT_V2],
    ids=lambda recipe: recipe.name,
)
def test_a_store_keeps_its_recipe_and_the_copies_of_it(
    spark: SparkSession, tmp_path: Path, recipe: Recipe
) -> None:
    """Copies of older recipes have the same symbols next to values."""
    numbers = "500 300 200 100 40"
    texts = ["5", "-5", "5 ", "a < b", "a > b", numbers, f"-{numbers}", f"{numbers} "]
    texts += ["1/2", "1.2", "1/2 ", "1,2"]
    records = [Record(f"{number}", text, None, False, ()) for number, text in enumerate(texts)]
    url = f"sqlite:///{tmp_path}/there.db"
    there = store_of(records[:1], url, recipe)
    single = store_of(records, f"sqlite:///{tmp_path}/one.db", recipe)
    group(single, GroupOptions())
    source = Input(str(as_json(records, tmp_path / "in", 2)), "json")
    account = run(spark, Job(source, str(tmp_path / "out"), store=url))
    assert account["recipe"] == recipe.name
    rows = {row.id: row for row in there.scan()}
    assert {row.recipe for row in rows.values()} == {recipe.id}
    families = {id: row.family for id, row in rows.items()}
    assert families == {row.id: row.family for row in single.scan()}
    copies = {id: family for id, family in families.items() if id != family}
    assert copies == {"2": "0", "7": "5", "8": "10", "9": "11"}


def test_novelty_is_refused_before_anything_is_read(spark: SparkSession, tmp_path: Path) -> None:
    options = MatchOptions(criteria=Criteria(novelty=1.0))
    with pytest.raises(UsageError, match="Spark does not know how frequent words are"):
        run(spark, Job(Input("absent", "json"), str(tmp_path / "out"), match_options=options))
