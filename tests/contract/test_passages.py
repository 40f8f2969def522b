"""The passages of a store, the same in all of them."""

import random

import pytest
from sample_library import rows

from indexer.errors import StoreError, UsageError
from indexer.grouping.group import group
from indexer.grouping.passages import PassagesOptions, passages

DRAW = random.Random(1)
NOTICE = "This message is confidential. " + " ".join(f"n{DRAW.randrange(99)}" for _ in range(40))


def body(number: int) -> str:
    """Return 80 words in an order that no other text has."""
    draw = random.Random(number)
    return " ".join(f"w{draw.randrange(10**6)}" for _ in range(80))


def test_passages_name_their_documents_and_where_they_stand(store):
    texts = {f"n{number}": f"{body(number)}\n\n{NOTICE}" for number in range(6)}
    texts |= {"copy": texts["n0"], "other": body(10)}
    assert store.write(rows(texts)) == [None] * len(texts)
    store.refresh()
    group(store)
    [passage] = passages(store)
    assert (passage.text, passage.words) == (NOTICE, 44)
    assert [place.id for place in passage.places] == ["copy", *(f"n{n}" for n in range(6))]
    assert (passage.families, passage.folders, passage.where) == (6, 1, "anywhere")
    assert all(place.position == pytest.approx(80 / 124) for place in passage.places)
    assert len(list(passages(store, PassagesOptions(least=6, words=44)))) == 1
    assert list(passages(store, PassagesOptions(least=7))) == []
    assert list(passages(store, PassagesOptions(words=45))) == []


def test_a_passage_of_one_family_alone_is_none(store):
    assert store.write(rows({f"n{number}": body(1) for number in range(6)})) == [None] * 6
    store.refresh()
    group(store)
    assert list(passages(store, PassagesOptions(least=2))) == []


def test_passages_of_an_empty_store(store):
    assert list(passages(store)) == []


@pytest.mark.parametrize("options", [{"least": 1}, {"words": 7}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(UsageError):
        PassagesOptions(**options)


def test_a_store_without_an_index_is_an_error(tmp_path):
    from indexer.stores import open_store

    with pytest.raises(StoreError):
        list(passages(open_store(f"sqlite:///{tmp_path}/none.db")))
