"""Recipes: every setting that can change a stored byte, frozen and named.

A recipe's id is a digest of its settings. It is stored in every row and in the index's metadata,
and an index holds one recipe. Settings that are None are left out of the digest, so a later version
may add a setting without touching old ids.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from indexer import recipe_key
from indexer.errors import UsageError
from indexer.model import TERM_HEAD

LONG_BITS = 64  # beyond which bits are kept as bytes
OPEN_STATISTICS = "corpus"  # the `statistics` of a recipe of which it is open which they are
ONLINE_STATISTICS = "online"  # those of a recipe whose statistics grow, and have numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Settings of one fingerprint. Algorithm names carry a version; a version never changes.

    `bands * rows` may not exceed `slots`. The stored bands are planned for `similarity`: a look-up
    below it reports a lower recall. `tables` gives the levels of a block design that has more than
    one, as in `4/1,4/1`; `shared` is the least number of bands that a candidate shares, 1 when
    None; `key_digits` the base-32 digits of a band's key, which is long when None; `statistics`
    is the digest of the corpus statistics that weights come from, `corpus` while it is open which,
    `online` where they grow; `numbered_statistics` lists those of an online recipe that rows were
    signed with, as in `1:DIGEST,2:DIGEST`, the last is the current one; `terms` is the length of a
    rare-term vector;
    `stop_words` the language of a stop list; `packed` the low bits of each slot that are kept;
    `baseline` a published scheme that is computed for comparison only; `key` the fingerprint of a
    secret key with which features are hashed; `left_out` the id of the list of approved passages
    that are left out of texts before they are signed and compared. The `secret` itself is not a
    setting: it is never stored, shown or compared. Nor are `corpus`, which reads the statistics of
    that digest, and `approved`, which reads that list.
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
    tables: str | None = None
    statistics: str | None = None
    numbered_statistics: str | None = None
    terms: int | None = None
    stop_words: str | None = None
    packed: int | None = None
    shared: int | None = None
    key_digits: int | None = None
    baseline: str | None = None
    key: str | None = None
    left_out: str | None = None
    min_features: int = 1
    secret: str | None = field(default=None, repr=False, compare=False)
    corpus: Callable[[], Any] | None = field(default=None, repr=False, compare=False)
    approved: Callable[[], Any] | None = field(default=None, repr=False, compare=False)

    @property
    def settings(self) -> dict[str, str | int | float]:
        """The settings that are not None, by name."""
        every = {name: getattr(self, name) for name in _FIELDS}
        return {name: value for name, value in every.items() if value is not None}

    @property
    def id(self) -> str:
        """The first 12 hexadecimal digits of the SHA-256 of the sorted JSON of `settings`.

        Of an online recipe with statistics their number and digest follow `settings_id`.

        >>> DEFAULT_V1.id
        '05acd0445251'
        >>> from indexer.recipe_names import recipe_named
        >>> recipe_named("signature-study:online-topsig:256").signing_with("0123456789ab").id
        'a04b1bae08a5.1.0123456789ab'
        """
        if not self.numbered_statistics:
            return self.settings_id
        return f"{self.settings_id}.{self.statistics_number}.{self.statistics_digest}"

    @property
    def settings_id(self) -> str:
        """The id without numbered statistics, which all rows of a store have in common."""
        own = {key: value for key, value in self.settings.items() if key != "numbered_statistics"}
        canonical = json.dumps(own, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:12]

    def compared(self, text: str) -> str:
        """Return a text as it is signed and compared: blanks for what `left_out` names.

        Raises `UsageError` where that list is not known.
        """
        if self.left_out is None:
            return text
        if self.approved is None:
            raise UsageError(
                f"recipe {self.name} leaves out passages of list {self.left_out}, which this "
                "recipe does not carry; take the recipe of the store"
            )
        shorter: str = self.approved().blanked(text)[0]
        return shorter

    @property
    def is_online(self) -> bool:
        """True if its corpus statistics grow with the collection, and have numbers."""
        return self.statistics == ONLINE_STATISTICS

    @property
    def statistics_number(self) -> int:
        """The number of the current statistics of an online recipe; 0 without any."""
        return int(self._current_statistics[0] or 0)

    @property
    def statistics_digest(self) -> str | None:
        """The digest of the statistics that it signs with; None without any."""
        if self.lacks_statistics:
            return None
        return self._current_statistics[1] if self.is_online else self.statistics

    @property
    def _current_statistics(self) -> tuple[str, str]:
        last = (self.numbered_statistics or "").rpartition(",")[2]
        number, _, digest = last.partition(":")
        return number, digest

    def signing_with(self, digest: str) -> Recipe:
        """Return the recipe that signs with statistics of a digest.

        In an online recipe they get the next number.

        >>> from indexer.recipe_names import recipe_named
        >>> recipe = recipe_named("signature-study:online-topsig:64")
        >>> recipe.signing_with("0a").signing_with("0b").numbered_statistics
        '1:0a,2:0b'
        """
        if not self.is_online:
            return dataclasses.replace(self, statistics=digest)
        added = f"{self.statistics_number + 1}:{digest}"
        numbered = f"{self.numbered_statistics},{added}" if self.numbered_statistics else added
        return dataclasses.replace(self, numbered_statistics=numbered)

    def by_statistics(self) -> tuple[Recipe, ...]:
        """Return the recipe with each of its numbered statistics alone, in order; itself if it is
        not online.

        >>> from indexer.recipe_names import recipe_named
        >>> recipe = recipe_named("signature-study:online-topsig:64")
        >>> recipes = recipe.signing_with("0a").signing_with("0b").by_statistics()
        >>> [recipe.numbered_statistics for recipe in recipes]
        ['1:0a', '2:0b']
        """
        if not self.numbered_statistics:
            return (self,)
        numbered = self.numbered_statistics.split(",")
        return tuple(dataclasses.replace(self, numbered_statistics=last) for last in numbered)

    def has_other_statistics(self, recipe_id: str) -> bool:
        """Return whether a row with this recipe id has other numbered statistics than this."""
        is_ours = self.is_online and recipe_id.startswith(f"{self.settings_id}.")
        return is_ours and recipe_id != self.id

    def is_same_but_for_statistics(self, other: Recipe) -> bool:
        """Return whether both have corpus weights, and the same settings but for the statistics."""
        if self.statistics is None or other.statistics is None:
            return False
        return other == dataclasses.replace(
            self, statistics=other.statistics, numbered_statistics=other.numbered_statistics
        )

    @property
    def is_storable(self) -> bool:
        """True if an index can use the recipe.

        Its sketches must fit a row (slots of 32 or 8 bits, 64 bits beside them or up to 1,024
        alone, rare terms), and it must have keys, and corpus statistics if it has weights.
        """
        fits = self.minhash != "affine64_v1" and self.packed in (None, 8)
        has_keys = bool(self.bands or self.blocks or self.tables or self.terms)
        return fits and has_keys and not (self.baseline or self.lacks_statistics)

    @property
    def lacks_statistics(self) -> bool:
        """True if weights come from corpus statistics, and it is open from which."""
        is_unnumbered = self.is_online and not self.numbered_statistics
        return self.statistics == OPEN_STATISTICS or is_unnumbered

    @property
    def relation(self) -> str:
        """The name of its features in tables of measured relations.

        >>> DEFAULT_V1.relation, SCANS_V1.relation
        ('chars_v1', 'chars_v1:6')
        """
        return self.features if self.width in (None, 4) else f"{self.features}:{self.width}"

    @property
    def counts_normal_words(self) -> bool:
        """True if the words of a row are counted as `lcs` counts them."""
        return self.normaliser == "default_v2"

    @property
    def slot_bytes(self) -> int:
        """The bytes of a stored slot or number: 1 of slots of 8 bits and of long bits, else 4."""
        return 1 if self.packed == 8 or self.has_long_bits else 4

    @property
    def has_long_bits(self) -> bool:
        """True if it makes more than 64 bits, which rows keep as bytes."""
        return (self.bits or 0) > LONG_BITS

    @property
    def has_vector(self) -> bool:
        """True if rows keep rare terms or long bits where others keep slots."""
        return self.terms is not None or self.has_long_bits

    @property
    def sketch_width(self) -> int:
        """The slots of a stored sketch, the numbers of a rare-term signature, or the bytes of more
        than 64 bits; 0 without one.
        """
        if self.terms:
            return self.terms + TERM_HEAD
        if self.has_long_bits:
            return (self.bits or 0) // 8
        return (self.slots or 0) if self.minhash else 0

    @property
    def sketch_bytes(self) -> int:
        """The bytes of a stored sketch of slots, rare terms or long bits; 0 without one."""
        return self.sketch_width * self.slot_bytes

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds its secret key; None for a recipe without one.

        >>> from indexer.recipe_names import recipe_named
        >>> recipe_named("default_v1+key:legal").key_variable
        'NEARFOLD_KEY_LEGAL'
        """
        key = recipe_key.split(self.name)[1]
        return recipe_key.variable(key) if key else None

    def with_secret(self, secret: str) -> Recipe:
        """Return the recipe with its secret key.

        Raises `UsageError` for a short key, and for a key with another fingerprint than `key`.
        """
        fingerprint = recipe_key.fingerprint(secret)
        if self.key not in (None, fingerprint):
            raise UsageError(
                f"{self.key_variable} holds the key with fingerprint {fingerprint}, "
                f"but {self.name} was made with {self.key}; give that one, or reindex"
            )
        return dataclasses.replace(self, key=fingerprint, secret=secret)

    def difference(self, other: Recipe) -> tuple[str, ...]:
        """Return the settings that differ, as `name: mine -> other`, sorted by name.

        Empty when the ids are equal.
        """
        mine, theirs = self.settings, other.settings
        names = sorted(mine.keys() | theirs.keys())
        return tuple(
            f"{n}: {mine.get(n)} -> {theirs.get(n)}" for n in names if mine.get(n) != theirs.get(n)
        )


