"""Spark and one machine give the same pairs and families, for any settings and partitions."""

from __future__ import annotations

import shutil
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession
from sample_library import fill, marked_rows
from synthetic_library import (
    Record,
    add_pictures,
    as_json,
    illustrated,
    library,
    short_library,
    store_of,
)

from indexer.comparing.criteria import KEYED, Criteria, parse_windows
from indexer.errors import UsageError
from indexer.fingerprinting.schemes import count_text_features
from indexer.grouping import group as grouping
from indexer.grouping import match as pairs
from indexer.grouping.group_options import GroupOptions
from indexer.model import no_progress
from indexer.recipe import DEFAULT, DEFAULT_V1, DEFAULT_V3, Recipe, recipe_named
from indexer.review.exports.export import Findings, document_records, with_marks
from indexer.spark.group import group
from indexer.spark.input_documents import Input, documents
from indexer.spark.match import match
from indexer.spark.run import Job, run
from indexer.spark.session import Stage, Work, nearfold_error
from indexer.stores import open_store
from indexer.stores.base import Store
from indexer.system.recipe_inputs import keep_statistics

pytestmark = pytest.mark.spark
SECRET = "of 32 characters or more, and known to no file"
RULES = Criteria(require=(("lcs", 0.9),), window=parse_windows(["modified=1m"]))
Family = tuple[str, bool, float | None, str | None]


@dataclass
class Both:
    """The same library on Spark and in a store of one machine."""

    work: Work
    rows: Stage
    store: Store


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return library(seed=11, size=220) + short_library(seed=7, size=60)


@pytest.fixture(scope="module")
def both(
    spark: SparkSession, records: list[Record], tmp_path_factory: pytest.TempPathFactory
) -> Both:
    folder = tmp_path_factory.mktemp("both")
    work = Work(spark, str(folder / "work"))
    rows = documents(work, Input(str(as_json(records, folder / "in", 3)), "json"), DEFAULT)
    return Both(work, rows, store_of(records, f"sqlite:///{folder}/one.db"))


def pairs_of_one(store: Store, **options: Any) -> tuple[pairs.MatchResult, list[tuple[Any, ...]]]:
    result = pairs.match(store, pairs.MatchOptions(**options))
    rows = [
        (pair.a, pair.b, pair.similarity, pair.measure, pair.low, pair.high, pair.as_read)
        for pair in result
    ]
    return result, rows


def families_of_one(store: Store, **settings: Any) -> tuple[Any, dict[str, Family]]:
    account = grouping.group(store, GroupOptions(**settings))
    return account, families_of_rows(store)


def families_of_rows(store: Store) -> dict[str, Family]:
    return {
        row.id: (row.family, bool(row.principal), row.similarity, row.cluster)
        for row in store.scan()
    }


def families_of(stage: Stage) -> dict[str, Family]:
    return {row["id"]: tuple(row[1:]) for row in stage.rows.collect()}


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(
            {"measure": "lcs", "threshold": 0.6, "cap": 6, "against": "p"}, marks=pytest.mark.slow
        ),
        pytest.param(
            {"threshold": 0.5, "criteria": Criteria("distinguish")}, marks=pytest.mark.slow
        ),
        pytest.param({"threshold": 0.5}, marks=pytest.mark.slow),
        pytest.param(
            {"threshold": 0.8, "exact": True, "cap": 4, "against": "p"}, marks=pytest.mark.slow
        ),
        pytest.param({"threshold": 0.7, "measure": "estimate", "cap": 2}, marks=pytest.mark.slow),
        pytest.param(
            {"measure": "lcs", "criteria": Criteria(require=(("jaccard", 0.7),), replaced=0)},
            marks=pytest.mark.slow,
        ),
    ],
    ids=str,
)
def test_pairs(both: Both, options: dict[str, Any]) -> None:
    single, expected = pairs_of_one(both.store, **options)
    stage = match(both.work, both.rows, DEFAULT, pairs.MatchOptions(**options))
    assert [tuple(row) for row in stage.rows.orderBy("a", "b").collect()] == expected
    assert {row[-1] for row in expected} == {False, True}
    assert stage.facts["pairs"] == len(single)
    assert stage.facts["candidates"] == single.candidates
    assert stage.facts["copies_left_out"] == single.copies_left_out
    assert stage.facts["hot_bands"] == single.capped.keys
    assert stage.facts["largest_band"] == single.capped.largest
    assert stage.facts["pairs_left_out"] == single.capped.pairs


