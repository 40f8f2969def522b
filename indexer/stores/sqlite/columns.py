"""Rows in SQLite: the columns of `documents`, the text, the words and the postings.

Digests are stored as bytes, band keys only where they are not those of the row's slots (the
postings hold them anyway), and a family only where it is not the document's own id. Files of
format 3 have all of them as text, which is read as before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from indexer.model import Row
from indexer.recipe import Recipe
from indexer.sketch.codec import signed64, unpack_slots, unsigned64
from indexer.sketch.keys import band_keys
from indexer.stores.sqlite.parts_sql import PART
from indexer.text.phrases import separate_letters

COLUMNS = (
    "id", "recipe", "status", "title", "path", "content_type", "modified", "size", "source",
    "extractor", "raw", "exact", "words", "chars", "family", "labels", "metadata", "bands",
    "blocks", "minhash", "simhash", "provisional", "principal", "similarity", "cluster", "parent",
    "start", "stop",
)  # fmt: skip
DIGESTS = ("source", "raw", "exact")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_NO_KEYS = " "  # in place of band keys, for a row that has slots and no keys
_json = json.JSONEncoder(ensure_ascii=False).encode


def columns(rows: Sequence[Row], recipe: Recipe) -> list[tuple[Any, ...]]:
    """Return the values of `COLUMNS` of each row, which are signed by the recipe of the file."""
    derived = _keys_of_slots([row.minhash for row in rows], recipe)
    return [_columns(row, keys) for row, keys in zip(rows, derived, strict=True)]


def _columns(row: Row, derived: tuple[str, ...]) -> tuple[Any, ...]:
    bands = "" if row.bands == derived else " ".join(row.bands) or _NO_KEYS
    return (
        row.id, row.recipe, row.status, row.title, row.path, row.content_type, row.modified,
        row.size, pack_digest(row.source), row.extractor, pack_digest(row.raw),
        pack_digest(row.exact), row.words, row.chars, "" if row.family == row.id else row.family,
        _json(row.labels) if row.labels else "[]", _json(dict(row.metadata)),
        bands, " ".join(row.blocks), row.minhash,
        None if row.simhash is None else signed64(row.simhash),
        row.provisional, row.principal, row.similarity, row.cluster, row.parent,
        row.start, row.stop,
    )  # fmt: skip


def rows(read: Sequence[Sequence[Any]], recipe: Recipe) -> list[Row]:
    """Return the rows of values that were read: the text, then `COLUMNS`."""
    fields = [dict(zip(("text", *COLUMNS), values, strict=True)) for values in read]
    every_key = band_sets([(row["bands"], row["minhash"]) for row in fields], recipe)
    return [_row(stored, keys) for stored, keys in zip(fields, every_key, strict=True)]


def _row(stored: dict[str, Any], bands: tuple[str, ...]) -> Row:
    for digest in DIGESTS:
        stored[digest] = unpack_digest(stored[digest])
    stored["labels"] = tuple(json.loads(stored["labels"]))
    stored["metadata"] = json.loads(stored["metadata"])
    stored["family"] = stored["family"] or stored["id"]
    stored["bands"] = bands
    stored["blocks"] = tuple(stored["blocks"].split())
    stored["simhash"] = None if stored["simhash"] is None else unsigned64(stored["simhash"])
    stored["provisional"] = bool(stored["provisional"])
    stored["principal"] = None if stored["principal"] is None else bool(stored["principal"])
    return Row(**stored)


def pack_digest(digest: str) -> bytes | str:
    """Return a SHA-256 in hexadecimal digits as its bytes, and anything else as it is."""
    return bytes.fromhex(digest) if _DIGEST.fullmatch(digest) else digest


def unpack_digest(stored: bytes | str) -> str:
    """Return the digest that `pack_digest` stored."""
    return stored.hex() if isinstance(stored, bytes) else stored


def band_sets(stored: Sequence[tuple[str, bytes | None]], recipe: Recipe) -> list[tuple[str, ...]]:
    """Return the band keys of rows, from the stored values of `bands` and `minhash`."""
    derived = _keys_of_slots([None if bands else slots for bands, slots in stored], recipe)
    return [tuple(bands.split()) or keys for (bands, _), keys in zip(stored, derived, strict=True)]


def _keys_of_slots(sketches: Sequence[bytes | None], recipe: Recipe) -> list[tuple[str, ...]]:
    """Return the band keys of packed slots; none where there are no slots."""
    is_whole = [sketch is not None and len(sketch) == recipe.sketch_bytes for sketch in sketches]
    packed = [sketch for sketch, whole in zip(sketches, is_whole, strict=True) if sketch and whole]
    if not packed or not recipe.bands:
        return [()] * len(sketches)
    slots = unpack_slots(b"".join(packed), recipe.slot_bytes).reshape(len(packed), -1)
    keys = iter(band_keys(slots, recipe.bands, recipe.rows or 0, recipe.key_digits))
    return [next(keys) if whole else () for whole in is_whole]


def column(field: str) -> str:
    """Return the column of documents `d` that holds a field as it is shown."""
    return f"d.{'in_family' if field == 'family' else field}"


def words(title: str, text: str) -> tuple[str, str]:
    """Return title and text as the full-text index receives them, also to delete them."""
    return separate_letters(title), separate_letters(text)


def posted(bands: Sequence[str], blocks: Sequence[str], prefix: str = "") -> list[str]:
    """Return keys as they are posted.

    Bands and blocks of the same spelling are different keys; parts have a prefix of their own.
    """
    return [f"{prefix}b{key}" for key in bands] + [f"{prefix}k{key}" for key in blocks]


def posted_keys(row: Row) -> str:
    """Return the keys of a row as they are posted, joined by blanks."""
    return " ".join(posted(row.bands, row.blocks, "" if row.parent is None else PART))
