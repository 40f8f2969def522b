"""Fields of nested records by dotted names, as engines and JSON Lines have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def field_of(record: object, name: str) -> Any:
    """The value of a field; a dotted name that is none leads into nested records, of a list of them
    into each.

    None where there is nothing.

    >>> field_of({"a": {"b": 1}}, "a.b"), field_of({"a.b": 2}, "a.b"), field_of({"a": 3}, "a.b")
    (1, 2, None)
    >>> field_of({"a": [{"b": 1}, {"b": [2, 3]}, {"c": 4}]}, "a.b")
    [1, 2, 3, None]
    """
    if isinstance(record, list):
        found = [field_of(one, name) for one in record]
        return [each for one in found for each in (one if isinstance(one, list) else [one])]
    if not isinstance(record, Mapping):
        return None
    first, dot, rest = name.partition(".")
    return record[name] if name in record else field_of(record.get(first), rest) if dot else None
