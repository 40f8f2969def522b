"""Re-scoring: pruning by sketches, decision by texts, order, reasons."""

from collections.abc import Sequence

import pytest

from indexer.comparing.band_plan import min_equal
from indexer.comparing.measures import ComparedText, feature_set, jaccard
from indexer.errors import UnknownMeasure
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.fingerprinting.keys import pack_slots
from indexer.fingerprinting.minhash import filter_candidates
from indexer.model import Candidate, Candidates, Fingerprint, Match, Prefilter
from indexer.recipe import DEFAULT_V1
from indexer.searching.rescore import rescore
from indexer.searching.stored_texts import TextCache

BASE = " ".join(f"paragraph {place} binds the parties and their successors" for place in range(40))
NEAR = BASE.replace("paragraph 7 binds", "paragraph 7 does not bind")
FAR = " ".join(f"recipe {place}: stir the soup slowly until it thickens" for place in range(40))


def candidate(id: str, text: str, path: str | None = None) -> Candidate:
    signed = fingerprint(text, DEFAULT_V1)
    packed = pack_slots(signed.minhash) if signed.minhash is not None else None
    return Candidate(
        id=id, path=path or f"/{id}.txt", keys_shared=3, minhash=packed, simhash=signed.simhash
    )


def sign_query(text: str) -> Fingerprint:
    return fingerprint(text, DEFAULT_V1)


def rescore_texts(
    text: str,
    pairs: Sequence[tuple[Candidate, str]],
    threshold: float,
    measure: str = "jaccard",
    limit: int | None = None,
) -> list[Match]:
    signed = sign_query(text)
    query = ComparedText(text, DEFAULT_V1, signed.minhash, signed.simhash)
    cache = TextCache()
    sides = [
        (hit, cache.compared(candidate_text, DEFAULT_V1, hit.minhash, hit.simhash))
        for hit, candidate_text in pairs
    ]
    return rescore(query, sides, threshold, measure, limit).matches


def slots_for(threshold: float) -> int:
    return min_equal("jaccard", threshold, DEFAULT_V1)


def passing(query: Fingerprint, candidates: Sequence[Candidate], least: int) -> list[Candidate]:
    assert query.minhash is not None
    screen = Prefilter(pack_slots(query.minhash), 4, least)
    answer = filter_candidates(Candidates(tuple(candidates), ("hot",), True), screen)
    assert (answer.capped_keys, answer.cut) == (("hot",), True)
    assert answer.filtered == len(candidates) - len(answer.found)
    return list(answer.found)


def test_sketches_drop_what_cannot_reach_the_threshold() -> None:
    near, far = candidate("near", NEAR), candidate("far", FAR)
    assert passing(sign_query(BASE), [far, near], slots_for(0.8)) == [near]
    assert passing(sign_query(BASE), [far, near], slots_for(0.0)) == [
        far,
        near,
    ]


@pytest.mark.parametrize(("equal", "is_kept"), [(92, True), (80, False)])
def test_candidates_within_three_standard_errors_are_kept(equal: int, is_kept: bool) -> None:
    query = sign_query(BASE)
    assert query.minhash is not None
    slots = query.minhash.copy()
    slots[equal:] ^= 1
    candidate = Candidate(
        id="one", path="/one", keys_shared=1, minhash=pack_slots(slots), simhash=None
    )
    assert passing(query, [candidate], slots_for(0.8)) == [candidate] * is_kept


def test_candidates_without_a_sketch_are_kept() -> None:
    bare = Candidate(id="bare", path="/bare", keys_shared=1, minhash=None, simhash=5)
    assert passing(sign_query(BASE), [bare], slots_for(0.9)) == [bare]


