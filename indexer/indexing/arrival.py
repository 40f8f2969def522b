"""Families on arrival: a document that comes, or comes changed, joins the most similar principal or
leads a family of its own.

What is decided here is provisional until the next `group`, but it holds at every moment: a family's
principal exists, may lead, and is similar enough to each member. So principals are written before
those who join them, and before a text changes its family is mended.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from indexer.grouping.delete import DEFAULTS, leads_family, repair_families, repair_strays
from indexer.grouping.group import Settings, fewest_equal
from indexer.joins.principal_bands import PrincipalBands
from indexer.joins.slot_counter import Slots
from indexer.model import Assignment, Row
from indexer.recipe import Recipe
from indexer.similarity.measures import FeatureSet, jaccard
from indexer.similarity.sides import feature_set
from indexer.sketch.codec import unpack_slots
from indexer.stores.base import Store
from indexer.system.failpoints import reached

REMEMBERED = 50_000
FOUND = 1_000
WORTH = 50  # documents read whole for the time that one takes to look up
_FAMILY = ("family", "principal", "similarity", "cluster", "provisional")


@dataclass(slots=True)
class _UnderWay:
    """A principal that was handed over and that the store has not acknowledged; one that it refused
    never will be.
    """

    row: Row
    decided: threading.Event = field(default_factory=threading.Event)
    arrived: bool = False


class Arrivals:
    """Gives the rows of one job their families, and writes them. `settings` None: no look-ups,
    every document leads its own.

    Rows are placed in one thread, in their order, and may be written from others. Principals of
    this job are remembered, the last 50,000; others are looked up in the store, unless it was empty
    at first and nobody else can write to it. Where that is worth it, all principals of a small
    store are remembered. Recipes without bands of MinHash slots give no families.
    """

    def __init__(self, store: Store, recipe: Recipe, settings: Settings | None = DEFAULTS) -> None:
        self._store, self._recipe, self._settings = store, recipe, settings or DEFAULTS
        self.writers = store.writers
        self._joining = settings is not None and bool(recipe.minhash and recipe.bands)
        self._width = recipe.slots or 0
        self._least = (
            fewest_equal("jaccard", self._width, self._settings.threshold) if self._joining else 0
        )
        self._known = self._no_leaders()
        self._documents = store.counts().documents
        self._asking = store.shared or self._documents > 0
        self._looked_up = 0
        self._under_way: dict[str, _UnderWay] = {}
        self._sources: dict[str, str] = {}
        self._led: set[str] = set()

    def placed(self, rows: Sequence[Row], replaced: Collection[str] = ()) -> list[Row]:
        """The rows with their families, to be handed to `write` in this order. `replaced`: ids that
        the store holds already.

        A document whose text is the same as before keeps its family. Before a text changes, the
        members that it led choose anew, among themselves.
        """
        last = {row.id: place for place, row in enumerate(rows)}
        stored = [id for id in last if id in replaced or id in self._known]
        before = self._store.get(stored) if stored else {}
        kept = {id for id, old in before.items() if _unchanged(old, rows[last[id]])}
        changing = {id: old for id, old in before.items() if id not in kept}
        if changing:
            self._mend(changing)
            before |= self._store.get(list(kept))
        placed = [
            _with_family_of(before[row.id], row) if row.id in kept else _alone(row) for row in rows
        ]
        fresh = [
            place for id, place in last.items() if id not in kept and self._sketched(rows[place])
        ]
        if self._joining and fresh:
            self._join(placed, fresh, changing.keys())
        if len(last) < len(rows):
            placed = [_with_family_of(placed[last[row.id]], row) for row in placed]
        self._note_sources(row for row in placed if row.id in kept)
        return placed

    def write(self, rows: Sequence[Row]) -> list[str | None]:
        """`Store.write` for rows that were placed: principals first; who would join one that was
        refused is alone.
        """
        heads = [self._under_way.get(row.family) if row.family != row.id else None for row in rows]
        now = [place for place, head in enumerate(heads) if head is None]
        refusals: dict[int, str | None] = {}
        try:
            refusals |= zip(now, self._store.write([rows[place] for place in now]), strict=True)
        finally:
            self._decide(
                [rows[place] for place in now],
                {rows[place].id for place in now if refusals.get(place, "") is None},
            )
        written = [rows[place] for place in now]
        later = [place for place, head in enumerate(heads) if head is not None]
        if later:
            waited = [self._after(heads[place], rows[place]) for place in later]
            refusals |= zip(later, self._store.write(waited), strict=True)
            written += waited
        if self._store.shared:
            self._check(written)
        return [refusals[place] for place in range(len(rows))]

    def _decide(self, rows: Sequence[Row], accepted: Collection[str]) -> None:
        """Let those go on who wait for a principal among these rows."""
        for row in rows:
            if row.family == row.id and (head := self._under_way.get(row.id)) is not None:
                head.arrived = row.id in accepted
                head.decided.set()
                if head.arrived:
                    del self._under_way[row.id]

    def _after(self, head: _UnderWay | None, row: Row) -> Row:
        """The row, once the store has decided on the principal that it joins."""
        if head is not None:
            head.decided.wait()
        return row if head is None or head.arrived else _alone(row)

    def _check(self, rows: Sequence[Row]) -> None:
        """Mend what other writers did meanwhile to principals that were joined, and what they
        joined to those that changed.
        """
        seen = {
            row.id: source
            for row in rows
            if (source := self._sources.pop(row.id, None)) is not None
        }
        now = (
            self._store.sources(list({row.family for row in rows if row.id in seen}))
            if seen
            else {}
        )
        lost = [
            _alone(row) for row in rows if row.id in seen and now.get(row.family) != seen[row.id]
        ]
        if lost:
            self._store.assign(
                Assignment(row.id, row.id, bool(row.principal), None, None, provisional=True)
                for row in lost
            )
        if changed := [row.id for row in rows if row.id in self._led]:
            repair_strays(self._store, self._recipe, changed, self._settings)

    def _mend(self, changing: dict[str, Row]) -> None:
        reached("before_mend")
        repair_families(self._store, self._recipe, changing, self._settings)
        reached("after_mend")
        self._asking = True
        self._led |= {id for id, old in changing.items() if old.principal is not False}
        for id in changing:
            self._known.discard(id)

    def _sketched(self, row: Row) -> bool:
        return (
            row.status in ("complete", "truncated") and len(row.minhash or b"") == 4 * self._width
        )

    def _join(self, rows: list[Row], fresh: list[int], changing: Collection[str]) -> None:
        """Put the rows at these places into families, in their order."""
        arriving = [rows[place] for place in fresh]
        slots = self._unpacked(row.minhash or b"" for row in arriving)
        if self._asking:
            self._look_up(arriving, changing)
        self._documents += len(fresh)
        near = self._near(arriving, slots)
        leading = self._leading(id for ids in near for id in ids)
        features, new = _Features(self._recipe), []
        for number, (place, ids) in enumerate(zip(fresh, near, strict=True)):
            row = rows[place]
            heads = [leading[id] for id in ids if id in leading]
            best, similarity = features.most_similar(row, heads)
            if best is not None and similarity >= self._settings.threshold:
                rows[place] = replace(row, family=best.id, principal=False, similarity=similarity)
                self._sources |= {row.id: best.source} if best.id not in self._under_way else {}
            elif row.principal:
                leading[row.id] = row
                self._under_way[row.id] = _UnderWay(row)
                new.append(number)
        self._remember([arriving[number].id for number in new], slots[new])

    def _look_up(self, rows: Sequence[Row], changing: Collection[str]) -> None:
        """Remember the stored principals that share a band with one of these rows."""
        self._looked_up += len(rows)
        if not self._store.shared and self._looked_up * WORTH >= self._documents <= REMEMBERED // 2:
            found, self._looked_up, self._asking = (
                self._store.principals(None, REMEMBERED),
                0,
                False,
            )
        else:
            found = self._store.principals([row.bands for row in rows], FOUND)
        self._make_room(len(found))
        new = [one for one in found if one.id not in self._known and one.id not in changing]
        self._remember([one.id for one in new], self._unpacked(one.minhash for one in new))

    def _near(self, rows: Sequence[Row], slots: Slots) -> list[list[str]]:
        """For each row the ids that it may resemble, of principals known and of rows before it."""
        near: list[list[str]] = [[] for _ in rows]
        here = self._no_leaders()
        here.add([row.id for row in rows], slots)
        places = {row.id: place for place, row in enumerate(rows)}
        for leaders in (self._known, here):
            for place, id in leaders.near(slots, self._least):
                if places.get(id, -1) < place:
                    near[place].append(id)
        return near

    def _leading(self, ids: Iterable[str]) -> dict[str, Row]:
        """The rows of those that may be joined; the others are forgotten."""
        wanted = dict.fromkeys(ids)
        heads = {id: head for id in wanted if (head := self._under_way.get(id)) is not None}
        under_way = {
            id: head.row for id, head in heads.items() if head.arrived or not head.decided.is_set()
        }
        asked = [id for id in wanted if id not in heads and id in self._known]
        stored = self._store.get(asked) if asked else {}
        for id in asked:
            if id not in stored or not leads_family(stored[id]):
                self._known.discard(id)
        return under_way | {id: row for id, row in stored.items() if leads_family(row)}

    def _note_sources(self, rows: Iterable[Row]) -> None:
        """Remember what the principals of these rows hold, to see later whether it is still the
        same.
        """
        members = {row.id: row.family for row in rows if row.family != row.id}
        if self._store.shared and members:
            now = self._store.sources(list(set(members.values())))
            self._sources |= {id: now.get(family, "") for id, family in members.items()}

    def _remember(self, ids: Sequence[str], slots: Slots) -> None:
        self._make_room(len(ids))
        self._known.add(ids, slots)

    def _make_room(self, count: int) -> None:
        """Where so many more could not be remembered, begin anew, and look up from then on."""
        if len(self._known.ids) + count > REMEMBERED:
            self._known, self._asking = self._no_leaders(), True

    def _unpacked(self, sketches: Iterable[bytes]) -> Slots:
        return unpack_slots(b"".join(sketches)).reshape(-1, self._width)

    def _no_leaders(self) -> PrincipalBands:
        return PrincipalBands(self._width, self._recipe.bands or 0, self._recipe.rows or 0)


class _Features:
    """Similarity of rows by their features; the features of each row are made once."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._sets: dict[str, FeatureSet] = {}

    def most_similar(self, row: Row, heads: Sequence[Row]) -> tuple[Row | None, float]:
        """The most similar of these, ties to the first; None when there are none."""
        values = [self._similarity(row, head) for head in heads]
        best = max(values, default=0.0)
        return (heads[values.index(best)], best) if heads else (None, best)

    def _similarity(self, a: Row, b: Row) -> float:
        return 1.0 if a.exact == b.exact else jaccard(self._of(a), self._of(b))

    def _of(self, row: Row) -> FeatureSet:
        if row.id not in self._sets:
            self._sets[row.id] = feature_set(row.text, self._recipe)
        return self._sets[row.id]


def _alone(row: Row) -> Row:
    return replace(
        row,
        family=row.id,
        principal=row.status == "complete",
        similarity=None,
        cluster=None,
        provisional=True,
    )


def _unchanged(old: Row, new: Row) -> bool:
    return (old.exact, old.status, old.recipe) == (new.exact, new.status, new.recipe)


def _with_family_of(other: Row, row: Row) -> Row:
    """The row with the family fields of another one of the same id."""
    return replace(row, **{name: getattr(other, name) for name in _FAMILY})
