"""Normalisers by name: each takes a text and returns a plainer one.

They are part of a recipe, so a name never changes its meaning. `norm` and `norm-html` equal
copietje's normalisers (clean-text over ftfy 6.3, Unidecode 1.4 and emoji 2) letter for letter, so
that tokens and slots are equal, too. They transliterate every script to ASCII: Chinese becomes
toneless pinyin. The `-anyascii` forms do the same through a freely licensed table.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cache

from indexer.text import codepoints
from indexer.text.codepoints import PUNCTUATION, character_class
from indexer.text.markup import without_markup
from indexer.text.normalise import normalise
from indexer.text.normalise_v2 import normalise_v2
from indexer.text.repair_unicode import repair_unicode
from indexer.text.transliteration import by_anyascii, by_unidecode

Normaliser = Callable[[str], str]

_CURRENCY = re.compile("(?:[$£¥฿₡₦₩₪₫€₱₲₴₹]|zł)+")
_SINGLE_QUOTES = re.compile("[‘‛’❛❜`´]")
_DOUBLE_QUOTES = re.compile("[«‹»›„“‟”❝❞❮❯〝〞〟＂]")


def none(text: str) -> str:
    """Return the text itself; only lone surrogates, which UTF-8 cannot hold, become U+FFFD.

    >>> none("Untouched\\n\\ud800")
    'Untouched\\n\\ufffd'
    """
    return codepoints.decode(codepoints.encode(text))


def norm(text: str) -> str:
    """Normalise as copietje's `norm`.

    In order: backslash escapes are resolved, broken Unicode repaired, currency signs removed, the
    text transliterated to ASCII, punctuation removed, letters made lower case, white space reduced
    to single spaces. Raises `MissingExtra` without the extra `copietje`.

    >>> norm("Some $TEXT\\n\\nwIth   CAPITALS !")
    'some text with capitals'
    """
    plain = _CURRENCY.sub("", repair_unicode(_unescape(none(text))))
    quoted = _DOUBLE_QUOTES.sub('"', _SINGLE_QUOTES.sub("'", plain))
    return _bare(by_unidecode(quoted))


def norm_html(text: str) -> str:
    """Return `norm` of the text without HTML markup, as copietje's `norm-html`.

    >>> norm_html("<h1>CAPITALS !</h1>")
    'capitals'
    """
    return norm(without_markup(none(text)))


def norm_anyascii(text: str) -> str:
    """Return `norm` with anyascii for Unidecode, emoji by name, and backslashes as they are.

    Needs the extra `text`.

    >>> norm_anyascii("Łódź: €5, ☕")
    'lodz 5 coffee'
    """
    return _bare(by_anyascii(_CURRENCY.sub("", repair_unicode(none(text)))))


def norm_html_anyascii(text: str) -> str:
    """Return `norm_anyascii` of the text without HTML markup.

    >>> norm_html_anyascii("<h1>CAPITALS !</h1>")
    'capitals'
    """
    return norm_anyascii(without_markup(none(text)))


NORMALISERS: dict[str, Normaliser] = {
    "none": none,
    "default": normalise,
    "words_v2": normalise_v2,
    "norm": norm,
    "norm-html": norm_html,
    "norm-anyascii": norm_anyascii,
    "norm-html-anyascii": norm_html_anyascii,
}


def _unescape(text: str) -> str:
    """Resolve Python's backslash escapes (`\\n`, `\\xe9`, `\\u20ac`).

    A text with a malformed one stays as it is.
    """
    if "\\" not in text:
        return text
    with warnings.catch_warnings():
        # unknown escapes stay as they are
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return none(text.encode("latin-1", "backslashreplace").decode("unicode_escape"))
        except UnicodeDecodeError:
            return text


def _bare(text: str) -> str:
    """Remove punctuation, make lower case, and reduce white space to single spaces."""
    return " ".join(_punctuation().sub("", text).lower().split())


@cache
def _punctuation() -> re.Pattern[str]:
    return re.compile(character_class(PUNCTUATION))
