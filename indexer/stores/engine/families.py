"""Families and labels in an index of an engine: how they are written back, and their queries."""

from __future__ import annotations

import base64
import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from indexer.errors import StoreError
from indexer.fingerprinting.fingerprint import COPY_DIGITS, lengthen, shorten
from indexer.model import CONFLICT, Assignment, PrincipalRow, Query, Scope
from indexer.stores.abilities import AssignmentResult, MemberField, RowVersion, WritesSince
from indexer.stores.engine.bulk import Operation, first_refusal
from indexer.stores.engine.field_substitutes import column_digest
from indexer.stores.engine.foreign_documents import OBJECTION_FIELDS, objections, objections_to
from indexer.stores.engine.index_mapping import GROUPED, is_shared_mapping
from indexer.stores.engine.operation_feed import ShardState, shard_states
from indexer.stores.engine.queries import PAGE, documents_now
from indexer.stores.engine.requests import IndexMissing, index_gone
from indexer.stores.engine.rows import assignment_fields
from indexer.stores.engine.search_bodies import BEST, BY_ID, IN_PLACE, Body
from indexer.stores.filters import FAMILY_FILTERS, family_value
from indexer.system.logs import event
from indexer.wording import well_formed

if TYPE_CHECKING:
    from indexer.stores.engine.index import OpenIndex
    from indexer.stores.engine.queries import IndexQueries


