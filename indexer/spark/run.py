"""A whole run: documents in; pairs, families, clusters and an account out; written to a store where
that is asked.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from indexer.errors import StoreError, UsageError
from indexer.grouping.assign_families import GroupOptions
from indexer.matching.collection import KEYED
from indexer.recipe import DEFAULT, Recipe
from indexer.spark import store_writes as writing
from indexer.spark.group_job import group
from indexer.spark.input_documents import Input, failures, readable, signed_documents
from indexer.spark.match_job import PairRequest, match
from indexer.spark.work_folder import Stage, Work
from indexer.stores import open_store

WRITERS = 8


@dataclass(frozen=True, slots=True)
class Job:
    """What to read and to find, and where to put it. `store`: write rows and families there too,
    `writers` tasks at a time.
    """

    given: Input
    out: str
    recipe: Recipe = DEFAULT
    asked: PairRequest = field(default_factory=PairRequest)
    settings: GroupOptions = field(default_factory=GroupOptions)
    store: str | None = None
    writers: int = WRITERS


def run(spark: SparkSession, job: Job) -> dict[str, Any]:
    """Do the job and return its account; the tables lie in `out` as `pairs`, `families`,
    `clusters`, `failed`, `refused`.

    Stages are kept in `out/work`; a run that was cut short goes on there, and ends the same.
    Documents of a store keep its recipe, whatever the job says. Raises `UsageError` first of all
    when `out` cannot be written.
    """
    began = time.monotonic()
    recipe = _stored(job.given.place) if job.given.form == "store" else job.recipe
    work = Work(spark, f"{job.out}/work")
    work.check()
    read = signed_documents(work, job.given, recipe)
    rows = readable(read)
    pairs = match(work, rows, recipe, job.asked)
    assigned = group(work, rows, recipe, job.settings)
    _deliver(pairs.rows, job, "pairs")
    _deliver(assigned.rows.drop("cluster"), job, "families")
    _deliver(assigned.rows.where("cluster IS NOT NULL").select("id", "cluster"), job, "clusters")
    _deliver(failures(read), job, "failed")
    account = {
        "documents": rows.facts["documents"],
        "failed": rows.facts["failed"],
        "recipe": recipe.name,
        "match": {**asdict(job.asked), **_layout(job.asked, recipe), **pairs.facts},
        "group": {**asdict(job.settings), **assigned.facts, **counted(rows.rows, assigned.rows)},
        "store": _stored_rows(rows, assigned, job, recipe) if job.store else None,
        "stages": {"made": work.made, "kept": work.kept},
        "seconds": round(time.monotonic() - began, 1),
    }
    work.note(f"{job.out.rstrip('/')}/account.json", json.dumps(account, indent=2))
    return account


def counted(rows: DataFrame, assigned: DataFrame) -> dict[str, Any]:
    """Families and clusters of two documents or more, and the documents whose status keeps them
    out, by status.
    """
    sizes = assigned.groupBy("family").count()
    row = sizes.agg(
        sf.count_if(sf.col("count") > 1), sf.max("count"), sf.count_if(sf.col("count") == 1)
    ).first() or (0, 0, 0)
    clusters = assigned.agg(sf.count_distinct("cluster")).first() or (0,)
    aside = (
        rows.where(~sf.col("status").isin(*KEYED))
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
        "aside": {one["status"]: one["count"] for one in aside},
    }


def _layout(asked: PairRequest, recipe: Recipe) -> Mapping[str, int]:
    layout = asked.layout(recipe)
    return {"bands": layout.bands, "rows": layout.rows}


def _deliver(rows: DataFrame, job: Job, name: str) -> None:
    rows.write.mode("overwrite").parquet(f"{job.out.rstrip('/')}/{name}")


def _stored_rows(rows: Stage, assigned: Stage, job: Job, recipe: Recipe) -> dict[str, Any]:
    """Write to the store; a store that documents came from gets the families alone."""
    url = job.store or ""
    same = job.given.form == "store" and job.given.place == url
    if same:
        refused = writing.assign(assigned.rows, url, job.writers)
    else:
        refused = writing.write(rows.rows, assigned.rows, url, recipe, job.writers)
    _deliver(refused, job, "refused")
    writing.refresh(url)
    count = rows.rows.sparkSession.read.parquet(f"{job.out.rstrip('/')}/refused").count()
    return {"url": url, "wrote": "families" if same else "documents", "refused": count}


def _stored(url: str) -> Recipe:
    if ":memory:" in url:
        raise UsageError(
            "a store in memory cannot be read by other processes; give a file or a search engine"
        )
    with closing(open_store(url)) as store:
        recipe = store.stored_recipe()
    if recipe is None:
        raise StoreError(f"{url} holds no documents yet; index some, or check the address")
    return recipe
