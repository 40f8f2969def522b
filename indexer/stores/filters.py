"""Fields that a search can filter on and count, the same in every store."""

from __future__ import annotations

import re
from calendar import isleap, monthrange
from dataclasses import dataclass
from datetime import date

from indexer.errors import UsageError
from indexer.model import CONFLICT

YEAR = "year"  # of the date of a document
FILTERS = (
    "path", "content_type", "status", "labels", "family", "recipe", "extractor", "custodian", YEAR,
)  # fmt: skip
NEAR_DUPLICATES = "near_duplicates"
FAMILY_FILTERS = (CONFLICT, NEAR_DUPLICATES)  # true or false of the family of a document
FOLDER = "folder"
_DAYS = ("date_from", "date_to", "modified_from", "modified_to")
_FROM, _BELOW = "similarity_from", "similarity_below"
FACET_VALUES = 20
_DAY = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)
_EPOCH, _MILLISECONDS = date(1970, 1, 1).toordinal(), 86_400_000
_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."
_MAILS = ("message/rfc822", "application/vnd.ms-outlook")
CONTENT_TYPES = {  # the beginnings of content types, by the name of a kind of documents
    "mail": _MAILS,
    "email": _MAILS,
    "pdf": ("application/pdf",),
    "word": ("application/msword", f"{_OFFICE}wordprocessingml", f"{_OPEN}text", "application/rtf"),
    "excel": ("application/vnd.ms-excel", f"{_OFFICE}spreadsheetml", f"{_OPEN}spreadsheet"),
    "powerpoint": (
        "application/vnd.ms-powerpoint",
        f"{_OFFICE}presentationml",
        f"{_OPEN}presentation",
    ),
    "html": ("text/html", "application/xhtml"),
    "text": ("text/plain",),
    "image": ("image/",),
}
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
    ranges = *_DAYS, _FROM, _BELOW
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

    `field` is `date` or `modified`, in milliseconds since 1970 UTC, or `similarity`, to the
    principal.
    Documents without a value are in no range.
    """

    field: str
    minimum: float | None
    below: float | None


def range_of(field: str, value: str) -> Range | None:
    """Return the range of a filter, None for a filter of another kind; `UsageError` for a value
    that cannot be parsed.

    `date_from`, `date_to` and those of `modified` are days in UTC, both included; `year` is one of
    `date`; `similarity_from` is included, and `similarity_below` is not.

    >>> range_of("modified_to", "1970-01-01")
    Range(field='modified', minimum=None, below=86400000)
    """
    if field in (*_DAYS, YEAR):
        span = span_of_days(value)
        if span is None or (field == YEAR) != (len(value) == len("2024")):
            form = "2024" if field == YEAR else "2024-12-31"
            kind = "year" if field == YEAR else "day"
            raise UsageError(f"{field} is a {kind} such as {form}, not {value!r}")
        start, end = span
        name = field.partition("_")[0] if field != YEAR else "date"
        return Range(
            name, None if field.endswith("_to") else start, None if field.endswith("_from") else end
        )
    if field in (_FROM, _BELOW):
        fraction = _fraction(field, value)
        return Range("similarity", *((fraction, None) if field == _FROM else (None, fraction)))
    return None


def span_of_days(text: str) -> tuple[int, int] | None:
    """Return the first millisecond of a day, a month or a year in UTC, and the first one after it;
    None for another text.

    >>> span_of_days("1970-01-01"), span_of_days("1970")
    ((0, 86400000), (0, 31536000000))
    """
    if not (match := _DAY.fullmatch(text)):
        return None
    year, month, day = (int(part) if part else 0 for part in match.groups())
    try:
        first = date(year, month or 1, day or 1)
    except ValueError:
        return None
    days = 1 if day else 365 + isleap(year)
    if month and not day:
        days = monthrange(year, month)[1]
    start = (first.toordinal() - _EPOCH) * _MILLISECONDS
    return start, start + days * _MILLISECONDS


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
