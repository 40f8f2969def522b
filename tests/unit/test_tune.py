"""Tuning: what experiments measure, what thresholds make of it, which recipe is chosen; runs that
go on where they stopped.
"""

from __future__ import annotations

import csv
import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import time
from html import escape, unescape
from pathlib import Path

import numpy as np
import psutil
import pytest
from corpus.documents import fifty
from corpus.formats import txt

from indexer.comparing.measures import ComparedText, measure_pair
from indexer.errors import UnknownName, UsageError
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.lab.evaluation.precision_recall import Counts
from indexer.lab.synthesis.synth import SynthOptions, synth
from indexer.lab.tuning.experiment import experiment, run
from indexer.lab.tuning.report import COLUMNS, page, table, write
from indexer.lab.tuning.results import UNRELATED, Case, Cases, Experiment, TuneResult
from indexer.lab.tuning.tune import (
    GRIDS,
    STEPS,
    TuneOptions,
    area,
    best_of,
    cases_of,
    judge_experiment,
    point,
    points,
    recipes_of,
    truth_of,
    tune,
    usual_threshold,
)
from indexer.recipe import DEFAULT, recipe_named
from indexer.review.charts import histogram

RECIPES = [
    "default",
    "ws:none:sha1:64",
    "2-grams:norm:mmh3:32:fss",
    "signature-study:weighted-topsig:64",
    "simhash-doc-v2",
]
QUICK = ("default", "ws:none:sha1:64")


@pytest.fixture(scope="session")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tuning")
    (place / "texts").mkdir()
    for document in fifty():
        (place / "texts" / f"{document.name}.txt").write_text(txt.text(document), encoding="utf-8")
    kinds = ["copy", "edit-10", "edit-40", "boilerplate", "excerpt"]
    corpus = synth(place / "texts", place / "corpus", SynthOptions(kinds=kinds, documents=8))
    return Path(corpus.gold)


@pytest.fixture(scope="session")
def cases(gold: Path) -> Cases:
    return cases_of([str(gold)])


@pytest.fixture(scope="session")
def tuned(gold: Path, tmp_path_factory: pytest.TempPathFactory) -> TuneResult:
    return tune(
        gold,
        tmp_path_factory.mktemp("tuned"),
        options=TuneOptions([recipe_named(name) for name in RECIPES], workers=1),
    )


def test_unrelated_pairs_are_of_different_groups(cases: Cases, gold: Path) -> None:
    with gold.open(encoding="utf-8", newline="") as sheet:
        groups = {
            Path(row[side]).name[:4]: row["group"] for row in csv.DictReader(sheet) for side in "ab"
        }
    assert len(set(groups.values())) == 4
    unrelated = [pair for pair in cases.pairs if pair.type == UNRELATED]
    labelled = {(pair.a, pair.b) for pair in cases.pairs if pair.type != UNRELATED}
    assert (
        len(unrelated) > len(labelled) and not {(pair.a, pair.b) for pair in unrelated} & labelled
    )
    block = {
        place: pair.block
        for pair in cases.pairs
        if pair.type != UNRELATED
        for place in (pair.a, pair.b)
    }
    assert all(block[pair.a] != block[pair.b] for pair in unrelated)
    assert cases_of([str(gold)]) == cases and cases_of([str(gold)], seed=1).pairs != cases.pairs


def test_without_groups_what_pairs_link_is_a_block(tmp_path: Path) -> None:
    for name in "abcdef":
        (tmp_path / name).write_text(f"the text that is called {name}")
    (tmp_path / "gold.csv").write_text("a,b,type\na,b,near\nb,c,fuzzy\nd,e,identical\n")
    cases = cases_of([str(tmp_path / "gold.csv")])
    assert len({pair.block for pair in cases.pairs if pair.type != UNRELATED}) == 2
    assert cases.kinds == {
        "near-identical": "near-identical",
        "fuzzy": "fuzzy",
        "identical": "identical",
        UNRELATED: UNRELATED,
    }


