"""Rows in SQLite: the columns of `documents`, the text, the words and the keys.

Digests are stored as bytes, keys only where they differ from the keys of the row's sketches (`keys`
holds them anyway), a family only where it is not the document's own id, and a digest that follows
from another one not at all. What earlier formats stored whole is read as before.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from operator import attrgetter, eq
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from indexer.fingerprinting.keys import (
    band_keys,
    block_keys,
    short_keys,
    signed64,
    unpack_slots,
    unsigned64,
)
from indexer.model import Row, Scope, Status
from indexer.recipe import Recipe
from indexer.stores.fields import FIELDS, Kind
from indexer.stores.query_syntax import searchable, separate_characters
from indexer.stores.sqlite import keys
from indexer.stores.sqlite.connections import YEAR, Connection, Numbers, ReadCache, parse_numbers
from indexer.stores.sqlite.file_format import last_searchable, recipe_in_use

COLUMNS = tuple(field.name for field in FIELDS if field.is_column)
DIGESTS = tuple(field.name for field in FIELDS if field.kind == "digest")
EXACT = "CASE exact WHEN x'' THEN raw ELSE exact END"  # the digest, in SQL
_DIGEST, _DIGITS = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]*")
_FOLLOWS = b""  # instead of a digest that follows from that of the bytes
_NO_KEYS = " "  # instead of keys, for a row that has sketches and no keys
_json = json.JSONEncoder(ensure_ascii=False).encode
_parse = json.JSONDecoder().decode


def packed_columns(rows: Sequence[Row], recipe: Recipe) -> list[tuple[Any, ...]]:
    """Return the values of `COLUMNS` of each row, which are fingerprinted by the recipe of the
    file.
    """
    if not rows:
        return []
    by_name = zip(COLUMNS, zip(*map(_values_of, rows), strict=True), strict=True)
    columns: dict[str, Sequence[Any]] = dict(by_name)
    return list(zip(*_packed(columns, _have_keys_of_slots(rows, recipe), recipe), strict=True))


def _packed(
    columns: dict[str, Sequence[Any]], have_keys_of_slots: Sequence[bool], recipe: Recipe
) -> Iterable[Sequence[Any]]:
    """Return the columns of rows as they are stored."""
    pairs = zip(columns["family"], columns["id"], strict=True)
    columns["family"] = ["" if family == id else family for family, id in pairs]
    bands = zip(columns["bands"], have_keys_of_slots, strict=True)
    columns["bands"] = ["" if derived else _joined(keys) for keys, derived in bands]
    blocks = zip(columns["blocks"], columns["simhash"], strict=True)
    columns["blocks"] = [
        "" if keys == _blocks_of_bits(bits, recipe) else _joined(keys) for keys, bits in blocks
    ]
    of_bytes = map(_source_of, columns["size"], columns["raw"])
    follows = list(map(eq, columns["source"], of_bytes))
    for name, pack in _PACKED:
        columns[name] = pack(columns[name])
    sources = zip(columns["source"], follows, strict=True)
    columns["source"] = [_FOLLOWS if follows else source for source, follows in sources]
    digests = zip(columns["exact"], columns["raw"], strict=True)
    columns["exact"] = [
        _FOLLOWS if exact == raw and len(raw) == _DIGEST_BYTES else exact for exact, raw in digests
    ]
    return columns.values()


def _joined(keys: Sequence[str]) -> str:
    return " ".join(keys) or _NO_KEYS


def _blocks_of_bits(bits: int | None, recipe: Recipe) -> tuple[str, ...]:
    """Return the block keys of the bits of a row; none where a recipe makes them otherwise."""
    if bits is None or not recipe.blocks or not recipe.simhash:
        return ()
    return block_keys(bits, 64, recipe.blocks)


def unpack_source(stored: bytes | str, size: int, raw: bytes | str) -> str:
    """Return the digest by which changes of a document are noticed."""
    return _source_of(size, unpack_digest(raw)) if stored == _FOLLOWS else unpack_digest(stored)


def _source_of(size: int, raw: str) -> str:
    """Return the `source` of a document whose time is not known."""
    return hashlib.sha256(f"{size}:{raw}".encode("ascii", "replace")).hexdigest()


def _have_keys_of_slots(rows: Sequence[Row], recipe: Recipe) -> list[bool]:
    """Return for each row if its band keys follow from its slots; short keys are compared as
    numbers, without their strings.
    """
    bands, digits = recipe.bands or 0, recipe.key_digits
    width = recipe.sketch_bytes
    if not bands or not digits or digits > keys.MAX_DIGITS:
        derived = _keys_of_slots([row.minhash for row in rows], recipe)
        return [row.bands == of_slots for row, of_slots in zip(rows, derived, strict=True)]
    has_keys = [not row.bands for row in rows]
    positions = []
    for position, row in enumerate(rows):
        if row.minhash is not None and len(row.minhash) == width:
            has_keys[position] = False
            if len(row.bands) == bands:
                positions.append(position)
    sketches = b"".join(rows[position].minhash or b"" for position in positions)
    slots = unpack_slots(sketches, recipe.slot_bytes).reshape(-1, recipe.sketch_width)
    stored = keys.numbers_of(list(chain.from_iterable(rows[at].bands for at in positions)))
    derived_keys = short_keys(slots, bands, recipe.rows or 0, digits) | np.uint64(
        keys.first_number(digits)
    )
    is_equal = (stored.reshape(-1, bands) == derived_keys).all(axis=1).tolist()
    for position, equal in zip(positions, is_equal, strict=True):
        has_keys[position] = equal
    return has_keys


def unpacked_rows(read: Sequence[Sequence[Any]], recipe: Recipe) -> list[Row]:
    """Return the rows of values that were read: the text, then `COLUMNS`."""
    fields = [dict(zip(("text", *COLUMNS), values, strict=True)) for values in read]
    every_key = band_sets([(row["bands"], row["minhash"]) for row in fields], recipe)
    return [_row(stored, bands, recipe) for stored, bands in zip(fields, every_key, strict=True)]


def _row(stored: dict[str, Any], bands: tuple[str, ...], recipe: Recipe) -> Row:
    stored["source"] = unpack_source(stored["source"], stored["size"], stored["raw"])
    if stored["exact"] == _FOLLOWS:
        stored["exact"] = stored["raw"]
    for name, unpack in _UNPACKED:
        stored[name] = unpack(stored[name])
    stored["family"] = stored["family"] or stored["id"]
    stored["bands"] = bands
    stored["blocks"] = unpack_blocks(stored["blocks"], stored["simhash"], recipe)
    return Row(**stored)


def unpack_blocks(stored: str, bits: int | None, recipe: Recipe) -> tuple[str, ...]:
    """Return the block keys of a row, from the stored value of `blocks` and its bits."""
    return tuple(stored.split()) if stored else _blocks_of_bits(bits, recipe)


def pack_digest(digest: str) -> bytes | str:
    """Return a SHA-256 in hexadecimal digits as its bytes, and anything else as it is."""
    return bytes.fromhex(digest) if _DIGEST.fullmatch(digest) else digest


def _pack_digests(digests: Sequence[str]) -> list[bytes | str]:
    """Return `pack_digest` of each; together where all are digests."""
    joined = "".join(digests)
    if set(map(len, digests)) != {2 * _DIGEST_BYTES} or not _DIGITS.fullmatch(joined):
        return list(map(pack_digest, digests))
    packed = bytes.fromhex(joined)
    return [packed[start : start + _DIGEST_BYTES] for start in range(0, len(packed), _DIGEST_BYTES)]


def unpack_digest(stored: bytes | str) -> str:
    """Return the digest that `pack_digest` stored."""
    return stored.hex() if isinstance(stored, bytes) else stored


def _pack_bits(bits: int | None) -> int | None:
    return None if bits is None else signed64(bits)


def _unpack_bits(stored: int | None) -> int | None:
    return None if stored is None else unsigned64(stored)


def _unpack_flag(stored: int | None) -> bool | None:
    return None if stored is None else bool(stored)


_PACKERS: dict[Kind, Callable[[Sequence[Any]], list[Any]]] = {
    "digest": _pack_digests,
    "labels": lambda column: [_json(labels) if labels else "[]" for labels in column],
    "metadata": lambda column: [_json(dict(entries)) if entries else "{}" for entries in column],
    "bits": lambda column: list(map(_pack_bits, column)),
}
_UNPACKERS: dict[Kind, Callable[[Any], Any]] = {
    "digest": unpack_digest,
    "labels": lambda stored: () if stored == "[]" else tuple(_parse(stored)),
    "metadata": lambda stored: {} if stored == "{}" else _parse(stored),
    "bits": _unpack_bits,
    "flag": _unpack_flag,
}
_values_of = attrgetter(*COLUMNS)
_DIGEST_BYTES = 32
_DERIVED = ("bands", "blocks")
_PACKED = [
    (field.name, _PACKERS[field.kind])
    for field in FIELDS
    if field.kind in _PACKERS and field.name not in _DERIVED
]
_UNPACKED = [
    (field.name, _UNPACKERS[field.kind])
    for field in FIELDS
    if field.kind in _UNPACKERS and field.name not in _DERIVED
]


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


def column_name(field: str) -> str:
    """Return the column of documents `d` that holds a field as it is shown."""
    if field == "year":
        return YEAR
    return f"d.{'in_family' if field == 'family' else field}"


def full_text_words(is_searchable: bool, title: str, text: str) -> tuple[str, str]:
    """Return title and text as the full-text index receives them, also to delete them."""
    words_of = searchable if is_searchable else separate_characters
    return words_of(title), words_of(text)


# Tables of the embedded store, changed together: documents, texts, full-text index, keys.

_CHUNK = 500
DELETE_WORDS = "INSERT INTO fulltext (fulltext, rowid, title, text) VALUES ('delete', ?, ?, ?)"
INSERT_WORDS = "INSERT INTO fulltext (rowid, title, text) VALUES (?, ?, ?)"
_COLUMNS = ", ".join(f"d.{name}" for name in COLUMNS)
_KEYS = (
    "SELECT number, bands, minhash, blocks, simhash, parent FROM documents "
    "WHERE number > ? ORDER BY number LIMIT ?"
)
_PAGE = 10_000
_ROW = f"SELECT d.number, t.text, {_COLUMNS} FROM documents d JOIN texts t USING (number)"


def replace(db: sqlite3.Connection, rows: dict[str, Row], recipe: Recipe) -> None:
    """Insert rows, fingerprinted by the recipe of the file, or replace those with the same id."""
    numbers, removed = _forget(db, list(rows), recipe)
    fresh = count((db.execute("SELECT max(number) FROM documents").fetchone()[0] or 0) + 1)
    numbered = [(numbers.get(name) or next(fresh), row) for name, row in rows.items()]
    columns = packed_columns([row for _, row in numbered], recipe)
    values = [(number, *row) for (number, _), row in zip(numbered, columns, strict=True)]
    texts = [(number, row.text) for number, row in numbered]
    last = last_searchable(db)
    words = [
        (number, *full_text_words(number <= last, row.title, row.text)) for number, row in numbered
    ]
    added = keys.entries_of(
        [(number, row.bands, row.blocks, row.parent is not None) for number, row in numbered]
    )
    names = ", ".join(COLUMNS)
    _insert(db, f"INSERT OR REPLACE INTO documents (number, {names})", values)
    _insert(db, "INSERT OR REPLACE INTO texts", texts)
    _insert(db, "INSERT INTO fulltext (rowid, title, text)", words)
    keys.change(db, added, removed)


def _insert(db: sqlite3.Connection, into: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows by a statement for many of them: between statements, Python waits for its other
    threads.
    """
    for start in range(0, len(rows), _CHUNK):
        chunk = rows[start : start + _CHUNK]
        marks = f"({', '.join('?' * len(chunk[0]))})"
        values = list(chain.from_iterable(chunk))
        db.execute(f"{into} VALUES {', '.join([marks] * len(chunk))}", values)


