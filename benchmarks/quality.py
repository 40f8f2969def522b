"""Every recipe on every kind of synthetic ground truth: docs/recipe-comparison.md.

    python benchmarks/quality.py --work FOLDER [--documents 12] [--workers 2]
        [--docs /usr/share/doc] [--manuals /usr/share/man]

Three corpora are synthetic: from the documentation of this machine, from its manual pages (of many
languages, with their translations), and in the tests' texts in fifteen languages. A run that was
cut short goes on. Writes docs/quality.csv and docs/recipe-comparison.md.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from measure_corpora import language_files
from quality_tables import met, page

from indexer import SynthOptions, recipe_named, synth
from indexer.lab.tuning.cases import cases_of
from indexer.lab.tuning.choice import choice
from indexer.lab.tuning.grid import recipes_of
from indexer.lab.tuning.judgement import judge_experiment, truth_of
from indexer.lab.tuning.run_experiments import run
from indexer.lab.tuning.tuning_results import Cases, Experiment, ExperimentRun, ExperimentScores
from indexer.recipe import Recipe

ROOT = Path(__file__).resolve().parent.parent
Corpora = dict[str, tuple[Cases, ExperimentRun]]


def make_corpora(work: Path, sources: dict[str, Path], documents: int) -> None:
    for name, source in sources.items():
        if not (work / name / "gold.csv").exists():
            options = SynthOptions(seed=1, documents=documents, programs=False)
            synth(source, work / name, options)


def pool_corpora(corpora: Corpora) -> tuple[Cases, list[Experiment]]:
    """Return all corpora as one: blocks and texts numbered on, experiments of the same recipe
    joined.
    """
    pairs, texts, blocks = [], [], 0
    for cases, _ in corpora.values():
        pairs += [
            replace(pair, a=pair.a + len(texts), b=pair.b + len(texts), block=pair.block + blocks)
            for pair in cases.pairs
        ]
        texts += cases.texts
        blocks += 1 + max(pair.block for pair in cases.pairs)
    everything = Cases(tuple(texts), tuple(pairs), "pooled")
    return everything, [
        join_experiments(several)
        for several in zip(*(outcome.experiments for _, outcome in corpora.values()), strict=True)
    ]


def join_experiments(several: Sequence[Experiment]) -> Experiment:
    features = [experiment.features for experiment in several if experiment.features is not None]
    layouts = several[0].together
    return replace(
        several[0],
        sketch=tuple(value for experiment in several for value in experiment.sketch),
        features=tuple(value for part in features for value in part) if features else None,
        together={
            layout: all_together(
                [(experiment.together[layout], len(experiment.sketch)) for experiment in several]
            )
            for layout in layouts
        },
        texts=sum(experiment.texts for experiment in several),
        unsigned=sum(experiment.unsigned for experiment in several),
        seconds=sum(experiment.seconds for experiment in several),
    )


def all_together(parts: Sequence[tuple[str, int]]) -> str:
    return np.packbits(np.concatenate([met(bits, count) for bits, count in parts])).tobytes().hex()


def sheet(results: Sequence[ExperimentScores], place: Path) -> None:
    """Return every recipe on every kind, at its best and its own threshold."""
    with place.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        writer.writerow(
            ["recipe", "kind", "pairs", "at", "threshold", "found", "precision", "recall", "f1"]
        )
        for result in results:
            for kind in result.kinds:
                for at, point, count, counts in (
                    ("best", result.best, kind.found, kind.best),
                    ("own", result.usual, kind.found_usually, kind.usual),
                ):
                    duplicate = counts.right + counts.missed > 0
                    shares = (
                        (counts.precision, counts.recall, counts.f1)
                        if duplicate
                        else (None, None, None)
                    )
                    cells = ["" if value is None else f"{value:.3f}" for value in shares]
                    writer.writerow(
                        [
                            result.recipe,
                            kind.kind,
                            kind.pairs,
                            at,
                            f"{point.threshold:.3f}",
                            count,
                            *cells,
                        ]
                    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument(
        "--documents", type=int, default=12, help="originals of each corpus at most"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--docs", type=Path, default=Path("/usr/share/doc"))
    parser.add_argument("--manuals", type=Path, default=Path("/usr/share/man"))
    parser.add_argument("--grid", default="standard")
    options = parser.parse_args()
    sources = {
        "documentation": options.docs,
        "manuals": options.manuals,
        "languages": language_files(options.work),
    }
    make_corpora(options.work, sources, options.documents)
    corpora: Corpora = {}
    for name in sources:
        cases = cases_of([str(options.work / name / "gold.csv")])
        place = options.work / f"{name}-tuned" / "experiments"
        outcome = run(
            cases,
            recipes_of(options.grid),
            place,
            options.workers,
            lambda *step, of=name: print(of, *step, file=sys.stderr),
        )
        corpora[name] = (cases, outcome)
    recipes = [
        recipe_named(experiment.recipe) for experiment in corpora["languages"][1].experiments
    ]
    everything, experiments = pool_corpora(corpora)
    results = judgements(experiments, recipes, everything)
    strictly = {
        experiment.recipe: experiment
        for experiment in judgements(experiments, recipes, everything, strict=True)
    }
    apart = {
        name: judgements(outcome.experiments, recipes, cases)
        for name, (cases, outcome) in corpora.items()
    }
    ranked = sorted(results, key=lambda experiment: (-(experiment.fair.f1 or 0), experiment.recipe))
    by_name = {
        name: {experiment.recipe: experiment for experiment in several}
        for name, several in apart.items()
    }
    chosen = choice(results, recipes, truth_of(everything.pairs))
    document = page(
        ranked,
        strictly,
        everything,
        {name: cases for name, (cases, _) in corpora.items()},
        by_name,
        chosen,
    )
    (ROOT / "docs" / "recipe-comparison.md").write_text(document, encoding="utf-8")
    sheet(results, ROOT / "docs" / "quality.csv")


def judgements(
    experiments: Sequence[Experiment],
    recipes: Sequence[Recipe],
    cases: Cases,
    *,
    strict: bool = False,
) -> list[ExperimentScores]:
    truth = truth_of(cases.pairs, strict)
    return [
        judge_experiment(experiment, recipe, truth)
        for experiment, recipe in zip(experiments, recipes, strict=True)
    ]


if __name__ == "__main__":
    main()
