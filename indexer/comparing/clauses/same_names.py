"""Names that parsing divides, recognised by their position in another clause.

No form alone shows that "Wm. Wrigley Jr. Company", "Marks and Spencer Group plc" or "abrdn plc" is
one name: a full stop, a small word or a small letter divides it. Where two clauses are the same but
for a run of such pieces in the other, each run is one name, or one amount.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import NamedTuple

from indexer.comparing.clauses.body import is_heading_word
from indexer.comparing.clauses.clause_terms import NAME, ParsedClause, Unit
from indexer.comparing.clauses.lexicon import (
    COMPANY_FORMS,
    FUNCTION,
    NAME_SUFFIXES,
    ORGANISATIONS,
    PARTICLES,
    Lexicon,
)
from indexer.fingerprinting.rare_terms import lengths_agree

_LONGEST = 12  # units of one name
_MAX_JOINED = 1000  # units of a clause whose names are joined
_INSIDE = PARTICLES | {"and"}
_SOLID = frozenset([NAME, "address"])
_NUMBERS = frozenset(["number", "reference"])
_FORMS = COMPANY_FORMS | {"company"}
_ENDS = COMPANY_FORMS | NAME_SUFFIXES | ORGANISATIONS


class _Span(NamedTuple):
    """A difference: units [left, left_end) of one clause opposite [right, right_end) of another."""

    left: int
    left_end: int
    right: int
    right_end: int


def are_same(left: Unit, right: Unit) -> bool:
    """Return whether two units are the same word, or slots of the same kind."""
    return left.form == right.form or (left.kind == right.kind and left.kind not in {"", "formula"})


def are_same_but_for_slots(left: ParsedClause, right: ParsedClause) -> bool:
    """Return whether two clauses have the same canonical words and kinds of slots, in order."""
    return len(left.units) == len(right.units) and all(map(are_same, left.units, right.units))


def with_same_units(
    left: ParsedClause, right: ParsedClause, lexicon: Lexicon
) -> tuple[ParsedClause, ParsedClause] | None:
    """Return both parses, with names that each shows in the other, where slots alone differ."""
    if are_same_but_for_slots(left, right):
        return left, right
    if len(left.units) != len(right.units) and not lengths_agree(left.length, right.length):
        return None
    joined = with_joined_names(left, right, lexicon)
    if joined and are_same_but_for_slots(*joined):
        return joined
    if left.is_shouted != right.is_shouted:
        named = _with_same_names(left, right)
        return named if are_same_but_for_slots(*named) else None
    return None


def _with_same_names(left: ParsedClause, right: ParsedClause) -> tuple[ParsedClause, ParsedClause]:
    """Return both parses; the text in capitals takes the names of the other."""
    if left.is_shouted:
        return with_names_of(left, right), right
    return left, with_names_of(right, left)


def with_joined_names(
    left: ParsedClause, right: ParsedClause, lexicon: Lexicon
) -> tuple[ParsedClause, ParsedClause] | None:
    """Return both parses with each run of pieces as one unit.

    None where nothing is joined, or the clauses differ in anything but names and amounts.
    """
    if max(len(left.units), len(right.units)) > _MAX_JOINED:
        return None
    is_shouted = left.is_shouted and right.is_shouted
    joined: list[tuple[_Span, str]] = []
    for span in _differences(left.units, right.units):
        a, b = left.units[span.left : span.left_end], right.units[span.right : span.right_end]
        if len(a) == len(b) and all(map(are_same, a, b)):
            continue
        kind = _kind(a, b, lexicon, is_shouted)
        if not kind:
            return None
        joined.append((span, kind))
    if not joined:
        return None
    positions_left = [(span.left, span.left_end, kind) for span, kind in joined]
    positions_right = [(span.right, span.right_end, kind) for span, kind in joined]
    return _joined(left, positions_left), _joined(right, positions_right)


def _differences(left: Sequence[Unit], right: Sequence[Unit]) -> list[_Span]:
    """Return the differences in order; one that is empty in a clause takes a neighbouring slot."""
    forms_left = [unit.form for unit in left]
    forms_right = [unit.form for unit in right]
    matcher = SequenceMatcher(None, forms_left, forms_right, autojunk=False)
    spans: list[_Span] = []
    for tag, *position in matcher.get_opcodes():
        if tag == "equal":
            continue
        span = _widened(_Span(*position), left) if tag != "replace" else _Span(*position)
        if spans and span.left < spans[-1].left_end:
            before = spans.pop()
            span = _Span(before.left, span.left_end, before.right, span.right_end)
        spans.append(span)
    return spans


def _widened(span: _Span, left: Sequence[Unit]) -> _Span:
    if span.left_end < len(left) and left[span.left_end].kind:
        return span._replace(left_end=span.left_end + 1, right_end=span.right_end + 1)
    if span.left and left[span.left - 1].kind:
        return span._replace(left=span.left - 1, right=span.right - 1)
    return span


def _kind(a: Sequence[Unit], b: Sequence[Unit], lexicon: Lexicon, is_shouted: bool) -> str:
    """Return the kind of the slot that both runs are, empty where they are none."""
    if not a or not b or max(len(a), len(b)) > _LONGEST:
        return ""
    if _has_two_firms(a) or _has_two_firms(b):
        return ""
    if all(map(_is_amount, (a, b))):
        return "money"
    if all(map(_is_date, (a, b))):
        return "date"
    if is_shouted:
        both = [_is_shouted_name(run, lexicon) for run in (a, b)]
        is_name = any(both) and all(
            is_form or _is_unknown(run, lexicon) for is_form, run in zip(both, (a, b), strict=True)
        )
    else:
        is_name = all(_is_name(run, lexicon) for run in (a, b))
    return NAME if is_name else ""


def _is_amount(run: Sequence[Unit]) -> bool:
    kinds = [unit.kind for unit in run]
    return set(kinds) <= {"money", "number", NAME} and (
        kinds[0] == "money" or (len(run) > 1 and kinds[0] == NAME and NAME not in kinds[1:])
    )


def _is_date(run: Sequence[Unit]) -> bool:
    return [unit.kind for unit in run] in (["date"], [NAME, "number", "number"])


def _is_name(run: Sequence[Unit], lexicon: Lexicon) -> bool:
    """Return whether all units of a run are pieces of one name, and one of them clearly is."""
    if not any(unit.kind in _SOLID or _is_form(unit) for unit in run):
        return False
    if len(run) > 1 and any(_is_party(unit, lexicon) for unit in run):
        return False
    if run[0].form in _INSIDE or run[-1].form in _INSIDE:
        return False
    return all(_is_piece(position, run) for position in range(len(run)))


def _is_piece(position: int, run: Sequence[Unit]) -> bool:
    """Return whether a unit can stand in a name.

    A word in small letters can before the form of a company, "abrdn plc", and before one that does;
    the first word of a sentence can before a name.
    """
    unit = run[position]
    if unit.kind in _SOLID or unit.kind in _NUMBERS:
        return True
    if unit.kind:
        return False
    if unit.form in _INSIDE or unit.capital == "inside" or _is_symbol(unit) or _is_form(unit):
        return True
    after = run[position + 1 : position + 3]
    if unit.capital == "opening":
        is_list = position == 0 and run[-1].kind == NAME and after[:1] and after[0].form in _INSIDE
        return is_list or any(next_.kind in _SOLID or _is_symbol(next_) for next_ in after[:1])
    is_small = unit.form not in FUNCTION and not is_heading_word(unit.words[0])
    return is_small and any(next_.words[0] in COMPANY_FORMS for next_ in after)


def _is_form(unit: Unit) -> bool:
    return bool(unit.words) and unit.words[-1] in _FORMS and unit.kind in {"", NAME}


def _is_symbol(unit: Unit) -> bool:
    """Return whether a word is initials, a letter, or has a figure: "e.l.f.", "58.com"."""
    word = unit.words[0] if unit.words else ""
    is_odd = "." in word or not word.isalpha() or len(word) == 1
    return is_odd and unit.form not in FUNCTION


def _is_party(unit: Unit, lexicon: Lexicon) -> bool:
    """Return whether a unit is a party by what it does: "the Lender", no "Company" of a firm."""
    if unit.form in lexicon.parties:
        return unit.words[-1:] != ("company",)
    return False


def _has_two_firms(run: Sequence[Unit]) -> bool:
    """Return whether more than one piece is a whole firm: "Acme Ltd and Zenith plc"."""
    firms = [unit for unit in run if _is_form(unit) and unit.kind == NAME and len(unit.words) > 1]
    whole = [unit for unit in firms if not _FORMS.issuperset(unit.words)]
    return len(whole) > 1


def _is_shouted_name(run: Sequence[Unit], lexicon: Lexicon) -> bool:
    """Return whether a run in capitals ends in the form of a company, or is read as a name."""
    if len(run) == 1 and run[0].kind in _SOLID:
        return True
    last = run[-1].words[-1:] if run[-1].words else ()
    is_firm = bool(_FORMS.intersection(last)) and _may_be_name(run, lexicon)
    return is_firm and any(unit.kind or _is_unknown([unit], lexicon) for unit in run[:-1])


def _is_unknown(run: Sequence[Unit], lexicon: Lexicon) -> bool:
    """Return whether words in capitals are no words of contracts, but for what ends names."""
    words = [word for unit in run if not unit.kind for word in unit.words if word not in _INSIDE]
    known = [word for word in words if word not in _ENDS and is_heading_word(word)]
    return _may_be_name(run, lexicon) and not known


def _may_be_name(run: Sequence[Unit], lexicon: Lexicon) -> bool:
    """Return whether a run in capitals has no party, and no function word but inside."""
    words = [word for unit in run if not unit.kind for word in unit.words]
    return (
        all(unit.kind in {"", *_SOLID, *_NUMBERS} for unit in run)
        and not any(_is_party(unit, lexicon) for unit in run)
        and all(word in _INSIDE or word not in FUNCTION for word in words)
        and run[0].form not in _INSIDE
    )


def _joined(clause: ParsedClause, spans: Sequence[tuple[int, int, str]]) -> ParsedClause:
    """Return a parse with these runs of units as slots."""
    units: list[Unit] = []
    names: set[str] = set(clause.names)
    at = 0
    for start, end, kind in spans:
        units += clause.units[at:start]
        run = clause.units[start:end]
        words = tuple(word for unit in run for word in unit.words)
        units.append(Unit(kind, "_".join(unit.form for unit in run), words, words))
        names.update(unit.form for unit in run)
        at = end
    units += clause.units[at:]
    words_left = {unit.form for unit in units if not unit.kind}
    return replace(
        clause,
        units=tuple(units),
        words=clause.words & words_left,
        names=frozenset(names),
    )


# A clause in capitals compared with one in sentence case, which shows its names.

_MAX_UNITS = {NAME: 8, "address": 12}  # units of a text in capitals that one slot stands for


def with_names_of(shouted: ParsedClause, cased: ParsedClause) -> ParsedClause:
    """Return the parse of a text in capitals with the names and addresses of another parse.

    Unchanged where the two have other words outside those slots.
    """
    # ends[position][end]: the end after the unit before, where units up to `position` reach `end`
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
    for position in range(len(cased.units), 0, -1):
        start = ends[position][end]
        units.append(_unit(cased.units[position - 1], shouted.units[start:end]))
        end = start
    return replace(shouted, units=tuple(reversed(units)))


def _ends(unit: Unit, units: tuple[Unit, ...], start: int) -> list[int]:
    """Return the positions where the counterpart of a unit may end that begins at a position."""
    if start == len(units):
        return []
    first = units[start]
    ends = [start + 1] if first.form == unit.form or first.kind == unit.kind else []
    if not unit.kind:
        return ends if first.form == unit.form else []
    for end in range(start + 1, min(len(units), start + _MAX_UNITS.get(unit.kind, 0)) + 1):
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
