"""`nearfold plan`: choose bands x rows for a threshold, with the S-curve."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.cli.options import (
    json_option,
    measure_option,
    out_file_option,
    recall_option,
    recipe_option,
    refuse_options,
    replace_option,
    threshold_option,
)
from indexer.cli.output import console, print_json
from indexer.wording import percent

if TYPE_CHECKING:
    from indexer.comparing.band_plan import Plan


@click.command("plan")
@click.option(
    "--num-perm",
    "slots",
    type=click.IntRange(2, 4096),
    help="Slots of the sketch (default: the recipe's).",
)
@recall_option
@measure_option
@recipe_option
@click.option(
    "--false-negative-weight",
    type=click.FloatRange(0, 1),
    help="Instead of --recall: weight of missed pairs, from 0 to 1; false candidates have the "
    "remaining weight, as in datasketch.",
)
@click.option("--keys", type=click.IntRange(1), help="Maximum number of keys of a document.")
@click.option(
    "--shared",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Minimum number of keys in common.",
)
@out_file_option("Write the S-curve to this SVG file.", "--picture")
@replace_option
@threshold_option
@json_option
def plan_command(
    threshold: float,
    slots: int | None,
    recall: float,
    measure: str,
    recipe_name: str,
    false_negative_weight: float | None,
    keys: int | None,
    shared: int,
    picture: Path | None,
    replace: bool,
    as_json: bool,
) -> int:
    """Choose bands and rows for a threshold, as match does. Print the S-curve and errors."""
    from indexer.comparing.band_plan import ALMOST_ONE, plan, plan_by_weight
    from indexer.grouping.group_options import require_slots
    from indexer.recipe import recipe_named
    from indexer.review.charts import s_curve
    from indexer.system.files import check_output_path, write_whole

    if picture:
        check_output_path(picture, "--picture", replace=replace)
    if false_negative_weight is not None:
        refuse_options(["recall", "measure", "keys"], "with --false-negative-weight")
    recipe = recipe_named(recipe_name)
    require_slots(recipe)
    threshold = min(threshold, ALMOST_ONE)
    slots = slots or recipe.slots or 0
    if false_negative_weight is None:
        chosen = plan(
            threshold, recall, measure, dataclasses.replace(recipe, slots=slots), keys, shared
        )
    else:
        chosen = plan_by_weight(threshold, slots, false_negative_weight, shared)
    if picture:
        with write_whole(picture, "--picture") as part:
            part.write_text(s_curve(chosen), encoding="utf-8")
    _print_plan(chosen, as_json)
    return 0


def _print_plan(chosen: Plan, as_json: bool) -> None:
    """Print bands x rows and the S-curve."""
    from indexer.comparing.band_plan import describe_plan

    if as_json:
        fields = {
            "bands": chosen.bands,
            "rows": chosen.rows,
            "curve": [list(point) for point in chosen.curve],
            "false_positive": chosen.false_positive,
            "false_negative": chosen.false_negative,
            "expected_recall": chosen.expected_recall,
            "fewest_equal": chosen.fewest_equal,
        }
        print_json(fields)
        return
    out = console()
    out.print(describe_plan(chosen))
    if chosen.measure in ("jaccard", "estimate"):  # of others the curve has another threshold
        out.print(
            f"areas of error: false positives {chosen.false_positive:.4f}, "
            f"false negatives {chosen.false_negative:.4f}"
        )
    out.print("\nsimilarity of the features, and the chance to become a candidate")
    for similarity, fraction in chosen.curve:
        out.print(f"{similarity:5.2f}  {percent(fraction, 2):>7}  {'█' * round(40 * fraction)}")
