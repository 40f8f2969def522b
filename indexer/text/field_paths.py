"""Fields of nested records by dotted names, as engines and JSON Lines have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def field_of(record: object, name: str) -> Any:
    """Return the value of a field; None where there is none.

    A dotted name that is no field leads into nested records, and into each record of a list.

    >>> field_of({"a": {"b": 1}}, "a.b"), field_of({"a.b": 2}, "a.b"), field_of({"a": 3}, "a.b")
    (1, 2, None)
    >>> field_of({"a": [{"b": 1}, {"b": [2, 3]}, {"c": 4}]}, "a.b")
    [1, 2, 3, None]
    """
    if isinstance(record, list):
        values: list[Any] = []
        for item in record:
            value = field_of(item, name)
            values += value if isinstance(value, list) else [value]
        return values
    if not isinstance(record, Mapping):
        return None
    if name in record:
        return record[name]
    first, dot, rest = name.partition(".")
    return field_of(record.get(first), rest) if dot else None
