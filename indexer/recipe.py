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

from indexer import recipe_key as recipekeys
from indexer.errors import UnknownName, UnknownRecipe, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Settings of one fingerprint. Algorithm names carry a version; a version never changes.

    `bands * rows` may not exceed `slots`. `similarity` is the similarity for which the stored bands
    are planned: asked below it, a look-up says that its recall is lower. `tables` spells the levels
    of a block design, as `4/1,4/1`, where there is more than one; `statistics` names the corpus
    statistics that weights come from; `terms` is the length of a rare-term vector; `stop_words` the
    language of a stop list; `packed` the low bits of each slot that are kept; `baseline` a scheme
    of other papers that is computed for comparison only; `key` the fingerprint of a secret key
    under which features are hashed. The `secret` itself belongs to no setting: it is never stored,
    shown or compared.
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
    terms: int | None = None
    stop_words: str | None = None
    packed: int | None = None
    baseline: str | None = None
    key: str | None = None
    min_features: int = 1
    secret: str | None = field(default=None, repr=False, compare=False)

    @property
    def settings(self) -> dict[str, str | int | float]:
        """Every setting that is not None, by name."""
        return {name: value for name in _FIELDS if (value := getattr(self, name)) is not None}

    @property
    def id(self) -> str:
        """The first 12 hexadecimal digits of the SHA-256 of the sorted JSON of `settings`.

        >>> DEFAULT_V1.id
        '05acd0445251'
        """
        canonical = json.dumps(self.settings, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:12]

    @property
    def storable(self) -> bool:
        """Whether an index can be made with it: sketches that fit a row (slots of 32 bits, 64 bits
        of SimHash), and keys.
        """
        fits = (self.bits or 0) <= 64 and self.minhash != "affine64_v1" and not self.packed
        keyed = bool(self.bands or self.blocks or self.tables)
        return fits and keyed and not (self.baseline or self.statistics)

    @property
    def key_variable(self) -> str | None:
        """The environment variable that names its secret key; None for a recipe without one.

        >>> recipe_named("default_v1+key:legal").key_variable
        'NEARFOLD_KEY_LEGAL'
        """
        key = recipekeys.split(self.name)[1]
        return recipekeys.variable(key) if key else None

    def keyed(self, secret: str) -> Recipe:
        """The recipe with its secret key. Raises `UsageError` for a short key, and for another than
        that of its fingerprint.
        """
        told = recipekeys.fingerprint(secret)
        if self.key not in (None, told):
            raise UsageError(
                f"{self.key_variable} holds the key with fingerprint {told}, but {self.name} was made with {self.key}; "
                "give that one, or reindex"
            )
        return dataclasses.replace(self, key=told, secret=secret)

    def difference(self, other: Recipe) -> tuple[str, ...]:
        """Settings that differ, as `name: mine -> other`, sorted by name; empty when the ids are
        equal.
        """
        mine, theirs = self.settings, other.settings
        names = sorted(mine.keys() | theirs.keys())
        return tuple(
            f"{n}: {mine.get(n)} -> {theirs.get(n)}" for n in names if mine.get(n) != theirs.get(n)
        )


_FIELDS = tuple(one.name for one in dataclasses.fields(Recipe) if one.name != "secret")

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

_TOKENISERS = (
    "ws", "white-space", "words", "split-words", "sents", "split-sents", "words-nl", "sents-nl",
    *(f"white-space-{width}-grams" for width in range(2, 7)), *(f"{width}-grams" for width in range(1, 7)),
)  # fmt: skip
RUNS = re.compile(r"(?P<width>[1-9][0-9]?)-(?P<unit>byte-grams|word-shingles)", re.ASCII)
_SAME = {"white-space": "ws", "split-words": "words", "split-sents": "sents"}
_NORMALISERS = ("norm-html", "norm", "none", "default", "norm-anyascii", "norm-html-anyascii")
_HASHES = ("sha1", "mmh3", "crc32")
_SCHEMES = ("affine32", "legacy", "affine64", "fss", "icws")
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
    "weighted-simhash": "weighted_shake_v1",
    "minhash": "truncated_first_v1",
    "minhash-last": "truncated_last_v1",
}
SPELLINGS = (
    "default",
    "default_v1",
    "default_v1+key:NAME",
    "simhash-doc[-v1|-v2|-v3|-v4][-loose][:stop-LANGUAGE]",
    f"signature-study:{'|'.join(_STUDY)}:BITS",
    "clauses[:TERMS]",
    f"TOKENIZER:NORMALISER:{'|'.join(_HASHES)}:NUM_PERM[:{'|'.join(_SCHEMES)}[:{'|'.join(_PACKED)}]]",
    f"baseline:{'|'.join(_BASELINES)}",
)


