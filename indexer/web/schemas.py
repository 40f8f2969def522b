"""JSON of answers and the JSON Schema of that JSON, both derived from the answers' classes."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, Union

Schema = dict[str, Any]
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}


def as_json(value: Any) -> Any:
    """Return a value of dataclasses, mappings and sequences in the types that `json` writes."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: as_json(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(name): as_json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    return value


def schemas(*kinds: type) -> dict[str, Schema]:
    """Return the schemas of these classes and of every class in their fields, by name."""
    by_name: dict[str, Schema] = {}
    for kind in kinds:
        _schema(kind, by_name)
    return dict(sorted(by_name.items()))


def reference(kind: type) -> Schema:
    """Return a reference to the schema of a class."""
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def _schema(kind: Any, by_name: dict[str, Schema]) -> Schema:
    if dataclasses.is_dataclass(kind):
        return _class_schema(typing.cast(type, kind), by_name)
    origin = typing.get_origin(kind)
    inner = typing.get_args(kind)
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if kind is type(None):
        return {"type": "null"}
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(option, by_name) for option in inner]}
    if origin is tuple:
        return _tuple_schema(inner, by_name)
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(inner[1], by_name)}
    raise TypeError(f"an answer holds {kind!r}, which has no schema")


def _class_schema(kind: type, by_name: dict[str, Schema]) -> Schema:
    if kind.__name__ not in by_name:
        # The name is entered first, so that a class that refers to itself ends.
        by_name[kind.__name__] = {}
        hints = typing.get_type_hints(kind)
        names = [field.name for field in dataclasses.fields(kind)]
        by_name[kind.__name__] = {
            "type": "object",
            "description": " ".join((kind.__doc__ or "").split()),
            "properties": {name: _schema(hints[name], by_name) for name in names},
            "required": names,
            "additionalProperties": False,
        }
    return reference(kind)


def _tuple_schema(inner: tuple[Any, ...], by_name: dict[str, Schema]) -> Schema:
    if len(inner) == 2 and inner[1] is Ellipsis:
        return {"type": "array", "items": _schema(inner[0], by_name)}
    items = [_schema(kind, by_name) for kind in inner]
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
