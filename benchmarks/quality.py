"""Every recipe on every kind of planted truth: the tables of docs/quality.md, and the figures that choose the defaults.

    python benchmarks/quality.py --work FOLDER [--documents 12] [--workers 2] [--docs /usr/share/doc] [--manuals /usr/share/man]

Three corpora are planted: in the documentation of this machine, in its manual pages (of many languages, with their
translations), and in the tests' texts in fifteen languages. A run that was cut short goes on. Writes docs/quality.md and
docs/quality.csv.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexer import recipe_named, synth
from indexer.planting.kinds import KINDS
from indexer.recipe import Recipe
from indexer.scores import Counts
from indexer.tuning.cases import UNRELATED, Cases, cases_of
from indexer.tuning.choosing import choice
from indexer.tuning.experiment import Experiment
from indexer.tuning.grid import recipes_of
from indexer.tuning.judging import Judged, judged, truth_of
from indexer.tuning.running import Ran, run

ROOT = Path(__file__).resolve().parent.parent
DUPLICATES = [kind for kind, one in KINDS.items() if one.type in ("identical", "near-identical", "fuzzy")]
NAMES = {"documentation": "documentation", "manuals": "manual pages", "languages": "fifteen languages"}
MEETING = (0.9, 0.99)
OVERALL = (
    "recipe", "fair F1", "95 %", "best at", "P", "R", "F1", "own", "P", "R", "F1", "by sketch", "strict", "ROC", "ms", "bits",
)  # fmt: skip
PAGE = """# Every recipe on every kind of planted truth

Made by `python benchmarks/quality.py --work FOLDER`, which plants truth in texts of the machine it runs on and tries the
standard grid of `nearfold tune` ([tuning.md](tuning.md)). All figures, of every recipe, kind and corpus, are in
[quality.csv](quality.csv).

{counted}.

Copies, formats, edits and so on are duplicates. What is contained in another text counts for neither side (in the column
`strict` as different); `boilerplate`, `short-other`, `translation` and pairs of unrelated documents are different.

{finding}
What was decided from it: [decisions/010-defaults.md](decisions/010-defaults.md).

## All texts together

By fair F1: each half of the groups judged by the threshold that is best for the other half; its interval draws groups again.
`best at`: the threshold with the highest F1 on everything, with precision, recall and F1; `own`: the threshold that the recipe
is planned for. MinHash recipes are judged by their features, `by sketch` by slots alone. `ms`: to sign a document.

{overall}

## Kind by kind, at the best threshold

Precision / recall / F1 in per cent; wrong pairs of every kind count against each.

{best}

## Kind by kind, at the recipe's own threshold

{own}

## What is no duplicate

Per cent of the pairs that were found, at the best / at the own threshold. Contained texts are no error unless you say so.

{others}

## Bands that bring duplicates together

Of the layouts that `plan` gives for thresholds from .1 to .95, the one with the fewest unrelated pairs among those under which
so many of all duplicates above share a band: what a look-up must sift for them.

{bands}

## Text by text

{corpora}
"""
Corpora = dict[str, tuple[Cases, Ran]]


def planted(work: Path, sources: dict[str, Path], documents: int) -> None:
    for name, source in sources.items():
        if not (work / name / "gold.csv").exists():
            synth(source, work / name, seed=1, documents=documents, programs=False)


def languages(work: Path) -> Path:
    """The tests' texts as files."""
    sys.path.insert(0, str(ROOT / "tests"))
    from corpus.documents import fifty
    from corpus.formats import txt

    sys.path.pop(0)
    folder = work / "texts"
    folder.mkdir(parents=True, exist_ok=True)
    for document in fifty():
        (folder / f"{document.name}.txt").write_text(txt.text(document), encoding="utf-8")
    return folder


def pooled(corpora: Corpora) -> tuple[Cases, list[Experiment]]:
    """All corpora as one: blocks and texts numbered on, experiments of the same recipe joined."""
    pairs, texts, blocks = [], [], 0
    for cases, _ in corpora.values():
        pairs += [replace(one, a=one.a + len(texts), b=one.b + len(texts), block=one.block + blocks) for one in cases.pairs]
        texts += cases.texts
        blocks += 1 + max(one.block for one in cases.pairs)
    everything = Cases(tuple(texts), tuple(pairs), "pooled")
    return everything, [joined(several) for several in zip(*(ran.experiments for _, ran in corpora.values()), strict=True)]


