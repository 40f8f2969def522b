"""From `default_v2` to `default_v3`: a SimHash and its keys are added, everything else stays."""

from dataclasses import replace

import pytest
from sample_rows import row

from indexer.fingerprinting.fingerprint import fingerprint, fingerprint_rows
from indexer.grouping.group import group
from indexer.jobs.index import IndexOptions, index
from indexer.jobs.reindex import reindex
from indexer.recipe import DEFAULT, DEFAULT_V2, DEFAULT_V3
from indexer.searching.similar import SimilarOptions, similar

WORDS = [f"word{number}" for number in range(200)]
ADDED = {"recipe": "", "simhash": None, "blocks": (), "exact": "", "provisional": False}


def test_reindex_adds_bits_and_keys_only(unprepared) -> None:
    store = unprepared
    texts = {
        "long": " ".join(WORDS),
        "near": " ".join([*WORDS[:150], "changed", *WORDS[151:]]),
        "minus": f"-500 {' '.join(WORDS[:90])}",
        "other": "Ferries leave the harbour at eight in the morning, and dogs travel free.",
    }
    store.prepare(DEFAULT_V2)
    rows = [row(id, text=text, labels=("privileged",)) for id, text in texts.items()]
    store.write(fingerprint_rows(rows, DEFAULT_V2))
    store.refresh()
    group(store)
    before = {stored.id: stored for stored in store.scan()}
    assert before["near"].family == before["long"].family
    assert reindex(store, DEFAULT_V3).copied == len(texts)
    assert store.stored_recipe() == DEFAULT_V3
    after = {stored.id: stored for stored in store.scan()}
    assert {id: replace(stored, **ADDED) for id, stored in after.items()} == {
        id: replace(stored, **ADDED) for id, stored in before.items()
    }
    for id, stored in after.items():
        own = fingerprint(texts[id], DEFAULT_V3)
        assert (stored.simhash, stored.blocks) == (own.simhash, own.blocks)
        assert (stored.exact == before[id].exact) == (id != "minus")
    found = similar(store, texts["long"], SimilarOptions(measure="hamming")).matches
    assert {match.id for match in found} >= {"long", "near"}


def test_a_store_keeps_its_recipe_and_a_new_one_gets_the_newest(unprepared, tmp_path) -> None:
    store = unprepared
    (tmp_path / "one.txt").write_text(" ".join(WORDS))
    store.prepare(DEFAULT_V2)
    index(tmp_path, store, IndexOptions())
    (stored,) = store.scan()
    assert store.stored_recipe() == DEFAULT_V2
    assert (stored.recipe, stored.simhash, stored.blocks) == (DEFAULT_V2.id, None, ())
    assert DEFAULT == DEFAULT_V3


def test_a_stopped_reindex_leaves_the_old_rows_and_goes_on(unprepared) -> None:
    store = unprepared
    store.prepare(DEFAULT_V2)
    rows = [row(f"{n:03}", text=f"{' '.join(WORDS)} {n}") for n in range(30)]
    store.write(fingerprint_rows(rows, DEFAULT_V2))
    store.refresh()
    with pytest.raises(KeyboardInterrupt):
        reindex(store, DEFAULT_V3, on_progress=_stop)
    assert store.stored_recipe() == DEFAULT_V2
    assert len(similar(store, id="000", options=SimilarOptions(limit=50)).matches) == 29
    reindex(store, DEFAULT_V3)
    assert {stored.recipe for stored in store.scan()} == {DEFAULT_V3.id}
    assert len(similar(store, id="000", options=SimilarOptions(limit=50)).matches) == 29


def _stop(_: int) -> None:
    raise KeyboardInterrupt
