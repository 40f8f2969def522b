"""The page of benchmarks/quality.py: its tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.lab.synthesis.kinds import KINDS
from indexer.lab.tuning.judgement import truth_of
from indexer.lab.tuning.tuning_results import UNRELATED, Cases, Choice, ExperimentScores

DUPLICATES = [
    name for name, kind in KINDS.items() if kind.type in ("identical", "near-identical", "fuzzy")
]
NAMES = {
    "documentation": "documentation",
    "manuals": "manual pages",
    "languages": "fifteen languages",
}
MEETING = (0.9, 0.99)
OVERALL = (
    "recipe",
    "fair F1",
    "95 %",
    "best at",
    "P",
    "R",
    "F1",
    "own",
    "P",
    "R",
    "F1",
    "by sketch",
    "strict",
    "ROC",
    "ms",
    "bits",
)
PAGE = """# Every recipe on every kind of synthetic ground truth

Made by `python benchmarks/quality.py --work FOLDER`, which makes synthetic pairs from texts of
the machine it runs on and evaluates the standard grid of `nearfold tune`
([tuning.md](tuning.md)). All figures of every recipe on every kind are in
[quality.csv](quality.csv).

{counted}.

Copies, formats, edits and so on are duplicates. A text that is contained in another counts for
neither side (in the column `strict` as different); `boilerplate`, `short-other`, `translation`
and pairs of unrelated documents are different.{absent}

{finding}
The decision based on it: [decisions/010-defaults.md](decisions/010-defaults.md).

## All texts

Sorted by fair F1: each half of the groups is scored with the threshold that is best for the other
half; its interval resamples groups. `best at`: the threshold with the highest F1 on everything,
with precision, recall and F1; `own`: the threshold that the recipe is planned for. MinHash
recipes are scored by their features, `by sketch` by slots alone. `ms`: milliseconds to sign a
document.

{overall}

## Bands

Of the layouts that `plan` gives for thresholds from .1 to .95 and with which this share of all
duplicates above meets in a band, the one with the fewest unrelated pairs that also meet: the
candidates that a look-up must check.

{bands}

## By corpus

{corpora}
"""


def met(packed: str, count: int) -> NDArray[np.bool_]:
    """Return which pairs share a band, from the results of an experiment."""
    return np.unpackbits(np.frombuffer(bytes.fromhex(packed), dtype=np.uint8), count=count).astype(
        bool
    )


def bands(ranked: Sequence[ExperimentScores], cases: Cases) -> Iterator[str]:
    """Return for every recipe with slots the layout that brings enough duplicates together and the
    fewest others.
    """
    truth = truth_of(cases.pairs)
    unrelated = np.array([pair.type == UNRELATED for pair in cases.pairs])
    yield from head(
        ["recipe", *(f"{share:.0%} meet: bands x rows, unrelated that meet" for share in MEETING)]
    )
    for scores in ranked:
        layouts = {
            layout: met(packed, len(cases.pairs))
            for layout, packed in scores.experiment.together.items()
        }
        if layouts:
            cells = []
            for share in MEETING:
                able = [
                    (flags[unrelated].mean(), name)
                    for name, flags in layouts.items()
                    if flags[truth.similar].mean() >= share
                ]
                burden, name = min(able, default=(None, ""))
                cells.append(
                    "none" if burden is None else f"{name.replace('x', ' x ')}, {burden:.2%}"
                )
            yield row([f"`{scores.recipe}`", *cells])


def cents(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f}"


def thousandths(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}".removeprefix("0")


def row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def head(cells: Sequence[str]) -> Iterator[str]:
    yield row(cells)
    yield row(["---", *("---:" for _ in cells[1:])])


def overall(
    ranked: Sequence[ExperimentScores], strictly: dict[str, ExperimentScores]
) -> Iterator[str]:
    yield from head(OVERALL)
    for scores in ranked:
        experiment = scores.experiment
        low, high = scores.interval or (None, None)
        points = [
            text
            for at in (scores.best, scores.usual)
            for text in (
                f"{at.threshold:.3g}",
                *map(thousandths, (at.counts.precision, at.counts.recall, at.counts.f1)),
            )
        ]
        strict = strictly[scores.recipe]
        yield row(
            [
                f"`{scores.recipe}`",
                thousandths(scores.fair.f1),
                f"{thousandths(low)}–{thousandths(high)}",
                *points,
                thousandths(scores.by_sketch.counts.f1),
                f"{thousandths(strict.best.counts.f1)} at {strict.best.threshold:.3g}",
                thousandths(scores.area),
                f"{1000 * experiment.seconds / experiment.texts:.1f}",
                f"{experiment.bits:,}" if experiment.bits else "–",
            ]
        )


def by_corpus(
    ranked: Sequence[ExperimentScores], corpora: dict[str, dict[str, ExperimentScores]]
) -> Iterator[str]:
    yield from head(["recipe", *(f"{NAMES[name]}: fair F1, best at" for name in corpora)])
    for scores in ranked:
        cells = [results[scores.recipe] for results in corpora.values()]
        yield row(
            [
                f"`{scores.recipe}`",
                *(f"{thousandths(cell.fair.f1)} at {cell.best.threshold:.3g}" for cell in cells),
            ]
        )


def page(
    ranked: Sequence[ExperimentScores],
    strictly: dict[str, ExperimentScores],
    everything: Cases,
    corpora: dict[str, Cases],
    apart: dict[str, dict[str, ExperimentScores]],
    chosen: Choice,
) -> str:
    return PAGE.format(
        counted="; ".join(
            f"{NAMES[name]}: {describe_cases(cases)}" for name, cases in corpora.items()
        ),
        absent=absent(everything),
        finding=finding(chosen),
        overall="\n".join(overall(ranked, strictly)),
        bands="\n".join(bands(ranked, everything)),
        corpora="\n".join(by_corpus(ranked, apart)),
    )


def absent(cases: Cases) -> str:
    """The kinds that were not made, where there are any."""
    missing = [f"`{kind}`" for kind in KINDS if kind not in cases.kinds]
    return (
        f"\nNot made, because their programs are missing: {', '.join(missing)}." if missing else ""
    )


def describe_cases(cases: Cases) -> str:
    groups = len({pair.block for pair in cases.pairs})
    return f"{len(cases.texts):,} documents, {len(cases.pairs):,} pairs in {groups:,} groups"


def finding(choice: Choice) -> str:
    low, high = choice.thresholds
    better = "\n".join(f"Significantly better: `{name}`." for name in choice.better)
    return (
        f"By the rule of `nearfold tune`: **`{choice.recipe}`** at {choice.threshold:g} "
        f"({low:g} to {high:g} lose .01 at most):\n"
        f"{choice.reason}.\n{better}"
    )
