"""Field substitution for searches: of an index that another program owns, and of one with the
plugin's layout.

An owner may map fields of nearfold's names in another way, or keep texts in another field. The
plugin has the fingerprint of a text in columns of its own.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from indexer.fingerprinting.fingerprint import COPY_DIGITS, PROVISIONAL, lengthen
from indexer.recipe import Recipe
from indexer.stores.engine.index_mapping import GROUPED

if TYPE_CHECKING:
    from indexer.stores.engine.search_bodies import Body


# a field that no index has: it matches nothing, and every document sorts last by it
ABSENT = "near_absent"
_COMPARED = ("path", "content_type", "labels", "modified")
_STRINGS = frozenset({"keyword", "constant_keyword", "wildcard"})
_COMPARABLE = frozenset(
    {
        "keyword",
        "constant_keyword",
        "wildcard",
        "date",
        "date_nanos",
        "boolean",
        "ip",
        "long",
        "integer",
    }
)
# types of which an engine keeps whole values, and no words
_WHOLE = _COMPARABLE | {"short", "byte", "double", "float", "half_float", "scaled_float"}
_WHOLE |= {"unsigned_long", "object", "nested", "flattened", "flat_object", "binary"}
_WORDS = frozenset({"text", "match_only_text", "annotated_text", "search_as_you_type"})
_BY_FIELD = frozenset({"term", "terms", "prefix", "wildcard", "sort", "regexp", "intervals"})
_NONE: Mapping[str, str] = {}
# not the name of a field: the key of the path of the nested objects that hold the texts
_NESTED = "nested objects"


def substitutes(mapping: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the field to search instead of each field by its name; empty in nearfold's own index.

    An analysed field cannot be compared; its subfield `keyword` takes its place, else `ABSENT`. Of
    a field of whole values, a subfield that is analysed is searched for words, else `ABSENT`.

    >>> meta = {"nearfold": {"shared": True, "text_field": "body"}}
    >>> substitutes({"_meta": meta, "properties": {"path": {"type": "text"}}})
    {'text': 'body', 'path': 'near_absent'}
    """
    about = mapping.get("_meta", {}).get("nearfold", {})
    if not about.get("shared"):
        return _NONE
    properties = mapping.get("properties", {})
    text = about.get("text_field", "text")
    searched = {"text": _searchable(mapping, text), "title": _searchable(mapping, "title")}
    if (_definition(mapping, "title") or {}).get("type") == "keyword":
        searched["title"] = "title"  # whole titles are found
    names = {name: field for name, field in searched.items() if name != field}
    if nested := _nested(properties, about.get("text_field", "")):
        names[_NESTED] = nested
    for name in _COMPARED:
        comparable = _comparable(name, properties.get(name))
        if comparable is not None:
            names[name] = comparable
    return names


def _nested(properties: Mapping[str, Any], field: str) -> str:
    """Return the path of the innermost `nested` objects around a field; empty when there are none.

    >>> body = {"properties": {"body": {"type": "text"}}}
    >>> _nested({"doc": {"type": "nested", "properties": {"page": body}}}, "doc.page.body")
    'doc'
    >>> _nested({"doc": body}, "doc.body")
    ''
    """
    first, dot, rest = field.partition(".")
    parent = properties.get(first, {})
    if not dot or "properties" not in parent:
        return ""
    below = _nested(parent["properties"], rest)
    if below:
        return f"{first}.{below}"
    return first if parent.get("type") == "nested" else ""


def _searchable(mapping: Mapping[str, Any], path: str) -> str:
    """Return the field in which the words of a field are searched; `ABSENT` when there is none.

    >>> code = {"type": "keyword", "fields": {"raw": {"type": "keyword"}, "w": {"type": "text"}}}
    >>> _searchable({"properties": {"doc": {"properties": {"code": code}}}}, "doc.code")
    'doc.code.w'
    >>> _searchable({"properties": {"code": {"type": "text", "index": False}}}, "code")
    'near_absent'
    """
    field = _definition(mapping, path)
    if field is None or (_kind(field) not in _WHOLE and field.get("index", True)):
        return path
    subfields = field.get("fields", {}).items()
    words = (name for name, sub in subfields if _kind(sub) in _WORDS and sub.get("index", True))
    subfield = next(words, None)
    return ABSENT if subfield is None else f"{path}.{subfield}"


def _definition(mapping: Mapping[str, Any], path: str) -> Mapping[str, Any] | None:
    """Return the definition of a field, which may lie in objects; None where it is not mapped."""
    first, dot, rest = path.partition(".")
    field: Mapping[str, Any] | None = mapping.get("properties", {}).get(first)
    return _definition(field, rest) if dot and field else field


def _kind(field: Mapping[str, Any]) -> str:
    return str(field.get("type", "object"))


