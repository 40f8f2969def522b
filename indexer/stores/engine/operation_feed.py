"""An index as a feed: its documents in the order of the operations that last wrote them."""

from __future__ import annotations

from collections.abc import Iterator

from indexer.stores.engine import bodies
from indexer.stores.engine.index_requests import Requests

PAGE = 500


def last_operations(requests: Requests, index: str) -> dict[str, int]:
    """Return the number of the last operation of each shard that every copy has."""
    stats = requests.call("GET", f"{index}/_stats/store", params={"level": "shards"})
    operations = {}
    for shard, copies in sorted(stats["indices"][index]["shards"].items()):
        primary = next(copy for copy in copies if copy["routing"]["primary"])
        operations[shard] = primary["seq_no"]["global_checkpoint"]
    return operations


def read_feed(
    requests: Requests, index: str, shard: str, after: int, mark: int, whole: bool = True
) -> Iterator[list[bodies.Body]]:
    """Yield pages of the documents of a shard last written by operations in (`after`, `mark`].

    They come in the order of the operations; without `whole` they have no `_source`.
    """
    while after < mark:
        body = {
            "size": PAGE,
            "_source": whole,
            "track_total_hits": False,
            "seq_no_primary_term": True,
            "query": {"range": {"_seq_no": {"gt": after, "lte": mark}}},
            "sort": [{"_seq_no": "asc"}],
        }
        params = {"preference": f"_shards:{shard}", "allow_partial_search_results": "false"}
        hits = requests.call("POST", f"{index}/_search", body, params)["hits"]["hits"]
        if not hits:
            return
        yield hits
        after = hits[-1]["_seq_no"]


def document_ids(requests: Requests, index: str) -> Iterator[str]:
    """Yield the ids of all documents of an index."""
    for shard, mark in last_operations(requests, index).items():
        for page in read_feed(requests, index, shard, -1, mark, whole=False):
            yield from (hit["_id"] for hit in page)


def count_documents(requests: Requests, index: str) -> int:
    """Return the number of documents of an index, exactly."""
    body = {"size": 0, "track_total_hits": True}
    return int(requests.call("POST", f"{index}/_search", body)["hits"]["total"]["value"])
