"""Abilities of a store that only some callers need, each a small interface of its own.

A store with an ability has it as an attribute: `store.families.members(...)`. A function says in
its signature which store it needs: `FamilyStore`, or `FullStore` when it needs several abilities.
Both real stores are `FullStore`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from indexer.model import (
    Assignment,
    Candidates,
    PrincipalRow,
    Query,
    Row,
    Scope,
    Status,
    WordFrequencies,
    WordLookup,
)
from indexer.stores.base import Ranking, Store
from indexer.stores.maintenance import Reindexable

MemberField: TypeAlias = Literal["family", "cluster", "parent", "exact", "raw"]


class Snapshots(Protocol):
    """Reads of the documents as they were at one point in time.

    A search engine keeps a snapshot for five minutes after each use, or until `release`; a store in
    SQLite keeps none, and reads the documents as they are.
    """

    def search(self, query: Query, snapshot: str | None = None) -> Ranking:
        """Search as `Store.search` does, at a snapshot, or at a new one.

        `Ranking.snapshot` names it for the next read, None where no snapshots are kept. Raises
        `SnapshotExpired`.
        """
        ...

    def get(self, ids: Sequence[str], snapshot: str) -> dict[str, Row]:
        """Return whole rows by id as they were; ids that did not exist are absent.

        Raises `SnapshotExpired`.
        """
        ...

    def release(self, snapshot: str) -> None:
        """Release a snapshot; one that has expired already is not an error."""
        ...


class Parts(Protocol):
    """Parts of documents that are rows of their own, such as clauses, and attachments of mails."""

    def view(self, scope: Scope) -> FullStore:
        """Return the same store for parts, for documents, or for every row.

        Closing either closes both.
        """
        ...

    def kind(self) -> str | None:
        """Return how documents are divided, such as `clauses_v1`.

        None when they are not, or when there is no store yet.
        """
        ...

    def record(self, kind: str) -> None:
        """Record how documents are divided from now on."""
        ...

    def attachments(self) -> bool:
        """Return whether attachments of mails are documents of their own.

        True where there is no store yet, False in one that an earlier nearfold made.
        """
        ...

    def record_attachments(self, are_documents: bool) -> None:
        """Record whether attachments of mails are documents of their own from now on."""
        ...


class Labels(Protocol):
    """Labels of documents."""

    def relabel(self, labels: Mapping[str, Sequence[str]]) -> int:
        """Replace the labels of rows that exist, by id, and of their parts, and nothing else.

        Returns how many of the ids exist.
        """
        ...


@dataclass(frozen=True, slots=True)
class AssignmentResult:
    """The result of `Families.assign` in numbers.

    `written`: rows that got family fields.
    `left_alone`: documents of other programs that a change would harm.
    `outdated`: documents whose text, or that of their principal, is not the one that was compared.
    """

    written: int
    left_alone: int = 0
    outdated: int = 0


class Families(Protocol):
    """Families and clusters of rows."""

    def assign(self, assignments: Iterable[Assignment]) -> AssignmentResult:
        """Write family fields to rows that exist.

        The last assignment of an id wins. Where other programs write too, a row whose text is not
        the one that was compared stays as it is, and one whose principal's is not gets a
        provisional family of its own.
        """
        ...

    def principals(
        self, bands: Sequence[Sequence[str]] | None, limit: int, min_shared: int = 1
    ) -> list[PrincipalRow]:
        """Return principals that share bands with documents, each given by its bands: all of them,
        or some when `limit` is reached.

        Those that share fewer than `min_shared` may be left out. Documents that were never grouped
        are their own principals. The principal that shares most bands with a document is among the
        results. None asks for the principals of all families.
        """
        ...

    def members(self, field: MemberField, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield id and family (or the other field) of every row with one of these values,
        principals included.
        """
        ...


class RowVersion(NamedTuple):
    """A row, and the version of it that was read, in the words of the store."""

    row: Row
    state: Mapping[str, Any]


class WritesSince(NamedTuple):
    """Documents that were written since some operations, as they are stored, and what is seen of
    the operations with them.

    `deletions`: numbers that each deletion changes, and each index that takes over the name.
    """

    rows: Iterable[Row]
    operations: Mapping[str, int]
    deletions: Mapping[str, int]


@runtime_checkable
class ReceivingFamilies(Protocol):
    """Families of rows that clients send without nearfold."""

    def unplaced(self, limit: int) -> tuple[list[str], int]:
        """Return ids of documents with keys whose family is still the one that the pipeline gave
        them, at most `limit`, and the number of all of them.
        """
        ...

    def writes_since(self, operations: Mapping[str, int], limit: int) -> WritesSince:
        """Return up to `limit` documents that were written after these operations; `{}` is before
        the first one.

        Documents that `unplaced` returns are left out.
        """
        ...

    def versions(self, ids: Sequence[str]) -> dict[str, RowVersion]:
        """Return documents by id, with the version that was read."""
        ...

    def assign_versions(
        self, assignments: Iterable[Assignment], versions: Mapping[str, RowVersion]
    ) -> set[str]:
        """Write family fields of documents that are still as they were read; return their ids."""
        ...

    def processor_seconds(self) -> float | None:
        """Return the processor time of all nodes since they started; None where it is not known."""
        ...


@runtime_checkable
class HasVersion(Protocol):
    """A store that knows whether it has changed."""

    def version(self) -> Hashable | None:
        """Return a value that each change which reads see makes another one; None where the store
        does not know.
        """
        ...


