"""Bodies of searches of a search engine: pure functions on dictionaries.

OpenSearch and Elasticsearch take the same bodies.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, product
from typing import Any, TypeAlias

from indexer import mappings
from indexer.model import Prefilter, Query, Scope, WordLookup
from indexer.stores.fields import FIELDS
from indexer.stores.filters import FACET_VALUES, FOLDER, YEAR, facet_field, metadata_name, range_of
from indexer.stores.query_syntax import (
    WORD_CHARACTERS,
    And,
    DateRange,
    FieldValue,
    Near,
    Node,
    Not,
    SearchWords,
    Term,
    TitleTerm,
    parse_query,
    separate_characters,
)
from indexer.wording import well_formed

# The words of a query as clauses of a `bool` query of an engine.

Clauses: TypeAlias = dict[str, Any]

_SEARCHED_FIELDS = ["title^2", "text"]
_UNWEIGHTED = ("title", "text")
# words that the last one of a phrase may become; an engine's own limit of 50 would lose hits
_EXPANSIONS = 10_000
_FINAL = re.compile(r"(?<=\w)[σςΣ](?!\w)")
_MAX_FINAL = 3  # of a term, of which all combinations are looked for


def scoring_clauses(words: SearchWords, metadata: str = "") -> Clauses:
    """Return the clauses of a query whose hits are ranked by its words.

    `metadata`: the type of the field that holds metadata.
    """
    clauses: Clauses = {}
    if words.required:
        clauses["must"] = list(map(_any_of, words.required))
    if words.optional or words.ranking:
        clauses["should"] = list(map(_term, (*words.optional, *words.ranking)))
        is_needed = words.optional and not words.required
        clauses["minimum_should_match"] = 1 if is_needed else 0
    if words.conditions:
        clauses["filter"] = [_condition(node, metadata) for node in words.conditions]
    return clauses | _exclusions(words)


def filtering_clauses(words: SearchWords, metadata: str = "") -> Clauses:
    """Return the clauses of a query that matches the same documents without a rank."""
    words = words.without_rank()
    clauses: Clauses = {"filter": list(map(_any_of, words.required))}
    if words.optional:
        clauses["filter"].append(_any_of(words.optional))
    clauses["filter"] += [_condition(node, metadata) for node in words.conditions]
    return clauses | _exclusions(words)


def _condition(node: Node, metadata: str) -> Clauses:
    """Return the query of a condition, without a rank."""
    if isinstance(node, Term):
        return _term(node)
    if isinstance(node, TitleTerm):
        return _term(node.term, ["title"])
    if isinstance(node, Near):
        return _one_of([_intervals(node, field) for field in _UNWEIGHTED])
    if isinstance(node, FieldValue):
        return _field_value(node, metadata)
    if isinstance(node, DateRange):
        return _dated(node.minimum, node.below)
    if isinstance(node, Not):
        return {"bool": {"must_not": [_condition(node.node, metadata)]}}
    nodes = [_condition(each, metadata) for each in node.nodes]
    return {"bool": {"filter": nodes}} if isinstance(node, And) else _one_of(nodes)


def _one_of(queries: list[Clauses]) -> Clauses:
    return {"bool": {"should": queries, "minimum_should_match": 1}}


def _intervals(near: Near, field: str) -> Clauses:
    """Return the query of a distance; intervals count the words between two phrases."""
    pair = [{"any_of": {"intervals": list(map(_interval, terms))}} for terms in _ends(near)]
    rule = {"ordered": False, "max_gaps": near.distance - 1, "intervals": pair}
    return {"intervals": {field: {"all_of": rule}}}


def _ends(near: Near) -> Iterator[Sequence[tuple[str, bool]]]:
    for terms in (near.left, near.right):
        yield [(text, term.is_prefix) for term in terms for text in _spellings(term.text)]


def _interval(spelling: tuple[str, bool]) -> Clauses:
    text, is_prefix = spelling
    *words, last = re.findall(r"\w+", separate_characters(text)) if is_prefix else (text, "")
    before = {"match": {"query": " ".join(words), "max_gaps": 0, "ordered": True}}
    if not last:
        return before
    prefix = {"prefix": {"prefix": last}}
    rule = {"ordered": True, "max_gaps": 0, "intervals": [before, prefix]}
    return {"all_of": rule} if words else prefix


# a value in metadata of Elasticsearch, whose regular expressions do not reach there
_METADATA_VALUE = """
if (!doc.containsKey(params.field)) { return false; }
for (value in doc[params.field]) {
  String text = value.toLowerCase();
  for (int i = text.indexOf(params.text); i >= 0; i = text.indexOf(params.text, i + 1)) {
    int end = i + params.text.length();
    char before = i == 0 ? (char) ' ' : text.charAt(i - 1);
    char after = end == text.length() ? (char) ' ' : text.charAt(end);
    boolean begins = !params.starts || !(before > 127 || Character.isLetterOrDigit(before));
    boolean ends = !params.ends || !(after > 127 || Character.isLetterOrDigit(after));
    if (begins && ends) { return true; }
  }
}
return false;
"""


def _field_value(value: FieldValue, metadata: str) -> Clauses:
    """Return the query of a field with a value."""
    if value.field == "type":
        types = value.content_types
        queries = [{"prefix": {"content_type": _in_any_case(each)}} for each in types]
        return _one_of(queries)
    field = {"path": "path", "label": "labels"}.get(value.field, f"metadata.{value.field}")
    if value.is_prefix and not value.text:
        return {"exists": {"field": field}}
    if value.field == "label":
        exact = {"prefix" if value.is_prefix else "term": {field: {"value": value.text}}}
        if "=" in value.text:  # it names its field
            return exact
        escaped = re.sub(r"[*?\\]", r"\\\g<0>", value.text)
        of_field = f"*={escaped}{'*' * value.is_prefix}"
        return _one_of([exact, {"wildcard": {field: {"value": of_field}}}])
    if metadata == "flattened" and value.field != "path":
        sought = {"text": value.text.lower(), "starts": value.starts, "ends": value.ends}
        source = {"source": _METADATA_VALUE, "params": {"field": field, **sought}}
        return {"script": {"script": source}}
    start = f"(.*[^{WORD_CHARACTERS}])?" if value.starts else ".*"
    end = f"([^{WORD_CHARACTERS}].*)?" if value.ends else ".*"
    return {"regexp": {field: {"value": f"{start}{value.pattern()}{end}"}}}


def _in_any_case(text: str) -> Clauses:
    return {"value": text, "case_insensitive": True}


def containing_clauses(word: str) -> Clauses:
    """Return the clauses of a query for documents with a word, in either field.

    An engine counts these by the numbers that it keeps of terms, where no document was deleted and
    one of the fields has none; the better of two fields it looks for in each document.
    """
    fields = [(text, field) for text in _spellings(word) for field in _UNWEIGHTED]
    return {"should": [_multi_match(text, "phrase", [field]) for text, field in fields]}


def _exclusions(words: SearchWords) -> Clauses:
    return {"must_not": list(map(_term, words.excluded))} if words.excluded else {}


def _any_of(terms: Sequence[Term]) -> Clauses:
    queries = list(map(_term, terms))
    if len(queries) == 1:
        return queries[0]
    return {"bool": {"should": queries, "minimum_should_match": 1}}


def _term(term: Term, fields: Sequence[str] = _SEARCHED_FIELDS) -> Clauses:
    """Return the query of a term; all words with a prefix score alike.

    Engines take the sigma at the end of a Greek word for another letter, which it is not in
    capitals.
    """
    spellings = _spellings(term.text)
    if len(spellings) == 1:
        return _formatted(term, term.text, fields)
    return {"dis_max": {"queries": [_formatted(term, text, fields) for text in spellings]}}


def _spellings(text: str) -> list[str]:
    between = _FINAL.split(text)
    count = len(between) - 1
    if not count:
        return [text]
    choices = product("σς", repeat=count) if count <= _MAX_FINAL else ("σ" * count, "ς" * count)
    return ["".join(chain(*zip(between, [*finals, ""], strict=True))) for finals in choices]


def _formatted(term: Term, text: str, fields: Sequence[str]) -> Clauses:
    if not term.is_prefix:
        return _multi_match(text, "phrase", fields)
    if term.is_one_word:
        return _multi_match(text, "bool_prefix", fields)
    phrase = _multi_match(text, "phrase_prefix", fields)
    phrase["multi_match"]["max_expansions"] = _EXPANSIONS
    return {"constant_score": {"filter": phrase}}


def _multi_match(text: str, kind: str, fields: Sequence[str] = _SEARCHED_FIELDS) -> Clauses:
    return {"multi_match": {"query": text, "type": kind, "fields": [*fields]}}


# Sort keys of searches in an engine.

# Sorts after every string; a literal, because OpenSearch 3.8 cannot page after a missing value.
LAST = "\U0010ffff"
BY_ID = {"near_id": {"order": "asc", "missing": LAST, "unmapped_type": "keyword"}}
BY_PATH = {"path": {"order": "asc", "missing": LAST, "unmapped_type": "keyword"}}
IN_PLACE = {"_shard_doc": "asc"}  # documents that other programs sent without an id of ours
BEST = {"_score": "desc"}
NEWEST = {"modified": {"order": "desc", "missing": "_last", "unmapped_type": "date"}}
# documents of other programs, and of an earlier nearfold, have the time of their file alone
_DATES = ["near_date", "modified"]
_DATE_SCRIPT = """
for (field in params.fields) {{
  if (doc.containsKey(field) && doc[field].size() > 0) {{
    def time = doc[field].value;
    if (!(time instanceof String || time instanceof Number)) {{ return {}; }}
  }}
}}
return params.absent;
"""
_YEARS: dict[str, Any] = {
    "source": _DATE_SCRIPT.format("String.valueOf(time.getYear())"),
    "params": {"fields": _DATES, "absent": ""},
}


def by_date(order: str) -> dict[str, Any]:
    """Return the sort key of the dates of documents, those without one last."""
    absent = 9e18 if order == "asc" else -9e18
    script = {
        "source": _DATE_SCRIPT.format("(double) time.toInstant().toEpochMilli()"),
        "params": {"fields": _DATES, "absent": absent},
    }
    return {"_script": {"type": "number", "order": order, "script": script}}


Body: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[str, str]

_IS_PART: Body = {"exists": {"field": "near_parent"}}
_FIELDS = {
    "status": "near_status",
    "family": "near_family",
    "recipe": "near_recipe",
    "extractor": "near_extractor",
    "similarity": "near_similarity",
    "custodian": "near_custodian",
}
_SKETCHES = ["near_minhash", "near_simhash"]
_FOLDED = ["near_minhash", "near_family", "near_status", "near_exact", "near_raw", "near_words"]
_PRECISION, _FACET_PRECISION = 40_000, 10_000  # estimates with a deviation of .2 and .4 %
MAX_COUNTED, MAX_COUNTED_IN_STORE = 1_000, 10_000  # families that are counted one by one
_ERROR = 50  # families that an estimate of so few does not miss


def within_scope(body: Body, scope: Scope) -> Body:
    """Return the same search among documents only, or among parts only, with the same scores."""
    if scope == "both":
        return body
    scored = {"must": [body["query"]]} if "query" in body else {}
    within = {"filter": [_IS_PART]} if scope == "parts" else {"must_not": [_IS_PART]}
    return {**body, "query": {"bool": {**scored, **within}}}


def search(query: Query, size: int, metadata: str = "") -> Body | None:
    """Return one page of a search; None when the query has a text without words.

    `metadata`: the type of the field that holds metadata. Raises `UsageError` for a wrong filter or
    query.
    """
    words = parse_query(query.text, query.join)
    filters = [_filter(field, value) for field, value in query.filters]
    if query.text.strip() and words.is_empty:
        return None
    is_scored = bool(words.terms) and query.sort == "relevance"
    first: list[Any] = []
    if is_scored:
        first = [BEST]
    elif query.sort == "modified":
        first = [NEWEST]
    elif query.sort in ("newest", "oldest"):
        first = [by_date("desc" if query.sort == "newest" else "asc")]
    clauses_of = scoring_clauses if is_scored else filtering_clauses
    clauses = clauses_of(words, metadata)
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
    position = body["sort"].index(BY_ID)
    return all(hit["sort"][position] != LAST for hit in hits["hits"])


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
            "terms": {**_facet_values(name), "size": FACET_VALUES},
            "aggs": _families(_FACET_PRECISION),
        }
        for name in map(facet_field, query.facets)
    }
    aggregations = {**(_families(_PRECISION) if query.families else {}), **facets}
    return {"aggs": aggregations} if aggregations else {}


def _facet_values(name: str) -> Body:
    return {"script": _YEARS} if name == YEAR else {"field": _FIELDS.get(name, name)}


def _families(precision: int) -> Body:
    """Return aggregations that estimate families, and count documents without one.

    `cardinality` may be wrong by one below its threshold, too (6,001 of 6,000).
    """
    return {
        "families": {"cardinality": {"field": "near_family", "precision_threshold": precision}},
        "without_family": {"missing": {"field": "near_family"}},
    }


def exact_families(body: Body, estimate: int) -> Body:
    """Return the search that counts the families of another one, a bucket each."""
    terms = {"field": "near_family", "size": estimate + _ERROR}
    return _counting(body, {"families": {"terms": terms}})


def exact_facets(body: Body, counted: Body, names: Sequence[str]) -> Body | None:
    """Return the search that counts the values of facets that a response has in all shards; None
    where each shard counted all of them.

    A shard leaves out what is not among its own most frequent values.
    """
    aggregations = {}
    for name in names:
        if counted[name].get("doc_count_error_upper_bound", 0):
            values = [
                bucket.get("key_as_string", bucket["key"]) for bucket in counted[name]["buckets"]
            ]
            facet = body["aggs"][name]
            aggregations[name] = {**facet, "terms": {**facet["terms"], "include": values}}
    return _counting(body, aggregations) if aggregations else None


def _counting(body: Body, aggregations: Body) -> Body:
    """Return a search for aggregations of what another one finds, and for no hits."""
    scope = {"query": body["query"]} if "query" in body else {}
    return {**scope, "size": 0, "track_total_hits": False, "aggs": aggregations}


def _dated(minimum: float | None, below: float | None) -> Body:
    """Return the query of documents of a range of dates."""
    own, of_file = (
        {"range": {field: {**_bounds(minimum, below), "format": "epoch_millis"}}}
        for field in _DATES
    )
    has_own = {"exists": {"field": "near_date"}}
    return _one_of([own, {"bool": {"filter": [of_file], "must_not": [has_own]}}])


def _bounds(minimum: float | None, below: float | None) -> Body:
    limits = {"gte": minimum, "lt": below}
    return {name: limit for name, limit in limits.items() if limit is not None}


def _filter(field: str, value: str) -> Body:
    if (limits := range_of(field, value)) is not None:
        if limits.field == "date":
            return _dated(limits.minimum, limits.below)
        bounds = _bounds(limits.minimum, limits.below)
        if limits.field == "modified":  # of other programs' fields, too, whatever their format
            bounds["format"] = "epoch_millis"
        return {"range": {_FIELDS.get(limits.field, limits.field): bounds}}
    if field == "custodian":  # rows of an earlier nearfold have it in their metadata alone
        holders = "near_custodian", "metadata.custodian"
        return _one_of([{"term": {name: {"value": well_formed(value)}}} for name in holders])
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


def carriers(keys: Sequence[Key], limit: int) -> Body:
    """Return a search that counts the rows with any of these keys, those beyond `limit` as one."""
    values: dict[str, list[str]] = defaultdict(list)
    for field, value in keys:
        values[field].append(value)
    clauses = [{"terms": {field: of_field}} for field, of_field in values.items()]
    return {"size": 0, "track_total_hits": limit + 1, "query": {"bool": {"should": clauses}}}


_IS_SCAN: Body = {"exists": {"field": "near_ocr"}}


def scans() -> Body:
    """Return a search of a row whose characters a program recognised."""
    return {"size": 1, "terminate_after": 1, "_source": False, "query": _IS_SCAN}


def candidates(
    keys: Sequence[Key],
    recipes: Sequence[str],
    limit: int,
    shared: int = 1,
    prefilter: Prefilter | None = None,
) -> Body:
    """Return a search of the rows that have at least `shared` of these keys, their score.

    `recipes`: the ids that rows may have; several of an online recipe. Of `prefilter` the lengths
    and scans are looked at.
    """
    filters: list[Body] = [{"terms": {"near_recipe": [*recipes]}}]
    if prefilter and prefilter.lengths:
        filters.append(_of_lengths(prefilter.lengths))
    if prefilter and prefilter.ocr:
        filters.append(_IS_SCAN)
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
    minimum, limit = lengths
    return {"range": {"near_words": {"gte": minimum, "lte": limit}}}


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
                    _of_lengths((lookup.min_words, lookup.max_words)),
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
            **_families(_PRECISION),
        },
    }


# The body of an index.


def index_body() -> Body:
    """Return the body that creates an index, with the mapping of each declared field that
    `mappings/index.json` does not list.
    """
    body: Body = mappings.load("index.json")
    properties = body["mappings"]["properties"]
    for field in FIELDS:
        if field.name != "id":
            properties.setdefault(field.in_engine, field.mapping)
    return body
