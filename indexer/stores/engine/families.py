"""Families and labels in an index of an engine: how they are written back, and their queries."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from indexer.errors import StoreError
from indexer.fingerprinting.fingerprint import COPY_DIGITS, lengthen, shorten
from indexer.model import CONFLICT, Assignment, PrincipalRow, Query, Scope
from indexer.stores.abilities import AssignmentResult, MemberField, RowVersion
from indexer.stores.engine.bulk import Operation, first_refusal
from indexer.stores.engine.field_substitutes import column_digest
from indexer.stores.engine.foreign_documents import objections
from indexer.stores.engine.index_mapping import GROUPED, is_shared_mapping
from indexer.stores.engine.operation_feed import routing_of, state_of
from indexer.stores.engine.queries import PAGE, documents_now
from indexer.stores.engine.rows import assignment_fields
from indexer.stores.engine.search_bodies import BEST, BY_ID, IN_PLACE, Body
from indexer.stores.filters import FAMILY_FILTERS, family_value
from indexer.system.logs import event
from indexer.wording import well_formed

if TYPE_CHECKING:
    from indexer.stores.engine.index import OpenIndex
    from indexer.stores.engine.queries import IndexQueries


AT_ONCE, BUCKETS, FEW = 1_000, 1_000, 20
_MEMBERS = 1_000
TERMS = 50_000  # an engine takes 65,536 in a query
_OF_NO_TEXT = hashlib.sha256().hexdigest()
_COMPLETE = {"term": {"near_status": "complete"}}
_MEMBER = {"term": {"near_principal": False}}


class EngineFamilies:
    """Families and clusters of rows."""

    def __init__(self, index: OpenIndex, scope: Scope) -> None:
        self._index, self._scope = index, scope

    def assign(self, assignments: Iterable[Assignment]) -> AssignmentResult:
        """Write family fields by partial updates, in requests of bounded size.

        Documents of other programs that such an update would harm are left alone.
        """
        self._index.require_recipe()
        is_shared = bool(self._index.facts and is_shared_mapping(self._index.facts.mapping))
        written = left_alone = 0
        remaining = iter(assignments)
        while chunk := list(islice(remaining, _MEMBERS)):
            last = {well_formed(entry.id): {"doc": assignment_fields(entry)} for entry in chunk}
            if self._index.facts and self._index.facts.columns:
                _add_digests(self._index.queries("both"), last)
            refused_ids = dict(objections(self._index, list(last))) if is_shared else {}
            if refused_ids:
                event("documents_left_alone", "info", counts={"documents": len(refused_ids)})
            updates = [
                Operation("update", id, body) for id, body in last.items() if id not in refused_ids
            ]
            replies = self._index.send_routed(updates)
            left_alone += sum(well_formed(entry.id) in refused_ids for entry in chunk)
            written += sum(reply.status != 404 for reply in replies.values())
            reason = first_refusal(replies)
            if reason:
                raise StoreError(
                    f"{self._index.address.url} refused a family: {reason}; run `nearfold doctor`"
                )
        return AssignmentResult(written, left_alone)

    def principals(
        self, bands: Sequence[Sequence[str]] | None, limit: int, min_shared: int = 1
    ) -> list[PrincipalRow]:
        """Return principals that share one band or more, by one request, or by one more of many
        searches when `limit` is reached.
        """
        queries = self._index.queries(self._scope)
        return principals(queries, bands, self._index.require_recipe().id, limit)

    def members(self, field: MemberField, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield members as they are when the first is read."""
        queries = self._index.queries("both")
        return members(queries, field, list(map(well_formed, names)))

    def unplaced(self, limit: int) -> tuple[list[str], int]:
        """Return documents that a search sees now."""
        queries = self._index.queries("documents")
        return unplaced(queries, self._index.require_recipe().id, limit)

    def versions(self, ids: Sequence[str]) -> dict[str, RowVersion]:
        """Return documents as they are now, refreshed or not."""
        hits = list(documents_now(self._index.queries("documents"), ids, PAGE))
        rows = zip(self._index.rows(hits), hits, strict=True)
        return {row.id: RowVersion(row, self._state(hit)) for row, hit in rows}

    def assign_versions(
        self, assignments: Iterable[Assignment], versions: Mapping[str, RowVersion]
    ) -> set[str]:
        """Write family fields by updates that are conditional on these versions."""
        updates: dict[str, Body] = {
            entry.id: {"doc": assignment_fields(entry)} for entry in assignments
        }
        if self._index.facts and self._index.facts.columns:
            _add_digests(self._index.queries("both"), updates)
        for id, _ in objections(self._index, list(updates)):
            updates.pop(id, None)
        operations = [
            Operation("update", id, body, versions[id].state) for id, body in updates.items()
        ]
        replies = replace(self._index.sender, conflicts=True).send(operations)
        return {id for id, reply in replies.items() if reply.status < 300}

    def _state(self, hit: Body) -> Body:
        """Return where a document is, and the version of it that was read."""
        is_several = bool(self._index.facts and self._index.facts.members)
        index = {"_index": hit["_index"]} if is_several else {}
        return {**state_of(hit), **routing_of(hit), **index}


