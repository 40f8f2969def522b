"""Families and labels in a SQLite file: how they are written back, and their SQL."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from indexer.model import CONFLICT, Assignment, PrincipalRow, Scope
from indexer.stores.abilities import AssignmentResult, MemberField
from indexer.stores.filters import NEAR_DUPLICATES
from indexer.stores.sqlite.connections import Connection
from indexer.stores.sqlite.keys import carriers_of, posted
from indexer.stores.sqlite.rows import (
    DIGESTS,
    EXACT,
    KINDS,
    WITHIN,
    pack_digest,
    read_cache,
    unpack_digest,
)
from indexer.system.external_memory import offsets
from indexer.wording import well_formed

if TYPE_CHECKING:
    from indexer.stores.sqlite.file import File

CARRIERS = 100
_ASSIGN = (
    "UPDATE documents SET family = ?, principal = ?, similarity = ?, cluster = ?, provisional = ? "
    "WHERE id = ?"
)
_CHUNK = 500
_OWN = " UNION ALL SELECT id, id FROM documents WHERE family = '' AND id IN ({})"
_IS_PRINCIPAL = (
    "p.in_family = p.id AND p.principal IS NOT 0 "
    "AND p.status = 'complete' AND p.minhash IS NOT NULL"
)
_PRINCIPALS = (
    "SELECT p.id, p.minhash FROM json_each(?) j "
    "JOIN documents d ON d.number = CAST(j.key AS INTEGER) "
    f"JOIN documents p ON p.id = d.in_family WHERE {_IS_PRINCIPAL} "
    "GROUP BY p.number ORDER BY max(j.value) DESC, p.id LIMIT ?"
)
_CONFLICTING = (
    "d.in_family {} (SELECT family FROM ("
    "SELECT family, labels FROM documents WHERE family <> '' UNION ALL "
    "SELECT id, labels FROM documents WHERE family = '' "
    "AND id IN (SELECT family FROM documents WHERE family <> '')) "
    "GROUP BY family HAVING count(DISTINCT nearfold_set(labels)) > 1)"
)
_OF_SEVERAL = "d.in_family {} (SELECT family FROM documents WHERE family <> '' AND family <> id)"
# by the indexes of families and of ids: none is of `in_family`
OF_FAMILY = (
    "d.number IN (SELECT number FROM documents WHERE family = ? AND family <> '' "
    "UNION ALL SELECT number FROM documents WHERE id = ? AND family = '')"
)
FAMILIES = {CONFLICT: _CONFLICTING, NEAR_DUPLICATES: _OF_SEVERAL}  # conditions on documents `d`


class SqliteFamilies:
    """Families and clusters of rows."""

    def __init__(self, file: File, scope: Scope) -> None:
        self._file, self._scope = file, scope

    def assign(self, assignments: Iterable[Assignment]) -> AssignmentResult:
        """Write family fields in one transaction."""
        last = {well_formed(assignment.id): assignment for assignment in assignments}
        values = [(*_family_fields(assignment), name) for name, assignment in last.items()]
        with self._file.writing() as db:
            return AssignmentResult(written=db.executemany(_ASSIGN, values).rowcount)

    def principals(
        self, bands: Sequence[Sequence[str]] | None, limit: int, min_shared: int = 1
    ) -> list[PrincipalRow]:
        """Return also the principals of members that share a band; of a frequent band, of its
        oldest carriers.
        """
        with self._file.reader() as db:
            if bands is None:
                return all_principals(db, self._scope, limit)
            return principals(db, self._scope, bands, limit, min_shared)

    def members(self, field: MemberField, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield id and family of each member; all are read before the first is yielded."""
        with self._file.reader() as db:
            pairs = list(members(db, field, list(map(well_formed, names))))
        yield from pairs


def _family_fields(assignment: Assignment) -> tuple[object, ...]:
    return (
        "" if assignment.family == assignment.id else assignment.family,
        assignment.principal,
        assignment.similarity,
        assignment.cluster,
        assignment.provisional,
    )


def principals(
    db: sqlite3.Connection,
    scope: Scope,
    bands: Sequence[Sequence[str]],
    limit: int,
    min_shared: int,
) -> list[PrincipalRow]:
    """Return the principals of the families of rows that carry `min_shared` of the bands of one
    document; of a frequent band only of the oldest carriers.
    """
    flat = list(chain.from_iterable(bands))
    keys = np.concatenate([posted(flat, (), is_part) for is_part in KINDS[scope]])
    documents = np.repeat(np.arange(len(bands)), list(map(len, bands)))
    documents = np.tile(documents, len(KINDS[scope]))
    distinct, positions = np.unique(keys, return_inverse=True)
    rows, sizes = carriers_of(db, distinct, CARRIERS)
    of_key = sizes[positions]
    starts = (np.cumsum(sizes) - sizes)[positions]
    pairs = np.repeat(documents << 32, of_key) | rows[np.repeat(starts, of_key) + offsets(of_key)]
    pairs, counts = np.unique(pairs, return_counts=True)
    numbers, counts = (values[counts >= min_shared] for values in (pairs & 0xFFFFFFFF, counts))
    order = np.argsort(counts)  # so that the highest count of a row is kept
    shared = dict(zip(numbers[order].tolist(), counts[order].tolist(), strict=True))
    if not shared:
        return []
    return [PrincipalRow(*row) for row in db.execute(_PRINCIPALS, (json.dumps(shared), limit))]


def all_principals(db: sqlite3.Connection, scope: Scope, limit: int) -> list[PrincipalRow]:
    """Return the principals of all families, the oldest rows first."""
    within = WITHIN[scope].replace("d.", "p.")
    select = f"SELECT p.id, p.minhash FROM documents p WHERE {within} AND {_IS_PRINCIPAL}"
    rows = db.execute(f"{select} ORDER BY p.number LIMIT ?", (limit,))
    return [PrincipalRow(*row) for row in rows]


def members(db: sqlite3.Connection, field: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield ids with the value of the field, for rows with one of these values."""
    values: list[bytes | str] = list(names)
    if field in DIGESTS:  # as bytes or, in files of format 3, as text
        values = [form for name in names for form in {name, pack_digest(name)}]
    for start in range(0, len(values), _CHUNK):
        chunk = values[start : start + _CHUNK]
        marks = ", ".join("?" * len(chunk))
        value = EXACT if field == "exact" else field
        select = f"SELECT id, {value} FROM documents WHERE {value} IN ({marks})"
        if field == "family":
            select += f" AND family <> ''{_OWN.format(marks)}"
            chunk *= 2
        for name, value in db.execute(f"{select} ORDER BY id", chunk):
            yield name, unpack_digest(value)


def relabel(db: sqlite3.Connection, labels: Mapping[str, Sequence[str]]) -> int:
    """Replace the labels of these ids, and of their parts; return how many of the ids exist.

    What the connection keeps of the file stays, and follows.
    """
    cache = read_cache(db)
    values = [(json.dumps(list(names), ensure_ascii=False), id) for id, names in labels.items()]
    if not values:
        return 0
    db.executemany("UPDATE documents SET labels = ? WHERE parent = ?", values)
    count = db.executemany("UPDATE documents SET labels = ? WHERE id = ?", values).rowcount
    cache.columns.relabel(db, labels)
    cache.filtered.clear()  # some filters go by labels
    if isinstance(db, Connection):
        db.keep_reads(cache)
    return count
