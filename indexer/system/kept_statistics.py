"""Corpus statistics that indices were signed with, kept by their digests on this machine."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial

from indexer.errors import UsageError
from indexer.recipe import Recipe
from indexer.sketch.corpus_statistics import CorpusStatistics
from indexer.system.kept_files import KeptFiles

_KEPT = KeptFiles("statistics", "NEARFOLD_STATISTICS", "corpus statistics", CorpusStatistics.unpack)


def keep_statistics(recipe: Recipe, statistics: CorpusStatistics) -> Recipe:
    """Keep statistics, and return a recipe whose weights come from them.

    Raises `UsageError` when they cannot be written.
    """
    _KEPT.keep(statistics.id, statistics.pack())
    return with_corpus(recipe.signing_with(statistics.id))


def with_corpus(recipe: Recipe) -> Recipe:
    """Return a recipe that reads its corpus statistics when it signs; unchanged without any."""
    if recipe.statistics_digest is None:
        return recipe
    return replace(recipe, corpus=partial(_statistics, recipe.statistics_digest, recipe.name))


@lru_cache(maxsize=4)
def _statistics(digest: str, name: str) -> CorpusStatistics:
    """Return the kept statistics of a digest. Raises `UsageError` when they are not here."""
    statistics = _KEPT.find(digest)
    if statistics is not None:
        return statistics
    file = "/".join(_KEPT.place(digest).parts[-3:])
    raise UsageError(
        f"recipe {name} signs with corpus statistics {digest}, which are not on this machine: "
        f"name their file by {_KEPT.variable} (it is {file} in the folder for user state of "
        "the machine that signed), "
        "or sign all again by `nearfold reindex`"
    )
