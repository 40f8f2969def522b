"""Conditions on a pair in addition to its threshold, and which of them a pair does not meet."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import compress
from operator import ne
from typing import Any, Literal, TypeAlias

import numpy as np

from indexer.comparing.alignment import (
    AlignedWords,
    Replacement,
    TwoLanguages,
    differ_in_plain_words,
    is_replaced,
    max_replaced,
    may_be_replaced,
    two_languages,
)
from indexer.comparing.differences import has_differences
from indexer.comparing.facts import FactSource
from indexer.comparing.marks import Comparison, may_separate, separates, states_other_facts
from indexer.comparing.measures import TextOperand, check_measure, measure_named, measure_pair
from indexer.comparing.reasons import (
    Rarity,
    copy_key,
    explain,
    format_differences,
    measure_new_words,
)
from indexer.comparing.words import Words, words
from indexer.defaults import MAX_REPLACED, POLICIES, PolicyName
from indexer.errors import MissingSketch, UsageError
from indexer.fingerprinting.fingerprint import content_digest, number_symbols
from indexer.fingerprinting.keys import EmbeddedDigests
from indexer.model import Row
from indexer.recipe import DEFAULT_V3, Recipe
from indexer.wording import count_of, format_marks, percent, percent_below

# The key that copies of a document share.


def stated_facts(text: str, words: Words) -> tuple[str, ...]:
    """Return what a text states, but for names, in order.

    Texts that normalise to the same state the same facts where these are equal.

    >>> stated_facts("NOT <-5 or $1,000", words("NOT <-5 or $1,000"))
    ('not', '<', '-5', '1000 $')
    """
    source = FactSource(text, words)
    values: list[str] = []
    for position in range(len(words) + 1):
        if symbol := source.symbols.get(position):
            values.append(symbol)
        fact = source.fact(position) if position < len(words) else None
        if fact and fact.kind != "name":
            values.append(fact.value)
    return tuple(values)


# The requirements of a pair as options write them: `MEASURE=VALUE`, `novelty<=N`.

LIMITS = ("novelty", "replaced")  # the requirements that are upper limits


def parse_requirements(
    texts: Sequence[str],
) -> tuple[tuple[tuple[str, float], ...], dict[str, float]]:
    """Return `MEASURE=VALUE` strings as pairs, and the minimum N of `NAME<=N` or `NAME=N` by name.

    A measure is at least its value, also if written `>=`; novelty and replaced are at most N.
    Raises `UsageError` for one that is not a name, a sign and a number.

    >>> parse_requirements(["resemblance=0.5", "novelty<=20"])
    ((('resemblance', 0.5),), {'novelty': 20.0})
    """
    pairs = []
    limits: dict[str, float] = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not name or math.isnan(number):
            raise UsageError(
                "a requirement is MEASURE=VALUE, for example resemblance=0.5, novelty<=N or "
                f"replaced<=N, not {text!r}"
            )
        symbol = name[-1] if name[-1] in "<>" else ""
        name = name.removesuffix(symbol).strip()
        if symbol and (name in LIMITS) != (symbol == "<"):
            raise UsageError(
                f"{text!r} cannot be required: measures are at least a value (lcs=0.9), "
                "novelty and replaced at most one (novelty<=20, replaced<=2)"
            )
        if name in LIMITS:
            limits[name] = min(number, limits.get(name, number))
        else:
            pairs.append((name, number))
    return tuple(pairs), limits


# Business rules: conditions on the fields of two documents.

ORDERED = ("path", "title", "date", "modified", "size", "words", "chars", "content_type", "status")
METADATA = "metadata."


def stored_value(row: Row, field: str) -> str | int | None:
    """Return what a row holds in a field of `ORDERED`, or in `metadata.NAME`."""
    if field.startswith(METADATA):
        return row.metadata.get(field.removeprefix(METADATA))
    value: str | int | None = getattr(row, field)
    return value


FIELDS = (*ORDERED, "labels")
NUMBERS = ("size", "words", "chars")
DAY = 24 * 3600
UNITS = {"m": 60, "h": 3600, "d": DAY, "w": 7 * DAY, "y": 366 * DAY}  # seconds
RuleValue: TypeAlias = str | float | None
Value: TypeAlias = str | int | None


RuleValues: TypeAlias = tuple[Any, ...]  # a `RuleValue` for each rule
_WINDOW = re.compile(r"(?P<field>.+)=(?P<distance>\d+(?:\.\d+)?)(?P<unit>[mhdwy]?)", re.DOTALL)
_ISO_TIME = re.compile(
    r"""(?P<time>\d{4}-\d\d-\d\d (?:[T\ ]\d\d:\d\d(?::\d\d)?)?) (?:[.,]\d+)?
    (?:Z | (?P<sign>[-+])(?P<hours>\d\d):?(?P<minutes>\d\d)?)?""",
    re.VERBOSE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Window:
    """The greatest distance of two values of a field: of times with a unit, else of numbers.

    Raises `UsageError` for an unknown field, and for a field that is no time or no number.
    """

    field: str
    distance: float
    unit: str = ""

    def __post_init__(self) -> None:
        check_fields([self.field])
        is_time = self.field in ("date", "modified")
        is_number = self.field in NUMBERS
        if not (is_time or is_number or self.field.startswith(METADATA)):
            raise UsageError(
                f"{self.field} is neither a time nor a number; a window is of date, modified, "
                f"{', '.join(NUMBERS)} or metadata.NAME"
            )
        if is_time and not self.unit:
            raise UsageError(
                f"{self.field} is a time: give a unit, as in {self.field}=7d (m, h, d, w, y)"
            )
        if is_number and self.unit:
            raise UsageError(f"{self.field} is a number: leave out the unit {self.unit}")

    def __str__(self) -> str:
        return f"{self.field}={self.distance:g}{self.unit}"

    @property
    def limit(self) -> float:
        """The distance, in seconds where it is of times."""
        return self.distance * UNITS.get(self.unit, 1)

    def value(self, row: Row) -> float | None:
        """Return the time or number of a document; None without one."""
        stored = stored_value(row, self.field)
        if self.field in ("date", "modified"):
            return None if stored is None else int(stored) / 1000
        return _timestamp(str(stored)) if self.unit else _number(str(stored))


def check_fields(fields: Sequence[str]) -> None:
    """Raise `UsageError` for a field that documents do not have."""
    for field in fields:
        if field not in FIELDS and not (field.startswith(METADATA) and field != METADATA):
            choices = ", ".join(FIELDS)
            raise UsageError(f"no document has a field {field!r}; choose {choices}, metadata.NAME")


def field_value(row: Row, field: str) -> RuleValue:
    """Return what a document has in a field; None without a value.

    Labels are compared as a whole: documents have the same if they carry exactly the same.
    """
    if field == "labels":
        return "\0".join(sorted(row.labels)) or None
    value = stored_value(row, field)
    return None if value == "" else value


def parse_windows(texts: Sequence[str]) -> tuple[Window, ...]:
    """Return `FIELD=DISTANCE` strings as windows.

    Raises `UsageError` for any other string.

    >>> parse_windows(["modified=7d"])
    (Window(field='modified', distance=7.0, unit='d'),)
    """
    windows = []
    for text in texts:
        match = _WINDOW.fullmatch(text)
        if not match:
            raise UsageError(
                "a window is FIELD=DISTANCE, for example modified=7d (m, h, d, w, y) or size=100, "
                f"not {text!r}"
            )
        windows.append(Window(match["field"], float(match["distance"]), match["unit"]))
    return tuple(windows)


def _timestamp(text: str) -> float | None:
    """Return an ISO 8601 date in seconds, UTC where it names no zone; None for another text.

    >>> _timestamp("1970-01-02"), _timestamp("1970-01-01T02:30:00.5+01:00"), _timestamp("May 2024")
    (86400.0, 5400.0, None)
    """
    match = _ISO_TIME.fullmatch(text.strip())
    if not match:
        return None
    try:
        local = np.datetime64(match["time"].replace(" ", "T"), "s").astype(np.int64)
    except ValueError:  # a month or a day that does not exist
        return None
    hours, minutes = int(match["hours"] or 0), int(match["minutes"] or 0)
    offset = 3600 * hours + 60 * minutes
    return float(local) - (-offset if match["sign"] == "-" else offset)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


Numbers: TypeAlias = Literal["ignore", "changed", "distinguish"]
KEYED = ("complete", "truncated")  # statuses of texts that near duplicates may hide
COMPARED = (*KEYED, "numbers_only")  # statuses of texts that are compared if they have keys
_TOLERANCE = 1e-9
RULES_VERSION = 26  # raise it when criteria refuse other pairs: `group` measures all pairs anew


@dataclass(frozen=True, slots=True)
class Criteria:
    """Conditions that near duplicates meet in addition to the threshold of their measure.

    `numbers`: `distinguish` refuses a pair with any difference in facts, such as numbers, names or
    negations; `changed` one in which a fact stands for another, as `states_other_facts` has it;
    `ignore` also hides texts of numbers alone under similar ones; None does none of these.
    `require`: (measure, minimum) pairs that must all hold.
    `same`: fields of which both documents have the same value.
    `differ`: fields of which both have a value, and not the same.
    `window`: fields whose values are at most so far apart.
    `policy`: the name of a policy, which refuses pairs by their marks; `strict` also any pair in
    which a fact differs.
    `novelty`: the maximum novelty of the words that only one of the texts has, by their
    frequencies in a store.
    `replaced`: how often the same words may stand for the same other words, or words of one
    language for words of another.

    A document without a value for one of the fields meets no such rule: it has no near duplicate.

    False when there is no condition. Raises `UsageError` for an unknown field, for a value that is
    not from 0 to 1, and for a `novelty` or `replaced` below 0; `UnknownMeasure` for a measure.
    """

    numbers: Numbers | None = None
    require: tuple[tuple[str, float], ...] = ()
    same: tuple[str, ...] = ()
    differ: tuple[str, ...] = ()
    window: tuple[Window, ...] = ()
    novelty: float | None = None
    replaced: float | None = None
    policy: PolicyName | None = None

    def __post_init__(self) -> None:
        if self.policy is not None and self.policy not in POLICIES:
            raise UsageError(f"no policy {self.policy!r}; choose {', '.join(POLICIES)}")
        if self.policy is not None and not POLICIES[self.policy].facts:
            object.__setattr__(self, "numbers", "distinguish")
        check_fields([*self.same, *self.differ])
        both = sorted({*self.same} & {*self.differ})
        if both:
            raise UsageError(
                f"no pair can have the same {both[0]} and different ones; "
                "leave out --same or --differ of it"
            )
        for name, minimum in self.require:
            check_measure(name)
            if not 0 <= minimum <= 1:
                raise UsageError(f"{name} must be required from 0 to 1, not {minimum}")
        for name, limit in self._limits():
            if not limit >= 0:
                raise UsageError(f"{name} is 0 or more, and cannot be at most {limit:g}")

    def check_sketches(self, recipe: Recipe, measure: str) -> None:
        """Raise `MissingSketch` if a recipe lacks the sketches of `measure` or of a required
        one."""
        for name in (measure, *(required for required, _ in self.require)):
            kind = measure_named(name).sketch
            sketch = recipe.simhash if kind == "SimHash" else recipe.minhash or recipe.terms
            if kind and not sketch:
                remedy = DEFAULT_V3.name
                raise MissingSketch(recipe=recipe.name, sketch=kind, measure=name, remedy=remedy)

    def __bool__(self) -> bool:
        is_read = self.needs_facts or self.reads_changes or self.reads_marks
        return is_read or bool(self.fields) or bool(self._limits())

    @property
    def reads_marks(self) -> bool:
        """True if marks refuse pairs."""
        return self.policy is not None and bool(POLICIES[self.policy].separates)

    @property
    def reads_changes(self) -> bool:
        """True if facts that stand for others refuse pairs, of texts of the same words too."""
        return self.numbers == "changed"

    def _limits(self) -> list[tuple[str, float]]:
        """Return the upper limits that are set, by name."""
        limits = zip(LIMITS, (self.novelty, self.replaced), strict=True)
        return [(name, limit) for name, limit in limits if limit is not None]

    @property
    def folded(self) -> tuple[str, ...]:
        """The statuses of texts that are hidden under similar ones; others under equal ones only.

        A table of numbers that differs in one is another table.
        """
        return COMPARED if self.numbers == "ignore" else KEYED

    @property
    def needs_facts(self) -> bool:
        """True if every pair is compared by more than its words."""
        limited = self.numbers == "distinguish" or self.novelty is not None
        return limited or bool(self.require)

    @property
    def decides_copies(self) -> bool:
        """True if texts that are equal after normalisation may be distinguished."""
        return self.numbers == "distinguish" or bool(self.fields)

    @property
    def reads_embedded(self) -> bool:
        """True if documents with other files in them are refused."""
        return self.policy is not None and "embedded" in POLICIES[self.policy].separates

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of the rules, in the order of their values."""
        return (*self.same, *self.differ, *(window.field for window in self.window))

    def values(self, row: Row) -> RuleValues:
        """Return what a document has in the fields of the rules, and the digests of the files and
        of the columns in it if they matter.
        """
        values = [field_value(row, field) for field in (*self.same, *self.differ)]
        values += [window.value(row) for window in self.window]
        if self.reads_embedded:
            values += EmbeddedDigests.of(row.embedded) if row.embedded else ("", "")
        return tuple(values)

    def allows(self, a: RuleValues, b: RuleValues) -> bool:
        """Return whether the values of two documents meet the rules."""
        if not (self.same or self.differ or self.window):
            return a == b or _have_same_files(a, b)
        if None in a or None in b:
            return False
        same = slice(len(self.same))
        differ = slice(same.stop, same.stop + len(self.differ))
        windows = slice(differ.stop, differ.stop + len(self.window))
        distances = zip(a[windows], b[windows], self.window, strict=True)
        return (
            a[same] == b[same]
            and _have_same_files(a[windows.stop :], b[windows.stop :])
            and all(map(ne, a[differ], b[differ]))
            and all(abs(x - y) <= window.limit for x, y, window in distances)
        )

    def settings(self) -> dict[str, Any]:
        """Return the conditions by the names of their options."""
        conditions = {
            "policy": self.policy or "",
            "numbers": self.numbers or "",
            "require": self._requirements(),
            "same": list(self.same),
            "differ": list(self.differ),
            "window": list(map(str, self.window)),
        }
        return {name: value for name, value in conditions.items() if value}

    def _requirements(self) -> list[str]:
        limit = [f"{name}<={limit:.12g}" for name, limit in self._limits()]
        return [*(f"{name}={minimum:g}" for name, minimum in self.require), *limit]

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
            policy=settings.get("policy"),
            **limits,
        )

    def content_key(self, row: Row) -> str:
        """Return the key that copies have in common, whether their fields meet the rules or not.

        Copies have the same normalised text, with the same signs in numbers, or the same bytes
        without one. Under `distinguish` that is not enough, since "-5" and "5" are normalised to
        the same: texts with keys must be equal, and other texts must state the same facts.
        """
        if not row.chars:
            return copy_key(row)
        if self.numbers != "distinguish":
            signs = number_symbols(row.text)
            return f"{copy_key(row)} {signs}" if signs else copy_key(row)
        if row.status in KEYED:
            text = sha256(row.text.encode(errors="replace")).hexdigest()
            return content_digest(text, row.embedded)
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

    def accepts_by_words(self, a: Words, b: Words) -> bool | AlignedWords:
        """Return whether two texts meet the conditions, or their words aligned, for
        `accepts_texts`, if these do not say it.
        """
        pair = AlignedWords(a, b)
        if pair.may_have_two_languages and not self.accepts_languages(pair.a, pair.b):
            return False
        is_open = self.needs_facts or self.reads_changes or self._may_be_replaced(pair)
        return pair if is_open or (self.reads_marks and may_separate(pair)) else True

    def accepts_texts(self, pair: AlignedWords, a: TextOperand, b: TextOperand) -> bool:
        """Return whether texts of words in one language meet the limit, the policy and `changed`.

        `pair`: their words, which `accepts_by_words` has aligned.
        """
        compared = Comparison(a, b) if self.reads_changes else None
        if compared and states_other_facts(compared):
            return False
        if self._may_be_replaced(pair) and not self.accepts_replacements(a, b, pair):
            return False
        reads_accents = self.policy == "strict" and not (a.text.isascii() and b.text.isascii())
        reads_marks = self.reads_marks and (reads_accents or may_separate(pair))
        return not reads_marks or not self._separates(compared or Comparison(a, b))

    def _may_be_replaced(self, pair: AlignedWords) -> bool:
        return self.replaced is not None and may_be_replaced(pair, self.replaced)

    def accepts_replacements(
        self, a: TextOperand, b: TextOperand, pair: AlignedWords | None = None
    ) -> bool:
        """Return whether words are replaced no more often than the limit."""
        return self.replaced is None or not is_replaced(a, b, self.replaced, pair)

    def accepts_languages(self, a: Words, b: Words) -> bool:
        """Return whether words of one language stand for another's no more than that limit."""
        return self.refused_languages(a, b) is None

    def refused_languages(self, a: Words, b: Words) -> TwoLanguages | None:
        """Return the languages whose words stand for each other more than the limit, or None."""
        if self.replaced is None:
            return None
        found = two_languages(a, b)
        return found if found.times > self.replaced else None

    def refused_replacement(self, a: TextOperand, b: TextOperand) -> Replacement | None:
        """Return the words that are replaced more often than the limit, or None."""
        return None if self.accepts_replacements(a, b) else max_replaced(a, b)

    def accepts_each(
        self,
        pairs: Sequence[tuple[TextOperand, TextOperand]],
        rarity: Rarity | None = None,
        *,
        are_changed: bool = False,
    ) -> list[bool]:
        """Return whether each pair of texts meets the conditions on texts.

        `rarity`: the frequencies of words, asked for all pairs together. `are_changed`: more than
        plain words differ, as `accepts_change` has found. Raises `UsageError` for
        `novelty` without them.
        """
        accepts = self._accepts_facts if are_changed else self._accepts
        accepted = [accepts(a, b) for a, b in pairs]
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

    def accepts_change(self, a: str, b: str) -> bool:
        """Return whether no more than plain words differ, which meets the conditions on texts."""
        if self.needs_facts:
            return False
        return differ_in_plain_words(a, b, self.replaced, self.reads_changes)

    def _accepts(self, a: TextOperand, b: TextOperand) -> bool:
        return self.accepts_change(a.text, b.text) or self._accepts_facts(a, b)

    def _accepts_facts(self, a: TextOperand, b: TextOperand) -> bool:
        if self.numbers == "distinguish" and has_differences(a.facts, b.facts):
            return False
        for name, minimum in self.require:
            if measure_pair(name, a, b, minimum=minimum).similarity < minimum:
                return False
        pair = AlignedWords(a.words, b.words)
        if pair.may_have_two_languages and not self.accepts_languages(pair.a, pair.b):
            return False
        return self.accepts_texts(pair, a, b)

    def refusal(self, a: TextOperand, b: TextOperand, rarity: Rarity | None = None) -> str:
        """Return the condition on texts that a pair does not meet, empty if it meets all of them.

        >>> from indexer.comparing.measures import ComparedText
        >>> from indexer.recipe import DEFAULT
        >>> a = ComparedText("The tenant may assign this lease to an affiliate.", DEFAULT)
        >>> b = ComparedText("The tenant may not assign this lease to an affiliate.", DEFAULT)
        >>> Criteria(policy="standard").refusal(a, b)
        'negated: – / not'
        """
        if self.accepts(a, b, rarity):
            return ""
        states_others = self.reads_changes and states_other_facts(Comparison(a, b))
        is_distinguished = self.numbers == "distinguish" and has_differences(a.facts, b.facts)
        if states_others or is_distinguished:
            return "; ".join(format_differences(explain(a, b).facts)) or "other facts"
        for name, minimum in self.require:
            value = measure_pair(name, a, b).similarity
            if value < minimum:
                found = percent_below(value, minimum)
                return f"{name} is {found}, and {percent(minimum)} is required"
        return self._replacement(a, b) or self._separating_marks(a, b) or "new words"

    def _replacement(self, a: TextOperand, b: TextOperand) -> str:
        if languages := self.refused_languages(a.words, b.words):
            return f"{count_of(languages.times, 'word')} of another language"
        made = self.refused_replacement(a, b)
        return f"“{made.b}” stands for “{made.a}” {count_of(made.times, 'time')}" if made else ""

    def _separating_marks(self, a: TextOperand, b: TextOperand) -> str:
        if self.policy is None:
            return ""
        separating = POLICIES[self.policy].separates
        marks = [mark for mark in explain(a, b).marks if mark.kind in separating]
        return ", ".join(
            f"negated: {mark.a or '–'} / {mark.b or '–'}"
            if mark.kind == "negated"
            else format_marks([mark])
            for mark in marks
        )

    def accepts_marks(self, a: TextOperand, b: TextOperand) -> bool:
        """Return whether the policy folds two texts, whatever else differs."""
        return not self._separates(Comparison(a, b))

    def _separates(self, pair: Comparison) -> bool:
        return self.policy is not None and separates(self.policy, pair)


