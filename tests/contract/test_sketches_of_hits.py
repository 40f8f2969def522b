"""Folded searches that read sketches of hits sooner than their ids and paths."""

import random
from contextlib import closing

import pytest
from sample_rows import row

from indexer.fingerprinting.fingerprint import fingerprint_rows
from indexer.recipe import DEFAULT
from indexer.searching import search as searching
from indexer.searching.search import SearchOptions, search
from indexer.stores import open_store
from indexer.stores.engine.reads import SketchReads
from indexer.stores.sqlite.reads import FileSketches

SOME, EVERY = "common", "common rare"
ENGINES = ("opensearch", "elasticsearch")
KINDS = ["sqlite", *(pytest.param(name, marks=pytest.mark.engines) for name in ENGINES)]


def library(count):
    """Return rows of which some are copies, and others edited copies, of earlier ones."""
    chance = random.Random(1)
    texts = []
    for _ in range(count):
        words = [f"w{chance.randrange(500)}" for _ in range(60)]
        kind = chance.random()
        if texts and kind < 0.4:
            words = chance.choice(texts[-200:]).split()
        if texts and kind < 0.25:
            words[chance.randrange(1, len(words))] = "edited"
        words[0] = "rare" if chance.random() < 0.3 else "common"
        texts.append(" ".join(words))
    rows = [row(f"{place:04}", text=text, title="") for place, text in enumerate(texts)]
    return fingerprint_rows(rows, DEFAULT)


@pytest.fixture
def library_store(kind, url):
    with closing(open_store(f"{url}?shards=2&replicas=0" if kind in ENGINES else url)) as store:
        store.prepare(DEFAULT)
        rows = library(1_300)
        for start in range(0, len(rows), 200):
            assert not any(store.write(rows[start : start + 200]))
        store.refresh()
        yield store


def count_rows(monkeypatch):
    """Return a list to which each read of rows by their sketches adds how many it read, or -1."""
    counts = []

    def count(kind):
        read = kind.rows

        def rows(self, places):
            answer = read(self, places)
            counts.append(-1 if answer is None else len(answer))
            return answer

        monkeypatch.setattr(kind, "rows", rows)

    count(SketchReads)
    count(FileSketches)
    return counts


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_sketches_of_hits_fold_as_whole_hits_do(library_store, monkeypatch):
    store, counts = library_store, count_rows(monkeypatch)
    queries = [(SOME, 10, 1), (EVERY, 10, 1), (EVERY, 3, 4), ("w7 w8", 10, 1), ("w7", 10, 1)]
    queries += [(f"w{number} w{number + 1} common", 5, 2) for number in range(0, 500, 120)]

    def pages():
        return [
            search(store, words, SearchOptions(limit=limit, page=page))
            for words, limit, page in queries
        ]

    by_sketches = pages()
    assert max(counts) > 0
    monkeypatch.setattr(searching, "_first_hits", lambda *_: 0)
    whole = pages()
    for one, other in zip(by_sketches, whole, strict=True):
        assert [(hit.id, hit.folded) for hit in one.hits] == [
            (hit.id, hit.folded) for hit in other.hits
        ]
        assert (one.total, one.relation, one.more) == (other.total, other.relation, other.more)
        assert one.families == other.families or other.relation == "gte"
    assert any(hit.folded for page in whole for hit in page.hits)
    assert {page.relation for page in whole} == {"eq", "gte"}
