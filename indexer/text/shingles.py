"""Runs of consecutive tokens or characters, of which features are made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def shingles(tokens: Sequence[str], width: int) -> Iterator[str]:
    """Yield each run of `width` consecutive tokens, joined by one space; none when there are fewer.

    >>> list(shingles(["a", "b", "c"], width=2))
    ['a b', 'b c']
    """
    for start in range(len(tokens) - width + 1):
        yield " ".join(tokens[start : start + width])


def grams(text: str, width: int) -> Iterator[str]:
    """Yield each run of `width` consecutive characters; none when there are fewer.

    >>> list(grams("fold", width=3))
    ['fol', 'old']
    """
    for start in range(len(text) - width + 1):
        yield text[start : start + width]
