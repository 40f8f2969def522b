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


@pytest.mark.parametrize(
    ("recipe", "threshold", "noted"),
    [(DEFAULT_V1, 0.8, ["a"]), (DEFAULT_V2, 0.4, ["a"]), (DEFAULT_V2, 0.8, [])],
)
def test_a_note_says_where_keys_alone_find_what_resembles_a_short_text(
    recipe: Recipe, threshold: float, noted: list[str]
) -> None:
    texts = {"a": "the ferry leaves at eight", "b": "the ferry leaves at nine", "c": sentence(1)}
    store = library(rows(texts, recipe), recipe)
    notes = {
        (id, measure): similar(store, id=id, options=SimilarOptions(threshold, measure)).notes
        for id in "ac"
        for measure in ("lcs", "jaccard")
    }
    assert [
        id
        for (id, measure), sentences in notes.items()
        if any("fewer than 20 words" in sentence for sentence in sentences)
    ] == noted
