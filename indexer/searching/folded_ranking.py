"""The hits of a search that were read, folded by the rule of its options."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, tee

from indexer.model import RankedRow
from indexer.searching.cursor import Cursor
from indexer.searching.fold import (
    Group,
    NoFolding,
    RestReader,
    Rule,
    SelectiveRule,
    fold_families,
    fold_page,
    fold_ranking,
)
from indexer.searching.fold_hits import folding_rule, has_misled, text_rule
from indexer.searching.fold_types import ByType, by_type
from indexer.searching.rest_of_hits import rest_of_hits
from indexer.searching.search_options import SearchOptions
from indexer.searching.stored_texts import StoredTexts, ranked_row
from indexer.stores.base import Ranking
from indexer.system.progress_callback import Progress

WINDOW = 1000  # hits that are read at least, so that counts of folded hits are whole


@dataclass(frozen=True, slots=True)
class FoldedRanking:
    """The hits that were read, folded by `rule`; `complete`: there are no others.

    `groups[:seeds]` were shown on the pages before; `others` are groups after those listed.
    """

    groups: list[Group]
    seeds: int
    complete: bool
    rule: Rule
    others: int = 0

    def page(self, options: SearchOptions) -> list[Group]:
        """Return the groups of the page."""
        end = self._end(options)
        return self.groups[end - options.limit : end]

    def has_more(self, options: SearchOptions) -> bool:
        """Return whether there are groups after the page."""
        return len(self.groups) > self._end(options)

    @property
    def passed_over(self) -> int:
        """The hits whose texts did not fit into what is compared by type."""
        return self.rule.passed_over if isinstance(self.rule, ByType) else 0

    def shown(self, options: SearchOptions) -> tuple[str, ...]:
        """Return the ids of the heads up to the end of the page, those shown before left out."""
        groups = self.groups[self.seeds : self._end(options)]
        return tuple(group.head.id for group in groups)

    def _end(self, options: SearchOptions) -> int:
        return self.seeds + options.limit * options.page


def fold_search(
    ranking: Ranking,
    start: Cursor,
    texts: StoredTexts,
    options: SearchOptions,
    progress: Progress,
) -> FoldedRanking:
    """Read hits until the page is full, and at least `WINDOW`, and fold them by the options.

    Those that `start` names, shown before, are the heads of the first groups. `progress` is called
    by fold `types`.
    """
    seeds = [ranked_row(row) for row in texts.rows(start.shown)]
    hits: Iterable[RankedRow] = ranking.hits
    if options.fold == "types":
        rule, hits = _type_rule(hits, start, texts, options, progress)
    else:
        rule = folding_rule(options.fold, options.least, texts)
    shown = frozenset(start.shown)
    new_hits, same_hits = tee(hit for hit in hits if hit.id not in shown)
    end = len(seeds) + options.limit * options.page
    page = range(end - options.limit, end)
    if ranking.members is not None:
        members = partial(ranking.members, most=WINDOW)
        folding = fold_families(new_hits, seeds, page, members)
        return FoldedRanking(folding.groups, len(seeds), folding.complete, rule)
    rest = rest_of_hits(ranking, WINDOW, texts)
    folded = _fold_by(rule, new_hits, seeds, page, rest)
    if options.fold == "live" and has_misled(folded.groups[:end], texts, options.least):
        return _fold_by(text_rule(options.least, texts), same_hits, seeds, page)
    return folded


def _fold_by(
    rule: Rule,
    hits: Iterable[RankedRow],
    seeds: list[RankedRow],
    page: range,
    rest: RestReader | None = None,
) -> FoldedRanking:
    if isinstance(rule, SelectiveRule) and rule.reads_texts:
        folding = fold_page(hits, rule, page, WINDOW, seeds, rest)
    else:
        window = 0 if isinstance(rule, NoFolding) else WINDOW
        folding = fold_ranking(hits, rule, page.stop, window, seeds)
    return FoldedRanking(folding.groups, len(seeds), folding.complete, rule, folding.others)


def _type_rule(
    ranking: Iterable[RankedRow],
    start: Cursor,
    texts: StoredTexts,
    options: SearchOptions,
    progress: Progress,
) -> tuple[Rule, Iterable[RankedRow]]:
    """Return the rule for the hits shown before and the best others, and all hits again."""
    hits = iter(ranking)
    best = list(islice(hits, options.top + len(start.shown)))
    others = [hit.id for hit in best if hit.id not in start.shown]
    ids = [*start.shown, *others[: options.top]]
    rule = by_type(ids, texts, options.least, options.synonyms, options.most_chars, progress)
    return rule, chain(best, hits)
