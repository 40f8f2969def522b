"""Stems of English words by Snowball (Porter 2): the one file that imports it."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem of a lower-case word; the last 65,536 are cached.

    >>> stem("enures"), stem("binding"), stem("parties")
    ('enur', 'bind', 'parti')
    """
    # imported late: the library reads all its languages, which few commands need
    import snowballstemmer  # type: ignore[import-untyped]

    # a stemmer serves one thread, so each word has its own
    return str(snowballstemmer.stemmer("english").stemWord(word))
