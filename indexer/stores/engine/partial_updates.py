"""Partial updates of a document: what they would lose, because `_source` lacks it.

An engine applies a partial update, and copies a document, by its `_source`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from indexer.stores.engine.index_mapping import leaf_fields

_SYNTHETIC_MODES = ("logsdb", "time_series")
# Types without an index or doc values unless these are set.
_UNINDEXED = frozenset({"binary"})
# Types that have no doc values.
_TEXTS = frozenset({"text", "match_only_text", "annotated_text", "search_as_you_type"})


def source_gap(index: Mapping[str, Any]) -> str:
    """Return what `_source` lacks of the documents of an index, in words; empty when a partial
    update can lose nothing.

    `index` is the engine's description, with settings and mappings. A pattern counts if a field
    that it takes out may still be added to the mapping.

    >>> text = {"text": {"type": "text"}}
    >>> source_gap({"mappings": {"properties": text}})
    ''
    >>> source_gap({"mappings": {"_source": {"excludes": ["text"]}, "properties": text}})
    'leaves text out of `_source`'
    >>> source_gap({"mappings": {"_source": {"enabled": False}}})
    'has its `_source` disabled'
    """
    mapping = index.get("mappings", {})
    mode = _mode(index)
    if mode == "disabled":
        return "has its `_source` disabled"
    if mode != "stored":
        return f"keeps no `_source` but makes one from its fields ({mode})"
    names = [*dict.fromkeys((*_unsourced(mapping), *_patterns_to_come(mapping)))]
    return f"leaves {', '.join(names)} out of `_source`" if names else ""


def is_sourced(index: Mapping[str, Any], field: str) -> bool:
    """Return whether the values of a field can be read from `_source`.

    >>> of_pages = {"mappings": {"_source": {"includes": ["page"]}}}
    >>> is_sourced(of_pages, "page.body"), is_sourced(of_pages, "text")
    (True, False)
    """
    return _mode(index) != "disabled" and not _is_left_out(index.get("mappings", {}), field)


def _mode(index: Mapping[str, Any]) -> str:
    """Return how an index keeps `_source`: `stored`, `disabled`, `synthetic` or `derived`."""
    config = index.get("mappings", {}).get("_source", {})
    settings = index.get("settings", {}).get("index", {})
    if str(config.get("enabled", True)).lower() == "false":
        return "disabled"
    if str(settings.get("derived_source", {}).get("enabled")).lower() == "true":
        return "derived"
    by_kind = "synthetic" if settings.get("mode") in _SYNTHETIC_MODES else "stored"
    mode = settings.get("mapping", {}).get("source", {}).get("mode")
    return str(config.get("mode") or mode or by_kind).lower()


def _is_left_out(mapping: Mapping[str, Any], path: str) -> bool:
    """Return whether the patterns of `_source` take a field out.

    A pattern names a field, or an object with all that is in it; `*` stands for anything.
    """
    config = mapping.get("_source", {})
    includes, excludes = config.get("includes"), config.get("excludes")
    if excludes and _matches(excludes, path):
        return True
    return bool(includes) and not _matches(includes, path)


def _matches(patterns: list[str], path: str) -> bool:
    parts = path.split(".")
    paths = [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
    return any(
        re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), position, re.DOTALL)
        for pattern in patterns
        for position in paths
    )


def _unsourced(mapping: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields that the index holds and `_source` lacks, by name."""
    for path, definition in sorted(leaf_fields(mapping)):
        if _is_held(definition) and _is_left_out(mapping, path):
            yield path


def _is_held(definition: Mapping[str, Any]) -> bool:
    """Return whether the index holds values of a field, or of fields made from it, outside of
    `_source`.
    """
    kind = definition.get("type", "object")
    if kind == "alias" or (kind == "object" and definition.get("enabled") is False):
        return False
    if definition.get("copy_to") or definition.get("fields") or definition.get("store"):
        return True
    is_indexed = definition.get("index", kind not in _UNINDEXED)
    has_columns = definition.get("doc_values", kind not in (_UNINDEXED | _TEXTS))
    return bool(is_indexed or has_columns)


def _patterns_to_come(mapping: Mapping[str, Any]) -> Iterator[str]:
    """Yield the patterns that may take out fields which documents have yet to add."""
    config = mapping.get("_source", {})
    if not _has_open_object(mapping):
        return
    mapped = dict(leaf_fields(mapping))
    for pattern in config.get("excludes") or ():
        if pattern not in mapped:
            yield pattern
    if config.get("includes") and "*" not in config["includes"]:
        yield "fields that are not mapped yet"


def _has_open_object(mapping: Mapping[str, Any], inherited: object = True) -> bool:
    """Return whether documents may add fields to a mapping, or to an object in it."""
    dynamic = mapping.get("dynamic", inherited)
    if str(dynamic).lower() == "true":
        return True
    objects = (field for field in mapping.get("properties", {}).values() if "properties" in field)
    return any(_has_open_object(field, dynamic) for field in objects)
