"""Normalisers by name: a text in, a plainer text out. What they do is part of a recipe, and a name
never changes its meaning.

`norm` and `norm-html` give what copietje's normalisers give (clean-text over ftfy 6.3, Unidecode
1.4 and emoji 2), letter for letter, so that tokens and slots are equal to its own. They bend every
script to ASCII: Chinese becomes toneless pinyin. The `-anyascii` forms do the same through a freely
licensed table.
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
from indexer.text.repair_unicode import repair_unicode
from indexer.text.transliteration import by_anyascii, by_unidecode

Normaliser = Callable[[str], str]

_CURRENCY = re.compile("(?:[$£¥฿₡₦₩₪₫€₱₲₴₹]|zł)+")
_SINGLE_QUOTES = re.compile("[‘‛’❛❜`´]")
_DOUBLE_QUOTES = re.compile("[«‹»›„“‟”❝❞❮❯〝〞〟＂]")


def none(text: str) -> str:
    """The text itself; only lone surrogates, which UTF-8 cannot write, become U+FFFD.

    >>> none("Untouched\\n\\ud800")
    'Untouched\\n\\ufffd'
    """
    return codepoints.decode(codepoints.encode(text))


def norm(text: str) -> str:
    """As copietje's `norm`: backslash escapes resolved, Unicode mended, currency signs gone, ASCII,
    no punctuation, lower case.

    White space becomes single spaces. Raises `MissingExtra` without the extra `copietje`.

    >>> norm("Some $TEXT\\n\\nwIth   CAPITALS !")
    'some text with capitals'
    """
    plain = _CURRENCY.sub("", repair_unicode(_unescaped(none(text))))
    quoted = _DOUBLE_QUOTES.sub('"', _SINGLE_QUOTES.sub("'", plain))
    return _bare(by_unidecode(quoted))


def norm_html(text: str) -> str:
    """`norm` of what is left when HTML markup is taken out, as copietje's `norm-html`.

    >>> norm_html("<h1>CAPITALS !</h1>")
    'capitals'
    """
    return norm(without_markup(none(text)))


def norm_anyascii(text: str) -> str:
    """`norm` with anyascii for Unidecode, emoji by name, and backslashes left as they are. Needs
    the extra `text`.

    >>> norm_anyascii("Łódź: €5, ☕")
    'lodz 5 coffee'
    """
    return _bare(by_anyascii(_CURRENCY.sub("", repair_unicode(none(text)))))


def norm_html_anyascii(text: str) -> str:
    """`norm_anyascii` of what is left when HTML markup is taken out.

    >>> norm_html_anyascii("<h1>CAPITALS !</h1>")
    'capitals'
    """
    return norm_anyascii(without_markup(none(text)))


NORMALISERS: dict[str, Normaliser] = {
    "none": none,
    "default": normalise,
    "norm": norm,
    "norm-html": norm_html,
    "norm-anyascii": norm_anyascii,
    "norm-html-anyascii": norm_html_anyascii,
}


def _unescaped(text: str) -> str:
    """Python's backslash escapes resolved (`\\n`, `\\xe9`, `\\u20ac`); the text as it is when one
    of them is malformed.
    """
    if "\\" not in text:
        return text
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # for unknown escapes, which stay as they are
        try:
            return none(text.encode("latin-1", "backslashreplace").decode("unicode_escape"))
        except UnicodeDecodeError:
            return text


def _bare(text: str) -> str:
    """No punctuation, lower case, single spaces."""
    return " ".join(_punctuation().sub("", text).lower().split())


@cache
def _punctuation() -> re.Pattern[str]:
    return re.compile(character_class(PUNCTUATION))
