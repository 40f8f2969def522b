"""From `default_v2` to `default_v3`: a SimHash and its keys are added, everything else stays."""

from dataclasses import replace

from sample_rows import row

from indexer.fingerprinting.fingerprint import fingerprint, fingerprint_rows
from indexer.grouping.group import group
from indexer.jobs.reindex import reindex
from indexer.recipe import DEFAULT_V2, DEFAULT_V3
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
