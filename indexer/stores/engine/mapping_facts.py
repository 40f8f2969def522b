"""Facts about an index from its mapping: where texts are, and who writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indexer.stores.engine.painless import TEXT

FIELD_LIMIT = "index.mapping.total_fields.limit"
_FIELDS = 1_000  # the limit where an index does not say
# Types of fields that hold other fields without naming them.
OBJECT_TYPES = ("object", "nested", "flattened", "flat_object")
WRITE_ALIAS = (
    "write_alias"  # in `_meta` of an index that others share: the alias that nearfold made
)


def text_field(mapping: Mapping[str, Any]) -> str | None:
    """Return the field whose texts are signed in an index or by a template, as its `_meta` says;
    None without `_meta` of nearfold.

    >>> text_field({"_meta": {"nearfold": {"text_field": "body"}}})
    'body'
    >>> text_field({"_meta": {"nearfold": {}}}), text_field({})
    ('text', None)
    """
    facts = mapping.get("_meta", {}).get("nearfold")
    return None if facts is None else facts.get("text_field", TEXT)


def is_shared(mapping: Mapping[str, Any]) -> bool:
    """Return whether other programs write into an index too, as its `_meta` says.

    False for an index that nearfold created for itself.
    """
    return bool(mapping.get("_meta", {}).get("nearfold", {}).get("shared", False))


def changed_meta(mapping: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `_meta` of a mapping with changes in nearfold's part; None takes a value out.

    >>> changed_meta({"_meta": {"owner": "ann", "nearfold": {"a": 1, "b": 2}}}, {"a": None, "c": 3})
    {'owner': 'ann', 'nearfold': {'b': 2, 'c': 3}}
    """
    meta = mapping["_meta"]
    kept = {name: value for name, value in meta["nearfold"].items() if name not in changes}
    new = {name: value for name, value in changes.items() if value is not None}
    return {**meta, "nearfold": {**kept, **new}}


def write_alias_of(index: str) -> str:
    """Return the alias for writes that an index of this name gets.

    >>> write_alias_of("papers")
    'papers-write'
    """
    return f"{index}-write"


def own_write_alias(name: str, mapping: Mapping[str, Any]) -> str | None:
    """Return the alias for writes that nearfold itself gave to an index of this name; None where
    it gave none, or an earlier nearfold gave one to an index that other programs share.

    >>> own_write_alias("papers", {"_meta": {"nearfold": {}}})
    'papers-write'
    >>> own_write_alias("papers", {"_meta": {"nearfold": {"shared": True}}}) is None
    True
    """
    if not is_shared(mapping):
        return write_alias_of(name)
    alias: str | None = mapping["_meta"]["nearfold"].get(WRITE_ALIAS)
    return alias


def given_aliases(name: str, index: Mapping[str, Any]) -> dict[str, Any]:
    """Return the aliases of an index, with their settings, but for the one that nearfold itself
    gave to it for writes.

    `index`: its aliases and its mapping, as an engine answers.
    """
    own_alias = own_write_alias(name, index["mappings"])
    return {alias: body for alias, body in index.get("aliases", {}).items() if alias != own_alias}


def has_own_analysis(mapping: Mapping[str, Any]) -> bool:
    """Return whether nearfold made an index, with its own analysis of texts.

    False for an analysis of what every distribution of an engine has, which keeps `don't` whole.
    """
    return bool(mapping.get("_meta", {}).get("nearfold", {}).get("analysis") == "words_v1")


def is_adopted(mapping: Mapping[str, Any]) -> bool:
    """Return whether another program made an index, which got the `near_*` fields later, if at all.

    False where nearfold made it, itself or by its index template.

    >>> is_adopted({}), is_adopted({"_meta": {"nearfold": {"analysis": "words_v1"}}})
    (True, False)
    """
    return "analysis" not in mapping.get("_meta", {}).get("nearfold", {})


def blocks_of(description: Mapping[str, Any]) -> list[str]:
    """Return the settings by which an index refuses writes or changes, sorted.

    >>> blocks_of({"settings": {"index": {"blocks": {"write": "true", "read_only": "false"}}}})
    ['index.blocks.write']
    """
    blocks = description.get("settings", {}).get("index", {}).get("blocks", {})
    return [f"index.blocks.{name}" for name, value in sorted(blocks.items()) if value == "true"]


def field_limit(description: Mapping[str, Any]) -> int:
    """Return how many fields the mapping of an index may have.

    >>> field_limit({"settings": {"index": {"mapping": {"total_fields": {"limit": "50"}}}}})
    50
    >>> field_limit({})
    1000
    """
    settings = description.get("settings", {}).get("index", {}).get("mapping", {})
    return int(settings.get("total_fields", {}).get("limit", _FIELDS))


def fields_left(description: Mapping[str, Any], added: int) -> int:
    """Return how many more fields an index may have once these are added; below 0 if too few.

    >>> fields_left({"mappings": {"properties": {"text": {}}}}, 30)
    969
    """
    return field_limit(description) - count_fields(description.get("mappings", {})) - added


def count_fields(mapping: Mapping[str, Any]) -> int:
    """Return the number of fields of a mapping by which engines limit it: objects, and fields in
    fields, count too.

    >>> count_fields({"properties": {"page": {"properties": {"body": {"type": "text"}}}}})
    2
    >>> count_fields({"properties": {"text": {"type": "text", "fields": {"raw": {}}}}})
    2
    """
    properties = mapping.get("properties", {})
    inner = sum(count_fields(field) + len(field.get("fields", {})) for field in properties.values())
    return len(properties) + inner + len(mapping.get("runtime", {}))


def may_hold(mapping: Mapping[str, Any], field: str) -> bool:
    """Return whether documents of an index may have a text in this field; also True where its
    mapping does not say.

    >>> theirs = {"properties": {"page": {"properties": {"body": {"type": "text"}}}}}
    >>> may_hold(theirs, "page.body"), may_hold(theirs, "body"), may_hold({}, "body")
    (True, False, True)
    >>> may_hold({**theirs, "dynamic": "false"}, "body")
    True
    """
    properties = {
        name: definition
        for name, definition in mapping.get("properties", {}).items()
        if not name.startswith("near_")
    }
    first, dot, rest = field.partition(".")
    if field in properties or not properties or mapping.get("enabled") is False:
        return True
    if dot and first in properties:
        inner = properties[first]
        if "properties" in inner:
            return may_hold(inner, rest)
        return inner.get("type", "object") in OBJECT_TYPES
    return mapping.get("dynamic") in (False, "false", "runtime")
