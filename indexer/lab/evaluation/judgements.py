"""Values of an evaluation: judged pairs and sets, sheets of assessors, documents that they name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from indexer.statistics.kappa import (
    Kappa,
    MeanKappa,
)
from indexer.statistics.precision_recall import ordered_pair

IDENTICAL, NEAR_IDENTICAL, FUZZY, DUPLICATE, DIFFERENT = (
    "identical",
    "near-identical",
    "fuzzy",
    "duplicate",
    "different",
)


DUPLICATES = (IDENTICAL, NEAR_IDENTICAL, FUZZY, DUPLICATE)


TYPES = (*DUPLICATES, "contained", DIFFERENT)


UNSURE = "unsure"  # an answer of an assessor who gives no type


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """One judged pair as written. `group` is the query or result set that it belongs to, `kind`
    the change that made it, `place` its file and line.
    """

    a: str
    b: str
    type: str
    group: str
    kind: str
    place: str

    @property
    def pair(self) -> tuple[str, str]:
        """Return both names in sorted order."""
        return ordered_pair(self.a, self.b)


@dataclass(frozen=True, slots=True)
class GoldSet:
    """Documents that were judged to be duplicates of one another."""

    documents: tuple[str, ...]
    type: str
    group: str
    place: str


@dataclass(frozen=True, slots=True)
class Gold:
    """The ground truth about some documents, each pair once.

    `closed`: unlisted pairs of documents of the same group are not duplicates; else they are
    unknown. `folder`: the base of relative paths.
    """

    pairs: tuple[LabelledPair, ...]
    sets: tuple[GoldSet, ...]
    closed: bool
    folder: str

    @property
    def documents(self) -> tuple[str, ...]:
        """Return every name, sorted."""
        names = {name for labelled in self.pairs for name in labelled.pair}
        names.update(name for gold_set in self.sets for name in gold_set.documents)
        return tuple(sorted(names))


Role: TypeAlias = Literal["assessor", "arbiter"]


ROLES: Mapping[str, Role] = {"assessor": "assessor", "arbiter": "arbiter"}


@dataclass(frozen=True, slots=True)
class Judgement:
    """The type that one assessor gives one pair, or `UNSURE`; `place` is its file and line, `note`
    what the assessor wrote about it.
    """

    a: str
    b: str
    type: str
    group: str
    place: str
    note: str = ""


@dataclass(frozen=True)
class Sheet:
    """The judgements of one assessor, by pair. An arbiter judges where others disagree.

    `answers`: the judgements and the pairs that the assessor is unsure of, the last one last.
    """

    assessor: str
    role: Role
    folder: str
    judgements: dict[tuple[str, str], Judgement] = field(default_factory=dict)
    answers: dict[tuple[str, str], Judgement] = field(default_factory=dict)

    def put(self, answer: Judgement) -> None:
        """Set the answer for a pair in place of an earlier one."""
        pair = ordered_pair(answer.a, answer.b)
        self.withdraw(pair)
        self.answers[pair] = answer
        if answer.type != UNSURE:
            self.judgements[pair] = answer

    def withdraw(self, pair: tuple[str, str]) -> None:
        """Remove the answer for a pair, if there is one."""
        self.answers.pop(pair, None)
        self.judgements.pop(pair, None)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair that assessors judge differently, or that one is unsure of: their judgements by name,
    and the settled `type`; None when unsettled. `notes`: what they wrote about it, by name.
    """

    a: str
    b: str
    judgements: Mapping[str, str]
    type: str | None
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Resolution:
    """The gold set of some sheets, and the disagreements of assessors. `alone`: number of pairs
    that only one assessor judged.
    """

    gold: Gold
    disagreements: tuple[Disagreement, ...]
    alone: int

    @property
    def unsettled(self) -> int:
        """Return the number of unsettled disagreements; these pairs are not in the gold set."""
        return sum(disagreement.type is None for disagreement in self.disagreements)


@dataclass(frozen=True, slots=True)
class GoldDocument:
    """A document. `key` identifies it whatever its name: its id if it is `stored`, else its real
    path.
    """

    key: str
    path: str
    text: str
    stored: bool


@dataclass(frozen=True, slots=True)
class MeasuredAgreement:
    """Agreement on one question.

    `pooled` is the kappa of one table of all pairs, which the paper calls macro-averaged;
    `by_group` is the mean of the kappas of the groups, which it calls micro-averaged. `corrected`
    has the variance of 1979; `cohen` is None unless there are two raters.
    """

    pooled: Kappa
    corrected: Kappa
    by_group: MeanKappa
    cohen: Kappa | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of assessors on the pairs that all of them judged; `left_out` counts the others.

    `duplicate`: on whether a pair is a duplicate, which the paper reports; `types`: on its type.
    """

    assessors: tuple[str, ...]
    pairs: int
    left_out: int
    duplicate: MeasuredAgreement
    types: MeasuredAgreement
