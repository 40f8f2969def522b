"""`nearfold plan`: choose bands x rows for a threshold, with the S-curve."""

from __future__ import annotations

from pathlib import Path

import click

from indexer.cli.console import console, print_json
from indexer.cli.options import json_option, threshold_option
from indexer.exports.s_curve import s_curve
from indexer.sketch.plan import UNRELATED, Plan, plan, plan_for_recall
from indexer.system.whole_file import check_place, write_whole
from indexer.text.wording import percent


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
    "--false-negative-weight",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Cost of a missed pair; the rest of 1 is the cost of a false candidate.",
)
@click.option(
    "--recall",
    type=float,
    help="Instead of the weight: least share of the pairs at the threshold that are found.",
)
@click.option("--keys", type=click.IntRange(1), help="With --recall: most keys of a document.")
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
    help="Write the S-curve to this SVG file.",
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
    """Choose bands x rows for a threshold, and print the S-curve and its errors."""
    if picture:
        check_place(picture, "--picture")
    if recall is None:
        chosen = plan(threshold, slots, false_negative_weight, shared)
    else:
        chosen = plan_for_recall(threshold, recall, slots, keys, shared)
    if picture:
        with write_whole(picture, "--picture") as part:
            part.write_text(s_curve(chosen), encoding="utf-8")
    _print_plan(chosen, as_json)
    return 0


def _print_plan(chosen: Plan, as_json: bool) -> None:
    """Print bands x rows and the S-curve."""
    if as_json:
        fields = {
            "bands": chosen.bands,
            "rows": chosen.rows,
            "curve": [list(point) for point in chosen.curve],
            "false_positive": chosen.false_positive,
            "false_negative": chosen.false_negative,
        }
        print_json(fields)
        return
    out = console()
    least = f", at least {chosen.shared} shared" if chosen.shared > 1 else ""
    shape = f"{chosen.bands} bands x {chosen.rows} rows"
    out.print(f"{shape} for a threshold of {chosen.threshold:g}{least}")
    out.print(
        f"areas of error: false positives {chosen.false_positive:.4f}, "
        f"false negatives {chosen.false_negative:.4f}"
    )
    candidates = chosen.expected_candidates(1_000_000)
    out.print(
        f"of a million unrelated documents (similarity {UNRELATED}) "
        f"about {candidates:,.0f} share enough keys\n"
    )
    for similarity, share in chosen.curve:
        out.print(f"{similarity:5.2f}  {percent(share, 2):>7}  {'█' * round(40 * share)}")
