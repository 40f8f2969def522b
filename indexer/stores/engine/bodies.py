"""Bodies of searches of a search engine: pure functions on dictionaries.

OpenSearch and Elasticsearch take the same bodies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, TypeAlias

from indexer.model import Query, Scope, WordLookup
from indexer.stores.engine.sort_keys import BEST, BY_ID, BY_PATH, IN_PLACE, LAST, NEWEST
from indexer.stores.engine.word_clauses import (
    containing_clauses,
    filtering_clauses,
    scoring_clauses,
)
from indexer.stores.filters import FACET_VALUES, FOLDER, facet_field, metadata_name, range_of
from indexer.text.phrases import well_formed
from indexer.text.query_syntax import parse_query

Body: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[str, str]

_IS_PART: Body = {"exists": {"field": "near_parent"}}
_FIELDS = {
    "status": "near_status",
    "family": "near_family",
    "recipe": "near_recipe",
    "similarity": "near_similarity",
}
_SKETCHES = ["near_minhash", "near_simhash"]
_FOLDED = ["near_minhash", "near_family", "near_status", "near_exact", "near_raw", "near_words"]
_FAMILIES = 40_000  # the most families that are counted exactly
_FACET_FAMILIES = 10_000  # the same for each value of a facet


def within_scope(body: Body, scope: Scope) -> Body:
    """Return the same search among documents only, or among parts only, with the same scores."""
    if scope == "both":
        return body
    scored = {"must": [body["query"]]} if "query" in body else {}
    within = {"filter": [_IS_PART]} if scope == "parts" else {"must_not": [_IS_PART]}
    return {**body, "query": {"bool": {**scored, **within}}}


def search(query: Query, size: int) -> Body | None:
    """Return one page of a search; None when the query has a text without words.

    Raises `UsageError` for a wrong filter.
    """
    words = parse_query(query.text)
    filters = [_filter(field, value) for field, value in query.filters]
    if query.text.strip() and words.is_empty:
        return None
    is_scored = bool(words.terms) and query.sort == "relevance"
    first: list[Any] = []
    if is_scored:
        first = [BEST]
    elif query.sort == "modified":
        first = [NEWEST]
    clauses = scoring_clauses(words) if is_scored else filtering_clauses(words)
    clauses["filter"] = [*clauses.get("filter", []), *filters]
    return {
        "size": size,
        "track_total_hits": True,
        **_columns(_FOLDED),
        "query": {"bool": clauses},
        "sort": [*first, BY_PATH, BY_ID, IN_PLACE],
        **_aggregations(query),
    }


def _columns(fields: list[str]) -> Body:
    """Return the settings of hits with doc values only; path and id come from their sort values.

    Reading documents would cost ten times as much.
    """
    return {"_source": False, "stored_fields": "_none_", "docvalue_fields": fields}


def read_ids(body: Body) -> Body:
    """Return the same search with ids from the documents themselves."""
    return {name: value for name, value in body.items() if name != "stored_fields"}


def has_ids(body: Body, hits: Body) -> bool:
    """Return whether each hit has its id; other programs' documents may lack `near_id`."""
    if "stored_fields" not in body:
        return True
    place = body["sort"].index(BY_ID)
    return all(hit["sort"][place] != LAST for hit in hits["hits"])


def later_page(body: Body) -> Body:
    """Return the same search for a page after the first, which counts nothing again."""
    plain = {name: value for name, value in body.items() if name != "aggs"}
    return {**plain, "track_total_hits": False}


def within_families(search: Body, families: Sequence[str], size: int) -> Body:
    """Return the same search for the first hits in some families, which counts nothing."""
    members = {"terms": {"near_family": list(families)}}
    query = {"bool": {"must": [search["query"]], "filter": [members]}}
    return {**later_page(search), "query": query, "size": size}


def _aggregations(query: Query) -> Body:
    """Return the aggregations of a query: families of all matches, and facets with families."""
    facets = {
        name: {
            "terms": {"field": _FIELDS.get(name, name), "size": FACET_VALUES},
            "aggs": families(_FACET_FAMILIES),
        }
        for name in map(facet_field, query.facets)
    }
    aggregations = {**(families() if query.families else {}), **facets}
    return {"aggs": aggregations} if aggregations else {}


def families(exact: int = _FAMILIES) -> Body:
    """Return aggregations that count families, and documents without one, each its own family."""
    return {
        "families": {"cardinality": {"field": "near_family", "precision_threshold": exact}},
        "without_family": {"missing": {"field": "near_family"}},
    }


def _filter(field: str, value: str) -> Body:
    if (limits := range_of(field, value)) is not None:
        sides = {"gte": limits.least, "lt": limits.below}
        bounds: Body = {name: limit for name, limit in sides.items() if limit is not None}
        if limits.field == "modified":  # of other programs' fields, too, whatever their format
            bounds["format"] = "epoch_millis"
        return {"range": {_FIELDS.get(limits.field, limits.field): bounds}}
    if field == FOLDER:
        return _inside(well_formed(value))
    metadata = metadata_name(field)
    name = f"metadata.{well_formed(metadata)}" if metadata else _FIELDS.get(field, field)
    return {"term": {name: {"value": well_formed(value)}}}


