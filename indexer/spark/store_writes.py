"""Bulk writes to a store from the partitions of a DataFrame.

Every row is written under its own id and is the same each time. So a task that is tried again, or
that speculation runs twice, writes the same documents again, and each is there once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import chain, islice
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
    """Write all rows with their families to a store; return what was refused: `id`, `error`.

    Nothing happens before the result is read; reading it twice writes twice, to the same effect.
    `tasks` write at a time. Raises `RecipeMismatch` when the store holds another recipe,
    `UsageError` for a store that others cannot open.
    """
    _prepare(url, recipe)
    fields = assigned.select("id", *(sf.col(name).alias(f"its_{name}") for name in _FIELDS))
    return rows.join(fields, "id").coalesce(tasks).mapInArrow(row_writer(url), ddl(_OUTCOME))


def assign(assigned: DataFrame, url: str, tasks: int) -> DataFrame:
    """Write families back to the rows of a store, as `write` does; skip rows that are gone."""
    return assigned.coalesce(tasks).mapInArrow(family_writer(url), ddl(_OUTCOME))


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
    """Return a mapper that writes assignments; there are no refusals."""

    def run(parts: Batches) -> Batches:
        with closing(open_store(url)) as store:
            records = chain.from_iterable(part.to_pylist() for part in parts)
            store.families.assign(Assignment(**record) for record in records)
        yield batch(_OUTCOME, [[], []])

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
