"""Look-ups ask an engine for no more than they need; what is remembered is never out of date."""

import json

import pytest
from sample_rows import band, row

from indexer.recipe import DEFAULT
from indexer.review.site import Site
from indexer.searching.search import SearchOptions

pytestmark = pytest.mark.engines


@pytest.fixture
def store(engine, server, stores):
    opened, _ = stores(engine, server)
    opened.prepare(DEFAULT)
    return opened


@pytest.fixture
def searches(store, monkeypatch):
    """The bodies of all searches, as they are sent."""
    sent = []
    request = store.index.link.request

    def record(method, path, body, *others):
        lines = [json.loads(line) for line in (body or b"").splitlines()]
        sent.extend(line for line in lines if "query" in line or "sort" in line)
        return request(method, path, body, *others)

    monkeypatch.setattr(store.index.link, "request", record)
    return sent


def write(store, *rows):
    assert store.write(rows) == [None] * len(rows)
    store.refresh()


def counts(store, *words):
    frequencies = store.vocabulary.frequencies(words)
    return frequencies.documents, *(frequencies.counts[word] for word in words)


def test_keys_are_counted_one_by_one_only_where_many_rows_carry_one(store, searches):
    keys = [band(column, 1) for column in range(4)]
    write(store, *(row(f"{place}", bands=keys[: place + 1], metadata={}) for place in range(3)))
    searches.clear()
    (answer,) = store.candidates([(keys, [])], 10)
    assert (len(answer.found), len(searches)) == (3, 2)
    store.frequent_key_floor, store.frequent_key_fraction = 2, 0.0
    searches.clear()
    (answer,) = store.candidates([(keys, [])], 10)
    assert (answer.capped_keys, len(answer.found)) == ((keys[0],), 2)
    assert len(searches) == 1 + 4 + 1 + 1 + 1


def test_counts_of_words_are_remembered_until_the_index_changes(store, searches):
    write(store, *(row(f"{place}", text="quorum of a few", metadata={}) for place in range(3)))
    assert counts(store, "quorum", "few") == (3, 3, 3)
    searches.clear()
    assert counts(store, "few", "many", "quorum") == (3, 3, 0, 3)
    assert len(searches) == 2 + 1
    write(store, row("1", text="many", metadata={}))
    assert counts(store, "few", "many", "quorum") == (3, 2, 1, 2)
    store.delete(["1"])
    store.refresh()
    assert counts(store, "many", "few") == (2, 0, 2)
    write(store, row("1", text="many", metadata={}))
    assert counts(store, "many", "few") == (3, 1, 2)


def test_counts_of_words_are_remembered_for_a_minute(store, searches, monkeypatch):
    write(store, row("1", text="quorum", metadata={}))
    for minute, asked in ((0, 3), (0, 2), (1, 5), (1, 2)):
        monkeypatch.setattr(
            "indexer.stores.engine.candidates.time.monotonic", lambda at=minute: 60.0 * at
        )
        searches.clear()
        assert counts(store, "quorum") == (1, 1)
        assert len(searches) == asked


def test_pages_of_hits_are_kept_until_a_search_sees_a_change(store, searches):
    write(store, row("1", text="quorum", metadata={}))
    site, options = Site(store), SearchOptions()
    page = site.search("quorum", options)
    searches.clear()
    assert site.search("quorum", options) is page and not searches
    store.write([row("2", text="quorum", metadata={})])
    site.search("quorum", options)  # before the refresh
    store.refresh()
    assert site.search("quorum", options).total == 2
    store.delete(["2"])
    store.refresh()
    assert site.search("quorum", options).total == 1
