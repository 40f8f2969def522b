"""The options of `search`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from indexer.clustering.field_order import parse_order
from indexer.errors import UsageError
from indexer.model import Scope
from indexer.searching.fold_defaults import Fold, check_criteria, fold_threshold
from indexer.similarity.criteria import NO_CRITERIA, Criteria
from indexer.similarity.measures import check_measure

Sort: TypeAlias = Literal["relevance", "path", "modified"]
TOP = 100  # hits that are compared by duplicate type
FACTS = 10  # folded hits of a hit


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The options of `search`: what is found, how it is folded, and which page is returned.

    `fold`: `live` folds hits at `threshold` of `measure` (`jaccard` as far as slots decide, until
    they turn out to mislead; else by texts alone), `family` by the stored family, `threads` mails
    of one thread, `types` the best hits by duplicate type, `none` not at all.
    `threshold`: with `live` the least similarity of folded hits, 0 to 1; with `types` the least
    terminology that fuzzy duplicates share, above 0. None: `FOLD` of `indexer.defaults`
    and `OVERLAP` there.
    `measure`: name of the similarity by which `live` folds, and which is shown. None: with `family`
    that of the `group` that made the families, as far as the journal knows it, else the default.
    `filters`: (field, value) pairs that must all hold.
    `sort`: `relevance`, `path` or `modified`.
    `limit`: hits a page, 1 or more.
    `page`: number of the page, from 1; another one than the first searches again.
    `after`: the `next` of the page before, to go on instead: what resembles a hit shown before is
    folded under it and not shown, whatever arrives in between, and nothing is left out. None:
    search from the beginning.
    `keep_alive`: on the first page, make a search engine keep a snapshot of the index, so that all
    pages show the same documents; it expires five minutes after the last page. Without it, and in
    an embedded store, each page shows the documents as they are when it is read.
    `facets`: fields whose most frequent values are counted, in documents and in stored families.
    `of`: `documents`; `parts` finds clauses, and folds clauses that are near duplicates of each
    other; `both` finds clauses and documents.
    `show`: the hit that is shown for a group is the first by this order, a field as
    `indexer.clustering.field_order` writes it, such as `modified:desc`; the group stays at its
    rank. Hits less similar to it than the threshold follow it as hits of their own, beyond the
    limit. None: the best hit by rank is shown.
    `top`: with `types`, how many of the best hits are compared.
    `most_chars`: with `types`, how many characters the compared texts have together at most; texts
    that do not fit are shown, and not compared. None: any number.
    `synonyms`: with `types`, lines as `duplicate_sets` takes them.
    `criteria`: with `live`, what folded hits meet with the shown one beside the threshold.
    `most_ranked`: of many matches, how many a store ranks at least where ranking all takes it long,
    those written last; the others follow. None: all are ranked.
    `facts`: of how many folded hits of each hit the facts are compared with those of the hit.

    Raises `UsageError` for an unknown order, `show` with `types` or `none`, a measure with
    `threads`, `types` or `none`, criteria without `live`, a threshold with another way than `live`
    and `types`, and `after` together with a page.
    """

    fold: Fold = "live"
    threshold: float | None = None
    measure: str | None = None
    filters: Sequence[tuple[str, str]] = ()
    sort: Sort = "relevance"
    limit: int = 10
    page: int = 1
    after: str | None = None
    keep_alive: bool = False
    facets: Sequence[str] = ()
    of: Scope = "documents"
    top: int = TOP
    synonyms: str = ""
    show: str | None = None
    criteria: Criteria = NO_CRITERIA
    facts: int = FACTS
    most_chars: int | None = None
    most_ranked: int | None = None

    def __post_init__(self) -> None:
        check_criteria(self.fold, self.criteria)
        fold_threshold(self.fold, self.threshold)
        if self.measure is not None:
            check_measure(self.measure)
            if self.fold in ("none", "threads", "types"):
                raise UsageError(
                    "a measure belongs to folding by similarity (--fold live) or by family; "
                    "leave --measure out, or fold another way"
                )
        if self.show is not None:
            parse_order(self.show)
            if self.fold == "none":
                raise UsageError("without folding every hit is shown; leave --show out, or fold")
            if self.fold == "types":
                raise UsageError(
                    "duplicate types are those to the best hit; "
                    "leave --show out, or fold another way"
                )
        if self.after is not None and self.page != 1:
            raise UsageError("give either a page or a token to go on after, not both")

    @property
    def least(self) -> float:
        """The threshold, also where none is given."""
        return fold_threshold(self.fold, self.threshold)


DEFAULT_OPTIONS = SearchOptions()


def parse_filters(texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return `FIELD=VALUE` strings as pairs.

    Raises `UsageError` for one without a field or an equals sign.

    >>> parse_filters(["content_type=text/plain"])
    (('content_type', 'text/plain'),)
    """
    pairs = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UsageError(
                f"a filter is FIELD=VALUE, for example content_type=text/plain, not {text!r}"
            )
        pairs.append((name, value))
    return tuple(pairs)
