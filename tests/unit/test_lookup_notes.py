"""What a look-up says of the near duplicates that its keys may miss."""

import pytest
from sample_library import library, rows, sentence

from indexer.recipe import DEFAULT_V1, DEFAULT_V2, Recipe
from indexer.searching.similar import SimilarOptions, similar

EXPECTED = "are expected to find {} of the pairs at {} {:g}, and more of those above"


@pytest.mark.parametrize(
    ("recipe", "measure", "threshold", "share"),
    [
        (DEFAULT_V1, "lcs", 0.8, "94.8%"),
        (DEFAULT_V1, "lcs", 0.9, None),
        (DEFAULT_V1, "jaccard", 0.8, None),
        (DEFAULT_V1, "jaccard", 0.7, "92.8%"),
        (DEFAULT_V2, "lcs", 0.8, None),
        (DEFAULT_V2, "lcs", 0.7, "88.0%"),
        (DEFAULT_V1, "hamming", 0.5, None),
    ],
)
def test_a_note_names_the_recall_of_the_keys(
    recipe: Recipe, measure: str, threshold: float, share: str | None
) -> None:
    store = library(rows({"a": sentence(0), "b": sentence(1)}, recipe), recipe)
    result = similar(store, id="a", options=SimilarOptions(threshold, measure))
    expected = share and f"({recipe.name}) {EXPECTED.format(share, measure, threshold)}"
    assert [note for note in result.notes if "expected" in note] == (
        [f"the keys of the index {expected}"] if expected else []
    )


def test_a_note_says_that_keys_may_miss_what_resembles_a_short_text() -> None:
    texts = {"a": "the ferry leaves at eight", "b": "the ferry leaves at nine", "c": sentence(1)}
    store = library(rows(texts, DEFAULT_V2), DEFAULT_V2)
    noted = {
        (id, measure): any(
            "fewer than 20 words" in note
            for note in similar(store, id=id, options=SimilarOptions(0.8, measure)).notes
        )
        for id in "ac"
        for measure in ("lcs", "jaccard")
    }
    assert [key for key, has_note in noted.items() if has_note] == [("a", "lcs")]
