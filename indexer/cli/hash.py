"""The commands that store nothing: hash, plan."""

from __future__ import annotations

from pathlib import Path

import click

from indexer.cli import hash_output as printing
from indexer.cli.exit_codes import EXIT_FAILED
from indexer.cli.options import json_option, threshold_option
from indexer.exports.figures import s_curve
from indexer.indexing import hash as signing
from indexer.sketch.plan import plan, plan_for_recall
from indexer.system.secrets import recipe_asked
from indexer.system.whole_file import check_place, write_whole


@click.command("hash")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...|-")
@click.option("--recipe", "recipe_name", default="default", show_default=True)
@click.option(
    "--statistics", metavar="FOLDER|STORE|FILE", help="Corpus statistics, for recipes with weights."
)
@click.option(
    "--save-statistics",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep the statistics in this file.",
)
@json_option
def hash_command(
    paths: tuple[str, ...],
    recipe_name: str,
    statistics: str | None,
    save_statistics: Path | None,
    as_json: bool,
) -> int:
    """Sketches and keys of files, nothing stored."""
    recipe = recipe_asked(recipe_name)
    if save_statistics:
        check_place(save_statistics, "--save-statistics")
    counted = signing.statistics_at(statistics, recipe, printing.left_out) if statistics else None
    if counted and save_statistics:
        with write_whole(save_statistics, "--save-statistics") as part:
            part.write_bytes(counted.pack())
    failed = False
    for signed in signing.hash(paths, recipe, counted):
        failed |= printing.signed(signed, as_json)
    return EXIT_FAILED if failed else 0


@click.command("plan")
@click.option(
    "--num-perm",
    "slots",
    type=click.IntRange(2, 4096),
    default=128,
    show_default=True,
    help="Slots of the sketch.",
)
@click.option(
    "--false-negative-weight", type=click.FloatRange(0, 1), default=0.5, show_default=True
)
@click.option(
    "--recall",
    type=float,
    help="Instead: the fewest false candidates that still find this share at the threshold.",
)
@click.option(
    "--keys", type=click.IntRange(1), help="With --recall: the most keys a document may have."
)
@click.option(
    "--shared",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Least number of keys in common.",
)
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw the S-curve into this SVG file.",
)
@threshold_option
@json_option
def plan_command(
    threshold: float,
    slots: int,
    false_negative_weight: float,
    recall: float | None,
    keys: int | None,
    shared: int,
    picture: Path | None,
    as_json: bool,
) -> int:
    """Bands x rows for a threshold: the S-curve and its errors."""
    if picture:
        check_place(picture, "--picture")
    if recall is None:
        chosen = plan(threshold, slots, false_negative_weight, shared)
    else:
        chosen = plan_for_recall(threshold, recall, slots, keys, shared)
    if picture:
        with write_whole(picture, "--picture") as part:
            part.write_text(s_curve(chosen), encoding="utf-8")
    printing.plan(chosen, as_json)
    return 0
