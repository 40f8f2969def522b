"""The store that CONTRIBUTING.md says to copy, by the contract of what it can do."""

import pytest
from memory_store import MemoryStore

from indexer.errors import IndexMissing, RecipeMismatch
from indexer.model import Query
from indexer.recipe import DEFAULT, DEFAULT_V1
from indexer.stores.base import Store
from tests.contract.test_candidates import (
    test_a_hot_key_is_not_searched_but_reported,  # noqa: F401
    test_a_share_of_the_rows_decides_above_the_floor,  # noqa: F401
    test_bands_and_blocks_of_one_spelling_are_different_keys,  # noqa: F401
    test_candidates_share_as_many_keys_as_asked_for_and_hot_keys_count_as_shared,  # noqa: F401
    test_many_lookups_at_once_find_the_same_as_each_alone,  # noqa: F401
    test_order_and_set_are_those_of_counting,  # noqa: F401
)
from tests.contract.test_rows import (
    test_a_row_replaces_the_one_with_its_id,  # noqa: F401
    test_any_character_comes_back,  # noqa: F401
    test_deleting,  # noqa: F401
    test_every_field_comes_back,  # noqa: F401
    test_of_two_rows_with_one_id_the_last_wins,  # noqa: F401
    test_what_no_store_holds_is_refused_with_a_reason_and_stops_nothing_else,  # noqa: F401
)
from tests.sample_rows import row


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore("memory://rows")
    store.prepare(DEFAULT)
    return store


def test_it_is_a_store_that_must_be_prepared(store: Store) -> None:
    store.prepare(DEFAULT)
    with pytest.raises(RecipeMismatch):
        store.prepare(DEFAULT_V1)
    with pytest.raises(IndexMissing):
        MemoryStore("memory://rows").counts()


def test_a_search_ranks_by_words(store: Store) -> None:
    store.write([row("b", text="the ferry"), row("a", text="the quay"), row("c", text="ferry")])
    ranking = store.search(Query("Ferry the"))
    assert (ranking.total, [hit.id for hit in ranking.hits]) == (3, ["b", "a", "c"])
    assert [hit.id for hit in store.search(Query("")).hits] == ["a", "b", "c"]
    assert [stored.id for stored in store.scan("/library")] == ["a", "b", "c"]
