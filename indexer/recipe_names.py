"""Names of recipes, and the recipes that they spell: the usual ones, condenser strings of copietje,
and the methods of studies.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

from indexer import recipe_key
from indexer.errors import UnknownName, UnknownRecipe, UsageError
from indexer.model import MIN_TERMS
from indexer.recipe import (
    DEFAULT_V1,
    DEFAULT_V2,
    LONG_BITS,
    ONLINE_STATISTICS,
    OPEN_STATISTICS,
    SCANS_V1,
    Recipe,
)

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
_DOC_VERSIONS = ("v1", "v2", "v3", "v4", "v5")  # of simhash-doc; v5 is exactly the draft
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
_NAMES = ("default", "default_v1", "default_v2", "scans", "simhash-doc", "clauses")


def recipe_named(name: str) -> Recipe:
    """Return the recipe of that name; `default` is an alias of `default_v2`, `scans` of `scans_v1`.

    Raises `UnknownRecipe`, which names the usual ones, and `UsageError` when one part of a
    name is not valid.

    >>> recipe_named("default").name, recipe_named(":::").name
    ('default_v2', 'ws:norm-html:sha1:128')
    """
    if name == "default_v1":
        return DEFAULT_V1
    if name in ("default", "default_v2"):
        return DEFAULT_V2
    if name in ("scans", "scans_v1"):
        return SCANS_V1
    plain, key = recipe_key.split(name)
    if key and plain in ("default", "default_v1", "default_v2"):
        recipe = recipe_named(plain)
        feature_hash = recipe_key.KEYED_HASHES[recipe.feature_hash]
        return dataclasses.replace(
            recipe, name=f"{recipe.name}+key:{key}", feature_hash=feature_hash
        )
    parts = name.split(":")
    for head, make in _FAMILIES.items():
        if parts[0] == head or (head == "simhash-doc" and parts[0].startswith("simhash-doc-")):
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
        tables=_study_tables(method, bits),
        statistics=_study_statistics(method),
    )


def _study_statistics(method: str) -> str | None:
    if method.startswith("online"):
        return ONLINE_STATISTICS
    return OPEN_STATISTICS if method.startswith("weighted") else None


def _study_tables(method: str, bits: int) -> str | None:
    """Return the tables of a sketch that an index keeps: of projections to 64 bits or more.

    They find everything within 3 of 64 bits, and within 8 of more.
    """
    if method.startswith("minhash") or bits < LONG_BITS:
        return None
    return "4/1,4/1" if bits == LONG_BITS else "9/1"


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


def _number(what: str, digits: str, least: int, most: int) -> int:
    if not digits.isdecimal() or len(digits) > 9 or not least <= int(digits) <= most:
        raise UsageError(f"the {what} lies between {least} and {most}, unlike {digits!r}")
    return int(digits)