def test_sheets_of_assessors_are_a_truth_too(tmp_path: Path) -> None:
    for name in "abcd":
        (tmp_path / name).write_text(f"the text that is called {name}")
    for assessor, last in (("anna", "fuzzy"), ("bert", "different")):
        lines = ({"sheet": 1, "assessor": assessor}, {"a": "a", "b": "b", "judgement": "identical"})
        sheet = "".join(
            f"{json.dumps(line)}\n" for line in (*lines, {"a": "c", "b": "d", "judgement": last})
        )
        (tmp_path / f"{assessor}.jsonl").write_text(sheet)
    (tmp_path / "carol.csv").write_text("a,b,judgement,role\nc,d,different,arbiter\n")
    cases = cases_of([str(tmp_path / name) for name in ("anna.jsonl", "bert.jsonl", "carol.csv")])
    assert sorted(pair.type for pair in cases.pairs if pair.type != UNRELATED) == [
        "different",
        "identical",
    ]
    (tmp_path / "gold.csv").write_text("a,b,type\na,b,near\n")
    with pytest.raises(UsageError, match="sheets of assessors and nothing else"):
        cases_of([str(tmp_path / "anna.jsonl"), str(tmp_path / "gold.csv")])


@pytest.mark.parametrize("rows", ["a,b,identical\n", "a,b,different\n"])
def test_both_sides_of_the_truth_are_needed(tmp_path: Path, rows: str) -> None:
    for name in "ab":
        (tmp_path / name).write_text("a text")
    (tmp_path / "gold.csv").write_text(f"a,b,type\n{rows}")
    with pytest.raises(UsageError, match="both are needed"):
        cases_of([str(tmp_path / "gold.csv")])
    (tmp_path / "gold.csv").write_text("a,b,type\na,./a,identical\na,b,different\n")
    with pytest.raises(UsageError, match="are the same document"):
        cases_of([str(tmp_path / "gold.csv")])


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [*RECIPES, "4-grams:default:mmh3:64:fss", "clauses", "baseline:winnowing"]
)
def test_an_experiment_agrees_with_the_recipe(cases: Cases, name: str) -> None:
    few = Cases(cases.texts, cases.pairs[:12], "few")
    recipe = recipe_named(name)
    result = experiment(few, recipe)
    assert len(result.sketch) == 12 and result.texts == len(cases.texts)
    if recipe.statistics is None and recipe.minhash:
        assert result.features is not None
        for pair, sketch, exact in zip(few.pairs, result.sketch, result.features, strict=True):
            a, b = (fingerprint(few.texts[place], recipe) for place in (pair.a, pair.b))
            assert sketch == pytest.approx(float(np.mean(a.minhash == b.minhash)), abs=1e-5)
            sides = (ComparedText(few.texts[place], recipe) for place in (pair.a, pair.b))
            measured = measure_pair("lcs" if name == "default" else "jaccard", *sides)
            assert exact == pytest.approx(measured.similarity, abs=1e-5)
            for layout, packed in result.together.items():
                bands, rows = map(int, layout.split("x"))
                same = (
                    (a.minhash == b.minhash)[: bands * rows].reshape(bands, rows).all(axis=1).any()
                )
                bits = np.unpackbits(np.frombuffer(bytes.fromhex(packed), np.uint8), count=12)
                assert bits[few.pairs.index(pair)] == same
    assert result.sketch[0] == 1.0 and few.pairs[0].kind == "copy"


def test_area_counts_pairs_in_order() -> None:
    chance = np.random.default_rng(1)
    similar, different = chance.integers(0, 20, 60) / 20, chance.integers(0, 15, 80) / 20
    wins = sum((a > b) + (a == b) / 2 for a in similar for b in different)
    assert area(similar, different) == pytest.approx(wins / (60 * 80))


def test_a_threshold_counts_and_the_middle_of_the_best_is_taken() -> None:
    truth = truth_of(
        [
            Case(0, 1, "fuzzy", "k", 0),
            Case(2, 3, "different", "d", 1),
            Case(4, 5, "contained", "c", 2),
        ]
    )
    values = np.array([0.6, 0.4, 0.9])
    assert point(values, truth, 0.5).counts == Counts(1, 0, 0)
    assert point(values, truth, 0.4).counts == Counts(1, 1, 0)
    assert point(values, truth, 0.61).counts == Counts(0, 0, 1)
    assert point(np.zeros(3), truth, 1 / STEPS).counts == Counts(0, 0, 1)
    assert 0.45 < best_of(points(values, truth)).threshold < 0.55
    strict = truth_of([Case(0, 1, "fuzzy", "k", 0), Case(4, 5, "contained", "c", 2)], strict=True)
    assert point(np.array([0.6, 0.9]), strict, 0.5).counts == Counts(1, 1, 0)


