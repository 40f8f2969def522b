"""The sender against answers that a healthy cluster never gives."""

import json
import threading
import time

import pytest

from indexer.errors import StoreStopped, StoreUnreachable
from indexer.stores.engine.bulk import Operation, Sender, Window
from indexer.stores.engine.requests import Requests, Response, RetryPolicy


class Cluster:
    """Cluster that follows scripted behaviours, then succeeds.

    Records requests and stored items.
    """

    def __init__(self, *script):
        self.script, self.requests, self.stored, self.pauses = list(script), [], {}, []

    def post(self, body):
        lines = [json.loads(line) for line in body.decode().splitlines()]
        operations = []
        while lines:
            ((action, head),) = lines.pop(0).items()
            operations.append((action, head["_id"], None if action == "delete" else lines.pop(0)))
        self.requests.append([name for _, name, _ in operations])
        behave = self.script.pop(0) if self.script else well
        return behave(self, operations)

    def sender(self, **settings):
        return Sender(self.post, RetryPolicy(attempts=3, sleep=self.pauses.append), **settings)

    def send(self, *names, **settings):
        return self.sender(**settings).send(
            [Operation("index", name, {"n": name}) for name in names]
        )


def item(action, name, status, kind=None):
    error = {} if kind is None else {"error": {"type": kind, "reason": f"{kind} of {name}"}}
    return {action: {"_id": name, "status": status, **error}}


def well(cluster, operations):
    cluster.stored.update({name: body for _, name, body in operations})
    return Response(
        200, {"errors": False, "items": [item(action, name, 201) for action, name, _ in operations]}
    )


def status(code, body=None, retry_after=None):
    return lambda cluster, operations: Response(code, body, retry_after)


def failing(kind, code, *bad):
    """Refuse the named items, store the others."""

    def behave(cluster, operations):
        good = [operation for operation in operations if operation[1] not in bad]
        items = well(cluster, good).body["items"]
        items += [item(action, name, code, kind) for action, name, _ in operations if name in bad]
        return Response(200, {"errors": True, "items": items})

    return behave


def silent(cluster, operations):
    raise StoreUnreachable(url="x", reason="connection reset")


def error(kind, code):
    return status(
        code,
        {
            "error": {"type": kind, "reason": kind, "root_cause": [{"type": kind, "reason": kind}]},
            "status": code,
        },
    )


def test_all_is_well():
    cluster = Cluster()
    replies = cluster.send("a", "b")
    assert {name: (reply.status, reply.refused) for name, reply in replies.items()} == {
        "a": (201, None),
        "b": (201, None),
    }
    assert cluster.pauses == []
    assert cluster.send() == {}


def test_requests_are_bounded():
    cluster = Cluster()
    cluster.send(*"abcdefg", max_operations=3)
    assert [len(request) for request in cluster.requests] == [3, 3, 1]
    cluster = Cluster()
    cluster.send("a" * 400, "b" * 400, "c" * 10, max_bytes=1_000)
    assert [len(request) for request in cluster.requests] == [1, 2]


@pytest.mark.parametrize("code", [429, 502, 503, 504])
def test_items_that_may_pass_later_are_sent_again_alone(code):
    cluster = Cluster(
        failing("es_rejected_execution_exception", code, "b", "c"), failing("x", code, "c")
    )
    replies = cluster.send(*"abcd")
    assert cluster.requests == [["a", "b", "c", "d"], ["b", "c"], ["c"]]
    assert all(reply.refused is None for reply in replies.values())
    assert set(cluster.stored) == set("abcd")
    assert len(cluster.pauses) == 2


@pytest.mark.parametrize(
    "behave",
    [
        status(429), status(502, "<html>"), status(503), status(504), silent, status(200),
        status(200, "<html>"),
        status(200, []), status(200, {}), status(200, {"items": None}),
        status(200, {"errors": False, "items": []}),
        status(200, {"items": [None, {}, {"index": 1}, {"index": {"status": "x"}}]}),
        status(404, "not here"), status(408),
        status(500),
    ],
)  # fmt: skip
def test_an_answer_without_items_acknowledges_nothing(behave):
    cluster = Cluster(behave, behave)
    assert set(cluster.send("a", "b")) == {"a", "b"}
    assert cluster.requests == [["a", "b"]] * 3
    assert set(cluster.stored) == {"a", "b"}


def test_items_that_an_answer_does_not_name_are_not_acknowledged():
    def forgets(cluster, operations):
        return Response(
            200, {"errors": False, "items": well(cluster, operations).body["items"][:1]}
        )

    cluster = Cluster(forgets, forgets)
    assert set(cluster.send(*"abc")) == set("abc")
    assert cluster.requests == [["a", "b", "c"], ["b", "c"], ["c"]]


def test_items_are_recognised_by_name_and_not_by_position():
    def shuffled(cluster, operations):
        items = [
            item("index", "b", 201),
            item("index", "stranger", 201),
            item("index", "a", 400, "mapper_parsing_exception"),
        ]
        return Response(200, {"errors": True, "items": items})

    replies = Cluster(shuffled).send("a", "b")
    assert replies["a"].refused == "mapper_parsing_exception of a"
    assert replies["b"].refused is None
    assert set(replies) == {"a", "b"}


