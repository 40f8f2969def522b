"""Pairs as a Parquet file, by pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from indexer.errors import MissingExtra
from indexer.matched import Matched

ROWS = 100_000


def check_library() -> None:
    """Raise `MissingExtra` without pyarrow."""
    try:
        import pyarrow.parquet  # type: ignore[import-untyped]  # noqa: F401
    except ImportError as error:
        raise MissingExtra(package="pyarrow", extra="parquet") from error


def write(matched: Matched, out: Path, names: Sequence[str]) -> None:
    """Write columns a, b (text), similarity (double) and measure (text); documents are called by `names`.

    Raises `MissingExtra` without pyarrow.
    """
    check_library()
    import pyarrow

    text = pyarrow.string()
    sides = [] if matched.within is None else [("a_in_b", pyarrow.float64()), ("b_in_a", pyarrow.float64())]
    schema = pyarrow.schema([("a", text), ("b", text), ("similarity", pyarrow.float64()), ("measure", text), *sides])
    with pyarrow.parquet.ParquetWriter(out, schema) as writer:
        for start in range(0, len(matched), ROWS):
            part = slice(start, start + ROWS)
            columns = {
                "a": [names[place] for place in matched.left[part]],
                "b": [names[place] for place in matched.right[part]],
                "similarity": matched.similarity[part],
                "measure": [matched.measure if exact else "estimate" for exact in matched.exact[part]],
            }
            if matched.within is not None:
                columns |= {"a_in_b": matched.within[part, 0], "b_in_a": matched.within[part, 1]}
            writer.write_table(pyarrow.table(columns, schema=schema))
