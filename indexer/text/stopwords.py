"""Stop lists by language, from stopwords-iso: the one file that imports it."""

from __future__ import annotations

import hashlib

from indexer.errors import MissingExtra, UsageError
from indexer.text.tokens import fold_token


def stop_list(language: str) -> frozenset[str]:
    """Return the stop words of a language (ISO 639-1 code), folded as tokens are.

    Those with a space or apostrophe match no token. Raises `UsageError` for a language without a
    list, `MissingExtra` without stopwordsiso.

    >>> "the" in stop_list("en"), "fox" in stop_list("en")
    (True, False)
    """
    try:
        import stopwordsiso
    except ImportError:
        raise MissingExtra(package="stopwordsiso", extra="text") from None
    if language not in stopwordsiso.langs():
        languages = ", ".join(sorted(stopwordsiso.langs()))
        raise UsageError(f"no stop list for language {language!r}; choose one of: {languages}")
    return frozenset(fold_token(word) for word in stopwordsiso.stopwords(language))


def digest(stop_words: frozenset[str]) -> str:
    """Return 12 hexadecimal digits that name a stop list by its words, for a recipe to record.

    The order of the words does not matter.

    >>> digest(frozenset(["of", "the"])), digest(frozenset())
    ('a381d70250aa', 'e3b0c44298fc')
    """
    return hashlib.sha256("\n".join(sorted(stop_words)).encode()).hexdigest()[:12]
