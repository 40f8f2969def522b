"""Sketches and keys of files, nothing stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from indexer.documents.sources import path_list
from indexer.errors import ExtractionError, SourceNotFound, UsageError
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.fingerprinting.rare_terms import CorpusStatistics
from indexer.fingerprinting.schemes import count_text_features, feature_set_name
from indexer.jobs.document_rows import documents_at, documents_under
from indexer.model import FailedBlob, Fingerprint
from indexer.recipe import DEFAULT, Recipe
from indexer.stores import open_store


@dataclass(frozen=True, slots=True)
class FileFingerprint:
    """The fingerprint of one file, or the reason why it has none."""

    path: str
    recipe: Recipe
    fingerprint: Fingerprint | None
    error: str | None = None


def hash(
    paths: Iterable[str] | str | Path,
    recipe: Recipe = DEFAULT,
    statistics: CorpusStatistics | None = None,
) -> Iterator[FileFingerprint]:
    """Fingerprint files (`-` is text on stdin), each as it is ready; a single one need not be in a
    list.

    Raises `SourceNotFound` for a path that is not there, and `UsageError` when the recipe needs
    statistics and none are given.
    """
    for path, result in documents_at(path_list(paths)):
        if isinstance(result, ExtractionError):
            yield FileFingerprint(path, recipe, None, str(result))
        else:
            yield FileFingerprint(path, recipe, fingerprint(result.text, recipe, statistics))


def statistics_at(
    path: str, recipe: Recipe, failed: Callable[[FailedBlob], None] = lambda _: None
) -> CorpusStatistics:
    """Return corpus statistics for a recipe: counted over a folder or a store (by its URL), or
    read from a file that was saved. A store that was fingerprinted with statistics of the same
    features gives those.

    `failed` is called with each file of the folder that could not be read, and so was not counted.
    Raises `SourceNotFound`, and `UsageError` when the file holds no statistics, or statistics of
    other features.
    """
    if "://" in path:
        with closing(open_store(path)) as store:
            stored = store.stored_recipe()
            if stored and stored.corpus and feature_set_name(stored) == feature_set_name(recipe):
                statistics: CorpusStatistics = stored.corpus()
                return statistics
            return count_text_features((row.text for row in store.scan()), recipe)
    file = Path(path)
    if not file.exists():
        raise SourceNotFound(path=path)
    if file.is_dir():
        return count_text_features(_texts_under(path, failed), recipe)
    saved = CorpusStatistics.unpack(file.read_bytes())
    if saved.features != feature_set_name(recipe):
        raise UsageError(
            f"{path} counts {saved.features}, "
            f"but recipe {recipe.name} needs {feature_set_name(recipe)}"
        )
    return saved


def _texts_under(folder: str, failed: Callable[[FailedBlob], None]) -> Iterator[str]:
    for path, result in documents_under(folder):
        if isinstance(result, ExtractionError):
            failed(FailedBlob(path, str(result)))
        else:
            yield result.text
