"""Run the experiments, several at a time, and keep each as soon as it is made: a run that was cut
short goes on.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from indexer.errors import MissingExtra
from indexer.lab.tuning.cases import Cases
from indexer.lab.tuning.experiment import Experiment, experiment
from indexer.recipe import Recipe
from indexer.system.progress_callback import Progress
from indexer.system.whole_file import write_whole

STAGE = "recipes tried"


@dataclass(frozen=True, slots=True)
class ExperimentRun:
    """The experiments in the order of the recipes.

    `kept` of them were made by an earlier run; `left_out` tells why a recipe was not tried, by its
    name.
    """

    experiments: tuple[Experiment, ...]
    kept: int
    left_out: dict[str, str]


def run(
    cases: Cases, recipes: Sequence[Recipe], folder: Path, workers: int | None, progress: Progress
) -> ExperimentRun:
    """Try every recipe on the cases; what `folder` holds of the same cases is not made again."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {
        recipe.name: old
        for recipe in recipes
        if (old := _kept(_place(folder, cases, recipe), cases))
    }
    kept, left_out = len(made), dict[str, str]()
    waiting = sorted(
        (one for one in recipes if one.name not in made), key=lambda one: one.normaliser
    )
    progress(STAGE, len(made), len(recipes))
    for recipe, result in _tried(cases, waiting, workers or os.cpu_count() or 1):
        if isinstance(result, MissingExtra):
            left_out[recipe.name] = str(result)
        else:
            with write_whole(_place(folder, cases, recipe)) as place:
                place.write_text(json.dumps(result.as_json()), encoding="utf-8")
            made[recipe.name] = result
        progress(STAGE, len(made) + len(left_out), len(recipes))
    return ExperimentRun(
        tuple(made[recipe.name] for recipe in recipes if recipe.name in made), kept, left_out
    )


def _place(folder: Path, cases: Cases, recipe: Recipe) -> Path:
    return folder / f"{cases.digest}-{recipe.id}.json"


def _kept(place: Path, cases: Cases) -> Experiment | None:
    """What an earlier run has made of the same cases; None when there is nothing, or nothing that
    can be read.
    """
    try:
        made = Experiment.of(json.loads(place.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError):
        return None
    fits = len(made.sketch) == len(cases.pairs) and (
        made.features is None or len(made.features) == len(cases.pairs)
    )
    return made if made.cases == cases.digest and fits else None


def _tried(
    cases: Cases, recipes: Sequence[Recipe], workers: int
) -> Iterator[tuple[Recipe, Experiment | MissingExtra]]:
    """Each recipe with its experiment, as it is ready."""
    if workers == 1 or len(recipes) < 2:
        for recipe in recipes:
            yield recipe, _try(cases, recipe)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(recipes)), context, _give, (cases,)) as pool:
        running = {pool.submit(_try_given, recipe): recipe for recipe in recipes}
        try:
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for one in done:
                    yield running.pop(one), one.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _try(cases: Cases, recipe: Recipe) -> Experiment | MissingExtra:
    try:
        return experiment(cases, recipe)
    except MissingExtra as error:
        return error


_given: list[Cases] = []  # of a worker process: what all its recipes are tried on


def _give(cases: Cases) -> None:
    """Take the cases; and end with the program that asked, however it ends: a killed one tells
    nobody.
    """
    _given[:] = [cases]
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _try_given(recipe: Recipe) -> Experiment | MissingExtra:
    return _try(_given[0], recipe)
