"""`nearfold threads`: print the threads of mails, and which mails must be read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from indexer.cli.exit_codes import EXIT_FAILED
from indexer.cli.options import (
    json_option,
    limit_option,
    out_file_option,
    replace_option,
    threshold_option,
)
from indexer.cli.output import (
    console,
    first_items,
    print_json,
    report_failures,
    short_path,
)
from indexer.errors import UsageError
from indexer.wording import count_of, percent, visible

if TYPE_CHECKING:
    from indexer.documents.mail.threads import Thread, ThreadMail
    from indexer.jobs.threads import NearMail, ThreadsResult


@click.command("threads")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--namespace", help="Prefix of the ids, as for `index`.")
@click.option(
    "--ignore-signatures",
    is_flag=True,
    help="Ignore signatures and disclaimers when inclusive mails are chosen.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "csv", "dat"]),
    default="text",
    show_default=True,
    help="Trees (text), a table (csv) or a load file (dat); csv and dat need --out.",
)
@threshold_option
@out_file_option("File to write, for csv and dat.")
@replace_option
@limit_option
@json_option
def threads_command(
    paths: tuple[str, ...],
    namespace: str | None,
    ignore_signatures: bool,
    form: Literal["text", "csv", "dat"],
    threshold: float,
    out: Path | None,
    replace: bool,
    limit: int | None,
    as_json: bool,
) -> int:
    """Print mail threads as trees, and mark the inclusive mails.

    PATH is a mail, a mailbox, a Maildir, an archive or a folder of these. A mail is inclusive,
    marked by *, if no later mail of its thread contains all of it: its text, its quotes and its
    attachments. The inclusive mails together contain every segment of every mail. Mails whose new
    text is similar, from the threshold on, form one group, whatever they quote; the output shows
    how much of the quotes the earliest mail of the group has. --json prints one line for each
    thread.
    """
    from indexer.jobs.threads import ThreadsOptions, threads
    from indexer.system.files import check_not_read, check_output_path

    if (form == "text") != (out is None):
        raise UsageError("--out goes with --format csv or dat; give both or neither")
    if out is not None:
        check_not_read(out, paths)
        check_output_path(out, replace=replace)
    result = threads(paths, ThreadsOptions(namespace, ignore_signatures, threshold))
    if out is not None:
        _write(result, form, out)
    if as_json:
        for thread in first_items(result.threads, limit, as_json):
            print_json(_thread_json(thread, result.near))
    elif out is None:
        path_of = {mail.message.id: mail.message.path for mail in result.mails}
        for thread in first_items(result.threads, limit):
            _print_thread(thread, result, path_of)
    report_failures([(failure.path, failure.error) for failure in result.failed], as_json)
    if not as_json:
        _print_account(result, out)
    return EXIT_FAILED if result.failed else 0


def _write(result: ThreadsResult, form: str, out: Path) -> None:
    """Write a table or a load file, one record a mail."""
    from indexer.review.exports.columns import LOAD_FILE_THREADS, THREADS, thread_records
    from indexer.review.exports.writers import Table, write_csv, write_dat
    from indexer.system.files import write_whole

    records = thread_records(result)
    with write_whole(out) as part:
        if form == "dat":
            with part.open("wb") as raw:
                write_dat(Table(LOAD_FILE_THREADS, records), raw)
        else:
            with part.open("w", encoding="utf-8", errors="replace", newline="") as file:
                write_csv(Table(THREADS, records), file)


def _print_thread(thread: Thread, result: ThreadsResult, paths: Mapping[str, str]) -> None:
    from rich.text import Text

    from indexer.documents.mail.threads import REASONS

    out = console()
    mails = count_of(len(thread.mails), "mail")
    out.print(Text(f"{thread.id}  {mails}, {len(thread.inclusive):,} inclusive", style="bold"))
    for mail in thread.mails:
        mark = "*" if mail.is_inclusive else " "
        indent = "  " * mail.depth
        out.print(Text(f"{mark} {indent}{visible(_headline(mail))}"))
        why = "; ".join(REASONS[reason] for reason in mail.reasons)
        if mail.held_by is not None:
            why = f"held by {paths[mail.held_by]}"
        out.print(Text(f"  {indent}  {short_path(mail.message.path)}: {visible(why)}"))
        near = result.near.get(mail.message.id)
        if near is not None and near.principal != mail.message.id:
            out.print(Text(f"  {indent}  {visible(_similarity_text(near, paths[near.principal]))}"))


def _similarity_text(near: NearMail, path: str) -> str:
    """Return how much of a mail is in the principal of its group, which has this path."""
    own = f"own text {percent(near.similarity)} like {path}"
    if near.quotes_contained is None:
        return own
    return f"{own}, which has {percent(near.quotes_contained)} of what is quoted"


def _headline(mail: ThreadMail) -> str:
    """Return time, sender and subject, and how the mail was linked where fields do not say it."""
    from indexer.review.exports.writers import iso_time

    message = mail.message
    time = iso_time(message.date)[:16].replace("T", " ") or "no date"
    by = "  (linked by its quote)" if mail.link == "quote" else ""
    copy = "  (copy)" if mail.copy_of else ""
    return f"{time}  {message.sender or 'nobody'}  {message.subject or 'no subject'}{by}{copy}"


def _print_account(result: ThreadsResult, out: Path | None) -> None:
    from rich.text import Text

    mails = result.mail_count
    fraction = percent(result.inclusive_count / mails if mails else None)
    line = (
        f"{count_of(mails, 'mail')} in {count_of(len(result.threads), 'thread')}: "
        f"{result.inclusive_count:,} inclusive ({fraction}), {result.others:,} other files, "
        f"{len(result.failed):,} failed"
    )
    console().print(Text(line if out is None else f"{line}; written to {visible(str(out))}"))


def _thread_json(thread: Thread, near: Mapping[str, NearMail]) -> dict[str, object]:
    return {
        "thread": thread.id,
        "size": len(thread.mails),
        "inclusive": len(thread.inclusive),
        "mails": [_mail_json(mail, near.get(mail.message.id)) for mail in thread.mails],
    }


def _mail_json(mail: ThreadMail, near: NearMail | None) -> dict[str, object]:
    from indexer.review.exports.writers import iso_time

    message = mail.message
    return {
        "id": message.id,
        "path": message.path,
        "message_id": message.message_id,
        "mih": message.mih,
        "parent": mail.parent,
        "link": mail.link,
        "depth": mail.depth,
        "copy_of": mail.copy_of,
        "inclusive": mail.is_inclusive,
        "reasons": list(mail.reasons),
        "held_by": mail.held_by,
        "own_group": near and near.principal,
        "own_similarity": near and near.similarity,
        "quotes_contained": near and near.quotes_contained,
        "date": iso_time(message.date) or None,
        "from": message.sender,
        "subject": message.subject,
        "attachments": [
            {"name": attachment.name, "sha256": attachment.sha256}
            for attachment in message.attachments
        ],
        "segments": [
            {"kind": part.kind, "depth": part.depth, "text": part.text} for part in mail.segments
        ],
    }
