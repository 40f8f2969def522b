"""When two clauses of much the same words oblige to something else: another force, party or act, or
the opposite.
"""

from __future__ import annotations

from collections import Counter

from indexer.text.clauses.lexicon import Lexicon
from indexer.text.clauses.reading import Duty, Reading, contexts, said_names


def other_obligation(left: Reading, right: Reading, lexicon: Lexicon) -> bool:
    """Whether something that can be seen without understanding says that two clauses do not oblige
    to the same.

    One denies more often than the other; the same verb stands with another force, or with the other
    party; one has a word and the other its opposite; two parties have changed places; or either
    obliges to an act the other does not speak of.
    """
    return (
        left.negations != right.negations
        or _opposites(left, right, lexicon)
        or _other_force(left, right)
        or _other_subject(left, right, lexicon)
        or _other_acts(left, right)
        or places_changed(left, right)
    )


def places_changed(left: Reading, right: Reading) -> bool:
    """Whether two names that both clauses have stand in each other's place, by the words beside
    them.
    """
    both = said_names(left.units).keys() & said_names(right.units).keys()
    if len(both) < 2:
        return False
    one, other = contexts(left.units), contexts(right.units)
    moved = {
        (a, b)
        for beside in one.keys() & other.keys()
        if len(one[beside]) == len(other[beside]) == 1
        for a, b in [(*one[beside], *other[beside])]
        if a != b and a in both and b in both
    }
    return any((b, a) in moved for a, b in moved)


def _opposites(left: Reading, right: Reading, lexicon: Lexicon) -> bool:
    one, other = _opposable(left, lexicon), _opposable(right, lexicon)
    return any(lexicon.are_opposites(a, b) for a in one - other for b in other - one)


def _opposable(reading: Reading, lexicon: Lexicon) -> Counter[str]:
    return Counter(unit.form for unit in reading.units if unit.form in lexicon.opposable)


def _other_force(left: Reading, right: Reading) -> bool:
    """A verb that has some force here more often than there, and another one there more often than
    here.
    """
    one, other = _by_verb(left), _by_verb(right)
    forces = [(_forces(one[verb]), _forces(other[verb])) for verb in one.keys() & other.keys()]
    return any(here - there and there - here for here, there in forces)


def _forces(duties: list[Duty]) -> Counter[str]:
    return Counter(duty.force for duty in duties)


def _other_subject(left: Reading, right: Reading, lexicon: Lexicon) -> bool:
    """A verb that falls to one party here and to another there, where both know both, or they are
    opposites.
    """
    one, other = _by_verb(left), _by_verb(right)
    here, there = said_names(left.units), said_names(right.units)
    for verb in one.keys() & other.keys():
        a, b = (
            {duty.subject for duty in one[verb]} - {""},
            {duty.subject for duty in other[verb]} - {""},
        )
        if (
            a
            and b
            and not a & b
            and any(lexicon.are_opposites(x, y) or (x in there and y in here) for x in a for y in b)
        ):
            return True
    return False


def _other_acts(left: Reading, right: Reading) -> bool:
    """Either has an obligation most of whose terms the other does not have at all."""
    return _strange(left, right) and _strange(right, left)


def _strange(own: Reading, other: Reading) -> bool:
    known = other.words | other.names
    return any(
        2 * sum(term not in known for term in duty.kernel) > len(duty.kernel) for duty in own.duties
    )


def _by_verb(reading: Reading) -> dict[str, list[Duty]]:
    found: dict[str, list[Duty]] = {}
    for duty in reading.duties:
        if duty.kernel:
            found.setdefault(duty.kernel[0], []).append(duty)
    return found