def remove(db: sqlite3.Connection, ids: Sequence[str], recipe: Recipe) -> dict[str, int]:
    """Delete rows from every table; return the number of each id that existed."""
    numbers, removed = _forget(db, ids, recipe)
    keys.change(db, removed[:0], removed)
    for table in ("documents", "texts"):
        values = [(number,) for number in numbers.values()]
        db.executemany(f"DELETE FROM {table} WHERE number = ?", values)
    return numbers


def _forget(
    db: sqlite3.Connection, ids: Sequence[str], recipe: Recipe
) -> tuple[dict[str, int], keys.Entries]:
    """Delete rows from the full-text index.

    Returns the number of each id that exists, and the keys of these rows, to be removed.
    """
    select = (
        "SELECT d.number, d.bands, d.minhash, d.blocks, d.simhash, d.parent, d.id, d.title, t.text "
        "FROM documents d JOIN texts t USING (number) WHERE d.id IN"
    )
    rows = chosen_rows(db, select, ids)
    last = last_searchable(db)
    for number, *_, title, text in rows:
        db.execute(DELETE_WORDS, (number, *full_text_words(number <= last, title, text)))
    return {row[6]: row[0] for row in rows}, _stored_keys([row[:6] for row in rows], recipe)


def every_key(db: sqlite3.Connection, recipe: Recipe, last: int = 0) -> Iterator[keys.Entries]:
    """Yield the keys of all rows from their columns, of some after the other; `last`: the number of
    the row after which to begin.
    """
    while page := db.execute(_KEYS, (last, _PAGE)).fetchall():
        yield _stored_keys(page, recipe)
        last = page[-1][0]


