"""Counts, percentages and names in sentences."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable

from indexer.text.visible import visible


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is 1.

    A final y after a consonant becomes ies, a final s ses.

    >>> count_of(1, "family"), count_of(0, "family"), count_of(2_000, "survey"), count_of(1, "word")
    ('1 family', '0 families', '2,000 surveys', '1 word')
    >>> count_of(2, "address")
    '2 addresses'
    """
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{number:,} {noun[:-1]}ies"
    return f"{number:,} {noun}{'es' if noun.endswith('s') else 's'}"


def join_names(names: Iterable[str]) -> str:
    """Join names, made visible, with commas.

    A name that reads like several is in quotes, as in JSON.

    >>> join_names(["a", "b, c", "d"])
    'a, "b, c", d'
    """
    return ", ".join(map(unmistakable, names))


def unmistakable(name: str) -> str:
    """Return one name of a list, made visible.

    It is in quotes, as in JSON, where it holds a separator of names, or begins with a quote.

    >>> print(*map(unmistakable, ["a, b", '"a"', "a,b", "x  # max"]))
    "a, b" "\\"a\\"" a,b "x  # max"
    """
    shown = visible(name)
    plain = ", " not in shown and "  # " not in shown and not shown.startswith('"')
    return shown if plain else json.dumps(shown, ensure_ascii=False)


def percent(share: float | None, digits: int = 0) -> str:
    """Return a share in [0, 1] in per cent. Only 1 is 100 %: texts that differ are never shown as
    equal.

    A share that would round up to 100 % is rounded down to one decimal place or more. None, a
    share of nothing, is a dash.

    >>> percent(0.918, 1), percent(0.99999, 1), percent(0.995), percent(1)
    ('91.8%', '99.9%', '99.5%', '100%')
    """
    if share is None:
        return "–"
    text = f"{share:.{digits}%}"
    if share == 1 or not text.startswith("100"):
        return text
    digits = max(1, digits)
    steps = 10 ** (digits + 2)
    return f"{math.floor(share * steps) / steps:.{digits}%}"


def spell_words_in_order(common: int, words: tuple[int, int]) -> str:
    """Return the words that two texts have in order, of the longer one, and both lengths.

    >>> spell_words_in_order(82, (1_000, 90))
    '82 of 1,000 words, in order; the texts have 1,000 and 90 words'
    """
    longer = count_of(max(words), "word")
    return f"{common:,} of {longer}, in order; the texts have {words[0]:,} and {words[1]:,} words"


def spell_labels(labels: Iterable[str]) -> str:
    """Join labels with commas; `(none)` for none.

    >>> spell_labels(["hot", "key"]), spell_labels([])
    ('hot, key', '(none)')
    """
    return ", ".join(labels) or "(none)"
