"""`python -m indexer.spark INPUT --out FOLDER`, and the file that `spark-submit` is given."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from indexer.cli import main
from indexer.cli.exit_codes import EXIT_FAILED
from indexer.cli.main import exit_without
from indexer.cli.options import (
    criteria_options,
    index_recipe_option,
    measure_option,
    principal_option,
    recall_option,
    take_criteria,
    threshold_option,
    unset_options,
)
from indexer.defaults import CAP, DefaultName, DefaultNumber
from indexer.grouping.group_options import GroupOptions
from indexer.grouping.match import MatchOptions
from indexer.system.recipe_inputs import recipe_asked

try:
    from indexer.spark.input_documents import Input, check_local_files
    from indexer.spark.run import WRITERS, Job, run
    from indexer.spark.session import in_session
except ModuleNotFoundError as error:
    exit_without(error)


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.argument("place", metavar="INPUT")
@click.option(
    "--out",
    required=True,
    metavar="FOLDER",
    help="Folder for tables, the account and the stages of the run.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["parquet", "json", "text", "store"]),
    default="parquet",
    show_default=True,
    help="Format of INPUT; store: INPUT is a store's URL.",
)
@click.option("--id-field", default="id", show_default=True, help="Column of ids.")
@click.option("--text-field", default="text", show_default=True, help="Column of texts.")
@click.option(
    "--label", "labels", multiple=True, help="Label every document; may be given several times."
)
@index_recipe_option
@threshold_option
@recall_option
@click.option(
    "--against",
    metavar="LABEL",
    help="Only pairs of one document with this label and one without it.",
)
@click.option(
    "--exact",
    is_flag=True,
    help="Compute every similarity from the texts, not only where sketches cannot decide.",
)
@principal_option
@click.option(
    "--cluster-threshold",
    type=click.FloatRange(0, 1),
    help="Minimum similarity of linked documents in a cluster (default: --threshold).",
)
@click.option(
    "--cap",
    type=click.IntRange(2),
    default=CAP,
    show_default=True,
    help="Maximum number of texts in a band that are compared pairwise; in larger bands each text "
    "is compared with the first only.",
)
@click.option(
    "--store",
    metavar="URL",
    help="Write documents and groups to this store; if it is INPUT itself, groups only.",
)
@click.option(
    "--writers",
    type=click.IntRange(1),
    default=WRITERS,
    show_default=True,
    help="Number of tasks that write at the same time.",
)
@measure_option
@criteria_options
def command(
    place: str, out: str, recipe_name: str | None, store: str | None, writers: int, **options: Any
) -> int:
    """Find near-duplicate pairs, groups and clusters on a Spark cluster.

    Run the same command again to resume an interrupted run after its last complete stage.
    """
    source = Input(
        place, options["form"], options["id_field"], options["text_field"], tuple(options["labels"])
    )
    shared = {name: options[name] for name in ("threshold", "measure", "cap")}
    defaults = {"threshold": DefaultNumber, "measure": DefaultName}
    for name in unset_options(defaults):
        shared[name] = defaults[name](shared[name])
    shared["criteria"] = take_criteria(options)
    match_names = ("recall", "against", "exact")
    match_options = MatchOptions(**shared, **{name: options[name] for name in match_names})
    group_names = ("principal", "cluster_threshold")
    group_options = GroupOptions(**shared, **{name: options[name] for name in group_names})
    asked = recipe_asked(recipe_name) if recipe_name else None
    job = Job(source, out, asked, match_options, group_options, store, writers)
    check_local_files(source)
    account = in_session(lambda spark: run(spark, job))
    click.echo(json.dumps(account, indent=2))
    return EXIT_FAILED if account["failed"] or (account["store"] or {}).get("refused") else 0


if __name__ == "__main__":
    sys.exit(main.run(sys.argv[1:], command, "python -m indexer.spark"))
