"""Bodies of requests to a search engine: dictionaries in and out, no server needed.

OpenSearch and Elasticsearch take the same bodies but for the type of one field, which is given by
name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from indexer import mappings
from indexer.model import Query, Scope
from indexer.recipe import Recipe
from indexer.stores.engine.analysis import mapping_rules
from indexer.stores.engine.sort_keys import BEST, BY_ID, BY_PATH, IN_PLACE, LAST, NEWEST
from indexer.stores.filters import FACET_VALUES, facet_field, metadata_name
from indexer.text.phrases import phrases, well_formed

Body: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[str, str]

FORMAT = 1
OF_PARTS = ("near_start", "near_stop")  # fields that only an index with parts needs
LATER = ("near_error",)  # fields that the first indices did not have, and that may be added to them
_IS_PART: Body = {"exists": {"field": "near_parent"}}
_FIELDS = {"status": "near_status", "family": "near_family", "recipe": "near_recipe"}
_SKETCHES = ["near_minhash", "near_simhash"]
_FOLDED = ["near_minhash", "near_family", "near_status"]
_FAMILIES, _FACET_FAMILIES = 40_000, 10_000  # up to how many they are counted exactly


def index(
    recipe: Recipe,
    metadata_type: str,
    core_analysis: bool,
    shards: int | None,
    replicas: int | None,
) -> Body:
    """The body that creates an index. `core_analysis`: only with what every distribution of an
    engine carries.
    """
    body: Body = mappings.load("index.json")
    body["mappings"]["properties"]["metadata"]["type"] = metadata_type
    analysis = "core" if core_analysis else "words_v1"
    about = {
        "format": FORMAT,
        "analysis": analysis,
        "recipe_id": recipe.id,
        "recipe": recipe.settings,
    }
    body["mappings"]["_meta"] = {"nearfold": about}
    if core_analysis:
        body["settings"]["analysis"] = mappings.load("analysis-core.json")
    else:
        body["settings"]["analysis"]["char_filter"]["nearfold_letters"]["mappings"] = (
            mapping_rules()
        )
    settings = body["settings"]["index"]
    if shards is not None:
        settings["number_of_shards"] = shards
    if replicas is not None:
        del settings["auto_expand_replicas"]
        settings["number_of_replicas"] = replicas
    return body


def mapping_problems(found: Mapping[str, Any], metadata_type: str) -> tuple[str, ...]:
    """Return why nearfold cannot use the mapping of an index, one sentence a problem; empty when it
    can.

    An index that `nearfold install` shares with other programs may have fields of theirs.
    """
    if "nearfold" not in found.get("_meta", {}):
        return ("it was not made by nearfold (no `_meta.nearfold`)",)
    expected: Body = mappings.load("index.json")["mappings"]["properties"]
    expected["metadata"]["type"] = metadata_type
    actual = found.get("properties", {})
    problems = [
        f"field {name} is missing"
        for name in expected
        if name not in actual and name not in OF_PARTS
    ]
    if not found["_meta"]["nearfold"].get("shared"):
        problems += [] if found.get("dynamic") == "strict" else ["it is not strict (`dynamic`)"]
        problems += [f"field {name} is not nearfold's" for name in actual if name not in expected]
    return (*problems, *field_differences(actual, expected))


def field_differences(actual: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    """Yield one sentence for each field that is mapped otherwise than expected."""
    for name, field in expected.items():
        if name in actual and actual[name] != field:
            described = describe_field(actual[name])
            yield f"field {name} is {described} instead of {describe_field(field)}"


def later_fields(properties: Mapping[str, Any]) -> Body:
    """Return the mapping of the fields that an index of an earlier nearfold lacks.

    It is empty for an index without any field of ours.

    >>> later_fields({"near_family": {"type": "keyword"}})
    {'near_error': {'type': 'keyword'}}
    >>> later_fields({"title": {"type": "text"}})
    {}
    """
    if "near_family" not in properties:
        return {}
    known: Body = mappings.load("index.json")["mappings"]["properties"]
    return {name: known[name] for name in LATER if name not in properties}


def describe_field(field: Mapping[str, Any]) -> str:
    """Return a field's type and settings, such as `keyword (doc_values: False)`."""
    kind = str(field.get("type", "object"))
    settings = ", ".join(f"{name}: {value}" for name, value in field.items() if name != "type")
    return f"{kind} ({settings})" if settings else kind


def within_scope(body: Body, scope: Scope) -> Body:
    """The same search among documents alone, or among parts alone; what it scores stays as it
    is.
    """
    if scope == "both":
        return body
    within = {"filter": [_IS_PART]} if scope == "parts" else {"must_not": [_IS_PART]}
    return {
        **body,
        "query": {"bool": {**({"must": [body["query"]]} if "query" in body else {}), **within}},
    }


