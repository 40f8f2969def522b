"""Result sets of clauses with synthetic duplicates of every type and synthetic hard negatives; the
same for the same seed.

Bases are contract clauses of our own, formulas, and paragraphs of the licences and copyright files
of this system. Half of the bases, whichever way they are changed, are for fixing parameters
(`train`), the other half for reporting (`test`).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import cycle
from pathlib import Path

from clausechanges import (
    Change,
    add_heading,
    change_force,
    deny,
    fill_slots,
    fuzzy,
    identical,
    near_identical,
    numbers,
    replace_by_opposite,
    synonymous,
    values,
)
from clausetemplates import CLAUSES, FORMULAS
from clausevocabulary import KNOWN, UNKNOWN

LICENCES = (Path("/usr/share/common-licenses"), Path("/usr/share/doc"))
DUPLICATES = ("identical", "near_identical", "fuzzy")
NEGATIVES = ("other_force", "denied", "opposite", "roles", "other_body", "formula")
GROUPS_A_RESULT = 8


@dataclass(frozen=True)
class Group:
    """A clause and what was made of it. `kind`: the duplicate type, or the hard negative; `words`:
    whose synonyms it has.
    """

    kind: str
    base: str
    texts: tuple[str, ...]
    words: str = ""


@dataclass
class Result:
    """One result set: clauses in rank order, and the true groups as places."""

    clauses: list[tuple[str, str]] = field(default_factory=list)
    groups: list[tuple[Group, tuple[int, ...]]] = field(default_factory=list)


@dataclass(frozen=True)
class Base:
    """Where clauses are made from: a template by its place, or a paragraph."""

    name: str
    template: tuple[str, str, str, str] | None = None
    formula: tuple[str, str] | None = None
    text: str = ""

    def write(self, random_: random.Random) -> str:
        if self.template:
            heading, obligation, _, boilerplate = self.template
            return add_heading(
                heading, fill_slots(f"{obligation} {boilerplate}", values(random_)), random_
            )
        return self.text


def results(half: str, sets: int, seed: int = 1) -> list[Result]:
    """Result sets of one half (`train`, `test`), with at least `sets` groups of each duplicate type
    and of hard negatives.
    """
    random_ = random.Random(f"{seed} {half}")
    bases = [
        base for place, base in enumerate(all_bases()) if (place % 2 == 0) == (half == "train")
    ]
    groups = [*_duplicates(bases, sets, random_), *_negatives(bases, sets, random_)]
    random_.shuffle(groups)
    return _arrange(groups, random_)


def all_bases() -> list[Base]:
    """Return every base: templates, formulas, paragraphs."""
    templates = [
        Base(f"clause {place}", template=template) for place, template in enumerate(CLAUSES)
    ]
    formulas = [
        Base(f"formula {place}", formula=template) for place, template in enumerate(FORMULAS)
    ]
    return [
        *templates,
        *formulas,
        *(Base(f"paragraph {place}", text=text) for place, text in enumerate(paragraphs())),
    ]


@cache
def paragraphs(most: int = 240) -> tuple[str, ...]:
    """Paragraphs of licences with words of obligation, no two with half of their words in
    common.
    """
    paragraphs_kept: list[str] = []
    vocabularies: list[set[str]] = []
    for path in sorted([*LICENCES[0].glob("*"), *LICENCES[1].glob("*/copyright")]):
        if path.is_symlink() or not path.is_file():
            continue
        for paragraph in re.split(r"\n[ .]*\n", path.read_text(encoding="utf-8", errors="replace")):
            text = " ".join(paragraph.split())
            words = set(re.findall(r"[a-z]+", text.lower()))
            plain = 40 <= len(text.split()) <= 200 and len(re.findall(r"[a-z ]", text)) > 0.9 * len(
                text
            )
            if (
                plain
                and re.search(r"\b(?:shall|may|must)\b", text)
                and not any(_alike(words, vocabulary) for vocabulary in vocabularies)
            ):
                paragraphs_kept.append(text)
                vocabularies.append(words)
            if len(paragraphs_kept) == most:
                return tuple(paragraphs_kept)
    return tuple(paragraphs_kept)


def holds(left: str, right: str) -> bool:
    """Table 2 to the letter: lengths within 20 %, and 80 % of the words of one text in the
    other.
    """
    left_words, right_words = (re.findall(r"[a-z0-9]+", text.lower()) for text in (left, right))
    shorter, longer = sorted((len(left_words), len(right_words)))
    shared = len(set(left_words) & set(right_words))
    fewer = min(len(set(left_words)), len(set(right_words)))
    return shorter >= 0.8 * longer and shared >= 0.8 * fewer


def _alike(left: set[str], right: set[str]) -> bool:
    return 2 * len(left & right) > len(left | right)


def _duplicates(bases: list[Base], sets: int, random_: random.Random) -> Iterator[Group]:
    prose = [base for base in bases if not base.formula]
    for kind in DUPLICATES:
        count = 0
        for base in cycle(prose):
            group = _duplicate(kind, base, count, random_)
            if group:
                yield group
                count += 1
            if count >= sets:
                break


def _duplicate(kind: str, base: Base, number: int, random_: random.Random) -> Group | None:
    """A group of two or three; every other one with synonyms that the detector's list does not
    have.
    """
    text = base.write(random_)
    table = (KNOWN, UNKNOWN)[number % 2]
    words = ("known", "unknown")[number % 2]
    members = [text]
    for _ in range(random_.choice([1, 1, 2])):
        if kind == "identical":
            members.append(identical(text, random_))
        elif kind == "near_identical":
            renamed = base.write(random_) if base.template else near_identical(text, random_)
            members.append(
                synonymous(table, 0.04)(renamed, random_) if random_.random() < 0.5 else renamed
            )
        else:
            members.append(fuzzy(table)(text, random_))
    if len(set(members)) < len(members) or (
        kind == "fuzzy" and not all(holds(text, member) for member in members)
    ):
        return None
    return Group(kind, base.name, tuple(members), words if kind != "identical" else "")


def _negatives(bases: list[Base], sets: int, random_: random.Random) -> Iterator[Group]:
    count = 0
    changes: dict[str, Change] = {
        "other_force": change_force,
        "denied": deny,
        "opposite": replace_by_opposite,
    }
    templates, formulas = (
        [base for base in bases if base.template],
        [base for base in bases if base.formula],
    )
    any_base, any_template, any_formula = cycle(bases), cycle(templates), cycle(formulas)
    for kind in cycle(NEGATIVES):
        if kind in changes:
            base = next(any_base)
            text = base.write(random_) if not base.formula else _formula(base, numbers(random_))
            changed = changes[kind](text, random_)
        elif kind == "formula":
            base = next(any_formula)
            text, changed = _one_number(base, random_)
        else:
            base = next(any_template)
            text, changed = _other_template(base, kind, random_)
        if text != changed:
            yield Group(kind, base.name, (text, changed))
            count += 1
        if count >= sets:
            return


def _formula(base: Base, figures: dict[str, str]) -> str:
    assert base.formula
    return f"{base.formula[0]}. {base.formula[1].format_map(figures)}"


def _one_number(base: Base, random_: random.Random) -> tuple[str, str]:
    assert base.formula
    figures, other_figures = numbers(random_), numbers(random_)
    used = [name for name in figures if f"{{{name}}}" in base.formula[1]]
    name = random_.choice(used)
    return _formula(base, figures), _formula(base, {**figures, name: other_figures[name]})


def _other_template(base: Base, kind: str, random_: random.Random) -> tuple[str, str]:
    """The same clause with the parties in each other's place, or with the other obligation under
    the same heading.
    """
    assert base.template
    heading, obligation, other_obligation, boilerplate = base.template
    slots = values(random_)
    swapped = {**slots, "A": slots["B"], "B": slots["A"]} if kind == "roles" else slots
    second = obligation if kind == "roles" else other_obligation
    if kind == "roles" and not ("{A}" in obligation and "{B}" in obligation):
        return "", ""
    return (
        add_heading(heading, fill_slots(f"{obligation} {boilerplate}", slots), random_),
        add_heading(heading, fill_slots(f"{second} {boilerplate}", swapped), random_),
    )


def _arrange(groups: list[Group], random_: random.Random) -> list[Result]:
    """Groups dealt to result sets, no base twice in one."""
    dealt: list[list[Group]] = []
    for group in groups:
        for hand in dealt:
            if len(hand) < GROUPS_A_RESULT and group.base not in {placed.base for placed in hand}:
                hand.append(group)
                break
        else:
            dealt.append([group])
    return [_rank(hand, random_) for hand in dealt]


def _rank(hand: list[Group], random_: random.Random) -> Result:
    slots = [(group, place) for group in hand for place in range(len(group.texts))]
    random_.shuffle(slots)
    result = Result([(str(rank), group.texts[place]) for rank, (group, place) in enumerate(slots)])
    rank_of = {(id(group), place): rank for rank, (group, place) in enumerate(slots)}
    for group in hand:
        result.groups.append(
            (group, tuple(rank_of[id(group), place] for place in range(len(group.texts))))
        )
    return result
