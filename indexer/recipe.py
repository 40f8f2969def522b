"""Recipes: every setting that can change a stored byte, frozen and named.

A recipe's id is a digest of its settings. It is stored in every row and in the index's metadata, and an index holds one
recipe. Settings that are None are left out of the digest, so a later version may add a setting without touching old ids.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass

from indexer.errors import UnknownRecipe


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Settings of one fingerprint. Algorithm names carry a version; a version never changes.

    `bands * rows` may not exceed `slots`. `similarity` is the similarity for which the stored bands are planned: asked
    below it, a look-up says that its recall is lower.
    """

    name: str
    normaliser: str
    features: str
    width: int | None = None
    feature_hash: str
    minhash: str | None = None
    slots: int | None = None
    bands: int | None = None
    rows: int | None = None
    similarity: float | None = None
    simhash: str | None = None
    bits: int | None = None
    blocks: int | None = None
    min_features: int = 1

    @property
    def settings(self) -> dict[str, str | int | float]:
        """Every setting that is not None, by name."""
        return {f.name: value for f in dataclasses.fields(self) if (value := getattr(self, f.name)) is not None}

    @property
    def id(self) -> str:
        """The first 12 hexadecimal digits of the SHA-256 of the sorted JSON of `settings`.

        >>> DEFAULT_V1.id
        '05acd0445251'
        """
        canonical = json.dumps(self.settings, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:12]

    def difference(self, other: Recipe) -> tuple[str, ...]:
        """Settings that differ, as `name: mine -> other`, sorted by name; empty when the ids are equal."""
        mine, theirs = self.settings, other.settings
        names = sorted(mine.keys() | theirs.keys())
        return tuple(f"{n}: {mine.get(n)} -> {theirs.get(n)}" for n in names if mine.get(n) != theirs.get(n))


DEFAULT_V1 = Recipe(
    name="default_v1",
    normaliser="default_v1",
    features="chars_v1",
    width=4,
    feature_hash="gram64_v1",
    minhash="fss_v1",
    slots=128,
    bands=21,
    rows=6,
    similarity=0.8,
    simhash="distinct_v1",
    bits=64,
    blocks=4,
    min_features=8,
)

DEFAULT = DEFAULT_V1
_NAMED = {"default": DEFAULT, "default_v1": DEFAULT_V1}


def recipe_named(name: str) -> Recipe:
    """Return the recipe that `name` spells; `default` is today's alias of a versioned recipe.

    Raises `UnknownRecipe`, which lists the names there are.

    >>> recipe_named("default").name
    'default_v1'
    """
    try:
        return _NAMED[name]
    except KeyError:
        raise UnknownRecipe(name=name, known=tuple(_NAMED)) from None
