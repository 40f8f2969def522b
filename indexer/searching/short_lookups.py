"""Candidates of short texts by their words, which stored keys alone may miss.

At `lcs` t two texts, the longer of m words, have ceil(t m) words in common, so a text of n words
lacks at most n - ceil(t n) of those of the other, and as many of its different ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from indexer.joins.short_texts import FEW_WORDS, fewest_in_common, most_words
from indexer.model import Candidates, Fingerprint, WordLookup
from indexer.recipe import Recipe
from indexer.stores.abilities import VocabularyStore
from indexer.text.normal_words import normal_words

_LEAST = 0.5  # below, too many texts share as many words


def looks_up_words(measure: str, threshold: float, recipe: Recipe) -> bool:
    """Return whether short texts are looked up by their words too."""
    return measure == "lcs" and recipe.counts_normal_words and threshold >= _LEAST


def with_candidates_by_words(
    store: VocabularyStore,
    recipe: Recipe,
    threshold: float,
    limit: int,
    texts: Sequence[tuple[str, Fingerprint]],
    answers: Sequence[Candidates],
) -> list[Candidates]:
    """Return the candidates of texts by keys, those of short ones with candidates by words.

    `limit` of these at most for each text. Texts without keys match copies only. Where a search
    finds every word, the keys that were not looked up do not matter.
    """
    places = [
        place
        for place, (_, own) in enumerate(texts)
        if own.bands and own.words <= most_words(threshold)
    ]
    lookups = [word_lookup(recipe.compared(texts[place][0]), threshold) for place in places]
    merged = list(answers)
    if lookups:
        by_words = store.vocabulary.candidates(lookups, limit)
        is_complete = store.vocabulary.finds_every_word()
        for place, others in zip(places, by_words, strict=True):
            merged[place] = _merge(answers[place], others, is_complete)
    return merged


def word_lookup(text: str, threshold: float) -> WordLookup:
    """Return the look-up of the texts that reach a threshold of `lcs`, one of the two being short.

    Each word is looked up as measures compare it and as it is written.

    >>> word_lookup("The ferry leaves at 8", 0.8)
    WordLookup(words=(('the',), ('ferry',), ('leaves',), ('at',), ('8',)), shared=4, \
fewest_words=4, most_words=6)
    """
    words = normal_words(text)
    spellings: dict[str, set[str]] = {}
    for word, start, end in zip(words.folded, words.starts, words.ends, strict=True):
        written_word = text[start:end].replace('"', " ").lower()
        spellings.setdefault(word, set()).add(written_word)
    written = tuple((word, *sorted(forms - {word})) for word, forms in spellings.items())
    count = len(words.folded)
    fewest = fewest_in_common(count, threshold)
    most = math.floor(count / threshold + 1e-9)
    if count >= FEW_WORDS:
        most = min(most, FEW_WORDS - 1)
    return WordLookup(written, max(1, len(written) - (count - fewest)), fewest, most)


def _merge(by_keys: Candidates, by_words: Candidates, is_complete: bool) -> Candidates:
    known = {candidate.id for candidate in by_keys.found}
    new = tuple(candidate for candidate in by_words.found if candidate.id not in known)
    if is_complete:
        return Candidates(by_keys.found + new, cut=by_words.cut, complete=True)
    return replace(by_keys, found=by_keys.found + new, cut=by_keys.cut or by_words.cut)
