"""Sentences by rule, without a model: full stops and their like in any script. `sentences_v1`.

A sentence ends

* after . ! ? … or another script's full stop, with the closing quotes and brackets that follow,
  where white space or the end of the text comes next; not after a lone Latin capital (an initial),
  and not before a small Latin letter (an abbreviation);
* after 。！？｡ wherever they stand;
* at an empty line.

An abbreviation before a capital ("Dr. Who") counts as an end: no rule without a dictionary can tell
them apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_BLANK = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_STOPS = (
    ".!?\u2026\u0589\u061f\u06d4\u0964\u0965\u104a\u104b\u1362\u1367\u1368\u17d4\u17d5"
    "\u203c\u203d\u2047-\u2049"
)
_WIDE_STOPS = "\u3002\uff01\uff0e\uff1f\uff61"
_CLOSERS = "\"')\\]}\xbb\u2019\u201d\u203a\u3009\u300b\u300d\u300f\u3011\uff09\uff3d\uff5d"
_END = re.compile(
    f"(?P<initial>(?<![^{_BLANK}])[A-Z]\\.(?=[{_BLANK}]))"
    f"|[{_WIDE_STOPS}][{_STOPS}{_WIDE_STOPS}]*[{_CLOSERS}]*"
    f"|(?<![{_STOPS}])[{_STOPS}]+[{_CLOSERS}]*(?=[{_BLANK}]+[^a-z{_BLANK}]|[{_BLANK}]*\\Z)"
    f"|[\r\n][{_BLANK}]*[\r\n\u2029]|\u2029"
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text in order, without the white space around them.

    A text without full stops is one sentence.

    >>> sentences("He left, i.e. at 9 p.m. Then J. Doe came! 「来た。」彼は言った。\\n\\nNo end")
    ['He left, i.e. at 9 p.m.', 'Then J. Doe came!', '「来た。」', '彼は言った。', 'No end']
    """
    stripped = (piece.strip() for piece in _pieces(text))
    return [sentence for sentence in stripped if sentence]


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for match in _END.finditer(text):
        if match.lastgroup != "initial":
            yield text[start : match.end()]
            start = match.end()
    yield text[start:]
