"""Documents of an index of an engine by their ids: as last written, or at a snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from indexer.errors import StoreError
from indexer.stores.engine.bodies import Body
from indexer.stores.engine.link import Answer, error_of
from indexer.stores.engine.queries import COLUMNS_PAGE, PAGE, WHOLE, IndexQueries

_NO_PARAMETERS: Mapping[str, str] = {}
_NO_ROUTING = "routing_missing_exception"


def documents_now(
    queries: IndexQueries, ids: Sequence[str], size: int, params: Mapping[str, str] = _NO_PARAMETERS
) -> Iterator[Body]:
    """Yield documents as last written, refreshed or not, those that there are.

    `size` is the number of ids in a request.
    """
    for start in range(0, len(ids), size):
        chunk = {"ids": ids[start : start + size]}
        items = _documents(queries, chunk, params)
        if queries.is_shared:
            items = _routed(queries, items, params)
        if failed := next((item for item in items if "error" in item), None):
            raise error_of(queries.requests.url, Answer(404, failed))
        yield from (item for item in items if item.get("found"))


def _documents(queries: IndexQueries, body: Body, params: Mapping[str, str]) -> list[Body]:
    if queries.is_several:
        return [{**hit, "found": True} for hit in located(queries, body["ids"], params)]
    answer = queries.requests.call("POST", f"{queries.index}/_mget", body, params)
    items: list[Body] = answer["docs"]
    return items


def _routed(queries: IndexQueries, items: list[Body], params: Mapping[str, str]) -> list[Body]:
    """Return the items, with the document for each that is found by its routing only."""
    by_id = {item["_id"]: item for item in items if item.get("found") or not _is_lost(item)}
    lost = [item["_id"] for item in items if item["_id"] not in by_id]
    lookups = [{"_id": id, "routing": name} for id, name in routings(queries, lost).items()]
    if lookups:
        by_id |= {item["_id"]: item for item in _documents(queries, {"docs": lookups}, params)}
    return list(by_id.values())


def located(
    queries: IndexQueries, ids: Sequence[str], params: Mapping[str, str] = _NO_PARAMETERS
) -> list[Body]:
    """Return the documents of several indices after a refresh, each with its `_index`.

    Raises `StoreError` for an id that two of the indices have.
    """
    queries.requests.call("POST", f"{queries.index}/_refresh")
    path = f"{queries.index}/_search"
    documents: list[Body] = []
    for start in range(0, len(ids), PAGE):
        chunk = list(ids[start : start + PAGE])
        query = {"ids": {"values": chunk}}
        body = {"size": 2 * len(chunk), "query": query, "seq_no_primary_term": True}
        answer = queries.requests.call("POST", path, body, {**WHOLE, **params})
        documents += answer["hits"]["hits"]
    places = {hit["_id"]: hit["_index"] for hit in documents}
    for hit in documents:
        if places[hit["_id"]] != hit["_index"]:
            raise StoreError(
                f"document {hit['_id']} is in {hit['_index']} and in {places[hit['_id']]}; "
                "give --store one of them, or a name for indices without documents in common"
            )
    return documents


def routings(queries: IndexQueries, ids: Sequence[str]) -> dict[str, str]:
    """Return the routing of those of these documents that have one, as far as refreshed."""
    names: dict[str, str] = {}
    for start in range(0, len(ids), COLUMNS_PAGE):
        chunk = list(ids[start : start + COLUMNS_PAGE])
        body = {"size": len(chunk), "_source": False, "query": {"ids": {"values": chunk}}}
        answer = queries.requests.call("POST", f"{queries.index}/_search", body, WHOLE)
        hits = answer["hits"]["hits"]
        names |= {hit["_id"]: hit["_routing"] for hit in hits if "_routing" in hit}
    return names


def documents_at(queries: IndexQueries, snapshot: str, ids: Sequence[str]) -> Iterator[Body]:
    """Yield documents at a snapshot."""
    for start in range(0, len(ids), PAGE):
        chunk = ids[start : start + PAGE]
        body = {
            "size": len(chunk),
            "query": {"ids": {"values": chunk}},
            "track_total_hits": False,
        }
        answer = queries.at_snapshot(body, snapshot)
        yield from answer["hits"]["hits"]


def _is_lost(item: Body) -> bool:
    """Return whether a document was not found, or was not looked for without its routing."""
    return not item.get("found") and item.get("error", {}).get("type") in (None, _NO_ROUTING)
