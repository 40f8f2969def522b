"""An index as a feed: its documents in the order of the operations that last wrote them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from indexer.errors import StoreStopped
from indexer.stores.engine import search_bodies
from indexer.stores.engine.requests import Requests, RetryPolicy

PAGE = 500
_WHOLE = {"allow_partial_search_results": "false"}
_PATIENCE = RetryPolicy()
_STATES = (
    "indices.*.uuid,indices.*.shards.*.routing.primary,"
    "indices.*.shards.*.seq_no.global_checkpoint,indices.*.shards.*.indexing.delete_total,"
    "indices.*.shards.*.commit.user_data.history_uuid"
)


@dataclass(frozen=True, slots=True)
class ShardState:
    """A shard with a primary, and the number of the last operation that every copy of it has.

    `history` changes where an engine numbers operations anew: in another index, as after a rollover
    or a split, and in one that was restored.
    """

    index: str
    shard: str
    history: str
    last: int
    deletions: int


def shard_states(requests: Requests, name: str) -> list[ShardState]:
    """Return the shards behind a name, of one index or several, that have a primary now."""
    params = {"level": "shards", "filter_path": _STATES}
    stats = requests.call("GET", f"{name}/_stats/indexing", params=params)
    states = []
    for index, found in sorted(stats.get("indices", {}).items()):
        for shard, copies in sorted(found.get("shards", {}).items()):
            for copy in copies:
                if copy["routing"]["primary"] and "seq_no" in copy:
                    commit = copy.get("commit", {}).get("user_data", {})
                    history = f"{found.get('uuid')}/{commit.get('history_uuid')}/{shard}"
                    last = copy["seq_no"]["global_checkpoint"]
                    deletions = copy.get("indexing", {}).get("delete_total", 0)
                    states.append(ShardState(index, shard, history, last, deletions))
    return states


def last_operations(requests: Requests, index: str) -> dict[str, int]:
    """Return the number of the last operation of each shard that every copy has.

    Raises `StoreStopped` where a shard has no primary: its documents would be left out.
    """
    settings = requests.index(index)["settings"]["index"]
    operations: dict[str, int] = {}
    for attempt in range(_PATIENCE.attempts):
        # those that have a primary now, which does not recover any more
        states = shard_states(requests, index)
        operations = {state.shard: state.last for state in states if state.index == index}
        if len(operations) == int(settings["number_of_shards"]):
            return operations
        _PATIENCE.pause(attempt)
    raise StoreStopped(
        reason=f"{len(operations)} of {settings['number_of_shards']} shards of {index} respond",
        remedy="wait until every shard has a primary",
    )


def read_feed(
    requests: Requests, index: str, shard: str, after: int, mark: int, whole: bool = True
) -> Iterator[list[search_bodies.Body]]:
    """Yield pages of the documents of a shard last written by operations in (`after`, `mark`].

    They come in the order of the operations, with their versions; without `whole` they have no
    `_source`.
    """
    source = whole and _whole_source(requests, index)
    while after < mark:
        body = {
            "size": PAGE,
            "_source": source,
            "track_total_hits": False,
            "seq_no_primary_term": True,
            "version": True,
            "query": {"range": {"_seq_no": {"gt": after, "lte": mark}}},
            "sort": [{"_seq_no": "asc"}],
        }
        params = {"preference": f"_shards:{shard}", **_WHOLE}
        hits = requests.call("POST", f"{index}/_search", body, params)["hits"]["hits"]
        if not hits:
            return
        yield hits
        after = hits[-1]["_seq_no"]


def _whole_source(requests: Requests, index: str) -> bool | search_bodies.Body:
    """Return what a request has to say to get the whole `_source`.

    From 9.2 on, Elasticsearch leaves vectors out of responses, although a document that is sent
    without them loses them.
    """
    name = "index.mapping.exclude_source_vectors"
    params = {"include_defaults": "true", "filter_path": f"*.*.{name}"}
    response = requests.call("GET", index, params=params)
    has_rule = any(settings for settings in response.get(index, {}).values())
    return {"exclude_vectors": False} if has_rule else True


def document_ids(requests: Requests, index: str) -> Iterator[tuple[str, str | None]]:
    """Yield id and routing of every document of an index; they are unique together."""
    for shard, mark in last_operations(requests, index).items():
        for page in read_feed(requests, index, shard, -1, mark, whole=False):
            yield from ((hit["_id"], hit.get("_routing")) for hit in page)


def routing_of(hit: Mapping[str, Any]) -> dict[str, str]:
    """Return the routing of a document as a field of an operation; empty where it has none."""
    return {"routing": hit["_routing"]} if "_routing" in hit else {}


def state_of(hit: Mapping[str, Any]) -> dict[str, int]:
    """Return the fields of an operation that make it conditional on the document as it was read."""
    return {"if_seq_no": hit["_seq_no"], "if_primary_term": hit["_primary_term"]}


def count_documents(requests: Requests, index: str) -> int:
    """Return the number of documents of an index, exactly."""
    body = {"size": 0, "track_total_hits": True}
    response = requests.call("POST", f"{index}/_search", body, _WHOLE)
    return int(response["hits"]["total"]["value"])
