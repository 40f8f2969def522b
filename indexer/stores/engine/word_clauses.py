"""The words of a query as clauses of a `bool` query of an engine.

Not `simple_query_string`: it analyses `re-open` and unspaced scripts in other ways than a phrase,
drops the whole of some malformed queries, and matches all other documents by a lone `-word`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, product
from typing import Any, TypeAlias

from indexer.text.query_syntax import SearchWords, Term

Clauses: TypeAlias = dict[str, Any]

_FIELDS = ["title^2", "text"]
_UNWEIGHTED = ("title", "text")
# words that the last one of a phrase may become; an engine's own limit of 50 would lose hits
_EXPANSIONS = 10_000
_FINAL = re.compile(r"(?<=\w)[σςΣ](?!\w)")
_MOST_FINAL = 3  # of a term, of which all combinations are looked for


def scoring_clauses(words: SearchWords) -> Clauses:
    """Return the clauses of a query whose hits are ranked by its words."""
    clauses: Clauses = {}
    if words.required:
        clauses["must"] = list(map(_any_of, words.required))
    if words.optional:
        clauses["should"] = list(map(_term, words.optional))
        clauses["minimum_should_match"] = 0 if words.required else 1
    return clauses | _exclusions(words)


def filtering_clauses(words: SearchWords) -> Clauses:
    """Return the clauses of a query that matches the same documents without a rank."""
    words = words.without_rank()
    clauses: Clauses = {"filter": list(map(_any_of, words.required))}
    if words.optional:
        clauses["filter"].append(_any_of(words.optional))
    return clauses | _exclusions(words)


def containing_clauses(word: str) -> Clauses:
    """Return the clauses of a query for documents with a word, in either field.

    An engine counts these by the numbers that it keeps of terms, where no document was deleted and
    one of the fields has none; the better of two fields it looks for in each document.
    """
    fields = [(text, field) for text in _spellings(word) for field in _UNWEIGHTED]
    return {"should": [_multi_match(text, "phrase", [field]) for text, field in fields]}


def _exclusions(words: SearchWords) -> Clauses:
    return {"must_not": list(map(_term, words.excluded))} if words.excluded else {}


def _any_of(terms: Sequence[Term]) -> Clauses:
    queries = list(map(_term, terms))
    if len(queries) == 1:
        return queries[0]
    return {"bool": {"should": queries, "minimum_should_match": 1}}


def _term(term: Term) -> Clauses:
    """Return the query of a term; all words with a prefix score alike.

    Engines take the sigma at the end of a Greek word for another letter, which it is not in
    capitals.
    """
    spellings = _spellings(term.text)
    if len(spellings) == 1:
        return _spelled(term, term.text)
    return {"dis_max": {"queries": [_spelled(term, text) for text in spellings]}}


def _spellings(text: str) -> list[str]:
    between = _FINAL.split(text)
    count = len(between) - 1
    if not count:
        return [text]
    choices = product("σς", repeat=count) if count <= _MOST_FINAL else ("σ" * count, "ς" * count)
    return ["".join(chain(*zip(between, [*finals, ""], strict=True))) for finals in choices]


def _spelled(term: Term, text: str) -> Clauses:
    if not term.is_prefix:
        return _multi_match(text, "phrase")
    if term.is_one_word:
        return _multi_match(text, "bool_prefix")
    phrase = _multi_match(text, "phrase_prefix")
    phrase["multi_match"]["max_expansions"] = _EXPANSIONS
    return {"constant_score": {"filter": phrase}}


def _multi_match(text: str, kind: str, fields: Sequence[str] = _FIELDS) -> Clauses:
    return {"multi_match": {"query": text, "type": kind, "fields": [*fields]}}
