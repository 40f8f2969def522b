"""The verdict on a document beside those that a store holds: new, a duplicate, or for review."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from indexer.defaults import FOLD, MEASURE, REVIEW
from indexer.errors import StoreBusy, UsageError
from indexer.grouping.family_options import last_options
from indexer.matching.limits import check_threshold
from indexer.model import Match, Row
from indexer.recipe import Recipe
from indexer.searching.similar import SimilarOptions, SimilarResult, similar
from indexer.similarity.copy_key import copy_key
from indexer.similarity.criteria import NO_CRITERIA, Criteria, for_folding
from indexer.similarity.languages import two_languages
from indexer.similarity.measures import check_measure, measure_pair
from indexer.similarity.new_words import Rarity
from indexer.similarity.reasons import spell_reasons
from indexer.similarity.replacements import most_replaced
from indexer.similarity.sides import Side
from indexer.stores.abilities import FullStore
from indexer.text.wording import percent

Verdict: TypeAlias = Literal["new", "duplicate", "review"]
_MATCHES = 5  # that are looked at where the most similar one may be no duplicate
_WINDOW = 100  # candidates; a duplicate shares more keys than nearly all others
_UNSEEN = {
    "truncated": "its text was cut, and what follows was not compared",
    "too_short": "it has fewer than four words, of which copies alone are found",
    "empty": "it has no text, so that only files with the same bytes are found",
    "numbers_only": "it has numbers alone, of which copies alone are found",
}


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The options of `check`: what a duplicate is.

    `threshold`: least similarity of a duplicate; above 0, at most 1.
    `review`: least similarity of what is for review; above 0, at most `threshold`. None: 0.8, or
    `threshold` where that is lower.
    `measure`: name of the similarity.
    `review_differences`: near duplicates whose numbers, dates, amounts, negations, names, addresses
    or signs differ are for review, whatever the similarity.

    Raises `UsageError` for a value out of its range and `UnknownMeasure`.
    """

    threshold: float = FOLD
    review: float | None = None
    measure: str = MEASURE
    review_differences: bool = False

    def __post_init__(self) -> None:
        check_threshold(self.threshold)
        check_threshold(self.least)
        check_measure(self.measure)
        if self.least > self.threshold:
            raise UsageError(
                f"review ({self.least:g}) lies above the threshold of duplicates "
                f"({self.threshold:g}); lower it"
            )

    @property
    def least(self) -> float:
        """The least similarity of a document that is not new."""
        return min(REVIEW, self.threshold) if self.review is None else self.review


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, the stored document that it is about with its similarity, and why.

    `of`, `path` and `similarity` are None where no stored document is similar. `notes` says what
    may be missing, in sentences.
    """

    verdict: Verdict
    of: str | None = None
    path: str | None = None
    similarity: float | None = None
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The answer of `check`.

    `of`: the stored document that it is a duplicate of or resembles, with its `path` and its
    `similarity` by `measure`; None where there is none. `reasons` are sentences. `id`: that of the
    document itself, the same as `of` if it was stored before. `stored`: this call stored it.
    `notes`: what may be missing, in sentences. `attachments`: the answers on those of a mail by
    path, if they were asked for.
    """

    verdict: Verdict
    of: str | None
    path: str | None
    similarity: float | None
    measure: str
    reasons: tuple[str, ...]
    id: str
    stored: bool
    notes: tuple[str, ...] = ()
    attachments: dict[str, CheckResult] = field(default_factory=dict, hash=False)


def judge(
    store: FullStore, recipe: Recipe, row: Row, options: CheckOptions, without: Collection[str]
) -> Judgement:
    """Return the verdict on a row beside the stored ones; those of the ids `without` do not count.

    It is a duplicate of the most similar stored document that reaches the threshold and would be
    folded with it. Ties go to the first by path, then id.
    """
    limit = len(without) + _MATCHES
    window = len(without) + _WINDOW
    wanted = SimilarOptions(options.least, options.measure, limit, window=window)
    result = similar(store, row.text, wanted, row=row)
    matches = [match for match in result.matches if match.id not in without]
    for match in matches:
        if match.similarity >= options.threshold and not _doubt(store, recipe, row, match, options):
            return _about("duplicate", match, (), result)
    if matches:
        best = matches[0]
        doubt = _doubt(store, recipe, row, best, options) or _between(best, options)
        return _about("review", best, (doubt,), result)
    unseen = _unseen(row, result)
    if unseen:
        return Judgement("review", reasons=(unseen,), notes=result.notes)
    least = percent(options.least)
    reason = f"no stored document reaches {least} by {options.measure}"
    return Judgement("new", reasons=(reason,), notes=result.notes)


