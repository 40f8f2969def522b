"""Analysis of texts in an engine: its standard tokeniser after a character filter.

That tokeniser follows UAX 29. It separates Han and Hiragana letters, but keeps runs of other
scripts without spaces whole, and words with a dot, an apostrophe or an underscore inside. The
character filter makes it agree with SQLite's `unicode61` on the same text separated by
`indexer.text.phrases.separate_letters`. A pattern tokeniser could do the same in one line, at five
times the cost.
"""

from __future__ import annotations

from collections.abc import Iterator

from indexer.text.codepoints import ranges
from indexer.text.phrases import is_mark

# Thai, Lao, Burmese, Khmer, Katakana
APART = """
E00-EFF 1000-109F 1780-17FF 3031-3035 309B-309C 30A0-30FF 31F0-31FF FF66-FF9F
1B000 1B164-1B167
"""
# Word_Break is MidLetter, MidNum, MidNumLet, Single_Quote, ExtendNumLet or Format
JOINERS = """
27 2C 2E 3A 3B 5F AD B7 37E 387 55F 589 5F4 60C 60D 66C 7F8 200B-200D 2018-2019 2024 2027
202F 203F-2040 2044 2054 2060
FE10 FE13-FE14 FE33-FE34 FE4D-FE50 FE52 FE54-FE55 FEFF FF07 FF0C FF0E FF1A-FF1B FF3F
"""
# combining marks that follow Latin letters in decomposed text
MARKS = "300-36F"


def mapping_rules() -> list[str]:
    """Return the rules of a `mapping` character filter.

    They put a space before letters of `APART`, replace joiners by a space, and drop marks.

    >>> mapping_rules()[0]
    '\\\\u0E00 => \\\\u0020\\\\u0E00'
    """
    apart = [
        rf"{_escape(code)} => \u0020{_escape(code)}"
        for code in _codes(APART)
        if not is_mark(chr(code))
    ]
    joiners = [rf"{_escape(code)} => \u0020" for code in _codes(JOINERS)]
    marks = [rf"{_escape(code)} => " for code in _codes(MARKS)]
    return apart + joiners + marks


def _codes(table: str) -> Iterator[int]:
    for first, last in ranges(table):
        yield from range(first, last + 1)


def _escape(code: int) -> str:
    """Return the notation of a character in a rule: `\\u` and four digits a UTF-16 unit."""
    units = chr(code).encode("utf-16-be").hex().upper()
    return "".join(rf"\u{units[start : start + 4]}" for start in range(0, len(units), 4))
