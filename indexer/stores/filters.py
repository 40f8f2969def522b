"""Fields that a search can filter on and count, the same in every store."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from indexer.errors import UsageError
from indexer.model import CONFLICT

FILTERS = ("path", "content_type", "status", "labels", "family", "recipe", "extractor")
NEAR_DUPLICATES = "near_duplicates"
FAMILY_FILTERS = (CONFLICT, NEAR_DUPLICATES)  # true or false of the family of a document
FOLDER = "folder"
_FIRST_DAY, _LAST_DAY = "modified_from", "modified_to"
_FROM, _BELOW = "similarity_from", "similarity_below"
FACET_VALUES = 20
_METADATA = re.compile(r"metadata\.(?P<name>.+)", re.DOTALL)


def metadata_name(field: str) -> str | None:
    """Return the NAME of a filter field `metadata.NAME`, dots included; None for one of `FILTERS`.

    Other fields raise `UsageError`.

    >>> metadata_name("metadata.dc.creator"), metadata_name("path")
    ('dc.creator', None)
    """
    if field in FILTERS:
        return None
    if match := _METADATA.fullmatch(field):
        return match["name"]
    ranges = _FIRST_DAY, _LAST_DAY, _FROM, _BELOW
    choices = ", ".join((*FILTERS, FOLDER, *ranges, *FAMILY_FILTERS))
    raise UsageError(f"cannot filter on {field!r}; choose one of: {choices}, metadata.NAME")


def family_value(field: str, value: str) -> bool:
    """Parse the value of one of `FAMILY_FILTERS`; anything but `true` and `false` raises
    `UsageError`.
    """
    if value not in ("true", "false"):
        raise UsageError(f"{field} is true or false, not {value!r}")
    return value == "true"


@dataclass(frozen=True, slots=True)
class Range:
    """The documents with a field of at least `minimum`, or below `below`; the other one is None.

    `field` is `modified`, in milliseconds since 1970 UTC, or `similarity`, to the principal.
    Documents without a value are in no range.
    """

    field: str
    minimum: float | None
    below: float | None


def range_of(field: str, value: str) -> Range | None:
    """Return the range of a filter, None for a filter of another kind; `UsageError` for a value
    that cannot be parsed.

    `modified_from` and `modified_to` are days in UTC, both included; `similarity_from` is, and
    `similarity_below` is not.

    >>> range_of("modified_to", "1970-01-01")
    Range(field='modified', minimum=None, below=86400000)
    """
    if field in (_FIRST_DAY, _LAST_DAY):
        day = _milliseconds(field, value)
        if field == _FIRST_DAY:
            return Range("modified", day, None)
        return Range("modified", None, day + timedelta(days=1) // timedelta(milliseconds=1))
    if field in (_FROM, _BELOW):
        fraction = _fraction(field, value)
        return Range("similarity", *((fraction, None) if field == _FROM else (None, fraction)))
    return None


def _milliseconds(field: str, value: str) -> int:
    try:
        day = datetime.strptime(value, "%Y-%m-%d").replace(tzinfo=timezone.utc)
    except ValueError:
        raise UsageError(f"{field} is a day such as 2024-12-31, not {value!r}") from None
    return (day - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1)


def _fraction(field: str, value: str) -> float:
    try:
        fraction = float(value)
    except ValueError:
        fraction = -1.0
    if not 0 <= fraction <= 1:
        raise UsageError(f"{field} is a number from 0 to 1, not {value!r}")
    return fraction


def facet_field(field: str) -> str:
    """Return the field if its values can be counted; other fields raise `UsageError`."""
    if field in FILTERS:
        return field
    raise UsageError(f"cannot count the values of {field!r}; choose one of: {', '.join(FILTERS)}")