def _comparable(name: str, field: Mapping[str, Any] | None) -> str | None:
    """Return the field to compare instead of this one; None when it is comparable or absent."""
    types = _STRINGS if name == "path" else _COMPARABLE  # by which hits are sorted, as texts
    if field is None or field.get("type") in types:
        return None
    subfield = field.get("fields", {}).get("keyword", {})
    return f"{name}.keyword" if subfield.get("type") == "keyword" else ABSENT


def substitute_fields(body: Body, names: Mapping[str, str]) -> Body:
    """Return a search with the fields of `names` replaced.

    >>> names = {"path": "path.keyword", "text": "body"}
    >>> substitute_fields({"sort": [{"path": "asc"}]}, names)
    {'sort': [{'path.keyword': 'asc'}]}
    >>> substitute_fields({"multi_match": {"query": "path", "fields": ["text^2"]}}, names)
    {'multi_match': {'query': 'path', 'fields': ['body^2']}}
    """
    substituted: Body = _substitute(body, names, "") if names else body
    return substituted


def _substitute(value: Any, names: Mapping[str, str], clause: str) -> Any:
    """Return a part of a search with other fields; `clause` is the key that it stands under."""
    if isinstance(value, Mapping):
        if _NESTED in names and "multi_match" in value:
            return _search_nested(value["multi_match"], names)
        if _NESTED in names and "text" in value.get("intervals", ()):
            plain_names = {name: field for name, field in names.items() if name != _NESTED}
            query = _substitute(value, plain_names, clause)
            return {"nested": {"path": names[_NESTED], "query": query}}
        substituted = {}
        for name, part in value.items():
            field = names.get(name, name) if clause in _BY_FIELD else name
            substituted[field] = _substitute(part, names, name)
        return substituted
    if isinstance(value, list):
        return [_substitute(part, names, clause) for part in value]
    if isinstance(value, str) and clause in ("field", "fields"):
        name, boosted, boost = value.partition("^")
        return f"{names.get(name, name)}{boosted}{boost}"
    return value


def _search_nested(multi_match: Mapping[str, Any], names: Mapping[str, str]) -> Body:
    """Return a `multi_match` as one query a field, scored by the best of them.

    The text is searched inside its nested objects.
    """
    plain_names = {name: field for name, field in names.items() if name != _NESTED}
    queries = []
    for field in multi_match["fields"]:
        query = _substitute({"multi_match": {**multi_match, "fields": [field]}}, plain_names, "")
        if field.partition("^")[0] == "text":
            query = {"nested": {"path": names[_NESTED], "query": query, "score_mode": "max"}}
        queries.append(query)
    return {"dis_max": {"queries": queries}}


# The columns of the plugin below a text, such as `text.near` and `text.near.status`.

_KEYED = ["complete", "truncated"]  # the statuses of texts with keys
_COPIED = ["complete", "too_short", "numbers_only"]  # and of texts that may have copies
_IN_COLUMN = "in a column"  # ends the name of an aggregation that a response has in another one
_NOT_STORED: Body = {}


