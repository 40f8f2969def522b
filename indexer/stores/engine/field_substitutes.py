"""Field substitution for searches of an index that another program owns.

Its owner may map fields of nearfold's names in another way, or keep texts in another field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

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
_BY_FIELD = frozenset({"term", "terms", "prefix", "sort", "regexp", "intervals"})
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