def _add_digests(queries: IndexQueries, updates: Mapping[str, Body]) -> None:
    """Add to each update of a group the digest of the text that the group is of, and the id, which
    no pipeline added; a document that no search sees yet keeps what it was written with.
    """
    body: Body = {
        "size": len(updates),
        "track_total_hits": False,
        "_source": False,
        "docvalue_fields": ["near_exact"],
        "query": {"ids": {"values": list(updates)}},
    }
    for hit in queries.search(body)["hits"]["hits"]:
        (exact,) = hit.get("fields", {}).get("near_exact", (_OF_NO_TEXT,))
        updates[hit["_id"]]["doc"] |= {GROUPED: column_digest(exact), "near_id": hit["_id"]}


def principals(
    queries: IndexQueries, band_keys: Sequence[Sequence[str]] | None, recipe: str, limit: int
) -> list[PrincipalRow]:
    """Return the principals that share a key; without `band_keys`, of all documents.

    One request names all keys; where it finds `limit` principals, which may hide better ones,
    there is a search for the best of each document.
    """
    if band_keys is None:
        body = {
            **_principal_query(recipe, {"match_all": {}}, min(limit, AT_ONCE)),
            "sort": [BY_ID, IN_PLACE],
        }
        pages = (hit for response in queries.pages(body) for hit in response["hits"]["hits"])
        rows = [_principal_row(hit) for hit in islice(pages, limit)]
        return [row for row in rows if row is not None]
    keys = sorted({key for keys in band_keys for key in keys})
    chunks = [keys[start : start + TERMS] for start in range(0, len(keys), TERMS)]
    hits = [
        hit
        for chunk in chunks
        for hit in queries.search(_principal_query(recipe, _any(chunk), limit))["hits"]["hits"]
    ]
    if len(hits) >= limit:
        bodies = [
            {**_principal_query(recipe, _each(keys), FEW), "sort": [BEST, BY_ID]}
            for keys in band_keys
            if keys
        ]
        hits = [hit for response in queries.search_all(bodies) for hit in response["hits"]["hits"]]
    rows = [_principal_row(hit) for hit in hits]
    return list({row.id: row for row in rows if row is not None}.values())


