"""Keys of passages, by which texts that share a long run of letters and digits are found.

The keys are the runs that winnowing selects, the same in every text: texts that share an unbroken
run of `GUARANTEED_LENGTH` letters and digits share a key, wherever the run is in the texts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.sketch.hashing import distinct_hashes, mix64_array
from indexer.sketch.winnowing import winnow
from indexer.text import codepoints
from indexer.text.codepoints import DIGIT, categories
from indexer.text.normalise import normalised_codes

RUN = 24  # letters and digits of a run
WINDOW = 25  # neighbouring runs of which one gives a key
GUARANTEED_LENGTH = RUN + WINDOW - 1
_BASE = 0x9E3779B97F4A7C15
_TABLE_BITS = 20
_TABLE = np.uint64((1 << _TABLE_BITS) - 1)


def run_hashes(codes: NDArray[np.uint32] | NDArray[np.uint64], width: int) -> NDArray[np.uint64]:
    """Return the hashes of all runs of `width` code points, in order.

    (max(0, n - width + 1),) uint64. The code points, or other numbers, are the digits of a number
    to the base 2**64 / golden ratio, modulo 2**64, which is then mixed.

    >>> hashes = run_hashes(np.array([1, 2, 3, 1, 2, 3, 4], dtype=np.uint32), 3)
    >>> len(hashes), len(set(hashes.tolist())), bool(hashes[0] == hashes[3])
    (5, 4, True)
    """
    if len(codes) < width:
        return np.empty(0, dtype=np.uint64)
    powers = np.multiply.accumulate(np.full(width, _BASE, dtype=np.uint64))
    doubled, length = codes.astype(np.uint64) + np.uint64(1), 1
    hashes, covered = np.zeros(len(codes) - width + 1, dtype=np.uint64), 0
    while length <= width:
        if width & length:
            part = doubled[covered : covered + len(hashes)]
            hashes = hashes * powers[length - 1] + part
            covered += length
        if 2 * length <= width:
            doubled = doubled[:-length] * powers[length - 1] + doubled[length:]
        length *= 2
    return mix64_array(hashes)


def passage_runs(text: str) -> NDArray[np.uint64]:
    """Return the hashes of all runs of `RUN` letters, marks and digits of a text, in order.

    The text is normalised by `default_v1`. Punctuation and symbols do not count, so that a
    quotation with a sign before each line is still one passage. Empty when the text is shorter than
    a run.

    >>> len(passage_runs("> To be, or not to be:\\n> that is the question."))
    7
    """
    return run_hashes(letters_and_digits(normalised_codes(text)), RUN)


def passage_keys(runs: NDArray[np.uint64], window: int = WINDOW) -> NDArray[np.uint64]:
    """Return the distinct keys of a text from its runs, ascending; about one per 13 letters.

    >>> quoted = "a stretch of text that is long enough to be found again\\n> wherever it stands"
    >>> left = set(passage_keys(passage_runs(f"I wrote: {quoted}.")).tolist())
    >>> right = set(passage_keys(passage_runs(f"> {quoted}")).tolist())
    >>> bool(left & right)
    True
    """
    return distinct_hashes(runs[winnow(runs, window)])


def contained_share(runs: NDArray[np.uint64], other: NDArray[np.uint64]) -> float:
    """Return the share of a text's letters and digits in runs that another text has too.

    From the runs of both; 0 for a text without runs.

    >>> text = "the quick brown fox jumps over the lazy dog"
    >>> runs = passage_runs(f"{text} and so on, and so on")
    >>> round(contained_share(runs, passage_runs(f"we say: {text}")), 3)
    0.714
    """
    if not len(runs):
        return 0.0
    starts = np.flatnonzero(np.isin(runs, other))
    size = len(runs) + RUN - 1
    turns = np.bincount(starts, minlength=size + 1) - np.bincount(starts + RUN, minlength=size + 1)
    return int(np.count_nonzero(np.cumsum(turns)[:size])) / size


class RunIndex:
    """The runs of one text, to be compared with those of many others."""

    def __init__(self, runs: NDArray[np.uint64]) -> None:
        self._letters = len(runs) + RUN - 1
        self._order = np.argsort(runs, kind="stable")
        self._sorted = runs[self._order]
        self._may_have = np.zeros(1 << _TABLE_BITS, dtype=np.bool_)
        self._may_have[runs & _TABLE] = True

    def contained_shares(self, other: NDArray[np.uint64]) -> tuple[float, float]:
        """Return `contained_share` of this text in another, and of the other in this one.

        A table by some bits of a run rules out most runs that only the other text has.

        >>> a = passage_runs("we say: the quick brown fox jumps over the lazy dog")
        >>> b = passage_runs("the quick brown fox jumps over the lazy dog")
        >>> [round(share, 3) for share in RunIndex(a).contained_shares(b)]
        [0.875, 1.0]
        """
        places = np.flatnonzero(self._may_have[other & _TABLE])
        runs = other[places]
        first = np.searchsorted(self._sorted, runs)
        last = np.searchsorted(self._sorted, runs, side="right")
        places = places[first < last]
        if not len(places):
            return 0.0, 0.0
        is_shared = np.zeros(len(self._sorted) + 1, dtype=np.int64)
        is_shared[first[first < last]] = 1
        is_shared[last[first < last]] -= 1
        own = np.sort(self._order[np.cumsum(is_shared[:-1]) > 0])
        return _covered(own) / self._letters, _covered(places) / (len(other) + RUN - 1)


def _covered(starts: NDArray[np.int64]) -> int:
    """Return how many letters and digits lie in runs that start at these places, ascending."""
    return int(np.minimum(np.diff(starts), RUN).sum()) + RUN


def letters_and_digits(codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the code points that are neither punctuation nor symbols."""
    is_letter = codepoints.classes()[codes] & codepoints.WORDLESS == 0
    is_digit = categories()[codes] & DIGIT != 0
    selected: NDArray[np.uint32] = codes[is_letter | is_digit]
    return selected