@runtime_checkable
class CachesReads(Protocol):
    """A store that keeps what it read as long as nothing changes."""

    def forget_reads(self) -> None:
        """Discard it, except what is in use."""
        ...


class Outline(NamedTuple):
    """A document without its text and its sketches, as counts of a whole store need it."""

    id: str
    path: str
    status: Status
    raw: str
    exact: str
    labels: tuple[str, ...]
    family: str
    similarity: float | None
    provisional: bool


@runtime_checkable
class OutlineStore(Protocol):
    """A store that reads outlines faster than whole rows."""

    def outlines(self) -> Iterator[Outline]:
        """Yield the outline of each row, in any order.

        A row that is written meanwhile may come as it was before or as it is after.
        """
        ...


class Vocabulary(Protocol):
    """The words of documents, as full-text search finds them."""

    def frequencies(self, words: Sequence[str]) -> WordFrequencies:
        """Count the rows that a search for each word finds, and all rows.

        Counts are exact, over all shards. Case and accents make no difference, and a word of
        several in the index ("e-mail", "3.14") is a phrase. A word that search knows nothing of is
        in 0. Many words take few requests.
        """
        ...

    def finds_every_word(self) -> bool:
        """Return whether a search for a word finds each text that has it.

        False where texts are analysed as others chose, who may leave words out of the index.
        """
        ...

    def candidates(self, lookups: Sequence[WordLookup], limit: int) -> list[Candidates]:
        """Return for each look-up the rows with a sketch that meet it, by few requests.

        Most words first, ties by path, then id, at most `limit` for each look-up. They share no
        keys as far as is known. Raises `SnapshotExpired` as `Store.candidates` does.
        """
        ...


@runtime_checkable
class Exclusive(Protocol):
    """A store whose writers take turns."""

    def exclusive(self) -> AbstractContextManager[None]:
        """Run the reads and writes of this thread as one: all are done or, after an exception,
        none, and no other write comes between them.
        """
        ...


@dataclass(frozen=True, slots=True)
class Claim:
    """A row that was stored before it is decided what it is, as far as known.

    `note`: what its writer left about it. `outcome`: the decision, empty until there is one.
    `state`: the version of the row, in the words of the store.
    """

    id: str
    note: str
    outcome: str
    state: Mapping[str, int]


class Claims(Protocol):
    """Rows that are stored first and decided on later, by whoever comes first.

    A method that takes a claim does nothing, and returns False, if the row has changed since the
    claim was read.
    """

    def create(self, row: Row, note: str) -> bool:
        """Store a row that is not decided; return False if one of its id exists.

        Raises `StoreError` for a row that the store refuses.
        """
        ...

    def replace(self, row: Row, note: str, claim: Claim) -> bool:
        """Store a row that is not decided instead of another of its id."""
        ...

    def get(self, id: str) -> Claim | None:
        """Return the claim of a row as it is now; None if there is no such row.

        A row that was stored in another way has neither note nor outcome.
        """
        ...

    def undecided(self) -> Sequence[Claim]:
        """Return the claims without an outcome; each that was acknowledged before is among them."""
        ...

    def touch(self, claim: Claim) -> bool:
        """Change the version of a row, and nothing else."""
        ...

    def decide(self, claim: Claim, outcome: str) -> bool:
        """Record the outcome of a claim."""
        ...

    def remove(self, claim: Claim) -> bool:
        """Delete the row."""
        ...


@runtime_checkable
class Claiming(Protocol):
    """A store whose writers do not wait for each other."""

    claims: Claims


class SnapshotStore(Store, Protocol):
    """A store with reads at a point in time."""

    @property
    def snapshots(self) -> Snapshots:
        """Return the snapshots of the store."""
        ...


class PartStore(Store, Protocol):
    """A store whose documents can be divided into parts."""

    @property
    def parts(self) -> Parts:
        """Return the parts of the store."""
        ...


class LabelStore(Store, Protocol):
    """A store whose documents can be labelled."""

    @property
    def labels(self) -> Labels:
        """Return the labels of the store."""
        ...


class FamilyStore(Store, Protocol):
    """A store whose rows can be grouped into families."""

    @property
    def families(self) -> Families:
        """Return the families of the store."""
        ...


class MaintainedStore(Store, Protocol):
    """A store that can be maintained; `indexer.stores.maintenance` lists optional abilities of
    `maintenance`.
    """

    @property
    def maintenance(self) -> Reindexable:
        """Return the maintenance of the store."""
        ...


class VocabularyStore(Store, Protocol):
    """A store that counts the documents with a word."""

    @property
    def vocabulary(self) -> Vocabulary:
        """Return the vocabulary of the store."""
        ...


class FullStore(
    SnapshotStore,
    PartStore,
    LabelStore,
    FamilyStore,
    MaintainedStore,
    VocabularyStore,
    Protocol,
):
    """A store with every ability."""


# The outlines of a store, from whichever read it has for them.


def outlines(store: Store) -> Iterator[Outline]:
    """Yield the outline of each row of a store, in any order."""
    if isinstance(store, OutlineStore):
        yield from store.outlines()
        return
    for row in store.scan():
        yield Outline(
            row.id,
            row.path,
            row.status,
            row.raw,
            row.exact,
            row.labels,
            row.family,
            row.similarity,
            row.provisional,
        )
