"""Statistics of a whole store: duplicates, sizes of groups, the effect of other thresholds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from indexer.comparing.measures import ComparedText
from indexer.comparing.reasons import Rarity
from indexer.grouping.collection import Entry
from indexer.grouping.group import compartments
from indexer.grouping.group_options import DEFAULT_OPTIONS, GroupOptions, separation
from indexer.grouping.preview import (
    FLOOR,
    CollectionPreview,
    Numbers32,
    SeparatedPair,
    ThresholdFamilies,
    summarise,
)
from indexer.jobs.review_file import joined_documents
from indexer.model import Progress, Row, no_progress
from indexer.recipe import Recipe
from indexer.review.store_statistics import (
    FamilyChange,
    FamilyChanges,
    FamilySize,
    Move,
    NearPair,
    Preview,
    Step,
    StoreStatistics,
    last_group_options,
)
from indexer.stores.abilities import FullStore
from indexer.stores.requirements import require_recipe
from indexer.system.external_memory import decode_pair, encode_pair

_MAX_CHANGES = 50  # families that are named
_MAX_PARTS = 6  # of each
_MAX_PAIRS = 20  # that are named
STEPS = tuple(step / 100 for step in range(50, 101, 2))


class ThresholdStatistics(StoreStatistics):
    """Figures of a store, and the groups that other thresholds would make.

    The measure is `none` for a recipe without slots.
    `measured_from`: the minimum threshold at which `group` would make the same groups as `at`;
    below it they are estimated. `near_pairs`: the most similar pairs of documents that rules keep
    out of one group, one of two groups. `joined`: documents that reviewers put into the group of
    another one, which every threshold keeps.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        previews: Sequence[CollectionPreview],
        options: GroupOptions,
        is_grouped: bool,
        joined: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__([entries], options, is_grouped)
        if not previews:
            self.measure = "none"
        self._ids = [entry.id for entry in entries]
        self._paths = [entry.path for entry in entries]
        positions = {id: index for index, id in enumerate(self._ids)}
        self._joined = [
            (positions[id], positions[other])
            for id, other in joined.items()
            if id in positions and other in positions
        ]
        self.measured_from = max((preview.measured_from for preview in previews), default=FLOOR)
        self._is_final = is_grouped and all(
            entry.principal is not None and not entry.provisional for entry in entries
        )
        self._before = np.array(
            [positions.get(entry.family, index) for index, entry in enumerate(entries)], np.int32
        )
        self._previews = previews
        separated = sorted(
            (pair for preview in previews for pair in preview.separated),
            key=lambda pair: (-pair.similarity, pair.a, pair.b),
        )
        self.separated = [pair for pair in separated if len(self._groups(positions, pair)) == 2]
        first_of: dict[frozenset[int], SeparatedPair] = {}
        for pair in self.separated:
            first_of.setdefault(self._groups(positions, pair), pair)
        self.of_groups = list(first_of.values())
        self.near_pairs: tuple[NearPair, ...] = ()
        self.steps = tuple(self._steps())

    def _groups(self, positions: Mapping[str, int], pair: SeparatedPair) -> frozenset[int]:
        """Return the stored groups of a pair."""
        return frozenset(int(self._before[positions[id]]) for id in (pair.a, pair.b))

    def at(self, threshold: float | None = None) -> Preview:
        """Return the groups at a threshold, that of the groups if None; nothing is written.

        Below `FLOOR` those at `FLOOR`, unless the groups are of a lower one. A recipe without
        slots has none.
        """
        minimum = self.threshold if threshold is None else threshold
        if not self._previews:
            return Preview(minimum, self.measure, False, self.documents, 0, 0, 0, 0)
        return self._preview(max(self.min_threshold, round(minimum, 6)))

    @property
    def min_threshold(self) -> float:
        """Return the minimum threshold at which groups are made; 0 of a recipe without slots."""
        return min(FLOOR, self.threshold) if self._previews else 0.0

    @lru_cache(maxsize=256)  # noqa: B019 - they live as long as their cache
    def _preview(self, threshold: float) -> Preview:
        preview = self._at(threshold)
        return Preview(
            preview.threshold,
            self.measure,
            self._is_estimated(preview.threshold),
            self.documents,
            preview.families,
            preview.gathered,
            preview.largest,
            preview.moved,
            self._moves(preview),
            sum(pair.similarity >= preview.threshold for pair in self.separated),
        )

    def changes(self, threshold: float) -> FamilyChanges:
        """Return the groups that `group` at a threshold would split or merge.

        A group is split whose documents would be in several ones, and merged if its documents are
        of several ones now; one that only gets another principal is neither.
        """
        if not self._previews:
            return FamilyChanges()
        representatives = self._at(self.at(threshold).threshold).representatives
        splits, split = self._changes(self._before, representatives)
        merges, merged = self._changes(representatives, self._before)
        return FamilyChanges(splits, merges, split, merged)

    def _changes(self, of: Numbers32, into: Numbers32) -> tuple[tuple[FamilyChange, ...], int]:
        """Return the largest groups `of` whose documents are in several ones of `into`, and the
        number of all such groups.
        """
        codes = encode_pair(of.astype(np.uint32), into.astype(np.uint32))
        pairs, documents = np.unique(codes, return_counts=True)
        wholes, parts = decode_pair(pairs)
        names, first, number = np.unique(wholes, return_index=True, return_counts=True)
        sizes = np.add.reduceat(documents, first)
        several = np.flatnonzero(number > 1)
        largest = sorted(several.tolist(), key=lambda at: (-sizes[at], self._ids[names[at]]))
        changes = []
        for at in largest[:_MAX_CHANGES]:
            ends = slice(first[at], first[at] + number[at])
            inside = [
                self._family(part, count)
                for part, count in zip(parts[ends].tolist(), documents[ends].tolist(), strict=True)
            ]
            inside.sort(key=lambda family: (-family.documents, family.id))
            family = self._family(int(names[at]), int(sizes[at]))
            changes.append(FamilyChange(family, tuple(inside[:_MAX_PARTS]), int(number[at])))
        return tuple(changes), len(several)

    def _family(self, position: int, documents: int) -> FamilySize:
        return FamilySize(self._ids[position], self._paths[position], documents)

    def _steps(self) -> Iterator[Step]:
        for threshold in STEPS if self._previews else ():
            preview = self._at(threshold)
            is_estimated = self._is_estimated(threshold)
            yield Step(threshold, preview.families, preview.gathered, is_estimated)

    @lru_cache(maxsize=4)  # noqa: B019 - as above; 4 bytes a document each
    def _at(self, threshold: float) -> ThresholdFamilies:
        return summarise(threshold, self._representatives(threshold), self._before)

    def _representatives(self, threshold: float) -> Numbers32:
        """Return the principal of each document, as its position.

        The stored groups stand for those that could only be estimated, at their own threshold.
        """
        if self._is_stored(threshold):
            return self._before
        representatives = [np.zeros(0, dtype=np.int32)]
        first = 0
        for preview in self._previews:
            representatives.append(preview.representatives(threshold) + np.int32(first))
            first += len(representatives[-1])
        return self._join(np.concatenate(representatives))

    def _join(self, representatives: Numbers32) -> Numbers32:
        """Return principals with those joined that reviewers joined, as `group` does."""
        ids = np.array([id for id, _ in self._joined], np.int32)
        moving = np.union1d(np.flatnonzero(np.isin(representatives, ids)), ids)
        for id, other in self._joined:
            representatives[moving[representatives[moving] == id]] = representatives[other]
            representatives[id] = representatives[other]
        return representatives

    def _is_estimated(self, threshold: float) -> bool:
        return threshold < self.measured_from and not self._is_stored(threshold)

    def _is_stored(self, threshold: float) -> bool:
        is_theirs = self._is_final and threshold == round(self.threshold, 6)
        return is_theirs and threshold < self.measured_from

    def _moves(self, preview: ThresholdFamilies) -> tuple[Move, ...]:
        """Return the twenty greatest moves."""
        changed = np.flatnonzero(preview.representatives != self._before)
        ends = zip(
            self._before[changed].tolist(), preview.representatives[changed].tolist(), strict=True
        )
        greatest = sorted(Counter(ends).items(), key=lambda item: (-item[1], item[0]))[:20]
        ids = self._ids
        paths = self._paths
        return tuple(
            Move(ids[old], paths[old], ids[new], paths[new], number)
            for (old, new), number in greatest
        )


