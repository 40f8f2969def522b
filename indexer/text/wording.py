"""Amounts and names in sentences."""

from __future__ import annotations

import json
from collections.abc import Iterable

from indexer.text.visible import visible


def count_of(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is 1; a final y after a consonant becomes
    ies.

    >>> counted(1, "family"), counted(0, "family"), counted(2_000, "survey"), counted(1, "word")
    ('1 family', '0 families', '2,000 surveys', '1 word')
    """
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"
    return f"{number:,} {plural}"


def join_names(names: Iterable[str]) -> str:
    """Names with comma and blank between, made visible; one that would be taken for several in
    quotes as in JSON.

    >>> listed(["a", "b, c", "d"])
    'a, "b, c", d'
    """
    return ", ".join(map(unmistakable, names))


def unmistakable(name: str) -> str:
    """One name of a list, made visible; in quotes, as in JSON, where it holds what divides names,
    or a quote to begin with.

    >>> print(unmistakable("a, b"), unmistakable('"a"'), unmistakable("a,b"), unmistakable("x  # max"))
    "a, b" "\\"a\\"" a,b "x  # max"
    """
    shown = visible(name)
    plain = ", " not in shown and "  # " not in shown and not shown.startswith('"')
    return shown if plain else json.dumps(shown, ensure_ascii=False)
