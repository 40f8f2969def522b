"""Limits of the rows that every store can hold: repair lone surrogates, refuse other rows."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

from indexer.errors import UsageError
from indexer.model import Row
from indexer.recipe import settings_id_of
from indexer.stores.base import Store
from indexer.wording import well_formed

BATCH = 256
MAX_ID_BYTES = 512
MAX_KEYWORD_BYTES = 32_766
_TEXTS = (
    "id", "title", "text", "recipe", "path", "content_type", "source", "extractor", "raw", "exact",
    "family", "cluster", "parent",
)  # fmt: skip
_KEYS = re.compile("(?:[0-9a-z]{1,64} )*")
_KEYWORDS = _TEXTS[3:]
_texts_of = attrgetter(*_TEXTS)


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
    for name, value in zip(_TEXTS, _texts_of(row), strict=True):
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


def _objections(row: Row, recipe: str) -> Iterator[str]:
    if row.recipe != recipe and settings_id_of(row.recipe) != settings_id_of(recipe):
        yield (
            f"the row was made with recipe {row.recipe}, the store holds {recipe}; "
            "index the document again"
        )
    if not 0 < len(row.id.encode()) <= MAX_ID_BYTES:
        yield f"the id is empty or longer than {MAX_ID_BYTES} bytes"
    for name, keyword in zip(_KEYWORDS, _texts_of(row)[3:], strict=True):
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
    return joined.count(" ") == len(keys) and _KEYS.fullmatch(joined) is not None


def _is_too_long(keyword: str) -> bool:
    return len(keyword) * 4 > MAX_KEYWORD_BYTES and len(keyword.encode()) > MAX_KEYWORD_BYTES


def _fits(row: Row) -> bool:
    return (
        0 <= row.size < 1 << 63
        and -(1 << 63) <= (row.modified or 0) < 1 << 63
        and 0 <= row.words < 1 << 31
        and 0 <= row.chars < 1 << 31
        and 0 <= (row.start or 0) <= (row.stop or 0) < 1 << 31
        and 0 <= (row.simhash or 0) < 1 << 64
        and 0.0 <= (row.similarity or 0.0) <= 1.0
    )