def test_fair_figures_take_the_threshold_from_the_other_half() -> None:
    cases = [
        Case(2 * n, 2 * n + 1, type, type, n) for n, type in enumerate(["fuzzy", "different"] * 40)
    ]
    truth = truth_of(cases)
    assert 10 < truth.half.sum() < 70
    # in one half similar pairs lie at .9 and different ones at .8, in the other at .5 and .3: no
    # threshold serves both
    values = np.where(
        truth.half, np.where(truth.similar, 0.9, 0.8), np.where(truth.similar, 0.5, 0.3)
    )
    similarities = tuple(values.tolist())
    scores = judge_experiment(
        Experiment("default_v3", DEFAULT.id, "x", similarities, similarities, {}, 0, 0, 0.0, None),
        DEFAULT,
        truth,
    )
    right, wrong, missed = scores.fair.right, scores.fair.wrong, scores.fair.missed
    assert (
        right == (truth.half & truth.similar).sum()
        and missed == (~truth.half & truth.similar).sum()
    )
    assert wrong == (truth.half & truth.different).sum()
    assert (scores.fair.f1 or 0) < (scores.best.counts.f1 or 0)
    assert (
        scores.interval is not None
        and scores.interval[0] <= (scores.fair.f1 or 0) <= scores.interval[1]
    )
    assert sum(scores.similar) == sum(scores.different) == 40


@pytest.mark.long
def test_kinds_add_up(tuned: TuneResult) -> None:
    for result in tuned.results:
        duplicates = [kind for kind in result.kinds if kind.type in ("identical", "fuzzy")]
        assert sum(kind.best.right for kind in duplicates) == result.best.counts.right
        assert (
            sum(kind.found for kind in result.kinds if kind.type in ("different", UNRELATED))
            == result.best.counts.wrong
        )
        assert {kind.kind: kind.type for kind in result.kinds}["excerpt"] == "contained"
        assert all(kind.found_usually <= kind.pairs for kind in result.kinds)
    by_name = {result.recipe: result for result in tuned.results}
    assert [kind.found_usually for kind in by_name["default_v3"].kinds if kind.kind == "copy"] == [
        8
    ]


def test_every_recipe_has_a_threshold_of_its_own() -> None:
    for grid in GRIDS:
        assert all(0 < usual_threshold(recipe) <= 1 for recipe in recipes_of(grid))
    assert usual_threshold(DEFAULT) == 0.8 and usual_threshold(recipe_named(":::")) == 0.5
    assert usual_threshold(recipe_named("signature-study:topsig:64")) == 1 - 3 / 64
    assert len(recipes_of("full")) > 600 and {DEFAULT} < set(recipes_of("quick")) < set(
        recipes_of("standard")
    )
    with pytest.raises(UnknownName):
        recipes_of("huge")


@pytest.mark.long
def test_the_default_is_chosen_unless_another_is_better_beyond_chance(tuned: TuneResult) -> None:
    assert tuned.choice.recipe == "default_v3" and tuned.choice.recall in (0.8, 0.9, 0.95, 0.99)
    assert tuned.choice.thresholds[0] <= tuned.choice.threshold <= tuned.choice.thresholds[1]
    recalls = [layout.recall for layout in tuned.choice.layouts]
    assert recalls == sorted(recalls)


def test_a_better_recipe_is_chosen(cases: Cases) -> None:
    from indexer.lab.tuning.tune import choice

    better = recipe_named("ws:none:sha1:64")
    chance = np.random.default_rng(3)
    good = tuple(1.0 if pair.similar else 0.1 for pair in cases.pairs)
    bad = tuple(chance.random(len(cases.pairs)).round(5).tolist())
    truth = truth_of(cases.pairs)
    scores = [
        judge_experiment(
            Experiment(
                recipe.name, recipe.id, "x", similarities, similarities, {}, 0, 0, 0.0, None
            ),
            recipe,
            truth,
        )
        for recipe, similarities in ((DEFAULT, bad), (better, good))
    ]
    assert choice(scores, [DEFAULT, better], truth).recipe == better.name
    assert choice(scores[:1], [DEFAULT, better], truth).recipe == DEFAULT.name


@pytest.mark.long
def test_a_run_goes_on_and_ignores_what_does_not_fit(cases: Cases, tmp_path: Path) -> None:
    recipes = [recipe_named(name) for name in QUICK]
    first = run(cases, recipes[:1], tmp_path, 1, lambda *_: None)
    assert first.kept == 0
    both = run(cases, recipes, tmp_path, 1, lambda *_: None)
    assert both.kept == 1 and both.experiments[0] == first.experiments[0]
    for place in tmp_path.iterdir():
        place.write_text(place.read_text()[:100])
    again = run(cases, recipes, tmp_path, 1, lambda *_: None)
    assert again.kept == 0 and [experiment.sketch for experiment in again.experiments] == [
        experiment.sketch for experiment in both.experiments
    ]


