"""Corpus statistics that indices were signed with, kept by their digests on this machine."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from indexer.errors import UsageError
from indexer.recipe import Recipe
from indexer.sketch.corpus_statistics import CorpusStatistics
from indexer.system.state_folder import state_folder
from indexer.system.whole_file import write_whole

FILE = "NEARFOLD_STATISTICS"  # the variable that names a file of statistics


def keep_statistics(recipe: Recipe, statistics: CorpusStatistics) -> Recipe:
    """Keep statistics, and return a recipe whose weights come from them.

    Raises `UsageError` when they cannot be written.
    """
    place = _place(statistics.id)
    if not place.exists():
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"corpus statistics cannot be kept in {place.parent} ({error.strerror}); "
                "set XDG_STATE_HOME to a folder that can be written"
            ) from error
        with write_whole(place, "corpus statistics") as part:
            part.write_bytes(statistics.pack())
    return with_corpus(recipe.signing_with(statistics.id))


def with_corpus(recipe: Recipe) -> Recipe:
    """Return a recipe that reads its corpus statistics when it signs; unchanged without any."""
    if recipe.statistics_digest is None:
        return recipe
    return replace(recipe, corpus=partial(_statistics, recipe.statistics_digest, recipe.name))


@lru_cache(maxsize=4)
def _statistics(digest: str, name: str) -> CorpusStatistics:
    """Return the kept statistics of a digest. Raises `UsageError` when they are not here."""
    named = os.environ.get(FILE)
    for place in [_place(digest), *([Path(named)] if named else [])]:
        if place.is_file():
            statistics = CorpusStatistics.unpack(place.read_bytes())
            if statistics.id == digest:
                return statistics
    raise UsageError(
        f"recipe {name} signs with corpus statistics {digest}, which are not on this machine: "
        f"name their file by {FILE} (it is {'/'.join(_place(digest).parts[-3:])} in the folder for "
        "user state of the machine that signed), "
        "or sign all again by `nearfold reindex`"
    )


def _place(digest: str) -> Path:
    return state_folder() / "statistics" / digest
