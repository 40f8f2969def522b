"""Pairs as a Parquet file, by pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from indexer.errors import MissingExtra
from indexer.matching.match_result import MatchResult

ROWS = 100_000


def check_library() -> None:
    """Raise `MissingExtra` without pyarrow."""
    try:
        import pyarrow.parquet  # type: ignore[import-untyped]  # noqa: F401
    except ImportError as error:
        raise MissingExtra(package="pyarrow", extra="parquet") from error


def write(matched: MatchResult, out: Path, names: Sequence[str]) -> None:
    """Write columns a, b (text), similarity (double), measure (text), low and high (double),
    as_read (bool); `names` are those of the documents.

    Raises `MissingExtra` without pyarrow.
    """
    check_library()
    import pyarrow

    text, share = pyarrow.string(), pyarrow.float64()
    sides = [] if matched.within is None else [("a_in_b", share), ("b_in_a", share)]
    scores = [("similarity", share), ("measure", text), ("low", share), ("high", share)]
    scores.append(("as_read", pyarrow.bool_()))
    schema = pyarrow.schema([("a", text), ("b", text), *scores, *sides])
    with pyarrow.parquet.ParquetWriter(out, schema) as writer:
        for start in range(0, len(matched), ROWS):
            part = slice(start, start + ROWS)
            low, high = matched.intervals(part)
            columns = {
                "a": [names[place] for place in matched.left[part]],
                "b": [names[place] for place in matched.right[part]],
                "similarity": matched.similarity[part],
                "measure": matched.measures(part),
                "low": low,
                "high": high,
                "as_read": matched.as_read(part),
            }
            if matched.within is not None:
                columns |= {"a_in_b": matched.within[part, 0], "b_in_a": matched.within[part, 1]}
            writer.write_table(pyarrow.table(columns, schema=schema))
