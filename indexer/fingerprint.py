"""The narrow waist: text and recipe in, sketches and keys out. Everything else agrees because it agrees with this.

The numpy definition below is the specification. Where the compiled kernel is installed it computes the same bits faster.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer import keys
from indexer.model import Fingerprint, Status
from indexer.recipe import DEFAULT, Recipe
from indexer.sketch.hashing import gram_hashes
from indexer.sketch.minhash import fast_similarity_sketch
from indexer.sketch.simhash import simhash
from indexer.text.codepoints import decode
from indexer.text.normalise import count_words, has_letters, normalised_codes

try:
    from indexer import _kernel
except ImportError:
    _kernel = None


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """The fingerprints of n texts as arrays, one row a text, in the order given.

    `minhash`: (n, slots) uint32; `simhash`: (n,) uint64; rows whose status is not `complete` are zero there, and their
    keys are empty. `words` and `chars`: (n,) int64. `exact`: SHA-256 of the normalised text.
    """

    minhash: NDArray[np.uint32]
    simhash: NDArray[np.uint64]
    bands: list[tuple[str, ...]]
    blocks: list[tuple[str, ...]]
    status: list[Status]
    exact: list[str]
    words: NDArray[np.int64]
    chars: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.status)

    def __getitem__(self, place: int) -> Fingerprint:
        """The fingerprint of one text."""
        complete = self.status[place] == "complete"
        return Fingerprint(
            status=self.status[place],
            minhash=self.minhash[place] if complete else None,
            simhash=int(self.simhash[place]) if complete else None,
            bands=self.bands[place],
            blocks=self.blocks[place],
            exact=self.exact[place],
            words=int(self.words[place]),
            chars=int(self.chars[place]),
        )


def kernel_name() -> str:
    """Which code computes fingerprints here: `rust` (compiled) or `numpy` (the definition). The bits are the same."""
    return "numpy" if _kernel is None else "rust"


def fingerprint(text: str, recipe: Recipe = DEFAULT) -> Fingerprint:
    """Fingerprint one text. Any `str` is accepted, lone surrogates and NUL included.

    >>> fingerprint("").status
    'empty'
    """
    return fingerprints([text], recipe)[0]


def fingerprints(texts: Sequence[str], recipe: Recipe = DEFAULT) -> Fingerprints:
    """Fingerprint many texts at once; the form that everything hot calls.

    A text with no normalised character is `empty`, one without letters `numbers_only`, one with fewer than the recipe's
    `min_features` distinct features `too_short`: these have no sketches and no keys, so they never match anything.
    """
    if _kernel is None:
        return define(texts, recipe)
    return _compiled(texts, recipe)


def define(texts: Sequence[str], recipe: Recipe = DEFAULT) -> Fingerprints:
    """`fingerprints` by the numpy definition, whatever is installed."""
    slots, count = recipe.slots or 0, len(texts)
    codes = [normalised_codes(text) for text in texts]
    minhash = np.zeros((count, slots), dtype=np.uint32)
    bits = np.zeros(count, dtype=np.uint64)
    status: list[Status] = []
    for place, text_codes in enumerate(codes):
        hashes = gram_hashes(text_codes, recipe.width or 1)
        status.append(_status(text_codes, hashes, recipe))
        if status[place] == "complete":
            minhash[place] = fast_similarity_sketch(hashes, slots)
            bits[place] = simhash(hashes)
    exact = [hashlib.sha256(decode(text_codes).encode()).hexdigest() for text_codes in codes]
    words = np.array([count_words(text) for text in texts], dtype=np.int64)
    chars = np.array([len(text_codes) for text_codes in codes], dtype=np.int64)
    return _with_keys(minhash, bits, status, exact, words, chars, recipe)


def _status(codes: NDArray[np.uint32], hashes: NDArray[np.uint64], recipe: Recipe) -> Status:
    if len(codes) == 0:
        return "empty"
    if not has_letters(codes):
        return "numbers_only"
    if len(np.unique(hashes)) < recipe.min_features:
        return "too_short"
    return "complete"


def _with_keys(
    minhash: NDArray[np.uint32],
    bits: NDArray[np.uint64],
    status: list[Status],
    exact: list[str],
    words: NDArray[np.int64],
    chars: NDArray[np.int64],
    recipe: Recipe,
) -> Fingerprints:
    """Add the keys of complete rows."""
    complete = [one == "complete" for one in status]
    bands = keys.band_keys(minhash, recipe.bands or 0, recipe.rows or 0)
    blocks = [keys.block_keys(int(one), recipe.bits or 0, recipe.blocks or 0) for one in bits]
    return Fingerprints(
        minhash,
        bits,
        [row if good else () for row, good in zip(bands, complete, strict=True)],
        [row if good else () for row, good in zip(blocks, complete, strict=True)],
        status,
        exact,
        words,
        chars,
    )


def _compiled(texts: Sequence[str], recipe: Recipe) -> Fingerprints:
    """`fingerprints` by the compiled kernel; recipes it does not know go to the definition."""
    return define(texts, recipe)
