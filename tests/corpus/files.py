"""The corpus on disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from corpus.documents import Document, fifty, lookalikes
from corpus.formats import FORMATS, formats_of


@dataclass(frozen=True, slots=True)
class File:
    """One file: which document it holds, in which format."""

    document: str
    ending: str
    path: Path


def written(folder: Path) -> Iterator[File]:
    """Write the fifty and their look-alikes, each in every format it can have."""
    yield from write(fifty(), folder / "fifty")
    yield from write(lookalikes(), folder / "lookalikes")


def write(documents: Iterable[Document], folder: Path) -> Iterator[File]:
    """Write documents into a folder as `NAME.ENDING`."""
    folder.mkdir(parents=True, exist_ok=True)
    for document in documents:
        for ending in formats_of(document):
            path = folder / f"{document.name}.{ending}"
            path.write_bytes(FORMATS[ending](document))
            yield File(document.name, ending, path)
