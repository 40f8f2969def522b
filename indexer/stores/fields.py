"""The fields of a stored row, each declared once, and the limits of every store.

To add a field: give it to `Row` with a default, and declare it in `FIELDS`; the stores derive
columns, mappings, conversions and migrations from it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import chain
from operator import attrgetter
from typing import Any, Literal, TypeAlias

from indexer.errors import UsageError
from indexer.model import Row
from indexer.recipe import settings_id_of
from indexer.stores.base import Store
from indexer.wording import well_formed

BATCH = 256
MAX_ID_BYTES = 512
MAX_KEYWORD_BYTES = 32_766
_MAX_KEY, _IN_KEYS = 64, b"0123456789abcdefghijklmnopqrstuvwxyz "

Kind: TypeAlias = Literal[
    "text", "keyword", "digest", "time", "size", "count", "fraction", "flag", "bits", "bytes",
    "labels", "keys", "metadata",
]  # fmt: skip
"""The type of a field. `text`: searched by its words; `keyword`: compared as a whole; `digest`: a
keyword, most often a SHA-256 in hexadecimal digits; `time`: milliseconds since 1970 UTC; `size`: a
number below 2**63, `count`: below 2**31; `fraction`: from 0 to 1; `bits`: 64 of them; `keys`: made
of lower-case letters and digits.
"""
_BOUNDS: dict[Kind, tuple[float, float]] = {
    "time": (-(1 << 63), (1 << 63) - 1),
    "size": (0, (1 << 63) - 1),
    "count": (0, (1 << 31) - 1),
    "fraction": (0.0, 1.0),
    "bits": (0, (1 << 64) - 1),
}
_MAPPINGS: dict[Kind, dict[str, Any]] = {
    "text": {"type": "text"},
    "keyword": {"type": "keyword"},
    "digest": {"type": "keyword"},
    "time": {"type": "date", "format": "epoch_millis"},
    "size": {"type": "long"},
    "count": {"type": "integer"},
    "fraction": {"type": "float"},
    "flag": {"type": "boolean"},
    "bits": {"type": "long", "index": False},
    "bytes": {"type": "binary", "doc_values": True},
    "labels": {"type": "keyword"},
    "keys": {"type": "keyword", "doc_values": False},
    "metadata": {"type": "flattened"},
}


@dataclass(frozen=True, slots=True)
class StoredField:
    """A field of `Row`, as every store keeps it.

    `in_engine`: its name in a search engine; without it, `near_` and its name. `default`: its value
    in documents of engines that lack it. `fingerprinted`: another recipe changes it. `of_groups`:
    `group` writes it. `of_parts`: only indices with parts need it. `is_later`: indices made before
    it get it when they are next prepared. `sqlite_format`: the first format of files with its
    column, `filled_by`: the expression of SQL that gives it to the rows of earlier files;
    `is_column`: whether the table of documents has one.
    """

    name: str
    kind: Kind
    in_engine: str = ""
    default: Any = None
    fingerprinted: bool = False
    of_groups: bool = False
    of_parts: bool = False
    is_later: bool = False
    sqlite_format: int = 1
    filled_by: str = ""
    is_column: bool = True

    def __post_init__(self) -> None:
        if not self.in_engine:
            object.__setattr__(self, "in_engine", f"near_{self.name}")

    @property
    def is_written(self) -> bool:
        """True for a text or a keyword, in which a lone surrogate is repaired."""
        return self.kind in ("text", "keyword", "digest")

    @property
    def mapping(self) -> dict[str, Any]:
        """The field in the mapping of an engine, where `mappings/index.json` has no other."""
        return dict(_MAPPINGS[self.kind])

    def is_within_bounds(self, value: Any) -> bool:
        """Return whether every store can hold a number; True for other values."""
        if value is None or self.kind not in _BOUNDS:
            return True
        low, high = _BOUNDS[self.kind]
        return bool(low <= value <= high)


FIELDS = (  # in the order of the columns in SQLite
    StoredField("id", "keyword"),
    StoredField("recipe", "keyword", default="", fingerprinted=True),
    StoredField("status", "keyword", default="complete", fingerprinted=True),
    StoredField("title", "text", in_engine="title", default=""),
    StoredField("text", "text", in_engine="text", default="", is_column=False),
    StoredField("path", "keyword", in_engine="path", default=""),
    StoredField("content_type", "keyword", in_engine="content_type", default=""),
    StoredField("modified", "time", in_engine="modified"),
    StoredField("size", "size", in_engine="size", default=0),
    StoredField("source", "digest", default=""),
    StoredField("extractor", "keyword", default=""),
    StoredField("raw", "digest", default=""),
    StoredField("exact", "digest", default="", fingerprinted=True),
    StoredField("words", "count", default=0, fingerprinted=True),
    StoredField("chars", "count", default=0, fingerprinted=True),
    StoredField("family", "keyword", of_groups=True),
    StoredField("labels", "labels", in_engine="labels"),
    StoredField("metadata", "metadata", in_engine="metadata"),
    StoredField("bands", "keys", fingerprinted=True),
    StoredField("blocks", "keys", fingerprinted=True),
    StoredField("minhash", "bytes", fingerprinted=True),
    StoredField("simhash", "bits", fingerprinted=True),
    StoredField("provisional", "flag", default=True, fingerprinted=True),
    StoredField("principal", "flag", of_groups=True),
    StoredField("similarity", "fraction", of_groups=True),
    StoredField("cluster", "keyword", of_groups=True),
    StoredField("parent", "keyword"),
    StoredField("start", "count", of_parts=True, sqlite_format=3),
    StoredField("stop", "count", of_parts=True, sqlite_format=3),
    StoredField("embedded", "keyword", default="", is_later=True, sqlite_format=6),
    StoredField(
        "date", "time", is_later=True, sqlite_format=8,
        filled_by="nearfold_date(metadata, content_type, modified)",
    ),
    StoredField(
        "custodian", "keyword", default="", is_later=True, sqlite_format=8,
        filled_by="nearfold_member(metadata, 'custodian')",
    ),
    StoredField("ocr", "keyword", default="", is_later=True, sqlite_format=9),
)  # fmt: skip
OF_GROUPS = tuple(field.in_engine for field in FIELDS if field.of_groups)
_WRITTEN = tuple(field.name for field in FIELDS if field.is_written and field.name != "status")
_KEYWORDS = tuple(name for name in _WRITTEN if name not in ("id", "title", "text"))
_BOUNDED = tuple(field for field in FIELDS if field.kind in _BOUNDS)
_texts_of = attrgetter(*_WRITTEN)
_keywords_of = attrgetter(*_KEYWORDS)
_bounded_of = attrgetter(*(field.name for field in _BOUNDED))


def rows_of(store: Store, ids: Sequence[str]) -> Iterator[Row]:
    """Yield the rows with these ids in the order given, without ids that do not exist.

    At most `BATCH` rows are in memory.
    """
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        rows = store.get(batch)
        yield from (rows[id] for id in batch if id in rows)


def storable(row: Row) -> Row:
    """Return the row with every lone surrogate replaced by U+FFFD; the same object if there is
    none.
    """
    changed: dict[str, Any] = {}
    for name, value in zip(_WRITTEN, _texts_of(row), strict=True):
        if value is not None and (repaired := well_formed(value)) is not value:
            changed[name] = repaired
    if any(well_formed(label) is not label for label in row.labels):
        changed["labels"] = tuple(map(well_formed, row.labels))
    if any(well_formed(part) is not part for pair in row.metadata.items() for part in pair):
        changed["metadata"] = {
            well_formed(name): well_formed(value) for name, value in row.metadata.items()
        }
    if row.parts and any(storable(part) is not part for part in row.parts):
        changed["parts"] = tuple(map(storable, row.parts))
    return dataclasses.replace(row, **changed) if changed else row


def storable_rows(rows: Iterable[Row]) -> list[Row]:
    """Return `storable` of each row; the short fields of all rows are read together."""
    rows = list(rows)
    short = chain.from_iterable(
        (row.id, row.title, *_keywords_of(row), *row.labels, *chain(*row.metadata.items()))
        for row in rows
    )
    joined = "".join(filter(None, short))
    is_whole = well_formed(joined) is joined and not any(row.parts for row in rows)
    if is_whole and all(well_formed(row.text) is row.text for row in rows):
        return rows
    return [storable(row) for row in rows]


def storable_ids(ids: Iterable[str]) -> list[str]:
    """Return the ids as `storable` would have written them, each once, in the order given.

    >>> storable_ids(["b", "a", "b"])
    ['b', 'a']
    """
    return list(dict.fromkeys(map(well_formed, ids)))


def storable_labels(labels: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return labels by id as `storable` would have written them.

    Raises `UsageError` for a label that is too long for a store.
    """
    for label in chain.from_iterable(labels.values()):
        if _is_too_long(label):
            raise UsageError(f"a label is longer than {MAX_KEYWORD_BYTES:,} bytes: {label[:40]}...")
    return {well_formed(id): list(map(well_formed, names)) for id, names in labels.items()}


