"""Rows in SQLite: the columns of `documents`, the text, the words and the postings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from indexer.model import Row
from indexer.sketch.codec import signed64, unsigned64
from indexer.stores.sqlite.parts_sql import PART
from indexer.text.phrases import separate_letters

COLUMNS = (
    "id", "recipe", "status", "title", "path", "content_type", "modified", "size", "source",
    "extractor", "raw", "exact", "words", "chars", "family", "labels", "metadata", "bands",
    "blocks", "minhash", "simhash", "provisional", "principal", "similarity", "cluster", "parent",
    "start", "stop",
)  # fmt: skip
_json = json.JSONEncoder(ensure_ascii=False).encode


def columns(row: Row) -> tuple[Any, ...]:
    """Return the values of `COLUMNS`."""
    return (
        row.id, row.recipe, row.status, row.title, row.path, row.content_type, row.modified,
        row.size, row.source, row.extractor, row.raw, row.exact, row.words, row.chars, row.family,
        _json(row.labels) if row.labels else "[]", _json(dict(row.metadata)),
        " ".join(row.bands), " ".join(row.blocks), row.minhash,
        None if row.simhash is None else signed64(row.simhash),
        row.provisional, row.principal, row.similarity, row.cluster, row.parent,
        row.start, row.stop,
    )  # fmt: skip


def row(values: Sequence[Any], text: str) -> Row:
    """Return the row of `columns`, with the text, which has a table of its own."""
    stored = dict(zip(COLUMNS, values, strict=True))
    stored["labels"] = tuple(json.loads(stored["labels"]))
    stored["metadata"] = json.loads(stored["metadata"])
    stored["bands"] = tuple(stored["bands"].split())
    stored["blocks"] = tuple(stored["blocks"].split())
    stored["simhash"] = None if stored["simhash"] is None else unsigned64(stored["simhash"])
    stored["provisional"] = bool(stored["provisional"])
    stored["principal"] = None if stored["principal"] is None else bool(stored["principal"])
    return Row(text=text, **stored)


def words(title: str, text: str) -> tuple[str, str]:
    """Return title and text as the full-text index receives them, also to delete them."""
    return separate_letters(title), separate_letters(text)


def posted(bands: Sequence[str], blocks: Sequence[str], prefix: str = "") -> list[str]:
    """Return keys as they are posted.

    Bands and blocks of the same spelling are different keys; parts have a prefix of their own.
    """
    return [*(f"{prefix}b{key}" for key in bands), *(f"{prefix}k{key}" for key in blocks)]


def posted_keys(row: Row) -> list[str]:
    """Return the keys of a row as they are posted."""
    return posted(row.bands, row.blocks, "" if row.parent is None else PART)
