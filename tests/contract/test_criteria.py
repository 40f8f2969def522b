"""Rules on fields hold wherever pairs are decided, the same on every store."""

from dataclasses import replace

import pytest
from sample_library import edited, rows, sentence

from indexer.comparing.criteria import Criteria, parse_windows
from indexer.errors import UsageError
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions, match
from indexer.searching.search import SearchOptions, search
from indexer.searching.similar import SimilarOptions, similar

DAY = 24 * 3600 * 1000
FIELDS = {
    "a": {"metadata": {"case": "X", "sent": "2024-05-01"}, "modified": 0, "size": 100},
    "b": {"metadata": {"case": "X", "sent": "2024-05-07T12:00:00Z"}, "modified": 6 * DAY},
    "c": {"metadata": {"case": "Y", "sent": "2024-05-09"}, "modified": 7 * DAY, "size": 140},
    "d": {"metadata": {"case": "Y", "sent": "last week"}, "modified": None, "size": 141},
    "e": {"labels": ("web",), "size": 1000, "modified": 400 * DAY},
}
PAIRS = [
    ({"same": ("metadata.case",)}, ["ab", "cd"]),
    ({"differ": ("metadata.case",)}, ["ac", "ad", "bc", "bd"]),
    ({"same": ("content_type",), "differ": ("metadata.case",)}, ["ac", "ad", "bc", "bd"]),
    ({"window": parse_windows(["modified=7d"])}, ["ab", "ac", "bc"]),
    ({"window": parse_windows(["metadata.sent=1w"])}, ["ab", "bc"]),
    ({"window": parse_windows(["size=40"])}, ["ab", "ac", "bc", "bd", "cd"]),
    ({"same": ("metadata.case",), "window": parse_windows(["modified=6d"])}, ["ab"]),
    ({"same": ("labels",)}, []),
]


@pytest.fixture
def library(store):
    """Return a store of near duplicates; two of them, a and b, have the same text."""
    text = sentence(1, words=60)
    texts = {"a": text, "b": text, "c": edited(text, 1), "d": edited(text, 2), "e": text}
    documents = [replace(row, **{"size": 101, **FIELDS[row.id]}, title="") for row in rows(texts)]
    assert store.write(documents) == [None] * 5
    store.refresh()
    return store


def alike(pairs):
    """Return pairs in order."""
    return sorted("".join(sorted(pair)) for pair in pairs)


@pytest.mark.long
@pytest.mark.parametrize(("rules", "expected"), PAIRS, ids=str)
def test_pairs_that_break_a_rule_are_no_near_duplicates(library, rules, expected):
    criteria = Criteria(**rules)
    pairs = match(library, MatchOptions(0.7, criteria=criteria))
    assert alike(pair.a + pair.b for pair in pairs) == alike(expected)
    for id in FIELDS:
        found = similar(library, options=SimilarOptions(0.7, criteria=criteria), id=id).matches
        others = {pair.replace(id, "") for pair in expected if id in pair}
        assert {hit.id for hit in found} == others


def test_a_look_up_says_how_many_the_conditions_left_out(library):
    options = SimilarOptions(0.7, criteria=Criteria(require=(("resemblance", 0.97),)))
    answer = similar(library, options=options, id="a")
    assert {hit.id for hit in answer.matches} == {"b", "e"}
    left_out = "the conditions left out 2 documents at the threshold or above"
    assert left_out in answer.notes
    by_field = SimilarOptions(0.7, criteria=Criteria(same=("metadata.case",)))
    answer = similar(library, options=by_field, id="a")
    assert {hit.id for hit in answer.matches} == {"b"}
    assert "the conditions left out 3 documents at the threshold or above" in answer.notes
    limited = similar(library, options=replace(options, limit=1), id="a")
    assert len(limited.matches) == 1
    assert not [note for note in limited.notes if "left out" in note]


def test_families_and_folded_hits_keep_the_rules(library):
    criteria = Criteria(same=("metadata.case",))
    group(library, GroupOptions(0.7, criteria=criteria))
    library.refresh()
    families = {row.id: row.family for row in library.scan()}
    assert families == {"a": "a", "b": "a", "c": "c", "d": "c", "e": "e"}
    page = search(library, "", SearchOptions(threshold=0.7, sort="path", criteria=criteria))
    folded = {hit.id: [member.id for member in hit.folded] for hit in page.hits}
    assert folded == {"a": ["b"], "c": ["d"], "e": []}


def test_a_field_without_values_is_refused(library):
    criteria = Criteria(same=("metadata.cse",))
    for run, options in ((match, MatchOptions), (group, GroupOptions)):
        with pytest.raises(UsageError, match=r"no document has a value of metadata\.cse"):
            run(library, options(criteria=criteria))
    options = SimilarOptions(criteria=Criteria(same=("metadata.case",)))
    [note] = similar(library, options=options, id="e").notes
    assert "no value of metadata.case" in note
    with pytest.raises(UsageError, match="--id"):
        similar(library, "a text alone", options)


def test_a_field_cannot_be_the_same_and_differ():
    with pytest.raises(UsageError, match="no pair can have the same path and different ones"):
        Criteria(same=("size", "path"), differ=("path",))


def test_other_fields_and_windows_are_refused():
    for wrong in ({"same": ("author",)}, {"differ": ("near_exact",)}, {"same": ("metadata.",)}):
        with pytest.raises(UsageError, match=r"metadata\.NAME"):
            Criteria(**wrong)
    for wrong, advice in (
        ("modified", "FIELD=DISTANCE"),
        ("modified=7", "unit"),
        ("modified=7x", "FIELD=DISTANCE"),
        ("size=7d", "leave out the unit"),
        ("title=7d", "neither"),
        ("labels=1", "neither"),
    ):
        with pytest.raises(UsageError, match=advice):
            parse_windows([wrong])
