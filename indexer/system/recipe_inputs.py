"""Files that recipes need to fingerprint, kept by the ids of what they hold on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from indexer.errors import UsageError
from indexer.fingerprinting.rare_terms import CorpusStatistics
from indexer.recipe import Recipe, recipe_named
from indexer.system.approved_passages import ApprovedPassages, approved_so_far
from indexer.system.credentials import secret
from indexer.system.files import state_folder, write_whole


class _HasId(Protocol):
    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=_HasId)


@dataclass(frozen=True)
class KeptFiles(Generic[T]):
    """Values kept in a folder of the user's state, each in a file named by its id.

    `folder` lies in that for user state. `variable`: the environment variable that names another
    file.
    `what`: the values, in messages. `read`: returns the value of a file's bytes.
    """

    folder: str
    variable: str
    what: str
    read: Callable[[bytes], T]

    def path(self, id: str) -> Path:
        """Return the file of an id, which need not exist."""
        return state_folder() / self.folder / id

    def keep(self, id: str, data: bytes) -> None:
        """Write the file of a value unless it is there. Raises `UsageError` when it cannot."""
        path = self.path(id)
        if path.exists():
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"{self.what} cannot be kept in {path.parent} ({error.strerror}); "
                "set XDG_STATE_HOME to a folder that can be written"
            ) from error
        with write_whole(path, self.what) as part:
            part.write_bytes(data)

    def find(self, id: str) -> T | None:
        """Return the value of an id, from its file or the named one; None when neither has it."""
        named = os.environ.get(self.variable)
        for path in [self.path(id), *([Path(named)] if named else [])]:
            if path.is_file():
                value = self.read(path.read_bytes())
                if value.id == id:
                    return value
        return None


# Approved passages that indices leave out of texts, kept by their ids on this machine.


def _read(data: bytes) -> ApprovedPassages:
    return approved_so_far(data.decode("utf-8").splitlines())


_KEPT = KeptFiles("passages", "NEARFOLD_PASSAGES", "approved passages", _read)


def keep_passages(recipe: Recipe, passages: ApprovedPassages) -> Recipe:
    """Keep a list, and return a recipe that leaves its passages out of texts.

    Raises `UsageError` for a recipe with corpus weights, and when the list cannot be written.
    """
    if recipe.statistics is not None:
        raise UsageError(
            f"recipe {recipe.name} has corpus weights, which count whole texts; "
            "leave --leave-out out, or choose another recipe"
        )
    _KEPT.keep(passages.id, passages.lines().encode())
    return with_approved(replace(recipe, left_out=passages.id))


def with_approved(recipe: Recipe) -> Recipe:
    """Return a recipe that reads the list that it leaves out; unchanged without any."""
    if recipe.left_out is None:
        return recipe
    return replace(recipe, approved=partial(_passages, recipe.left_out, recipe.name))


@lru_cache(maxsize=4)
def _passages(digest: str, name: str) -> ApprovedPassages:
    """Return the kept list of an id. Raises `UsageError` when it is not here."""
    passages = _KEPT.find(digest)
    if passages is not None:
        return passages
    raise UsageError(
        f"recipe {name} leaves out the approved passages of list {digest}, which is not on this "
        f"machine: name its file by {_KEPT.variable}, or fingerprint all again by `nearfold "
        "reindex`"
    )


# Corpus statistics that indices were fingerprinted with, kept by their digests on this machine.

_KEPT_STATISTICS = KeptFiles(
    "statistics", "NEARFOLD_STATISTICS", "corpus statistics", CorpusStatistics.unpack
)


def keep_statistics(recipe: Recipe, statistics: CorpusStatistics) -> Recipe:
    """Keep statistics, and return a recipe whose weights come from them.

    Raises `UsageError` when they cannot be written.
    """
    _KEPT_STATISTICS.keep(statistics.id, statistics.pack())
    return with_corpus(recipe.signing_with(statistics.id))


def with_corpus(recipe: Recipe) -> Recipe:
    """Return a recipe that reads its corpus statistics when it is used; unchanged without any."""
    if recipe.statistics_digest is None:
        return recipe
    return replace(recipe, corpus=partial(_statistics, recipe.statistics_digest, recipe.name))


@lru_cache(maxsize=4)
def _statistics(digest: str, name: str) -> CorpusStatistics:
    """Return the kept statistics of a digest. Raises `UsageError` when they are not here."""
    statistics = _KEPT_STATISTICS.find(digest)
    if statistics is not None:
        return statistics
    file = "/".join(_KEPT_STATISTICS.path(digest).parts[-3:])
    raise UsageError(
        f"recipe {name} fingerprints with corpus statistics {digest}, which are not on this "
        f"machine: name their file by {_KEPT_STATISTICS.variable} (it is {file} in the folder for "
        "user state of the machine that fingerprinted), or fingerprint all again by `nearfold "
        "reindex`"
    )


# Recipes with their secret key, which the environment gives, or their corpus statistics.


def recipe_asked(name: str, environment: Mapping[str, str] | None = None) -> Recipe:
    """Return the recipe of a name, with its secret key if it has one.

    Raises `UsageError` as `recipe_named` does, and when the key is not set.
    """
    recipe = with_key(recipe_named(name), environment)
    if recipe.key_variable and recipe.key is None:
        raise UsageError(
            f"recipe {recipe.name} has a secret key: "
            f"name the file that holds it by {recipe.key_variable}_FILE"
        )
    return recipe


def with_key(recipe: Recipe, environment: Mapping[str, str] | None = None) -> Recipe:
    """Return the recipe with its secret key from the environment, or its kept corpus statistics,
    and with the list of approved passages that it leaves out; without a key that is not set, so
    that it cannot sign.

    Raises `UsageError` for a key that does not have the fingerprint in the recipe, or has white
    space around it.
    """
    recipe = with_approved(recipe)
    if recipe.key_variable is None:
        return with_corpus(recipe)
    value = secret(recipe.key_variable, os.environ if environment is None else environment)
    if value is None:
        return recipe
    if value != value.strip():
        raise UsageError(
            f"the key in {recipe.key_variable} has white space around it, which is easily lost; "
            "leave it out"
        )
    return recipe.with_secret(value)
