"""The bounds by which `similar` leaves out candidates before their rows are read."""

from hypothesis import given
from hypothesis import strategies as st

from indexer.comparing.alignment import lcs
from indexer.comparing.reasons import REARRANGED
from indexer.comparing.words import normal_words
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.recipe import DEFAULT_V1, DEFAULT_V2
from indexer.searching.similar import SimilarOptions, _prefilter


@given(st.integers(4, 60), st.integers(1, 90), st.floats(0.01, 1.0))
def test_texts_of_as_many_words_as_a_match_may_have_are_within_the_bounds(
    own: int, other: int, threshold: float
) -> None:
    """A rearranged text, of which a note tells, has `REARRANGED` of the words."""
    text = " ".join(f"w{place}" for place in range(90))
    mine = " ".join(text.split()[:own])
    screen = _prefilter(
        fingerprint(mine, DEFAULT_V2), DEFAULT_V2, SimilarOptions(threshold=threshold)
    )
    assert screen and screen.lengths
    fewest, most = screen.lengths
    is_within = fewest <= other <= most
    theirs = " ".join(text.split()[:other])
    similarity = lcs(normal_words(mine), normal_words(theirs))
    assert is_within or (similarity < threshold and similarity < REARRANGED)
    assert not is_within or similarity >= min(threshold, REARRANGED) - 1e-6


def test_words_are_no_bound_where_they_are_counted_otherwise() -> None:
    text = "one two three four five six seven eight nine ten"
    for recipe, measure in ((DEFAULT_V1, "lcs"), (DEFAULT_V2, "jaccard")):
        screen = _prefilter(fingerprint(text, recipe), recipe, SimilarOptions(measure=measure))
        assert screen and screen.lengths is None
    assert _prefilter(fingerprint("one", DEFAULT_V2), DEFAULT_V2, SimilarOptions()) is None
