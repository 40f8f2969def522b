"""Recipes: every setting that can change a stored byte, frozen and named.

A recipe's id is a digest of its settings. It is stored in every row and in the index's metadata,
and an index holds one recipe. Settings that are None are left out of the digest, so a later version
may add a setting without touching old ids.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from indexer.errors import UnknownName, UnknownRecipe, UsageError
from indexer.model import MIN_TERMS, TERM_PREFIX

# The secret key of a recipe: its name, its public fingerprint, and the key of the feature hash.

KEYED_HASHES = {"gram64_v1": "sip24_v1", "word64_v1": "sip24_pairs_v1"}  # by the unkeyed hash
SHORTEST = 32
_NAME = re.compile(r"(?P<recipe>.+)\+key:(?P<key>[a-z][a-z0-9_]{0,31})", re.ASCII)


def split_key(name: str) -> tuple[str, str | None]:
    """Return a recipe's name without its key, and the name of the key, None if it has none.

    >>> split_key("default_v1+key:legal"), split_key("default_v1")
    (('default_v1', 'legal'), ('default_v1', None))
    """
    match = _NAME.fullmatch(name)
    return (match["recipe"], match["key"]) if match else (name, None)


def variable_of_key(name: str) -> str:
    """Return the environment variable that holds a key.

    >>> variable_of_key("legal")
    'NEARFOLD_KEY_LEGAL'
    """
    return f"NEARFOLD_KEY_{name.upper()}"


def key_fingerprint(secret: str) -> str:
    """Return 16 hexadecimal digits that identify a key without revealing it.

    Raises `UsageError` for a key of fewer than 32 characters, which could be guessed from them.

    >>> key_fingerprint("0123456789abcdef" * 4)
    '2ac4323675e9e1fb'
    """
    if len(secret) < SHORTEST:
        raise UsageError(
            f"the secret key of a recipe has {SHORTEST} characters or more, not {len(secret)}; "
            "make one: openssl rand -hex 32"
        )
    return _derive(secret, "nearfold recipe key fingerprint v1").hex()[:16]


def key_words(secret: str) -> tuple[int, int]:
    """Return the 128-bit key of the feature hash as two little-endian words."""
    key = _derive(secret, "nearfold recipe key sip24 v1")
    return int.from_bytes(key[:8], "little"), int.from_bytes(key[8:16], "little")


def _derive(secret: str, purpose: str) -> bytes:
    return hmac.digest(
        secret.encode("utf-8", "surrogateescape"), purpose.encode("ascii"), hashlib.sha256
    )


LONG_BITS = 64  # beyond which bits are kept as bytes
OPEN_STATISTICS = "corpus"  # the `statistics` of a recipe of which it is open which they are
ONLINE_STATISTICS = "online"  # the statistics of a recipe grow, and have numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Settings of one fingerprint. Algorithm names carry a version; a version never changes.

    `bands * rows` may not exceed `slots`. The stored bands are planned for `similarity`: a look-up
    below it reports a lower recall. `tables` gives the levels of a block design that has more than
    one, as in `4/1,4/1`; `shared` is the minimum number of bands that a candidate shares, 1 when
    None; `key_digits` the base-32 digits of a band's key, which is long when None; `statistics`
    is the digest of the corpus statistics that weights come from, `corpus` while it is open which,
    `online` where they grow; `numbered_statistics` lists the statistics of an online recipe that
    rows were fingerprinted with, as in `1:DIGEST,2:DIGEST`, the last is the current one; `terms` is
    the length of a rare-term vector; `stop_words` the language of a stop list; `packed` the low
    bits of each slot that are kept; `baseline` a published scheme that is computed for comparison
    only; `key` the fingerprint of a secret key with which features are hashed; `left_out` the id of
    the list of approved passages that are left out of texts before they are fingerprinted and
    compared; `exact` what the digest of a text reads next to its normal form. The `secret` itself
    is not a setting: it is never stored, shown or compared. Nor are `corpus`, which reads the
    statistics of that digest, and `approved`, which reads that list.
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
    exact: str | None = None
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
        >>> from indexer.recipe import recipe_named
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
        """Return a text as it is fingerprinted and compared: blanks for what `left_out` names.

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
        """The digest of the statistics that it fingerprints with; None without any."""
        if self.lacks_statistics:
            return None
        return self._current_statistics[1] if self.is_online else self.statistics

    @property
    def _current_statistics(self) -> tuple[str, str]:
        last = (self.numbered_statistics or "").rpartition(",")[2]
        number, _, digest = last.partition(":")
        return number, digest

    def signing_with(self, digest: str) -> Recipe:
        """Return the recipe that fingerprints with statistics of a digest.

        In an online recipe they get the next number.

        >>> from indexer.recipe import recipe_named
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

        >>> from indexer.recipe import recipe_named
        >>> recipe = recipe_named("signature-study:online-topsig:64")
        >>> recipes = recipe.signing_with("0a").signing_with("0b").by_statistics()
        >>> tuple(recipe.numbered_statistics for recipe in recipes)
        ('1:0a', '2:0b')
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

        Its sketches must fit a row (slots of 32 or 8 bits, 64 bits next to them or up to 1,024
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
            return self.terms + TERM_PREFIX
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

        >>> from indexer.recipe import recipe_named
        >>> recipe_named("default_v1+key:legal").key_variable
        'NEARFOLD_KEY_LEGAL'
        """
        key = split_key(self.name)[1]
        return variable_of_key(key) if key else None

    def with_secret(self, secret: str) -> Recipe:
        """Return the recipe with its secret key.

        Raises `UsageError` for a short key, and for a key with another fingerprint than `key`.
        """
        fingerprint = key_fingerprint(secret)
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