def refusal(row: Row, recipe: str) -> str | None:
    """Return why no store can hold this row or one of its parts; None when every store can.

    `recipe` is the id of the store's recipe; its numbered statistics may be others.
    """
    for checked in (row, *(row.parts or ())):
        for objection in _objections(checked, recipe):
            return objection
    return None


def refusals(rows: Sequence[Row], recipe: str) -> list[str | None]:
    """Return `refusal` of each row; the values of all rows are read together, and single rows only
    where one of them may be refused.
    """
    if _may_be_refused(rows, recipe):
        return [refusal(row, recipe) for row in rows]
    return [None] * len(rows)


def _may_be_refused(rows: Sequence[Row], recipe: str) -> bool:
    if any(row.recipe != recipe or row.parts or not row.id or row.start for row in rows):
        return True
    longest_id = max((len(row.id) for row in rows), default=0)
    words = chain.from_iterable((*_keywords_of(row), *row.labels) for row in rows)
    longest = max(map(len, filter(None, words)), default=0)
    if longest_id * 4 > MAX_ID_BYTES or longest * 4 > MAX_KEYWORD_BYTES:
        return True
    if not _are_keys(list(chain.from_iterable((*row.bands, *row.blocks) for row in rows))):
        return True
    columns = zip(*map(_bounded_of, rows), strict=True)
    return not all(
        all(map(field.is_within_bounds, set(values)))
        for field, values in zip(_BOUNDED, columns, strict=False)
    )


