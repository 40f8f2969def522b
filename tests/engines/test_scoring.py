"""Scores by sketch: the stored scripts inside an engine give the numbers that the client
computes.
"""

import base64
import secrets

import numpy as np
import pytest
from pipelines import call, good
from sample_rows import row

from indexer.comparing.measures import ComparedText, measure_pair
from indexer.fingerprinting.keys import pack_slots, signed64, unpack_slots
from indexer.jobs.install import install, uninstall
from indexer.recipe import DEFAULT_V1, recipe_named
from indexer.stores import open_store

ROWS = 400


@pytest.fixture(scope="module")
def library(opensearch_url):
    """An installed index of rows whose sketches agree with a query in every number of slots and
    bits, and two without one.
    """
    index = f"nearfold-test-{secrets.token_hex(6)}"
    store = open_store(f"opensearch://{opensearch_url.partition('://')[2]}/{index}?replicas=0")
    install(store, DEFAULT_V1)
    store.prepare(DEFAULT_V1)
    rows = [*sketches(), v1_row("none", text=""), v1_row("simhash alone", simhash=3)]
    assert store.write(rows) == [None] * len(rows)
    store.refresh()
    yield f"{opensearch_url}/{index}", rows
    call("DELETE", f"{opensearch_url}/{index}")
    uninstall(store)
    store.close()


def v1_row(id, **fields):
    return row(id, recipe=DEFAULT_V1.id, **fields)


def sketches():
    chance = np.random.default_rng(17)
    query_slots, bits = (
        chance.integers(0, 2**32, 128, dtype=np.uint32),
        int(chance.integers(0, 2**63)) | 1 << 63,
    )
    for place in range(ROWS):
        slots = query_slots.copy()
        changed = chance.permutation(128)[: place % 129]
        slots[changed] ^= np.uint32(1) << chance.integers(0, 32, len(changed), dtype=np.uint32)
        flipped = sum(1 << int(bit) for bit in chance.permutation(64)[: place % 65])
        yield v1_row(f"{place:03}", text="", minhash=pack_slots(slots), simhash=bits ^ flipped)


def side(row):
    return ComparedText(
        "", DEFAULT_V1, unpack_slots(row.minhash) if row.minhash else None, row.simhash
    )


def scored(script, params):
    return {
        "script_score": {"query": {"match_all": {}}, "script": {"id": script, "params": params}}
    }


def scores(url, body):
    answer = good("POST", f"{url}/_search", {"size": 1_000, "_source": False, **body})
    return {hit["_id"]: hit["_score"] for hit in answer["hits"]["hits"]}


@pytest.mark.parametrize("query_place", [0, 17, 128, ROWS - 1])
def test_engine_and_client_give_the_same_numbers_bit_for_bit(library, query_place):
    url, rows = library
    query = rows[query_place]
    minhash = {"minhash": base64.b64encode(query.minhash).decode()}
    agreement = scores(url, {"query": scored("nearfold-minhash-v1", minhash)})
    distance = scores(
        url, {"query": scored("nearfold-simhash-v1", {"simhash": signed64(query.simhash)})}
    )
    assert len(agreement) == len(distance) == len(rows)
    for library_row in rows[:ROWS]:
        assert (
            agreement[library_row.id]
            == measure_pair("estimate", side(query), side(library_row)).similarity
        )
        assert (
            distance[library_row.id]
            == measure_pair("hamming", side(query), side(library_row)).similarity
        )
    assert agreement["none"] == distance["none"] == agreement["simhash alone"] == 0.0
    assert len(set(agreement.values())) > (100 if query_place == 0 else 8)


def test_a_window_is_rescored_and_the_rest_stays_below(library):
    url, rows = library
    script = scored("nearfold-minhash-v1", {"minhash": base64.b64encode(rows[0].minhash).decode()})
    rescore = {"rescore_query": script, "query_weight": 0, "rescore_query_weight": 1}
    body = {
        "query": {"match_all": {}},
        "sort": ["_score"],
        "rescore": {"window_size": 1_000, "query": rescore},
    }
    by_id = scores(url, body)
    assert list(by_id.values()) == sorted(by_id.values(), reverse=True)
    assert (next(iter(by_id)), by_id["000"], by_id["001"]) == ("000", 1.0, 127 / 128)


def test_a_sketch_of_another_length_is_refused_with_both_lengths(library):
    status, answer = call(
        "POST",
        f"{library[0]}/_search",
        {"query": scored("nearfold-minhash-v1", {"minhash": "AAAA"})},
    )
    assert status == 400
    assert "params.minhash has 3 bytes, near_minhash 512" in str(answer)


def test_shorter_simhashes_are_measured_by_their_own_bits(library):
    url, rows = library
    by_id = scores(
        url,
        {
            "query": scored(
                "nearfold-simhash-v1", {"simhash": signed64(rows[0].simhash), "bits": 128}
            )
        },
    )
    assert by_id["016"] == 1 - 16 / 128


def test_long_bits_are_ranked_by_their_distance(library, opensearch_url):
    recipe = recipe_named("signature-study:topsig:1024")
    index = f"nearfold-test-{secrets.token_hex(6)}"
    store = open_store(f"opensearch://{opensearch_url.partition('://')[2]}/{index}?replicas=0")
    store.prepare(recipe)
    first = int.from_bytes(np.random.default_rng(3).bytes(128), "big")
    sketches = {f"{place:04}": first ^ (1 << place) - 1 for place in range(0, 1025, 64)}
    rows = [
        row(id, recipe=recipe.id, text="", minhash=bits.to_bytes(128, "big"))
        for id, bits in sketches.items()
    ]
    assert store.write([*rows, row("none", recipe=recipe.id, text="")]) == [None] * 18
    store.refresh()
    sketch = {"sketch": base64.b64encode(first.to_bytes(128, "big")).decode()}
    query = scored("nearfold-bits-v1", sketch)
    by_id = scores(f"{opensearch_url}/{index}", {"query": query})
    assert by_id == {**{id: 1 - int(id) / 1024 for id in sketches}, "none": 0.0}
    assert list(by_id)[:17] == sorted(sketches)
    call("DELETE", f"{opensearch_url}/{index}")
    store.close()
