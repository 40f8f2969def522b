"""The values that reading a clause gives: units, obligations, terms.

Units are words and slots in order. A slot may differ in a near-identical clause: a name (of a
party, a place or a defined term: a run of capitalised words, or a party of the lexicon), an amount,
a date, an address, the number of a section.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

NAME = "name"


class Unit(NamedTuple):
    """A word or a slot.

    `kind` is empty for a word; `form` is canonical; `words` are its folded words. `spelling`: the
    words of a name by which it is the same as another, empty for other units. `capital`: where a
    word that is no slot has one, "inside" or "opening" a sentence; empty in small letters.
    """

    kind: str
    form: str
    words: tuple[str, ...]
    spelling: tuple[str, ...] = ()
    capital: Literal["", "inside", "opening"] = ""


@dataclass(frozen=True, slots=True)
class Duty:
    """One obligation.

    `force` is must, may or not; `subject` the name before the modal verb, or empty; `kernel` the
    terms after it, the verb first.
    """

    force: str
    subject: str
    kernel: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A clause in the terms by which duplicate types are decided.

    `exact`: its substantive words, folded, in order. `doubtful`: the words of its heading that may
    name a party, in lower case, in order. `units`: words and slots in order without
    articles and the like. `length` counts words with articles, each slot as one. `words` are the
    distinct terms outside slots, `names` those inside names, both without function words.
    `counted`: a word and a number before the clause that are of no division, "step 4".
    `signs`: the signs that no token has and that change what is said, in order.
    `figures`: formulas, each with its tokens in order, sorted. `negations` are counted without
    idioms. `is_shouted`: most words are in capitals.
    """

    exact: tuple[str, ...]
    units: tuple[Unit, ...]
    length: int
    words: frozenset[str]
    names: frozenset[str]
    figures: tuple[str, ...]
    negations: int
    duties: tuple[Duty, ...]
    is_shouted: bool = False
    doubtful: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()
    counted: str = ""


def contexts(units: Sequence[Unit]) -> dict[tuple[str, str], set[str]]:
    """Return the names that stand after and before each word.

    Keys are ("after", word) and ("before", word).
    """
    names: dict[tuple[str, str], set[str]] = {}
    for before, after in pairwise(units):
        if after.kind == NAME and not before.kind:
            names.setdefault(("after", before.form), set()).add(after.form)
        if before.kind == NAME and not after.kind:
            names.setdefault(("before", after.form), set()).add(before.form)
    return names


def said_names(units: Sequence[Unit]) -> Counter[str]:
    """Count how often each name stands."""
    return Counter(unit.form for unit in units if unit.kind == NAME)
