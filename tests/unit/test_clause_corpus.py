"""Synthetic clauses, and the detector of duplicates on them.

Determinism, synonyms, agreement with docs/duplicate-types.md.
"""

import re
import sys
from pathlib import Path

import pytest
from synthetic_clauses import KNOWN, UNKNOWN, all_bases, results
from synthetic_names import bare_name_pairs, heading_pairs, name_pairs

from indexer.comparing.clauses.lexicon import default_lexicon

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "benchmarks"))
from clauses import pair_types, score_detector

sys.path.pop(0)


def form(words: str) -> str:
    lexicon = default_lexicon()
    return lexicon.form(tuple(lexicon.stem(word) for word in re.findall("[a-z]+", words)))


def test_unknown_synonyms_are_unknown_and_most_known_ones_known() -> None:
    assert [pair for pair in UNKNOWN.items() if form(pair[0]) == form(pair[1])] == []
    assert sum(form(term) == form(synonym) for term, synonym in KNOWN.items()) >= 0.8 * len(KNOWN)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_clauses_and_halves_share_no_base() -> None:
    assert results("train", 3) == results("train", 3)
    halves = [
        {group.base for result in results(half, 4) for group, _ in result.groups}
        for half in ("train", "test")
    ]
    assert not halves[0] & halves[1]
    assert len(all_bases()) > 40


@pytest.mark.long
@pytest.mark.parametrize("half", ["train", pytest.param("test", marks=pytest.mark.slow)])
def test_types_are_captured(half: str) -> None:
    score = score_detector(results(half, 20, seed=3))
    assert score.recall("identical") >= 0.98
    assert score.recall("near_identical") >= 0.92
    assert score.recall("fuzzy") >= 0.8
    assert score.precision >= 0.95
    assert sum(score.negatives.values()) >= 20


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_no_clauses_of_two_companies_are_called_identical(seed: int) -> None:
    pairs = name_pairs(500, seed)
    types = pair_types(pairs)
    assert types.count("identical") == 0
    kinds_by_pattern = zip((pattern for pattern, _, _ in pairs), types, strict=True)
    others = [pattern for pattern, type in kinds_by_pattern if type != "near_identical"]
    assert len(others) <= 20
    assert len([pattern for pattern in others if "abbreviation" not in pattern]) <= 5


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_clauses_below_the_names_of_two_parties_are_never_identical(seed: int) -> None:
    types = pair_types(bare_name_pairs(500, seed))
    assert set(types) == {"near_identical", "fuzzy"}
    assert types.count("near_identical") >= 400


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_other_headings_numbers_and_layouts_are_identical(seed: int) -> None:
    assert pair_types(heading_pairs(500, seed)).count("identical") >= 490
