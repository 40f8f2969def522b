"""Snippets of hits: the words of a query in a text, with the text around them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from indexer.model import SnippetPiece
from indexer.stores.query_syntax import Term, highlighted_terms
from indexer.wording import visible_line

SNIPPET_CHARS = 200  # characters of a snippet, about
_SEARCHED = 50_000  # characters of a text in which the words are looked for
_LETTER = r"[0-9A-Za-z\u00c0-\u0dff]"  # of scripts with blanks between words
_EDGE = 30  # characters within which a snippet is cut at a blank


def snippet(text: str, query: str) -> tuple[SnippetPiece, ...]:
    """Return about `SNIPPET_CHARS` characters around the first words of the query, in pieces.

    Case and marks on Latin letters do not matter. Looks at the first 50,000 characters; where
    nothing is found there, the text's beginning. Safe to show, on one line.

    >>> [(piece.text, piece.found) for piece in snippet("The ferry has sunk.", "FERRY")]
    [('The ', False), ('ferry', True), (' has sunk.', False)]
    >>> [piece.text for piece in snippet("Cafés and articles on art.", "art cafe*")]
    ['Cafés', ' and articles on ', 'art', '.']
    """
    pattern = _query_pattern(query)
    text = text.strip()
    plain = text[:_SEARCHED].translate(_PLAIN)
    start, end = _bounds(plain, len(text), pattern)
    pieces = [("… ", False)] if start else []
    position = start
    for match in pattern.finditer(plain, start, end) if pattern else ():
        pieces.append((visible_line(text[position : match.start()]), False))
        pieces.append((visible_line(text[match.start() : match.end()]), True))
        position = match.end()
    ending = " …" if end < len(text) else ""
    pieces.append((visible_line(text[position:end]) + ending, False))
    return tuple(SnippetPiece(*piece) for piece in pieces if piece[0])


def _bounds(plain: str, length: int, pattern: re.Pattern[str] | None) -> tuple[int, int]:
    """Return where the snippet starts and ends, at blanks where there are some nearby."""
    first = pattern.search(plain) if pattern else None
    start = max(0, first.start() - SNIPPET_CHARS // 3) if first else 0
    if start:
        blank = plain.find(" ", start, start + _EDGE)
        start = blank + 1 if blank >= 0 else start
    end = min(length, start + SNIPPET_CHARS)
    if end < length:
        blank = plain.rfind(" ", end - _EDGE, end)
        end = blank if blank > start else end
    return start, end


class Highlighter:
    """The words of several queries, found in a text as snippets find them.

    >>> highlighter = Highlighter(["ferry", "advice of counsel"])
    >>> list(highlighter.spans("Counsel: the FERRY."))
    [(0, 7, 1), (13, 18, 0)]
    >>> sorted(Highlighter(['"ferry boat"', "boat"]).counts("a ferry boat").items())
    [(0, 1), (1, 1)]
    """

    def __init__(self, queries: Sequence[str]) -> None:
        """Raise `UsageError` for a query of too many words."""
        self._queries = queries
        patterns = self._patterns = [_query_pattern(query) for query in queries]
        choices = [
            f"(?P<q{number}>{pattern.pattern})"
            for number, pattern in enumerate(patterns)
            if pattern
        ]
        self._pattern = _word_pattern("|".join(choices)) if choices else None

    def spans(self, text: str) -> Iterator[tuple[int, int, int]]:
        """Yield the words in a text: start, end, and the number of the query, from 0."""
        for match in self._pattern.finditer(text.translate(_PLAIN)) if self._pattern else ():
            yield match.start(), match.end(), int((match.lastgroup or "q0")[1:])

    def terms(self) -> Iterator[tuple[str, bool, int]]:
        """Yield what is looked for, for a program that finds it in another text: the words without
        marks on Latin characters, whether the word may go on, and the number of the query.
        """
        for number, query in enumerate(self._queries):
            for term in _longest_first(query):
                yield term.text.translate(_PLAIN), term.is_prefix, number

    def counts(self, text: str) -> Counter[int]:
        """Return how many words of each query are in a text, by its number, also within words of
        another one.
        """
        plain = text.translate(_PLAIN)
        found = enumerate(self._patterns)
        return Counter({at: len(each.findall(plain)) for at, each in found if each})


@lru_cache(maxsize=64)
def _query_pattern(query: str) -> re.Pattern[str] | None:
    """Return a pattern of the terms that may match, in any case, longest first; None without any.

    A term matches whole words where a script divides them, and beginnings of words with `*`.
    """
    choices = "|".join(map(_term_pattern, _longest_first(query)))
    return _word_pattern(choices) if choices else None


def _longest_first(query: str) -> list[Term]:
    return sorted(highlighted_terms(query), key=lambda term: len(term.text), reverse=True)


def _word_pattern(choices: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!{_LETTER})(?:{choices})", re.IGNORECASE)


def _term_pattern(term: Term) -> str:
    words = r"[\W_]+".join(map(re.escape, term.text.translate(_PLAIN).split()))
    return rf"{words}\w*" if term.is_prefix else rf"{words}(?!{_LETTER})"


class _PlainLetters(dict[int, int]):
    """Each Latin letter without its marks, by code; other characters as they are."""

    def __missing__(self, code: int) -> int:
        plain = ord(unicodedata.normalize("NFD", chr(code))[0])
        self[code] = plain if plain < 128 else code
        return self[code]


_PLAIN = _PlainLetters()
