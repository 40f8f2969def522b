"""Values of rows by their numbers, which are kept as long as the file does not change."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from indexer.model import Status
from indexer.stores.sqlite import parts_sql as parts
from indexer.stores.sqlite.postings import parse_numbers
from indexer.stores.sqlite.read_cache import Numbers

STATUSES: tuple[Status, ...] = get_args(Status)
_OF_ROWS = (
    "SELECT group_concat(value, ' ') FROM (SELECT coalesce({}, -1) AS value FROM json_each(?) "
    "j LEFT JOIN documents d ON d.number = j.value ORDER BY j.key LIMIT -1)"
)
_WORDS = _OF_ROWS.format("d.words")
_CASES = " ".join(f"WHEN '{name}' THEN {place}" for place, name in enumerate(STATUSES))
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

    return parts.read_cache(db).sketches.packed(numbers, width, read)


def words_of(db: sqlite3.Connection, numbers: Numbers) -> NDArray[Any]:
    """Return how many words each row has; -1 where that is not known."""
    return parts.read_cache(db).words.of(numbers, lambda missing: _read(db, _WORDS, missing))


def statuses_of(db: sqlite3.Connection, numbers: Numbers) -> NDArray[Any]:
    """Return the place of the status of each row in `STATUSES`; -1 for a row that is gone."""
    return parts.read_cache(db).statuses.of(numbers, lambda missing: _read(db, _STATUS, missing))


def _read(db: sqlite3.Connection, statement: str, numbers: Numbers) -> Numbers:
    return parse_numbers(db.execute(statement, (json.dumps(numbers.tolist()),)).fetchone()[0])
