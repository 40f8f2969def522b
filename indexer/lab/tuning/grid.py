"""The grids of recipes: seed values of tokeniser, normaliser, hash and permutations, and every
other family.
"""

from __future__ import annotations

from itertools import product

from indexer.errors import UnknownName
from indexer.recipe import Recipe
from indexer.recipe_names import recipe_named

_TOKENISERS = (
    "ws",
    "words",
    "sents",
    *(f"white-space-{width}-grams" for width in range(2, 7)),
    *(f"{width}-grams" for width in range(1, 7)),
)
_NORMALISERS = ("none", "norm", "norm-html", "norm-anyascii", "norm-html-anyascii", "default")
_HASHES = ("sha1", "mmh3", "crc32")
_PERMUTATIONS = (64, 128, 256)
# this normaliser leaves one word of every text, so that only runs of characters remain
_WITHOUT_BLANKS = "default"
_NEARFOLD = (
    "default",
    *(f"{width}-grams:default:mmh3:128:fss" for width in (2, 3, 5, 6)),
    *(f"4-grams:default:mmh3:{slots}:fss" for slots in (32, 64, 256)),
    "4-grams:default:mmh3:128:icws",
    "4-grams:default:mmh3:128:fss:b1",
    "4-grams:default:mmh3:128:fss:b4",
    "5-byte-grams:none:mmh3:128:fss",
    *(
        f"{width}-word-shingles:{normaliser}:mmh3:128:fss"
        for width in (1, 2, 3, 5)
        for normaliser in ("none", "norm")
    ),
)
_OTHERS = (
    *(f"simhash-doc-v{version}" for version in (1, 2, 3, 4)),
    *(
        f"signature-study:{method}:{bits}"
        for method in ("simhash", "topsig", "minhash")
        for bits in (64, 256, 1024)
    ),
    *(
        f"signature-study:weighted-{method}:{bits}"
        for method in ("simhash", "topsig")
        for bits in (64, 256)
    ),
    "clauses",
    "clauses:60",
    *(f"baseline:{name}" for name in ("super-shingles", "mega-shingles", "winnowing", "i-match")),
)
_QUICK = (
    "default",
    "ws:norm-html:sha1:128",
    "white-space-3-grams:norm-html:sha1:128",
    "4-grams:norm-html:sha1:128",
    "3-word-shingles:none:mmh3:128:fss",
    "simhash-doc-v2",
    "signature-study:simhash:64",
    "signature-study:topsig:64",
    "signature-study:weighted-topsig:64",
)


def recipes_of(grid: str) -> tuple[Recipe, ...]:
    """Return the recipes of a grid, each once: `quick`, `standard`, or `full`.

    `standard` changes one setting at a time of copietje's default and of nearfold's, and has every
    other family; `full` is the whole product of tokenisers, normalisers, hashes and permutations as
    well. Raises `UnknownName`.
    """
    if grid not in GRIDS:
        raise UnknownName("grid", grid, tuple(GRIDS))
    return tuple(recipe_named(name) for name in dict.fromkeys(GRIDS[grid]))


def _one_at_a_time() -> tuple[str, ...]:
    return (
        *(f"{tokeniser}:norm-html:sha1:128" for tokeniser in _TOKENISERS),
        *(
            f"ws:{normaliser}:sha1:128"
            for normaliser in _NORMALISERS
            if normaliser != _WITHOUT_BLANKS
        ),
        *(f"4-grams:{normaliser}:sha1:128" for normaliser in _NORMALISERS),
        *(f"white-space-3-grams:{normaliser}:sha1:128" for normaliser in ("none", "norm")),
        *(f"ws:norm-html:{hash}:128" for hash in _HASHES),
        *(f"ws:norm-html:sha1:{slots}" for slots in _PERMUTATIONS),
    )


def _product() -> tuple[str, ...]:
    return tuple(
        f"{tokeniser}:{normaliser}:{hash}:{slots}"
        for tokeniser, normaliser, hash, slots in product(
            _TOKENISERS, _NORMALISERS, _HASHES, _PERMUTATIONS
        )
        if normaliser != _WITHOUT_BLANKS or tokeniser[0].isdigit()
    )


GRIDS: dict[str, tuple[str, ...]] = {
    "quick": _QUICK,
    "standard": (*_NEARFOLD, *_one_at_a_time(), *_OTHERS),
    "full": (*_NEARFOLD, *_one_at_a_time(), *_OTHERS, *_product()),
}
