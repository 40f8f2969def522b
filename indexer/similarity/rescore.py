"""Re-scoring of candidates: a screen by their sketches, then their similarity by their texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from indexer.model import Candidate, Estimate, Fingerprint, Match
from indexer.similarity.alignment import align, passages
from indexer.similarity.lcs import words_in_order
from indexer.similarity.measures import Operand, containment, measure_pair
from indexer.sketch.codec import unpack_slots
from indexer.sketch.wilson import wilson

Z999 = 3.2905267314919255


def promising(
    query: Fingerprint, candidates: Sequence[Candidate], threshold: float
) -> list[Candidate]:
    """Return the candidates whose `jaccard` similarity may reach the threshold by their slots.

    They stay in order. A candidate is dropped when the upper end of its 99.9 % Wilson interval lies
    below the threshold; of pairs exactly at the threshold that is one in two thousand. Candidates
    without slots stay, and all stay when the query has none.
    """
    sketches = [candidate.minhash for candidate in candidates if candidate.minhash is not None]
    if query.minhash is None or not sketches:
        return list(candidates)
    width = len(query.minhash)
    slots = unpack_slots(b"".join(sketches)).reshape(-1, width)
    equal: list[int] = np.count_nonzero(slots == query.minhash, axis=1).tolist()
    enough = {count: wilson(count, width, Z999)[1] >= threshold for count in set(equal)}
    counts = iter(equal)
    return [
        candidate for candidate in candidates if candidate.minhash is None or enough[next(counts)]
    ]


def rescore(
    query: Operand,
    candidates: Iterable[tuple[Candidate, Operand]],
    threshold: float,
    measure: str = "jaccard",
    limit: int | None = None,
) -> list[Match]:
    """Return the candidates whose `measure` is above 0 and at least `threshold`; at most `limit`.

    Most similar first, ties by path, then id. Each match holds its reasons: containment of the
    features both ways, the words in order, and the shared passages by literal matching. Raises
    `UnknownMeasure`.
    """
    scores = [
        _Score(candidate, side, measure_pair(measure, query, side, least=threshold))
        for candidate, side in candidates
    ]
    similar = [score for score in scores if score.similarity >= threshold and score.similarity > 0]
    similar.sort(key=lambda score: (-score.similarity, score.candidate.path, score.candidate.id))
    return [_match(query, score, measure) for score in similar[:limit]]


class _Score(NamedTuple):
    candidate: Candidate
    side: Operand
    value: Estimate

    @property
    def similarity(self) -> float:
        return self.value.similarity


def _match(query: Operand, score: _Score, measure: str) -> Match:
    candidate, side, value = score
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
        in_order=words_in_order(query.words, side.words),
    )
