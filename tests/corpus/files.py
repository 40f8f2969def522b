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


def write_corpus(folder: Path) -> Iterator[File]:
    """Write the fifty and their look-alikes, each in every format it can have."""
    yield from write(fifty(), folder / "fifty")
    yield from write(lookalikes(), folder / "lookalikes")


def write(documents: Iterable[Document], folder: Path) -> Iterator[File]:
    """Write documents into a folder as `NAME.ENDING`, in every format each can have."""
    for document in documents:
        for ending in formats_of(document):
            yield write_one(document, ending, folder)


def by_turns(documents: Iterable[Document], folder: Path) -> Iterator[File]:
    """Write each document in one format only: the first in the first it can have, the second in the
    second, and so on.
    """
    for place, document in enumerate(documents):
        endings = formats_of(document)
        yield write_one(document, endings[place % len(endings)], folder)


def write_one(document: Document, ending: str, folder: Path) -> File:
    """Write one document in one format."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{document.name}.{ending}"
    path.write_bytes(FORMATS[ending](document))
    return File(document.name, ending, path)
