"""Reads of rows in an index of an engine: by id, in order of id, and by full text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from indexer.errors import SnapshotExpired
from indexer.fingerprinting.fingerprint import lengthen
from indexer.model import (
    Candidates,
    CountRelation,
    Query,
    RankedRow,
    Row,
    Scope,
    WordFrequencies,
    WordLookup,
)
from indexer.stores.base import Counts, MemberReader, Ranking, SketchRow
from indexer.stores.engine import families, rows, search_bodies
from indexer.stores.engine.candidates import candidates_by_words
from indexer.stores.engine.index_mapping import has_own_analysis
from indexer.stores.engine.queries import (
    COLUMNS_PAGE,
    PAGE,
    IndexQueries,
    documents_at,
    documents_now,
)
from indexer.stores.engine.rows import stored_bytes
from indexer.stores.engine.search_bodies import BEST, Body, has_ids, read_ids
from indexer.stores.fields import storable_ids
from indexer.wording import well_formed

if TYPE_CHECKING:
    from indexer.stores.engine.index import OpenIndex


# Sketches of hits without their ids and paths, and the rows of some of them.

_COLUMNS = ["near_minhash", "near_status", "near_words"]
_NO_FIELDS: Body = {}
_NONE, _COMPLETE = (None,), ("complete",)
_COPIES = 10  # shards with a document of one number, at most

_Name: TypeAlias = tuple[int, str | None]
"""The sequence number of a document in its shard, and its sketch in Base64, which tell hits apart.
"""


class SketchReads:
    """Sketches of the best `window` hits of a search, read together with the first page of it."""

    def __init__(self, index: OpenIndex, queries: IndexQueries, window: int) -> None:
        self._index, self._queries, self._window = index, queries, window
        self._snapshot = ""
        self._first: list[Body] = []
        self._best: list[Body] = []
        self._names: list[_Name] = []

    @property
    def first(self) -> int:
        """The hits of the first page."""
        return len(self._first)

    @property
    def has_others(self) -> bool:
        """True if the search has more hits than the first page."""
        return len(self._best) > self.first > 0

    def first_page(self, body: Body, snapshot: str) -> Body:
        """Return the first page of a search at a snapshot, and keep the sketches of its hits."""
        self._snapshot = snapshot
        best = _best(body, self._window)
        page, sketches = self._queries.all_at_snapshot([body, best], snapshot)
        if not has_ids(body, page["hits"]):
            page = self._queries.at_snapshot(read_ids(body), snapshot)
        self._first, self._best = page["hits"]["hits"], sketches["hits"]["hits"]
        return page

    def best(self, window: int) -> list[SketchRow]:
        """Return the best hits after the first page, `window` with these."""
        unread = Counter(_name(hit["_seq_no"], _fields(hit)) for hit in self._first)
        sketched: list[SketchRow] = []
        self._names = []
        for hit in self._best:
            fields = _fields(hit)
            name = _name(hit["sort"][1], fields)
            if unread.get(name):
                unread[name] -= 1
            elif len(sketched) < window - self.first:
                (words,) = fields.get("near_words", _NONE)
                (status,) = fields.get("near_status", _COMPLETE)
                self._names.append(name)
                sketched.append(SketchRow(hit["_score"], status, stored_bytes(name[1]), words))
        return sketched

    def rows(self, positions: Sequence[int]) -> list[Row] | None:
        """Return the rows of hits; None where documents of several shards have the same name."""
        names = [self._names[position] for position in positions]
        rows: dict[_Name, Row] = {}
        for start in range(0, len(names), PAGE):
            numbers = [number for number, _ in names[start : start + PAGE]]
            hits = self._numbered(numbers)
            if len(hits) == _COPIES * len(numbers):
                return None
            for hit, document in zip(hits, self._index.rows(hits), strict=True):
                name = _name(hit["_seq_no"], _fields(hit))
                if name in rows:
                    return None
                rows[name] = document
        is_clear = len(set(names)) == len(names) == len(rows.keys() & set(names))
        return [rows[name] for name in names] if is_clear else None

    def _numbered(self, numbers: list[int]) -> list[Body]:
        """Return the documents with these sequence numbers, of which each shard has one."""
        body = {
            "size": _COPIES * len(numbers),
            "track_total_hits": False,
            "seq_no_primary_term": True,
            "docvalue_fields": ["near_minhash"],
            "query": {"bool": {"filter": [{"terms": {"_seq_no": numbers}}]}},
        }
        hits: list[Body] = self._queries.at_snapshot(body, self._snapshot)["hits"]["hits"]
        return hits


def _best(search: Body, size: int) -> Body:
    """Return a search by relevance for the sketches of its best hits, ties in any order."""
    return {
        "size": size,
        "track_total_hits": False,
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": _COLUMNS,
        "query": search["query"],
        "sort": [BEST, {"_seq_no": "asc"}],
    }


def _fields(hit: Body) -> Body:
    fields: Body = hit.get("fields", _NO_FIELDS)
    return fields


def _name(number: int, fields: Body) -> _Name:
    (packed,) = fields.get("near_minhash", _NONE)
    return number, _unpadded(packed)


def _unpadded(packed: str | None) -> str | None:
    """Return Base64 without the padding, which only Elasticsearch's doc values have."""
    return packed and packed.rstrip("=")


