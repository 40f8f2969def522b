"""Words of texts for full-text search, the same in every store.

A word is a run of letters, digits and marks; everything else separates. In scripts written without
spaces each letter, with the marks that follow it, is a word of its own, so that a Chinese or Thai
word inside a sentence is a phrase.
"""

from __future__ import annotations

import re

from indexer.text import unicode13
from indexer.text.codepoints import ranges

# marks (categories Mn and Mc of Unicode 13.0) of scripts written without spaces
_MARKS = """
E31 E34-E3A E47-E4E EB1 EB4-EBC EC8-ECD 102B-103E 1056-1059 105E-1060 1062-1064 1067-106D 1071-1074
1082-108D 108F 109A-109D 17B4-17D3 17DD 3099-309A
"""
_SURROGATE = re.compile("[\ud800-\udfff]")


def _members(*tables: str) -> str:
    """Return the inside of a character class."""
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges(" ".join(tables)))


# a quick test: texts without these hold no unspaced script
_FAR = re.compile("[^\0-\u0dff\u1800-\u2e7f]")
_UNSPACED = re.compile(f"[{_members(unicode13.UNSPACED)}]+")
_MARK = re.compile(f"[{_members(_MARKS)}]")
_CLUSTER = re.compile(f".[{_members(_MARKS)}]*")


def well_formed(text: str) -> str:
    """Replace each lone surrogate by U+FFFD, so that the text can be written as UTF-8.

    >>> well_formed("a\\ud800b")
    'a\ufffdb'
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def is_mark(letter: str) -> bool:
    """Return whether a letter of a script without spaces belongs to the one before it.

    Vowel signs and tone marks do.
    """
    return _MARK.match(letter) is not None


def separate_letters(text: str) -> str:
    """Put spaces around each letter, its marks included, of a script written without spaces.

    >>> separate_letters("GPT模型")
    'GPT 模 型 '
    """
    if text.isascii() or not _FAR.search(text):
        return text
    return _UNSPACED.sub(_space_run, text)


def _space_run(run: re.Match[str]) -> str:
    letters = _CLUSTER.findall(run[0]) if _MARK.search(run[0]) else run[0]
    return f" {' '.join(letters)} "
