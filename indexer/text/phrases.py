"""What full-text search sees of a text, and what it asks for: the same in every store.

A word is a run of letters, digits and marks; everything else separates. In scripts written without
spaces each letter, with the marks that follow it, is a word of its own, so that a Chinese or Thai
word inside a sentence is a phrase.
"""

from __future__ import annotations

import re

from indexer.errors import UsageError
from indexer.text import unicode13
from indexer.text.codepoints import ranges

MAX_WORDS = (
    400  # engines bound the clauses of a query, and each word is looked for in title and text
)
_MARKS = """
E31 E34-E3A E47-E4E EB1 EB4-EBC EC8-ECD 102B-103E 1056-1059 105E-1060 1062-1064 1067-106D 1071-1074 1082-108D 108F
109A-109D 17B4-17D3 17DD 3099-309A
"""  # marks (categories Mn and Mc of Unicode 13.0) of scripts written without spaces
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORD = re.compile(r"\w{1,255}")
_PHRASE = re.compile(r'"([^"]*)"|([^\s"]+)')


def _members(*tables: str) -> str:
    """The inside of a character class."""
    return "".join(f"{chr(first)}-{chr(last)}" for table in tables for first, last in ranges(table))


_FAR = re.compile(
    "[^\0-\u0dff\u1800-\u2e7f]"
)  # a quick test: texts without these hold no unspaced script
_UNSPACED = re.compile(f"[{_members(unicode13.UNSPACED)}]+")
_MARK = re.compile(f"[{_members(_MARKS)}]")
_CLUSTER = re.compile(f".[{_members(_MARKS)}]*")


def well_formed(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD, so that it can be written as UTF-8.

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
    """Whether a letter of a script written without spaces belongs to the one before it: a vowel
    sign, a tone mark.
    """
    return _MARK.match(letter) is not None


def spaced(text: str) -> str:
    """The text with spaces around each letter, its marks included, of a script that is written
    without spaces.

    >>> spaced("GPT模型")
    'GPT 模 型 '
    """
    return _UNSPACED.sub(_apart, text) if not text.isascii() and _FAR.search(text) else text


def _apart(run: re.Match[str]) -> str:
    letters = _CLUSTER.findall(run[0]) if _MARK.search(run[0]) else run[0]
    return f" {' '.join(letters)} "


def phrases(query: str) -> tuple[str, ...]:
    """The phrases that a query requires: each word, and each run of words in double quotes; each
    once, in order.

    What holds neither letter nor digit is left out. A quote that is not closed is ignored. Raises
    `UsageError` for more than 400 words, each letter of a script without spaces counted as one.

    >>> phrases('near "duplicate documents" -- near')
    ('near', 'duplicate documents')
    """
    found = (quoted or word for quoted, word in _PHRASE.findall(well_formed(query)))
    kept = tuple(
        dict.fromkeys(one for one in found if any(character.isalnum() for character in one))
    )
    words = sum(len(_WORD.findall(spaced(one))) for one in kept)
    if words > MAX_WORDS:
        raise UsageError(f"the query holds {words} words; leave at most {MAX_WORDS}")
    return kept
