"""Transliteration of any script to ASCII, by the tables of two libraries: the one file that
imports them.

copietje uses Unidecode, so equal slots need it; it is under the GPL, and therefore an extra of its
own that a user adds knowingly. anyascii (ISC licence) does the same with its own tables: close for
European languages, other spellings for Chinese, Thai or Arabic. Neither replaces the other: each
has its own normaliser name.
"""

from __future__ import annotations

import warnings

from indexer.errors import MissingExtra


def by_unidecode(text: str) -> str:
    """Transliterate by Unidecode, as clean-text does.

    Emoji stay, and `:names:` of emoji become emoji. Raises `MissingExtra` without Unidecode or
    emoji.

    >>> by_unidecode("Łódź, 中文 😀")
    'Lodz, Zhong Wen  😀'
    """
    try:
        import emoji
        import unidecode
    except ImportError as error:
        raise MissingExtra(package=str(error.name), extra="copietje") from None
    named = emoji.demojize(text, language="alias")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # private-use characters have no spelling
        plain = unidecode.unidecode(named)
    return emoji.emojize(plain, language="alias")


def by_anyascii(text: str) -> str:
    """Transliterate by anyascii; an emoji becomes its name. Raises `MissingExtra` without anyascii.

    >>> by_anyascii("Łódź, 中文 😀")
    'Lodz, ZhongWen :grinning:'
    """
    try:
        import anyascii
    except ImportError:
        raise MissingExtra(package="anyascii", extra="text") from None
    return str(anyascii.anyascii(text))
