"""Words of one text that stand for the same other words of another one again and again.

Whoever edits a text changes a word here and there. A template that was filled in for another
subject changes one name wherever it stands: "instances" for "environments", "add" for "remove". The
number of times tells both apart where the share of changed words does not.

Both texts are aligned by the longest common subsequence of their words. Where both have words
between two aligned runs, those of one text are replaced by those of the other. A replacement counts
as often as it is made, if at least a quarter of the places where either side of it stands in its
text are among them: a frequent word that is misread a few times is no other subject.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from indexer.similarity.lcs import lcs_length, stretches
from indexer.text.word_numbers import Words

LEAST_SHARE = 0.25  # of the places where the words stand


class Replacement(NamedTuple):
    """Words of a, those of b that stand in their place, and how often they do."""

    a: str
    b: str
    times: int


NONE = Replacement("", "", 0)


def most_replaced(a: Words, b: Words) -> Replacement:
    """Return the replacement that is made most often, ties to the first words in order.

    `NONE` where no words stand for others, as for texts without words. The other order of the
    texts gives the same number of times.

    >>> from indexer.text.normal_words import normal_words
    >>> a = normal_words("List instances. All instances are shown: no instances, no list.")
    >>> b = normal_words("List disks. All disks are shown: no disks, no list.")
    >>> most_replaced(a, b)
    Replacement(a='instances', b='disks', times=3)
    """
    return min(replacements(a, b), key=lambda made: (-made.times, made), default=NONE)


def is_replaced(a: Words, b: Words, most: float) -> bool:
    """Return whether the same words stand for the same other words more than `most` times.

    No text is aligned of which at most so many words are not in order.
    """
    others = min(len(a), len(b)) - lcs_length(a, b)
    return others > most and any(replacements(a, b, most))


def replacements(a: Words, b: Words, more_than: float = 0) -> Iterator[Replacement]:
    """Yield each replacement that is made more than so many times, once."""
    pairs = ((" ".join(left), " ".join(right)) for left, right in stretches(a, b))
    counts = Counter((left, right) for left, right in pairs if left and right)
    often = [(pair, times) for pair, times in counts.items() if times > more_than]
    texts = [_WordString(a), _WordString(b)] if often else []
    for (left, right), times in often:
        sides = zip(texts, (left, right), strict=True)
        if all(times >= LEAST_SHARE * text.occurrences(words) for text, words in sides):
            yield Replacement(left, right, times)


class _WordString:
    """A text whose stretches of words are counted."""

    def __init__(self, words: Words) -> None:
        self._text = f" {'  '.join(words.folded)} "

    def occurrences(self, words: str) -> int:
        """Return how often a stretch of words stands in the text, overlaps not counted."""
        return self._text.count(f" {words.replace(' ', '  ')} ")