FIRST_PAGE = 20
_SOURCES = 1_000  # digests in one request


def rows_by_id(
    index: OpenIndex, scope: Scope, ids: Sequence[str], snapshot: str | None = None
) -> dict[str, Row]:
    """Return whole rows at a snapshot, or as they are now, refreshed or not."""
    queries = index.queries(scope)
    names = storable_ids(ids)
    hits = (
        documents_at(queries, snapshot, names) if snapshot else documents_now(queries, names, PAGE)
    )
    return {row.id: row for row in index.rows(hits)}


def source_digests(index: OpenIndex, ids: Sequence[str]) -> dict[str, str]:
    """Return the `source` digests as they are now, refreshed or not."""
    fields = {"_source_includes": "near_source"}
    hits = documents_now(index.queries("both"), storable_ids(ids), _SOURCES, fields)
    return {hit["_id"]: lengthen(hit["_source"].get("near_source") or "") for hit in hits}


def scan_rows(
    index: OpenIndex, scope: Scope, under: str | None, as_stored: bool = False
) -> Iterator[Row]:
    """Yield rows ascending by id; the set and its order are fixed when the first row is read."""
    body = search_bodies.scan(None if under is None else well_formed(under), PAGE)
    index.text_field()  # raises before the first page where texts cannot be read
    for response in index.queries(scope).pages(body):
        yield from index.rows(response["hits"]["hits"], as_stored)


def changed_rows(index: OpenIndex) -> list[Row]:
    """Return the rewritten ones of the thousand documents that were written last."""
    body = {
        "size": COLUMNS_PAGE,
        "_source": False,
        "version": True,
        "track_total_hits": False,
        "sort": [{"_seq_no": "desc"}],
    }
    queries = index.queries("both")
    hits = queries.search(body)["hits"]["hits"]
    ids = [hit["_id"] for hit in hits if hit["_version"] > 1]
    return index.rows(documents_now(queries, ids, PAGE), as_stored=True)


def search_rows(
    index: OpenIndex,
    scope: Scope,
    query: Query,
    snapshot: str | None = None,
    keep_alive: bool = False,
) -> Ranking:
    """Search the full text at a snapshot, or at a new one that is closed unless `keep_alive`.

    The matches and their order are fixed when the search begins.
    """
    plain, on_families = families.without_families(query)
    queries = index.queries(scope)
    if query.text.strip():
        index.check_searchable(queries)
    # more than are expected, so that it is known at once whether there are others
    size = min(max(FIRST_PAGE, query.expected + 1), COLUMNS_PAGE + 1)
    body = search_bodies.search(plain, size, index.dialect.metadata_type)
    if body is None:
        return Ranking(0, iter(()), 0, facets=dict.fromkeys(query.facets, ()))
    if on_families:
        body["query"]["bool"]["filter"] += families.family_filters(queries, on_families)
    has_scores = body["sort"][0] == BEST
    sketches = None
    is_first = 0 < query.first < size
    if is_first and query.families:
        body["size"] = query.first
    elif is_first and has_scores and not queries.by_search:
        sketches = SketchReads(index, queries, query.expected)
        body |= {"size": query.first, "seq_no_primary_term": True}
    first_page = None if sketches is None else sketches.first_page
    pages = _of_one_index(index, queries.pages(body, snapshot, keep_alive, first_page))
    first = next(pages)
    counted = first.get("aggregations", {})
    number: int | None = None
    relation: CountRelation = "eq"
    if query.families:
        exact = _exact_families(queries, body, first, search_bodies.MAX_COUNTED)
        number, relation = rows.families(counted, exact)
    hits = chain.from_iterable(page["hits"]["hits"] for page in chain([first], pages))
    if counting := search_bodies.exact_facets(body, counted, query.facets):
        counted = {**counted, **_at_snapshot(queries, counting, first)["aggregations"]}
    facets = {name: rows.facets(counted[name]) for name in query.facets}
    return Ranking(
        total=first["hits"]["total"]["value"],
        hits=(rows.ranked(hit, has_scores) for hit in hits),
        families=number,
        families_relation=relation,
        facets=facets,
        snapshot=first["pit_id"] if keep_alive else None,
        sketches=sketches if sketches and sketches.has_others else None,
        members=_members(queries, body, first["pit_id"]) if query.families else None,
    )


def _exact_families(queries: IndexQueries, body: Body, response: Body, limit: int) -> int | None:
    """Return the number of families of a search after its response; None of more than `limit`."""
    estimate = response["aggregations"]["families"]["value"]
    if not 0 < estimate <= limit:
        return None
    counted = _at_snapshot(queries, search_bodies.exact_families(body, estimate), response)
    families = counted["aggregations"]["families"]
    return None if families["sum_other_doc_count"] else len(families["buckets"])