def members(queries: IndexQueries, field: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield ids and values of a field, for rows with one of these values, at one snapshot.

    Digests are searched as they are stored now and as an earlier nearfold stored them; a column of
    the plugin has the beginning of them.
    """
    column = f"near_{field}"
    named = {name[:COPY_DIGITS]: name for name in names} if field == "exact" else {}
    for start in range(0, len(names), _MEMBERS):
        chunk = list(names[start : start + _MEMBERS])
        if field == "exact":
            chunk += [shorten(name) for name in chunk]
        body: Body = {
            "size": _MEMBERS,
            "track_total_hits": False,
            "_source": False,
            "docvalue_fields": [column],
            "query": {"bool": {"filter": [{"terms": {column: chunk}}]}},
            "sort": [BY_ID, IN_PLACE],
        }
        for response in queries.pages(body):
            for hit in response["hits"]["hits"]:
                for value in hit["fields"].get(column, ()):
                    if field == "exact":
                        yield hit["_id"], named[lengthen(value)[:COPY_DIGITS]]
                    elif value in chunk:
                        yield hit["_id"], value


def unplaced(queries: IndexQueries, recipe: str, limit: int) -> tuple[list[str], int]:
    """Return ids of documents with keys whose family is still the one that the pipeline gave them,
    at most `limit`, and the number of all of them.

    They are drawn at random, so that several followers seldom read the same ones.
    """
    arrived: Body = {
        "bool": {
            "filter": [
                {"term": {"near_recipe": recipe}},
                {"term": {"near_provisional": True}},
                {"exists": {"field": "near_bands"}},
            ],
            "must_not": [{"exists": {"field": "near_principal"}}],
        }
    }
    body: Body = {
        "size": limit,
        "track_total_hits": True,
        "_source": False,
        "query": {
            "function_score": {"query": arrived, "random_score": {}, "boost_mode": "replace"}
        },
    }
    hits = queries.search(body)["hits"]
    return [hit["_id"] for hit in hits["hits"]], hits["total"]["value"]


def _principal_query(recipe: str, query: Body, size: int) -> Body:
    return {
        "size": size,
        "track_total_hits": False,
        "_source": False,
        "docvalue_fields": ["near_family", "near_minhash"],
        "query": {
            "bool": {
                "filter": [{"term": {"near_recipe": recipe}}, _COMPLETE],
                "must": [query],
                "must_not": [_MEMBER],
            }
        },
    }


def _any(keys: Sequence[str]) -> Body:
    return {"constant_score": {"filter": {"terms": {"near_bands": keys}}}}


def _each(keys: Sequence[str]) -> Body:
    """Return a query that scores a document by the number of keys that it carries."""
    return {
        "bool": {
            "should": [
                {"constant_score": {"filter": {"term": {"near_bands": key}}}} for key in keys
            ]
        }
    }


def _principal_row(hit: Body) -> PrincipalRow | None:
    """Return the principal; None for a document without a sketch, or in the family of another."""
    fields = hit.get("fields", {})
    if fields.get("near_family") != [hit["_id"]] or not fields.get("near_minhash"):
        return None
    padded = fields["near_minhash"][0] + "=="  # OpenSearch leaves the padding out
    return PrincipalRow(hit["_id"], base64.b64decode(padded))


def conflicting(queries: IndexQueries) -> list[str]:
    """Return the families whose members do not all carry the same labels.

    Members are counted by family and label inside the engine; the labels of principals are read one
    by one.
    """
    sizes: dict[str, int] = {}
    labels: dict[str, Counter[str]] = defaultdict(Counter)
    for bucket in _buckets(queries, "family"):
        sizes[bucket["key"]["family"]] = bucket["doc_count"]
    for bucket in _buckets(queries, "family", "label"):
        labels[bucket["key"]["family"]][bucket["key"]["label"]] = bucket["doc_count"]
    headers = dict(_labels(queries, sorted(sizes)))
    conflicts = []
    for family, size in sorted(sizes.items()):
        names = set(labels[family])
        is_on_all = all(count == size for count in labels[family].values())
        if not is_on_all or headers.get(family, names) != names:
            conflicts.append(family)
    return conflicts


def _buckets(queries: IndexQueries, *fields: str) -> Iterator[Body]:
    """Yield the number of members for each combination of values."""
    columns = {"family": "near_family", "label": "labels"}
    sources = [{name: {"terms": {"field": columns[name]}}} for name in fields]
    composite: dict[str, Any] = {"size": BUCKETS, "sources": sources}
    while True:
        body = {
            "size": 0,
            "query": {"bool": {"filter": [{"exists": {"field": "near_similarity"}}]}},
            "aggs": {"buckets": {"composite": composite}},
        }
        buckets = queries.search(body)["aggregations"]["buckets"]
        yield from buckets["buckets"]
        if len(buckets["buckets"]) < BUCKETS:
            return
        composite = {**composite, "after": buckets["after_key"]}


def headless(queries: IndexQueries) -> list[str]:
    """Return the families with members whose principal is gone or in another family, by name."""
    names = sorted(bucket["key"]["family"] for bucket in _buckets(queries, "family"))
    missing = set(names)
    for start in range(0, len(names), AT_ONCE):
        part = names[start : start + AT_ONCE]
        body = {
            "size": len(part),
            "_source": False,
            "docvalue_fields": ["near_family"],
            "query": {"ids": {"values": part}},
        }
        for hit in queries.search(body)["hits"]["hits"]:
            if hit.get("fields", {}).get("near_family") == [hit["_id"]]:
                missing.discard(hit["_id"])
    return sorted(missing)


def _labels(queries: IndexQueries, ids: Sequence[str]) -> Iterator[tuple[str, set[str]]]:
    for start in range(0, len(ids), AT_ONCE):
        part = list(ids[start : start + AT_ONCE])
        body = {"size": len(part), "_source": ["labels"], "query": {"ids": {"values": part}}}
        for hit in queries.search(body)["hits"]["hits"]:
            stored = hit.get("_source", {}).get("labels") or []
            yield hit["_id"], set(stored if isinstance(stored, list) else [stored])


def without_families(query: Query) -> tuple[Query, list[tuple[str, bool]]]:
    """Return the query without its filters on families, and these with their values."""
    on_families = [
        (name, family_value(name, value)) for name, value in query.filters if name in FAMILY_FILTERS
    ]
    rest = tuple((name, value) for name, value in query.filters if name not in FAMILY_FILTERS)
    return (replace(query, filters=rest) if on_families else query), on_families


def family_filters(queries: IndexQueries, on_families: Sequence[tuple[str, bool]]) -> list[Body]:
    """Return each filter on families as one on their names, which are read now."""
    return [_family_filter(queries, name, value) for name, value in on_families]


def _family_filter(queries: IndexQueries, name: str, value: bool) -> Body:
    if name == CONFLICT:
        families = conflicting(queries)
    else:
        families = [bucket["key"]["family"] for bucket in _buckets(queries, "family")]
    chunks = [families[start : start + TERMS] for start in range(0, len(families), TERMS)] or [[]]
    terms = [{"terms": {"near_family": chunk}} for chunk in chunks]
    inside: Body = {"bool": {"should": terms, "minimum_should_match": 1}}
    return inside if value else {"bool": {"must_not": [inside]}}