@pytest.mark.long
def test_a_measure_scores_the_texts_instead_of_that_of_the_recipe(
    gold: Path, tuned: TuneResult, tmp_path: Path
) -> None:
    recipes = [recipe_named(name) for name in QUICK]
    options = TuneOptions(recipes=recipes, workers=1, measure="overlap:information")
    result = tune(gold, tmp_path, options=options)
    assert result.choice.measure == "overlap:information"
    [usual, scored] = (
        next(one for one in each.results if one.recipe == DEFAULT.name) for each in (tuned, result)
    )
    assert usual.experiment.sketch == scored.experiment.sketch
    assert usual.experiment.features != scored.experiment.features
    assert tune(gold, tmp_path, options=options).kept == len(QUICK)
    assert tune(gold, tmp_path, options=dataclasses.replace(options, measure=None)).kept == 0


@pytest.mark.slow
def test_several_workers_find_the_same(cases: Cases, tuned: TuneResult, tmp_path: Path) -> None:
    recipes = [recipe_named(name) for name in RECIPES[1:4]]
    progress: list[tuple[str, int, int]] = []
    parallel = run(cases, recipes, tmp_path, 2, lambda *step: progress.append(step))
    alone = {result.recipe: result.experiment for result in tuned.results}
    for result in parallel.experiments:
        assert dataclasses.replace(result, seconds=0.0) == dataclasses.replace(
            alone[result.recipe], seconds=0.0
        )
    assert progress[0][1:] == (0, 3) and progress[-1][1:] == (3, 3)


@pytest.mark.long
def test_a_killed_run_goes_on(gold: Path, tmp_path: Path) -> None:
    out, root = tmp_path / "out", Path(__file__).parent.parent.parent
    command = [
        sys.executable,
        "-m",
        "indexer",
        "tune",
        str(gold),
        "--out",
        str(out),
        "--workers",
        "2",
        "--json",
    ]
    names = RECIPES[:3]
    command += [word for name in names for word in ("--recipe", name)]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    running = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not list(out.glob("experiments/*.json")) and time.monotonic() < deadline:
        time.sleep(0.02)
    workers = psutil.Process(running.pid).children(recursive=True)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert len(workers) >= 2 and psutil.wait_procs(workers, timeout=30)[1] == []
    assert list(out.glob("experiments/*.json")) and not (out / "report.html").exists()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    account = json.loads(done.stdout)
    assert account["kept"] >= 1 and len(account["recipes"]) == len(names)
    assert {path.name for path in out.iterdir()} == {
        "experiments",
        "report.html",
        "results.csv",
        "results.json",
    }


@pytest.mark.long
def test_the_report_needs_nothing_but_itself(tuned: TuneResult, tmp_path: Path) -> None:
    hostile = dataclasses.replace(
        tuned, left_out={"<script>alert(1)</script>": "no \u202e library"}
    )
    html = page(hostile)
    assert (
        "<script" not in html
        and "\u202e" not in html
        and "http://" not in html
        and "https://" not in html
    )
    assert not re.search(r"\bon\w+=", html) and "default-src 'none'" in unescape(html)
    assert html.count("<svg") == 3 + len(tuned.results) and all(
        result.recipe in html for result in tuned.results
    )
    write(tuned, tmp_path)
    with (tmp_path / "results.csv").open(encoding="utf-8", newline="") as sheet:
        rows = list(csv.DictReader(sheet))
    assert (
        tuple(rows[0]) == COLUMNS and len(rows) == len(list(table(tuned))) == 2 * len(RECIPES) * 8
    )
    best = next(
        row
        for row in rows
        if (row["recipe"], row["at"], row["kind"]) == ("default_v3", "best", "all")
    )
    assert float(best["recall"]) > 0.9


@pytest.mark.long
def test_a_small_number_of_groups_is_reported(tuned: TuneResult) -> None:
    assert 1 < tuned.groups < 20
    html = page(tuned)
    assert f"of {tuned.groups} groups" in tuned.caution and escape(tuned.caution) in html
    many = dataclasses.replace(tuned, groups=20)
    assert not many.caution and "Caution" not in page(many)
    assert dataclasses.replace(tuned, groups=1).caution.startswith(
        "the duplicates are of one group"
    )


def test_separation_draws_every_bin_on_a_logarithmic_scale() -> None:
    counts = [("similar", (0, 1, 10)), ("different", (1000, 0, 0))]
    chart = histogram("pairs", counts, "similarity", 0.5)
    assert chart.count('<path d="M') == 3
    assert re.findall(r">([\d,]+)</text>", chart)[-5:] == ["0", "1", "10", "100", "1,000"]
