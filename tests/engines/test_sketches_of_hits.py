"""Folded searches that read sketches of hits, of documents of other programs."""

from pipelines import call, store_url
from sample_rows import row

from indexer.fingerprinting.fingerprint import fingerprint_rows
from indexer.recipe import DEFAULT
from indexer.searching import search as searching
from indexer.searching.search import search


def test_ids_that_no_sketch_names_come_with_the_hits(engine, server, index, open_at, monkeypatch):
    """Documents of other programs may lack `near_id`."""
    store = open_at(f"{store_url(engine, server, index)}?shards=2&replicas=0")
    store.prepare(DEFAULT)
    texts = [" ".join(f"w{place * number % 97}" for number in range(1, 40)) for place in range(200)]
    rows = [row(f"{place}", text=f"common {text}") for place, text in enumerate(texts)]
    assert not any(store.write(fingerprint_rows(rows, DEFAULT)))
    store.refresh()
    script = {"script": {"source": "ctx._source.remove('near_id')"}}
    path = f"{server}/{index}/_update_by_query?refresh=true&pipeline=_none&conflicts=proceed"
    assert call("POST", path, script)[0] == 200
    page = search(store, "common")
    monkeypatch.setattr(searching, "_first_hits", lambda *_: 0)
    assert {hit.id for hit in page.hits} == {hit.id for hit in search(store, "common").hits}
