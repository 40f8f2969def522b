"""Bulk writes to a store from the partitions of a DataFrame.

Every row goes under its own id and says the same each time, so a task that is tried again, or that
speculation runs twice, writes the same documents again, and each is there once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from indexer.errors import UsageError
from indexer.model import Assignment, Row
from indexer.recipe import Recipe
from indexer.spark.arrow_rows import ROW, Batches, Mapper, batch, ddl, unpack_row
from indexer.stores import open_store

_FIELDS = ("family", "principal", "similarity", "cluster")
_OUTCOME = {"id": "string", "error": "string"}
_BATCH = 500
T = TypeVar("T")


def write(rows: DataFrame, assigned: DataFrame, url: str, recipe: Recipe, tasks: int) -> DataFrame:
    """Write all rows with their families to a store; what was refused comes back: `id`, `error`.

    Nothing happens before the answer is read, and reading it twice writes twice, to the same
    effect. `tasks` write at a time. Raises `RecipeMismatch` when the store holds another recipe,
    `UsageError` for a store that others cannot open.
    """
    _prepared(url, recipe)
    fields = assigned.select("id", *(sf.col(name).alias(f"its_{name}") for name in _FIELDS))
    return rows.join(fields, "id").coalesce(tasks).mapInArrow(writes(url), ddl(_OUTCOME))


def assign(assigned: DataFrame, url: str, tasks: int) -> DataFrame:
    """Write families back to the rows of a store, as `write` does; rows that are gone since are
    passed over.
    """
    return assigned.coalesce(tasks).mapInArrow(assigns(url), ddl(_OUTCOME))


def writes(url: str) -> Mapper:
    """Rows with the columns `ROW` and the family fields, written in batches; the refusals."""

    def run(parts: Batches) -> Batches:
        with closing(open_store(url)) as store:
            for rows in _batched(_grouped(parts)):
                refusals = zip(rows, store.write(rows), strict=True)
                refused = [(row.id, why) for row, why in refusals if why is not None]
                yield batch(_OUTCOME, [[id for id, _ in refused], [why for _, why in refused]])

    return run


def assigns(url: str) -> Mapper:
    """Assignments written in batches; there are no refusals."""

    def run(parts: Batches) -> Batches:
        with closing(open_store(url)) as store:
            store.families.assign(
                Assignment(**record) for part in parts for record in part.to_pylist()
            )
        yield batch(_OUTCOME, [[], []])

    return run


def refresh(url: str) -> None:
    """Make what was written visible to searches."""
    with closing(open_store(url)) as store:
        store.refresh()


def _prepared(url: str, recipe: Recipe) -> None:
    if ":memory:" in url:
        raise UsageError(
            "a store in memory cannot be written by other processes; give a file or a search engine"
        )
    with closing(open_store(url)) as store:
        store.prepare(recipe)


def _grouped(parts: Batches) -> Iterator[Row]:
    for part in parts:
        fields = [part.column(f"its_{name}").to_pylist() for name in _FIELDS]
        for row, *values in zip(unpack_row(part.select(list(ROW))), *fields, strict=True):
            given: dict[str, Any] = dict(zip(_FIELDS, values, strict=True))
            yield replace(row, **given, provisional=False)


def _batched(items: Iterable[T]) -> Iterator[list[T]]:
    waiting = iter(items)
    while part := list(islice(waiting, _BATCH)):
        yield part
