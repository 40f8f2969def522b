"""`tune`: try recipes and thresholds on pairs whose truth is known, and say which to use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from indexer.errors import UsageError
from indexer.lab.tuning.cases import cases_of
from indexer.lab.tuning.choice import Choice, choice
from indexer.lab.tuning.grid import recipes_of
from indexer.lab.tuning.judgement import ExperimentScores, judge_experiment, truth_of
from indexer.lab.tuning.run_experiments import run
from indexer.recipe import Recipe
from indexer.statistics.precision_recall import Counts
from indexer.stores.base import Store
from indexer.system.progress_callback import Progress, no_progress

EXPERIMENTS = "experiments"
ENOUGH_GROUPS = 20  # of related documents, to draw from them again
COLUMNS = (
    "recipe",
    "at",
    "threshold",
    "kind",
    "type",
    "pairs",
    "found",
    "precision",
    "recall",
    "f1",
)


@dataclass(frozen=True, slots=True)
class TuneResult:
    """What was tried. `kept` experiments came from an earlier run; `left_out` recipes lack a
    library, which the text names.

    `groups`: of related documents that have duplicates; intervals draw these again, and say little
    when they are few.
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
        """A sentence where there are too few groups to rely on the figures; else nothing."""
        if self.groups >= ENOUGH_GROUPS:
            return ""
        told = "one group" if self.groups == 1 else f"{self.groups} groups"
        return f"the duplicates are of {told} of related documents: under {ENOUGH_GROUPS}, F1 and its interval promise little"


def tune(
    gold: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    recipes: Sequence[Recipe] = (),
    grid: str = "standard",
    workers: int | None = None,
    strict: bool = False,
    seed: int = 0,
    store: Store | None = None,
    progress: Progress = no_progress,
) -> TuneResult:
    """Try recipes (those of a `grid`, unless given) on the pairs of a gold set, or of assessors'
    sheets, and choose by them.

    Every experiment is kept in `out`/experiments as soon as it is made: cut short, the same call
    goes on, and another grid uses what is the same. `workers` processes share the recipes, one a
    processor unless told otherwise. `strict`: a pair of which one text contains the other is
    different; else it counts for neither side. `seed` draws unrelated pairs.

    Raises `UsageError` for a gold set that cannot be read or has no duplicates or nothing else, and
    what `given` and `named` raise.
    """
    chosen = tuple(dict.fromkeys(recipes)) or recipes_of(grid)
    paths = [gold] if isinstance(gold, (str, Path)) else gold
    cases = cases_of([str(path) for path in paths], store, seed, progress)
    ran = run(cases, chosen, Path(out) / EXPERIMENTS, workers, progress)
    if not ran.experiments:
        raise UsageError(f"no recipe could be tried: {'; '.join(ran.left_out.values())}")
    truth = truth_of(cases.pairs, strict)
    by_name = {recipe.name: recipe for recipe in chosen}
    results = []
    for place, one in enumerate(ran.experiments, 1):
        results.append(judge_experiment(one, by_name[one.recipe], truth))
        progress("recipes judged", place, len(ran.experiments))
    picked = choice(results, chosen, truth)
    groups = len(np.unique(truth.block[truth.similar]))
    return TuneResult(
        len(cases.texts),
        len(cases.pairs),
        groups,
        strict,
        tuple(results),
        picked,
        ran.kept,
        ran.left_out,
    )


def table(made: TuneResult) -> Iterator[tuple[str | int | float | None, ...]]:
    """Rows of COLUMNS: every recipe on every kind and on all of them (`all`), at its best and at
    its own threshold.
    """
    for one in made.results:
        for at, place in (("best", one.best), ("own", one.usual)):
            yield (
                one.recipe,
                at,
                place.threshold,
                "all",
                "",
                made.pairs,
                place.counts.right,
                *_shares(place.counts),
            )
            for kind in one.kinds:
                counts = kind.best if at == "best" else kind.usual
                found = kind.found if at == "best" else kind.found_usually
                shares = _shares(counts) if counts.right + counts.missed else (None, None, None)
                yield (
                    one.recipe,
                    at,
                    place.threshold,
                    kind.kind,
                    kind.type,
                    kind.pairs,
                    found,
                    *shares,
                )


def _shares(counts: Counts) -> tuple[float | None, float | None, float | None]:
    return counts.precision, counts.recall, counts.f1


def as_json(made: TuneResult) -> dict[str, Any]:
    """The choice, and every recipe without its curves; figures rounded to five digits."""
    picked = made.choice
    return {
        "documents": made.documents,
        "pairs": made.pairs,
        "groups": made.groups,
        "strict": made.strict,
        "recipe": picked.recipe,
        "threshold": picked.threshold,
        "thresholds": list(picked.thresholds),
        "false_negative_weight": picked.weight,
        "reason": picked.reason,
        "caution": made.caution,
        "as_good": list(picked.as_good),
        "better": list(picked.better),
        "recipes": [
            _recipe(one) for one in sorted(made.results, key=lambda one: -(one.fair.f1 or 0.0))
        ],
        "kept": made.kept,
        "left_out": made.left_out,
    }


def _recipe(one: ExperimentScores) -> dict[str, Any]:
    made = one.experiment
    return {
        "recipe": one.recipe,
        "fair_f1": _rounded(one.fair.f1),
        "interval": one.interval and [_rounded(end) for end in one.interval],
        "best": _point(one.best.threshold, one.best.counts),
        "own": _point(one.usual.threshold, one.usual.counts),
        "roc_area": _rounded(one.area),
        "unsigned": made.unsigned,
        "seconds": made.seconds,
        "bits": made.bits,
    }


def _point(threshold: float, counts: Counts) -> dict[str, float | None]:
    named = zip(("precision", "recall", "f1"), map(_rounded, _shares(counts)), strict=True)
    return {"threshold": _rounded(threshold), **dict(named)}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 5)
