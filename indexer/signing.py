"""Sketches and keys of files, nothing stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from indexer.documents import documents_at
from indexer.errors import ExtractionError
from indexer.fingerprint import fingerprint
from indexer.model import Fingerprint
from indexer.recipe import DEFAULT, Recipe


@dataclass(frozen=True, slots=True)
class Signed:
    """The fingerprint of one file, or the reason why it has none."""

    path: str
    recipe: Recipe
    fingerprint: Fingerprint | None
    error: str | None = None


def hash(paths: Iterable[str], recipe: Recipe = DEFAULT) -> Iterator[Signed]:
    """Fingerprint files (`-` is text on stdin), each as it is ready. Raises `SourceNotFound` for a path that is not there."""
    for path, result in documents_at(paths):
        if isinstance(result, ExtractionError):
            yield Signed(path, recipe, None, str(result))
        else:
            yield Signed(path, recipe, fingerprint(result.text, recipe))
