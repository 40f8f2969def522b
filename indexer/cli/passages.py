"""`nearfold passages`: list the passages that occur in many documents."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.cli import progress
from indexer.cli.options import (
    json_option,
    limit_option,
    memory_option,
    open_for_command,
    opened_out,
    out_file_option,
    read_approved,
    store_option,
)
from indexer.cli.output import console, first_items, json_line, print_json
from indexer.defaults import MIN_FAMILIES, MIN_PASSAGE_WORDS, RUN_WORDS
from indexer.errors import UsageError
from indexer.wording import count_of, visible

if TYPE_CHECKING:
    from indexer.grouping.passages import PassagesOptions, RepeatedPassage


SHOWN = 300  # characters of a passage that are printed


@click.command("passages")
@click.option(
    "--min",
    "least",
    type=click.IntRange(2),
    default=MIN_FAMILIES,
    show_default=True,
    help="Minimum number of near-duplicate groups in which a passage occurs.",
)
@click.option(
    "--words",
    type=click.IntRange(RUN_WORDS),
    default=MIN_PASSAGE_WORDS,
    show_default=True,
    help="Minimum number of words of a passage.",
)
@limit_option
@out_file_option(
    "Write the passages to this file as JSON Lines for approval; existing approvals are kept."
)
@memory_option
@store_option
@json_option
def passages_command(
    least: int,
    words: int,
    limit: int | None,
    out: Path | None,
    memory: int,
    store_url: str,
    as_json: bool,
) -> int:
    """List passages that recur in many near-duplicate groups: disclaimers, licences, forms.

    Passages are sorted by documents times words. --json prints one line for each, with all its
    documents. --out writes the same lines with `"approved": false`; a reviewer sets it to true for
    --leave-out of `match` and `group`.
    """
    from indexer.grouping.passages import PassagesOptions, passages

    options = PassagesOptions(least, words)
    if out is not None:
        if as_json:
            raise UsageError("--json prints what --out writes; leave one of them out")
        return _write_passages(store_url, options, memory, limit, out)
    with open_for_command(store_url) as store:
        with progress.show_stages(as_json) as advance:
            found = list(
                islice(passages(store, options, memory, advance), limit if as_json else None)
            )
        for passage in first_items(found, limit, as_json):
            if as_json:
                print_json(_passage_json(passage))
            else:
                _print_passage(passage)
    if not as_json:
        console().print(count_of(len(found), "passage"))
    return 0


def _write_passages(
    store_url: str, options: PassagesOptions, memory: int, limit: int | None, out: Path
) -> int:
    """Write passages to a file, with what is approved in it so far."""
    from rich.text import Text

    from indexer.comparing.words import folded_words
    from indexer.grouping.passages import passages
    from indexer.system.approved_passages import NO_PASSAGES, approved_so_far

    before = read_approved(out, approved_so_far) if out.is_file() else NO_PASSAGES
    approved = {before.words_of(number): text for number, text in enumerate(before.passages)}
    count = 0
    with (
        open_for_command(store_url) as store,
        opened_out(out, replace=True) as file,
        progress.show_stages() as advance,
    ):
        for passage in islice(passages(store, options, memory, advance), limit):
            is_approved = approved.pop(tuple(folded_words(passage.text)), None) is not None
            file.write(json_line({**_passage_json(passage), "approved": is_approved}))
            count += 1
        for text in approved.values():
            file.write(json_line({"text": text, "approved": True}))
        for pattern in before.patterns:
            file.write(json_line({"pattern": pattern, "approved": True}))
    console().print(Text(f"{count_of(count, 'passage')} in {visible(str(out))}"))
    return 0


def _print_passage(passage: RepeatedPassage) -> None:
    from rich.text import Text

    counts = [
        count_of(len(passage.places), "document"),
        count_of(passage.families, "group"),
        count_of(passage.folders, "folder"),
        count_of(passage.words, "word"),
        passage.where,
    ]
    console().print(Text(", ".join(counts), style="bold"))
    text = " ".join(passage.text.split())
    excerpt = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
    console().print(Text(f"  {visible(excerpt)}"))


def _passage_json(passage: RepeatedPassage) -> dict[str, object]:
    return {
        "text": passage.text,
        "words": passage.words,
        "documents": len(passage.places),
        "families": passage.families,
        "folders": passage.folders,
        "where": passage.where,
        "places": [asdict(position) for position in passage.places],
    }