def joined(several: Sequence[Experiment]) -> Experiment:
    features = [one.features for one in several if one.features is not None]
    layouts = several[0].together
    return replace(
        several[0],
        sketch=tuple(value for one in several for value in one.sketch),
        features=tuple(value for part in features for value in part) if features else None,
        together={layout: all_together([(one.together[layout], len(one.sketch)) for one in several]) for layout in layouts},
        texts=sum(one.texts for one in several),
        unsigned=sum(one.unsigned for one in several),
        seconds=sum(one.seconds for one in several),
    )


def met(told: str, count: int) -> NDArray[np.bool_]:
    """Which pairs share a band, as an experiment tells it."""
    return np.unpackbits(np.frombuffer(bytes.fromhex(told), dtype=np.uint8), count=count).astype(bool)


def all_together(parts: Sequence[tuple[str, int]]) -> str:
    return np.packbits(np.concatenate([met(told, count) for told, count in parts])).tobytes().hex()


def bands(ranked: Sequence[Judged], cases: Cases) -> Iterator[str]:
    """For every recipe with slots the layout that brings enough duplicates together and the fewest others."""
    truth = truth_of(cases.pairs)
    unrelated = np.array([one.type == UNRELATED for one in cases.pairs])
    yield from head(["recipe", *(f"{share:.0%} meet: bands x rows, unrelated that meet" for share in MEETING)])
    for one in ranked:
        layouts = {layout: met(told, len(cases.pairs)) for layout, told in one.experiment.together.items()}
        if layouts:
            cells = []
            for share in MEETING:
                able = [
                    (flags[unrelated].mean(), name) for name, flags in layouts.items() if flags[truth.similar].mean() >= share
                ]
                burden, name = min(able, default=(None, ""))
                cells.append("none" if burden is None else f"{name.replace('x', ' x ')}, {burden:.2%}")
            yield row([f"`{one.recipe}`", *cells])


def cents(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f}"


def thousandths(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}".removeprefix("0")


def row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def head(cells: Sequence[str]) -> Iterator[str]:
    yield row(cells)
    yield row(["---", *("---:" for _ in cells[1:])])


def overall(ranked: Sequence[Judged], strictly: dict[str, Judged]) -> Iterator[str]:
    yield from head(OVERALL)
    for one in ranked:
        made = one.experiment
        low, high = one.interval or (None, None)
        points = [
            text
            for at in (one.best, one.usual)
            for text in (f"{at.threshold:.3g}", *map(thousandths, (at.counts.precision, at.counts.recall, at.counts.f1)))
        ]
        strict = strictly[one.recipe]
        yield row(
            [
                f"`{one.recipe}`",
                thousandths(one.fair.f1),
                f"{thousandths(low)}–{thousandths(high)}",
                *points,
                thousandths(one.by_sketch.counts.f1),
                f"{thousandths(strict.best.counts.f1)} at {strict.best.threshold:.3g}",
                thousandths(one.area),
                f"{1000 * made.seconds / made.texts:.1f}",
                f"{made.bits:,}" if made.bits else "–",
            ]
        )


def by_kind(ranked: Sequence[Judged], best: bool) -> Iterator[str]:
    kinds = [kind for kind in DUPLICATES if kind in {one.kind for one in ranked[0].kinds}]
    yield from head(["recipe", *kinds])
    for one in ranked:
        of = {kind.kind: kind for kind in one.kinds}
        yield row([f"`{one.recipe}`", *(triple(of[kind].best if best else of[kind].usual) for kind in kinds)])


def triple(counts: Counts) -> str:
    return "/".join(cents(value) for value in (counts.precision, counts.recall, counts.f1))


def others(ranked: Sequence[Judged]) -> Iterator[str]:
    kinds = [one.kind for one in ranked[0].kinds if one.type in ("contained", "different", "unrelated")]
    yield from head(["recipe", *kinds])
    for one in ranked:
        of = {kind.kind: kind for kind in one.kinds}
        cells = (f"{shared(of[k].found, of[k].pairs)} / {shared(of[k].found_usually, of[k].pairs)}" for k in kinds)
        yield row([f"`{one.recipe}`", *cells])


def shared(found: int, pairs: int) -> str:
    return f"{100 * found / pairs:.1f}".removesuffix(".0")


def by_corpus(ranked: Sequence[Judged], corpora: dict[str, dict[str, Judged]]) -> Iterator[str]:
    yield from head(["recipe", *(f"{NAMES[name]}: fair F1, best at" for name in corpora)])
    for one in ranked:
        cells = [results[one.recipe] for results in corpora.values()]
        yield row([f"`{one.recipe}`", *(f"{thousandths(cell.fair.f1)} at {cell.best.threshold:.3g}" for cell in cells)])


