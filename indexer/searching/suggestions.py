"""Suggestions for a query that finds nothing, from what its words find one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexer.model import Query
from indexer.stores.base import Store
from indexer.text.query_syntax import SearchWords, Term, parse_query
from indexer.text.visible import visible
from indexer.text.wording import count_of

MOST_TERMS = 5  # terms that are searched one by one
_SHORTEST, _MOST_CUT = 3, 3  # letters of a suggested prefix, and letters cut off for it
_NO_WORDS = "the query holds no letter or digit; an empty query finds every document"


@dataclass(frozen=True, slots=True)
class _Probe:
    """Counts the documents that other queries find."""

    store: Store

    def count(self, text: str, filters: tuple[tuple[str, str], ...] = ()) -> int:
        return self.store.search(Query(text, filters)).total


def suggest(store: Store, text: str, filters: Sequence[tuple[str, str]] = ()) -> Iterator[str]:
    """Yield sentences on why a query finds nothing, and what finds something.

    Makes at most about thirty searches.
    """
    words = parse_query(text)
    if words.is_empty:
        if text.strip():
            yield _NO_WORDS
        return
    probe = _Probe(store)
    if filters and (count := probe.count(text)):
        yield f"{count_of(count, 'document')} would match without the filters"
    terms = words.terms[:MOST_TERMS]
    absent = [term for term in terms if not probe.count(str(term))]
    if absent:
        names = ", ".join(visible(str(term)) for term in absent)
        yield f"in no document: {names}"
        for term in absent:
            yield from _alternatives(probe, term)
    yield from _without_signs(probe, words)


def _alternatives(probe: _Probe, term: Term) -> Iterator[str]:
    """Yield what finds documents in place of a term that is in none."""
    if " " in term.text:
        if count := probe.count(term.text):
            yield f"without quotes any of the words may match: {count_of(count, 'document')}"
        return
    if not term.is_one_word:
        return
    for prefix in _prefixes(term):
        if count := probe.count(prefix):
            yield f"try {visible(prefix)}, which is in {count_of(count, 'document')}"
            return


def _prefixes(term: Term) -> Iterator[str]:
    """Yield shorter and shorter beginnings of a word, as queries."""
    shortest = max(_SHORTEST, len(term.text) - _MOST_CUT)
    start = len(term.text) - term.is_prefix
    for length in range(start, shortest - 1, -1):
        yield f"{term.text[:length]}*"


def _without_signs(probe: _Probe, words: SearchWords) -> Iterator[str]:
    """Yield what a query would find without its `+`, and without its `-`."""
    anything = " ".join(map(str, words.terms))
    adds_to_rank = len(words.required) > 1 or (words.required and words.optional)
    if adds_to_rank and (count := probe.count(anything)):
        yield f"without + any of the words may match: {count_of(count, 'document')}"
    if not (words.excluded and words.terms):
        return
    required = [f"+{'|'.join(map(str, group))}" for group in words.required]
    if count := probe.count(" ".join(required) or anything):
        yield f"without - the other words are in {count_of(count, 'document')}"