def scan(under: str | None, size: int) -> Body:
    """Return one page of all rows by id, or of those at the path `under` and below it."""
    query: Body = {"match_all": {}}
    if under is not None:
        query = {"bool": {"filter": [_inside(under)]}}
    return {"size": size, "track_total_hits": False, "query": query, "sort": [BY_ID, IN_PLACE]}


def _inside(folder: str) -> Body:
    """Return the query of paths that are a folder or lie in it."""
    itself = {"term": {"path": {"value": folder}}}
    inside = {"prefix": {"path": {"value": f"{folder.rstrip('/')}/"}}}
    return {"bool": {"should": [itself, inside]}}


def keys(bands: Sequence[str], blocks: Sequence[str]) -> list[Key]:
    """Return field and key of each distinct band, then of each distinct block.

    >>> keys(["00a1", "00a1"], ["00a1"])
    [('near_bands', '00a1'), ('near_blocks', '00a1')]
    """
    pairs = [("near_bands", key) for key in bands] + [("near_blocks", key) for key in blocks]
    return list(dict.fromkeys(pairs))


def carriers(keys: Sequence[Key], most: int) -> Body:
    """Return a search that counts the rows with any of these keys, those beyond `most` as one."""
    values: dict[str, list[str]] = defaultdict(list)
    for field, value in keys:
        values[field].append(value)
    clauses = [{"terms": {field: of_field}} for field, of_field in values.items()]
    return {"size": 0, "track_total_hits": most + 1, "query": {"bool": {"should": clauses}}}


def candidates(
    keys: Sequence[Key],
    recipes: Sequence[str],
    limit: int,
    shared: int = 1,
    lengths: tuple[int, int] | None = None,
) -> Body:
    """Return a search of the rows that have at least `shared` of these keys, their score.

    `recipes`: the ids that rows may have; several of an online recipe. `lengths`: the fewest and
    the most words of their texts.
    """
    filters: list[Body] = [{"terms": {"near_recipe": [*recipes]}}]
    if lengths:
        filters.append(_of_lengths(lengths))
    clauses = [{"constant_score": {"filter": {"term": {field: key}}}} for field, key in keys]
    return {
        "size": limit,
        "track_total_hits": True,
        **_columns(_SKETCHES),
        "query": {
            "bool": {
                "filter": filters,
                "should": clauses,
                "minimum_should_match": shared,
            }
        },
        "sort": [BEST, BY_PATH, BY_ID],
    }


def _of_lengths(lengths: tuple[int, int]) -> Body:
    fewest, most = lengths
    return {"range": {"near_words": {"gte": fewest, "lte": most}}}


def candidates_by_words(lookup: WordLookup, recipes: Sequence[str], limit: int) -> Body:
    """Return a search of the rows that meet a look-up, by how many of the words they have.

    A word that an analysis of others leaves out of the index counts as one that all rows have.
    """
    clauses = []
    for spellings in lookup.words:
        written = [_word_of_text(text) for text in spellings]
        clauses.append({"constant_score": {"filter": {"bool": {"should": written}}}})
    return {
        "size": limit,
        "track_total_hits": True,
        **_columns(_SKETCHES),
        "query": {
            "bool": {
                "filter": [
                    {"terms": {"near_recipe": [*recipes]}},
                    _of_lengths((lookup.fewest_words, lookup.most_words)),
                    {"exists": {"field": "near_minhash"}},
                ],
                "should": clauses,
                "minimum_should_match": lookup.shared,
            }
        },
        "sort": [BEST, BY_PATH, BY_ID],
    }


def _word_of_text(text: str) -> Body:
    phrase = {"query": well_formed(text), "type": "phrase", "fields": ["text"]}
    return {"multi_match": {**phrase, "zero_terms_query": "all"}}


def total() -> Body:
    """Return a search that counts all rows."""
    return {"size": 0, "track_total_hits": True}


def newest() -> Body:
    """Return a search that counts all rows, and finds the one that was written last in a shard."""
    return {**total(), "size": 1, "_source": False, "sort": [{"_seq_no": "desc"}]}


def containing(word: str) -> Body:
    """Return a search that counts the rows with a word, in title or text."""
    return {**total(), "query": {"bool": containing_clauses(well_formed(word))}}


def counts() -> Body:
    """Return a search that counts rows by status, content type and recipe, and families."""
    return {
        "size": 0,
        "track_total_hits": True,
        "aggs": {
            "status": {"terms": {"field": "near_status", "size": 100}},
            "content_type": {"terms": {"field": "content_type", "size": 10_000}},
            "recipe": {"terms": {"field": "near_recipe", "size": 1_000}},
            **families(),
        },
    }