def _stored_keys(rows: Sequence[tuple[Any, ...]], recipe: Recipe) -> keys.Entries:
    """Return the keys of rows, read as number, bands, minhash, blocks, simhash and parent."""
    every_band = band_sets([row[1:3] for row in rows], recipe)
    return keys.entries_of(
        [
            (number, bands, unpack_blocks(blocks, _unpack_bits(bits), recipe), parent is not None)
            for (number, _, _, blocks, bits, parent), bands in zip(rows, every_band, strict=True)
        ]
    )


def move_keys(db: sqlite3.Connection, recipe: Recipe) -> bool:
    """Move the keys of the next rows of a file of an earlier format, inside the caller's
    transaction; return whether there were any.
    """
    moved = db.execute("SELECT value FROM store WHERE name = 'keys_moved'").fetchone()
    if moved is None:
        return False
    page = db.execute(_KEYS, (int(moved[0]), _PAGE)).fetchall()
    if page:
        keys.change(db, _stored_keys(page, recipe), _stored_keys([], recipe))
        values = ("keys_moved", str(page[-1][0]))
        db.execute("INSERT OR REPLACE INTO store VALUES (?, ?)", values)
    else:
        db.execute("DELETE FROM store WHERE name = 'keys_moved'")
    return True


def whole_rows(
    db: sqlite3.Connection, column: Literal["id", "number"], among: Sequence[Any]
) -> dict[int, Row]:
    """Return the rows that have these ids or numbers, with their texts, by number."""
    read = chosen_rows(db, f"{_ROW} WHERE d.{column} IN", among)
    rows = unpacked_rows([values for _, *values in read], recipe_in_use(db))
    return {number: row for (number, *_), row in zip(read, rows, strict=True)}