def test_the_errors_flag_is_not_trusted():
    def lies(cluster, operations):
        return Response(
            200, {"errors": False, "items": [item("index", "a", 400, "mapper_parsing_exception")]}
        )

    assert Cluster(lies).send("a")["a"].refused == "mapper_parsing_exception of a"


def test_a_refused_item_stops_nothing_else():
    cluster = Cluster(failing("strict_dynamic_mapping_exception", 400, "b"))
    replies = cluster.send(*"abc")
    assert [replies[name].refused for name in "abc"] == [
        None,
        "strict_dynamic_mapping_exception of b",
        None,
    ]
    assert len(cluster.requests) == 1


@pytest.mark.parametrize("code", [413, 400])
def test_a_request_that_is_refused_whole_is_halved_down_to_the_culprit(code):
    def refuses(cluster, operations):
        if any(name == "e" for _, name, _ in operations):
            return Response(code, {"error": {"type": "x", "reason": "the reason"}})
        return well(cluster, operations)

    cluster = Cluster(*[refuses] * 9)
    replies = cluster.send(*"abcdefgh")
    assert ("too large" if code == 413 else "the reason") in replies["e"].refused
    assert set(cluster.stored) == set("abcdfgh")
    assert cluster.requests == [[*"abcdefgh"], [*"abcd"], [*"efgh"], [*"ef"], ["e"], ["f"], [*"gh"]]
    assert cluster.pauses == []


@pytest.mark.parametrize(
    "behave",
    [
        failing("index_not_found_exception", 404, "a", "b"),
        failing("cluster_block_exception", 403, "a"),
        failing("cluster_block_exception", 429, "b"),
        failing("index_closed_exception", 400, "a"),
        failing("security_exception", 403, "a"),
        error("index_not_found_exception", 404),
        error("cluster_block_exception", 429),
        error("cluster_block_exception", 503),
        error("index_closed_exception", 400),
        error("security_exception", 403),
        error("security_exception", 401),
    ],
)
def test_an_error_that_waiting_cannot_cure_stops_at_once(behave):
    cluster = Cluster(behave)
    with pytest.raises(StoreStopped, match="run the same command again"):
        cluster.send("a", "b")
    assert len(cluster.requests) == 1
    assert cluster.pauses == []


@pytest.mark.parametrize(
    "behave",
    [
        status(503),
        silent,
        status(200, "<html>"),
        failing("x", 429, "a"),
        error("circuit_breaking_exception", 429),
    ],
)
def test_retries_have_an_end(behave):
    cluster = Cluster(*[behave] * 50)
    with pytest.raises(StoreStopped, match="accepts no more requests"):
        cluster.send("a")
    assert len(cluster.requests) == 4
    assert len(cluster.pauses) == 3


def test_pauses_grow_with_jitter_and_respect_the_server():
    pauses = []
    policy = RetryPolicy(first=1.0, longest=10.0, sleep=pauses.append)
    for attempt in range(6):
        policy.pause(attempt)
    for bounds, pause in zip(
        [(0.5, 1), (1, 2), (2, 4), (4, 8), (8, 10), (10, 10)], pauses, strict=True
    ):
        assert bounds[0] <= pause <= bounds[1]
    policy.pause(0, "7")
    policy.pause(0, "600")
    policy.pause(0, "Wed, 21 Oct 2026 07:28:00 GMT")
    assert pauses[6:8] == [7, 10]
    assert pauses[8] <= 1


def test_progress_renews_retries():
    names = [f"{place}" for place in range(10)]
    cluster = Cluster(*[failing("x", 429, *names[place + 1 :]) for place in range(9)])
    assert set(cluster.send(*names)) == set(names)
    assert len(cluster.requests) == 10


def test_an_item_on_which_the_server_fails_for_ever_is_refused_and_the_rest_goes_on():
    cluster = Cluster(*[failing("null_pointer_exception", 500, "b")] * 9)
    replies = cluster.send(*"abc")
    assert replies["b"].refused == "null_pointer_exception of b"
    assert set(cluster.stored) == {"a", "c"}
    assert cluster.requests == [["a", "b", "c"], *[["b"]] * 3]


def test_a_version_conflict_is_tried_again():
    cluster = Cluster(failing("version_conflict_engine_exception", 409, "a"))
    assert cluster.send("a")["a"].refused is None


def test_absent_documents_are_an_answer_to_updates_and_deletes():
    def absent(cluster, operations):
        return Response(
            200,
            {
                "items": [
                    item("delete", "a", 404),
                    item("update", "b", 404, "document_missing_exception"),
                ]
            },
        )

    replies = (
        Cluster(absent)
        .sender()
        .send([Operation("delete", "a"), Operation("update", "b", {"doc": {}})])
    )
    assert [(reply.status, reply.refused) for reply in replies.values()] == [
        (404, None),
        (404, None),
    ]


