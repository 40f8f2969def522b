"""The words of a query as expressions of FTS5."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, product

from indexer.text.phrases import separate_letters
from indexer.text.query_syntax import SearchWords, Term

# the sign keeps SQLite from searching once more for each row
WITHOUT = "+d.number NOT IN (SELECT rowid FROM fulltext WHERE fulltext MATCH ?)"

MOST_SHARP = 4  # of a term, of which all combinations are looked for
_SHARP = re.compile("ss|[ßẞ]", re.IGNORECASE)


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

    A term holds no quote. FTS5 folds case letter by letter, so each ss and ß stands for either; the
    s at the end of a prefix may be the first half of ß.

    >>> term_expression(Term("STRASSE")), term_expression(Term("gros", is_prefix=True))
    ('("STRASSE" OR "STRAßE")', '("gros"* OR "groß"*)')
    """
    spellings = _spellings(separate_letters(term.text).replace("\0", " "))
    if term.is_prefix:
        spellings += [text[:-1] + "ß" for text in spellings if text[-1:] in ("s", "S")]
    star = "*" if term.is_prefix else ""
    quoted = [f'"{text}"{star}' for text in spellings]
    return quoted[0] if len(quoted) == 1 else f"({' OR '.join(quoted)})"


def _spellings(text: str) -> list[str]:
    """Return a text as it is, and with ß for ss and ss for ß; all of them beyond `MOST_SHARP`."""
    parts = _SHARP.split(text)
    if len(parts) == 1:
        return [text]
    written = _SHARP.findall(text)
    if len(written) > MOST_SHARP:
        return list(dict.fromkeys([text, "ss".join(parts), "ß".join(parts)]))
    choices = product(*map(_letters, written))
    return ["".join(chain(*zip(parts, [*choice, ""], strict=True))) for choice in choices]


def _letters(written: str) -> list[str]:
    """Return both ways of writing ss or ß, one of them as it is written."""
    return list({letters.lower(): letters for letters in ("ss", "ß", written)}.values())


def _any_of(terms: Sequence[Term]) -> str:
    return "(" + " OR ".join(map(term_expression, terms)) + ")"
