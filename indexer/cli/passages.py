"""`nearfold passages`: list the passages that occur in many documents."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice

import click
from rich.text import Text

from indexer.cli import progress
from indexer.cli.console import console, print_json
from indexer.cli.options import json_option, memory_option, open_for_command, store_option
from indexer.matching.passages import (
    LEAST_FAMILIES,
    LEAST_WORDS,
    PassagesOptions,
    RepeatedPassage,
    passages,
)
from indexer.similarity.repeated_passages import RUN_WORDS
from indexer.text.visible import visible
from indexer.text.wording import count_of

SHOWN = 300  # characters of a passage that are printed


@click.command("passages", short_help="List passages that occur in documents of many families.")
@click.option(
    "--min",
    "least",
    type=click.IntRange(2),
    default=LEAST_FAMILIES,
    show_default=True,
    help="Fewest families in which a passage occurs.",
)
@click.option(
    "--words",
    type=click.IntRange(RUN_WORDS),
    default=LEAST_WORDS,
    show_default=True,
    help="Fewest words of a passage.",
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Passages that are listed.",
)
@memory_option
@store_option
@json_option
def passages_command(
    least: int, words: int, limit: int, memory: int, store_url: str, as_json: bool
) -> int:
    """List passages that occur in documents of many families: disclaimers, licences, forms.

    Those with most documents times words come first. With --json, each is a line that names all its
    documents.
    """
    options = PassagesOptions(least, words)
    count = 0
    with (
        open_for_command(store_url) as store,
        progress.show_stages(as_json) as advance,
    ):
        for passage in islice(passages(store, options, memory, advance), limit):
            count += 1
            if as_json:
                print_json(_passage_json(passage))
            else:
                _print_passage(passage)
    if not as_json:
        console().print(count_of(count, "passage"))
    return 0


def _print_passage(passage: RepeatedPassage) -> None:
    counts = [
        count_of(len(passage.places), "document"),
        count_of(passage.families, "family"),
        count_of(passage.folders, "folder"),
        count_of(passage.words, "word"),
        passage.where,
    ]
    console().print(Text(", ".join(counts), style="bold"))
    text = " ".join(passage.text.split())
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
    console().print(Text(f"  {visible(shown)}"))


def _passage_json(passage: RepeatedPassage) -> dict[str, object]:
    return {
        "text": passage.text,
        "words": passage.words,
        "documents": len(passage.places),
        "families": passage.families,
        "folders": passage.folders,
        "where": passage.where,
        "places": [asdict(place) for place in passage.places],
    }