_BESIDE = ("secret", "corpus", "approved")  # what is not a setting
_FIELDS = tuple(item.name for item in dataclasses.fields(Recipe) if item.name not in _BESIDE)


def settings_id_of(recipe_id: str) -> str:
    """Return the `settings_id` of the recipe with this `id`.

    >>> settings_id_of("a04b1bae08a5.1.0123456789ab"), settings_id_of("05acd0445251")
    ('a04b1bae08a5', '05acd0445251')
    """
    return recipe_id.partition(".")[0]


def is_recipe_id(text: str) -> bool:
    """Return whether a text has the form of the `id` of a recipe.

    >>> is_recipe_id("a04b1bae08a5.1.0123456789ab"), is_recipe_id("05acd0445251"), is_recipe_id("")
    (True, True, False)
    """
    return re.fullmatch(r"[0-9a-f]{12}(\.\d+\.[0-9a-f]+)?", text) is not None


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
DEFAULT_V2 = Recipe(
    name="default_v2",
    normaliser="default_v2",
    features="word_pairs_v1",
    feature_hash="word64_v1",
    minhash="fss_v1",
    slots=128,
    bands=42,
    rows=3,
    similarity=0.8,
    packed=8,
    shared=2,
    key_digits=5,
    min_features=3,
)
SCANS_V1 = Recipe(
    name="scans_v1",
    normaliser="default_v1",
    features="chars_v1",
    width=6,
    feature_hash="gram64_v1",
    minhash="fss_v1",
    slots=128,
    bands=42,
    rows=3,
    similarity=0.8,
    packed=8,
    shared=2,
    key_digits=5,
    min_features=8,
)
DEFAULT = DEFAULT_V2