@pytest.mark.parametrize(
    ("settings", "at_once"),
    [
        pytest.param(
            {"threshold": 0.7, "principal": "central", "cluster_threshold": 0.5},
            1_000_000,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"threshold": 0.7, "principal": "first", "cluster_threshold": 0.9, "cap": 4},
            0,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"threshold": 0.7, "cluster_threshold": 0.5}, 1_000_000, marks=pytest.mark.slow
        ),
        pytest.param({"principal": "first", "criteria": RULES}, 1_000_000, marks=pytest.mark.slow),
        pytest.param({"principal": "path:desc"}, 1_000_000, marks=pytest.mark.slow),
    ],
    ids=["central", "rounds", "original", "criteria", "path"],
)
def test_families(both: Both, settings: dict[str, Any], at_once: int) -> None:
    """`at_once` leaves everything to one task, or nothing. Of copies without keys Spark finds
    those of equal values only under `--window`, as docs/families.md says.
    """
    account, expected = families_of_one(both.store, **settings)
    stage = group(both.work, both.rows, DEFAULT, GroupOptions(**settings), at_once)
    families = families_of(stage)
    assert families.keys() == expected.keys()
    differing = {id for id in expected if families[id] != expected[id]}
    without_keys = {row.id for row in both.store.scan() if row.status not in KEYED}
    assert differing <= (without_keys if "criteria" in settings else set())
    assert account.families > 10
    assert stage.facts["hot_bands"] == account.capped.keys


def test_an_order_by_metadata_that_no_document_has_is_refused(both: Both) -> None:
    with pytest.raises(UsageError, match=r"metadata\.nope, by which --principal orders"):
        group(both.work, both.rows, DEFAULT, GroupOptions(principal="metadata.nope"))


@pytest.mark.slow
def test_any_partition_of_the_input_gives_the_same_families(
    spark: SparkSession, both: Both, records: list[Record], tmp_path: Path
) -> None:
    spark.conf.set("spark.sql.shuffle.partitions", "5")
    try:
        work = Work(spark, str(tmp_path / "work"))
        turned = as_json(records[::-1], tmp_path / "in", 5)
        rows = documents(work, Input(str(turned), "json"), DEFAULT)
        stage = group(work, rows, DEFAULT, GroupOptions(threshold=0.75, cap=6))
        assert families_of(stage) == families_of_one(both.store, threshold=0.75, cap=6)[1]
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "2")


@pytest.mark.parametrize(
    "version", [pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow), 3]
)
def test_a_secret_key_reaches_the_executors_and_no_file(
    spark: SparkSession, tmp_path: Path, version: int
) -> None:
    """Executors get the key with their task; their environment does not have it."""
    recipe = recipe_named(f"default_v{version}+key:legal").with_secret(SECRET)
    records = library(seed=5, size=40)
    work = Work(spark, str(tmp_path / "work"))
    rows = documents(work, Input(str(as_json(records, tmp_path / "in", 2)), "json"), recipe)
    with closing(store_of(records, f"sqlite:///{tmp_path}/one.db", recipe)) as single:
        signed = {
            row["id"]: (row["recipe"], tuple(row["bands"]), tuple(row["blocks"]), row["minhash"])
            for row in rows.rows.collect()
        }
        assert signed == {
            row.id: (row.recipe, row.bands, row.blocks, row.minhash) for row in single.scan()
        }
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 3 and not any(SECRET.encode() in path.read_bytes() for path in files)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", [DEFAULT_V1, DEFAULT_V3], ids=lambda recipe: recipe.name)
def test_slots_of_four_bytes_and_slots_beside_bits(
    spark: SparkSession, records: list[Record], tmp_path: Path, recipe: Recipe
) -> None:
    work = Work(spark, str(tmp_path / "work"))
    source = Input(str(as_json(records[:120], tmp_path / "in", 2)), "json")
    rows = documents(work, source, recipe)
    with closing(store_of(records[:120], f"sqlite:///{tmp_path}/one.db", recipe)) as single:
        options = {"threshold": 0.6, "measure": "estimate"}
        _, expected = pairs_of_one(single, **options)
        stage = match(work, rows, recipe, pairs.MatchOptions(**options))
        assert [tuple(row) for row in stage.rows.orderBy("a", "b").collect()] == expected
        assert expected
        _, families = families_of_one(single, threshold=0.6)
        assert families_of(group(work, rows, recipe, GroupOptions(threshold=0.6))) == families


