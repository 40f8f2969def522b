"""Containers: files that hold documents. Which ones are opened, and by which module, told by the
end of their names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeAlias

from indexer.errors import MissingExtra
from indexer.model import Blob, FailedBlob
from indexer.sources import delimited, jsonl, mbox, tars, zips
from indexer.sources.base import Found, Reading

Open: TypeAlias = Callable[[Blob, Reading], Iterator[Found]]


def _parquet(outer: Blob, reading: Reading) -> Iterator[Found]:
    try:
        from indexer.sources import parquet_rows as parquet
    except ModuleNotFoundError as error:
        raise MissingExtra(package="pyarrow", extra="parquet") from error
    yield from parquet.blobs(outer, reading)


KINDS: dict[tuple[str, ...], Open] = {
    (".zip",): zips.blobs,
    (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz"): tars.blobs,
    (".mbox",): mbox.blobs,
    (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"): jsonl.blobs,
    (".csv", ".tsv", ".csv.gz", ".tsv.gz"): delimited.blobs,
    (".parquet",): _parquet,
}


def kind_of(path: str) -> Open | None:
    """What opens a file of that name; None when it is no container.

    >>> kind_of("Mail.MBOX") is mbox.blobs, kind_of("a.docx")
    (True, None)
    """
    return next(
        (opens for suffixes, opens in KINDS.items() if path.lower().endswith(suffixes)), None
    )


def expand(
    found: Iterable[Found], given: Collection[str], reading: Reading, opened: set[str]
) -> Iterator[Found]:
    """Blobs as found, containers replaced by what is in them, and their paths added to `opened`.

    `given` are the paths that the caller named: they alone are opened unless `reading.containers`
    is `all`.
    """
    for item in found:
        wanted = reading.containers == "all" or (
            reading.containers == "given" and item.path in given
        )
        opens = kind_of(item.path) if wanted and isinstance(item, Blob) else None
        if opens is None or not isinstance(item, Blob):
            yield item
            continue
        opened.add(item.path)
        try:
            yield from opens(item, reading)
        except MissingExtra as error:
            yield FailedBlob(item.path, str(error))
