"""No pair of texts is measured twice in one grouping."""

from collections import Counter

import pytest
from invoices import invoices
from sample_library import library, rows

from indexer.comparing.criteria import Criteria
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.verification import Verifier


@pytest.mark.parametrize("clusters", [None, 0.95])
@pytest.mark.parametrize("numbers", [None, "distinguish"])
def test_a_pair_is_decided_once(monkeypatch, numbers, clusters):
    asked = Counter()
    accept = Verifier._accept

    def counted(self, pairs):
        asked.update(frozenset(pair) for pair in pairs)
        return accept(self, pairs)

    monkeypatch.setattr(Verifier, "_accept", counted)
    texts = {f"{place:03}": text for place, text in enumerate(invoices(30))}
    options = GroupOptions(criteria=Criteria(numbers), cluster_threshold=clusters)
    group(library(rows(texts)), options)
    assert asked and set(asked.values()) == {1}
