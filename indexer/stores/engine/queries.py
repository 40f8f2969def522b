"""Searches of an index of an engine: many at once, or page by page at one snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from indexer.errors import SnapshotExpired, StoreAccessDenied, StoreError
from indexer.model import Scope
from indexer.stores.engine import search_bodies
from indexer.stores.engine.field_substitutes import PluginColumns, substitute_fields
from indexer.stores.engine.requests import Response, error_of, is_missing
from indexer.stores.engine.search_bodies import IN_PLACE, Body

if TYPE_CHECKING:
    from indexer.stores.engine.requests import Dialect, Requests


PAGE, COLUMNS_PAGE = 100, 1_000
_MAX_COLUMNS_PAGE = 4_000
_MIN_PAGE, _PAGE_CHARS = 10, 4_000_000  # of a page of documents
MAX_WINDOW = 10_000  # hits that an engine returns at once
WHOLE = {"allow_partial_search_results": "false"}
_ALL_SHARDS = {"allow_partial_search_results": False}
_MAX_SEARCHES, _MAX_HITS = 100, 10_000  # in one request
_KEEP_ALIVE = "5m"
# the context is gone; a node that had a part of it is gone (Elasticsearch)
_EXPIRED = ("search_context_missing_exception", "search_context_missing_nodes_exception")
_LOST = "no node found for id"  # OpenSearch's reason when the node that kept the snapshot is gone
_RENEWALS = 3


@dataclass(frozen=True, slots=True)
class IndexQueries:
    """Searches of one index, or of several behind one name, of documents or of their parts.

    `names` holds the fields to search instead of others, `columns` those of an index with the
    plugin's layout. Documents that other programs share may have a routing of their own.
    `by_search`: read documents by id with a search, where the engine's look-up by id knows neither
    in which of several indices one is, nor what the filter of an alias hides.
    """

    requests: Requests
    dialect: Dialect
    index: str
    names: Mapping[str, str] = field(default_factory=dict)
    scope: Scope = "documents"
    is_shared: bool = False
    by_search: bool = False
    columns: PluginColumns | None = None

    def search(self, body: Body, params: Mapping[str, str] = WHOLE) -> Body:
        """Return the response to one search of all shards, or of those that `params` name."""
        params = {**WHOLE, **params}
        found = self.requests.call("POST", f"{self.index}/_search", self._fit(body), params)
        return self._read(found)

    def _fit(self, body: Body) -> Body:
        """Return a search limited to the scope, with the fields of this index and engine."""
        scoped = search_bodies.within_scope(body, self.scope)
        if IN_PLACE in scoped.get("sort", ()):
            last = {self.dialect.tie_breaker: "asc"}
            sort = [last if key == IN_PLACE else key for key in scoped["sort"]]
            scoped = {**scoped, "sort": sort}
        substituted = substitute_fields(scoped, self.names)
        return self.columns.rewrite(substituted) if self.columns else substituted

    def _read(self, response: Body) -> Body:
        """Return a response with the fields that were requested, whatever the layout."""
        return self.columns.restore(response) if self.columns else response

    def search_all(self, searches: Sequence[Body]) -> list[Body]:
        """Return the responses to many searches, in order, by few requests.

        A search that fails among others is sent again alone.
        """
        results: list[Body] = []
        while batch := _batch(searches[len(results) :]):
            if len(batch) == 1:
                results.append(self.search(batch[0]))
                continue
            lines = self._lines([self._fit(body) for body in batch])
            responses = self.requests.call("POST", f"{self.index}/_msearch", lines)["responses"]
            results += [
                self._read(response) if "hits" in response else self.search(body)
                for response, body in zip(responses, batch, strict=True)
            ]
        return results

    def _lines(self, searches: Sequence[Body]) -> list[Body]:
        """Return the header and body of each search, as one request of many takes them."""
        # the parameter of other searches; here it belongs into each body
        no_pipeline = {"search_pipeline": "_none"} if self.dialect.search_pipelines else {}
        lines: list[Body] = []
        for body in searches:
            lines += [_ALL_SHARDS, {**body, **no_pipeline}]
        return lines

    def hits(self, searches: Sequence[Body]) -> list[Body]:
        """Return the `hits` of many searches; ids without doc values come from the documents."""
        hits = [response["hits"] for response in self.search_all(searches)]
        nameless = [
            index
            for index, body in enumerate(searches)
            if not search_bodies.has_ids(body, hits[index])
        ]
        with_ids = [search_bodies.read_ids(searches[position]) for position in nameless]
        responses = self.search_all(with_ids)
        for index, response in zip(nameless, responses, strict=True):
            hits[index] = response["hits"]
        return hits

    def pages(
        self,
        body: Body,
        snapshot: str | None = None,
        keep_alive: bool = False,
        first_page: Callable[[Body, str], Body] | None = None,
    ) -> Iterator[Body]:
        """Yield the responses to a search page by page at one snapshot (point in time).

        Pages after the first hold `COLUMNS_PAGE` hits without documents, then twice as many up to
        4,000; of documents as many as have some four million characters by the page before, 10 to
        1,000 and at most twice as many.
        `pit_id` in a response is the snapshot: `snapshot` where one is given. It is closed at the
        end unless `keep_alive`. When the engine loses it, for example with a node, the rest is read
        at a new one; with `snapshot` or `keep_alive`, `SnapshotExpired` is raised. `first_page`
        reads the first page, with its ids, at a snapshot in another way.
        """
        pit = snapshot or self._open_snapshot()
        renewals = 0 if snapshot or keep_alive else _RENEWALS
        repeated: list[Body] = []
        try:
            while True:
                try:
                    response = (first_page or self.page_at)(body, pit)
                except SnapshotExpired:
                    if not renewals:
                        raise
                    pit = self._open_snapshot()
                    renewals -= 1
                    continue
                first_page = None
                pit = response.setdefault("pit_id", pit)
                hits = response["hits"]["hits"]
                response["hits"]["hits"] = _without(repeated, hits)
                yield response
                if len(hits) < body["size"]:
                    return
                after, repeated = self._next_page(body, hits)
                has_columns = "stored_fields" in body
                size = _columns_of_next_page(hits) if has_columns else _documents_of_next_page(hits)
                page = {"size": size + len(repeated), "search_after": after}
                body = {**search_bodies.later_page(body), **page}
        finally:
            if not keep_alive:
                self.release(pit)

    def _next_page(self, body: Body, hits: list[Body]) -> tuple[list[Any], list[Body]]:
        """Return the sort values after which the next page begins, and the hits that it repeats.

        Documents of several shards may have the same `_seq_no`, so the next page begins with it.
        """
        last = hits[-1]["sort"]
        if self.dialect.tie_breaker != "_seq_no" or IN_PLACE not in body["sort"]:
            return last, []
        return [*last[:-1], last[-1] - 1], [hit for hit in hits if hit["sort"] == last]

    def page_at(self, body: Body, snapshot: str) -> Body:
        """Return one page of a search at a snapshot, whose hits have their ids."""
        response = self.at_snapshot(body, snapshot)
        if search_bodies.has_ids(body, response["hits"]):
            return response
        return self.at_snapshot(search_bodies.read_ids(body), snapshot)

    def _open_snapshot(self) -> str:
        opened = self.requests.call(
            "POST",
            f"{self.index}/{self.dialect.open_pit}",
            params={"keep_alive": _KEEP_ALIVE, **self.dialect.pit_options},
        )
        snapshot: str = opened[self.dialect.pit_field]
        return snapshot

    def at_snapshot(self, body: Body, snapshot: str) -> Body:
        """Return the response to a search; raise `SnapshotExpired` when its snapshot is gone."""
        response = self.requests.send("POST", "_search", self._fit_at(snapshot, body), WHOLE)
        if 200 <= response.status < 300:
            return self._read(response.body)
        if _is_expired(response):
            raise SnapshotExpired(url=self.requests.url)
        raise error_of(self.requests.url, response)

    def all_at_snapshot(self, searches: Sequence[Body], snapshot: str) -> list[Body]:
        """Return the responses to searches at a snapshot, by one request.

        Searches that fail, or that a role may not send together, are sent again one by one.
        """
        lines = self._lines([self._fit_at(snapshot, body) for body in searches])
        response = self.requests.send("POST", "_msearch", lines)
        responses = response.body["responses"] if response.status == 200 else [{}] * len(searches)
        return [
            self._read(response) if "hits" in response else self.at_snapshot(body, snapshot)
            for response, body in zip(responses, searches, strict=True)
        ]

    def _fit_at(self, snapshot: str, body: Body) -> Body:
        return {**self._fit(body), "pit": {"id": snapshot, "keep_alive": _KEEP_ALIVE}}

    def release(self, snapshot: str) -> None:
        """Close a snapshot, if the engine responds: it closes by itself after a few minutes.

        One that is closed already is not an error.
        """
        with suppress(StoreError):
            self.requests.send("DELETE", self.dialect.close_pit, self.dialect.close_body(snapshot))


def _documents_of_next_page(hits: Sequence[Body]) -> int:
    """Return how many documents to read after these, so that a page has some `_PAGE_CHARS`."""
    chars = sum(_chars(hit.get("_source")) for hit in hits)
    fitting = _PAGE_CHARS * len(hits) // max(1, chars)
    return max(_MIN_PAGE, min(COLUMNS_PAGE, 2 * max(PAGE, len(hits)), fitting))


def _columns_of_next_page(hits: Sequence[Body]) -> int:
    """Return how many hits to read after these, whose documents are not read."""
    return max(COLUMNS_PAGE, min(_MAX_COLUMNS_PAGE, 2 * len(hits)))


def _chars(value: object) -> int:
    """Return the characters of all texts in a value of JSON."""
    if isinstance(value, str):
        return len(value)
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(map(_chars, values))


def _without(repeated: Sequence[Body], hits: list[Body]) -> list[Body]:
    """Return the hits without the first ones that the page before has shown."""
    first, rest = hits[: len(repeated)], hits[len(repeated) :]
    return [hit for hit in first if hit["sort"] != repeated[0]["sort"]] + rest


def _batch(searches: Sequence[Body]) -> list[Body]:
    """Return the first of these searches that fit into one request; one at least."""
    hits = 0
    batch = list(searches[:1])
    for body in searches[1:_MAX_SEARCHES]:
        hits += batch[-1]["size"]
        if hits + body["size"] > _MAX_HITS:
            break
        batch.append(body)
    return batch


def _is_expired(response: Response) -> bool:
    """Return whether a response says that the engine no longer keeps the snapshot."""
    if is_missing(response):
        return True
    error = response.body.get("error") if isinstance(response.body, dict) else None
    causes = error.get("root_cause", []) if isinstance(error, dict) else []
    return any(
        cause.get("type") in _EXPIRED or str(cause.get("reason", "")).startswith(_LOST)
        for cause in causes
    )


# Documents of an index of an engine by their ids: as last written, or at a snapshot.

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
            raise error_of(queries.requests.url, Response(404, failed))
        yield from (item for item in items if item.get("found"))


def _documents(queries: IndexQueries, body: Body, params: Mapping[str, str]) -> list[Body]:
    if queries.by_search:
        return [{**hit, "found": True} for hit in located(queries, body["ids"], params)]
    response = queries.requests.call("POST", f"{queries.index}/_mget", body, params)
    items: list[Body] = response["docs"]
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
    """Return documents found by a search after a refresh, each with its `_index`.

    Whoever may not refresh finds what is visible without.

    Raises `StoreError` for an id that two of the indices have.
    """
    with suppress(StoreAccessDenied):
        queries.requests.call("POST", f"{queries.index}/_refresh")
    path = f"{queries.index}/_search"
    documents: list[Body] = []
    for start in range(0, len(ids), PAGE):
        chunk = list(ids[start : start + PAGE])
        query = {"ids": {"values": chunk}}
        body = {"size": 2 * len(chunk), "query": query, "seq_no_primary_term": True}
        response = queries.requests.call("POST", path, body, {**WHOLE, **params})
        documents += response["hits"]["hits"]
    positions = {hit["_id"]: hit["_index"] for hit in documents}
    for hit in documents:
        if positions[hit["_id"]] != hit["_index"]:
            raise StoreError(
                f"document {hit['_id']} is in {hit['_index']} and in {positions[hit['_id']]}; "
                "give --store one of them, or a name for indices without documents in common"
            )
    return documents


def routings(queries: IndexQueries, ids: Sequence[str]) -> dict[str, str]:
    """Return the routing of the documents that have one, as far as refreshed."""
    names: dict[str, str] = {}
    for start in range(0, len(ids), COLUMNS_PAGE):
        chunk = list(ids[start : start + COLUMNS_PAGE])
        body = {"size": len(chunk), "_source": False, "query": {"ids": {"values": chunk}}}
        response = queries.requests.call("POST", f"{queries.index}/_search", body, WHOLE)
        hits = response["hits"]["hits"]
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
        response = queries.at_snapshot(body, snapshot)
        yield from response["hits"]["hits"]


def _is_lost(item: Body) -> bool:
    """Return whether a document was not found, or was not looked for without its routing."""
    return not item.get("found") and item.get("error", {}).get("type") in (None, _NO_ROUTING)
