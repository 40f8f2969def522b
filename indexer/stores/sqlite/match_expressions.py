"""The words of a query as expressions of FTS5."""

from __future__ import annotations

from collections.abc import Sequence

from indexer.text.phrases import separate_letters
from indexer.text.query_syntax import SearchWords, Term

# the sign keeps SQLite from searching once more for each row
WITHOUT = "+d.number NOT IN (SELECT rowid FROM fulltext WHERE fulltext MATCH ?)"


def match_expression(words: SearchWords) -> str | None:
    """Return the expression that finds documents; None without a word that may match.

    `excluding_expression` holds besides, for `WITHOUT`.
    """
    words = words.without_rank()
    if not words.terms:
        return None
    groups = words.required or (words.optional,)
    positive = " AND ".join(map(_any_of, groups))
    return f"({positive}) NOT {_any_of(words.excluded)}" if words.excluded else positive


def excluding_expression(words: SearchWords) -> str | None:
    """Return the expression of documents to leave out, if `match_expression` is None."""
    return None if words.terms or not words.excluded else _any_of(words.excluded)


def term_expression(term: Term) -> str:
    """Return a term in FTS5's quotes, where only a quote and NUL mean anything.

    A term holds no quote.
    """
    text = separate_letters(term.text).replace("\0", " ")
    return f'"{text}"*' if term.is_prefix else f'"{text}"'


def _any_of(terms: Sequence[Term]) -> str:
    return "(" + " OR ".join(map(term_expression, terms)) + ")"
