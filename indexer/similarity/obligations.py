"""Signs that two clauses of similar words oblige to different things.

Another force, party or act, or the opposite.
"""

from __future__ import annotations

from collections import Counter

from indexer.text.clauses.lexicon import Lexicon
from indexer.text.clauses.reading import Duty, Reading, contexts, said_names


def has_other_obligation(left: Reading, right: Reading, lexicon: Lexicon) -> bool:
    """Return whether a visible sign shows that two clauses do not oblige to the same.

    One denies more often than the other; the same verb stands with another force, or with the other
    party; one has a word and the other its opposite; two parties have changed places; or either
    obliges to an act that the other does not mention.
    """
    return (
        left.negations != right.negations
        or _have_opposites(left, right, lexicon)
        or _have_other_force(left, right)
        or _have_other_subject(left, right, lexicon)
        or _have_other_acts(left, right)
        or have_changed_places(left, right)
    )


def have_changed_places(left: Reading, right: Reading) -> bool:
    """Return whether two names that both clauses have stand in each other's place.

    Their places are known by the words beside them.
    """
    both = said_names(left.units).keys() & said_names(right.units).keys()
    if len(both) < 2:
        return False
    contexts_left, contexts_right = contexts(left.units), contexts(right.units)
    moved = set()
    for beside in contexts_left.keys() & contexts_right.keys():
        names_left, names_right = contexts_left[beside], contexts_right[beside]
        if len(names_left) == len(names_right) == 1 and names_left != names_right:
            moved.add((*names_left, *names_right))
    return any(a in both and b in both and (b, a) in moved for a, b in moved)


def _have_opposites(left: Reading, right: Reading, lexicon: Lexicon) -> bool:
    forms_left, forms_right = _opposable(left, lexicon), _opposable(right, lexicon)
    return any(
        lexicon.are_opposites(a, b)
        for a in forms_left - forms_right
        for b in forms_right - forms_left
    )


def _opposable(reading: Reading, lexicon: Lexicon) -> Counter[str]:
    return Counter(unit.form for unit in reading.units if unit.form in lexicon.opposable)


def _have_other_force(left: Reading, right: Reading) -> bool:
    """Return whether a verb has one force more often in left and another more often in right."""
    verbs_left, verbs_right = _by_verb(left), _by_verb(right)
    for verb in verbs_left.keys() & verbs_right.keys():
        forces_left, forces_right = _forces(verbs_left[verb]), _forces(verbs_right[verb])
        if forces_left - forces_right and forces_right - forces_left:
            return True
    return False


def _forces(duties: list[Duty]) -> Counter[str]:
    return Counter(duty.force for duty in duties)


def _have_other_subject(left: Reading, right: Reading, lexicon: Lexicon) -> bool:
    """Return whether a verb falls to one party in left and to another in right.

    Both clauses have to know both parties, or the parties are opposites.
    """
    verbs_left, verbs_right = _by_verb(left), _by_verb(right)
    names_left, names_right = said_names(left.units), said_names(right.units)
    for verb in verbs_left.keys() & verbs_right.keys():
        subjects_left, subjects_right = _subjects(verbs_left[verb]), _subjects(verbs_right[verb])
        if subjects_left & subjects_right:
            continue
        for a in subjects_left:
            for b in subjects_right:
                if lexicon.are_opposites(a, b) or (a in names_right and b in names_left):
                    return True
    return False


def _subjects(duties: list[Duty]) -> set[str]:
    return {duty.subject for duty in duties} - {""}


def _have_other_acts(left: Reading, right: Reading) -> bool:
    """Return whether either has an obligation most of whose terms the other does not have."""
    return _has_strange_act(left, right) and _has_strange_act(right, left)


def _has_strange_act(reading: Reading, other: Reading) -> bool:
    known = other.words | other.names
    for duty in reading.duties:
        strange = [term for term in duty.kernel if term not in known]
        if 2 * len(strange) > len(duty.kernel):
            return True
    return False


def _by_verb(reading: Reading) -> dict[str, list[Duty]]:
    duties: dict[str, list[Duty]] = {}
    for duty in reading.duties:
        if duty.kernel:
            duties.setdefault(duty.kernel[0], []).append(duty)
    return duties
