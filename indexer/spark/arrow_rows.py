"""Rows as Arrow columns and back: what a store keeps of a document, in the form in which Spark
carries it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeAlias

import pyarrow as pa  # type: ignore[import-untyped]

from indexer.model import Row
from indexer.sketch.codec import signed64, unsigned64

Batches: TypeAlias = Iterator[Any]
Mapper: TypeAlias = Callable[[Batches], Batches]
ROWS = 500
_ARROW = {
    "string": pa.string(),
    "bigint": pa.int64(),
    "int": pa.int32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "binary": pa.binary(),
    "array<string>": pa.list_(pa.string()),
    "map<string,string>": pa.map_(pa.string(), pa.string()),
}
_KINDS = {
    "modified": "bigint",
    "size": "bigint",
    "words": "bigint",
    "chars": "bigint",
    "start": "bigint",
    "stop": "bigint",
    "simhash": "bigint",
    "similarity": "double",
    "provisional": "boolean",
    "principal": "boolean",
    "minhash": "binary",
    "labels": "array<string>",
    "bands": "array<string>",
    "blocks": "array<string>",
    "metadata": "map<string,string>",
}
_APART = ("parts",)  # rows of their own, which are not made here
ROW = {name: _KINDS.get(name, "string") for name in Row.__dataclass_fields__ if name not in _APART}


def ddl(columns: dict[str, str]) -> str:
    """Columns by name and Spark type, as Spark spells a schema."""
    return ", ".join(f"`{name}` {kind}" for name, kind in columns.items())


def batch(columns: dict[str, str], values: Sequence[Any]) -> Any:
    """An Arrow batch of these columns, of sequences or arrays in their order."""
    arrays = [
        pa.array(value, type=_ARROW[kind])
        for kind, value in zip(columns.values(), values, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def with_fields(part: Any, name: str, kind: str, values: Any) -> Any:
    """A batch with one more column."""
    return part.append_column(name, pa.array(values, type=_ARROW[kind]))


def pack_row(rows: Iterable[Row]) -> Batches:
    """Rows as batches of the columns `ROW`."""
    waiting = iter(rows)
    while part := list(islice(waiting, ROWS)):
        yield batch(ROW, [[_carried(name, getattr(row, name)) for row in part] for name in ROW])


def unpack_row(part: Any) -> Iterator[Row]:
    """The rows of a batch that has the columns `ROW`, in any order, and perhaps others."""
    columns = [part.column(name).to_pylist() for name in ROW]
    for values in zip(*columns, strict=True):
        found = dict(zip(ROW, values, strict=True))
        for name in ("labels", "bands", "blocks"):
            found[name] = tuple(found[name] or ())
        bits = found["simhash"]
        yield Row(
            **{
                **found,
                "metadata": dict(found["metadata"] or ()),
                "simhash": None if bits is None else unsigned64(bits),
            }
        )


def _carried(name: str, value: Any) -> Any:
    if name == "simhash":
        return None if value is None else signed64(value)
    return list(value.items()) if name == "metadata" else value