def test_pruning_keeps_pairs_at_the_threshold() -> None:
    edits = [
        BASE.replace(f"paragraph {place} binds the parties", f"article {place} frees no one")
        for place in range(40)
    ]
    threshold = min(
        jaccard(feature_set(BASE, DEFAULT_V1), feature_set(edit, DEFAULT_V1)) for edit in edits
    )
    candidates = [candidate(str(place), edit) for place, edit in enumerate(edits)]
    assert passing(sign_query(BASE), candidates, slots_for(threshold)) == candidates


def test_matches_are_exact_sorted_and_say_why() -> None:
    pairs = [
        (candidate("far", FAR), FAR),
        (candidate("near", NEAR), NEAR),
        (candidate("same", BASE), BASE),
    ]
    matches = rescore_texts(BASE, pairs, 0.5)
    assert [match.id for match in matches] == ["same", "near"]
    assert (matches[0].similarity, matches[0].containment) == (1.0, (1.0, 1.0))
    near = matches[1]
    assert (
        near.similarity
        == near.low
        == near.high
        == jaccard(feature_set(BASE, DEFAULT_V1), feature_set(NEAR, DEFAULT_V1))
    )
    assert (near.measure, near.keys_shared) == ("jaccard", 3)
    assert [BASE[slice(*passage.a)] for passage in near.shared] == [
        NEAR[slice(*passage.b)] for passage in near.shared
    ]
    assert sum(passage.words for passage in near.shared) == len(BASE.split()) - 1


def test_ties_go_by_path_then_id() -> None:
    places = [("2", "/b"), ("1", "/b"), ("3", "/a")]
    pairs = [(candidate(name, BASE, path), BASE) for name, path in places]
    assert [match.id for match in rescore_texts(BASE, pairs, 0.5)] == [
        "3",
        "1",
        "2",
    ]
    assert [match.id for match in rescore_texts(BASE, pairs, 0.5, limit=2)] == [
        "3",
        "1",
    ]


@pytest.mark.parametrize(
    "measure",
    [
        *("lcs", "lcs_misread", "resemblance", "overlap", "jaccard_words", "containment"),
        *("terminology", "hamming"),
    ],
)
def test_other_measures_decide_by_name(measure: str) -> None:
    pairs = [(candidate("near", NEAR), NEAR), (candidate("far", FAR), FAR)]
    matches = rescore_texts(BASE, pairs, 0.9, measure)
    assert [(match.id, match.measure) for match in matches] == [("near", measure)]
    assert matches[0].low == matches[0].similarity == matches[0].high < 1.0


def test_the_estimate_keeps_its_interval() -> None:
    [match] = rescore_texts(BASE, [(candidate("near", NEAR), NEAR)], 0.5, "estimate")
    assert match.low < match.similarity <= match.high


def test_texts_without_features_never_match() -> None:
    assert rescore_texts("", [(candidate("empty", ""), "")], 0.0) == []
    assert rescore_texts(BASE, [(candidate("empty", ""), "")], 0.0) == []


def test_an_unknown_measure_is_refused() -> None:
    with pytest.raises(UnknownMeasure):
        rescore_texts(BASE, [(candidate("near", NEAR), NEAR)], 0.5, "cosine")


def test_matches_by_words_in_order_are_ranked_by_new_words_too() -> None:
    words = [f"word{place}" for place in range(200)]
    text = " ".join(words)
    moved = " ".join([*words[10:], *words[:10]])
    edited = " ".join([*(f"new{place}" for place in range(9)), *words[9:]])
    pairs = [(candidate("a", edited), edited), (candidate("b", moved), moved)]
    matches = rescore_texts(text, pairs, 0.9, "lcs")
    assert [(match.id, match.similarity) for match in matches] == [("b", 0.95), ("a", 0.955)]
    assert [round(match.rank, 3) for match in matches] == [0.95, 0.896]
    assert [match.id for match in rescore_texts(text, pairs, 0.95, "lcs")] == ["b", "a"]
    by_jaccard = rescore_texts(text, pairs, 0.1)
    assert all(match.rank == match.similarity for match in by_jaccard)
