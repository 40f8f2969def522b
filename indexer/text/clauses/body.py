"""The text of a clause without the number and the heading at its beginning."""

from __future__ import annotations

import re

from indexer.text.clauses.function_words import FUNCTION

_LABEL = re.compile(
    r"\s*(?:(?:Section|SECTION|Article|ARTICLE|Clause|CLAUSE|§+)\s*[\dIVXLC]+(?:\.\d+)*[.:)]*"
    r"|\(?\d+(?:\.\d+)*[.)]|\d+\.\d+(?:\.\d+)*|\([A-Za-z]{1,4}\)|[IVXLC]+\.|[A-Za-z][.)])(?=\s)\s*"
)
_HEADING = re.compile(r"[*_#]*([^.:;\n—–]{2,80}?)[*_]*(?:[.:—–]+(?=\s)|\n)[*_]*\s*(?=\S)")
_WORD = re.compile(r"[^\W\d_][^\W_]*")
_MOST_WORDS = 10


def body(text: str, heading: str = "") -> str:
    """Return the text without its clause number and without its heading.

    The heading is `heading`, else a first run of capitalised words. A text that is nothing else
    stays as it is.

    >>> body("Section 14.06 Successors and Assignors. All covenants shall bind.")
    'All covenants shall bind.'
    >>> body("All covenants shall bind. No waiver.")
    'All covenants shall bind. No waiver.'
    """
    for rest in (text.lstrip(), _without_label(text)):
        if heading and rest[: len(heading)].casefold() == heading.casefold():
            return rest[len(heading) :].lstrip(" .:—–\n") or text
    match = _HEADING.match(rest)
    if match and _is_heading(match.group(1)):
        return rest[match.end() :]
    return rest or text


def _without_label(text: str) -> str:
    label = _LABEL.match(text)
    return text[label.end() :] if label else text.lstrip()


def _is_heading(line: str) -> bool:
    """Return whether there are few words, all capitalised but function words."""
    words = _WORD.findall(line)
    return 0 < len(words) <= _MOST_WORDS and all(
        word[0].isupper() or word.lower() in FUNCTION for word in words
    )
