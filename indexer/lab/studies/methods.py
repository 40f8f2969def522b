"""The methods of the study, each by the recipes that compute it, and what was published of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from indexer.errors import UsageError
from indexer.recipe import Recipe, recipe_named


@dataclass(frozen=True, slots=True)
class Method:
    """A way to make signatures.

    `spelling`: the name of its recipe, with BITS for the length; `max_bits`: how many it can give.
    """

    name: str
    label: str
    spelling: str
    max_bits: int = 1024

    def recipe(self, bits: int) -> Recipe:
        """Return the recipe of that length."""
        return recipe_named(self.spelling.replace("BITS", str(bits)))


METHODS = (
    Method("simhash", "Simhash", "signature-study:simhash:BITS"),
    Method(
        "simhash-sha512", "SHA-512 Simhash", "signature-study:simhash-sha512:BITS", max_bits=512
    ),
    Method("weighted-simhash", "weighted Simhash", "signature-study:weighted-simhash:BITS"),
    Method("topsig", "TopSig", "signature-study:topsig:BITS"),
    Method("weighted-topsig", "weighted TopSig", "signature-study:weighted-topsig:BITS"),
    Method("minhash", "MinHash of the study", "signature-study:minhash:BITS"),
    Method("minhash-ours", "MinHash of nearfold", "4-grams:none:mmh3:BITS:fss:b1"),
)
NAMED = {method.name: method for method in METHODS}
FEATURES = NAMED["topsig"].recipe(64)
WITH_NEIGHBOURS = ("simhash", "weighted-simhash", "topsig", "weighted-topsig", "minhash-ours")
NEIGHBOUR_BITS = (32, 128, 1024)
QUESTION_BITS = (16, 32, 64)  # for the questions that the study left open

PUBLISHED_METHODS = ("simhash", "topsig", "weighted-topsig", "minhash")
PUBLISHED_SECONDS = {
    16: ((0.166, 0.611), (0.572, 0.546), (0.577, 0.549), (0.832, 0.689)),
    32: ((0.145, 0.370), (0.587, 0.558), (0.598, 0.567), (0.831, 0.689)),
    64: ((0.165, 0.431), (0.585, 0.553), (0.595, 0.561), (0.834, 0.692)),
    128: ((0.181, 0.451), (0.582, 0.549), (0.592, 0.556), (0.842, 0.698)),
    256: ((0.250, 0.625), (0.573, 0.539), (0.583, 0.546), (0.856, 0.709)),
    512: ((0.385, 0.970), (0.557, 0.525), (0.568, 0.531), (0.886, 0.734)),
    1024: ((0.610, 1.514), (0.571, 0.536), (0.583, 0.544), (0.929, 0.768)),
}
PUBLISHED_COLLISIONS = {
    16: ((11.537, 76.227), (12.378, 86.290), (2.285, 17.438), (1115.035, 9742.314)),
    32: ((2.157, 19.315), (2.024, 14.562), (1.163, 10.381), (153.184, 3557.218)),
    64: ((1.458, 14.783), (1.403, 11.504), (1.140, 10.268), (3.773, 23.263)),
    128: ((1.293, 13.042), (1.254, 10.803), (1.133, 10.233), (3.778, 32.796)),
    256: ((1.223, 12.423), (1.195, 10.524), (1.129, 10.215), (4.732, 56.720)),
    512: ((1.185, 11.874), (1.162, 10.369), (1.127, 10.208), (2.826, 19.129)),
    1024: ((1.162, 11.595), (1.146, 10.294), (1.126, 10.201), (2.943, 18.781)),
}


def lengths(bits: Sequence[int]) -> tuple[int, ...]:
    """Return lengths ascending, each once.

    Raises `UsageError` for none, and for one that is not a multiple of 8 from 16 to 1024.
    """
    for length in bits:
        if length % 8 or not 16 <= length <= 1024:
            raise UsageError(
                f"fingerprints have a multiple of 8 bits from 16 to 1024, not {length}"
            )
    if not bits:
        raise UsageError("give at least one number of bits")
    return tuple(sorted(set(bits)))


def pairs_of(bits: Sequence[int]) -> list[tuple[Method, int]]:
    """Return every method with every length that it can give."""
    return [(method, length) for method in METHODS for length in bits if length <= method.max_bits]
