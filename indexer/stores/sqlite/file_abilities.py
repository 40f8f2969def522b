"""Snapshots, labels, families and words of rows in a SQLite file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from indexer.model import (
    Assignment,
    Candidates,
    PrincipalRow,
    Query,
    Row,
    Scope,
    WordFrequencies,
    WordLookup,
)
from indexer.stores.abilities import AssignmentResult, MemberField
from indexer.stores.base import Ranking
from indexer.stores.row_limits import storable_ids, storable_labels
from indexer.stores.sqlite import columns as packed
from indexer.stores.sqlite import families_sql as sql
from indexer.stores.sqlite import parts_sql as parts
from indexer.stores.sqlite.document_frequencies import document_frequencies
from indexer.stores.sqlite.file_reads import rows_by_id, search_rows
from indexer.stores.sqlite.shared_words import find_by_words
from indexer.text.phrases import well_formed

if TYPE_CHECKING:
    from indexer.stores.sqlite.file import File

_ASSIGN = (
    "UPDATE documents SET family = ?, principal = ?, similarity = ?, cluster = ?, provisional = ? "
    "WHERE id = ?"
)


class SqliteSnapshots:
    """Reads of a file that keeps no snapshots: of the documents as they are."""

    def __init__(self, file: File, scope: Scope) -> None:
        self._file, self._scope = file, scope

    def search(self, query: Query, snapshot: str | None = None) -> Ranking:
        """Search as the store does; `Ranking.snapshot` is None."""
        return search_rows(self._file, self._scope, query)

    def get(self, ids: Sequence[str], snapshot: str) -> dict[str, Row]:
        """Return whole rows as they are."""
        return rows_by_id(self._file, storable_ids(ids))

    def release(self, snapshot: str) -> None:
        """Do nothing: no snapshot is kept."""


class SqliteLabels:
    """Labels of rows."""

    def __init__(self, file: File) -> None:
        self._file = file

    def relabel(self, labels: Mapping[str, Sequence[str]]) -> int:
        """Replace labels in one transaction."""
        storable = storable_labels(labels)
        with self._file.relabelling() as db:
            return sql.relabel(db, storable)


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

    def principals(self, bands: Sequence[Sequence[str]] | None, limit: int) -> list[PrincipalRow]:
        """Return also the principals of members that share a band; of a hot band, those of its
        oldest carriers.
        """
        with self._file.reading() as db:
            if bands is None:
                return sql.all_principals(db, self._scope, limit)
            prefixes = parts.PREFIXES[self._scope]
            keys = [packed.posted(keys, (), prefix) for keys in bands for prefix in prefixes]
            return sql.principals(db, keys, limit)

    def members(self, field: MemberField, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield id and family of each member; all are read before the first is yielded."""
        with self._file.reading() as db:
            pairs = list(sql.members(db, field, list(map(well_formed, names))))
        yield from pairs


class SqliteVocabulary:
    """Words of rows."""

    def __init__(self, file: File, scope: Scope) -> None:
        self._file, self._scope = file, scope

    def frequencies(self, words: Sequence[str]) -> WordFrequencies:
        """Count rows by one statement, in one consistent view."""
        with self._file.reading() as db:
            rows = parts.known_count(db, self._scope)
            return WordFrequencies(rows, document_frequencies(db, self._scope, words))

    def finds_every_word(self) -> bool:
        """Return True: nearfold itself indexes the texts."""
        return True

    def candidates(self, lookups: Sequence[WordLookup], limit: int) -> list[Candidates]:
        """Find candidates one look-up after the other, in one consistent view."""
        with self._file.reading() as db:
            return [find_by_words(db, self._scope, lookup, limit) for lookup in lookups]


def _family_fields(assignment: Assignment) -> tuple[object, ...]:
    return (
        "" if assignment.family == assignment.id else assignment.family,
        assignment.principal,
        assignment.similarity,
        assignment.cluster,
        assignment.provisional,
    )
