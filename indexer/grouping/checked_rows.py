"""Rows of a store that other programs write: their keys are checked against their texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, cast

from indexer.errors import UsageError
from indexer.fingerprinting.fingerprint import current_rows, fingerprint_rows, fresh_rows
from indexer.grouping.collection import Entry
from indexer.model import Assignment, Row
from indexer.recipe import Recipe
from indexer.stores.abilities import FullStore
from indexer.stores.maintenance import Shareable
from indexer.stores.requirements import is_shared
from indexer.system.approved_passages import ApprovedPassages, OmissionLog

_AT_ONCE = 256


def read_fresh(store: FullStore, recipe: Recipe, write: bool) -> Iterator[Row]:
    """Yield the rows of a store with the keys of their texts; with `write`, store those that were
    others.

    A partial update by another program changes a text without its keys, which would keep the
    document in the family of what it was.
    """
    maintenance = store.maintenance
    if not isinstance(maintenance, Shareable) or not is_shared(store):
        yield from current_rows(store.scan(), recipe)
        return
    corrected: list[Row] = []
    for stored, fresh in fresh_rows(store.scan(), recipe):
        if fresh is not stored:
            corrected.append(fresh)
        if write and len(corrected) >= _AT_ONCE:
            maintenance.fingerprint_again(corrected)
            corrected = []
        yield from current_rows([fresh], recipe)
    if write and corrected:
        maintenance.fingerprint_again(corrected)


# A store of which approved passages are left out, as matching and grouping read it.


class ShortenedStore:
    """A store that reads rows without approved passages, with the keys of the remaining texts.

    Without a `recipe` rows keep their keys, which were made of texts without these passages.
    `left_out` records what was left out of each document that has been scanned, if anything;
    `digests` are those that the store has of their texts.
    """

    def __init__(self, store: FullStore, approved: ApprovedPassages, recipe: Recipe | None) -> None:
        self._store, self._recipe = store, recipe
        self._remove = approved.remove_from if recipe else approved.blank_out
        self.left_out = OmissionLog(approved.id)
        self.digests: dict[str, str] = {}

    def scan(self, under: str | None = None) -> Iterator[Row]:
        """Yield every row, as `Store.scan` does."""
        rows = self._store.scan(under)
        while batch := list(islice(rows, _AT_ONCE)):
            yield from self._shorten(batch)

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """Return rows by id, as `Store.get` does."""
        rows = self._store.get(ids)
        return dict(zip(rows, self._shorten(list(rows.values())), strict=True))

    def _shorten(self, rows: Sequence[Row]) -> list[Row]:
        shorter = []
        for index, row in enumerate(rows):
            text, left_out = self._remove(row.text)
            if left_out.passages:
                self.left_out.documents[row.id] = left_out
                self.digests[row.id] = row.exact
                shorter.append((index, replace(row, text=text)))
        changed = [row for _, row in shorter]
        fingerprinted = changed if self._recipe is None else fingerprint_rows(changed, self._recipe)
        result = list(rows)
        for (index, before), after in zip(shorter, fingerprinted, strict=True):
            result[index] = replace(after, provisional=before.provisional)
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def stored_digests(store: FullStore, entries: Iterable[Entry]) -> dict[str, str]:
    """Return by id the digests that a store has of the texts of these documents, as they were read,
    by which it finds out whether a text is another one now.
    """
    digests = {
        entry.id: entry.exact if entry.stored_exact is None else entry.stored_exact
        for entry in entries
    }
    if isinstance(store, ShortenedStore):
        digests |= {id: exact for id, exact in store.digests.items() if id in digests}
    return digests


def of_texts(assignment: Assignment, digests: Mapping[str, str]) -> Assignment:
    """Return the assignment with the digests of the texts that were compared, by id."""
    is_own = assignment.family == assignment.id
    principal_exact = None if is_own else digests.get(assignment.family)
    return replace(assignment, exact=digests.get(assignment.id), principal_exact=principal_exact)


def without_passages(
    store: FullStore, approved: ApprovedPassages, recipe: Recipe
) -> tuple[FullStore, OmissionLog | None]:
    """Return a store whose rows lack approved passages, and what these are; the store itself and
    None if none are approved.

    Only `scan` and `get` differ: writes go to the documents themselves. A store
    that is fingerprinted without the passages of a list is read without these. Raises `UsageError`
    for another list than that.
    """
    if recipe.left_out and recipe.approved:
        if approved and approved.id != recipe.left_out:
            raise UsageError(
                f"{store.url} is fingerprinted without the approved passages of list "
                f"{recipe.left_out}, not {approved.id}; leave --leave-out out, or `nearfold "
                "reindex --leave-out` first"
            )
        shortened = ShortenedStore(store, recipe.approved(), None)
        return cast("FullStore", shortened), shortened.left_out
    if not approved:
        return store, None
    shortened = ShortenedStore(store, approved, recipe)
    return cast("FullStore", shortened), shortened.left_out
