"""Texts built to share bands and slots without resembling each other.

Whoever knows the hash can build them: words of four letters are tried until one wins its slot
against nearly every text, and 128 such words, one a slot, go into texts that have nothing else in
common. It takes seconds.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from random import Random
from string import ascii_lowercase

import numpy as np

from indexer.fingerprinting.hashing import gram_hashes
from indexer.recipe import DEFAULT_V1

SLOTS = DEFAULT_V1.slots or 0
# Equal `word64_v1`, also before equal endings. Wagner's generalised birthday search ("A generalized
# birthday problem", CRYPTO 2002) with four lists of 2**22 gives eleven such pairs in two minutes.
EQUAL_WORDS = ("gvatwgqzxaowxelqrtbpdyzc", "giwgfcfdxsjbkmibcencpuhq")


@cache
def winners() -> tuple[str, ...]:
    """Return, for each slot of `default_v1`, the word of four letters that wins it."""
    words = ["".join(four) for four in product(ascii_lowercase, repeat=4)]
    hashes = gram_hashes(
        np.frombuffer("".join(words).encode("ascii"), np.uint8).astype(np.uint32), 4
    )[::4]
    slots = (hashes >> np.uint64(32)) * np.uint64(SLOTS) >> np.uint64(32)
    values = hashes & np.uint64(0xFFFFFFFF)
    order = np.lexsort((values, slots))
    first = order[np.unique(slots[order], return_index=True)[1]]
    return tuple(words[place] for place in first.tolist())


def craft_text(number: int, letters: int = 32) -> str:
    """Return random letters seeded by `number`, with a winner inside each run of `letters`."""
    random = Random(number)
    runs = ("".join(random.choices(ascii_lowercase, k=letters)) for _ in winners())
    return " ".join(
        f"{run[: letters // 2]}{word}{run[letters // 2 :]}"
        for run, word in zip(runs, winners(), strict=True)
    )
