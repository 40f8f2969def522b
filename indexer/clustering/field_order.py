"""Orders of documents by one of their fields, as users write them: `modified:desc`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from indexer.errors import UsageError
from indexer.model import Row

ORDERED = ("path", "title", "modified", "size", "words", "chars", "content_type", "status")
METADATA = "metadata."
_DIRECTIONS = {"": False, "asc": False, "desc": True}
Value: TypeAlias = str | int | None


@dataclass(frozen=True, slots=True)
class FieldOrder:
    """An order by a field of `ORDERED`, or by `metadata.NAME`.

    Documents without a value come last in either direction.
    """

    field: str
    is_descending: bool = False

    def __str__(self) -> str:
        return f"{self.field}:desc" if self.is_descending else self.field

    @property
    def metadata_name(self) -> str | None:
        """Return the name of the metadata that is compared; None for another field."""
        return self.field.removeprefix(METADATA) if self.field.startswith(METADATA) else None

    def value(self, row: Row) -> Value:
        """Return what a document is compared by."""
        if self.metadata_name is not None:
            return row.metadata.get(self.metadata_name)
        value: Value = getattr(row, self.field)
        return value

    def places(self, values: Sequence[Value]) -> list[int]:
        """Return the places of values of this field in order, equal ones as they come.

        >>> FieldOrder("size", is_descending=True).places([3, None, 9, 3])
        [2, 0, 3, 1]
        """
        present = [(value, place) for place, value in enumerate(values) if value is not None]
        present.sort(key=_first, reverse=self.is_descending)
        absent = [place for place, value in enumerate(values) if value is None]
        return [place for _, place in present] + absent


def _first(pair: tuple[str | int, int]) -> tuple[str | int]:
    return (pair[0],)


def parse_order(text: str) -> FieldOrder:
    """Return the order that a user writes as `FIELD`, `FIELD:asc` or `FIELD:desc`.

    Raises `UsageError` for another field or direction.

    >>> parse_order("modified:desc")
    FieldOrder(field='modified', is_descending=True)
    """
    field, _, direction = text.partition(":")
    if field.startswith(METADATA):
        field, _, direction = _split_last(text)
    is_metadata = field.startswith(METADATA) and field != METADATA
    is_known = field in ORDERED or is_metadata
    if not is_known or direction not in _DIRECTIONS:
        raise UsageError(
            f"cannot order by {text!r}; give a field, or FIELD:desc for the opposite order: "
            f"{', '.join(ORDERED)} or metadata.NAME"
        )
    return FieldOrder(field, _DIRECTIONS[direction])


def _split_last(text: str) -> tuple[str, str, str]:
    """Return field, colon and direction; names of metadata hold colons, such as `dc:title`."""
    field, colon, direction = text.rpartition(":")
    return (field, colon, direction) if direction in ("asc", "desc") else (text, "", "")
