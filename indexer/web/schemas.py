"""JSON of answers, and the JSON Schema of that JSON, both read off the answers' own classes."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, Union

Schema = dict[str, Any]
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}


def as_json(value: Any) -> Any:
    """A value of dataclasses, mappings and sequences as what `json` writes."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: as_json(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        return {str(name): as_json(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(one) for one in value]
    return value


def schemas(*kinds: type) -> dict[str, Schema]:
    """The schema of each of these classes and of every class in them, by name."""
    made: dict[str, Schema] = {}
    for kind in kinds:
        _schema(kind, made)
    return dict(sorted(made.items()))


def reference(kind: type) -> Schema:
    """Where the schema of a class is found."""
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def _schema(kind: Any, made: dict[str, Schema]) -> Schema:
    if dataclasses.is_dataclass(kind):
        return _of_class(typing.cast(type, kind), made)
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if kind is type(None):
        return {"type": "null"}
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(one, made) for one in inner]}
    if origin is tuple:
        return _of_tuple(inner, made)
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(inner[1], made)}
    raise TypeError(f"an answer holds {kind!r}, which has no schema")


def _of_class(kind: type, made: dict[str, Schema]) -> Schema:
    if kind.__name__ not in made:
        made[kind.__name__] = {}
        hints = typing.get_type_hints(kind)
        names = [field.name for field in dataclasses.fields(kind)]
        made[kind.__name__] = {
            "type": "object",
            "description": " ".join((kind.__doc__ or "").split()),
            "properties": {name: _schema(hints[name], made) for name in names},
            "required": names,
            "additionalProperties": False,
        }
    return reference(kind)


def _of_tuple(inner: tuple[Any, ...], made: dict[str, Schema]) -> Schema:
    if len(inner) == 2 and inner[1] is Ellipsis:
        return {"type": "array", "items": _schema(inner[0], made)}
    items = [_schema(one, made) for one in inner]
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
