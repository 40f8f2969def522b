"""`tune`: try recipes and thresholds on judged pairs, and recommend one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from indexer.comparing.measures import check_measure
from indexer.errors import UnknownName, UsageError
from indexer.fingerprinting.hashing import mix64
from indexer.lab.evaluation.decider import usual_measure
from indexer.lab.evaluation.gold import gold_documents, groups
from indexer.lab.evaluation.judgements import TYPES, Gold
from indexer.lab.evaluation.precision_recall import Counts, bootstrap, f1_of_rows, linked_sets
from indexer.lab.evaluation.sheets import read_truth
from indexer.lab.synthesis.changes import RandomSource
from indexer.lab.tuning.experiment import RECALLS, THRESHOLDS, layout, run
from indexer.lab.tuning.results import (
    CLOSE,
    ENOUGH,
    UNRELATED,
    Case,
    Cases,
    Choice,
    Experiment,
    ExperimentScores,
    Flags,
    KindScores,
    Layout,
    Point,
    Truth,
    TuneResult,
    Values,
)
from indexer.model import Progress, no_progress
from indexer.recipe import DEFAULT, Recipe, recipe_named
from indexer.stores.base import Store
from indexer.wording import count_of

# The scores of an experiment: how far apart similar and different pairs lie, and the matches of
# each threshold.

STEPS = 200  # thresholds that are tried: 0.005, 0.01, ... 1
BINS = 40
RESAMPLES = 4000
ORDER = (*TYPES, UNRELATED)
CLOSE_BITS = 3  # of the 64 bits of a SimHash, for recipes that name no similarity


def truth_of(cases: Sequence[Case], strict: bool = False) -> Truth:
    """Return the cases as arrays; the half of a block depends on its number alone.

    `strict`: a pair of which one text contains the other is different.
    """
    types = {case.kind: case.type for case in cases}
    by_type = sorted(types.items(), key=lambda item: (ORDER.index(item[1]), item[0]))
    different = [case.similar is False or (strict and case.similar is None) for case in cases]
    return Truth(
        np.array([case.similar is True for case in cases]),
        np.array(different),
        np.array([bool(mix64(case.block + 1) & 1) for case in cases]),
        np.array([case.block for case in cases], dtype=np.int64),
        tuple(case.kind for case in cases),
        dict(by_type),
    )


def usual_threshold(recipe: Recipe) -> float:
    """Return the similarity that a recipe is planned for.

    Where it names none: three bits of a SimHash; any shared key (of super-shingles two of six).
    """
    if recipe.baseline:
        return 2 / 6 if recipe.baseline == "super-shingles_v1" else 1 / STEPS
    if recipe.similarity:
        return recipe.similarity
    return 1 - CLOSE_BITS / 64 if recipe.bits else 0.8


def judge_experiment(experiment: Experiment, recipe: Recipe, truth: Truth) -> ExperimentScores:
    """Return the scores of an experiment: by the features where it has them, else by sketches."""
    sketch = np.array(experiment.sketch)
    values = sketch if experiment.features is None else np.array(experiment.features)
    curve = points(values, truth)
    best = best_of(curve)
    usual = point(values, truth, usual_threshold(recipe))
    units = _units(_fair_matches(values, truth), truth)
    return ExperimentScores(
        recipe=experiment.recipe,
        fair=Counts(*(int(number) for number in units.sum(axis=0))),
        interval=bootstrap(units, lambda sums: [f1_of_rows(sums)], draws=RESAMPLES)[0],
        best=best,
        usual=usual,
        by_sketch=best_of(points(sketch, truth)),
        area=area(values[truth.similar], values[truth.different]),
        curve=curve,
        similar=_bins(values[truth.similar]),
        different=_bins(values[truth.different]),
        kinds=tuple(_kind_scores(values, truth, best.threshold, usual.threshold)),
        units=units,
        experiment=experiment,
    )


def point(values: Values, truth: Truth, threshold: float) -> Point:
    """Return the counts of pairs at a threshold; a similarity of 0 is never a match."""
    return Point(threshold, _count(_matches(values, threshold), truth.similar, truth))


def points(values: Values, truth: Truth) -> tuple[Point, ...]:
    """Return the counts of pairs at every threshold that is tried."""
    return tuple(point(values, truth, step / STEPS) for step in range(1, STEPS + 1))


def best_of(curve: Sequence[Point]) -> Point:
    """Return the threshold with the highest F1; the middle one of several."""
    highest = max(point.counts.f1 or 0.0 for point in curve)
    equal = [point for point in curve if (point.counts.f1 or 0.0) == highest]
    return equal[len(equal) // 2]


def area(similar: Values, different: Values) -> float:
    """Return the area under the ROC curve: the chance that a similar pair has the higher value of
    two, ties counting half.

    >>> area(np.array([0.9, 0.4]), np.array([0.4, 0.1]))
    0.875
    """
    ordered = np.sort(different)
    below = (
        np.searchsorted(ordered, similar, side="left").sum()
        + np.searchsorted(ordered, similar, side="right").sum()
    )
    return float(below) / (2 * len(similar) * len(different))


def _matches(values: Values, threshold: float) -> Flags:
    # similarities are stored rounded: the threshold must be no stricter than they are
    return (values >= threshold - 1e-5) & (values > 0)


def _count(matches: Flags, duplicates: Flags, truth: Truth) -> Counts:
    """Count the duplicates that match and that do not, and every different pair that matches."""
    right = int(np.count_nonzero(matches & duplicates))
    wrong = int(np.count_nonzero(matches & truth.different))
    return Counts(right, wrong, int(np.count_nonzero(duplicates)) - right)


def _fair_matches(values: Values, truth: Truth) -> Flags:
    """Return the matches of each half at the best threshold of the other half.

    That of everything is used where a half lacks similar or different pairs.
    """
    matches = np.zeros(len(values), dtype=np.bool_)
    for half in (truth.half, ~truth.half):
        rest = replace(truth, similar=truth.similar & ~half, different=truth.different & ~half)
        has_both = rest.similar.any() and rest.different.any()
        threshold = best_of(points(values, rest if has_both else truth)).threshold
        matches |= half & _matches(values, threshold)
    return matches


def _units(matches: Flags, truth: Truth) -> Values:
    """Return right, wrong and missed of every block, (blocks, 3)."""
    columns = (matches & truth.similar, matches & truth.different, ~matches & truth.similar)
    _, position = np.unique(truth.block, return_inverse=True)
    return np.stack([np.bincount(position, weights=column) for column in columns], axis=1)


def _bins(values: Values) -> tuple[int, ...]:
    return tuple(int(number) for number in np.histogram(values, bins=BINS, range=(0.0, 1.0))[0])


def _kind_scores(values: Values, truth: Truth, best: float, usual: float) -> list[KindScores]:
    at_best = _matches(values, best)
    at_usual = _matches(values, usual)
    names = np.array(truth.kinds)
    scores = []
    for kind, type in truth.types.items():
        members = names == kind
        duplicates = members & truth.similar
        scores.append(
            KindScores(
                kind=kind,
                type=type,
                pairs=int(np.count_nonzero(members)),
                found=int(np.count_nonzero(members & at_best)),
                found_usually=int(np.count_nonzero(members & at_usual)),
                best=_count(at_best, duplicates, truth),
                usual=_count(at_usual, duplicates, truth),
            )
        )
    return scores


# The grids of recipes that are tried.

_TOKENISERS = (
    "ws",
    "words",
    "sents",
    *(f"white-space-{width}-grams" for width in range(2, 7)),
    *(f"{width}-grams" for width in range(1, 7)),
)
_NORMALISERS = ("none", "norm", "norm-html", "norm-anyascii", "norm-html-anyascii", "default")
_HASHES = ("sha1", "mmh3", "crc32")
_PERMUTATIONS = (64, 128, 256)
# this normaliser leaves one word of every text, so that only runs of characters remain
_WITHOUT_BLANKS = "default"
_NEARFOLD = (
    "default",
    *(f"{width}-grams:default:mmh3:128:fss" for width in (2, 3, 5, 6)),
    *(f"4-grams:default:mmh3:{slots}:fss" for slots in (32, 64, 256)),
    "4-grams:default:mmh3:128:icws",
    "4-grams:default:mmh3:128:fss:b1",
    "4-grams:default:mmh3:128:fss:b4",
    "5-byte-grams:none:mmh3:128:fss",
    *(
        f"{width}-word-shingles:{normaliser}:mmh3:128:fss"
        for width in (1, 2, 3, 5)
        for normaliser in ("none", "norm")
    ),
)
_OTHERS = (
    *(f"simhash-doc-v{version}" for version in (1, 2, 3, 4)),
    *(
        f"signature-study:{method}:{bits}"
        for method in ("simhash", "topsig", "minhash")
        for bits in (64, 256, 1024)
    ),
    *(
        f"signature-study:weighted-{method}:{bits}"
        for method in ("simhash", "topsig")
        for bits in (64, 256)
    ),
    "clauses",
    "clauses:60",
    *(f"baseline:{name}" for name in ("super-shingles", "mega-shingles", "winnowing", "i-match")),
)
_QUICK = (
    "default",
    "ws:norm-html:sha1:128",
    "white-space-3-grams:norm-html:sha1:128",
    "4-grams:norm-html:sha1:128",
    "3-word-shingles:none:mmh3:128:fss",
    "simhash-doc-v2",
    "signature-study:simhash:64",
    "signature-study:topsig:64",
    "signature-study:weighted-topsig:64",
)


def recipes_of(grid: str) -> tuple[Recipe, ...]:
    """Return the recipes of a grid, each once: `quick`, `standard`, or `full`.

    `standard` changes one setting at a time of copietje's default and of nearfold's, and has every
    other family; `full` is the whole product of tokenisers, normalisers, hashes and permutations as
    well. Raises `UnknownName`.
    """
    if grid not in GRIDS:
        raise UnknownName("grid", grid, tuple(GRIDS))
    return tuple(recipe_named(name) for name in dict.fromkeys(GRIDS[grid]))


def _one_at_a_time() -> tuple[str, ...]:
    return (
        *(f"{tokeniser}:norm-html:sha1:128" for tokeniser in _TOKENISERS),
        *(
            f"ws:{normaliser}:sha1:128"
            for normaliser in _NORMALISERS
            if normaliser != _WITHOUT_BLANKS
        ),
        *(f"4-grams:{normaliser}:sha1:128" for normaliser in _NORMALISERS),
        *(f"white-space-3-grams:{normaliser}:sha1:128" for normaliser in ("none", "norm")),
        *(f"ws:norm-html:{hash}:128" for hash in _HASHES),
        *(f"ws:norm-html:sha1:{slots}" for slots in _PERMUTATIONS),
    )


def _product() -> tuple[str, ...]:
    return tuple(
        f"{tokeniser}:{normaliser}:{hash}:{slots}"
        for tokeniser, normaliser, hash, slots in product(
            _TOKENISERS, _NORMALISERS, _HASHES, _PERMUTATIONS
        )
        if normaliser != _WITHOUT_BLANKS or tokeniser[0].isdigit()
    )


GRIDS: dict[str, tuple[str, ...]] = {
    "quick": _QUICK,
    "standard": (*_NEARFOLD, *_one_at_a_time(), *_OTHERS),
    "full": (*_NEARFOLD, *_one_at_a_time(), *_OTHERS, *_product()),
}


# The pairs that recipes are tried on: of a gold set, and of different groups (as different).

TIMES_UNRELATED, MAX_UNRELATED = 4, 20_000


def cases_of(
    paths: Sequence[str],
    store: Store | None = None,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Cases:
    """Read a gold set, or sheets, and their documents; add a random sample of four times as many
    pairs of documents of different blocks.

    A block is a group of the gold set, or the documents that its pairs link together where it has
    no groups. Unrelated pairs are added only where there are at least two blocks. Raises
    `UsageError` when no pair is a duplicate or none is different, and what `read_truth`,
    `gold_documents` and `groups` raise.
    """
    gold = read_truth(paths).gold
    progress("reading documents", 0, len(gold.documents))
    documents = gold_documents(gold.documents, gold.folder, store)
    groups(gold, documents)  # refuses pairs of one document, and two judgements of one pair
    by_key = {document.key: document for document in documents.values()}
    numbers = {key: number for number, key in enumerate(by_key)}
    positions = {name: numbers[documents[name].key] for name in documents}
    blocks = _blocks(gold, positions)
    gold_cases = _gold_cases(gold, positions, blocks)
    pairs = (*gold_cases, *_unrelated(gold_cases, blocks, len(by_key), seed))
    _check(pairs, paths)
    texts = tuple(document.text for document in by_key.values())
    return Cases(texts, pairs, _digest(texts, pairs))


def _gold_cases(gold: Gold, positions: dict[str, int], blocks: dict[int, int]) -> list[Case]:
    cases = []
    for pair in gold.pairs:
        a = positions[pair.a]
        cases.append(Case(a, positions[pair.b], pair.type, pair.kind or pair.type, blocks[a]))
    return cases


def _blocks(gold: Gold, positions: dict[str, int]) -> dict[int, int]:
    """Return the block of every document, both as numbers."""
    names = sorted({pair.group for pair in gold.pairs})
    if len(names) > 1:
        groups = {name: number for number, name in enumerate(names)}
        edges = [
            (positions[name], -1 - groups[pair.group]) for pair in gold.pairs for name in pair.pair
        ]
    else:
        edges = [(positions[pair.a], positions[pair.b]) for pair in gold.pairs]
    return {
        member: number
        for number, members in enumerate(linked_sets(edges))
        for member in members
        if member >= 0
    }


def _unrelated(
    gold_cases: Sequence[Case], blocks: dict[int, int], documents: int, seed: int
) -> Iterator[Case]:
    if len(set(blocks.values())) < 2:
        return
    random = RandomSource(seed, UNRELATED)
    seen = {(case.a, case.b) for case in gold_cases}
    for _ in range(min(TIMES_UNRELATED * len(gold_cases), MAX_UNRELATED)):
        a, b = sorted((random.below(documents), random.below(documents)))
        if blocks[a] != blocks[b] and (a, b) not in seen:
            seen.add((a, b))
            yield Case(a, b, UNRELATED, UNRELATED, blocks[a])


def _check(pairs: Sequence[Case], paths: Sequence[str]) -> None:
    requirements = (
        (True, "duplicates"),
        (False, "different documents, listed or of another group"),
    )
    for similar, words in requirements:
        if not any(case.similar is similar for case in pairs):
            raise UsageError(
                f"{', '.join(paths)}: no pair of {words}; both are needed to choose a recipe"
            )


def _digest(texts: Sequence[str], pairs: Sequence[Case]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    for case in pairs:
        digest.update(f"{case.a} {case.b} {case.type} {case.kind}\n".encode())
    return digest.hexdigest()[:16]


# The recipe, threshold and planned recall to use, with the reason.


def choice(
    results: Sequence[ExperimentScores],
    recipes: Sequence[Recipe],
    truth: Truth,
    measure: str | None = None,
) -> Choice:
    """Return the default recipe where none that can be kept in an index is better beyond chance,
    else the best of these that can.

    Better beyond chance: the intervals of the differences of fair F1, which hold together at 95 %,
    do not reach 0.
    """
    by_name = {recipe.name: recipe for recipe in recipes}
    ranked = sorted(results, key=lambda scores: -(scores.fair.f1 or 0.0))
    storable = [scores for scores in ranked if by_name[scores.recipe].is_storable] or ranked
    chosen = next((scores for scores in storable if scores.recipe == DEFAULT.name), storable[0])
    if any(_compare(scores, chosen, len(ranked)) > 0 for scores in storable):
        chosen = storable[0]
    signs = {
        scores.recipe: _compare(scores, chosen, len(ranked))
        for scores in ranked
        if scores is not chosen
    }
    layouts = tuple(_layouts(chosen, by_name[chosen.recipe], truth))
    as_good = tuple(name for name, sign in signs.items() if sign == 0)
    return Choice(
        recipe=chosen.recipe,
        measure=_measure_of(by_name[chosen.recipe], measure),
        threshold=chosen.best.threshold,
        thresholds=_close_thresholds(chosen),
        as_good=as_good,
        better=tuple(name for name, sign in signs.items() if sign > 0),
        layouts=layouts,
        recall=_planned_recall(layouts),
        reason=_reason(chosen, storable[0], as_good),
    )


def _measure_of(recipe: Recipe, measure: str | None) -> str:
    """Return the measure that a recipe was scored by; without slots it is its own."""
    return measure if measure and recipe.minhash else usual_measure(recipe)


def difference(
    scores: ExperimentScores, other: ExperimentScores, comparisons: int = 1
) -> tuple[float, float] | None:
    """Return the interval of the fair F1 of one recipe less that of another, on the same pairs.

    All intervals of so many comparisons hold together at 95 % (Bonferroni): the best of many
    recipes looks better by chance.
    """
    return bootstrap(
        np.hstack([scores.units, other.units]),
        lambda sums: [f1_of_rows(sums[:, :3]) - f1_of_rows(sums[:, 3:])],
        draws=RESAMPLES,
        confidence=1 - 0.05 / comparisons,
    )[0]


def _compare(scores: ExperimentScores, other: ExperimentScores, comparisons: int) -> int:
    """Return 1 when the first is better beyond chance, -1 when the second is, else 0."""
    if scores is other:
        return 0
    interval = difference(scores, other, comparisons)
    return 0 if interval is None else (interval[0] > 0) - (interval[1] < 0)


def _close_thresholds(chosen: ExperimentScores) -> tuple[float, float]:
    """Return the lowest and the highest threshold that lose little of the best F1."""
    minimum = (chosen.best.counts.f1 or 0.0) - CLOSE
    close = [point.threshold for point in chosen.curve if (point.counts.f1 or 0.0) >= minimum]
    return min(close), max(close)


def _planned_recall(layouts: Sequence[Layout]) -> float | None:
    """Return the lowest plan that loses few duplicates, else the highest; None without bands."""
    for candidate in layouts:
        if candidate.recall >= ENOUGH:
            return candidate.planned_recall
    return layouts[-1].planned_recall if layouts else None


def _reason(chosen: ExperimentScores, first: ExperimentScores, as_good: tuple[str, ...]) -> str:
    start = f"F1 {chosen.fair.f1 or 0.0:.3f} on pairs that its threshold was not chosen by"
    number = count_of(len(as_good), "other")
    others = f"; {number} not significantly different" if as_good else ""
    if chosen is first:
        return f"{start}, the highest of a recipe that an index can hold{others}"
    highest = (
        "the highest of a recipe that an index can hold is "
        f"{first.fair.f1 or 0.0:.3f} ({first.recipe})"
    )
    return f"{start}; {highest}, no better beyond chance{others}"


def _layouts(chosen: ExperimentScores, recipe: Recipe, truth: Truth) -> list[Layout]:
    experiment = chosen.experiment
    if not experiment.together:
        return []
    best = chosen.best.threshold
    threshold = min(THRESHOLDS, key=lambda candidate: (abs(candidate - best), candidate))
    by_features = experiment.features
    values = np.array(experiment.sketch if by_features is None else by_features)
    duplicates = truth.similar & (values >= best)
    layouts = []
    for planned in RECALLS:
        bands, rows = layout(threshold, recipe, planned)
        together = _unpack(experiment.together[f"{bands}x{rows}"], len(values))
        recall = _mean(together[duplicates])
        burden = _mean(together[truth.different])
        layouts.append(Layout(threshold, planned, bands, rows, recall, burden))
    return layouts


def _unpack(bits: str, count: int) -> Flags:
    octets = np.frombuffer(bytes.fromhex(bits), dtype=np.uint8)
    return np.unpackbits(octets, count=count).astype(np.bool_)


def _mean(flags: Flags) -> float:
    return float(flags.mean()) if len(flags) else 0.0


EXPERIMENTS = "experiments"


@dataclass(frozen=True, slots=True)
class TuneOptions:
    """Options of `tune`.

    `recipes`: the recipes to try; the whole `grid` when empty. `workers`: processes that share the
    recipes; one a processor when None. `strict`: a pair of which one text contains the other is
    different; else it counts for neither. `seed`: the seed of the random sample of unrelated
    pairs. `measure` scores the recipes with MinHash on the texts; None stands for the measure of
    each recipe, by which layouts of bands are planned in any case.
    """

    recipes: Sequence[Recipe] = ()
    grid: str = "standard"
    workers: int | None = None
    strict: bool = False
    seed: int = 0
    measure: str | None = None

    def __post_init__(self) -> None:
        if self.measure is not None:
            check_measure(self.measure)


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
    if options.measure is not None:
        digest = f"{cases.digest}-{options.measure.replace(':', '_')}"
        cases = replace(cases, measure=options.measure, digest=digest)
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
        choice=choice(results, recipes, truth, options.measure),
        kept=trial.kept,
        left_out=trial.left_out,
    )