def _at_snapshot(queries: IndexQueries, body: Body, response: Body) -> Body:
    """Return the response to a search at the snapshot of another one's, where it had one."""
    snapshot = response.get("pit_id")
    return queries.at_snapshot(body, snapshot) if snapshot else queries.search(body)


def _members(queries: IndexQueries, body: Body, snapshot: str) -> MemberReader:
    """Return the reader of members among the hits of a search with scores or without."""
    has_scores = body["sort"][0] == BEST

    def members(families: Sequence[str], limit: int) -> list[RankedRow]:
        page = queries.page_at(search_bodies.within_families(body, families, limit), snapshot)
        return [rows.ranked(hit, has_scores) for hit in page["hits"]["hits"]]

    return members


def _of_one_index(index: OpenIndex, pages: Iterator[Body]) -> Iterator[Body]:
    """Yield the pages; raise `SnapshotExpired` when they go on in another index."""
    indices: set[str] = set()
    for page in pages:
        now = {hit["_index"] for hit in page["hits"]["hits"]}
        if now and indices and now.isdisjoint(indices):
            index.check_replaced()
            raise SnapshotExpired(url=index.address.url)
        indices |= now
        yield page


def count_rows(index: OpenIndex, scope: Scope) -> Counts:
    """Count rows; bytes are of the primary shards, None where the engine does not say."""
    queries, body = index.queries(scope), search_bodies.counts()
    response = queries.search(body)
    exact = _exact_families(queries, body, response, search_bodies.MAX_COUNTED_IN_STORE)
    stats = index.requests.send("GET", f"{index.name()}/_stats/store").body
    size = stats.get("_all", {}).get("primaries", {}).get("store", {}).get("size_in_bytes")
    parts = index.queries("parts").search(search_bodies.total())["hits"]["total"]["value"]
    return rows.counts(response, exact, size, parts)


_VERSION = {
    "level": "shards",
    "filter_path": "indices.*.uuid,indices.*.shards.*.routing.node,"
    "indices.*.shards.*.commit.generation,indices.*.shards.*.seq_no.max_seq_no,"
    "indices.*.shards.*.refresh.external_total",
}


def read_version(index: OpenIndex) -> str | None:
    """Return the last operation, commit and refresh of each copy of each shard, as text.

    A search sees what a copy has refreshed: an operation alone changes nothing that it finds, and
    a copy that is read before its refresh gives way to the version after it. None where the role
    of a user does not permit statistics, or no shard responds.
    """
    response = index.requests.send("GET", f"{index.name()}/_stats/refresh", params=_VERSION)
    indices = response.body.get("indices") if isinstance(response.body, dict) else None
    return json.dumps(indices, sort_keys=True) if response.status == 200 and indices else None


class EngineSnapshots:
    """Reads of rows at a point in time of the engine."""

    def __init__(self, index: OpenIndex, scope: Scope) -> None:
        self._index, self._scope = index, scope

    def search(self, query: Query, snapshot: str | None = None) -> Ranking:
        """Search at a point in time, which is opened if none is given, and kept alive."""
        return search_rows(self._index, self._scope, query, snapshot, keep_alive=True)

    def get(self, ids: Sequence[str], snapshot: str) -> dict[str, Row]:
        """Return whole rows as they were."""
        return rows_by_id(self._index, self._scope, ids, snapshot)

    def release(self, snapshot: str) -> None:
        """Close the point in time."""
        self._index.queries(self._scope).release(snapshot)


class EngineVocabulary:
    """Words of rows in an index.

    Counts of searches: the statistics of `_termvectors` are of one shard, and count deleted rows.
    """

    def __init__(self, index: OpenIndex, scope: Scope) -> None:
        self._index, self._scope = index, scope

    def frequencies(self, words: Sequence[str]) -> WordFrequencies:
        """Count rows by a request for about a hundred words, as far as they are refreshed.

        What was counted is remembered for a minute while the index stays as it is.
        """
        return self._index.frequencies.read(self._index.queries(self._scope), words)

    def finds_every_word(self) -> bool:
        """Return whether nearfold made the index, with an analysis that separates all words."""
        self._index.require_recipe()
        return bool(self._index.facts and has_own_analysis(self._index.facts.mapping))

    def candidates(self, lookups: Sequence[WordLookup], limit: int) -> list[Candidates]:
        """Find candidates by one request for about ten look-ups with a limit of 1,000."""
        recipes = [recipe.id for recipe in self._index.require_recipe().by_statistics()]
        facts = self._index.facts
        found = candidates_by_words(self._index.queries(self._scope), lookups, recipes, limit)
        if not all(entry.found for entry in found) and self._index.is_replaced(facts):
            return self.candidates(lookups, limit)
        return found
