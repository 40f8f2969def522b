"""Three nodes with replicas: one is killed while documents are written, and one while they are
searched; nothing is lost.
"""

import threading

import pytest
from pipelines import good
from sample_rows import band, row
from servers import choosing
from servers.cluster import Cluster

from indexer.model import Query
from indexer.recipe import DEFAULT
from indexer.stores import open_store

pytestmark = pytest.mark.engines
BATCHES, BATCH = 40, 25


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch"])
def cluster(request):
    with choosing.running(lambda: Cluster(request.param)) as running:
        yield running


@pytest.mark.slow
def test_a_node_is_killed_while_indexing_and_another_while_searching(cluster):
    store = open_store(f"{cluster.kind}://{cluster.hosts}/papers?shards=3&replicas=2")
    store.prepare(DEFAULT)
    good("GET", f"{cluster.nodes[0].url}/_cluster/health/papers?wait_for_status=green&timeout=60s")
    acknowledged = indexed_while_killing(store, cluster.nodes[0])
    assert len(acknowledged) == BATCHES * BATCH  # nothing was refused either
    store.refresh()
    assert {row.id for row in store.scan()} == acknowledged

    cluster.nodes[0].start()
    good("GET", f"{cluster.nodes[1].url}/_cluster/health/papers?wait_for_status=green&timeout=120s")
    counts = searched_while_killing(store, cluster.nodes[1])
    assert set(counts) == {len(acknowledged)}
    assert len(counts) > 20
    assert {row.id for row in store.scan()} == acknowledged
    assert store.get(["b0-0"])["b0-0"].id == "b0-0"
    store.close()


def indexed_while_killing(store, node):
    """Return the ids that the store acknowledged while this node was killed."""
    acknowledged = set()
    killer = threading.Thread(target=node.kill)
    for number in range(BATCHES):
        if number == BATCHES // 4:
            killer.start()
        rows = [
            row(f"b{number}-{place}", text=f"fox {number}", bands=(band(0, 1),))
            for place in range(BATCH)
        ]
        replies = store.write(rows)
        acknowledged |= {
            stored.id for stored, refused in zip(rows, replies, strict=True) if refused is None
        }
    killer.join()
    return acknowledged


def searched_while_killing(store, node):
    """Return how many documents each search found while this node was killed; every look-up and
    search must be answered.
    """
    killer = threading.Thread(target=node.kill)
    counts, begun = [], [store.search(Query("fox")) for _ in range(6)]
    for number in range(40):
        if number == 10:
            killer.start()
        ranking = store.search(Query("fox"))
        assert len(list(ranking.hits)) == ranking.total
        counts.append(ranking.total)
        assert len(store.candidates([([band(0, 1)], [])], 10)[0].found) == 10
    killer.join()
    return [*counts, *(len(list(ranking.hits)) for ranking in begun)]
