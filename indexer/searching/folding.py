"""Folding a ranked list: a hit joins the best representative that it resembles, else it is one.

Folding is greedy in rank order, as Conrad & Raymond (ICAIL 2007) do with result sets: members
resemble the representative, and not only another member. Nothing is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress, islice
from typing import NamedTuple, Protocol, runtime_checkable

from indexer.comparing.criteria import Value
from indexer.grouping.group_options import FieldOrder
from indexer.model import RankedRow
from indexer.searching.stored_texts import KEPT, StoredTexts, ranked_row
from indexer.stores.base import RankedHit, Ranking, SketchReader
from indexer.stores.requirements import is_shared

_AT_ONCE = 200  # hits that are compared together
_MIN_BATCH = 20  # the same before the page is full


@dataclass(slots=True)
class Group:
    """A representative and the hits folded under it, in rank order."""

    representative: RankedRow
    members: list[RankedRow] = field(default_factory=list)

    @property
    def hits(self) -> list[RankedRow]:
        """The representative, and those folded under it."""
        return [self.representative, *self.members]


def ids_of(groups: Iterable[Group]) -> list[str]:
    """Return the ids of all hits, group after group."""
    return [hit.id for group in groups for hit in group.hits]


class Rule(Protocol):
    """Decides which representative the next one joins."""

    def expect(self, hits: Sequence[RankedRow]) -> None:
        """Prepare for the hits that come next."""
        ...

    def find_group(self, hit: RankedRow) -> int | None:
        """Return the index of the group that `hit` joins; None: it represents the next one."""
        ...

    def add_representatives(self, hits: Sequence[RankedRow]) -> None:
        """Make each hit the representative of the next group, whatever it resembles."""
        ...


@runtime_checkable
class SelectiveRule(Rule, Protocol):
    """A rule that may leave out hits whose groups are not requested."""

    reads_texts: bool
    """True if texts decide each pair, so that a hit that is left out saves reading them."""

    def expect_representatives(self, hits: Sequence[RankedRow]) -> None:
        """Prepare for hits that come next, most of which will be shown."""
        ...

    def needed(
        self, hits: Sequence[RankedHit], on_page: range | None, is_tied: bool = False
    ) -> tuple[list[bool], int]:
        """Flag the next hits on which the members of the groups `on_page` depend.

        None: on which the members of any group do. `is_tied`: hits of the same score are in any
        order. Also returns how many of the others are representatives for certain; without
        `on_page` all are.
        """
        ...


class Folding(NamedTuple):
    """The groups of folded hits, in rank order of their representatives.

    `complete`: every hit was read. `others`: further groups, which are not listed.
    """

    groups: list[Group]
    complete: bool
    others: int = 0


def fold_ranking(
    hits: Iterable[RankedRow],
    rule: Rule,
    representatives: int,
    window: int,
    seeds: Sequence[RankedRow] = (),
) -> Folding:
    """Fold hits in rank order until there are more than `representatives` groups and `window`
    hits were read.

    `seeds`, representatives that were shown before, are the first groups; the hits are others.
    One group more than is shown means that there is a next page. The groups of a prefix never
    change by reading on; members may be added.
    """
    groups = _seeded(seeds, rule)
    return Folding(groups, _fold_on(iter(hits), rule, groups, representatives, window))


def fold_page(
    hits: Iterable[RankedRow],
    rule: SelectiveRule,
    page: range,
    window: int,
    seeds: Sequence[RankedRow] = (),
    rest: RestReader | None = None,
) -> Folding:
    """Fold hits as `fold_ranking` does, for the groups of a `page`, given by their indices.

    If not all hits are read, only these groups have all members: hits that no member of them
    depends on are left out. `rest` may read the hits after the first ones by their sketches.
    """
    groups = _seeded(seeds, rule)
    remaining = iter(hits)
    read = 0
    while len(groups) <= page.stop and read < window:
        size = max(2 * (page.stop + 1 - len(groups)), _MIN_BATCH)
        size = min(size, _AT_ONCE, window - read)
        batch = list(islice(remaining, size))
        rule.expect_representatives(batch)
        for hit in batch:
            _fold(hit, rule, groups)
        read += len(batch)
        if len(batch) < size:
            return Folding(groups, True)
    if len(groups) <= page.stop:
        return Folding(groups, _fold_on(remaining, rule, groups, page.stop, 0))
    if rest is not None and read <= rest.first:
        following = list(islice(remaining, rest.first - read))
        if result := rest.read(following, rule, page):
            needed, others, is_complete = result
            _fold_on(iter(needed), rule, groups, page.stop, window)
            return Folding(groups, is_complete, others)
        remaining = chain(following, remaining)
    following = list(islice(remaining, window - read))
    is_complete = not list(islice(remaining, 1))
    flags, others = rule.needed(following, None if is_complete else page)
    _fold_on(compress(following, flags), rule, groups, page.stop, window)
    return Folding(groups, is_complete, others)


def fold_families(
    hits: Iterable[RankedRow],
    seeds: Sequence[RankedRow],
    page: range,
    members: Callable[[Sequence[str]], Sequence[RankedRow]],
) -> Folding:
    """Fold hits by family until one group more than the `page` is found.

    `members` returns the hits of some families in rank order; the groups of the page, given by
    their indices, have these. `seeds` are as in `fold_ranking`.
    """
    folding = fold_ranking(hits, ByFamily(), page.stop, 0, seeds)
    groups = {
        group.representative.family: group for group in folding.groups[page.start : page.stop]
    }
    if folding.complete or not groups:
        return folding
    for group in groups.values():
        group.members = []
    for hit in members(list(groups)):
        group = groups[hit.family]
        if hit.id != group.representative.id:
            group.members.append(hit)
    return folding


def _seeded(seeds: Sequence[RankedRow], rule: Rule) -> list[Group]:
    """Return the groups of representatives that were shown before."""
    for start in range(0, len(seeds), _AT_ONCE):
        rule.add_representatives(seeds[start : start + _AT_ONCE])
    return [Group(seed) for seed in seeds]


def _fold_on(
    hits: Iterator[RankedRow], rule: Rule, groups: list[Group], representatives: int, window: int
) -> bool:
    """Fold hits until there are enough groups and hits; return whether every hit was read.

    Hits are compared in batches; a batch after the window has no more hits than groups are missing.
    Where texts are read, it has twice as many as the one before it if that found no group; hits
    that turn out to be too many are not folded. Other rules take no hit more than they need: the
    snapshot of a search, by which members of families are read, is closed after its last hit.
    """
    reads_texts = isinstance(rule, SelectiveRule) and rule.reads_texts
    read = size = 0
    while read < window or len(groups) <= representatives:
        missing = max(window - read, representatives + 1 - len(groups))
        batch = list(islice(hits, min(_AT_ONCE, max(missing, size))))
        if not batch:
            return True
        rule.expect(batch)
        known = len(groups)
        for hit in batch:
            if read >= window and len(groups) > representatives:
                return False
            _fold(hit, rule, groups)
            read += 1
        size = 2 * len(batch) if reads_texts and len(groups) == known else 0
    return next(hits, None) is None


def _fold(hit: RankedRow, rule: Rule, groups: list[Group]) -> None:
    position = rule.find_group(hit)
    if position is None:
        groups.append(Group(hit))
    else:
        groups[position].members.append(hit)


def earlier_hits(
    ranked: Iterable[RankedRow], ids: Sequence[str], texts: StoredTexts, window: int
) -> tuple[list[RankedRow], Iterable[RankedRow]]:
    """Return the hits of these ids, and the ranked ones, of which some are the same.

    Those that are not among the first ones, since the index has changed, are read by id.
    """
    remaining = iter(ranked)
    found: dict[str, RankedRow] = {}
    missing = set(ids)
    read: list[RankedRow] = []
    while missing and len(read) < 2 * len(ids) + window:
        hit = next(remaining, None)
        if hit is None:
            break
        read.append(hit)
        if hit.id in missing:
            found[hit.id] = hit
            missing.remove(hit.id)
    rows = texts.rows([id for id in ids if id in missing])
    found |= {row.id: ranked_row(row) for row in rows}
    return [found[id] for id in ids if id in found], chain(read, remaining)


class NoFolding:
    """Shows every hit."""

    def expect(self, hits: Sequence[RankedRow]) -> None:
        """Do nothing."""

    def find_group(self, hit: RankedRow) -> int | None:
        """Return None."""
        return None

    def add_representatives(self, hits: Sequence[RankedRow]) -> None:
        """Do nothing."""


class ByFamily:
    """Folds hits of one stored family under the first of them."""

    def __init__(self) -> None:
        self._positions: dict[str, int] = {}
        self._groups = 0

    def expect(self, hits: Sequence[RankedRow]) -> None:
        """Do nothing."""

    def find_group(self, hit: RankedRow) -> int | None:
        """Return the group whose representative carries the same family."""
        position = self._positions.get(hit.family)
        if position is None:
            self.add_representatives([hit])
        return position

    def add_representatives(self, hits: Sequence[RankedRow]) -> None:
        """Remember each group that is the first of its family."""
        for hit in hits:
            self._positions.setdefault(hit.family, self._groups)
            self._groups += 1


# The hit that is shown for a group of folded hits, where the best one by rank is not wanted.

BATCH = 100  # documents that are read together


def show_by_order(
    groups: Sequence[Group], order: FieldOrder, texts: StoredTexts, threshold: float | None
) -> list[Group]:
    """Return the same hits with the first of each group by an order as its representative.

    Groups stay at their rank. Hits whose similarity to the new representative is below the
    threshold follow as groups of their own, made in the same way. None: all stay together, as
    families do.
    """
    values = _values([group for group in groups if group.members], order, texts)
    choice = _Choice(order, values, texts, threshold)
    return [chosen for group in groups for chosen in choice.groups(group)]


@dataclass(frozen=True, slots=True)
class _Choice:
    """Chooses representatives; `values` is what hits are compared by, by id."""

    order: FieldOrder
    values: Mapping[str, Value]
    texts: StoredTexts
    threshold: float | None

    def groups(self, group: Group) -> Iterator[Group]:
        """Yield the hits of a group under the hits to show."""
        remaining = group.hits
        while remaining:
            position = self.order.ranks([self.values.get(hit.id) for hit in remaining])[0]
            representative = remaining.pop(position)
            others = remaining
            folded = self._folded(
                group.representative.id, representative.id, [hit.id for hit in others]
            )
            yield Group(representative, [hit for hit in others if hit.id in folded])
            remaining = [hit for hit in others if hit.id not in folded]

    def _folded(self, best: str, representative: str, ids: Sequence[str]) -> set[str]:
        """Return the hits folded under `best` that `representative` may fold."""
        if self.threshold is None or representative == best:
            return set(ids)
        values = self.texts.similarities(representative, ids)
        pairs = zip(ids, values, strict=True)
        return {id for id, value in pairs if value >= self.threshold}


def _values(groups: Sequence[Group], order: FieldOrder, texts: StoredTexts) -> dict[str, Value]:
    """Return the values by which hits are compared, by id; hits that are gone are absent."""
    ids = ids_of(groups)
    values: dict[str, Value] = {}
    for start in range(0, len(ids), BATCH):
        rows = texts.rows(ids[start : start + BATCH])
        values |= {row.id: order.value(row) for row in rows}
    return values


# Members of stored families whose texts other programs changed since they were fingerprinted.


def show_changed_apart(groups: Sequence[Group], texts: StoredTexts) -> list[Group]:
    """Return the same hits, those alone whose text is not the one that their family was made for.

    The others of a group stay together, under the first of them, and groups at their rank. Only
    stores that other programs write to have such hits; without them the groups are as they were.
    """
    if not is_shared(texts.store):
        return list(groups)
    texts.read_ahead(ids_of(groups))
    return [part for group in groups for part in _parts(group, texts)]


def _parts(group: Group, texts: StoredTexts) -> Iterator[Group]:
    """Yield the group without its changed hits, and each of these, in the order of the first."""
    hits = group.hits
    changed = texts.changed(ids_of([group])) if group.members else set()
    together = [hit for hit in hits if hit.id not in changed]
    for hit in hits:
        if hit.id in changed:
            yield Group(hit)
        elif hit is together[0]:
            yield Group(hit, together[1:])


# The hits after a page, read by their sketches where a store reads these sooner.

_MAX_READ = KEPT // 2  # rows that are read together, so that they are remembered
_NO_PATH = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class RestReader:
    """Reads the hits of a ranking of `total` that follow its first ones, by their sketches.

    It reads at most `window` hits, with the first ones.
    """

    sketches: SketchReader
    total: int
    window: int
    texts: StoredTexts

    @property
    def first(self) -> int:
        """The hits that are read before, with id and path."""
        return self.sketches.first

    def read(
        self, hits: list[RankedRow], rule: SelectiveRule, on_page: range
    ) -> tuple[list[RankedRow], int, bool] | None:
        """Return the needed ones of `hits` and of those after them, how many others are
        representatives, and whether these are all hits; None if too many are needed.
        """
        is_complete = self.total <= self.window
        following: list[RankedHit] = [*hits, *self.sketches.best(self.window)]
        flags, others = rule.needed(following, None if is_complete else on_page, is_tied=True)
        count = len(hits)
        positions = [index for index, flag in enumerate(flags[count:]) if flag]
        if len(positions) > _MAX_READ:
            return None
        rows = self.sketches.rows(positions) if positions else []
        if rows is None:
            return None
        self.texts.remember(rows)
        ranked = [
            replace(ranked_row(row), score=following[count + position].score)
            for row, position in zip(rows, positions, strict=True)
        ]
        ranked.sort(key=_by_rank)
        return [*compress(hits, flags), *ranked], others, is_complete


def rest_reader(ranking: Ranking, window: int, texts: StoredTexts) -> RestReader | None:
    """Return a reader of the hits after the first ones; None without their sketches."""
    if ranking.sketches is None:
        return None
    return RestReader(ranking.sketches, ranking.total, window, texts)


def _by_rank(hit: RankedRow) -> tuple[float, str, str]:
    return -(hit.score or 0.0), hit.path or _NO_PATH, hit.id