def search(query: Query, size: int) -> Body | None:
    """One page of a search; None when the query asks for nothing that could be found. `UsageError`
    for a wrong filter.
    """
    asked = phrases(query.text)
    filters = [_filter(field, value) for field, value in query.filters]
    if query.text.strip() and not asked:
        return None
    scored = bool(asked) and query.sort == "relevance"
    clauses = [_phrase(phrase) for phrase in asked]
    first: list[Any] = [BEST] if scored else [NEWEST] if query.sort == "modified" else []
    return {
        "size": size,
        "track_total_hits": True,
        **_columns(_FOLDED),
        "query": {
            "bool": {"must": clauses, "filter": filters}
            if scored
            else {"filter": [*clauses, *filters]}
        },
        "sort": [*first, BY_PATH, BY_ID, IN_PLACE],
        **_tallies(query),
    }


def _columns(fields: list[str]) -> Body:
    """What a hit tells: doc values, and path and id by its sort values. Reading documents would
    cost ten times as much.
    """
    return {"_source": False, "stored_fields": "_none_", "docvalue_fields": fields}


def read_ids(body: Body) -> Body:
    """The same search with ids from the documents themselves."""
    return {name: value for name, value in body.items() if name != "stored_fields"}


def has_ids(body: Body, hits: Body) -> bool:
    """Whether each hit tells its id: documents of other programs may have no `near_id` to sort
    by.
    """
    if "stored_fields" not in body:
        return True
    place = body["sort"].index(BY_ID)
    return all(hit["sort"][place] != LAST for hit in hits["hits"])


def later_page(body: Body) -> Body:
    """The same search for a page after the first: what was counted once is not counted again."""
    return {
        **{name: value for name, value in body.items() if name != "aggs"},
        "track_total_hits": False,
    }


def _tallies(query: Query) -> Body:
    """The aggregations that a query asks for: families of all matches, and values with their
    families.
    """
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
    """Aggregations that count families: distinct ones, and documents without one, each of which is
    its own.
    """
    return {
        "families": {"cardinality": {"field": "near_family", "precision_threshold": exact}},
        "without_family": {"missing": {"field": "near_family"}},
    }


def _phrase(phrase: str) -> Body:
    return {"multi_match": {"query": phrase, "type": "phrase", "fields": ["title^2", "text"]}}


def _filter(field: str, value: str) -> Body:
    name = metadata_name(field)
    return {
        "term": {
            f"metadata.{well_formed(name)}" if name else _FIELDS.get(field, field): {
                "value": well_formed(value)
            }
        }
    }


def scan(under: str | None, size: int) -> Body:
    """One page of all rows by id, or of those at a path and below it."""
    query: Body = {"match_all": {}}
    if under is not None:
        inside = {"prefix": {"path": {"value": f"{under.rstrip('/')}/"}}}
        query = {
            "bool": {
                "filter": [{"bool": {"should": [{"term": {"path": {"value": under}}}, inside]}}]
            }
        }
    return {"size": size, "track_total_hits": False, "query": query, "sort": [BY_ID, IN_PLACE]}


def keys(bands: Sequence[str], blocks: Sequence[str]) -> list[Key]:
    """Field and key of each band, then of each block, each once.

    >>> keys(["00a1", "00a1"], ["00a1"])
    [('near_bands', '00a1'), ('near_blocks', '00a1')]
    """
    return list(
        dict.fromkeys(
            [("near_bands", key) for key in bands] + [("near_blocks", key) for key in blocks]
        )
    )


def carriers(asked: Sequence[Key]) -> Body:
    """How many rows carry each key: aggregation `keys`, whose buckets are named by place. Rows
    without any are not visited.
    """
    filters = {str(place): {"term": {field: key}} for place, (field, key) in enumerate(asked)}
    return {
        "size": 0,
        "track_total_hits": False,
        "query": {"bool": {"filter": [{"bool": {"should": list(filters.values())}}]}},
        "aggs": {"keys": {"filters": {"filters": filters}}},
    }


def candidates(asked: Sequence[Key], recipe: str, limit: int) -> Body:
    """Rows by the number of keys they share: each key that a row carries adds one to its score."""
    return {
        "size": limit,
        "track_total_hits": True,
        **_columns(_SKETCHES),
        "query": {
            "bool": {
                "filter": [{"term": {"near_recipe": recipe}}],
                "should": [
                    {"constant_score": {"filter": {"term": {field: key}}}} for field, key in asked
                ],
                "minimum_should_match": 1,
            }
        },
        "sort": [BEST, BY_PATH, BY_ID],
    }


def total() -> Body:
    """How many rows there are."""
    return {"size": 0, "track_total_hits": True}


def counts() -> Body:
    """Totals by status and content type, and the number of families."""
    return {
        "size": 0,
        "track_total_hits": True,
        "aggs": {
            "status": {"terms": {"field": "near_status", "size": 100}},
            "content_type": {"terms": {"field": "content_type", "size": 10_000}},
            **families(),
        },
    }
