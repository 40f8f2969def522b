"""Re-scoring: which candidates may be near duplicates by their sketches, and what they are by their
texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from indexer.model import Candidate, Estimate, Fingerprint, Match
from indexer.recipe import Recipe
from indexer.similarity.alignment import align, passages
from indexer.similarity.measures import Side, containment, measure_pair
from indexer.sketch.codec import unpack_slots
from indexer.sketch.wilson import wilson

Z999 = 3.2905267314919255


def promising(
    asked: Fingerprint, candidates: Sequence[Candidate], threshold: float
) -> list[Candidate]:
    """The candidates whose `jaccard` similarity may reach the threshold, judged by their slots, in
    the order given.

    One is dropped when the upper end of its 99.9 % Wilson interval lies below the threshold; of
    pairs exactly at the threshold that is one in two thousand. Candidates without slots are kept,
    and all are when the query has none.
    """
    sketches = [one.minhash for one in candidates if one.minhash is not None]
    if asked.minhash is None or not sketches:
        return list(candidates)
    width = len(asked.minhash)
    equal: list[int] = np.count_nonzero(
        unpack_slots(b"".join(sketches)).reshape(-1, width) == asked.minhash, axis=1
    ).tolist()
    enough = {count: wilson(count, width, Z999)[1] >= threshold for count in set(equal)}
    counts = iter(equal)
    return [one for one in candidates if one.minhash is None or enough[next(counts)]]


def rescore(
    text: str,
    asked: Fingerprint,
    pairs: Iterable[tuple[Candidate, str]],
    recipe: Recipe,
    threshold: float,
    measure: str = "jaccard",
    limit: int | None = None,
) -> list[Match]:
    """The candidates, given with their texts, whose `measure` is above 0 and at least `threshold`;
    at most `limit`.

    Most similar first, ties by path, then id. Each match says why: containment of the features both
    ways, and the shared passages by literal matching. Raises `UnknownMeasure`.
    """
    query = Side(text, recipe, asked.minhash, asked.simhash)
    scored = [
        _Scored(
            candidate, side := _side(candidate, other, recipe), measure_pair(measure, query, side)
        )
        for candidate, other in pairs
    ]
    similar = [
        one for one in scored if one.value.similarity >= threshold and one.value.similarity > 0
    ]
    similar.sort(key=lambda one: (-one.value.similarity, one.candidate.path, one.candidate.id))
    return [_match(query, one, measure) for one in similar[:limit]]


class _Scored(NamedTuple):
    candidate: Candidate
    side: Side
    value: Estimate


def _side(candidate: Candidate, text: str, recipe: Recipe) -> Side:
    return Side(
        text,
        recipe,
        unpack_slots(candidate.minhash) if candidate.minhash else None,
        candidate.simhash,
    )


def _match(query: Side, scored: _Scored, measure: str) -> Match:
    candidate, side, value = scored
    return Match(
        id=candidate.id,
        path=candidate.path,
        similarity=value.similarity,
        measure=measure,
        low=value.low,
        high=value.high,
        keys_shared=candidate.keys_shared,
        containment=containment(query.features, side.features),
        shared=passages(align(query.words, side.words), query.words, side.words),
    )
