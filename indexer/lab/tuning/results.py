"""The values of a tuning: the pairs, an experiment for each recipe, its scores, and the choice."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.lab.evaluation.judgements import DIFFERENT, DUPLICATES
from indexer.lab.evaluation.precision_recall import Counts

UNRELATED = "unrelated"
ENOUGH_GROUPS = 20  # of related documents, for a bootstrap over them
ENOUGH = 0.99  # of the duplicates at the threshold, that bands are to bring together
CLOSE = 0.01  # of F1: thresholds that lose no more are as good

Values: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Case:
    """A pair of texts, `a` and `b`, by their positions.

    `kind` is the kind of a synthetic pair, else its type. Pairs of one `block` stay together when
    pairs are sampled or divided.
    """

    a: int
    b: int
    type: str
    kind: str
    block: int

    @property
    def similar(self) -> bool | None:
        """True for duplicates; None where one contains the other, which counts for neither."""
        if self.type in DUPLICATES:
            return True
        return False if self.type in (DIFFERENT, UNRELATED) else None


@dataclass(frozen=True, slots=True)
class Cases:
    """Texts and the pairs among them; `digest` identifies them to a later run. `measure` scores
    pairs; None stands for the measure of each recipe.
    """

    texts: tuple[str, ...]
    pairs: tuple[Case, ...]
    digest: str
    measure: str | None = None

    @property
    def kinds(self) -> dict[str, str]:
        """The type of every kind, in order of appearance."""
        return {case.kind: case.type for case in self.pairs}


@dataclass(frozen=True, slots=True)
class Experiment:
    """The measurements of one recipe on all pairs.

    `sketch`: the similarity of each pair by its sketches, in [0, 1]; `features`: the similarity by
    the features themselves, None for recipes that are not scored so. `together`: the pairs that
    share a band by each layout `BANDSxROWS`, as bits in hexadecimal, first pair first. `unsigned`
    texts have no sketch. `seconds`: the time to fingerprint all texts on one processor, corpus
    statistics not counted; `bits`: the size of the sketches of a document, None for keys alone.
    """

    recipe: str
    id: str
    cases: str
    sketch: tuple[float, ...]
    features: tuple[float, ...] | None
    together: dict[str, str]
    texts: int
    unsigned: int
    seconds: float
    bits: int | None

    def as_json(self) -> dict[str, Any]:
        """Return the values by the names of the fields."""
        return asdict(self)

    @classmethod
    def of(cls, record: dict[str, Any]) -> Experiment:
        """Return the experiment of a record that `as_json` made.

        Raises `TypeError` or `KeyError` when it is something else.
        """
        features = record.get("features")
        changes = {
            "sketch": tuple(record["sketch"]),
            "features": None if features is None else tuple(features),
        }
        return cls(**record | changes)


@dataclass(frozen=True, slots=True)
class ExperimentRun:
    """The experiments in the order of the recipes.

    `kept` of them come from an earlier run; `left_out` has the reason for each recipe that was not
    tried, by its name.
    """

    experiments: tuple[Experiment, ...]
    kept: int
    left_out: dict[str, str]


@dataclass(frozen=True)
class Truth:
    """The cases as arrays, (n,): which are similar, which different (the others are contained),
    their halves and blocks.
    """

    similar: Flags
    different: Flags
    half: Flags
    block: NDArray[np.int64]
    kinds: tuple[str, ...]
    types: dict[str, str]


@dataclass(frozen=True, slots=True)
class Point:
    """Right, wrong and missed pairs at one threshold."""

    threshold: float
    counts: Counts


@dataclass(frozen=True, slots=True)
class KindScores:
    """Scores on the pairs of one kind.

    `found` of them are matches at the best threshold, `found_usually` at the usual one. Of
    duplicates, `best` and `usual` count the duplicates of the kind, with every wrong pair of any
    kind; of others, a found pair is wrong.
    """

    kind: str
    type: str
    pairs: int
    found: int
    found_usually: int
    best: Counts
    usual: Counts


@dataclass(frozen=True, slots=True)
class ExperimentScores:
    """The scores of one recipe on all pairs.

    `fair`: each half of the blocks scored at the threshold that is best for the other half;
    `interval` of its F1, at 95 %, by a bootstrap over blocks. `best` and `usual`: the threshold
    with the highest F1 on everything, and the recipe's own. `by_sketch`: the highest F1 by sketches
    alone. `area` is that under the ROC curve. `curve` ascends by threshold; the bins of `similar`
    and `different` pairs divide [0, 1]. `units`: right, wrong and missed of each block, as in
    `fair`.
    """

    recipe: str
    fair: Counts
    interval: tuple[float, float] | None
    best: Point
    usual: Point
    by_sketch: Point
    area: float
    curve: tuple[Point, ...]
    similar: tuple[int, ...]
    different: tuple[int, ...]
    kinds: tuple[KindScores, ...]
    units: Values
    experiment: Experiment


@dataclass(frozen=True, slots=True)
class Layout:
    """Bands and rows for a threshold and a planned recall.

    `recall` is the fraction of the duplicates above the threshold that share a band, `burden` the
    share of the different pairs that do.
    """

    threshold: float
    planned_recall: float
    bands: int
    rows: int
    recall: float
    burden: float


@dataclass(frozen=True, slots=True)
class Choice:
    """The recipe, measure, threshold and planned recall to use.

    `as_good`: recipes that these pairs do not distinguish from it; `thresholds`: the range that is
    as good. `better`: recipes that are better and cannot be kept in an index. `layouts` are planned
    for the threshold, one a recall; `recall` is the lowest plan that loses few; both are None where
    the recipe has no bands.
    """

    recipe: str
    measure: str
    threshold: float
    thresholds: tuple[float, float]
    as_good: tuple[str, ...]
    better: tuple[str, ...]
    layouts: tuple[Layout, ...]
    recall: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class TuneResult:
    """The scores of all recipes that were tried, and the choice.

    `groups`: the number of groups of related documents that have duplicates; intervals are a
    bootstrap over these, and mean little when they are few. `kept` experiments come from an earlier
    run; `left_out` recipes lack a library, which the text names.
    """

    documents: int
    pairs: int
    groups: int
    strict: bool
    results: tuple[ExperimentScores, ...]
    choice: Choice
    kept: int
    left_out: dict[str, str]

    @property
    def caution(self) -> str:
        """A sentence where there are too few groups to rely on the statistics, else empty."""
        if self.groups >= ENOUGH_GROUPS:
            return ""
        groups = "one group" if self.groups == 1 else f"{self.groups} groups"
        return (
            f"the duplicates are of {groups} of related documents: under {ENOUGH_GROUPS}, "
            "F1 and its interval promise little"
        )