_NOT_SETTINGS = ("secret", "corpus", "approved")
_FIELDS = tuple(item.name for item in dataclasses.fields(Recipe) if item.name not in _NOT_SETTINGS)


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
DEFAULT_V3 = dataclasses.replace(
    DEFAULT_V2,
    name="default_v3",
    simhash="distinct_v1",
    bits=64,
    blocks=4,
    exact="symbols_v1",
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
DEFAULT = DEFAULT_V3


# Recipes by name: the usual ones, condenser strings of copietje, and the methods of studies.

_TOKENISERS = (
    *("ws", "white-space", "words", "split-words", "sents", "split-sents", "words-nl", "sents-nl"),
    *(f"white-space-{width}-grams" for width in range(2, 7)),
    *(f"{width}-grams" for width in range(1, 7)),
)
RUNS = re.compile(r"(?P<width>[1-9][0-9]?)-(?P<unit>byte-grams|word-shingles)", re.ASCII)
_WITHOUT_BLANKS = "default"  # the normaliser after which a text has no words
_RUNS_OF_CHARACTERS = re.compile(r"[0-9]+-(?:byte-)?grams", re.ASCII)
_ALIASES = {"white-space": "ws", "split-words": "words", "split-sents": "sents"}
_NORMALISERS = ("norm-html", "norm", "none", "default", "norm-anyascii", "norm-html-anyascii")
_HASHES = ("sha1", "mmh3", "crc32")
_SCHEMES = ("affine32", "legacy", "affine64", "fss", "icws")
_DOC_VERSIONS = ("v1", "v2", "v3", "v4", "v5", "v6")  # of simhash-doc; v5 is the draft
_PACKED = ("b1", "b2", "b4", "b8")
_BASELINES = ("super-shingles", "mega-shingles", "winnowing", "i-match")
_STUDY = {
    "simhash": "shake_raw_v1",
    "simhash-sha512": "sha512_raw_v1",
    "topsig": "topsig_paper_v1",
    "topsig-released": "topsig_released_v1",
    "weighted-topsig": "weighted_topsig_paper_v1",
    "weighted-topsig-released": "weighted_topsig_released_v1",
    "weighted-topsig-tool": "weighted_topsig_tool_v1",
    "online-topsig": "weighted_topsig_paper_v1",
    "weighted-simhash": "weighted_shake_v1",
    "minhash": "truncated_first_v1",
    "minhash-last": "truncated_last_v1",
}
_DEFAULTS = {recipe.name: recipe for recipe in (DEFAULT_V1, DEFAULT_V2, DEFAULT_V3)}
_NAMES = ("default", *_DEFAULTS, "scans", "simhash-doc", "clauses")


def recipe_named(name: str) -> Recipe:
    """Return the recipe of that name; `default` is an alias of `default_v3`, `scans` of `scans_v1`.

    Raises `UnknownRecipe`, which names the usual ones, and `UsageError` when one part of a
    name is not valid.

    >>> recipe_named("default").name, recipe_named(":::").name
    ('default_v3', 'ws:norm-html:sha1:128')
    """
    if name == "default":
        return DEFAULT
    if name in _DEFAULTS:
        return _DEFAULTS[name]
    if name in ("scans", "scans_v1"):
        return SCANS_V1
    plain, key = split_key(name)
    if key and (plain == "default" or plain in _DEFAULTS):
        recipe = recipe_named(plain)
        feature_hash = KEYED_HASHES[recipe.feature_hash]
        return dataclasses.replace(
            recipe, name=f"{recipe.name}+key:{key}", feature_hash=feature_hash
        )
    parts = name.split(":")
    for prefix, make in _FAMILIES.items():
        if parts[0] == prefix or (prefix == "simhash-doc" and parts[0].startswith("simhash-doc-")):
            return make(parts)
    if len(parts) in (4, 5, 6):
        return _condenser(parts)
    raise UnknownRecipe(name=name, known=_NAMES)


def _condenser(parts: list[str]) -> Recipe:
    """Return the recipe of a condenser string of copietje.

    An empty part is its default; tokenisers may be written with `_` or `-`.
    """
    tokeniser = parts[0].replace("_", "-") or "ws"
    if not RUNS.fullmatch(tokeniser):
        tokeniser = _one_of(
            "tokenizer", tokeniser, (*_TOKENISERS, "N-byte-grams", "N-word-shingles")
        )
    tokeniser = _ALIASES.get(tokeniser, tokeniser)
    normaliser = _one_of("normaliser", parts[1] or "norm-html", _NORMALISERS)
    if normaliser == _WITHOUT_BLANKS and not _RUNS_OF_CHARACTERS.fullmatch(tokeniser):
        raise UsageError(
            f"normaliser {normaliser} deletes blanks, so {tokeniser} would make one token of every "
            f"text; take runs of characters, such as 4-grams:{normaliser}, or normaliser none"
        )
    feature_hash = _one_of("hash", parts[2] or "sha1", _HASHES)
    slots = _number("number of permutations", parts[3] or "128", 2, 65536)
    scheme = _one_of("scheme", (parts[4:] or [""])[0] or "affine32", _SCHEMES)
    packed = _one_of("packing", parts[5], _PACKED) if len(parts) > 5 else ""
    suffix = "" if scheme == "affine32" else f":{scheme}"
    if packed:
        suffix = f":{scheme}:{packed}"
    rows = min(5, slots)
    bands = max(1, slots // 5)
    if slots == 128:
        bands, rows = 26, 4
    return Recipe(
        name=f"{tokeniser}:{normaliser}:{feature_hash}:{slots}{suffix}",
        normaliser=normaliser,
        features=tokeniser,
        feature_hash=feature_hash,
        minhash=f"{scheme}_v1",
        slots=slots,
        bands=bands,
        rows=rows,
        similarity=0.5,
        packed=int(packed[1:]) if packed else None,
    )


def _simhash_doc(parts: list[str]) -> Recipe:
    """Return the recipe of a `simhash-doc` name.

    16 tables of 28 bits find everything within 3 bits; `-loose` has 28 tables for 6 bits (.90).
    """
    options = parts[0].removeprefix("simhash-doc").removeprefix("-")
    is_loose = options.endswith("loose")
    version = options.removesuffix("loose").removesuffix("-")
    version = _one_of("version of simhash-doc", version or "v2", _DOC_VERSIONS)
    has_stop_list = len(parts) == 2 and parts[1].startswith("stop-")
    stop = parts[1].removeprefix("stop-") if has_stop_list else ""
    if len(parts) > 1 and not stop:
        raise UsageError(
            f"simhash-doc takes a version, -loose and :stop-LANGUAGE only, not {':'.join(parts)!r}"
        )
    variant = "-loose" if is_loose else ""
    suffix = f":stop-{stop}" if stop else ""
    return Recipe(
        name=f"simhash-doc-{version}{variant}{suffix}",
        normaliser="none",
        features=f"tokens_{version}",
        feature_hash="jenkins64_v1",
        simhash=f"simhash_doc_{version}",
        bits=64,
        tables="8/2" if is_loose else "4/1,4/1",
        stop_words=stop or None,
    )


def _study(parts: list[str]) -> Recipe:
    """Return the recipe of `signature-study:METHOD:BITS`.

    Its features are UTF-8 character 4-grams of the unchanged text.
    """
    if len(parts) != 3:
        raise UsageError(
            f"signature-study is written signature-study:METHOD:BITS, not {':'.join(parts)!r}"
        )
    method = _one_of("method", parts[1], tuple(_STUDY))
    bits = _number("number of bits", parts[2], 16, 512 if method == "simhash-sha512" else 1024)
    if bits % 8:
        raise UsageError(f"the number of bits is a multiple of 8, not {bits}")
    return Recipe(
        name=":".join(parts),
        normaliser="none",
        features="chars_v1",
        width=4,
        feature_hash="string64_v1" if "topsig" in method else "utf8_v1",
        simhash=_STUDY[method],
        bits=bits,
        tables=_study_tables(bits),
        statistics=_study_statistics(method),
    )


def _study_statistics(method: str) -> str | None:
    if method.startswith("online"):
        return ONLINE_STATISTICS
    return OPEN_STATISTICS if method.startswith("weighted") else None


def _study_tables(bits: int) -> str:
    """Return the tables that find everything within 1 of 16 or 24 bits, 2 of 32, 3 of up to 64,
    and 8 of more.
    """
    if bits <= 24:
        return "4/3"
    if bits <= 32:
        return "4/2"
    return "4/1,4/1" if bits <= LONG_BITS else "9/1"


def _clauses(parts: list[str]) -> Recipe:
    """Return the recipe of `clauses` or `clauses:TERMS`: rare-term vectors of 30 terms or TERMS."""
    if len(parts) > 2:
        raise UsageError(f"clauses takes one number, as in clauses:60, not {':'.join(parts)!r}")
    terms = _number("number of terms", (parts[1:] or ["30"])[0], MIN_TERMS, 60)
    return Recipe(
        name=f"clauses:{terms}",
        normaliser="none",
        features="tokens_v2",
        feature_hash="string64_v1",
        similarity=0.9,
        statistics=OPEN_STATISTICS,
        terms=terms,
        min_features=MIN_TERMS,
    )


def _baseline(parts: list[str]) -> Recipe:
    """Return the recipe of a published scheme, for comparison.

    Its features are five-word shingles of words without case and punctuation (winnowing: character
    5-grams without blanks; I-Match: tokens).
    """
    if len(parts) != 2:
        raise UsageError(f"a baseline is written baseline:NAME, not {':'.join(parts)!r}")
    name = _one_of("baseline", parts[1], _BASELINES)
    features = {"winnowing": "5-grams", "i-match": "tokens_v2"}.get(name, "5-word-shingles")
    normaliser = {"winnowing": _WITHOUT_BLANKS, "i-match": "none"}.get(name, "words_v2")
    return Recipe(
        name=f"baseline:{name}",
        normaliser=normaliser,
        features=features,
        feature_hash="string64_v1",
        baseline=f"{name}_v1",
        statistics=OPEN_STATISTICS if name == "i-match" else None,
    )


_FAMILIES: dict[str, Callable[[list[str]], Recipe]] = {
    "simhash-doc": _simhash_doc,
    "signature-study": _study,
    "clauses": _clauses,
    "baseline": _baseline,
}


def _one_of(what: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise UnknownName(what, value, known)
    return value


def _number(what: str, digits: str, minimum: int, limit: int) -> int:
    if not digits.isdecimal() or len(digits) > 9 or not minimum <= int(digits) <= limit:
        raise UsageError(f"the {what} lies between {minimum} and {limit}, unlike {digits!r}")
    return int(digits)
