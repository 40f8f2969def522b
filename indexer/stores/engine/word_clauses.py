"""The words of a query as clauses of a `bool` query of an engine.

Not `simple_query_string`: it analyses `re-open` and unspaced scripts in other ways than a phrase,
drops the whole of some malformed queries, and matches all other documents by a lone `-word`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from indexer.text.query_syntax import SearchWords, Term

Clauses: TypeAlias = dict[str, Any]

_FIELDS = ["title^2", "text"]
# words that the last one of a phrase may become; an engine's own limit of 50 would lose hits
_EXPANSIONS = 10_000


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


def _exclusions(words: SearchWords) -> Clauses:
    return {"must_not": list(map(_term, words.excluded))} if words.excluded else {}


def _any_of(terms: Sequence[Term]) -> Clauses:
    queries = list(map(_term, terms))
    if len(queries) == 1:
        return queries[0]
    return {"bool": {"should": queries, "minimum_should_match": 1}}


def _term(term: Term) -> Clauses:
    """Return the query of a term; all words with a prefix score alike."""
    if not term.is_prefix:
        return _multi_match(term.text, "phrase")
    if term.is_one_word:
        return _multi_match(term.text, "bool_prefix")
    phrase = _multi_match(term.text, "phrase_prefix")
    phrase["multi_match"]["max_expansions"] = _EXPANSIONS
    return {"constant_score": {"filter": phrase}}


def _multi_match(text: str, kind: str) -> Clauses:
    return {"multi_match": {"query": text, "type": kind, "fields": _FIELDS}}