AT_ONCE, BUCKETS, FEW = 1_000, 1_000, 20
_ATTEMPTS = 3  # to write a document that others write at the same time
_CHANGED = (404, 409)  # replies to an update of a document that others deleted, or wrote
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
        results = []
        remaining = iter(assignments)
        while chunk := list(islice(remaining, _MEMBERS)):
            results.append(self._assign(chunk))
        return AssignmentResult(
            sum(result.written for result in results),
            sum(result.left_alone for result in results),
            sum(result.outdated for result in results),
        )

    def _assign(self, chunk: Sequence[Assignment]) -> AssignmentResult:
        """Write the families of documents that are still what was compared.

        An update is conditional on the document as it was read for that. A document that was
        written meanwhile, perhaps by a request of these whose response was lost, is read again.
        """
        written, refused, outdated = set[str](), set[str](), set[str]()
        waiting = entries = {well_formed(entry.id): entry for entry in chunk}
        for _ in range(_ATTEMPTS):
            documents = self._documents_now(waiting)
            refused |= self._refused(documents, waiting)
            present = {id: entry for id, entry in waiting.items() if id in documents.hits}
            decided = {id: documents.decide(entry) for id, entry in present.items()}
            outdated |= {id for id, entry in decided.items() if entry is not present[id]}
            operations = [
                self._update(entry, documents)
                for id, entry in decided.items()
                if entry is not None and id not in refused
            ]
            replies = self._index.send_conditional(operations)
            conflicts = {id for id, reply in replies.items() if reply.status in _CHANGED}
            written |= {id for id, reply in replies.items() if reply.status < 300}
            final = {id: reply for id, reply in replies.items() if id not in conflicts}
            waiting = {
                id: entry
                for id, entry in entries.items()
                if id in conflicts or well_formed(entry.family) in conflicts
            }
            if reason := first_refusal(final):
                raise StoreError(
                    f"{self._index.address.url} refused a group assignment: {reason}; run "
                    "`nearfold doctor`"
                )
            if not waiting:
                break
        outdated = (outdated | waiting.keys()) - refused
        if refused or outdated:
            counts = {"documents": len(refused), "outdated": len(outdated)}
            event("documents_left_alone", "info", counts=counts)
        left_alone = sum(well_formed(entry.id) in refused for entry in chunk)
        return AssignmentResult(len(written), left_alone, len(outdated))

    def _refused(self, documents: _Documents, entries: Mapping[str, Assignment]) -> set[str]:
        """Return the documents of other programs that a change would harm."""
        if not (self._index.facts and is_shared_mapping(self._index.facts.mapping)):
            return set()
        hits = [documents.hits[id] for id in entries if id in documents.hits]
        return {id for id, _ in objections_to(self._index, hits, list(entries))}

    def _update(self, entry: Assignment, documents: _Documents) -> Operation:
        id = well_formed(entry.id)
        fields = self._fields(entry, documents.digests.get(id))
        return Operation("update", id, {"doc": fields}, self._index.version_of(documents.hits[id]))

    def _documents_now(self, entries: Mapping[str, Assignment]) -> _Documents:
        """Return these documents and their principals as they are, refreshed or not.

        The plugin keeps digests in a column, where a search finds them: as of the last refresh.
        """
        queries = self._index.queries("both")
        principals = (entry.family for entry in entries.values() if entry.principal_exact)
        ids = list(dict.fromkeys([*entries, *map(well_formed, principals)]))
        read = {"_source_includes": f"{OBJECTION_FIELDS},near_exact,near_status"}
        try:
            hits = {hit["_id"]: hit for hit in documents_now(queries, ids, PAGE, read)}
        except IndexMissing as error:
            raise index_gone() from error
        digests = {id: hit.get("_source", {}).get("near_exact", "") for id, hit in hits.items()}
        if self._index.facts and self._index.facts.columns:
            stored = {id: digest for id, digest in digests.items() if digest}
            digests = _digests(queries, ids) | stored
        return _Documents(hits, digests)

    def _fields(self, entry: Assignment, digest: str | None = None) -> Body:
        """Return the fields to write.

        Where the plugin makes digests, those of a group are stored with that of the text which it
        is of, and with the id, which no pipeline added. A document of unknown text that no search
        sees yet keeps what it was written with.
        """
        fields = assignment_fields(entry)
        exact = digest if entry.exact is None else entry.exact
        if self._index.facts and self._index.facts.columns and exact is not None:
            fields |= {GROUPED: column_digest(exact), "near_id": entry.id}
        return fields

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

    def writes_since(self, operations: Mapping[str, int], limit: int) -> WritesSince:
        """Compare the last operations of each shard; refresh and search those that have new ones.
        Forget indices that are gone, not shards that have no primary now.

        Without a refresh, a search may find a later operation before an earlier one.
        """
        name = self._index.name()
        shards = shard_states(self._index.requests, name)
        deletions = {shard.history: shard.deletions for shard in shards}
        if operations.keys() - deletions.keys():
            indices = self._index.requests.call("GET", f"{name}/_settings/index.uuid")
            uuids = {found["settings"]["index"]["uuid"] for found in indices.values()}
            operations = {
                history: last
                for history, last in operations.items()
                if history.partition("/")[0] in uuids
            }
        behind = [shard for shard in shards if operations.get(shard.history, -1) < shard.last]
        if not behind:
            return WritesSince((), operations, deletions)
        self._index.requests.call("POST", f"{name}/_refresh")
        queries, recipe = self._index.queries("both"), self._index.require_recipe().id
        ids, now = written_since(queries, behind, operations, recipe, limit)
        pages = (ids[start : start + PAGE] for start in range(0, len(ids), PAGE))
        documents = (documents_now(queries, page, PAGE) for page in pages)
        rows = chain.from_iterable(self._index.rows(hits, True) for hits in documents)
        return WritesSince(rows, now, deletions)

    def versions(self, ids: Sequence[str]) -> dict[str, RowVersion]:
        """Return documents as they are now, refreshed or not."""
        hits = list(documents_now(self._index.queries("documents"), ids, PAGE))
        rows = zip(self._index.rows(hits), hits, strict=True)
        return {row.id: RowVersion(row, self._index.version_of(hit)) for row, hit in rows}

    def assign_versions(
        self, assignments: Iterable[Assignment], versions: Mapping[str, RowVersion]
    ) -> set[str]:
        """Write family fields by updates that are conditional on these versions."""
        updates = {entry.id: {"doc": self._fields(entry)} for entry in assignments}
        for id, _ in objections(self._index, list(updates)):
            updates.pop(id, None)
        operations = [
            Operation("update", id, body, versions[id].state) for id, body in updates.items()
        ]
        replies = self._index.send_conditional(operations)
        return {id for id, reply in replies.items() if reply.status < 300}

    def processor_seconds(self) -> float | None:
        """Return the time by the statistics of the nodes, which not every service has."""
        path = {"filter_path": "nodes.*.process.cpu.total_in_millis"}
        try:
            response = self._index.requests.call("GET", "_nodes/stats/process", params=path)
        except StoreError:
            return None
        nodes = response.get("nodes", {}).values()
        return float(sum(node["process"]["cpu"]["total_in_millis"] for node in nodes)) / 1000


