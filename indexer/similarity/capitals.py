"""A clause in capitals beside one in sentence case: its names are known from the other one.

Capitals alone tell no name in a text that has nothing else. Where the other clause has a name, the
words in its place are taken for one.
"""

from __future__ import annotations

from dataclasses import replace

from indexer.text.clauses.function_words import FUNCTION, PARTICLES
from indexer.text.clauses.reading import NAME, Reading, Unit

_LONGEST = {NAME: 8, "address": 12}  # units of a text in capitals that one slot stands for


def with_names_of(shouted: Reading, cased: Reading) -> Reading:
    """Return a reading of a text in capitals with the names and addresses of another reading.

    Unchanged where the two have other words outside those slots.
    """
    # ends[place][end]: the end after the unit before, where the units up to `place` reach `end`
    ends: list[dict[int, int]] = [{0: 0}]
    for unit in cased.units:
        reached: dict[int, int] = {}
        for start in ends[-1]:
            for end in _ends(unit, shouted.units, start):
                reached.setdefault(end, start)
        if not reached:
            return shouted
        ends.append(reached)
    end = len(shouted.units)
    if end not in ends[-1]:
        return shouted
    units: list[Unit] = []
    for place in range(len(cased.units), 0, -1):
        start = ends[place][end]
        units.append(_unit(cased.units[place - 1], shouted.units[start:end]))
        end = start
    return replace(shouted, units=tuple(reversed(units)))


def _ends(unit: Unit, units: tuple[Unit, ...], start: int) -> list[int]:
    """Return the places where the counterpart of a unit may end that begins at a place."""
    if start == len(units):
        return []
    first = units[start]
    ends = [start + 1] if first.form == unit.form or first.kind == unit.kind else []
    if not unit.kind:
        return ends if first.form == unit.form else []
    for end in range(start + 1, min(len(units), start + _LONGEST.get(unit.kind, 0)) + 1):
        if not _may_be_inside(unit, units[end - 1]):
            break
        if end not in ends:
            ends.append(end)
    return ends


def _may_be_inside(slot: Unit, unit: Unit) -> bool:
    is_word = unit.kind == NAME or (
        not unit.kind and (unit.form not in FUNCTION or unit.form in PARTICLES)
    )
    return is_word or (slot.kind == "address" and unit.kind == "number")


def _unit(slot: Unit, run: tuple[Unit, ...]) -> Unit:
    """Return a run of words as a slot of the same kind."""
    if len(run) == 1 and run[0].kind == slot.kind:
        return run[0]
    words = tuple(word for unit in run for word in unit.words)
    form = slot.form if words == slot.words else "_".join(unit.form for unit in run)
    return Unit(slot.kind, form, words, words)
