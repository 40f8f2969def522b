"""Re-scoring of candidates: their similarity by their texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from types import MappingProxyType
from typing import NamedTuple

from indexer.comparing.criteria import NO_CRITERIA, Criteria
from indexer.comparing.measures import (
    TextOperand,
    align,
    containment,
    measure_named,
    measure_pair,
    passages,
)
from indexer.comparing.reasons import (
    REARRANGED,
    Rarity,
    explain,
    is_rearranged,
    measure_new_words,
    measure_rearranged,
    measured_words,
)
from indexer.defaults import MEASURE, MISREAD, REVIEW
from indexer.grouping.words_in_common import lcs_to_each, may_have_common_words
from indexer.model import Candidate, Estimate, Match, NewWords, Sameness

_AT_ONCE = 20  # pairs whose words are asked for together


@dataclass(frozen=True, slots=True)
class Conditions:
    """The criteria of matches, the rarity of words for them, the ids whose fields break them, the
    files in the query and in each document, as rows keep them, where there are any, and the ids
    that are compared by `lcs_misread` instead of `lcs`.

    Without `rarity` criteria on novelty are refused, and new words have no weight.
    """

    criteria: Criteria = NO_CRITERIA
    rarity: Rarity | None = None
    broken: Collection[str] = frozenset()
    embedded: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    scans: Collection[str] = ()


NO_CONDITIONS = Conditions()


def rescore(
    query: TextOperand,
    candidates: Iterable[tuple[Candidate, TextOperand]],
    threshold: float,
    measure: str = MEASURE,
    limit: int | None = None,
    conditions: Conditions = NO_CONDITIONS,
    copies: Mapping[str, Sameness] = MappingProxyType({}),
) -> RescoreResult:
    """Return the candidates whose `measure` is above 0 and at least `threshold`; at most `limit`.

    They also meet the conditions; how many do not is counted. The `copies`, by id, are 1 by any
    measure. In the order of `Measure.rank`, ties by path, then id. Each match holds its reasons:
    containment of the features both ways, the words in order, the facts that differ, the new words,
    with their rarity if it is given, and the shared passages by literal matching. Raises
    `UnknownMeasure`, and `UsageError` for criteria on novelty without rarity.
    """
    entries = list(candidates)
    scans = [entry for entry in entries if entry[0].id in conditions.scans]
    others = [entry for entry in entries if entry[0].id not in conditions.scans]
    scores = list(_scores(query, others, threshold, measure, copies))
    scores += _scores(query, scans, threshold, MISREAD, copies)
    similar = [score for score in scores if score.similarity >= threshold and score.similarity > 0]
    accepted, refused = _accepted(query, _ranked(query, similar), limit, conditions, copies)
    new_words = measure_new_words([(query, score.text) for score in accepted], conditions.rarity)
    matches = [
        replace(
            _match(query, score, conditions.embedded),
            same=copies.get(score.candidate.id),
            new_words=new,
            rank=measure_named(score.measure).rank(score.similarity, new),
        )
        for score, new in zip(accepted, new_words, strict=True)
    ]
    return RescoreResult(matches, refused, frozenset(score.candidate.id for score in similar))


class RescoreResult(NamedTuple):
    """Matches, and how many other candidates were found to meet the threshold alone: of those that
    are less similar than the last of as many matches as were asked for, some may be left out.
    `similar`: the ids of all candidates that meet the threshold.
    """

    matches: list[Match]
    refused: int
    similar: frozenset[str]


def _scores(
    query: TextOperand,
    candidates: Sequence[tuple[Candidate, TextOperand]],
    threshold: float,
    measure: str,
    copies: Mapping[str, Sameness],
) -> Iterator[_Score]:
    """Yield the score of each candidate; it may be 0 below the threshold."""
    yield from (
        _Score(candidate, text, _exact(1.0), measure)
        for candidate, text in candidates
        if candidate.id in copies
    )
    others = [entry for entry in candidates if entry[0].id not in copies]
    if measure == "lcs":
        values = lcs_to_each(query.text, [text.text for _, text in others], threshold)
        estimates: Iterator[Estimate] = (
            measure_pair(measure, query, text, minimum=threshold)
            if value is None
            else _exact(value)
            for (_, text), value in zip(others, values, strict=True)
        )
    else:
        estimates = (measure_pair(measure, query, text, minimum=threshold) for _, text in others)
    for (candidate, text), value in zip(others, estimates, strict=True):
        yield _Score(candidate, text, value, measure)


def _ranked(query: TextOperand, scores: Sequence[_Score]) -> list[_Score]:
    def order(entry: tuple[NewWords, _Score]) -> tuple[float, str, str]:
        new, score = entry
        rank = measure_named(score.measure).rank(score.similarity, new)
        return -rank, score.candidate.path, score.candidate.id

    new_words = measure_new_words([(query, score.text) for score in scores])
    return [score for _, score in sorted(zip(new_words, scores, strict=True), key=order)]


def _exact(similarity: float) -> Estimate:
    return Estimate(similarity, similarity, similarity)


def _accepted(
    query: TextOperand,
    scores: Sequence[_Score],
    limit: int | None,
    conditions: Conditions,
    copies: Mapping[str, Sameness],
) -> tuple[list[_Score], int]:
    """Return the first scores of copies, and of what meets the criteria, and how many others were
    before the last.
    """
    criteria, rarity, broken = conditions.criteria, conditions.rarity, conditions.broken
    decided = dict.fromkeys(copies, True) | dict.fromkeys(broken, False)
    accepted: list[_Score] = []
    refused = 0
    for start in range(0, len(scores), _AT_ONCE):
        batch = scores[start : start + _AT_ONCE]
        others = [score for score in batch if criteria and score.candidate.id not in decided]
        pairs = [(query, score.text) for score in others]
        meets = criteria.accepts_each(pairs, rarity) if others else []
        measured = {score.candidate.id: met for score, met in zip(others, meets, strict=True)}
        is_met = decided | measured
        for score in batch:
            if len(accepted) == limit:
                return accepted, refused
            if is_met.get(score.candidate.id, True):
                accepted.append(score)
            else:
                refused += 1
    return accepted, refused


def find_rearranged(
    query: TextOperand, candidates: Iterable[tuple[Candidate, TextOperand]], threshold: float
) -> list[tuple[Candidate, float, float]]:
    """Return the candidates that are the query rearranged, each with its overlap and `lcs`."""
    result = []
    candidates = list(candidates)
    possible = may_have_common_words(query.text, [text.text for _, text in candidates], REARRANGED)
    for candidate, text in compress(candidates, possible):
        if measured := measure_rearranged(query.words, text.words, threshold):
            result.append((candidate, *measured))
    return result


class _Score(NamedTuple):
    candidate: Candidate
    text: TextOperand
    value: Estimate
    measure: str

    @property
    def similarity(self) -> float:
        return self.value.similarity


def _match(
    query: TextOperand,
    score: _Score,
    embedded: Mapping[str, tuple[str, str]],
) -> Match:
    candidate, text, value, measure = score
    alignment = align(query.words, text.words)
    in_order = measured_words(query.words, text.words, measure, value.similarity)
    rearranged = is_rearranged(alignment.overlap, in_order.similarity, REVIEW)
    files = embedded.get(candidate.id, ("", ""))
    found = explain(query, text, rearranged=rearranged, embedded=files)
    has_features = len(query.features) and len(text.features)
    return Match(
        id=candidate.id,
        path=candidate.path,
        similarity=value.similarity,
        measure=measure,
        low=value.low,
        high=value.high,
        keys_shared=candidate.keys_shared,
        containment=containment(query.features, text.features) if has_features else None,
        shared=passages(alignment, query.words, text.words),
        in_order=in_order,
        rearranged=rearranged,
        differences=found.facts,
        marks=found.marks,
    )