@dataclass(frozen=True, slots=True)
class _Documents:
    """Documents, and the digests of their texts as far as known, by id."""

    hits: Mapping[str, Body]
    digests: Mapping[str, str]

    def decide(self, entry: Assignment) -> Assignment | None:
        """Return what to write to a document: None where its text is not the one that was compared,
        and a provisional family of its own where that of its principal is not.
        """
        id, principal = well_formed(entry.id), well_formed(entry.family)
        if not self._has_text(id, entry.exact):
            return None
        if self._has_text(principal, entry.principal_exact):
            return entry
        is_complete = self.hits[id].get("_source", {}).get("near_status", "complete") == "complete"
        return replace(
            entry, family=entry.id, principal=is_complete, similarity=None, provisional=True
        )

    def _has_text(self, id: str, exact: str | None) -> bool:
        """Return whether a document has the text of this digest; of None, any or none."""
        if exact is None:
            return True
        digest = self.digests.get(id, exact)
        return id in self.hits and column_digest(digest) == column_digest(exact)


def _digests(queries: IndexQueries, ids: Sequence[str]) -> dict[str, str]:
    """Return the digests of the texts of these documents, as far as refreshed."""
    digests = {}
    for start in range(0, len(ids), _MEMBERS):
        chunk = ids[start : start + _MEMBERS]
        body: Body = {
            "size": len(chunk),
            "track_total_hits": False,
            "_source": False,
            "docvalue_fields": ["near_exact"],
            "query": {"ids": {"values": chunk}},
        }
        for hit in queries.search(body)["hits"]["hits"]:
            (digests[hit["_id"]],) = hit.get("fields", {}).get("near_exact", (_OF_NO_TEXT,))
    return digests


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
    body: Body = {
        "size": limit,
        "track_total_hits": True,
        "_source": False,
        "query": {
            "function_score": {
                "query": _arrived(recipe),
                "random_score": {},
                "boost_mode": "replace",
            }
        },
    }
    hits = queries.search(body)["hits"]
    return [hit["_id"] for hit in hits["hits"]], hits["total"]["value"]


def _arrived(recipe: str) -> Body:
    """Return a query for documents with keys whose family is the one that the pipeline gave."""
    return {
        "bool": {
            "filter": [
                {"term": {"near_recipe": recipe}},
                {"term": {"near_provisional": True}},
                {"exists": {"field": "near_bands"}},
            ],
            "must_not": [{"exists": {"field": "near_principal"}}],
        }
    }


def written_since(
    queries: IndexQueries,
    shards: Sequence[ShardState],
    operations: Mapping[str, int],
    recipe: str,
    limit: int,
) -> tuple[list[str], dict[str, int]]:
    """Return ids of documents that later operations wrote, up to `limit`, and what is seen of
    each shard with them.

    Shards with fewer operations come first and leave what they do not need to others, so that a
    busy one keeps none waiting. Documents that wait for a group are left out: to get one is
    another operation.
    """
    ids: list[str] = []
    now = dict(operations)
    behind = {shard: shard.last - operations.get(shard.history, -1) for shard in shards}
    for number, shard in enumerate(sorted(shards, key=behind.__getitem__)):
        size = math.ceil((limit - len(ids)) / (len(shards) - number))
        if not size:
            break
        after = operations.get(shard.history, -1)
        body: Body = {
            "size": size,
            "track_total_hits": False,
            "_source": False,
            "query": {
                "bool": {
                    "filter": [{"range": {"_seq_no": {"gt": after, "lte": shard.last}}}],
                    "must_not": [_arrived(recipe)],
                }
            },
            "sort": [{"_seq_no": "asc"}],
        }
        of_shard = replace(queries, index=shard.index)
        hits = of_shard.search(body, {"preference": f"_shards:{shard.shard}"})["hits"]["hits"]
        ids += [hit["_id"] for hit in hits]
        now[shard.history] = hits[-1]["sort"][0] if len(hits) == size else shard.last
    return ids, now


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
