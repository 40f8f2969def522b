"""Pairs and families under different memory budgets."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sample_library import edited, library, rows, sentence

from indexer.errors import UsageError
from indexer.grouping import match as pairs
from indexer.grouping.collection import gather
from indexer.grouping.group import Grouping, assign_families, group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions, match
from indexer.grouping.verification import Verifier
from indexer.recipe import DEFAULT
from indexer.system.external_memory import PAGE, MemoryBudget, Names, Records, SpillFiles

texts = st.dictionaries(
    st.text("abcdefghij", min_size=1, max_size=2),
    st.builds(edited, st.integers(0, 3).map(sentence), st.integers(0, 30), st.sampled_from("xyz")),
    max_size=12,
)
LABELS = {name: ["known"] for name in "abcde"}


def narrow():
    """Leave no memory: the shortest buffers, every array in a file."""
    return SpillFiles(0)


def all_of(matched):
    matches = [
        (matched.ids[place], matches_of_document)
        for place, matches_of_document in matched.by_document()
    ]
    return (
        list(matched),
        matches,
        matched.capped,
        matched.candidates,
        matched.copies_left_out,
        list(matched.notes()),
    )


@pytest.mark.long
@given(
    texts,
    st.sampled_from([0.3, 0.8]),
    st.sampled_from([2, 1000]),
    st.sampled_from([None, "known"]),
    st.booleans(),
)
@settings(max_examples=30)
def test_pairs_are_the_same(texts_by_id, threshold, cap, against, all_pairs):
    assume(
        against is None or texts_by_id.keys() & LABELS.keys()
    )  # a label that nobody carries is refused
    store = library(rows(texts_by_id, labels=LABELS))
    options = {"threshold": threshold, "cap": cap, "against": against, "all_pairs": all_pairs}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "memory_budget", lambda _: MemoryBudget())
        expected = all_of(match(store, MatchOptions(**options)))
        patch.setattr(pairs, "memory_budget", lambda _: narrow())
        assert all_of(match(store, MatchOptions(**options))) == expected


@pytest.mark.long
@given(texts, st.sampled_from(["original", "longest", "central"]), st.sampled_from([2, 1000]))
@settings(max_examples=15)
def test_families_are_the_same(texts_by_id, kind, cap):
    store, results = library(rows(texts_by_id)), []
    for budget in (MemoryBudget(), narrow()):
        collection = gather(store.scan(), DEFAULT, len(texts_by_id), budget=budget)
        options = GroupOptions(0.6, principal=kind, cap=cap, cluster_threshold=0.4)
        verifier = Verifier(store, collection, "jaccard")
        results.append(assign_families(Grouping(collection, verifier, options)))
    assert results[0] == results[1]


@pytest.mark.parametrize("job", [match, group])
def test_no_memory_is_refused(job):
    with pytest.raises(UsageError, match="1 MB"):
        job(library([]), memory=0)


def test_records_of_many_pages():
    records, names = Records(narrow()), Names(narrow())
    for place in range(2 * PAGE + 5):
        records.add(bytes([place % 251]) * (place % 7))
        names.add(f"\ud800{place}")
    assert len(records) == len(names) == 2 * PAGE + 5
    for place in (0, PAGE - 1, PAGE, 2 * PAGE, 2 * PAGE + 4):
        assert (
            records[place] == bytes([place % 251]) * (place % 7)
            and names[place] == f"\ud800{place}"
        )
    assert names[-1] == f"\ud800{2 * PAGE + 4}" and names[PAGE : PAGE + 2] == [
        f"\ud800{PAGE}",
        f"\ud800{PAGE + 1}",
    ]
    assert names[np.int32(3)] == "\ud8003"
    with pytest.raises(IndexError):
        names[2 * PAGE + 5]
