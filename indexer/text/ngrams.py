"""Runs of white-space tokens, characters and bytes: the features of copietje's condensers and of
the signature study.
"""

from __future__ import annotations

from collections.abc import Iterator

from indexer.text.shingles import grams, shingles


def white_space_tokens(text: str) -> list[str]:
    """Split a text at white space.

    >>> white_space_tokens("ABC, sing with me!")
    ['ABC,', 'sing', 'with', 'me!']
    """
    return text.split()


def white_space_grams(text: str, width: int) -> list[str]:
    """Return each run of `width` white-space tokens, joined by one space.

    A shorter text is one run, an empty one none.

    >>> [white_space_grams(text, 3) for text in ("ABC, sing with me!", "ABC, sing", " ")]
    [['ABC, sing with', 'sing with me!'], ['ABC, sing'], []]
    """
    words = text.split()
    if not words:
        return []
    return list(shingles(words, min(width, len(words))))


def character_grams(text: str, width: int) -> list[str]:
    """Return each run of `width` characters (code points); none when there are fewer.

    >>> character_grams("東京都", 2)
    ['東京', '京都']
    """
    return list(grams(text, width))


def byte_grams(text: str, width: int) -> Iterator[bytes]:
    """Yield each run of `width` bytes of the UTF-8 text; none when there are fewer.

    A lone surrogate counts as U+FFFD.

    >>> list(byte_grams("né", 2))
    [b'n\\xc3', b'\\xc3\\xa9']
    """
    octets = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
    for start in range(len(octets) - width + 1):
        yield octets[start : start + width]
