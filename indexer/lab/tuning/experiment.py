"""One recipe on all pairs: similarities by sketches and by features, the pairs that share a band,
and the cost.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.band_plan import plan
from indexer.comparing.measures import ComparedText, measure_pair
from indexer.errors import MissingExtra
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.fingerprinting.keys import bit_similarity
from indexer.fingerprinting.normalise import NORMALISERS
from indexer.fingerprinting.schemes import count_text_features
from indexer.lab.evaluation.decider import usual_measure
from indexer.lab.tuning.results import Cases, Experiment, ExperimentRun
from indexer.model import Fingerprint, Progress
from indexer.recipe import DEFAULT_V1, Recipe
from indexer.system.files import write_whole

# The layouts of bands that a tuning compares.

THRESHOLDS = tuple(step / 20 for step in range(2, 20))
RECALLS = (0.8, 0.9, 0.95, 0.99)  # that `match --recall` plans for


def layout(threshold: float, recipe: Recipe, recall: float) -> tuple[int, int]:
    """Return bands and rows for a threshold of the recipe's measure and a planned recall."""
    measure = usual_measure(recipe)
    if measure == "jaccard":
        recipe = replace(DEFAULT_V1, slots=recipe.slots)
    return _layout(threshold, recall, measure, recipe)


def layouts(recipe: Recipe) -> list[tuple[int, int]]:
    """Return the bands and rows of every threshold and recall, each once, sorted."""
    pairs = {layout(threshold, recipe, recall) for threshold in THRESHOLDS for recall in RECALLS}
    return sorted(pairs)


@cache
def _layout(threshold: float, recall: float, measure: str, recipe: Recipe) -> tuple[int, int]:
    best = plan(threshold, recall, measure, recipe)
    return best.bands, best.rows


_DIGITS = 5


def experiment(cases: Cases, recipe: Recipe) -> Experiment:
    """Fingerprint the texts by a recipe and measure all pairs.

    Raises `MissingExtra` for a recipe whose libraries are not there.
    """
    texts = cases.texts
    plain = recipe
    seconds = 0.0
    if recipe.normaliser in NORMALISERS:
        texts, seconds = _normalise(cases, recipe.normaliser)
        plain = replace(recipe, normaliser="none")
    statistics = count_text_features(texts, plain) if recipe.statistics else None
    started = time.process_time()
    prints = [fingerprint(text, plain, statistics) for text in texts]
    seconds += time.process_time() - started
    pairs = [(case.a, case.b) for case in cases.pairs]
    features = None
    if recipe.minhash and recipe.minhash != "icws_v1":
        measure = cases.measure or usual_measure(recipe)
        compared = [ComparedText(text, plain) for text in texts]
        features = tuple(_by_texts(prints, compared, pair, measure) for pair in pairs)
    sketch = [_by_sketch(prints[a], prints[b], recipe) for a, b in pairs]
    return Experiment(
        recipe=recipe.name,
        id=recipe.id,
        cases=cases.digest,
        sketch=tuple(round(similarity, _DIGITS) for similarity in sketch),
        features=features,
        together=_together(prints, pairs, recipe),
        texts=len(cases.texts),
        unsigned=sum(text.status != "complete" for text in prints),
        seconds=round(seconds, 3),
        bits=_bits(recipe),
    )


@lru_cache(maxsize=1)
def _normalise(cases: Cases, normaliser: str) -> tuple[tuple[str, ...], float]:
    """Return the texts under a normaliser, which many recipes share, and the seconds it took."""
    started = time.process_time()
    texts = tuple(map(NORMALISERS[normaliser], cases.texts))
    return texts, time.process_time() - started


def _by_texts(
    prints: Sequence[Fingerprint],
    compared: Sequence[ComparedText],
    pair: tuple[int, int],
    measure: str,
) -> float:
    """Return the measure of two fingerprinted texts; 0 when either is not fingerprinted."""
    a, b = pair
    if not prints[a].status == prints[b].status == "complete":
        return 0.0
    return round(measure_pair(measure, compared[a], compared[b]).similarity, _DIGITS)


def _by_sketch(a: Fingerprint, b: Fingerprint, recipe: Recipe) -> float:
    """Return the fraction of equal slots; of equal bits; of the larger set of rarest terms or keys.

    0 without a sketch.
    """
    if a.status != "complete" or b.status != "complete":
        return 0.0
    if a.minhash is not None and b.minhash is not None:
        return float(np.mean(a.minhash == b.minhash))
    if a.simhash is not None and b.simhash is not None:
        return bit_similarity(a.simhash, b.simhash, recipe.bits or 64)
    a_keys = set(a.terms or a.blocks)
    b_keys = set(b.terms or b.blocks)
    return len(a_keys & b_keys) / max(len(a_keys), len(b_keys), 1)


def _together(
    prints: Sequence[Fingerprint], pairs: Sequence[tuple[int, int]], recipe: Recipe
) -> dict[str, str]:
    """Return the pairs that share a band, by layout, as `Experiment` has them."""
    if not recipe.minhash:
        return {}
    slots = recipe.slots or 0
    equal = np.array([_equal_slots(prints[a].minhash, prints[b].minhash, slots) for a, b in pairs])
    together: dict[str, str] = {}
    for bands, rows in layouts(recipe):
        by_band = equal[:, : bands * rows].reshape(len(pairs), bands, rows)
        sharing = np.any(np.all(by_band, axis=2), axis=1)
        together[f"{bands}x{rows}"] = np.packbits(sharing).tobytes().hex()
    return together


def _equal_slots(a: NDArray[Any] | None, b: NDArray[Any] | None, slots: int) -> NDArray[np.bool_]:
    if a is None or b is None:
        return np.zeros(slots, dtype=np.bool_)
    return np.asarray(a == b)


def _bits(recipe: Recipe) -> int | None:
    """Return the bits of a document's sketches; None for keys alone."""
    slot = recipe.packed or (64 if recipe.minhash == "affine64_v1" else 32)
    minhash = (recipe.slots or 0) * slot if recipe.minhash else 0
    bits = minhash + (recipe.bits or 0) + 64 * (recipe.terms or 0)
    return bits or None


# Run experiments, several at a time; each is stored when it ends, so that a run can be resumed.

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
