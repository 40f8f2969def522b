"""Copies that arrive before and after `group`, however they get their keys: one provisional family
of one text, and from the next `group` on that of the group.
"""

import pytest
from pipelines import BREAD, FERRY, bulk, good, shown, sources

from indexer.fingerprinting.fingerprint import lengthen
from indexer.grouping.group import group
from indexer.jobs.index import IndexOptions, index
from indexer.jobs.reindex import reindex
from indexer.model import EmbeddedFile, pack_embedded
from indexer.recipe import DEFAULT_V1
from indexer.searching.search import SearchOptions, search

pytestmark = pytest.mark.engines


def send(server, name, ids, document, pipeline=""):
    """Send copies with these ids; None lets the engine give one."""
    for id in ids:
        action = {"index": {} if id is None else {"_id": id}}
        bulk(server, name, [], action, document, pipeline=pipeline)


def test_copies_have_one_family_before_and_after_group(installed):
    store, server, name = installed
    send(server, name, [None, None, "a", "b"], {"text": FERRY})
    send(server, name, ["c"], {"text": BREAD})
    assert shown(server, name) == 2
    group(store)
    known = sources(server, name)
    assert known["a"]["near_family"] in known and shown(server, name) == 2

    send(server, name, [None, None, "d", "e"], {"text": FERRY.upper()})
    send(server, name, [None, "f"], {"text": FERRY}, pipeline="_none")
    read = IndexOptions(family_threshold=0.9)
    assert not index([store.url], store, read).failed
    stored = sources(server, name)
    assert all(stored[id]["near_family"] == known[id]["near_family"] for id in known)
    late = {id: source for id, source in stored.items() if id not in known}
    digest = known["a"]["near_exact"]
    assert {source["near_exact"] for source in late.values()} == {digest}
    assert {source["near_family"] for source in late.values()} == {f"x:{digest}"}
    assert all(source["near_provisional"] for source in late.values())
    assert (shown(server, name), shown(server, name, "near_exact")) == (3, 2)
    hits = search(store, "ferry", SearchOptions(fold="live")).hits
    assert [len(hit.folded) for hit in hits] == [9]

    group(store)
    stored = sources(server, name)
    families = {source["near_family"] for source in stored.values()}
    assert len(families) == 2 and families <= stored.keys()
    assert (shown(server, name), stored["c"]["near_family"]) == (2, "c")


def test_group_gives_families_of_earlier_forms_the_id_of_the_principal(installed):
    store, server, name = installed
    send(server, name, ["a", "b", "c"], {"text": FERRY})
    digest = sources(server, name)["a"]["near_exact"]
    for id, family in {"a": f"x:{lengthen(digest)}", "b": "b"}.items():
        good("POST", f"{server}/{name}/_update/{id}", {"doc": {"near_family": family}})
    good("POST", f"{server}/{name}/_refresh")
    group(store)
    assert len({source["near_family"] for source in sources(server, name).values()}) == 1
    assert shown(server, name) == 1


def test_texts_that_were_cut_or_hold_other_files_share_no_family(installed):
    _, server, name = installed
    scans = [pack_embedded([EmbeddedFile("picture", "scan.png", digit * 64)]) for digit in "0011"]
    send(server, name, ["cut", "later cut", None], {"text": FERRY, "near_status": "truncated"})
    for number, files in enumerate(scans):
        id = f"file {number}" if number else None
        send(server, name, [id], {"text": FERRY, "near_embedded": files})
    send(server, name, ["text"], {"text": FERRY})
    send(server, name, ["empty", "also empty", None], {"text": ""})
    families = [source["near_family"] for source in sources(server, name).values()]
    assert all(family.startswith("x:") for family in families)
    assert len(set(families)) == 3 + 2 + 1 + 3
    digests = {
        source["near_family"].removeprefix("x:") == source["near_exact"]
        for source in sources(server, name).values()
        if source["near_status"] == "complete"
    }
    assert digests == {True}


def test_a_principal_that_is_sent_again_cut_leaves_its_group(installed):
    store, server, name = installed
    send(server, name, ["a", "b"], {"text": FERRY})
    group(store)
    (principal,) = {source["near_family"] for source in sources(server, name).values()}
    send(server, name, [principal], {"text": BREAD, "near_status": "truncated"})
    families = [source["near_family"] for source in sources(server, name).values()]
    assert len(set(families)) == 2


def test_reindex_with_another_recipe_gives_copies_the_family_of_new_ones(installed):
    store, server, name = installed
    send(server, name, [None, "a"], {"text": f"{FERRY} 500 €"})
    reindex(store, DEFAULT_V1)
    send(server, name, [None, "b"], {"text": f"{FERRY} 500 €"})
    assert shown(server, name) == 1
