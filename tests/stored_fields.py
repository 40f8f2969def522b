"""Rows as each store keeps them, for the test that pins this."""

from __future__ import annotations

from typing import Any

from sample_rows import band, block, row

from indexer.model import Row
from indexer.recipe import DEFAULT
from indexer.spark import arrow_rows
from indexer.stores.engine import index_mapping, rows
from indexer.stores.sqlite.rows import COLUMNS, packed_columns

FULL = row(
    "full",
    labels=("b", "näher"),
    metadata={"Größe": "1 kB", "bad\0name": "x"},
    source="0f" * 32,
    bands=tuple(band(number, number * 7) for number in range(3)),
    blocks=(block(1, 250), block(2, 3)),
    minhash=bytes(range(40)),
    simhash=2**64 - 1,
    provisional=False,
    principal=False,
    similarity=0.8125,
    family="another",
    cluster="a cluster",
    embedded=f"{'0a' * 32} 1 []",
    date=1_578_297_600_000,
    custodian="Smith, Ann",
    ocr="Tesseract",
)
PART = row("full#1", parent="full", start=3, stop=9, modified=None, status="empty", family="full#1")
ROWS = (FULL, PART)


def kept() -> dict[str, Any]:
    """Return the rows in SQLite, in an engine and in Spark, and the mapping of an engine."""
    columns = packed_columns(ROWS, DEFAULT)
    batches = list(arrow_rows.pack_row(ROWS))
    return {
        "sqlite": [dict(zip(COLUMNS, map(_plain, values), strict=True)) for values in columns],
        "engine": [list(rows.source(each).items()) for each in ROWS],
        "signature": list(rows.fingerprint_fields(FULL, "text").items()),
        "keys": list(rows.KEYS),
        "spark": arrow_rows.ddl(arrow_rows.ROW),
        "arrow": [[str(value) for value in batches[0].column(name)] for name in arrow_rows.ROW],
        "mapping": list(
            index_mapping.new_index(DEFAULT, "flattened", True, None, None)["mappings"][
                "properties"
            ].items()
        ),
    }


def refused() -> dict[str, Row]:
    """Return rows that no store can hold, by the field that is to blame."""
    long = "x" * 40_000
    changes = {
        **dict.fromkeys(("path", "extractor", "cluster", "parent", "exact"), long),
        **{"size": -1, "words": 1 << 31, "similarity": 1.5, "simhash": 1 << 64, "stop": -1},
        "modified": 1 << 63,
    }
    return {name: row("refused", **{name: value}) for name, value in changes.items()}


def _plain(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value