def test_a_request_that_stays_unanswered_is_sent_in_halves_within_the_same_retries():
    """Something on the way breaks off over large requests without a 413."""

    def breaks_off(cluster, operations):
        return silent(cluster, operations) if len(operations) > 2 else well(cluster, operations)

    cluster = Cluster(*[breaks_off] * 99)
    sender = Sender(cluster.post, RetryPolicy(attempts=5, sleep=cluster.pauses.append))
    assert set(sender.send([Operation("index", name, {}) for name in "abcdefgh"])) == set(
        "abcdefgh"
    )
    assert [len(request) for request in cluster.requests[:5]] == [8, 8, 8, 4, 2]
    cluster = Cluster(*[silent] * 99)
    with pytest.raises(StoreStopped):
        cluster.send(*"abcdefgh")
    assert [len(request) for request in cluster.requests] == [8, 8, 8, 4]


def test_items_that_have_to_wait_are_not_sent_in_ever_smaller_requests():
    cluster = Cluster(*[failing("x", 429, *"abcd")] * 3)
    cluster.send(*"abcd")
    assert [len(request) for request in cluster.requests] == [4] * 4


def test_retries_are_bounded_in_time_too():
    seconds = iter(range(0, 9 * 60, 60))
    cluster = Cluster(*[silent] * 99)
    sender = Sender(
        cluster.post,
        RetryPolicy(attempts=99, seconds=200, sleep=lambda _: None, clock=lambda: next(seconds)),
    )
    with pytest.raises(StoreStopped):
        sender.send([Operation("index", "a", {})])
    assert len(cluster.requests) == 4


def test_the_window_halves_once_for_all_that_was_under_way_and_grows_by_one_a_round():
    window = Window(8)
    decreases = window.decreases
    for _ in range(5):
        window.decrease(decreases)
    assert window.size == 4
    for _ in range(9):
        window.decrease(window.decreases)
    assert window.size == 1
    sizes = []
    for _ in range(40):
        window.increase()
        sizes.append(window.size)
    assert sizes[0] == 2
    assert sizes == sorted(sizes)
    assert sizes[-1] == 8
    assert sizes.count(3) >= 3


def test_a_document_that_breaks_every_request_is_refused_while_others_are_stored():
    """Not so when nothing else gets through either: then it may be the cluster."""

    class Others(Window):
        """Requests of other threads, which succeed all the while."""

        def yield_slot(self):
            self.increase()

    def chokes(cluster, operations):
        return (
            silent(cluster, operations)
            if any(name == "c" for _, name, _ in operations)
            else well(cluster, operations)
        )

    cluster = Cluster(*[chokes] * 99)
    replies = cluster.send(*"abcd", window=Others(4))
    assert "connection reset" in replies["c"].refused
    assert set(cluster.stored) == set("abd")
    with pytest.raises(StoreStopped):
        Cluster(*[chokes] * 99).send(*"abcd")
    with pytest.raises(StoreStopped):
        Cluster(*[status(429)] * 99).sender(window=Window(4)).send([Operation("index", "c", {})])


def test_slots_are_taken_in_turn():
    window, order = Window(1), []

    def work(name):
        with window.slot():
            order.append(name)
            if name == "a":
                ready.set()
                while len(window._waiting) < 2:
                    time.sleep(0.001)
                window.yield_slot()
                order.append("a again")

    ready = threading.Event()
    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    threads[0].start()
    ready.wait()
    for thread in threads[1:]:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert order[0] == "a"
    assert order[-1] == "a again"
    assert sorted(order[1:3]) == ["b", "c"]


def test_a_slot_is_released_whatever_happens():
    window = Window(1)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), window.slot():
            raise ZeroDivisionError


def test_lines_are_json_in_utf_8():
    lines = Operation("index", 'a"b\n', {"text": "é\x00\u2028 模\U0001f600"}).lines()
    assert lines.count(b"\n") == 2
    assert [json.loads(line) for line in lines.splitlines()] == [
        {"index": {"_id": 'a"b\n'}},
        {"text": "é\x00\u2028 模\U0001f600"},
    ]
    assert Operation("delete", "a").lines() == b'{"delete":{"_id":"a"}}\n'


@pytest.mark.parametrize("trouble", [silent, status(503), status(429)])
def test_requests_of_a_job_have_longer_deadlines_than_searches(trouble):
    """A node restarts: a question to it fails soon, a job goes on."""

    class Link:
        def __init__(self, script):
            self.script = script

        def request(self, *arguments):
            return (self.script.pop(0) if self.script else status(200, {}))(None, None)

    pauses = []
    policy = RetryPolicy(attempts=6, sleep=pauses.append)
    assert Requests(Link([trouble] * 6), "x", policy).call("POST", "x/_mget") == {}
    assert len(pauses) == 6
    with pytest.raises(StoreStopped):
        Requests(Link([trouble] * 7), "x", policy).call("POST", "x/_mget")
    with pytest.raises(StoreUnreachable):
        Requests(Link([silent]), "x").call("POST", "x/_mget")
