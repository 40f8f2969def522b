"""The measure `dice`: the Dice coefficient of the distinct words of two texts.

An example to copy into `indexer/comparing/`, under the name of the measure.
"""

from __future__ import annotations

from indexer.comparing.measure import Measure
from indexer.comparing.words import Words


# 1. The function: in [0, 1], the same for either order of the texts, 0 where undefined.
def dice(a: Words, b: Words) -> float:
    """Return twice the distinct words in common / the distinct words of both texts together.

    >>> from indexer.comparing.words import normal_words
    >>> dice(normal_words("the ship sails"), normal_words("the ship sank today"))
    0.5714285714285714
    """
    words = len(a.vocabulary) + len(b.vocabulary)
    common = len(set(a.vocabulary).intersection(b.vocabulary))
    return 2 * common / words if words else 0.0


# 2. The declaration, which every command, page and plan reads. A function takes two operands, the
#    kind of matching, and the minimum value of interest, below which it may return 0 to save time.
#    Without a `relation` the recall of the bands is not known, and reports say so.
DICE = Measure(
    "dice",
    "distinct words in common, of both texts together",
    lambda a, b, matching, minimum: dice(a.words, b.words),
)

# 3. Append it to `DECLARED` in indexer/comparing/measures.py, and its name to `MEASURE_NAMES` in
#    indexer/defaults.py, which `--help` prints without importing what computes.
