"""Run the experiments, several at a time, and store each as soon as it ends, so that an interrupted
run goes on.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from pathlib import Path

from indexer.errors import MissingExtra
from indexer.lab.tuning.experiment import experiment
from indexer.lab.tuning.tuning_results import Cases, Experiment, ExperimentRun
from indexer.recipe import Recipe
from indexer.system.progress_callback import Progress
from indexer.system.whole_file import write_whole

STAGE = "recipes tried"


def run(
    cases: Cases, recipes: Sequence[Recipe], folder: Path, workers: int | None, progress: Progress
) -> ExperimentRun:
    """Try every recipe on the cases, except those whose experiment `folder` holds already."""
    folder.mkdir(parents=True, exist_ok=True)
    experiments = _read_experiments(folder, cases, recipes)
    kept_experiments = len(experiments)
    left_out: dict[str, str] = {}
    missing = [recipe for recipe in recipes if recipe.name not in experiments]
    missing.sort(key=lambda recipe: recipe.normaliser)  # the texts under a normaliser are reused
    progress(STAGE, kept_experiments, len(recipes))
    for recipe, result in _experiments(cases, missing, workers or os.cpu_count() or 1):
        if isinstance(result, MissingExtra):
            left_out[recipe.name] = str(result)
        else:
            with write_whole(_file(folder, cases, recipe)) as part:
                part.write_text(json.dumps(result.as_json()), encoding="utf-8")
            experiments[recipe.name] = result
        progress(STAGE, len(experiments) + len(left_out), len(recipes))
    in_order = [experiments[recipe.name] for recipe in recipes if recipe.name in experiments]
    return ExperimentRun(tuple(in_order), kept_experiments, left_out)


def _file(folder: Path, cases: Cases, recipe: Recipe) -> Path:
    return folder / f"{cases.digest}-{recipe.id}.json"


def _read_experiments(
    folder: Path, cases: Cases, recipes: Sequence[Recipe]
) -> dict[str, Experiment]:
    """Return the stored experiments of the same cases, by the recipe's name."""
    experiments = {}
    for recipe in recipes:
        stored = _read_experiment(_file(folder, cases, recipe), cases)
        if stored:
            experiments[recipe.name] = stored
    return experiments


def _read_experiment(file: Path, cases: Cases) -> Experiment | None:
    """Return a stored experiment; None where there is none that can be read and fits the cases."""
    try:
        stored = Experiment.of(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError):
        return None
    pairs = len(cases.pairs)
    fits = len(stored.sketch) == pairs and (
        stored.features is None or len(stored.features) == pairs
    )
    return stored if stored.cases == cases.digest and fits else None


def _experiments(
    cases: Cases, recipes: Sequence[Recipe], workers: int
) -> Iterator[tuple[Recipe, Experiment | MissingExtra]]:
    """Yield each recipe with its experiment as soon as it ends."""
    if workers == 1 or len(recipes) < 2:
        for recipe in recipes:
            yield recipe, _try(cases, recipe)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(recipes)), context, _start, (cases,)) as pool:
        running = {pool.submit(_try_in_worker, recipe): recipe for recipe in recipes}
        try:
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield running.pop(future), future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _try(cases: Cases, recipe: Recipe) -> Experiment | MissingExtra:
    try:
        return experiment(cases, recipe)
    except MissingExtra as error:
        return error


_worker_cases: list[Cases] = []  # in a worker process: the cases of all its recipes


def _start(cases: Cases) -> None:
    """Start a worker with the cases; it ends with its parent, also when that is killed."""
    _worker_cases[:] = [cases]
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _try_in_worker(recipe: Recipe) -> Experiment | MissingExtra:
    return _try(_worker_cases[0], recipe)
