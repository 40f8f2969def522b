"""Fields that a search can filter on and count, the same in every store."""

from __future__ import annotations

import re

from indexer.errors import UsageError

FILTERS = ("path", "content_type", "status", "labels", "family", "recipe")
CONFLICT = "label_conflict"
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
    choices = ", ".join((*FILTERS, CONFLICT))
    raise UsageError(f"cannot filter on {field!r}; choose one of: {choices}, metadata.NAME")


def conflict_value(value: str) -> bool:
    """Parse the value of a `label_conflict` filter; anything but `true` and `false` raises
    `UsageError`.
    """
    if value not in ("true", "false"):
        raise UsageError(f"{CONFLICT} is true or false, not {value!r}")
    return value == "true"


def facet_field(field: str) -> str:
    """Return the field if its values can be counted; other fields raise `UsageError`."""
    if field in FILTERS:
        return field
    raise UsageError(f"cannot count the values of {field!r}; choose one of: {', '.join(FILTERS)}")