def page(
    ranked: Sequence[Judged],
    strictly: dict[str, Judged],
    everything: Cases,
    corpora: Corpora,
    apart: dict[str, dict[str, Judged]],
    told: str,
) -> str:
    return PAGE.format(
        counted="; ".join(f"{NAMES[name]}: {described(cases)}" for name, (cases, _) in corpora.items()),
        finding=told,
        overall="\n".join(overall(ranked, strictly)),
        best="\n".join(by_kind(ranked, best=True)),
        own="\n".join(by_kind(ranked, best=False)),
        others="\n".join(others(ranked)),
        bands="\n".join(bands(ranked, everything)),
        corpora="\n".join(by_corpus(ranked, apart)),
    )


def described(cases: Cases) -> str:
    groups = len({one.block for one in cases.pairs})
    return f"{len(cases.texts):,} documents, {len(cases.pairs):,} pairs in {groups:,} groups"


def sheet(results: dict[str, Sequence[Judged]], place: Path) -> None:
    """Every recipe on every kind of every corpus, at its best and its own threshold."""
    with place.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        writer.writerow(["texts", "recipe", "kind", "pairs", "at", "threshold", "found", "precision", "recall", "f1"])
        for name, judgements in results.items():
            for one in judgements:
                for kind in one.kinds:
                    for at, point, found, counts in (
                        ("best", one.best, kind.found, kind.best),
                        ("own", one.usual, kind.found_usually, kind.usual),
                    ):
                        duplicate = counts.right + counts.missed > 0
                        shares = (counts.precision, counts.recall, counts.f1) if duplicate else (None, None, None)
                        told = ["" if value is None else f"{value:.3f}" for value in shares]
                        writer.writerow([name, one.recipe, kind.kind, kind.pairs, at, f"{point.threshold:.3f}", found, *told])


def finding(results: Sequence[Judged], recipes: Sequence[Recipe], cases: Cases) -> str:
    made = choice(results, recipes, truth_of(cases.pairs))
    low, high = made.thresholds
    better = f"; better beyond chance: {', '.join(f'`{name}`' for name in made.better)}" if made.better else ""
    return (
        f"By the rule of `nearfold tune`: **`{made.recipe}`** at {made.threshold:g} ({low:g} to {high:g} lose .01 at most):\n"
        f"{made.reason}{better}.\nNot to be told from it: {', '.join(f'`{name}`' for name in made.as_good)}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=12, help="originals of each corpus at most")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--docs", type=Path, default=Path("/usr/share/doc"))
    parser.add_argument("--manuals", type=Path, default=Path("/usr/share/man"))
    parser.add_argument("--grid", default="standard")
    asked = parser.parse_args()
    sources = {"documentation": asked.docs, "manuals": asked.manuals, "languages": languages(asked.work)}
    planted(asked.work, sources, asked.documents)
    corpora: Corpora = {}
    for name in sources:
        cases = cases_of(str(asked.work / name / "gold.csv"))
        place = asked.work / f"{name}-tuned" / "experiments"
        ran = run(cases, recipes_of(asked.grid), place, asked.workers, lambda *step, of=name: print(of, *step, file=sys.stderr))
        corpora[name] = (cases, ran)
    recipes = [recipe_named(one.recipe) for one in corpora["languages"][1].experiments]
    everything, experiments = pooled(corpora)
    results = judgements(experiments, recipes, everything)
    strictly = {one.recipe: one for one in judgements(experiments, recipes, everything, strict=True)}
    apart = {name: judgements(ran.experiments, recipes, cases) for name, (cases, ran) in corpora.items()}
    ranked = sorted(results, key=lambda one: (-(one.fair.f1 or 0), one.recipe))
    by_name = {name: {one.recipe: one for one in several} for name, several in apart.items()}
    written = page(ranked, strictly, everything, corpora, by_name, finding(results, recipes, everything))
    (ROOT / "docs" / "quality.md").write_text(written, encoding="utf-8")
    sheet({"all": results, **apart}, ROOT / "docs" / "quality.csv")


def judgements(
    experiments: Sequence[Experiment], recipes: Sequence[Recipe], cases: Cases, *, strict: bool = False
) -> list[Judged]:
    truth = truth_of(cases.pairs, strict)
    return [judged(one, recipe, truth) for one, recipe in zip(experiments, recipes, strict=True)]


if __name__ == "__main__":
    main()
