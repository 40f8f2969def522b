"""Questions about an index whose owner maps fields of our names in another way, or keeps its texts in another field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indexer.stores.bodies import Body

ABSENT = "near_absent"  # a field that no index has: nothing is found in it, and everything sorts last by it
_COMPARED = ("path", "content_type", "labels", "modified")
_COMPARABLE = frozenset({"keyword", "constant_keyword", "wildcard", "date", "date_nanos", "boolean", "ip", "long", "integer"})
_BY_FIELD = frozenset({"term", "terms", "prefix", "sort"})
_NONE: Mapping[str, str] = {}


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
    return {**text, **{name: other for name in _COMPARED if (other := _instead(name, properties.get(name))) is not None}}


def _instead(name: str, field: Mapping[str, Any] | None) -> str | None:
    """The field to compare in place of this one; None when it can be compared itself, or is not there."""
    if field is None or field.get("type") in _COMPARABLE:
        return None
    return f"{name}.keyword" if field.get("fields", {}).get("keyword", {}).get("type") == "keyword" else ABSENT


def fitted(body: Body, names: Mapping[str, str]) -> Body:
    """A search that asks other fields, where that is needed.

    >>> fitted({"sort": [{"path": "asc"}], "query": {"multi_match": {"query": "path", "fields": ["text^2"]}}},
    ...        {"path": "path.keyword", "text": "body"})
    {'sort': [{'path.keyword': 'asc'}], 'query': {'multi_match': {'query': 'path', 'fields': ['body^2']}}}
    """
    fitted: Body = _fitted(body, names, "") if names else body
    return fitted


def _fitted(value: Any, names: Mapping[str, str], under: str) -> Any:
    if isinstance(value, Mapping):
        named = {names.get(name, name) if under in _BY_FIELD else name: (name, part) for name, part in value.items()}
        return {name: _fitted(part, names, own) for name, (own, part) in named.items()}
    if isinstance(value, list):
        return [_fitted(part, names, under) for part in value]
    if isinstance(value, str) and under in ("field", "fields"):
        name, boosted, boost = value.partition("^")
        return f"{names.get(name, name)}{boosted}{boost}"
    return value