def chosen_rows(db: sqlite3.Connection, select: str, among: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return the rows of a SELECT that ends in IN, for any number of values."""
    rows: list[tuple[Any, ...]] = []
    for start in range(0, len(among), _CHUNK):
        chunk = among[start : start + _CHUNK]
        rows += db.execute(f"{select} ({', '.join('?' * len(chunk))})", chunk)
    return rows


# Documents and their parts: rows of one table, whose keys are different numbers.

WITHIN: Mapping[Scope, str] = {
    "documents": "d.parent IS NULL",
    "parts": "d.parent IS NOT NULL",
    "both": "1",
}
KINDS: Mapping[Scope, tuple[bool, ...]] = {  # whether a row is a part
    "documents": (False,),
    "parts": (True,),
    "both": (False, True),
}


def count_scope(db: sqlite3.Connection, scope: Scope) -> int:
    """Count the rows of a scope: parts by their index, documents as the rest."""
    if scope == "documents":
        return count_scope(db, "both") - count_scope(db, "parts")
    table = "documents d INDEXED BY documents_by_parent" if scope == "parts" else "documents d"
    return int(db.execute(f"SELECT count(*) FROM {table} WHERE {WITHIN[scope]}").fetchone()[0])


def read_cache(db: sqlite3.Connection) -> ReadCache:
    """Return the cache of a connection; an empty one where it has none."""
    return db.read_cache() if isinstance(db, Connection) else ReadCache()


def known_count(db: sqlite3.Connection, scope: Scope) -> int:
    """Return `count`, remembered as long as the file does not change: it reads a whole index."""
    known = read_cache(db).counts
    if scope not in known:
        known[scope] = count_scope(db, scope)
    return known[scope]


def in_scope(db: sqlite3.Connection, scope: Scope) -> str | None:
    """Return the condition that holds for rows `d` of a scope; None where it holds for every row,
    so that rows need not be read for it.
    """
    divided = db.execute("SELECT 1 FROM documents WHERE parent IS NOT NULL LIMIT 1").fetchone()
    return None if scope == "both" or (scope == "documents" and not divided) else WITHIN[scope]


def parts_of(db: sqlite3.Connection, parents: Sequence[str]) -> Iterator[str]:
    """Yield the ids of the parts of these documents."""
    for start in range(0, len(parents), _CHUNK):
        chunk = parents[start : start + _CHUNK]
        marks = ", ".join("?" * len(chunk))
        rows = db.execute(f"SELECT id FROM documents WHERE parent IN ({marks})", chunk)
        yield from (id for (id,) in rows)


def with_parts(db: sqlite3.Connection, rows: Iterable[Row]) -> tuple[dict[str, Row], list[str]]:
    """Return documents and their parts by id, to be written, and the ids of parts that these
    documents no longer have.
    """
    rows_with_parts = {}
    for row in rows:
        for entry in (row, *(row.parts or ())):
            rows_with_parts[entry.id] = entry
    divided = [row.id for row in rows_with_parts.values() if row.parts is not None]
    return rows_with_parts, [id for id in parts_of(db, divided) if id not in rows_with_parts]


def parts_kind(db: sqlite3.Connection) -> str | None:
    """Return how documents are divided; None when they are not."""
    row = db.execute("SELECT value FROM store WHERE name = 'parts'").fetchone()
    return row[0] if row else None


def record_parts_kind(db: sqlite3.Connection, kind: str) -> None:
    """Record how documents are divided."""
    db.execute("INSERT OR REPLACE INTO store VALUES ('parts', ?)", (kind,))


def divides_mails(db: sqlite3.Connection) -> bool:
    """Return whether attachments are documents of their own."""
    row = db.execute("SELECT value FROM store WHERE name = 'attachments'").fetchone()
    return row is not None and bool(int(row[0]))


def record_attachments(db: sqlite3.Connection, are_documents: bool) -> None:
    """Record whether attachments are documents of their own."""
    db.execute("INSERT OR REPLACE INTO store VALUES ('attachments', ?)", (str(int(are_documents)),))


# Values of rows by their numbers, which are kept as long as the file does not change.

STATUSES: tuple[Status, ...] = get_args(Status)
_OF_ROWS = (
    "SELECT group_concat(value, ' ') FROM (SELECT coalesce({}, -1) AS value FROM json_each(?) "
    "j LEFT JOIN documents d ON d.number = j.value ORDER BY j.key LIMIT -1)"
)
_WORDS = _OF_ROWS.format("d.words")
_CASES = " ".join(f"WHEN '{name}' THEN {index}" for index, name in enumerate(STATUSES))
_STATUS = _OF_ROWS.format(f"CASE d.status {_CASES} END")
_SKETCHES = (
    "SELECT d.number, d.minhash FROM json_each(?) j "
    "CROSS JOIN documents d ON d.number = j.value WHERE length(d.minhash) = ?"
)


def sketches_of(
    db: sqlite3.Connection, numbers: Numbers, width: int
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the packed slots of rows, (rows, width), and which rows have any, of `width` bytes."""

    def read(missing: Numbers) -> dict[int, bytes]:
        return dict(db.execute(_SKETCHES, (json.dumps(missing.tolist()), width)).fetchall())

    return read_cache(db).sketches.packed(numbers, width, read)


def words_of(db: sqlite3.Connection, numbers: Numbers) -> NDArray[Any]:
    """Return how many words each row has; -1 where that is not known."""
    return read_cache(db).words.of(numbers, lambda missing: _read(db, _WORDS, missing))


def statuses_of(db: sqlite3.Connection, numbers: Numbers) -> NDArray[Any]:
    """Return the index of the status of each row in `STATUSES`; -1 for a row that is gone."""
    return read_cache(db).statuses.of(numbers, lambda missing: _read(db, _STATUS, missing))


def _read(db: sqlite3.Connection, statement: str, numbers: Numbers) -> Numbers:
    return parse_numbers(db.execute(statement, (json.dumps(numbers.tolist()),)).fetchone()[0])
