"""The command that chooses a recipe and a threshold by pairs whose truth is known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import click

from indexer.cli import progress
from indexer.cli import tune_output as printing
from indexer.cli.options import json_option
from indexer.lab.tuning.grid import GRIDS
from indexer.lab.tuning.tune import tune
from indexer.lab.tuning.tuning_files import write
from indexer.stores import open_store
from indexer.stores.base import Store
from indexer.system.secrets import recipe_asked
from indexer.system.whole_file import folder_at


@click.command("tune")
@click.argument("gold", nargs=-1, required=True, metavar="GOLD|SHEET...")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    metavar="DIR",
    help="For report and results.",
)
@click.option(
    "--grid",
    type=click.Choice(list(GRIDS)),
    default="standard",
    show_default=True,
    help="How many recipes to try.",
)
@click.option(
    "--recipe",
    "names",
    multiple=True,
    help="Try this recipe instead of a grid; may be given again.",
)
@click.option("--workers", type=click.IntRange(1), help="Processes (default: one a processor).")
@click.option(
    "--strict",
    is_flag=True,
    help="A text that is contained in the other one is no duplicate of it, and counts as wrong.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Of the draw of unrelated pairs."
)
@click.option("--store", "store_url", help="Where documents are that the gold set names by id.")
@json_option
def tune_command(
    gold: tuple[str, ...],
    out: Path,
    names: tuple[str, ...],
    store_url: str | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Try recipes and thresholds on synthetic or judged pairs, and say which to use; run again, it
    goes on.

    GOLD and SHEET are what `evaluate` takes.
    """
    recipes = [recipe_asked(name) for name in names]
    folder_at(out)
    with _store(store_url) as store, progress.of_stages() as advance:
        made = tune(gold, out, recipes=recipes, store=store, progress=advance, **options)
    write(made, out)
    printing.tuned(made, out, as_json)
    return 0


@contextmanager
def _store(url: str | None) -> Iterator[Store | None]:
    if url is None:
        yield None
        return
    with closing(open_store(url)) as store:
        yield store
