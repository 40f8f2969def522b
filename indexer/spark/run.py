"""A whole run: documents in; pairs, families, clusters and an account out, and into a store."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, islice
from typing import Any, TypeVar

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from indexer.comparing.band_plan import has_bits_alone
from indexer.comparing.criteria import KEYED
from indexer.errors import StoreError, UsageError
from indexer.fingerprinting.fingerprint import PROVISIONAL
from indexer.grouping.group import TURNS
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions
from indexer.model import Assignment, Row
from indexer.recipe import DEFAULT, Recipe
from indexer.spark.arrow_rows import ROW, Batches, Mapper, batch, ddl, unpack_row
from indexer.spark.bands import block_sharing
from indexer.spark.group import group
from indexer.spark.input_documents import Input, failures, fingerprinted_documents, readable_rows
from indexer.spark.match import check_sketches, match, options_json
from indexer.spark.session import Stage, Work
from indexer.stores import open_store

# Bulk writes to a store from the partitions of a DataFrame.

_FIELDS = ("family", "principal", "similarity", "cluster")
_OUTCOME = {"id": "string", "error": "string"}
_LEFT = {"left_alone": "bigint", "outdated": "bigint"}
_BATCH = 500
T = TypeVar("T")


def write(rows: DataFrame, assigned: DataFrame, url: str, recipe: Recipe, tasks: int) -> DataFrame:
    """Write all rows with their families to a store; return what was refused: `id`, `error`.

    Nothing happens before the result is read; reading it twice writes twice, to the same effect.
    `tasks` write at a time. Raises `RecipeMismatch` when the store holds another recipe,
    `UsageError` for a store that others cannot open.
    """
    _prepare(url, recipe)
    fields = assigned.select("id", *(sf.col(name).alias(f"its_{name}") for name in _FIELDS))
    return rows.join(fields, "id").coalesce(tasks).mapInArrow(row_writer(url), ddl(_OUTCOME))


def assign(work: Work, rows: Stage, assigned: Stage, url: str, tasks: int) -> dict[str, int]:
    """Write families back to the rows of a store, in the order of `group`, `tasks` at a time.

    Returns how many were `left_alone`, and how many `outdated`, as `GroupResult` has them. Rows
    that are gone are skipped.
    """
    changes = work.stage(
        "changes", {}, [rows, assigned], lambda: _changes(rows.rows, assigned.rows)
    )
    counts = dict.fromkeys(_LEFT, 0)
    for turn in range(TURNS):
        rows_of_turn = changes.rows.where(sf.col("turn") == turn).drop("turn").coalesce(tasks)
        left = rows_of_turn.mapInArrow(family_writer(url), ddl(_LEFT))
        for of_task in left.collect():
            for name in counts:
                counts[name] += of_task[name]
    return counts


def _changes(rows: DataFrame, assigned: DataFrame) -> DataFrame:
    """Return assignments with the digests of the texts that were compared, and the `turn` of each
    (see `group.in_turn`).
    """
    before = rows.select(
        "id", "exact", sf.col("family").alias("before"), sf.col("principal").alias("was")
    )
    digests = rows.select(sf.col("id").alias("family"), sf.col("exact").alias("principal_exact"))
    principals = rows.where("family = id").select(
        sf.col("id").alias("before"), sf.lit(True).alias("has_principal")
    )
    others = digests.join(assigned.where("family != id").select("family").distinct(), "family")
    is_left = sf.col("has_principal").isNull() & ~sf.col("before").startswith(PROVISIONAL)
    turn = (
        sf.when(is_left, 0)
        .when(sf.col("principal"), 1)
        .when(sf.coalesce("was", sf.lit(True)), 3)
        .otherwise(2)
    )
    known = (
        assigned.join(before, "id")
        .join(principals, "before", "left")
        .join(others, "family", "left")
    )
    principal_exact = sf.when(sf.col("family") != sf.col("id"), sf.col("principal_exact"))
    return known.select(
        *("id", *_FIELDS, "exact"),
        principal_exact.alias("principal_exact"),
        turn.alias("turn"),
    )


def row_writer(url: str) -> Mapper:
    """Return a mapper that writes rows with their family fields and yields the refusals."""

    def run(parts: Batches) -> Batches:
        with closing(open_store(url)) as store:
            for rows in _batches(_rows_with_families(parts)):
                refusals = zip(rows, store.write(rows), strict=True)
                refused = [(row.id, reason) for row, reason in refusals if reason is not None]
                ids = [id for id, _ in refused]
                reasons = [reason for _, reason in refused]
                yield batch(_OUTCOME, [ids, reasons])

    return run


def family_writer(url: str) -> Mapper:
    """Return a mapper that writes assignments, and yields how many documents it left."""

    def run(parts: Batches) -> Batches:
        with closing(open_store(url)) as store:
            records = chain.from_iterable(part.to_pylist() for part in parts)
            result = store.families.assign(Assignment(**record) for record in records)
        yield batch(_LEFT, [[result.left_alone], [result.outdated]])

    return run


def refresh(url: str) -> None:
    """Make what was written visible to searches."""
    with closing(open_store(url)) as store:
        store.refresh()


def _prepare(url: str, recipe: Recipe) -> None:
    if ":memory:" in url:
        raise UsageError(
            "a store in memory cannot be written by other processes; give a file or a search engine"
        )
    with closing(open_store(url)) as store:
        store.prepare(recipe)


def _rows_with_families(parts: Batches) -> Iterator[Row]:
    for part in parts:
        fields = [part.column(f"its_{name}").to_pylist() for name in _FIELDS]
        for row, *values in zip(unpack_row(part.select(list(ROW))), *fields, strict=True):
            family: dict[str, Any] = dict(zip(_FIELDS, values, strict=True))
            yield replace(row, **family, provisional=False)


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    remaining = iter(items)
    while part := list(islice(remaining, _BATCH)):
        yield part


WRITERS = 8


@dataclass(frozen=True, slots=True)
class Job:
    """Input, options and output of a run.

    `store`: write rows and families there too, `writers` tasks at a time. `recipe` None: that of
    the store, else the default.
    """

    source: Input
    out: str
    recipe: Recipe | None = None
    match_options: MatchOptions = field(default_factory=MatchOptions)
    group_options: GroupOptions = field(default_factory=GroupOptions)
    store: str | None = None
    writers: int = WRITERS

    @property
    def is_source(self) -> bool:
        """Return whether the documents come from the store, which gets their families only."""
        return self.source.form == "store" and self.source.path == self.store


def run(spark: SparkSession, job: Job) -> dict[str, Any]:
    """Run a job and return its account.

    The tables are written to `out` as `pairs`, `families`, `clusters`, `failed`, `refused`. Stages
    are kept in `out/work`; an interrupted run goes on there, with the same result. Documents of a
    store keep its recipe, whatever the job says. Raises `UsageError` before anything else when
    `out` cannot be written, and for criteria on novelty.
    """
    start = time.monotonic()
    _check_criteria(job)
    recipe = _recipe_of(job)
    check_sketches(recipe)
    work = Work(spark, f"{job.out}/work")
    work.check()
    fingerprinted = fingerprinted_documents(work, job.source, recipe, write=job.is_source)
    rows = readable_rows(fingerprinted)
    pairs = match(work, rows, recipe, job.match_options)
    assigned = group(work, rows, recipe, job.group_options)
    _write_table(pairs.rows, job, "pairs")
    _write_table(assigned.rows.drop("cluster"), job, "families")
    _write_table(
        assigned.rows.where("cluster IS NOT NULL").select("id", "cluster"), job, "clusters"
    )
    _write_table(failures(fingerprinted), job, "failed")
    families = count_families(rows.rows, assigned.rows)
    account = {
        "documents": rows.facts["documents"],
        "failed": rows.facts["failed"],
        "recipe": recipe.name,
        "match": {
            **options_json(job.match_options.for_recipe(recipe)),
            **_layout(job, recipe),
            **pairs.facts,
        },
        "group": {**asdict(job.group_options.for_recipe(recipe)), **assigned.facts, **families},
        "store": _write_to_store(work, rows, assigned, job, recipe) if job.store else None,
        "stages": {"made": work.new_stages, "kept": work.old_stages},
        "seconds": round(time.monotonic() - start, 1),
    }
    work.note(f"{job.out.rstrip('/')}/account.json", json.dumps(account, indent=2))
    return account


def _check_criteria(job: Job) -> None:
    """Raise `UsageError` for novelty: no store counts the words of what Spark reads."""
    criteria = job.match_options.criteria, job.group_options.criteria
    if any(entry.novelty is not None for entry in criteria):
        raise UsageError(
            "Spark does not know how frequent words are, which novelty<=N needs; leave it out, "
            "or index the documents and use nearfold match or nearfold group"
        )


def count_families(rows: DataFrame, assigned: DataFrame) -> dict[str, Any]:
    """Return numbers of families and clusters of two documents or more, and of other documents.

    `excluded` counts by status the documents whose status keeps them out of families, unless they
    have copies.
    """
    sizes = assigned.groupBy("family").count()
    alone = sizes.where("count = 1").select(sf.col("family").alias("id"))
    several = sf.count_if(sf.col("count") > 1)
    single = sf.count_if(sf.col("count") == 1)
    row = sizes.agg(several, sf.max("count"), single).first() or (0, 0, 0)
    clusters = assigned.agg(sf.count_distinct("cluster")).first() or (0,)
    statuses = (
        rows.where(~sf.col("status").isin(*KEYED))
        .join(alone, "id", "left_semi")
        .groupBy("status")
        .count()
        .orderBy("status")
        .collect()
    )
    return {
        "families": row[0],
        "largest": row[1] or 0,
        "singletons": row[2],
        "clusters": clusters[0],
        "excluded": {row["status"]: row["count"] for row in statuses},
    }


def _layout(job: Job, recipe: Recipe) -> Mapping[str, int]:
    if has_bits_alone(recipe):
        threshold = job.match_options.for_recipe(recipe).threshold
        return {"tables": block_sharing(recipe, threshold).shape["tables"]}
    layout = job.match_options.band_plan(recipe)
    return {"bands": layout.bands, "rows": layout.rows}


def _write_table(rows: DataFrame, job: Job, name: str) -> None:
    rows.write.mode("overwrite").parquet(f"{job.out.rstrip('/')}/{name}")


def _write_to_store(
    work: Work, rows: Stage, assigned: Stage, job: Job, recipe: Recipe
) -> dict[str, Any]:
    """Write to the store; into a store that the documents came from write the families only."""
    url, is_source = job.store or "", job.is_source
    spark = rows.rows.sparkSession
    if is_source:
        left = assign(work, rows, assigned, url, job.writers)
        refused = spark.createDataFrame([], ddl(_OUTCOME))
    else:
        left = dict.fromkeys(_LEFT, 0)
        refused = write(rows.rows, assigned.rows, url, recipe, job.writers)
    _write_table(refused, job, "refused")
    refresh(url)
    count = spark.read.parquet(f"{job.out.rstrip('/')}/refused").count()
    return {"url": url, "wrote": "families" if is_source else "documents", "refused": count, **left}


def _recipe_of(job: Job) -> Recipe:
    """Return the recipe of the store that documents come from, or that of the job; a job without
    one keeps that of the store that it writes to.
    """
    if job.source.form == "store":
        return _recipe_of_store(job.source.path)
    if job.recipe or not job.store or ":memory:" in job.store:
        return job.recipe or DEFAULT
    with closing(open_store(job.store)) as store:
        return store.stored_recipe() or DEFAULT


def _recipe_of_store(url: str) -> Recipe:
    if ":memory:" in url:
        raise UsageError(
            "a store in memory cannot be read by other processes; give a file or a search engine"
        )
    with closing(open_store(url)) as store:
        recipe = store.stored_recipe()
    if recipe is None:
        raise StoreError(f"{url} holds no documents yet; index some, or check the address")
    return recipe
