"""`nearfold tune`: choose a recipe and a threshold by pairs whose truth is known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.cli import progress
from indexer.cli.options import json_option, measure_option_with, out_folder_option, seed_option
from indexer.cli.output import console, print_json
from indexer.defaults import TUNE_GRIDS
from indexer.wording import count_of, visible

if TYPE_CHECKING:
    from rich.table import Table

    from indexer.lab.tuning.results import TuneResult
    from indexer.stores.base import Store


LISTED = 10  # recipes that are printed


@click.command("tune")
@click.argument("gold", nargs=-1, required=True, metavar="GOLD|SHEET...")
@out_folder_option("Folder for the report and the results.")
@click.option(
    "--grid",
    type=click.Choice(TUNE_GRIDS),
    default="standard",
    show_default=True,
    help="Set of recipes to try.",
)
@click.option(
    "--recipe",
    "names",
    multiple=True,
    help="Try this recipe instead of a grid; may be given several times.",
)
@click.option(
    "--workers", type=click.IntRange(1), help="Number of processes (default: one per processor)."
)
@click.option(
    "--strict",
    is_flag=True,
    help="Count pairs in which one text contains the other as different.",
)
@measure_option_with(
    "Measure that scores the pairs, for recipes with MinHash (default: the recipe's)."
)
@seed_option("Seed of the random sample of unrelated pairs.")
@click.option("--store", "store_url", help="Store of the documents whose ids are in the gold set.")
@json_option
def tune_command(
    gold: tuple[str, ...],
    out: Path,
    names: tuple[str, ...],
    store_url: str | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Try recipes and thresholds, and recommend one.

    Recipes are measured on synthetic or judged pairs. GOLD and SHEET are files as for `evaluate`.
    Run the same command again to resume after an interruption.
    """
    from indexer.lab.tuning.report import write
    from indexer.lab.tuning.tune import TuneOptions, tune
    from indexer.system.files import folder_at
    from indexer.system.recipe_inputs import recipe_asked

    recipes = [recipe_asked(name) for name in names]
    settings = TuneOptions(recipes=recipes, **options)
    folder_at(out)
    with _store(store_url) as store, progress.show_stages(as_json) as advance:
        result = tune(gold, out, store, settings, progress=advance)
    write(result, out)
    _print_tuning(result, out, as_json)
    return 0


@contextmanager
def _store(url: str | None) -> Iterator[Store | None]:
    from indexer.stores import open_store

    if url is None:
        yield None
        return
    with closing(open_store(url)) as store:
        yield store


def _print_tuning(result: TuneResult, out: Path, as_json: bool) -> None:
    """Print which recipe to use and why, the best recipes and the report's path."""
    from indexer.lab.tuning import report

    if as_json:
        print_json({**report.as_json(result), "report": str(out / report.REPORT)})
        return
    terminal = console()
    choice = result.choice
    recall = "" if choice.recall is None else f", planned recall {choice.recall:g}"
    terminal.print(
        f"use {choice.recipe} with {choice.measure} {choice.threshold:g} or more{recall}"
    )
    terminal.print(f"  {choice.reason}")
    terminal.print(f"  caution: {result.caution}\n" if result.caution else "")
    terminal.print(_score_table(result))
    recipes = count_of(len(result.results), "recipe")
    pairs = count_of(result.pairs, "pair")
    earlier = f"; {result.kept} of them from an earlier run" if result.kept else ""
    documents = count_of(result.documents, "document")
    terminal.print(f"\n{recipes} on {pairs} of {documents}{earlier}")
    for name, reason in result.left_out.items():
        terminal.print(f"not tried: {name}: {visible(reason)}")
    terminal.print(f"the report: {visible(str(out / report.REPORT))}")


def _score_table(result: TuneResult) -> Table:
    """Return the best recipes by F1 on pairs that the threshold was not chosen by."""
    from rich.table import Table

    titles = ("recipe", "fair F1", "best at", "F1", "own", "F1")
    table = Table(*titles, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    best = sorted(result.results, key=lambda trial: -(trial.fair.f1 or 0.0))
    for trial in best[:LISTED]:
        cells = [f"{trial.fair.f1 or 0.0:.3f}"]
        for point in (trial.best, trial.usual):
            cells += [f"{point.threshold:.3g}", f"{point.counts.f1 or 0.0:.3f}"]
        table.add_row(trial.recipe, *cells)
    return table
