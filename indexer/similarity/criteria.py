"""Conditions on a pair beside the threshold of its measure, and the relation "rearranged"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import compress
from operator import ne
from typing import Any, Literal, TypeAlias

from indexer.defaults import REPLACED_AT_MOST
from indexer.errors import UsageError
from indexer.model import Row
from indexer.recipe import Recipe
from indexer.similarity.copy_key import copy_key
from indexer.similarity.differences import has_differences
from indexer.similarity.facts import stated_facts
from indexer.similarity.field_rules import (
    RuleValues,
    Window,
    check_fields,
    field_value,
    parse_windows,
)
from indexer.similarity.languages import two_languages
from indexer.similarity.measures import TextOperand, check_measure, measure_pair
from indexer.similarity.new_words import Rarity, measure_new_words
from indexer.similarity.parse_requirements import LIMITS, parse_requirements
from indexer.similarity.replacements import is_replaced
from indexer.text.word_numbers import Words
from indexer.text.words import words

Numbers: TypeAlias = Literal["ignore", "distinguish"]
KEYED = ("complete", "truncated")  # statuses of texts that near duplicates may hide
COMPARED = (*KEYED, "numbers_only")  # statuses of texts that are compared if they have keys
_TOLERANCE = 1e-9
_IN_ORDER = ("lcs", "lcs_misread")  # measures that align words
REARRANGED = 0.9  # least overlap of texts that are called rearranged


@dataclass(frozen=True, slots=True)
class Criteria:
    """Conditions that near duplicates meet beside the threshold of their measure.

    `numbers`: `distinguish` refuses a pair with any of the `differences` in facts that
    `indexer.similarity.facts` describes; `ignore` hides texts of
    numbers alone under similar ones too; None neither.
    `require`: (measure, least value) pairs that must all hold.
    `same`: fields of which both documents have the same value.
    `differ`: fields of which both have a value, and not the same.
    `window`: fields whose values are at most so far apart.
    `novelty`: most novelty of the words that only one of the texts has
    (`indexer.similarity.new_words`), by their frequencies in a store.
    `replaced`: most times that the same words may stand for the same other words
    (`indexer.similarity.replacements`), or words of one language for those of another
    (`indexer.similarity.languages`).

    Fields are those of `indexer.similarity.field_rules`. A document without a value for one of them
    meets no such rule: it has no near duplicate.

    False when there is no condition. Raises `UnknownMeasure`, and `UsageError` for a value that is
    not from 0 to 1, for a `novelty` or `replaced` below 0, and for a field that documents do not
    have.
    """

    numbers: Numbers | None = None
    require: tuple[tuple[str, float], ...] = ()
    same: tuple[str, ...] = ()
    differ: tuple[str, ...] = ()
    window: tuple[Window, ...] = ()
    novelty: float | None = None
    replaced: float | None = None

    def __post_init__(self) -> None:
        check_fields([*self.same, *self.differ])
        both = sorted({*self.same} & {*self.differ})
        if both:
            raise UsageError(
                f"no pair can have the same {both[0]} and different ones; "
                "leave out --same or --differ of it"
            )
        for name, least in self.require:
            check_measure(name)
            if not 0 <= least <= 1:
                raise UsageError(f"{name} must be required from 0 to 1, not {least}")
        for name, most in self._limits():
            if not most >= 0:
                raise UsageError(f"{name} is 0 or more, and cannot be at most {most:g}")

    def check_sketches(self, recipe: Recipe, measure: str) -> None:
        """Raise `UsageError` if a recipe lacks the sketches of `measure` or of a required one."""
        for name in (measure, *(required for required, _ in self.require)):
            kind = {"hamming": "SimHash", "estimate": "MinHash"}.get(name)
            sketch = recipe.simhash if name == "hamming" else recipe.minhash or recipe.terms
            if kind and not sketch:
                raise UsageError(
                    f"recipe {recipe.name} makes no {kind}, which {name} compares; "
                    "choose another measure, or reindex with a recipe that makes one: default_v1"
                )

    def __bool__(self) -> bool:
        is_limited = self.numbers == "distinguish" or bool(self._limits())
        return is_limited or bool(self.require or self.fields)

    def _limits(self) -> list[tuple[str, float]]:
        """Return the upper limits that are set, by name."""
        limits = zip(LIMITS, (self.novelty, self.replaced), strict=True)
        return [(name, most) for name, most in limits if most is not None]

    @property
    def folded(self) -> tuple[str, ...]:
        """The statuses of texts that are hidden under similar ones; others under equal ones only.

        A table of numbers that differs in one is another table.
        """
        return COMPARED if self.numbers == "ignore" else KEYED

    @property
    def needs_texts(self) -> bool:
        """True if more of a pair is compared than the words in order."""
        limited = self.numbers == "distinguish" or self.novelty is not None
        return limited or bool(self.require)

    @property
    def decides_copies(self) -> bool:
        """True if texts that are equal after normalisation may be told apart."""
        return self.numbers == "distinguish" or bool(self.fields)

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of the rules, in the order of their values."""
        return (*self.same, *self.differ, *(window.field for window in self.window))

    def values(self, row: Row) -> RuleValues:
        """Return what a document has in the fields of the rules."""
        values = [field_value(row, field) for field in (*self.same, *self.differ)]
        return (*values, *(window.value(row) for window in self.window))

    def allows(self, a: RuleValues, b: RuleValues) -> bool:
        """Return whether the values of two documents meet the rules."""
        if None in a or None in b:
            return False
        same = slice(len(self.same))
        differ = slice(same.stop, same.stop + len(self.differ))
        distances = zip(a[differ.stop :], b[differ.stop :], self.window, strict=True)
        return (
            a[same] == b[same]
            and all(map(ne, a[differ], b[differ]))
            and all(abs(x - y) <= window.limit for x, y, window in distances)
        )

    def settings(self) -> dict[str, Any]:
        """Return the conditions by the names of their options."""
        conditions = {
            "numbers": self.numbers or "",
            "require": self._requirements(),
            "same": list(self.same),
            "differ": list(self.differ),
            "window": list(map(str, self.window)),
        }
        return {name: value for name, value in conditions.items() if value}

    def _requirements(self) -> list[str]:
        most = [f"{name}<={limit:.12g}" for name, limit in self._limits()]
        return [*(f"{name}={least:g}" for name, least in self.require), *most]

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Criteria:
        """Return the conditions whose `settings` are among these."""
        require, limits = parse_requirements(settings.get("require", ()))
        return cls(
            settings.get("numbers"),
            require,
            tuple(settings.get("same", ())),
            tuple(settings.get("differ", ())),
            parse_windows(settings.get("window", ())),
            **limits,
        )

    def content_key(self, row: Row) -> str:
        """Return the key that copies have in common, whether their fields meet the rules or not.

        Copies have the same normalised text, or the same bytes without one. Under `distinguish`
        that is not enough, since "-5" and "5" are normalised to the same: texts with keys must be
        equal, and other texts must state the same facts.
        """
        if self.numbers != "distinguish" or not row.chars:
            return copy_key(row)
        if row.status in KEYED:
            return sha256(row.text.encode(errors="replace")).hexdigest()
        return repr((copy_key(row), stated_facts(row.text, words(row.text))))

    def text_key(self, row: Row) -> str:
        """Return the key that copies with the same values of the rules have in common.

        Rows whose own values break the rules, or are missing, share it with no other.
        """
        key = self.content_key(row)
        if not self.fields:
            return key
        values = self.values(row)
        return repr((key, values, "" if self.allows(values, values) else row.id))

    def accepts(self, a: TextOperand, b: TextOperand, rarity: Rarity | None = None) -> bool:
        """Return whether two texts meet the conditions on texts, as `accepts_each` does."""
        return self.accepts_each([(a, b)], rarity)[0]

    def accepts_words(self, a: Words, b: Words) -> bool:
        """Return whether the words of two texts meet the limit on replacements."""
        if self.replaced is None:
            return True
        return self.accepts_languages(a, b) and not is_replaced(a, b, self.replaced)

    def accepts_languages(self, a: Words, b: Words) -> bool:
        """Return whether words of one language stand for another's no more than that limit."""
        return self.replaced is None or two_languages(a, b).times <= self.replaced

    def accepts_each(
        self, pairs: Sequence[tuple[TextOperand, TextOperand]], rarity: Rarity | None = None
    ) -> list[bool]:
        """Return whether each pair of texts meets the conditions on texts.

        `rarity`: the frequencies of words, asked for all pairs together. Raises `UsageError` for
        `novelty` without them.
        """
        accepted = [self._accepts(a, b) for a, b in pairs]
        if self.novelty is None:
            return accepted
        if rarity is None:
            raise UsageError(
                "novelty needs the frequencies of words, which only a store counts; "
                "leave it out, or use nearfold match or nearfold group"
            )
        new = iter(measure_new_words(list(compress(pairs, accepted)), rarity))
        return [
            is_accepted and (next(new).novelty or 0.0) <= self.novelty + _TOLERANCE
            for is_accepted in accepted
        ]

    def _accepts(self, a: TextOperand, b: TextOperand) -> bool:
        if self.numbers == "distinguish" and has_differences(a.facts, b.facts):
            return False
        for name, least in self.require:
            if measure_pair(name, a, b, least=least).similarity < least:
                return False
        return self.accepts_words(a.words, b.words)


NO_CRITERIA = Criteria()


def for_folding(criteria: Criteria, measure: str) -> Criteria:
    """Return the criteria of folding by a measure, which hides documents.

    For measures of words in order `replaced` is at most `REPLACED_AT_MOST`, unless they limit it.
    """
    if criteria.replaced is not None or measure not in _IN_ORDER:
        return criteria
    return replace(criteria, replaced=REPLACED_AT_MOST)


def missing_field(fields: Iterable[str]) -> UsageError:
    """Return the error for fields of which no document has a value."""
    return UsageError(
        f"no document has a value of {', '.join(sorted(fields))} that the rules can compare; "
        "check the spelling, or leave the rule out"
    )


def is_rearranged(overlap: float, in_order: float, threshold: float) -> bool:
    """Return whether two texts share nearly all passages, but too few words in order.

    `overlap` is S_L, `in_order` the value of `lcs`.

    >>> is_rearranged(1.0, 0.5, 0.8), is_rearranged(1.0, 0.9, 0.8), is_rearranged(0.5, 0.5, 0.8)
    (True, False, False)
    """
    return overlap >= REARRANGED and in_order < threshold