def recipe_named(name: str) -> Recipe:
    """Return the recipe that `name` spells; `default` is today's alias of a versioned recipe.

    Raises `UnknownRecipe`, which lists the spellings there are, and `UsageError` when one part of a
    spelling is not valid.

    >>> recipe_named("default").name, recipe_named(":::").name
    ('default_v1', 'ws:norm-html:sha1:128')
    """
    if name in ("default", "default_v1"):
        return DEFAULT_V1
    plain, key = recipekeys.split(name)
    if key and plain in ("default", "default_v1"):
        return dataclasses.replace(
            DEFAULT_V1, name=f"default_v1+key:{key}", feature_hash=recipekeys.KEYED_HASH
        )
    parts = name.split(":")
    for head, make in _FAMILIES.items():
        if parts[0] == head or (head == "simhash-doc" and parts[0].startswith("simhash-doc-")):
            return make(parts)
    if len(parts) in (4, 5, 6):
        return _condenser(parts)
    raise UnknownRecipe(name=name, known=SPELLINGS)


def _condenser(parts: list[str]) -> Recipe:
    """copietje's condenser: an empty part is its default; both spellings of tokenisers (`_` or `-`)
    are taken.
    """
    tokeniser = parts[0].replace("_", "-") or "ws"
    if not RUNS.fullmatch(tokeniser):
        tokeniser = _one_of(
            "tokenizer", tokeniser, (*_TOKENISERS, "N-byte-grams", "N-word-shingles")
        )
    tokeniser = _SAME.get(tokeniser, tokeniser)
    normaliser = _one_of("normaliser", parts[1] or "norm-html", _NORMALISERS)
    feature_hash = _one_of("hash", parts[2] or "sha1", _HASHES)
    slots = _number("number of permutations", parts[3] or "128", 2, 65536)
    scheme = _one_of("scheme", (parts[4:] or [""])[0] or "affine32", _SCHEMES)
    packed = _one_of("packing", parts[5], _PACKED) if len(parts) > 5 else ""
    suffix = f":{scheme}:{packed}" if packed else "" if scheme == "affine32" else f":{scheme}"
    bands, rows = (26, 4) if slots == 128 else (max(1, slots // 5), 5 if slots >= 5 else slots)
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
    """`simhash-doc-v2`: 16 tables of 28 bits find what is within 3 bits; `-loose` has 28 tables for
    6 bits (.90).
    """
    spelled = parts[0].removeprefix("simhash-doc").removeprefix("-")
    version, loose = spelled.removesuffix("loose").removesuffix("-"), spelled.endswith("loose")
    version = _one_of("version of simhash-doc", version or "v2", ("v1", "v2", "v3", "v4"))
    stop = (
        parts[1].removeprefix("stop-") if len(parts) == 2 and parts[1].startswith("stop-") else ""
    )
    if len(parts) > 1 and not stop:
        raise UsageError(
            f"simhash-doc takes a version, -loose and :stop-LANGUAGE only, not {':'.join(parts)!r}"
        )
    return Recipe(
        name=f"simhash-doc-{version}{'-loose' if loose else ''}{f':stop-{stop}' if stop else ''}",
        normaliser="none",
        features=f"tokens_{version}",
        feature_hash="jenkins64_v1",
        simhash=f"simhash_doc_{version}",
        bits=64,
        tables="8/2" if loose else "4/1,4/1",
        stop_words=stop or None,
    )


def _study(parts: list[str]) -> Recipe:
    """`signature-study:METHOD:BITS`, over UTF-8 character 4-grams of the untouched text."""
    if len(parts) != 3:
        raise UsageError(
            f"signature-study is spelled signature-study:METHOD:BITS, not {':'.join(parts)!r}"
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
        statistics="corpus" if method.startswith("weighted") else None,
    )


def _clauses(parts: list[str]) -> Recipe:
    """`clauses` and `clauses:60`: rare-term vectors, of 30 terms for clauses unless another length
    is given.
    """
    if len(parts) > 2:
        raise UsageError(f"clauses takes one number, as in clauses:60, not {':'.join(parts)!r}")
    terms = _number("number of terms", (parts[1:] or ["30"])[0], 10, 60)
    return Recipe(
        name=f"clauses:{terms}",
        normaliser="none",
        features="tokens_v2",
        feature_hash="string64_v1",
        similarity=0.9,
        statistics="corpus",
        terms=terms,
    )


def _baseline(parts: list[str]) -> Recipe:
    """Schemes that others published, over five-word shingles (winnowing: character 5-grams), for
    comparison.
    """
    if len(parts) != 2:
        raise UsageError(f"a baseline is spelled baseline:NAME, not {':'.join(parts)!r}")
    name = _one_of("baseline", parts[1], _BASELINES)
    features = {"winnowing": "5-grams", "i-match": "tokens_v2"}.get(name, "5-word-shingles")
    return Recipe(
        name=f"baseline:{name}",
        normaliser="none" if name == "i-match" else "default",
        features=features,
        feature_hash="string64_v1",
        baseline=f"{name}_v1",
        statistics="corpus" if name == "i-match" else None,
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


def _number(what: str, spelled: str, least: int, most: int) -> int:
    if not spelled.isdecimal() or len(spelled) > 9 or not least <= int(spelled) <= most:
        raise UsageError(f"the {what} lies between {least} and {most}, unlike {spelled!r}")
    return int(spelled)
