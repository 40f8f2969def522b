"""`python -m indexer.spark.deduplicate INPUT --out FOLDER`, also as a file for `spark-submit`."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from indexer.cli import main
from indexer.cli.dedup import id_field_option, keep_option
from indexer.cli.exit_codes import EXIT_FAILED
from indexer.cli.main import exit_without
from indexer.cli.options import (
    cap_option,
    delimiter_option,
    measure_option,
    numbers_option,
    require_option,
    text_field_option,
    threshold_option,
)
from indexer.jobs.dedup import DedupOptions

try:
    from indexer.spark.dataset import Dataset, Kind
    from indexer.spark.dedup import dedup
    from indexer.spark.session import in_session
except ModuleNotFoundError as error:
    exit_without(error)


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.argument("place", metavar="INPUT")
@click.option(
    "--out",
    required=True,
    metavar="FOLDER",
    help="Folder for the rows that stay, the report, the account and the stages of the run.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["parquet", "jsonl", "csv"]),
    default="parquet",
    show_default=True,
    help="Format of the files of INPUT.",
)
@threshold_option
@measure_option
@keep_option
@text_field_option
@id_field_option
@delimiter_option
@numbers_option
@require_option
@cap_option
def command(place: str, out: str, kind: Kind, **options: Any) -> int:
    """Write a dataset of texts without its duplicates, on a Spark cluster.

    The rows that stay are those of `nearfold dedup`, in the same order. An interrupted run goes on
    after its last complete stage when it is started again.
    """
    settings = DedupOptions(**options)
    dataset = Dataset(place, kind, settings.reading())
    account = in_session(lambda spark: dedup(spark, dataset, out, settings))
    click.echo(json.dumps(account, indent=2))
    return EXIT_FAILED if account["failed"] else 0


if __name__ == "__main__":
    sys.exit(main.run(sys.argv[1:], command, "python -m indexer.spark.deduplicate"))
