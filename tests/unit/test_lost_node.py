"""Answers of a cluster that has just lost a node, as OpenSearch 3.8 gave them: they are no answer
yet, in a search as in a job.
"""

import pytest

from indexer.cli.exit_codes import EXIT_STOPPED, exit_code_of
from indexer.errors import StoreError, StoreNotReady, StoreStopped
from indexer.stores.engine import requests
from indexer.stores.engine.bulk import Operation, Sender
from indexer.stores.engine.opensearch import DIALECT
from indexer.stores.engine.queries import IndexQueries
from indexer.stores.engine.requests import Requests, Response, RetryPolicy, has_lost_node

GONE = {
    "type": "node_not_connected_exception",
    "reason": "[n1][127.0.0.1:22853] Node not connected",
}


def disconnected(action):
    reason = f"[n2][127.0.0.1:25059][{action}] disconnected"
    cause = {"type": "node_disconnected_exception", "reason": reason}
    return {"root_cause": [cause], **cause}


ANSWERS = {
    "a search": (500, {"error": {"root_cause": [GONE], **GONE}, "status": 500}),
    "a snapshot": (
        500,
        {
            "error": {
                "root_cause": [GONE, {"type": "rejected_execution_exception", "reason": "Trying"}],
                "type": "search_phase_execution_exception",
                "reason": "Partial shards failure",
                "phase": "create_pit",
                "grouped": True,
                "failed_shards": [{"shard": 2, "index": "p", "node": "sn97", "reason": GONE}],
                "caused_by": GONE,
            },
            "status": 500,
        },
    ),
    "the search of a snapshot": (
        500,
        {"error": disconnected("indices:data/read/search[update_context]"), "status": 500},
    ),
    "some of many documents": (
        200,
        {
            "docs": [
                {"_index": "p", "_id": "1", "found": True, "_source": {}},
                {"_index": "p", "_id": "2", "error": disconnected("indices:data/read/mget[shard]")},
            ]
        },
    ),
    "the statistics of some shards": (
        200,
        {
            "_shards": {
                "total": 12,
                "successful": 7,
                "failed": 1,
                "failures": [
                    {
                        "shard": 0,
                        "index": "p",
                        "status": "INTERNAL_SERVER_ERROR",
                        "reason": {
                            "type": "failed_node_exception",
                            "reason": "Failed node [sY--xJQtQTuevbxYp8Av_A]",
                            "caused_by": disconnected("indices:monitor/stats[n]"),
                        },
                    }
                ],
            }
        },
    ),
}
HARMLESS = (
    (200, {"_shards": {"total": 2, "successful": 1, "failed": 0}, "hits": {}}),
    (200, {"docs": [{"_id": "1", "found": False}]}),
    (404, {"error": {"type": "index_not_found_exception", "reason": "no such index [p]"}}),
    (400, {"error": {"type": "parsing_exception", "reason": "Node not connected"}}),
    (500, {"error": "Node not connected"}),
    (200, None),
)


class Cluster:
    """A link that gives these answers in turn, and then a good one for ever."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = 0

    def request(self, *_):
        self.requests += 1
        return Response(*(self.answers.pop(0) if self.answers else (200, {"took": 1})))


@pytest.fixture
def pauses(monkeypatch):
    """The pauses that were made, in seconds."""
    slept = []
    policy = RetryPolicy(sleep=slept.append)
    monkeypatch.setattr(requests, "RetryPolicy", lambda: policy)
    return slept


@pytest.mark.parametrize("what", ANSWERS)
@pytest.mark.parametrize("is_job", [False, True])
def test_a_request_waits_until_the_shards_of_a_lost_node_are_elsewhere(what, is_job, pauses):
    cluster = Cluster(*[ANSWERS[what]] * 10)
    requests = Requests(cluster, "opensearch://x/p")
    answer = (requests.patient() if is_job else requests).call("POST", "p/_search", {})
    assert answer == {"took": 1}
    assert cluster.requests == 11
    assert 35 < sum(pauses) < 90


@pytest.mark.parametrize("what", ANSWERS)
def test_it_gives_up_in_the_end_with_the_exit_code_of_a_job_that_can_be_resumed(what, pauses):
    cluster = Cluster(*[ANSWERS[what]] * 99)
    with pytest.raises(StoreStopped, match="lost a node") as stopped:
        Requests(cluster, "opensearch://x/p").call("POST", "p/_search", {})
    assert exit_code_of(stopped.value) == EXIT_STOPPED
    assert cluster.requests == 11


def test_a_search_that_was_read_does_not_fail_because_its_snapshot_cannot_be_closed():
    class Gone(Cluster):
        def request(self, method, *rest):
            if method == "DELETE":
                raise StoreNotReady(url="opensearch://x/p", reason="Connection refused")
            return super().request(method, *rest)

    page = {"hits": {"hits": []}}
    link = Gone((200, {"pit_id": "snapshot"}), (200, page))
    queries = IndexQueries(Requests(link, "opensearch://x/p"), DIALECT, "p")
    assert [answer["hits"]["hits"] for answer in queries.pages({"size": 10, "sort": []})] == [[]]


@pytest.mark.parametrize(("status", "body"), HARMLESS)
def test_other_answers_are_not_taken_for_a_lost_node(status, body, pauses):
    assert not has_lost_node(Response(status, body))
    cluster = Cluster((status, body))
    try:
        Requests(cluster, "opensearch://x/p").call("GET", "p/_search")
    except StoreError as error:
        assert not isinstance(error, StoreStopped)
    assert cluster.requests == 1


def test_an_operation_of_a_bulk_that_met_a_lost_node_is_sent_again():
    def items(error):
        status = {"error": error, "status": 404} if error else {"status": 200}
        return Response(200, {"items": [{"index": {"_id": "a", **status}}]})

    answers = [items(disconnected("indices:data/write/bulk[s]")), items(None)]
    sender = Sender(lambda _: answers.pop(0), RetryPolicy(sleep=lambda _: None))
    assert sender.send([Operation("index", "a", {})])["a"].status == 200
    assert answers == []
