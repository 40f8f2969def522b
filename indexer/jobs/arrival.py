"""Families on arrival: a document that comes, or comes changed, joins the most similar principal or
becomes one.

Decisions here are provisional until the next `group`, but it holds at any time: a family's
principal exists, may be joined, and is similar enough to each member. So principals are written
before those who join them, and before a text changes its family is repaired.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.band_plan import few_bands, min_equal
from indexer.comparing.reasons import Rarity
from indexer.errors import UnsupportedOperation, UsageError
from indexer.fingerprinting.fingerprint import fresh_rows, ungrouped
from indexer.fingerprinting.hashing import GAMMA, distinct_sorted
from indexer.fingerprinting.keys import band_hashes, unpack_slots
from indexer.grouping.delete import (
    is_principal,
    regroup_members_of,
    repair_families,
    repair_strays,
)
from indexer.grouping.group_options import DEFAULT_OPTIONS, GroupOptions, PrincipalFinder
from indexer.jobs.document_rows import with_labels_of
from indexer.model import Assignment, PrincipalRow, Row
from indexer.recipe import Recipe
from indexer.stores.abilities import FullStore, ReceivingFamilies, RowVersion
from indexer.stores.journal import journal_path
from indexer.stores.maintenance import Shareable
from indexer.stores.requirements import require_recipe, require_updatable
from indexer.system.external_memory import Positions, offsets
from indexer.system.failpoints import reached
from indexer.system.files import write_whole

# Principals by their bands, in memory: which recent principals a document may resemble.

CARRIERS = 100
_AT_ONCE = 2048  # pairs whose slots are compared together

Slots: TypeAlias = NDArray[Any]
_Hashes = NDArray[np.uint32]


class PrincipalBands:
    """Ids with their slots, found again by shared bands.

    Slots are unsigned numbers of `slot_bytes`. Of a band that many have, the first `CARRIERS` of
    each run are found. Memory: the slots, 8 bytes a band, and the id; while it grows, twice that.
    """

    def __init__(self, slots: int, bands: int, rows: int, slot_bytes: int = 4) -> None:
        self._bands, self._rows = bands, rows
        self._salts = np.arange(bands, dtype=np.uint64) * np.uint64(GAMMA)
        self._slots: Slots = np.zeros((0, slots), dtype=f"u{slot_bytes}")
        self._runs: list[tuple[_Hashes, Positions]] = []
        self._positions: dict[str, int] = {}
        self.ids: list[str] = []

    def __len__(self) -> int:
        return len(self._positions)

    def __contains__(self, id: str) -> bool:
        return id in self._positions

    def add(self, ids: Sequence[str], slots: Slots) -> None:
        """Add ids with their slots, (ids, slots); new slots of a known id replace the old ones."""
        if not ids:
            return
        first = len(self.ids)
        positions = np.arange(first, first + len(ids), dtype=np.int32)
        self.ids += ids
        self._positions |= dict(zip(ids, positions.tolist(), strict=True))
        self._reserve(first + len(ids))
        self._slots[first : first + len(ids)] = slots
        self._runs.append(_sort(self._hashes(slots).ravel(), np.repeat(positions, self._bands)))
        while len(self._runs) > 1 and len(self._runs[-2][0]) <= 2 * len(self._runs[-1][0]):
            (hashes, owners), (later_hashes, later_owners) = self._runs[-2:]
            both_hashes = np.concatenate([hashes, later_hashes])
            self._runs[-2:] = [_sort(both_hashes, np.concatenate([owners, later_owners]))]

    def discard(self, id: str) -> None:
        """Remove an id, if it is known."""
        self._positions.pop(id, None)

    def near(self, slots: Slots, minimum: int) -> Iterator[tuple[int, str]]:
        """Yield a row of `slots` and an id with a band and at least `minimum` slots in common.

        By row, then by age of the id.
        """
        codes = distinct_sorted(np.sort(self._shared_bands(slots)))
        for start in range(0, len(codes), _AT_ONCE):
            pairs = np.divmod(codes[start : start + _AT_ONCE], len(self.ids))
            equal = np.count_nonzero(slots[pairs[0]] == self._slots[pairs[1]], axis=1)
            rows, positions = (of_pairs[equal >= minimum].tolist() for of_pairs in pairs)
            for row, position in zip(rows, positions, strict=True):
                id = self.ids[position]
                if self._positions.get(id) == position:
                    yield row, id

    def _shared_bands(self, slots: Slots) -> NDArray[np.int64]:
        """Return row * ids + position for each band that a row shares with an id, with repeats."""
        hashes = self._hashes(slots).ravel()
        order = np.argsort(hashes)  # sorted ones are found in a fraction of the time
        hashes = hashes[order]
        rows: NDArray[np.int64] = order // max(self._bands, 1)
        shared = [rows[:0]]
        for values, owners in self._runs:
            starts = np.searchsorted(values, hashes, side="left")
            is_found = values[np.minimum(starts, len(values) - 1)] == hashes
            ends = np.searchsorted(values, hashes[is_found], side="right")
            starts = starts[is_found]
            sizes = np.minimum(ends - starts, CARRIERS)
            positions = owners[np.repeat(starts, sizes) + offsets(sizes)]
            first: NDArray[np.int64] = np.repeat(rows[is_found] * len(self.ids), sizes)
            shared.append(first + positions)
        return np.concatenate(shared)

    def _reserve(self, count: int) -> None:
        """Grow the array to `count` rows; it doubles, so that growing costs linear time."""
        if count > len(self._slots):
            rows = max(count, 2 * len(self._slots))
            larger = np.zeros((rows, self._slots.shape[1]), dtype=self._slots.dtype)
            larger[: len(self._slots)] = self._slots
            self._slots = larger

    def _hashes(self, slots: Slots) -> _Hashes:
        """Return (n, bands) hashes of (n, slots), half of their bits; hashes of different bands
        differ, but for chance.
        """
        hashes = band_hashes(slots, self._bands, self._rows) + self._salts
        half: _Hashes = (hashes >> np.uint64(32)).astype(np.uint32)
        return half


def _sort(hashes: _Hashes, owners: Positions) -> tuple[_Hashes, Positions]:
    order = np.argsort(hashes, kind="stable")
    return hashes[order], owners[order]


REMEMBERED = 50_000  # principals, about 30 MB
LOOKED_UP, LOOKED_UP_EACH = 1_000, 2  # principals that a look-up returns: in all, or for each row
WORTH = 5  # documents read whole for the time that one takes to look up
_FAMILY = ("family", "principal", "similarity", "cluster", "provisional")


@dataclass(slots=True)
class _PendingPrincipal:
    """A principal that was handed over and that the store has not acknowledged; one that it refused
    never will be.
    """

    row: Row
    decided: bool = False
    arrived: bool = False

    @property
    def may_arrive(self) -> bool:
        """True if the store has acknowledged it, or may still do so."""
        return self.arrived or not self.decided


class Arrivals:
    """Assignment of families to the rows of one job, which it also writes, by `write` in place of
    the store's own where given. Without `joins` there are no look-ups, and every document is a
    principal. `provisional`: each is in the provisional family of its text, as the ingest pipeline
    would leave it.

    Rows are placed in one thread, in their order, and may be written from others. Principals of
    this job are remembered, the last 50,000; others are looked up in the store, unless it was
    empty at first and nobody else can write to it. Where that is worth it, all principals of a
    small store are remembered. Recipes without bands of MinHash slots give no families.
    """

    def __init__(
        self,
        store: FullStore,
        recipe: Recipe,
        options: GroupOptions = DEFAULT_OPTIONS,
        *,
        joins: bool = True,
        provisional: bool = False,
        write: Callable[[Sequence[Row]], list[str | None]] | None = None,
    ) -> None:
        self._store = store
        self._write_rows = write or store.write
        self._recipe = recipe
        self._options = options
        self.writers = store.writers
        self._provisional = provisional
        self._joins = joins and not provisional and bool(recipe.minhash and recipe.bands)
        self._width = recipe.slots or 0
        self._size = recipe.sketch_bytes
        self._threshold = (
            min_equal(self._options.measure, self._options.threshold, recipe) if self._joins else 0
        )
        self._bands, self._min_shared = (
            few_bands(self._options.measure, self._options.threshold, recipe)
            if self._joins
            else (0, 1)
        )
        self._rarity = Rarity(store.vocabulary.frequencies)
        self._known = self._no_principals()
        self._documents = store.vocabulary.frequencies(()).documents
        self._must_look_up = store.shared or self._documents > 0
        self._may_find_members = store.shared and self._documents > 0
        self._looked_up = 0
        self._pending: dict[str, _PendingPrincipal] = {}
        self._decisions = threading.Condition()
        self._sources: dict[str, str] = {}
        self._repaired: set[str] = set()

    def assign(self, rows: Sequence[Row], replaced: Collection[str] = ()) -> list[Row]:
        """Return the rows with their families, to be handed to `write` in this order. `replaced`:
        ids that the store holds already.

        A document keeps the labels that it has, and its family if its text is the same as before.
        Before the text of a principal changes, its members choose anew, among themselves; so do
        those of a principal that another client deleted, before a document gets its id again.
        """
        last = {row.id: index for index, row in enumerate(rows)}
        stored = [id for id in last if id in replaced or id in self._known]
        before = self._store.get(stored) if stored else {}
        same = {id for id, row in before.items() if _is_unchanged(row, rows[last[id]])}
        changing = {id: row for id, row in before.items() if id not in same}
        was_left = self._may_find_members and regroup_members_of(
            self._store, self._recipe, last.keys() - before, self._options
        )
        if changing:
            self._repair(changing)
        elif was_left:
            self._store.refresh()
        if changing or was_left:
            before |= self._store.get(list(same))
        rows = [with_labels_of(before.get(row.id), row) for row in rows]
        alone = ungrouped if self._provisional else _singleton
        placed = [
            _with_family_of(before[row.id], row) if row.id in same else alone(row) for row in rows
        ]
        new = [
            position
            for id, position in last.items()
            if id not in same and self._has_slots(rows[position])
        ]
        if self._joins and new:
            self._join(placed, new, changing.keys())
        if len(last) < len(rows):
            placed = [_with_family_of(placed[last[row.id]], row) for row in placed]
        if not self._provisional:
            self._note_sources(row for row in placed if row.id in same)
        return placed

    def write(self, rows: Sequence[Row]) -> list[str | None]:
        """Write rows that were placed as `Store.write` does: principals first; a row that would
        join a principal that was refused is alone.
        """
        principals = [
            self._pending.get(row.family) if row.family != row.id else None for row in rows
        ]
        first = [index for index, principal in enumerate(principals) if principal is None]
        batch = [rows[position] for position in first]
        refusals: dict[int, str | None] = {}
        try:
            refusals |= zip(first, self._write_rows(batch), strict=True)
        finally:
            accepted = {
                rows[position].id for position in first if refusals.get(position, "") is None
            }
            self._decide(batch, accepted)
        later = [index for index, principal in enumerate(principals) if principal is not None]
        if later:
            joining = [self._wait_for(principals[position], rows[position]) for position in later]
            refusals |= zip(later, self._write_rows(joining), strict=True)
            batch += joining
        if self._store.shared:
            self._check(batch)
        return [refusals[position] for position in range(len(rows))]

    def rivals(self, rows: Sequence[Row]) -> set[tuple[str, str]]:
        """Return the ids of each of these principals and of stored ones that it may resemble."""
        if not rows:
            return set()
        self._look_up(rows, {row.id for row in rows})
        near = self._known.near(self._unpack(row.minhash or b"" for row in rows), self._threshold)
        return {(rows[index].id, id) for index, id in near}

    def similarity(self, row: Row, principal: Row) -> float | None:
        """Return the similarity of a document to a principal; None if it is below the threshold."""
        finder = PrincipalFinder(self._recipe, self._options, self._rarity)
        joined, value = finder.most_similar(row, [principal])
        return None if joined is None else value

    def _decide(self, rows: Sequence[Row], accepted: Collection[str]) -> None:
        """Release the threads that wait for a principal among these rows."""
        for row in rows:
            principal = self._pending.get(row.id) if row.family == row.id else None
            if principal is None:
                continue
            principal.arrived = row.id in accepted
            principal.decided = True
            if principal.arrived:
                del self._pending[row.id]
        with self._decisions:
            self._decisions.notify_all()

    def _wait_for(self, principal: _PendingPrincipal | None, row: Row) -> Row:
        """Return the row, once the store has decided on the principal that it joins."""
        if principal is not None and not principal.decided:
            with self._decisions:
                self._decisions.wait_for(lambda: principal.decided)
        return row if principal is None or principal.arrived else _singleton(row)

    def _check(self, rows: Sequence[Row]) -> None:
        """Repair what other writers did meanwhile: principals that were joined are gone or changed,
        or documents joined a principal that changed here.
        """
        expected: dict[str, str] = {}
        for row in rows:
            source = self._sources.pop(row.id, None)
            if source is not None:
                expected[row.id] = source
        families = list({row.family for row in rows if row.id in expected})
        sources = self._store.sources(families) if families else {}
        orphans = [
            row
            for row in rows
            if row.id in expected and sources.get(row.family) != expected[row.id]
        ]
        if orphans:
            self._store.families.assign(_provisional(_singleton(row), row.exact) for row in orphans)
        changed = [row.id for row in rows if row.id in self._repaired]
        if changed:
            repair_strays(self._store, self._recipe, changed, self._options)

    def _repair(self, changing: Mapping[str, Row]) -> None:
        """Repair the families of stored documents whose text is about to change."""
        reached("before_repair")
        repair_families(self._store, self._recipe, changing, self._options)
        reached("after_repair")
        self._must_look_up = True
        self._repaired |= {id for id, row in changing.items() if row.principal is not False}
        for id in changing:
            self._known.discard(id)

    def _has_slots(self, row: Row) -> bool:
        keyed = row.status in ("complete", "truncated")
        return keyed and len(row.minhash or b"") == self._size

    def _join(self, rows: list[Row], new: list[int], changing: Collection[str]) -> None:
        """Put the rows at these positions into families, in their order."""
        arriving = [rows[position] for position in new]
        slots = self._unpack(row.minhash or b"" for row in arriving)
        if self._must_look_up:
            self._look_up(arriving, changing)
        self._documents += len(new)
        candidates = self._near(arriving, slots)
        principals = self._principals(id for ids in candidates for id in ids)
        finder = PrincipalFinder(self._recipe, self._options, self._rarity)
        numbers = []
        for number, (position, ids) in enumerate(zip(new, candidates, strict=True)):
            row = rows[position]
            near = [principals[id] for id in ids if id in principals]
            best, similarity = finder.most_similar(row, near)
            if best is not None:
                rows[position] = replace(
                    row, family=best.id, principal=False, similarity=similarity
                )
                if best.id not in self._pending:
                    self._sources[row.id] = best.source
            elif row.principal:
                principals[row.id] = row
                self._pending[row.id] = _PendingPrincipal(row)
                numbers.append(number)
        self._remember([arriving[number].id for number in numbers], slots[numbers])

    def _look_up(self, rows: Sequence[Row], changing: Collection[str]) -> None:
        """Remember the stored principals that have a band of one of these rows."""
        self._looked_up += len(rows)
        worth_read_options = self._looked_up * WORTH >= self._documents <= REMEMBERED // 2
        principals: Sequence[PrincipalRow]
        if not self._store.shared and worth_read_options:
            principals = self._store.families.principals(None, REMEMBERED)
            self._looked_up = 0
            self._must_look_up = False
        else:
            principals = self._store.families.principals(
                [row.bands[: self._bands] for row in rows],
                max(LOOKED_UP, LOOKED_UP_EACH * len(rows)),
                self._min_shared,
            )
        self._forget_if_full(len(principals))
        new = [
            principal
            for principal in principals
            if principal.id not in self._known and principal.id not in changing
        ]
        slots = self._unpack(principal.minhash for principal in new)
        self._remember([principal.id for principal in new], slots)

    def _near(self, rows: Sequence[Row], slots: Slots) -> list[list[str]]:
        """Return for each row the ids that it may resemble, of known principals and of rows before
        it.
        """
        candidates: list[list[str]] = [[] for _ in rows]
        batch = self._no_principals()
        batch.add([row.id for row in rows], slots)
        positions = {row.id: index for index, row in enumerate(rows)}
        for principals in (self._known, batch):
            for index, id in principals.near(slots, self._threshold):
                if positions.get(id, -1) < index:
                    candidates[index].append(id)
        return candidates

    def _principals(self, ids: Iterable[str]) -> dict[str, Row]:
        """Return the rows of those that may be joined; the others are forgotten."""
        distinct = dict.fromkeys(ids)
        pending: dict[str, _PendingPrincipal] = {}
        for id in distinct:
            principal = self._pending.get(id)  # once: other threads delete from it
            if principal is not None:
                pending[id] = principal
        rows = {id: principal.row for id, principal in pending.items() if principal.may_arrive}
        remembered = [id for id in distinct if id not in pending and id in self._known]
        stored = self._store.get(remembered) if remembered else {}
        for id in remembered:
            if id in stored and is_principal(stored[id]):
                rows[id] = stored[id]
            else:
                self._known.discard(id)
        return rows

    def _note_sources(self, rows: Iterable[Row]) -> None:
        """Remember what the principals of these rows hold, to see later whether it is still the
        same.
        """
        members = {row.id: row.family for row in rows if row.family != row.id}
        if self._store.shared and members:
            sources = self._store.sources(list(set(members.values())))
            self._sources |= {id: sources.get(family, "") for id, family in members.items()}

    def _remember(self, ids: Sequence[str], slots: Slots) -> None:
        self._forget_if_full(len(ids))
        self._known.add(ids, slots)

    def _forget_if_full(self, count: int) -> None:
        """Begin anew with the documents that the store does not have yet if so many more could not
        be remembered; the others are looked up from then on.
        """
        if len(self._known.ids) + count > REMEMBERED:
            self._known = self._no_principals()
            waiting = [
                principal.row for principal in list(self._pending.values()) if principal.may_arrive
            ]
            slots = self._unpack(row.minhash or b"" for row in waiting)
            self._known.add([row.id for row in waiting], slots)
            self._must_look_up = True

    def _unpack(self, sketches: Iterable[bytes]) -> Slots:
        return unpack_slots(b"".join(sketches), self._recipe.slot_bytes).reshape(-1, self._width)

    def _no_principals(self) -> PrincipalBands:
        recipe = self._recipe
        return PrincipalBands(self._width, self._bands, recipe.rows or 0, recipe.slot_bytes)


def _singleton(row: Row) -> Row:
    """Return the row as a family of its own; the same object if it is one."""
    is_alone = row.family == row.id and row.similarity is None and row.cluster is None
    if is_alone and row.provisional and row.principal == (row.status == "complete"):
        return row
    return replace(
        row,
        family=row.id,
        principal=row.status == "complete",
        similarity=None,
        cluster=None,
        provisional=True,
    )


def _provisional(row: Row, exact: str) -> Assignment:
    """Return the family fields of a row that arrived with a text of this digest."""
    principal = bool(row.principal)
    return Assignment(row.id, row.family, principal, row.similarity, None, True, exact)


def _is_unchanged(stored: Row, row: Row) -> bool:
    return (stored.exact, stored.status, stored.recipe) == (row.exact, row.status, row.recipe)


def _with_family_of(source: Row, row: Row) -> Row:
    """Return the row with the family fields of another one of the same id."""
    return replace(row, **{name: getattr(source, name) for name in _FAMILY})


# Documents that a cluster fingerprinted as clients sent them: within seconds each joins the most
# similar principal, or becomes one. What waits is what the index says, so that a follower goes on
# where another was ended, and several share the work. Each draws documents at random and writes to
# those alone that are as it read them. Texts that were changed past the pipeline are found by the
# numbers of the operations on each shard; each follower compares all that were written.

FOLLOWED_AT_ONCE = 500
_PAUSE = 20  # times as long as all groups take to be counted after deletions


@dataclass(frozen=True, slots=True)
class FollowPass:
    """Counts of one pass: documents that were placed, documents that joined a group, those that
    still wait, those that left their group because their text is another one now, and groups whose
    deleted principal was replaced.

    `compared`: documents whose texts were read to find those with another text.
    `engine_processor_seconds`: the time that all nodes took meanwhile, work for others included;
    None where nothing was placed or the statistics of the nodes cannot be read.
    """

    placed: int = 0
    joined: int = 0
    waiting: int = 0
    changed: int = 0
    repaired: int = 0
    compared: int = field(default=0, compare=False)
    engine_processor_seconds: float | None = field(default=None, compare=False)


class SeenWrites:
    """The last operations on a store whose documents a follower has compared, in a file from which
    the next one continues.

    A file that is missing or unreadable has none: all documents are compared once. Without `path`,
    or where it cannot be written, they are kept in memory.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self.operations: Mapping[str, int] = {}
        self.deletions: Mapping[str, int] = {}
        self.pause_until = 0.0
        if path is not None:
            with suppress(OSError, ValueError):
                stored = json.loads(path.read_text("utf-8"))
                if isinstance(stored, dict) and all(type(last) is int for last in stored.values()):
                    self.operations = stored

    def record(self, operations: Mapping[str, int]) -> None:
        """Replace what was seen, in the file too if that is something else."""
        is_new, self.operations = operations != self.operations, operations
        if self._path is None or not is_new:
            return
        with suppress(UsageError, OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with write_whole(self._path) as half:
                half.write_text(json.dumps(operations), "utf-8")


def seen_writes(store: FullStore) -> SeenWrites:
    """Return what the last follower of this user has seen of a store."""
    path = journal_path(store.address)
    return SeenWrites(path and path.with_suffix(".seen"))


def follow_once(
    store: FullStore, options: GroupOptions = DEFAULT_OPTIONS, seen: SeenWrites | None = None
) -> FollowPass:
    """Place up to 500 of the documents that arrived since they were last placed or grouped.

    With `seen`, up to 500 documents that were written since then are compared first: those whose
    keys or group are of an earlier text are fingerprinted again and leave their group. After
    deletions, groups without a principal get others.

    A document that a client changes meanwhile, or that another follower places, is left to the next
    pass. Documents without keys wait for nothing: their copies have one group from the pipeline.
    Raises `UnsupportedOperation` for a store that no client writes to, and the errors of the store.
    """
    families = store.families
    if not isinstance(families, ReceivingFamilies):
        raise UnsupportedOperation(
            store=store.url,
            operation="be followed, since nearfold alone writes to it",
            alternative="`nearfold index` groups what it writes as it arrives",
        )
    recipe = require_recipe(store)
    require_updatable(store)
    found = FollowPass()
    if seen is not None:
        found = _repair_changed(store, families, recipe, options, seen)
    ids, waiting = families.unplaced(FOLLOWED_AT_ONCE)
    writes = _ConditionalWrites(families, families.versions(ids))
    rows = writes.unplaced()
    if not rows:
        return replace(found, waiting=waiting)
    before = families.processor_seconds()
    # What was under a document before a client replaced it must not be under it again.
    repair_strays(store, recipe, [row.id for row in rows], options)
    arrivals = Arrivals(store, recipe, options, write=writes.write)
    writes.placements = {row.id: row for row in arrivals.assign(rows)}
    arrivals.write(list(writes.placements.values()))
    placed = [writes.placements[id] for id in writes.written]
    repair_strays(store, recipe, writes.written, options, writes.placements)
    made = [row for row in placed if row.principal]
    merged = _merge_rivals(store, families, Arrivals(store, recipe, options), made)
    joined = sum(row.family != row.id for row in placed) + merged
    after = families.processor_seconds()
    used = None if before is None or after is None else round(max(0, after - before), 3)
    return replace(
        found,
        placed=len(placed),
        joined=joined,
        waiting=max(waiting - len(placed), 0),
        engine_processor_seconds=used,
    )


def _repair_changed(
    store: FullStore,
    families: ReceivingFamilies,
    recipe: Recipe,
    options: GroupOptions,
    seen: SeenWrites,
) -> FollowPass:
    """Take documents whose text changed past the pipeline out of their groups, and give groups
    whose principal was deleted others; return the counts of these.

    Members of a changed document choose anew, as do members of one that was sent again without
    keys, which has no group to wait for.
    """
    maintenance = store.maintenance
    if not isinstance(maintenance, Shareable) or not maintenance.is_shared():
        return FollowPass()
    rows, operations, deletions = families.writes_since(seen.operations, FOLLOWED_AT_ONCE)
    compared, changed, ungrouped_ids = 0, [], []
    for stored, fresh in fresh_rows(rows, recipe):
        compared += 1
        if fresh is not stored:
            changed.append(fresh)
        if fresh.principal is None:
            ungrouped_ids.append(fresh.id)
    if changed:
        maintenance.fingerprint_again(changed)
    if ungrouped_ids:
        repair_strays(store, recipe, ungrouped_ids, options)
    seen.record(operations)
    headless: Sequence[str] = ()
    started = time.monotonic()
    if deletions != seen.deletions and started >= seen.pause_until:
        store.refresh()
        headless = maintenance.headless_families()
        if headless:
            repair_strays(store, recipe, headless, options)
        ended = time.monotonic()
        seen.deletions, seen.pause_until = deletions, ended + _PAUSE * (ended - started)
    return FollowPass(changed=len(changed), repaired=len(headless), compared=compared)


class _ConditionalWrites:
    """Writes of the families of documents that are still as they were read."""

    def __init__(self, families: ReceivingFamilies, versions: Mapping[str, RowVersion]) -> None:
        self._families, self._versions = families, versions
        self.placements: Mapping[str, Row] = {}
        self.written: set[str] = set()

    def unplaced(self) -> list[Row]:
        """Return the rows that nobody has placed yet, by id."""
        rows = (version.row for version in self._versions.values())
        return sorted(
            (row for row in rows if row.bands and row.principal is None), key=lambda row: row.id
        )

    def write(self, rows: Sequence[Row]) -> list[str | None]:
        """Write rows as `Store.write` does. One whose principal was refused waits."""
        decided = [row for row in rows if row.family == self.placements[row.id].family]
        assignments = [_provisional(row, self._versions[row.id].row.exact) for row in decided]
        written = self._families.assign_versions(assignments, self._versions)
        self.written |= written
        return [None if row.id in written else "changed since it was read" for row in rows]


def _merge_rivals(
    store: FullStore, families: ReceivingFamilies, arrivals: Arrivals, made: Sequence[Row]
) -> int:
    """Join principals to similar ones that other followers made at the same time; return how many.

    All followers keep the same one of two: one that has members, or the first by id. Where both
    have members, `group` joins them.
    """
    pairs = [sorted(pair) for pair in arrivals.rivals(made)]
    ids = sorted({id for pair in pairs for id in pair})
    if not ids:
        return 0
    members = Counter(
        family for id, family in store.families.members("family", ids) if id != family
    )
    versions = families.versions(ids)
    assignments: dict[str, Assignment] = {}
    for first, second in sorted(pairs):
        kept, other = (second, first) if members[second] > 0 == members[first] else (first, second)
        if members[other] or other in assignments or kept in assignments:
            continue
        if not all(id in versions and is_principal(versions[id].row) for id in (kept, other)):
            continue
        similarity = arrivals.similarity(versions[other].row, versions[kept].row)
        if similarity is not None:
            members[kept] += 1
            row = versions[other].row
            joined = replace(row, family=kept, principal=False, similarity=similarity)
            assignments[other] = _provisional(joined, joined.exact)
    return len(families.assign_versions(assignments.values(), versions))
