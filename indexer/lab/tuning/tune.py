"""`tune`: try recipes and thresholds on judged pairs, and recommend one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from indexer.errors import UsageError
from indexer.lab.tuning.cases import cases_of
from indexer.lab.tuning.choice import choice
from indexer.lab.tuning.grid import recipes_of
from indexer.lab.tuning.judgement import judge_experiment, truth_of
from indexer.lab.tuning.run_experiments import run
from indexer.lab.tuning.tuning_results import TuneResult
from indexer.recipe import Recipe
from indexer.stores.base import Store
from indexer.system.progress_callback import Progress, no_progress

EXPERIMENTS = "experiments"


@dataclass(frozen=True, slots=True)
class TuneOptions:
    """Options of `tune`.

    `recipes`: those to try; those of the `grid` when empty. `workers`: processes that share the
    recipes; one a processor when None. `strict`: a pair of which one text contains the other is
    different; else it counts for neither side. `seed`: that of the random sample of unrelated
    pairs.
    """

    recipes: Sequence[Recipe] = ()
    grid: str = "standard"
    workers: int | None = None
    strict: bool = False
    seed: int = 0


def tune(
    gold: str | Path | Sequence[str | Path],
    out: str | Path,
    store: Store | None = None,
    options: TuneOptions = TuneOptions(),
    *,
    progress: Progress = no_progress,
) -> TuneResult:
    """Try recipes on the pairs of a gold set, or of assessors' sheets, and choose by their scores.

    Every experiment is stored in `out`/experiments as soon as it ends: after an interruption the
    same call goes on, and another grid uses the experiments that it shares. `store` has the
    documents that `gold` names by id.

    Raises `UsageError` for a gold set that cannot be read or has no duplicates or nothing else, and
    when no recipe could be tried; `UnknownName` for a grid; `UsageError` as `read_truth` and
    `gold_documents` do.
    """
    recipes = tuple(dict.fromkeys(options.recipes)) or recipes_of(options.grid)
    paths = [gold] if isinstance(gold, (str, Path)) else gold
    cases = cases_of([str(path) for path in paths], store, options.seed, progress)
    trial = run(cases, recipes, Path(out) / EXPERIMENTS, options.workers, progress)
    if not trial.experiments:
        raise UsageError(f"no recipe could be tried: {'; '.join(trial.left_out.values())}")
    truth = truth_of(cases.pairs, options.strict)
    by_name = {recipe.name: recipe for recipe in recipes}
    results = []
    for done, experiment in enumerate(trial.experiments, 1):
        results.append(judge_experiment(experiment, by_name[experiment.recipe], truth))
        progress("recipes judged", done, len(trial.experiments))
    return TuneResult(
        documents=len(cases.texts),
        pairs=len(cases.pairs),
        groups=len(np.unique(truth.block[truth.similar])),
        strict=options.strict,
        results=tuple(results),
        choice=choice(results, recipes, truth),
        kept=trial.kept,
        left_out=trial.left_out,
    )
