"""The command line: each command parses, calls one use-case and prints."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import click

from indexer import checkup, installing, lookup, overview, printing, printing_jobs, printing_sketches, repairing, signing
from indexer.commands import (
    comparing,
    evaluating,
    exporting,
    families,
    indexing,
    judging,
    keeping,
    labels,
    life,
    rights,
    searching,
    serving,
    studying,
    synthesis,
    tuning,
    versions,
)
from indexer.commands.monitoring import figures_of
from indexer.commands.options import json_option, measure_option, opened, store_option, threshold_option
from indexer.crashreport import crash_report
from indexer.documents import document_at
from indexer.errors import ExtractionError, ExtractorUnavailable, NearfoldError, StoreError, StoreStopped, UsageError
from indexer.failpoints import VARIABLE, arm
from indexer.figures import s_curve
from indexer.jobhistory import job_history
from indexer.jobs import journal_path
from indexer.logs import VARIABLE as LOG_VARIABLE
from indexer.logs import configure
from indexer.planning import plan, plan_for_recall
from indexer.release import release
from indexer.secret import recipe_asked
from indexer.wholefile import check_place, whole

EXIT_FAILED, EXIT_USAGE, EXIT_STORE, EXIT_STOPPED, EXIT_FAULT, EXIT_INTERRUPTED, EXIT_TERMINATED = 1, 2, 3, 4, 70, 130, 143
_EXIT: tuple[tuple[type[NearfoldError], int], ...] = (
    (UsageError, EXIT_USAGE),
    (StoreStopped, EXIT_STOPPED),
    (StoreError, EXIT_STORE),
    (ExtractorUnavailable, EXIT_STORE),
    (ExtractionError, EXIT_FAILED),
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(release())
@click.option("--log", "log", metavar="text|json", envvar=LOG_VARIABLE, default="", help="Tell on stderr what happens.")
def commands(log: str) -> None:
    """Find near-duplicate documents and fold them together inside search results."""
    configure(log)


@commands.command("similar")
@click.argument("path", required=False)
@click.option("--id", "id", help="Ask for a stored document instead of a file.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
@click.option(
    "--of",
    type=click.Choice(["documents", "parts", "both"]),
    help="What is looked up (default: parts for the id of a part, else documents).",
)
@threshold_option
@measure_option
@store_option
@json_option
def similar_command(path: str | None, id: str | None, store_url: str, as_json: bool, **options: Any) -> int:
    """Near duplicates of a file, of text on stdin (-), or of a stored document."""
    if (path is None) == (id is None):
        raise UsageError("give a PATH, - for stdin, or --id ID, and only one of them")
    with opened(store_url) as store:
        lookup.recipe_of(store)
        if path is None:
            found = lookup.similar(store, id=id, **options)
        else:
            where, document = document_at(path)
            found = lookup.similar(store, document.text, path=where, **options)
    printing.found(found, as_json)
    return 0


@commands.command("hash")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...|-")
@click.option("--recipe", "recipe_name", default="default", show_default=True)
@click.option("--statistics", metavar="FOLDER|STORE|FILE", help="Corpus statistics, for recipes with weights.")
@click.option("--save-statistics", type=click.Path(dir_okay=False, path_type=Path), help="Keep the statistics in this file.")
@json_option
def hash_command(
    paths: tuple[str, ...], recipe_name: str, statistics: str | None, save_statistics: Path | None, as_json: bool
) -> int:
    """Sketches and keys of files, nothing stored."""
    recipe = recipe_asked(recipe_name)
    if save_statistics:
        check_place(save_statistics, "--save-statistics")
    counted = signing.statistics_at(statistics, recipe, printing_sketches.left_out) if statistics else None
    if counted and save_statistics:
        with whole(save_statistics, "--save-statistics") as part:
            part.write_bytes(counted.pack())
    failed = False
    for signed in signing.hash(paths, recipe, counted):
        failed |= printing_sketches.signed(signed, as_json)
    return EXIT_FAILED if failed else 0


@commands.command("plan")
@click.option("--num-perm", "slots", type=click.IntRange(2, 4096), default=128, show_default=True, help="Slots of the sketch.")
@click.option("--false-negative-weight", type=click.FloatRange(0, 1), default=0.5, show_default=True)
@click.option("--recall", type=float, help="Instead: the fewest false candidates that still find this share at the threshold.")
@click.option("--keys", type=click.IntRange(1), help="With --recall: the most keys a document may have.")
@click.option("--shared", type=click.IntRange(1), default=1, show_default=True, help="Least number of keys in common.")
@click.option("--picture", type=click.Path(dir_okay=False, path_type=Path), help="Draw the S-curve into this SVG file.")
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
        with whole(picture, "--picture") as part:
            part.write_text(s_curve(chosen), encoding="utf-8")
    printing_sketches.plan(chosen, as_json)
    return 0


@commands.command("status")
@click.option("--failures", is_flag=True, help="List what could not be read or stored instead, with --json as lines.")
@click.option("--jobs", is_flag=True, help="List what the last jobs did instead, with --json as lines.")
@click.option("--prometheus", is_flag=True, help="Print the figures for monitoring instead, in Prometheus' text format.")
@store_option
@json_option
def status_command(store_url: str, as_json: bool, failures: bool, jobs: bool, prometheus: bool) -> int:
    """What is in the store, and what could not be."""
    with opened(store_url) as store:
        if prometheus:
            click.echo(figures_of(store), nl=False)
            return 0
        if jobs:
            printing_jobs.jobs(job_history(journal_path(store.url)), as_json)
            return 0
        (printing.failures if failures else printing.status)(overview.status(store), as_json)
    return 0


@commands.command("doctor")
@click.option("--repair", is_flag=True, help="Read all documents and mend what does not agree with them.")
@click.option("--dry-run", is_flag=True, help="With --repair: change nothing; print what would be mended.")
@store_option
@json_option
def doctor_command(store_url: str, as_json: bool, repair: bool, dry_run: bool) -> int:
    """What is wrong with the set-up, and how to mend it."""
    if repair:
        with opened(store_url) as store:
            return EXIT_STORE if printing_jobs.repairs(repairing.repair(store, dry_run=dry_run), as_json, dry_run) else 0
    if dry_run:
        raise UsageError("--dry-run is for --repair: without it nothing is changed")
    checks = checkup.doctor(store_url)
    printing.checks(checks, as_json)
    return EXIT_STORE if any(check.verdict == "bad" for check in checks) else 0


@commands.command("install")
@click.option("--recipe", "recipe_name", default="default", show_default=True, help="Settings of the fingerprint.")
@click.option("--text-field", help="Field that holds the text (default: the one signed there already, else text).")
@click.option("--dry-run", is_flag=True, help="Change nothing; print what would change.")
@click.option("--create", is_flag=True, help="Make the index as well, for indexers who may only write.")
@click.option("--roles", is_flag=True, help="Put the roles that `nearfold roles` prints into the cluster as well.")
@click.option("--dashboards", metavar="URL|FILE", help="Put a dashboard into OpenSearch Dashboards or Kibana, or a file.")
@store_option
@json_option
def install_command(
    recipe_name: str, dashboards: str | None, store_url: str, as_json: bool, dry_run: bool, **options: Any
) -> int:
    """Let a cluster sign documents of any client, and fold their searches."""
    if dashboards and "://" not in dashboards and not dry_run:
        check_place(Path(dashboards), "--dashboards")
    with opened(store_url) as store:
        if dashboards:
            installing.install_dashboards(store, dashboards, dry_run=True)
        done = installing.install(store, recipe_asked(recipe_name), dry_run=dry_run, **options)
        if dashboards:
            done = done.plus(installing.install_dashboards(store, dashboards, dry_run=dry_run))
    printing.installation(done, as_json, dry_run)
    return 0 if done.complete else EXIT_FAILED


@commands.command("uninstall")
@click.option("--dry-run", is_flag=True, help="Change nothing; print what would change.")
@click.option("--roles", is_flag=True, help="Remove the roles from the cluster as well.")
@click.option("--dashboards", metavar="URL", help="Remove the dashboard from OpenSearch Dashboards or Kibana as well.")
@store_option
@json_option
def uninstall_command(dry_run: bool, roles: bool, dashboards: str | None, store_url: str, as_json: bool) -> int:
    """Remove from a cluster what install put there; documents stay."""
    with opened(store_url) as store:
        gone = installing.uninstall_dashboards(store, dashboards, dry_run=dry_run) if dashboards else ()
        done = installing.uninstall(store, dry_run=dry_run, roles=roles).plus(*gone)
    printing.installation(done, as_json, dry_run)
    return 0


for command in (
    comparing.compare_command,
    evaluating.evaluate_command,
    indexing.index_command,
    judging.judge_command,
    keeping.backup_command,
    keeping.restore_command,
    families.match_command,
    families.group_command,
    families.delete_command,
    exporting.export_command,
    versions.versions_command,
    labels.label_command,
    labels.consistency_command,
    life.reindex_command,
    rights.roles_command,
    searching.search_command,
    serving.serve_command,
    studying.study_command,
    synthesis.synth_command,
    tuning.tune_command,
):
    commands.add_command(command)


def main() -> NoReturn:
    """Run the command line and exit with one of the documented codes."""
    signal.signal(signal.SIGTERM, _terminated)
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str], command: click.Command = commands, name: str = "nearfold") -> int:
    """Run a command, tell what went wrong on stderr, and return one of the documented codes."""
    try:
        arm(os.environ.get(VARIABLE, ""))
        return int(command.main(arguments, prog_name=name, standalone_mode=False) or 0)
    except click.exceptions.Abort:
        return EXIT_INTERRUPTED
    except KeyboardInterrupt:
        click.echo("interrupted; run the same command again to go on", err=True)
        return EXIT_INTERRUPTED
    except click.ClickException as error:
        error.show()
        return EXIT_USAGE
    except NearfoldError as error:
        click.echo(f"nearfold: {error}", err=True)
        return next((code for kind, code in _EXIT if isinstance(error, kind)), EXIT_FAULT)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        click.echo(f"{crash_report(error)}\nnearfold: this is our fault; please report it with the lines above", err=True)
        return EXIT_FAULT


def _terminated(_signal: int, _frame: FrameType | None) -> NoReturn:
    click.echo("terminated; run the same command again to go on", err=True)
    sys.exit(EXIT_TERMINATED)
