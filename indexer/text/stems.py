"""Stems of English words by Snowball (Porter 2): the one file that imports it."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of a lower-case word; the last 65,536 are remembered.

    >>> stem("enures"), stem("binding"), stem("parties")
    ('enur', 'bind', 'parti')
    """
    import snowballstemmer  # type: ignore[import-untyped]  # reads all its languages, in vain for who has no word to stem

    return str(
        snowballstemmer.stemmer("english").stemWord(word)
    )  # one each: a stemmer is not for several threads
