"""Rows of a store as Arrow columns, the form in which Spark carries them, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any, TypeAlias

import pyarrow as pa  # type: ignore[import-untyped]

from indexer.fingerprinting.keys import signed64, unsigned64
from indexer.model import Row
from indexer.stores.fields import FIELDS, Kind

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
_TYPES: dict[Kind, str] = {
    "time": "bigint",
    "size": "bigint",
    "count": "bigint",
    "bits": "bigint",
    "fraction": "double",
    "flag": "boolean",
    "bytes": "binary",
    "labels": "array<string>",
    "keys": "array<string>",
    "metadata": "map<string,string>",
}
_KINDS = {field.name: field.kind for field in FIELDS}
# without parts, which are rows of their own that a Spark job does not make
ROW = {
    name: _TYPES.get(_KINDS[name], "string") for name in Row.__dataclass_fields__ if name in _KINDS
}


def ddl(columns: dict[str, str]) -> str:
    """Return columns by name and Spark type as a schema in Spark's syntax."""
    return ", ".join(f"`{name}` {kind}" for name, kind in columns.items())


def batch(columns: dict[str, str], values: Sequence[Any]) -> Any:
    """Return an Arrow batch of these columns, from sequences or arrays in their order."""
    arrays = [
        pa.array(value, type=_ARROW[kind])
        for kind, value in zip(columns.values(), values, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def with_fields(part: Any, name: str, kind: str, values: Any) -> Any:
    """Return a batch with one more column."""
    return part.append_column(name, pa.array(values, type=_ARROW[kind]))


def pack_row(rows: Iterable[Row]) -> Batches:
    """Yield rows as batches of the columns `ROW`, at most 500 rows each."""
    remaining = iter(rows)
    while part := list(islice(remaining, ROWS)):
        yield batch(ROW, [_arrow_column(name, part) for name in ROW])


def _arrow_column(name: str, rows: Sequence[Row]) -> list[Any]:
    """Return the values of one field of the rows, as Arrow takes them."""
    values = list(map(attrgetter(name), rows))
    kind = _KINDS[name]
    if kind == "bits":
        return [None if bits is None else signed64(bits) for bits in values]
    return [list(value.items()) for value in values] if kind == "metadata" else values


def _bits(stored: int | None) -> int | None:
    return None if stored is None else unsigned64(stored)


_READERS: dict[Kind, Callable[[Any], Any]] = {
    "labels": lambda values: tuple(values or ()),
    "keys": lambda values: tuple(values or ()),
    "metadata": lambda pairs: dict(pairs or ()),
    "bits": _bits,
}
_READ = [(field.name, _READERS[field.kind]) for field in FIELDS if field.kind in _READERS]


def unpack_row(part: Any) -> Iterator[Row]:
    """Yield the rows of a batch that has the columns `ROW`, in any order, and perhaps others."""
    columns = [part.column(name).to_pylist() for name in ROW]
    for values in zip(*columns, strict=True):
        fields = dict(zip(ROW, values, strict=True))
        for name, read in _READ:
            fields[name] = read(fields[name])
        yield Row(**fields)
