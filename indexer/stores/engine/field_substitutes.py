"""Questions about an index whose owner maps fields of our names in another way, or keeps its texts
in another field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from indexer.stores.engine.bodies import Body


# a field that no index has: nothing is found in it, and everything sorts last by it
ABSENT = "near_absent"
_COMPARED = ("path", "content_type", "labels", "modified")
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
_BY_FIELD = frozenset({"term", "terms", "prefix", "sort"})
_NONE: Mapping[str, str] = {}
# no name of a field: under it, where the objects are that hold the texts and are searched apart
_NESTED = "nested objects"


def substitutes(mapping: Mapping[str, Any]) -> Mapping[str, str]:
    """What to ask instead of a field, by its name: nothing in an index of nearfold's own.

    A field that is analysed cannot be compared; its subfield `keyword` is, where there is one.

    >>> substitutes({"_meta": {"nearfold": {"shared": True, "text_field": "body"}}, "properties": {"path": {"type": "text"}}})
    {'text': 'body', 'path': 'near_absent'}
    """
    about = mapping.get("_meta", {}).get("nearfold", {})
    if not about.get("shared"):
        return _NONE
    text = {"text": about["text_field"]} if "text_field" in about else {}
    properties = mapping.get("properties", {})
    if nested := _nested(properties, about.get("text_field", "")):
        text[_NESTED] = nested
    return {
        **text,
        **{
            name: other
            for name in _COMPARED
            if (other := _instead(name, properties.get(name))) is not None
        },
    }


def _nested(properties: Mapping[str, Any], field: str) -> str:
    """The innermost objects of type `nested` around a field, by their path; empty when there are
    none.

    >>> body = {"properties": {"body": {"type": "text"}}}
    >>> _nested({"doc": {"type": "nested", "properties": {"page": body}}}, "doc.page.body"), _nested({"doc": body}, "doc.body")
    ('doc', '')
    """
    first, dot, rest = field.partition(".")
    around = properties.get(first, {})
    if not dot or "properties" not in around:
        return ""
    below = _nested(around["properties"], rest)
    return f"{first}.{below}" if below else first if around.get("type") == "nested" else ""


def _instead(name: str, field: Mapping[str, Any] | None) -> str | None:
    """The field to compare in place of this one; None when it can be compared itself, or is not
    there.
    """
    if field is None or field.get("type") in _COMPARABLE:
        return None
    return (
        f"{name}.keyword"
        if field.get("fields", {}).get("keyword", {}).get("type") == "keyword"
        else ABSENT
    )


def substitute_fields(body: Body, names: Mapping[str, str]) -> Body:
    """A search that asks other fields, where that is needed.

    >>> substitute_fields({"sort": [{"path": "asc"}], "query": {"multi_match": {"query": "path", "fields": ["text^2"]}}},
    ...        {"path": "path.keyword", "text": "body"})
    {'sort': [{'path.keyword': 'asc'}], 'query': {'multi_match': {'query': 'path', 'fields': ['body^2']}}}
    """
    fitted: Body = _fitted(body, names, "") if names else body
    return fitted


def _fitted(value: Any, names: Mapping[str, str], under: str) -> Any:
    if isinstance(value, Mapping):
        if _NESTED in names and "multi_match" in value:
            return _within_nested(value["multi_match"], names)
        named = {
            names.get(name, name) if under in _BY_FIELD else name: (name, part)
            for name, part in value.items()
        }
        return {name: _fitted(part, names, own) for name, (own, part) in named.items()}
    if isinstance(value, list):
        return [_fitted(part, names, under) for part in value]
    if isinstance(value, str) and under in ("field", "fields"):
        name, boosted, boost = value.partition("^")
        return f"{names.get(name, name)}{boosted}{boost}"
    return value


def _within_nested(asked: Mapping[str, Any], names: Mapping[str, str]) -> Body:
    """A `multi_match` field by field, the best of them counting, with the text looked for inside
    its objects.
    """
    plain = {name: other for name, other in names.items() if name != _NESTED}
    queries = []
    for field in asked["fields"]:
        one = _fitted({"multi_match": {**asked, "fields": [field]}}, plain, "")
        within = {"nested": {"path": names[_NESTED], "query": one, "score_mode": "max"}}
        queries.append(within if field.partition("^")[0] == "text" else one)
    return {"dis_max": {"queries": queries}}