def _objections(row: Row, recipe: str) -> Iterator[str]:
    if row.recipe != recipe and settings_id_of(row.recipe) != settings_id_of(recipe):
        yield (
            f"the row was made with recipe {row.recipe}, the store holds {recipe}; "
            "index the document again"
        )
    if not 0 < len(row.id.encode()) <= MAX_ID_BYTES:
        yield f"the id is empty or longer than {MAX_ID_BYTES} bytes"
    for name, keyword in zip(_KEYWORDS, _keywords_of(row), strict=True):
        if keyword is not None and _is_too_long(keyword):
            yield f"{name} is longer than {MAX_KEYWORD_BYTES:,} bytes"
    if any(_is_too_long(label) for label in row.labels):
        yield f"a label is longer than {MAX_KEYWORD_BYTES:,} bytes"
    if not _are_keys((*row.bands, *row.blocks)):
        yield "a key is made of anything but up to 64 lower-case letters and digits"
    if not _fits(row):
        yield "a number lies outside what a store can hold"


def _are_keys(keys: Sequence[str]) -> bool:
    """Return whether each is made of 1 to 64 lower-case letters and digits."""
    joined = " ".join((*keys, ""))
    if joined.count(" ") != len(keys) or not joined.isascii():
        return False
    has_key_characters = not joined.encode().translate(None, _IN_KEYS)
    return has_key_characters and all(keys) and max(map(len, keys), default=0) <= _MAX_KEY


def _is_too_long(keyword: str) -> bool:
    return len(keyword) * 4 > MAX_KEYWORD_BYTES and len(keyword.encode()) > MAX_KEYWORD_BYTES


def _fits(row: Row) -> bool:
    is_range = (row.start or 0) <= (row.stop or 0)
    return is_range and all(field.is_within_bounds(getattr(row, field.name)) for field in _BOUNDED)


# The date of a document among the dates of its file and its metadata.

DateKind: TypeAlias = Literal["sent", "modified", "created", "file"]
MAILS = ("message/rfc822", "application/vnd.ms-outlook")


def with_date(row: Row) -> Row:
    """Return the row of an earlier nearfold with its date and custodian."""
    if row.date is not None:
        return row
    date, _ = named_date(row.metadata, row.content_type, row.modified)
    return dataclasses.replace(row, date=date, custodian=row.metadata.get("custodian", ""))


def metadata_label(name: str, content_type: str) -> str:
    """Return the name of metadata as people know it: a mail is created when it is sent.

    >>> metadata_label("created", "message/rfc822"), metadata_label("created", "application/pdf")
    ('sent', 'created')
    """
    is_of_mail = name == "created" and content_type.partition(";")[0] in MAILS
    return "sent" if is_of_mail else name


def named_date(
    metadata: Mapping[str, str], content_type: str, modified: int | None
) -> tuple[int | None, DateKind | None]:
    """Return the date of a document, and which one it is: when a mail was sent, when others were
    modified or created by their metadata, else that of the file. A time without a zone is UTC.

    >>> named_date({"created": "2020-01-06T08:00:00Z"}, "message/rfc822", 5)
    (1578297600000, 'sent')
    """
    is_mail = metadata_label("created", content_type) == "sent"
    names: tuple[DateKind, ...] = ("created",) if is_mail else ("modified", "created")
    for name in names:
        if not (written := metadata.get(name)):
            continue
        try:
            date = datetime.fromisoformat(written.replace("Z", "+00:00"))
        except ValueError:
            continue
        date = date if date.tzinfo else date.replace(tzinfo=timezone.utc)
        return int(date.timestamp() * 1000), "sent" if is_mail else name
    return modified, None if modified is None else "file"
