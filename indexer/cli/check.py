"""`nearfold check`: say whether a document is new, and store it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.exit_codes import VERDICT_CODES
from indexer.cli.options import (
    FractionType,
    drop_defaults,
    fold_threshold_option,
    json_option,
    measure_option,
    open_for_command,
    store_option,
)
from indexer.cli.output import console, print_json, short_path
from indexer.defaults import REVIEW
from indexer.errors import UsageError
from indexer.wording import percent, visible

if TYPE_CHECKING:
    from indexer.jobs.check import CheckResult


@click.command("check")
@click.argument("path", metavar="PATH|-")
@click.option("--store-it", is_flag=True, help="Store the document, whatever the verdict.")
@click.option("--drop-duplicates", is_flag=True, help="With --store-it: do not store a duplicate.")
@click.option(
    "--attachments",
    is_flag=True,
    help="Read a mail as `index --attachments` does: its attachments are documents of their own.",
)
@click.option(
    "--id", "id", help="Id of the document (default: as `index` makes it; of stdin, of its text)."
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    help="Label it when it is stored; may be given several times.",
)
@fold_threshold_option
@click.option(
    "--review",
    type=FractionType(0, 1),
    help=f"Minimum similarity to send to review (default: {REVIEW}, or --threshold if lower).",
)
@click.option(
    "--exit-code",
    "by_verdict",
    is_flag=True,
    help="Exit with 10 for a duplicate and 11 for a document to review.",
)
@click.option(
    "--review-differences",
    is_flag=True,
    help="Send near duplicates to review if numbers, dates, amounts, negations, names, addresses "
    "or comparison signs (<, ≥) differ.",
)
@measure_option
@store_option
@json_option
def check_command(
    path: str,
    store_it: bool,
    drop_duplicates: bool,
    attachments: bool,
    id: str | None,
    labels: tuple[str, ...],
    by_verdict: bool,
    store_url: str,
    as_json: bool,
    **options: Any,
) -> int:
    """Check whether a file or text (-) is new; store it on request.

    The verdict is `new`, `duplicate of ID` or `review`, with the similarity to the most similar
    stored document and the reasons. --threshold is the minimum similarity of a duplicate.
    """
    from rich.text import Text

    from indexer.jobs.check import CheckOptions, check
    from indexer.jobs.document_rows import STDIN

    if attachments and drop_duplicates:
        raise UsageError("a mail is stored with its attachments; leave --drop-duplicates out")
    if attachments and path == STDIN:
        raise UsageError("--attachments needs the path of a mail; write it to a file")
    drop_defaults(options, "measure")
    settings = CheckOptions(**options)
    with open_for_command(store_url) as store:
        if attachments:
            from indexer.jobs.check import check_mail

            result = check_mail(store, path, settings, id=id, labels=labels, store_it=store_it)
        else:
            result = check(
                store,
                options=settings,
                path=path,
                id=id,
                labels=labels,
                store_it=store_it,
                drop_duplicates=drop_duplicates,
            )
    if as_json:
        print_json(dataclasses.asdict(result))
    else:
        _print_result(result)
        for position, attachment in result.attachments.items():
            console().print(Text(f"\n{visible(position)}"))
            _print_result(attachment)
    return VERDICT_CODES[result.verdict] if by_verdict else 0


def _print_result(result: CheckResult) -> None:
    """Print the verdict, the document that it is about, the reasons, and what was stored."""
    from rich.text import Text

    out = console()
    words = {"new": "new", "duplicate": "duplicate of", "review": "review"}
    line = Text(words[result.verdict], "bold")
    if result.of is not None and result.similarity is not None:
        line.append(f" {result.of}", "not bold")
        similarity = percent(result.similarity, 1)
        line.append(
            f"  {similarity} by {result.measure}  {short_path(result.path or '')}", "not bold"
        )
    line.rstrip()
    out.print(line)
    for reason in result.reasons:
        out.print(Text(f"  {visible(reason)}"))
    if result.stored:
        out.print(Text(f"stored as {visible(result.id)}"))
    for note in result.notes:
        out.print(f"note: {note}")