def _have_same_files(a: RuleValues, b: RuleValues) -> bool:
    """Return whether the digests of what two documents hold are of copies; empty without rules."""
    if len(a) == len(b) == len(EmbeddedDigests._fields):
        return EmbeddedDigests(*a).allow(EmbeddedDigests(*b))
    return a == b


NO_CRITERIA = Criteria()


def for_folding(criteria: Criteria, measure: str) -> Criteria:
    """Return the criteria of folding by a measure, which hides documents.

    For measures of words in order the policy is `standard` unless one is given, and `replaced` is
    at most `MAX_REPLACED` unless they limit it or the policy allows more.
    """
    if not measure_named(measure).is_in_order:
        return criteria
    policy = criteria.policy or "standard"
    limit = criteria.replaced
    if limit is None and not POLICIES[policy].replaced:
        limit = MAX_REPLACED
    return replace(criteria, policy=policy, replaced=limit)


def policy_threshold(criteria: Criteria) -> float:
    """Return the threshold of folding where none is given: that of the policy."""
    return POLICIES[criteria.policy or "standard"].threshold


def missing_field(fields: Iterable[str]) -> UsageError:
    """Return the error for fields of which no document has a value."""
    return UsageError(
        f"no document has a value of {', '.join(sorted(fields))} that the rules can compare; "
        "check the spelling, or leave the rule out"
    )
