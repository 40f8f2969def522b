"""The command that measures recipes by a gold set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from indexer.cli import evaluate_output as printing
from indexer.cli import progress
from indexer.cli.options import ShareType, SynonymsFile, json_option, open_for_command, store_option
from indexer.lab.evaluation.evaluate import EvaluateOptions, evaluate
from indexer.similarity.measures import MEASURES
from indexer.statistics.precision_recall import RULES
from indexer.system.secrets import recipe_asked
from indexer.system.whole_file import check_place, write_whole
from indexer.web.evaluation_page import evaluation_page

_UNLISTED = {"auto": None, "different": True, "unknown": False}


@click.command("evaluate")
@click.argument("gold", nargs=-1, required=True, metavar="GOLD|SHEET...")
@click.option(
    "--recipe",
    "recipes",
    multiple=True,
    metavar="R",
    help="May be repeated; the store's own, or the default.",
)
@click.option(
    "--threshold",
    "thresholds",
    type=ShareType(0, 1),
    multiple=True,
    default=[0.8],
    show_default=True,
    help="Repeatable.",
)
@click.option(
    "--measure",
    type=click.Choice(sorted(MEASURES)),
    help="What pairs are judged by (default: the recipe's).",
)
@click.option(
    "--capture",
    "rule",
    type=click.Choice(list(RULES)),
    default="connected",
    show_default=True,
    help="Of sets.",
)
@click.option(
    "--unlisted",
    type=click.Choice(list(_UNLISTED)),
    default="auto",
    show_default=True,
    help="Pairs that GOLD does not list; auto: different, unless it lists different pairs itself.",
)
@click.option(
    "--types",
    is_flag=True,
    help="Judge the detector of duplicate types too, and tell the type of every found pair.",
)
@click.option(
    "--synonyms",
    type=SynonymsFile(exists=True, dir_okay=False),
    default="",
    metavar="FILE",
    help="With --types: a file of words that agree.",
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write one HTML file too.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap.")
@store_option
@json_option
def evaluate_command(
    gold: tuple[str, ...],
    recipes: tuple[str, ...],
    unlisted: str,
    report: Path | None,
    store_url: str,
    as_json: bool,
    **options: Any,
) -> int:
    """Precision, recall and F1 of recipes by a gold set, or by assessors' sheets and how far these
    agree.

    GOLD is csv or JSON Lines with a, b (ids or paths) and type, or with set and document.
    """
    chosen = [recipe_asked(name) for name in recipes]
    if report:
        check_place(report, "--report")
    settings = EvaluateOptions(recipes=chosen, closed=_UNLISTED[unlisted], **options)
    with open_for_command(store_url) as store, progress.of_stages() as advance:
        made = evaluate(gold, store, settings, progress=advance)
    if report:
        with write_whole(report, "--report") as part:
            part.write_text(evaluation_page(made), encoding="utf-8")
    printing.evaluated(made, store_url, as_json)
    return 0