def threshold_statistics(store: FullStore, progress: Progress = no_progress) -> ThresholdStatistics:
    """Read a store, and return the statistics of its groups by threshold.

    Reads it once, and once more for each set of labels if groups stay within labels; the texts of
    pairs that are measured are read again. Raises `StoreError` when nothing was indexed yet.
    """
    recipe = require_recipe(store)
    last_options = last_group_options(store)
    options = last_options or DEFAULT_OPTIONS
    entries: list[Entry] = []
    previews = []
    for collection in compartments(store, recipe, options, progress):
        entries += collection.entries
        if collection.slots.shape[1]:
            previews.append(CollectionPreview(store, collection, options, progress))
    joined = joined_documents(store) if options.of == "documents" else {}
    is_grouped = last_options is not None
    statistics = ThresholdStatistics(entries, previews, options, is_grouped, joined)
    statistics.near_pairs = tuple(_near_pairs(store, recipe, options, statistics.of_groups))
    return statistics


def _near_pairs(
    store: FullStore, recipe: Recipe, options: GroupOptions, pairs: Sequence[SeparatedPair]
) -> Iterator[NearPair]:
    """Yield the first pairs with what keeps them out of one group."""
    named = pairs[:_MAX_PAIRS]
    rows = store.get([id for pair in named for id in (pair.a, pair.b)]) if named else {}
    rarity = Rarity(store.vocabulary.frequencies)

    def text(row: Row) -> ComparedText:
        return ComparedText(row.text, recipe)

    for pair in named:
        a, b = rows.get(pair.a), rows.get(pair.b)
        if a and b:
            reason = separation(b, a, options, text, rarity)
            yield NearPair(pair.similarity, a.id, a.path, b.id, b.path, reason)
