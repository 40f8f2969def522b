"""Rules by which hits are folded: by slots and texts, by bits or rare terms, by thread."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.band_plan import equal_parts, sketch_size
from indexer.comparing.criteria import COMPARED
from indexer.documents.base import MESSAGE_ID, REFERENCES
from indexer.fingerprinting.fingerprint import COPY_DIGITS
from indexer.fingerprinting.keys import hamming, unpack_slots
from indexer.fingerprinting.minhash import NearSketches, near_sketches, similarity_intervals
from indexer.fingerprinting.rare_terms import lengths_agree
from indexer.model import TERM_PREFIX, RankedRow, Row
from indexer.searching.stored_texts import StoredTexts
from indexer.stores.base import RankedHit

_UNKNOWN = -1
_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Nearness:
    """The bounds that a pair of hits meets before its texts are compared.

    `equal`: slots that are equal at least; None: as `BySketch` has it. `words`: the fraction of the
    words of the longer text that the shorter one has at least; a text whose words are not known may
    be of any length. `short`: the bounds of `slots_of_short_pairs`, for pairs of few words; either
    bound on equal slots will do.
    """

    equal: int | None = None
    words: float = 0.0
    short: NDArray[np.int64] | None = None

    def pairs(self, left: SlotTable, right: SlotTable) -> NearSketches:
        """Return the pairs that meet the bounds, by the position in `left`, then in `right`."""
        near: NearSketches = near_sketches(left.slots, right.slots, self.equal or 0)
        if self.short is not None and len(self.short):
            near = _united(near, _short_pairs(left, right, self.short), len(right))
        if not self.words or not len(near):
            return near
        lengths = np.stack([left.words[near[:, 0]], right.words[near[:, 1]]])
        shorter, longer = lengths.min(axis=0), lengths.max(axis=0)
        is_near = (shorter == _UNKNOWN) | (shorter >= np.ceil(self.words * longer - 1e-9))
        pairs: NearSketches = near[is_near]
        return pairs

    def pairs_before(self, hits: SlotTable) -> NearSketches:
        """Return the pairs of a hit and one before it, in the order of `pairs`."""
        pairs = [np.zeros((0, 3), dtype=np.uint32)]
        for start in range(0, len(hits), _AT_ONCE):
            near = self.pairs(hits.part(start, start + _AT_ONCE), hits.part(0, start + _AT_ONCE))
            near = near + np.array([start, 0, 0], dtype=np.uint32)
            pairs.append(near[near[:, 1] < near[:, 0]])
        return np.concatenate(pairs)


def _short_pairs(left: SlotTable, right: SlotTable, minimum: NDArray[np.int64]) -> NearSketches:
    """Return the pairs with the equal slots that `minimum` has for the words of the longer text."""
    rows = np.flatnonzero((left.words >= 0) & (left.words < len(minimum)))
    columns = np.flatnonzero((right.words >= 0) & (right.words < len(minimum)))
    if not len(rows) or not len(columns):
        return np.zeros((0, 3), dtype=np.uint32)
    min_slots = int(min(minimum[left.words[rows]].min(), minimum[right.words[columns]].min()))
    near = near_sketches(left.slots[rows], right.slots[columns], min_slots).copy()
    near[:, 0], near[:, 1] = rows[near[:, 0]], columns[near[:, 1]]
    longer = np.maximum(left.words[near[:, 0]], right.words[near[:, 1]])
    pairs: NearSketches = near[near[:, 2] >= minimum[longer]]
    return pairs


def _united(some: NearSketches, others: NearSketches, width: int) -> NearSketches:
    """Return the pairs of both, by their position in the left, then in the right sketches."""
    pairs = np.concatenate([some, others])
    _, positions = np.unique(pairs[:, 0].astype(np.int64) * width + pairs[:, 1], return_index=True)
    united: NearSketches = pairs[positions]
    return united


BY_INTERVALS = Nearness()


class SlotTable:
    """Columns of hits that have a sketch: `slots` (hits, width), `words` of the texts (hits,)."""

    def __init__(self, slots: NDArray[Any], words: NDArray[np.int64]) -> None:
        self._slots, self._words, self._count = slots, words, len(words)

    def __len__(self) -> int:
        return self._count

    @property
    def slots(self) -> NDArray[Any]:
        """The slots of each hit, one row a hit."""
        return self._slots[: self._count]

    @property
    def words(self) -> NDArray[np.int64]:
        """The words of each text; -1 where they are not known."""
        return self._words[: self._count]

    def add(self, hits: SlotTable, position: int) -> None:
        """Add one of other hits; the arrays double, so that growing costs linear time."""
        if self._count == len(self._words):
            self._slots = np.concatenate([self._slots, np.zeros_like(self._slots)])
            self._words = np.concatenate([self._words, np.zeros_like(self._words)])
        self._slots[self._count] = hits._slots[position]
        self._words[self._count] = hits._words[position]
        self._count += 1

    def part(self, start: int, stop: int) -> SlotTable:
        """Return some of the hits, in the same memory."""
        return SlotTable(self.slots[start:stop], self.words[start:stop])

    def one(self, position: int) -> SlotTable:
        """Return one of the hits, to which others may be added."""
        return SlotTable(self._slots[[position]], self._words[[position]])


def slot_table(hits: Sequence[RankedHit], slot_bytes: int) -> SlotTable:
    """Return the columns of one or more hits, all of which have a sketch."""
    packed = b"".join(hit.minhash or b"" for hit in hits)
    words = [_UNKNOWN if hit.words is None else hit.words for hit in hits]
    slots = unpack_slots(packed, slot_bytes).reshape(len(hits), -1)
    return SlotTable(slots, np.array(words, dtype=np.int64))


def depended_on(count: int, start: NearSketches, before: NearSketches) -> NDArray[np.bool_]:
    """Flag the hits of the pairs `start`, and those before them that they depend on.

    A hit depends on each one before it that it is near to, by the pairs `before`, and on what that
    one depends on.

    >>> before = np.array([[2, 1, 9], [3, 2, 9]])
    >>> depended_on(4, np.array([[2, 0, 9]]), before).tolist()
    [False, True, True, False]
    """
    flags = np.zeros(count, dtype=np.bool_)
    flags[start[:, 0]] = True
    known = 0
    while known < (known := int(np.count_nonzero(flags))):
        flags[before[flags[before[:, 0]], 1]] = True
    return flags


# By MinHash slots: slots choose the candidates, and texts decide.

_NearPositions: TypeAlias = list[list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class LookAhead:
    """Functions for many documents before their similarities are requested one by one.

    `read` reads documents. `possible` returns the documents among the second argument whose
    similarity to the first may reach the threshold.
    """

    read: Callable[[Sequence[str]], None] = lambda ids: None
    possible: Callable[[str, Sequence[str]], Sequence[str]] = lambda _, others: others


NO_LOOK_AHEAD = LookAhead()


class BySketch:
    """Folds hits under the representative that they resemble most, at or above a threshold.

    Two hits that are not within `nearness` are not folded; without a number of equal slots there,
    neither are hits whose 95 % interval ends below the threshold. Of the others `exact(a, b)`
    returns the similarity of two documents by id; if the rule `trusts_slots`, only where the
    interval holds the threshold. A hit without a sketch, or of other `statuses`, folds under a copy
    only. `ahead` is called with the documents whose similarity may be requested next.
    """

    def __init__(
        self,
        threshold: float,
        exact: Callable[[str, str], float],
        trusts_slots: bool = True,
        slot_bytes: int = 4,
        nearness: Nearness = BY_INTERVALS,
        statuses: Collection[str] = COMPARED,
        ahead: LookAhead = NO_LOOK_AHEAD,
    ) -> None:
        self._nearness = nearness
        self._read_ahead = ahead.read
        self._possible = ahead.possible
        self._statuses = statuses
        self._threshold = threshold
        self._exact = exact
        self._trusts_slots = trusts_slots
        self.reads_texts = not trusts_slots
        self._slot_bytes = slot_bytes
        self._groups = 0
        self._representatives: list[tuple[int, str]] = []
        self._sketches: SlotTable | None = None
        self._lows = np.zeros(0)
        self._without_sketch: dict[str, list[tuple[int, str]]] = defaultdict(list)
        self._batch: dict[str, _Neighbours] = {}
        self._rows: dict[int, int] = {}

    def expect(self, hits: Sequence[RankedRow]) -> None:
        """Compare the hits with all representatives at once.

        Also read the hits that are close to them or to each other.
        """
        sketched = [hit for hit in hits if self._is_sketched(hit)]
        self._batch, self._rows = {}, {}
        if not sketched:
            return
        batch = slot_table(sketched, self._slot_bytes)
        representatives, before = self._near(batch)
        ids: list[str] = []
        for index, hit in enumerate(sketched):
            self._batch[hit.id] = _Neighbours(index, batch, representatives[index], before[index])
            if representatives[index] or before[index]:
                ids += [self._representatives[row][1] for row, _ in representatives[index]]
                ids += [sketched[row].id for row, _ in before[index]]
                ids.append(hit.id)
        if ids and not self._trusts_slots:
            self._read_ahead(list(dict.fromkeys(ids)))

    def expect_representatives(self, hits: Sequence[RankedRow]) -> None:
        """Compare the hits as `expect` does, and read all, since their titles are needed too."""
        self._read_ahead([hit.id for hit in hits])
        self.expect(hits)

    def needed(
        self, hits: Sequence[RankedHit], on_page: range | None, is_tied: bool = False
    ) -> tuple[list[bool], int]:
        """Flag the next hits on which the members of groups depend, as the rule defines.

        Also returns how many of the others are near no hit before them, and so representatives.
        """
        flags = [not self._is_sketched(hit) for hit in hits]
        sketched = [index for index, is_needed in enumerate(flags) if not is_needed]
        if not sketched or self._sketches is None:
            return flags, 0
        batch = slot_table([hits[position] for position in sketched], self._slot_bytes)
        nearness = self._bounds(batch.slots.shape[1])
        representatives = nearness.pairs(batch, self._sketches)
        before = nearness.pairs_before(batch)
        if is_tied:
            scores = np.array([hits[position].score for position in sketched])
            tied = before[scores[before[:, 0]] == scores[before[:, 1]]]
            before = np.concatenate([before, tied[:, [1, 0, 2]]])
        is_near = np.zeros(len(batch), dtype=np.bool_)
        is_near[representatives[:, 0]] = is_near[before[:, 0]] = True
        if on_page is None:
            is_near[before[:, 1]] = True
            is_needed = is_near
        else:
            rows = [
                row
                for row, (position, _) in enumerate(self._representatives)
                if position in on_page
            ]
            is_needed = depended_on(
                len(batch), representatives[np.isin(representatives[:, 1], rows)], before
            )
        for row, index in enumerate(sketched):
            flags[index] = bool(is_needed[row])
        return flags, int(np.count_nonzero(~is_near & ~is_needed))

    def _near(self, batch: SlotTable) -> tuple[_NearPositions, _NearPositions]:
        """Return what is near each hit of a batch: representatives, and hits before it."""
        nearness = self._bounds(batch.slots.shape[1])
        near_pairs = nearness.pairs(batch, batch)
        before = _by_row(near_pairs[near_pairs[:, 1] < near_pairs[:, 0]], len(batch))
        if self._sketches is None:
            return [[] for _ in before], before
        return _by_row(nearness.pairs(batch, self._sketches), len(batch)), before

    def find_group(self, hit: RankedRow) -> int | None:
        """Return the group whose representative is most similar by estimate; ties go to the first.

        Only those at or above the threshold count.
        """
        expected = self._batch.get(hit.id)
        position = self._most_similar(hit.id, expected) if expected else self._find_copy(hit)
        if position is not None:
            return position
        if expected:
            self._rows[expected.position] = len(self._representatives)
            self._add_sketched(hit.id, expected.batch, expected.position)
        else:
            self._add_without_sketch(hit)
        return None

    def add_representatives(self, hits: Sequence[RankedRow]) -> None:
        """Remember representatives; those without a sketch only copies may join."""
        sketched = [hit for hit in hits if self._is_sketched(hit)]
        batch = slot_table(sketched, self._slot_bytes) if sketched else None
        rows = iter(range(len(sketched)))
        for hit in hits:
            if batch is not None and self._is_sketched(hit):
                self._add_sketched(hit.id, batch, next(rows))
            else:
                self._add_without_sketch(hit)

    def _is_sketched(self, hit: RankedHit) -> bool:
        return bool(hit.minhash) and hit.status in self._statuses

    def _find_copy(self, hit: RankedRow) -> int | None:
        """Return the first group whose representative has no sketch either, and the same text."""
        representatives = (
            self._without_sketch.get(hit.digest[:COPY_DIGITS], []) if hit.digest else []
        )
        for position, representative in representatives:
            if self._exact(representative, hit.id) >= self._threshold:
                return position
        return None

    def _most_similar(self, id: str, expected: _Neighbours) -> int | None:
        near = [*expected.representatives]
        near += [(self._rows[row], equal) for row, equal in expected.before if row in self._rows]
        ordered = sorted(near, key=lambda pair: -pair[1])
        possible: Collection[str] = ()
        for index, (row, equal) in enumerate(ordered):
            position, representative = self._representatives[row]
            if index == 1 and not self._trusts_slots:
                others = [self._representatives[row][1] for row, _ in ordered[1:]]
                possible = frozenset(self._possible(id, others))
            if index and not self._trusts_slots and representative not in possible:
                continue
            if self._trusts_slots and self._lows[equal] >= self._threshold:
                return position
            if self._exact(representative, id) >= self._threshold:
                return position
        return None

    def _bounds(self, width: int) -> Nearness:
        """Return the bounds of pairs that are compared, for sketches of `width` slots."""
        if not len(self._lows):
            self._lows, highs = similarity_intervals(width, bits=8 * self._slot_bytes)
            if self._nearness.equal is None:
                equal = int(np.count_nonzero(highs < self._threshold))
                self._nearness = replace(self._nearness, equal=equal)
        return self._nearness

    def _add_sketched(self, id: str, hits: SlotTable, position: int) -> None:
        if self._sketches is None:
            self._sketches = hits.one(position)
        else:
            self._sketches.add(hits, position)
        self._representatives.append((self._groups, id))
        self._groups += 1

    def _add_without_sketch(self, hit: RankedRow) -> None:
        self._without_sketch[hit.digest[:COPY_DIGITS]].append((self._groups, hit.id))
        self._groups += 1


class _Neighbours(NamedTuple):
    """The neighbours of the hit at `position` of a batch: their positions, with their equal slots.

    `representatives`: the representatives of the groups that were there before the batch; `before`:
    hits of the batch that come before it.
    """

    position: int
    batch: SlotTable
    representatives: list[tuple[int, int]]
    before: list[tuple[int, int]]


def _by_row(near: NearSketches, count: int) -> _NearPositions:
    """Return the near positions of each of `count` sketches, with the equal slots."""
    rows: _NearPositions = [[] for _ in range(count)]
    for row, position, equal in near.tolist():
        rows[row].append((position, equal))
    return rows


# By thread: the Message-IDs that mails carry.


class ByThread:
    """Folds mails under the first hit of their thread.

    Two mails are of one thread if they name a common Message-ID, as their own or in References:
    replies name the whole line up to the first mail. The ids are in the metadata `message_id` and
    `references` of a document; one without any is shown. `rows` reads documents by id.
    """

    def __init__(self, rows: Callable[[Sequence[str]], Sequence[Row]]) -> None:
        self._rows = rows
        self._expected: dict[str, tuple[str, ...]] = {}
        self._positions: dict[str, int] = {}
        self._groups = 0

    def expect(self, hits: Sequence[RankedRow]) -> None:
        """Read the Message-IDs of the hits."""
        ids = [hit.id for hit in hits]
        self._expected = dict.fromkeys(ids, ())
        self._expected |= {row.id: named_ids(row) for row in self._rows(ids)}

    def find_group(self, hit: RankedRow) -> int | None:
        """Return the first group with a mail that names a Message-ID which this one names."""
        names = self._names_of(hit)
        positions = [self._positions[name] for name in names if name in self._positions]
        if not positions:
            self._add(hit)
            return None
        self._note(names, min(positions))
        return min(positions)

    def add_representatives(self, hits: Sequence[RankedRow]) -> None:
        """Make each hit the representative of the next group."""
        self.expect(hits)
        for hit in hits:
            self._add(hit)

    def _add(self, hit: RankedRow) -> None:
        self._note(self._names_of(hit), self._groups)
        self._groups += 1

    def _names_of(self, hit: RankedRow) -> tuple[str, ...]:
        if hit.id not in self._expected:
            self.expect([hit])
        return self._expected[hit.id]

    def _note(self, names: Sequence[str], position: int) -> None:
        for name in names:
            self._positions.setdefault(name, position)


def named_ids(row: Row) -> tuple[str, ...]:
    """Return the Message-IDs that a mail names."""
    own = row.metadata.get(MESSAGE_ID, "")
    line = row.metadata.get(REFERENCES, "")
    return tuple(dict.fromkeys([*own.split(), *line.split()]))


# By bits or rare terms, for recipes that keep no slots.


class SketchRule:
    """Folds hits under the representative whose stored sketch is most similar, from a threshold on.

    `texts` measures by the sketches, and knows the criteria. Ties go to the first. A hit without a
    sketch, or of other `statuses`, folds under a copy only.
    """

    def __init__(self, threshold: float, texts: StoredTexts, statuses: Collection[str]) -> None:
        self._threshold, self._texts, self._statuses = threshold, texts, statuses
        minimum = equal_parts(texts.recipe, threshold)
        self._representatives: _Representatives = _TermRepresentatives(minimum)
        if not texts.recipe.terms:
            self._representatives = _BitRepresentatives(sketch_size(texts.recipe) - minimum)
        self._ids: list[str] = []
        self._without_sketch: dict[str, list[int]] = defaultdict(list)

    def expect(self, hits: Sequence[RankedRow]) -> None:
        """Read the hits that come next together."""
        self._texts.read_ahead([hit.id for hit in hits])

    def find_group(self, hit: RankedRow) -> int | None:
        """Return the group whose representative is most similar and meets the criteria."""
        for position in self._possible(hit):
            value = self._texts.similarity(self._ids[position], hit.id, self._threshold)
            if value >= self._threshold - 1e-9:
                return position
        self._add(hit)
        return None

    def add_representatives(self, hits: Sequence[RankedRow]) -> None:
        """Remember representatives; those without a sketch only copies may join."""
        self.expect(hits)
        for hit in hits:
            self._add(hit)

    def _add(self, hit: RankedRow) -> None:
        sketch = self._sketch(hit)
        if sketch is None:
            self._without_sketch[hit.digest[:COPY_DIGITS]].append(len(self._ids))
        else:
            self._representatives.add(sketch, len(self._ids))
        self._ids.append(hit.id)

    def _possible(self, hit: RankedRow) -> list[int]:
        """Return the groups that a hit may join, by the similarity of their representatives."""
        sketch = self._sketch(hit)
        if sketch is None:
            return self._without_sketch.get(hit.digest[:COPY_DIGITS], []) if hit.digest else []
        return [position for _, position in sorted(self._representatives.near(sketch))]

    def _sketch(self, hit: RankedRow) -> Any:
        """Return bits or a signature of rare terms; None for a hit that has none."""
        return self._texts.sketch(hit.id) if hit.status in self._statuses else None


class _Representatives(Protocol):
    """The sketches of representatives by the positions of their groups."""

    def add(self, sketch: Any, position: int) -> None:
        """Remember the sketch of a representative."""
        ...

    def near(self, sketch: Any) -> Iterator[tuple[int, int]]:
        """Yield how different each similar representative is, and its position."""
        ...


class _BitRepresentatives:
    """Heads within a number of different bits."""

    def __init__(self, distance: int) -> None:
        self._distance = distance
        self._representatives: list[tuple[int, int]] = []

    def add(self, sketch: int, position: int) -> None:
        self._representatives.append((sketch, position))

    def near(self, sketch: int) -> Iterator[tuple[int, int]]:
        for representative, position in self._representatives:
            apart = hamming(sketch, representative)
            if apart <= self._distance:
                yield apart, position


class _TermRepresentatives:
    """Heads with at least so many rare terms in common, and a length that agrees."""

    def __init__(self, minimum: int) -> None:
        self._threshold = minimum
        self._lengths: dict[int, int] = {}
        self._holders: dict[int, list[int]] = defaultdict(list)

    def add(self, sketch: NDArray[Any], position: int) -> None:
        self._lengths[position] = int(sketch[0])
        for entry in sketch[TERM_PREFIX:].tolist():
            self._holders[entry].append(position)

    def near(self, sketch: NDArray[Any]) -> Iterator[tuple[int, int]]:
        common: Counter[int] = Counter()
        for entry in sketch[TERM_PREFIX:].tolist():
            common.update(self._holders.get(entry, ()))
        for position, number in common.items():
            if number >= self._threshold and lengths_agree(int(sketch[0]), self._lengths[position]):
                yield -number, position