def are_similar(row: Row, other: Row, options: CheckOptions, recipe: Recipe) -> bool:
    """Return whether two rows are copies, or similar enough that one is not new beside the other.

    >>> from indexer.recipe import DEFAULT
    >>> row = Row("a", "", "empty", "", "", "", "", None, 0, "", "", "raw", "", 0, 0, "a")
    >>> are_similar(row, row, CheckOptions(), DEFAULT)
    True
    """
    if copy_key(row) == copy_key(other):
        return True
    has_keys = all(item.bands or item.blocks for item in (row, other))
    sides = Side(row.text, recipe), Side(other.text, recipe)
    return has_keys and (
        measure_pair(options.measure, *sides, least=options.least).similarity >= options.least
    )


def _about(
    verdict: Verdict, match: Match, doubts: tuple[str, ...], result: SimilarResult
) -> Judgement:
    reasons = (*doubts, *spell_reasons(match))
    return Judgement(verdict, match.id, match.path, match.similarity, reasons, result.notes)


def _doubt(store: FullStore, recipe: Recipe, row: Row, match: Match, options: CheckOptions) -> str:
    """Return why a match may be no duplicate in spite of its similarity; empty without doubt."""
    if match.same and match.same.kind == "bytes":
        return ""
    stored = store.get([match.id]).get(match.id)
    if row.status == "truncated" or (stored and stored.status == "truncated"):
        return "a text was cut: they are similar as far as read"
    if options.review_differences and match.differences:
        return "facts differ"
    return _kept_apart(store, recipe, row, stored, options.measure) if stored else ""


def _kept_apart(store: FullStore, recipe: Recipe, row: Row, stored: Row, measure: str) -> str:
    """Return why folding does not hide one of two texts under the other; empty where it does.

    It has the conditions on texts of the last `group`, the defaults where that is not known.
    """
    criteria = for_folding(_criteria(store), measure)
    if criteria.content_key(row) == criteria.content_key(stored):
        return ""
    if not {row.status, stored.status} <= set(criteria.folded):
        return "texts of numbers alone are duplicates where they are equal"
    sides = Side(row.text, recipe), Side(stored.text, recipe)
    if not criteria.accepts_languages(sides[0].words, sides[1].words):
        languages = two_languages(sides[0].words, sides[1].words)
        return f"words of {languages.a} stand for words of {languages.b}: they are two languages"
    if not criteria.accepts_words(sides[0].words, sides[1].words):
        replaced = most_replaced(sides[0].words, sides[1].words)
        return (
            f'"{replaced.a}" stands for "{replaced.b}" {replaced.times} times, '
            "as where one form is filled in for another subject"
        )
    if not criteria.accepts(*sides, Rarity(store.vocabulary.frequencies)):
        return "the conditions of the last group keep them apart"
    return ""


def _criteria(store: FullStore) -> Criteria:
    """Return the conditions of the last `group`, none while a job works on the store."""
    try:
        return last_options(store).documents.criteria
    except StoreBusy:
        return NO_CRITERIA


def _between(match: Match, options: CheckOptions) -> str:
    value = percent(match.similarity, 1)
    low, high = percent(options.least), percent(options.threshold)
    return f"{value} by {options.measure} lies between {low} for review and {high} for duplicates"


def _unseen(row: Row, result: SimilarResult) -> str:
    """Return why a duplicate may have been missed; empty where none is expected to be."""
    keys = (*row.bands, *row.blocks)
    if keys and len(result.capped_keys) == len(keys):
        return "all its keys are on too many documents to be looked up"
    if row.status == "numbers_only" and keys:
        return ""
    return _UNSEEN.get(row.status, "")
