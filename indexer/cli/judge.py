"""`nearfold judge`: judge pairs of documents in a browser."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Literal, TextIO

import click

from indexer.cli.options import (
    of_option,
    open_for_command,
    out_file_option,
    port_option,
    refuse_options,
    store_option,
)
from indexer.errors import UsageError


@click.command("judge")
@click.argument("pairs", metavar="PAIRS")
@click.option(
    "--queries",
    type=click.File(encoding="utf-8-sig"),
    metavar="FILE",
    help="If PAIRS does not exist, create it from the best hits of the queries in this file, one "
    "per line.",
)
@click.option(
    "--hits",
    type=click.IntRange(2, 1000),
    default=20,
    show_default=True,
    help="With --queries: number of hits per query to make pairs of.",
)
@of_option
@click.option("--assessor", metavar="NAME", help="Name of the assessor (default: the user's name).")
@out_file_option("Sheet of judgements to write (default: PAIRS.NAME.jsonl).")
@click.option(
    "--arbitrate",
    multiple=True,
    metavar="SHEET",
    help="Judge only the pairs on which these sheets disagree.",
)
@click.option(
    "--sheet",
    "sheets",
    multiple=True,
    metavar="NAME",
    help="Write PAIRS.NAME.csv for this assessor to fill in with a spreadsheet, and serve no page; "
    "may be given several times.",
)
@click.option(
    "--beside",
    multiple=True,
    metavar="SHEET",
    help="Show the agreement so far with the sheet of another assessor.",
)
@port_option(0)
@store_option
def judge_command(
    pairs: str,
    queries: TextIO | None,
    hits: int,
    of: Literal["documents", "parts"],
    assessor: str | None,
    out: Path | None,
    arbitrate: tuple[str, ...],
    sheets: tuple[str, ...],
    beside: tuple[str, ...],
    port: int,
    store_url: str,
) -> int:
    """Judge pairs of documents blind, in a browser or spreadsheets.

    The judgements are written to a sheet that `evaluate` reads. PAIRS is CSV or JSON Lines with a
    and b (ids or paths), as `match --format csv` writes it. Run the same command again to resume.
    """
    from indexer.lab.evaluation.judge import (
        open_judging_session,
        pairs_of_queries,
        serve_judging,
        write_blank_sheet,
        write_pairs,
    )

    if queries is None:
        refuse_options(["hits", "of"], "without --queries")
    if sheets and (assessor or out or beside):
        raise UsageError("--sheet names assessors; leave --assessor, --out and --beside out")
    with open_for_command(store_url) as store:
        if queries is not None and not Path(pairs).exists():
            count = write_pairs(pairs_of_queries(store, queries, hits, of), Path(pairs))
            click.echo(f"{pairs} has {count:,} pairs to judge", err=True)
        for name in sheets:
            sheet = _sheet(Path(pairs), name, ".csv")
            count = write_blank_sheet(pairs, store, name, sheet, arbitrate)
            click.echo(f"{sheet} has {count:,} pairs to judge")
        if sheets:
            return 0
        name = assessor if assessor is not None else _user()
        sheet = out or _sheet(Path(pairs), name)
        session = open_judging_session(pairs, store, name, sheet, arbitrate, beside)

    def summary() -> str:
        return f"{session.judged:,} of {len(session):,} pairs are judged on {sheet}"

    before = summary()
    serve_judging(
        session,
        port=port,
        ready=lambda address: click.echo(f"{before}; go on at {address}  (Ctrl-C ends it)"),
    )
    click.echo(summary(), err=True)
    return 0


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError) as error:  # a user id without a name, as containers have
        raise UsageError("this user has no name; give --assessor") from error


def _sheet(pairs: Path, name: str, suffix: str = ".jsonl") -> Path:
    """Return the default path of a sheet: next to the pairs, named after its assessor."""
    if Path(name).name != name:
        raise UsageError(f"{name!r} cannot be part of a file name; give --out")
    return pairs.parent / f"{pairs.stem}.{name}{suffix}"
