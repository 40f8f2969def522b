"""Copies are near duplicates whatever their status, wherever pairs are decided, on every store."""

from dataclasses import replace

import pytest
from sample_library import fill, rows, sentence

from indexer.comparing.criteria import Criteria
from indexer.grouping.group import group
from indexer.grouping.match import MatchOptions, match
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import SimilarOptions, similar
from indexer.wording import format_sameness

TEXTS = {
    "a": "12 34",
    "b": "12  34",  # the same after normalisation
    "c": "",
    "d": "",
    "e": " ",  # empty too, but other bytes
    "f": "hi",
    "g": "Hi",
    "h": sentence(1),
    "i": sentence(1),
}
PAIRS = [("a", "b"), ("c", "d"), ("f", "g"), ("h", "i")]


@pytest.fixture
def library(store):
    return fill(store, rows(TEXTS, cut=frozenset("hi")))


@pytest.mark.long
@pytest.mark.parametrize("measure", ["jaccard", "lcs", "estimate"])
def test_copies_are_similar_to_one(library, measure):
    pairs = list(match(library, MatchOptions(0.9, measure=measure)))
    assert [(pair.a, pair.b, pair.similarity) for pair in pairs] == [(*pair, 1.0) for pair in PAIRS]
    for a, b in PAIRS:
        for id, other in ((a, b), (b, a)):
            options = SimilarOptions(0.9, measure)
            [found] = similar(library, options=options, id=id).matches
            assert (found.id, found.similarity) == (other, 1.0)
    assert similar(library, options=SimilarOptions(measure=measure), id="e").matches == ()


def test_copies_are_one_family_and_one_hit(library):
    page = search(library, "", SearchOptions(sort="path"))
    shown = [
        (hit.id, *[(folded.id, folded.similarity) for folded in hit.folded]) for hit in page.hits
    ]
    assert shown == [
        ("a", ("b", 1.0)),
        ("c", ("d", 1.0)),
        ("e",),
        ("f", ("g", 1.0)),
        ("h", ("i", 1.0)),
    ]
    group(library)
    library.refresh()
    families = {row.id: (row.family, row.principal) for row in library.scan()}
    for a, b in PAIRS:
        assert families[a] == (a, True)
        assert families[b] == (a, False)
    assert families["e"] == ("e", False)


def test_identical_is_said_of_bytes_only(library):
    documents = rows({"x": "so it goes, on and on", "y": "So it goes,  on and on"}, cut={"y"})
    library.write([*documents, replace(documents[0], id="z", path="/z", raw="other")])
    library.refresh()
    cut = "the same words, as far as read; ignored: case, blanks"
    for id, expected in (
        ("f", {"g": "the same words; ignored: case"}),
        ("c", {"d": "identical: the same bytes"}),
        ("x", {"y": cut, "z": "the same text"}),
    ):
        found = similar(library, id=id).matches
        assert {hit.id: format_sameness(hit.same) for hit in found} == expected


def test_copies_meet_the_criteria_too(library):
    texts = {"x": "7 / 8", "y": "7/8"}
    documents = rows(texts, labels={"x": ["web"], "y": ["mail"]})
    library.write([replace(row, metadata={"case": "1"}) for row in documents])
    library.refresh()
    for criteria, expected in (
        (Criteria("distinguish"), []),
        (Criteria(require=(("lcs", 1.0),)), ["y"]),
        (Criteria(same=("metadata.case",)), ["y"]),
        (Criteria(same=("labels",)), []),
    ):
        found = similar(library, options=SimilarOptions(criteria=criteria), id="x").matches
        assert [hit.id for hit in found] == expected
        pairs = match(library, MatchOptions(criteria=criteria))
        assert [pair.b for pair in pairs if pair.a == "x"] == expected