@dataclass(frozen=True, slots=True)
class PluginColumns:
    """The columns of an index with the plugin's layout.

    Searches name the fields of the pipeline's layout: `rewrite` puts the columns in their stead,
    and `restore` gives the response of the pipeline's layout. A stored `near_status` or
    `near_exact` precedes the column, which knows the text alone. A document that has no group, or
    whose text changed since it got it, is in the provisional family of its text.

    `field` is of type `near_duplicate`, and a sub-field of `text`; `recipe` is that of the index.
    """

    field: str
    text: str
    recipe: Recipe

    def rewrite(self, body: Body) -> Body:
        """Return a search with the columns of the plugin."""
        changed = dict(body)
        if "query" in body:
            changed["query"] = self._query(body["query"])
        if "docvalue_fields" in body:
            fields = [field for name in body["docvalue_fields"] for field in self._columns(name)]
            changed["docvalue_fields"] = list(dict.fromkeys(fields))
        if "aggs" in body:
            changed["aggs"] = self._aggregations(body["aggs"])
        return changed

    def _column(self, name: str) -> str:
        return f"{self.field}.{name}"

    def _columns(self, name: str) -> Iterator[str]:
        """Yield the doc values from which `restore` makes the values of a field."""
        if name == "near_minhash" and not self.recipe.slots:
            return  # an engine refuses a field without doc values
        columns = {"near_minhash": self.field}
        columns |= {f"near_{name}": self._column(name) for name in ("simhash", "words", "chars")}
        if name in columns:
            yield columns[name]
            return
        yield name
        if name == "near_family":
            yield from (GROUPED, "near_exact", self._column("exact"), self._column("status"))
        elif name in ("near_exact", "near_status"):
            yield self._column(name.removeprefix("near_"))

    def _query(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._query(clause) for clause in value]
        if not isinstance(value, Mapping):
            return value
        changed = {}
        for clause, content in value.items():
            leaf = self._leaf(clause, content)
            if leaf is not None:
                return leaf
            changed[clause] = self._query(content)
        return changed

    def _leaf(self, clause: str, content: Any) -> Body | None:
        """Return a clause about a field that is a column; None for another clause."""
        if not isinstance(content, Mapping):
            return None
        if clause == "exists":
            return self._existing(content["field"])
        if clause == "range":
            names = {f"near_{name}": self._column(name) for name in ("words", "chars")}
            field = next(iter(content))
            return {"range": {names[field]: content[field]}} if field in names else None
        if clause not in ("term", "terms"):
            return None
        field, value = next(iter(content.items()))
        if isinstance(value, Mapping):
            value = value["value"]
        return self._with_values(field, value if isinstance(value, list) else [value])

    def _existing(self, field: str) -> Body | None:
        if field in ("near_bands", "near_minhash"):
            return {"terms": {self._column("status"): _KEYED}}
        if field in ("near_recipe", "near_status"):
            return {"exists": {"field": self.field}}
        return None

    def _with_values(self, field: str, values: list[Any]) -> Body | None:
        if field == "near_bands":
            return {"terms": {self.field: values}}
        if field == "near_blocks":
            return {"terms": {self._column("simhash"): values}}
        if field == "near_recipe":
            is_recipe = self.recipe.id in values
            return {"exists": {"field": self.field}} if is_recipe else {"match_none": {}}
        if field == "near_provisional" and values == [True]:
            return {"bool": {"must_not": [{"term": {field: False}}]}}
        if field == "near_status":
            return self._unless_stored(field, values, "status", values)
        if field == "near_exact":
            return self._unless_stored(field, values, "exact", list(map(column_digest, values)))
        if field == "near_family":
            names = [name.removeprefix(PROVISIONAL) for name in values if _is_of_text(name)]
            return self._unless_stored(field, values, "exact", names)
        return None

    def _unless_stored(
        self, field: str, values: list[Any], column: str, in_column: Sequence[str]
    ) -> Body:
        """Return the query of a stored field, or of a column where a document has no such field."""
        by_column = {
            "filter": [{"terms": {self._column(column): list(in_column)}}],
            "must_not": [{"exists": {"field": field}}],
        }
        return {"bool": {"should": [{"terms": {field: values}}, {"bool": by_column}]}}

    def _aggregations(self, aggregations: Body) -> Body:
        changed: Body = {}
        for name, body in aggregations.items():
            inner = {"aggs": self._aggregations(body["aggs"])} if "aggs" in body else {}
            field = body.get("terms", body.get("missing", _NOT_STORED)).get("field")
            other = f"{name} {_IN_COLUMN}"
            if "terms" in body and field == "near_recipe":
                known = [{"exists": {"field": self.field}}, self._without_text()]
                changed[other] = {"filter": {"bool": {"should": known}}, **inner}
            elif "terms" in body and field == "near_status":
                column = {"terms": {**body["terms"], "field": self._column("status")}, **inner}
                missing = {"bool": {"must_not": [{"exists": {"field": field}}]}}
                changed[name] = {**body, **inner}
                changed[other] = {"filter": missing, "aggs": {name: column}}
                changed[f"{name} without text"] = {"filter": self._without_text()}
            elif "missing" in body and field == "near_family":
                texts = {"cardinality": {**_PRECISE, "field": self._column("exact")}}
                copied = {"terms": {self._column("status"): _COPIED}}
                changed[name] = {
                    **body,
                    "aggs": {_IN_COLUMN: {"filter": copied, "aggs": {"texts": texts}}},
                }
            elif "filter" in body:
                changed[name] = {**body, "filter": self._query(body["filter"]), **inner}
            else:
                changed[name] = {**body, **inner}
        return changed

    def _without_text(self) -> Body:
        fields = [{"exists": {"field": name}} for name in (self.field, self.text, "near_status")]
        return {"bool": {"must_not": fields}}

    def restore(self, response: Body) -> Body:
        """Return a response with the fields of the pipeline's layout, changed in its own hits."""
        for hit in response["hits"].get("hits", ()):
            if "fields" in hit:
                hit["fields"] = self._stored_fields(hit["fields"])
        if "aggregations" in response:
            response = {**response, "aggregations": self._counted(response["aggregations"])}
        return response

    def _stored_fields(self, fields: Body) -> Body:
        """Return the doc values of a hit under the names, and in the form, of stored fields."""
        prefix = f"{self.field}."
        columns = {
            name.removeprefix(prefix): values[0]
            for name, values in fields.items()
            if name.startswith(prefix)
        }
        stored = {
            name: values
            for name, values in fields.items()
            if name not in (self.field, GROUPED) and not name.startswith(prefix)
        }
        if self.field in fields:
            stored["near_minhash"] = fields[self.field]
        if "simhash" in columns:
            packed = binascii.a2b_base64(f"{columns['simhash']}==")
            stored["near_simhash"] = [int.from_bytes(packed, "big", signed=True)]
        stored |= {
            f"near_{name}": [columns[name]] for name in ("words", "chars") if name in columns
        }
        if "status" in columns:
            stored.setdefault("near_status", [columns["status"]])
        if "exact" in columns:
            self._set_family(stored, fields.get(GROUPED), columns)
            digest = base64.urlsafe_b64decode(columns["exact"]).hex()
            stored.setdefault("near_exact", [digest])
        return stored

    def _set_family(self, stored: Body, grouped: list[str] | None, columns: Body) -> None:
        """Set the family of a document that has no group, or one of another text."""
        exact = columns["exact"]
        if "near_exact" in stored:
            exact = column_digest(stored["near_exact"][0])
        if grouped == [exact] and "near_family" in stored:
            return
        stored.pop("near_family", None)
        if stored.get("near_status", [""])[0] in _COPIED:
            stored["near_family"] = [f"{PROVISIONAL}{exact}"]

    def _counted(self, aggregations: Body) -> Body:
        """Return the aggregations as the pipeline's layout has them."""
        counted: Body = {}
        for name, value in aggregations.items():
            if name.endswith(f" {_IN_COLUMN}"):
                base = name.removesuffix(f" {_IN_COLUMN}")
                counted[base] = self._merged(aggregations, base, self._counted(value))
            elif isinstance(value, Mapping) and f"{name} {_IN_COLUMN}" not in aggregations:
                if not name.endswith(" without text"):
                    counted[name] = self._single(value)
            elif not isinstance(value, Mapping):
                counted[name] = value
        return counted

    def _single(self, value: Mapping[str, Any]) -> Body:
        """Return one aggregation: of documents without a family, each text counts once."""
        if _IN_COLUMN in value:
            copied = value[_IN_COLUMN]
            single = value["doc_count"] - copied["doc_count"] + copied["texts"]["value"]
            return {"doc_count": single}
        if isinstance(value.get("buckets"), list):
            return {**value, "buckets": [self._counted(bucket) for bucket in value["buckets"]]}
        return self._counted(dict(value))

    def _merged(self, aggregations: Body, name: str, column: Body) -> Body:
        """Return the buckets of a stored field, with those of the column where that is missing."""
        if name not in aggregations:
            buckets = [{"key": self.recipe.id, **column}] if column["doc_count"] else []
            return {"buckets": buckets}
        buckets = [*self._single(aggregations[name])["buckets"], *column[name]["buckets"]]
        textless = aggregations.get(f"{name} without text", {"doc_count": 0})["doc_count"]
        if textless:
            buckets.append({"key": "empty", "doc_count": textless, **_NO_FAMILIES})
        by_key: dict[str, Body] = {}
        for bucket in buckets:
            known = by_key.get(bucket["key"])
            by_key[bucket["key"]] = _sum(known, bucket) if known else bucket
        ordered = sorted(by_key.values(), key=lambda bucket: (-bucket["doc_count"], bucket["key"]))
        return {"buckets": ordered}


_PRECISE = {"precision_threshold": 40_000}
_NO_FAMILIES: Body = {"families": {"value": 0}, "without_family": {"doc_count": 0}}


def _sum(left: Body, right: Body) -> Body:
    """Return the bucket of two buckets without a document in common."""
    families = {
        name: {field: left[name][field] + right[name][field]}
        for name, field in (("families", "value"), ("without_family", "doc_count"))
        if name in left and name in right
    }
    return {**left, "doc_count": left["doc_count"] + right["doc_count"], **families}


def column_digest(exact: str) -> str:
    """Return a digest, in any form in which it is stored, as the plugin's column has it.

    >>> column_digest("00" * 32), column_digest("00" * 12), column_digest("none")
    ('AAAAAAAAAAAAAAAA', 'AAAAAAAAAAAAAAAA', 'none')
    """
    try:
        packed = bytes.fromhex(lengthen(exact))
    except ValueError:
        return exact
    return base64.urlsafe_b64encode(packed[: COPY_DIGITS // 2]).decode("ascii")


def _is_of_text(family: str) -> bool:
    """Return whether a family is the provisional one of a text in an index with this layout."""
    return family.startswith(PROVISIONAL) and len(family) == len(PROVISIONAL) + 16