@pytest.mark.slow
def test_files_in_documents_do_not_separate_them_by_the_policy_loose(
    spark: SparkSession, tmp_path: Path
) -> None:
    """By the policy `standard` they do: see test_stages.py."""
    place = f"sqlite:///{tmp_path}/one.db"
    records, criteria = illustrated(), Criteria(policy="loose")
    with closing(store_of(records, place)) as store:
        add_pictures(store, records)
        work = Work(spark, str(tmp_path / "work"))
        rows = documents(work, Input(place, "store"), DEFAULT)
        families = families_of(group(work, rows, DEFAULT, GroupOptions(criteria=criteria)))
        assert families == families_of_one(store, criteria=criteria)[1]
        assert len({family for family, *_ in families.values()}) == 2


def marks_of(store: Store) -> dict[str, list[str]]:
    """Return the marks of each member of a group next to its principal, as exports have them."""
    found = with_marks(store, document_records(store, Findings(), no_progress))
    return {each.row.id: [mark.kind for mark in each.marks] for each in found if each.marks}


@pytest.mark.slow
def test_pairs_groups_and_marks_of_texts_with_each_mark(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The same as in every store: see tests/contract/test_families.py."""
    place = f"sqlite:///{tmp_path}/one.db"
    with closing(store_of([], place)) as store:
        fill(store, marked_rows())
    for policy in ("standard", "loose"):
        written = f"sqlite:///{shutil.copy(tmp_path / 'one.db', tmp_path / f'{policy}.db')}"
        folding = Criteria(policy=policy)
        options = pairs.MatchOptions(0.8), GroupOptions(criteria=folding)
        out = str(tmp_path / policy)
        run(spark, Job(Input(written, "store"), out, None, *options, store=written))
        table = spark.read.parquet(f"{out}/pairs").orderBy("a", "b").collect()
        with closing(open_store(place)) as one, closing(open_store(written)) as store:
            assert [tuple(row) for row in table] == pairs_of_one(one, threshold=0.8)[1]
            assert families_of_rows(store) == families_of_one(one, criteria=folding)[1]
            marks = marks_of(store)
            assert marks == marks_of(one)
    assert {"negated", "message", "form", "version"} <= set(chain(*marks.values()))


def test_without_its_key_a_recipe_signs_nothing(spark: SparkSession, tmp_path: Path) -> None:
    source = Input(str(as_json(library(seed=5, size=3), tmp_path / "in", 1)), "json")
    with pytest.raises(PythonException) as caught:
        documents(Work(spark, str(tmp_path / "work")), source, recipe_named("default_v1+key:legal"))
    error = nearfold_error(caught.value)
    assert isinstance(error, UsageError) and "NEARFOLD_KEY_LEGAL_FILE" in str(error)


@pytest.mark.slow
def test_a_library_without_any_keys(spark: SparkSession, tmp_path: Path) -> None:
    records = [Record(str(place), f"{place}", None, False, ()) for place in range(3)]
    work = Work(spark, str(tmp_path / "work"))
    rows = documents(work, Input(str(as_json(records, tmp_path / "in", 1)), "json"), DEFAULT)
    assert families_of(group(work, rows, DEFAULT, GroupOptions())) == {
        str(n): (str(n), False, None, None) for n in range(3)
    }


BITS = (
    "simhash-doc",
    pytest.param("signature-study:topsig:32", marks=pytest.mark.slow),
    pytest.param("signature-study:topsig:256", marks=pytest.mark.slow),
)


@pytest.fixture(scope="module", params=BITS)
def bits_of_both(
    request: pytest.FixtureRequest,
    spark: SparkSession,
    records: list[Record],
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Both, Recipe]:
    recipe = recipe_named(request.param)
    folder = tmp_path_factory.mktemp("bits")
    work = Work(spark, str(folder / "work"))
    rows = documents(work, Input(str(as_json(records, folder / "in", 3)), "json"), recipe)
    store = store_of(records, f"sqlite:///{folder}/one.db", recipe)
    return Both(work, rows, store), recipe


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"threshold": 0.9, "cap": 3}, marks=pytest.mark.slow),
        pytest.param({}, marks=pytest.mark.slow),
        pytest.param(
            {"threshold": 0.95, "criteria": Criteria(same=("labels",))}, marks=pytest.mark.slow
        ),
    ],
    ids=str,
)
def test_bits_are_paired_and_grouped_by_hamming_distance(
    bits_of_both: tuple[Both, Recipe], options: dict[str, Any]
) -> None:
    both, recipe = bits_of_both
    single, expected = pairs_of_one(both.store, **options)
    stage = match(both.work, both.rows, recipe, pairs.MatchOptions(**options))
    assert [tuple(row) for row in stage.rows.orderBy("a", "b").collect()] == expected
    assert expected and {row[3] for row in expected} == {"hamming"}
    assert stage.facts["candidates"] == single.candidates
    assert stage.facts["pairs_left_out"] == single.capped.pairs
    account, families = families_of_one(both.store, **options)
    made = group(both.work, both.rows, recipe, GroupOptions(**options))
    assert families_of(made) == families
    assert account.families > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", BITS)
def test_a_whole_job_by_bits(
    spark: SparkSession, records: list[Record], tmp_path: Path, name: str
) -> None:
    """Sign, match, group, tables, account and store, as the job's command does."""
    recipe, place = recipe_named(name), f"sqlite:///{tmp_path}/written.db"
    options = {"threshold": 0.9, "cap": 3}
    source = Input(str(as_json(records[:60], tmp_path / "in", 2)), "json")
    with closing(store_of(records[:60], f"sqlite:///{tmp_path}/one.db", recipe)) as single:
        _, expected = pairs_of_one(single, **options)
        _, families = families_of_one(single, **options)
        job = Job(
            source,
            str(tmp_path / "out"),
            recipe,
            pairs.MatchOptions(**options),
            GroupOptions(**options),
            place,
        )
        account = run(spark, job)
        table = spark.read.parquet(f"{tmp_path}/out/pairs")
        assert [tuple(row) for row in table.orderBy("a", "b").collect()] == expected
        assert expected and account["match"]["measure"] == "hamming"
        with closing(open_store(place)) as written:
            assert families_of_rows(written) == families
            signed = {row.id: (row.blocks, row.minhash, row.simhash) for row in written.scan()}
        assert signed == {row.id: (row.blocks, row.minhash, row.simhash) for row in single.scan()}
        assert account["store"]["refused"] == 0


@pytest.mark.slow
def test_rows_of_several_statistics_are_compared_by_the_current_ones(
    spark: SparkSession, records: list[Record], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    online = recipe_named("signature-study:online-topsig:256")
    texts = [record.text or "" for record in records]
    first = keep_statistics(online, count_text_features(texts[:5], online))
    second = keep_statistics(first, count_text_features(texts[:60], online))
    place = f"sqlite:///{tmp_path}/mixed.db"
    store_of(records[:30], place, first).close()
    with closing(store_of(records[30:60], place, second)) as mixed:
        assert {row.recipe for row in mixed.scan()} == {first.id, second.id}
        _, expected = pairs_of_one(mixed, threshold=0.875)
    account = run(
        spark,
        Job(
            Input(place, "store"),
            str(tmp_path / "out"),
            match_options=pairs.MatchOptions(threshold=0.875),
            group_options=GroupOptions(threshold=0.875),
        ),
    )
    table = spark.read.parquet(f"{tmp_path}/out/pairs")
    assert [tuple(row) for row in table.orderBy("a", "b").collect()] == expected
    assert expected and account["documents"] == 60


def test_open_statistics_are_refused(both: Both) -> None:
    recipe = recipe_named("signature-study:online-topsig:256")
    with pytest.raises(UsageError, match="index the documents with nearfold index"):
        match(both.work, both.rows, recipe, pairs.MatchOptions())


def test_rare_terms_are_refused(both: Both) -> None:
    for job, options in ((match, pairs.MatchOptions()), (group, GroupOptions())):
        with pytest.raises(UsageError, match="keeps rare terms"):
            job(both.work, both.rows, recipe_named("clauses"), options)
