"""`nearfold similar`: near duplicates of a file, of text on stdin, or of a stored document."""

from __future__ import annotations

import textwrap
from typing import Any

import click
from rich.text import Text

from indexer.cli.console import console, print_json
from indexer.cli.options import (
    json_option,
    measure_option,
    open_for_command,
    store_option,
    threshold_option,
)
from indexer.errors import UsageError
from indexer.indexing.documents import document_at
from indexer.model import Match
from indexer.searching.similar import SimilarOptions, SimilarResult, similar
from indexer.stores.requirements import require_recipe
from indexer.text.visible import visible
from indexer.text.wording import count_of, percent

EXCERPT = 70


@click.command("similar")
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
def similar_command(
    path: str | None, id: str | None, store_url: str, as_json: bool, **options: Any
) -> int:
    """Near duplicates of a file, of text on stdin (-), or of a stored document."""
    if (path is None) == (id is None):
        raise UsageError("give a PATH, - for stdin, or --id ID, and only one of them")
    chosen = SimilarOptions(**options)
    with open_for_command(store_url) as store:
        require_recipe(store)
        if path is None:
            found = similar(store, options=chosen, id=id)
        else:
            where, document = document_at(path)
            found = similar(store, document.text, chosen, path=where)
    _print_matches(found, as_json)
    return 0


def _print_matches(answer: SimilarResult, as_json: bool) -> None:
    """The matches of a look-up."""
    if as_json:
        print_json(
            {
                "query": answer.query,
                "recipe": answer.recipe,
                "matches": [_match_json(one) for one in answer.matches],
                "capped_keys": list(answer.capped_keys),
                "notes": list(answer.notes),
            }
        )
        return
    out = console()
    for one in answer.matches:
        out.print(
            Text.assemble((_similarity(one), "bold"), f"  {visible(one.path)}  ", (one.id, "dim"))
        )
        out.print(Text(f"  {_reasons(one, answer.text)}"))
    if answer.matches:
        out.print(
            f"\n{count_of(len(answer.matches), 'near duplicate')} by measure: {answer.matches[0].measure}"
        )
    else:
        out.print("no near duplicates found")
    for note in answer.notes:
        out.print(f"note: {note}")


def _reasons(match: Match, text: str) -> str:
    """Why a match is one: containment both ways, and the longest shared passage in its own
    words.
    """
    query_in_match, match_in_query = match.containment
    contained = f"{percent(query_in_match)} of the query is in it, {percent(match_in_query)} of it in the query"
    if not match.shared:
        return contained
    longest = max(match.shared, key=lambda passage: passage.words)
    words = sum(passage.words for passage in match.shared)
    opening = textwrap.shorten(
        visible(" ".join(text[slice(*longest.a)].split())), EXCERPT, placeholder=" …"
    )
    return f"{contained}; {count_of(len(match.shared), 'shared passage')}, {count_of(words, 'word')}, the longest: “{opening}”"


def _similarity(match: Match) -> str:
    if match.low == match.high:
        return percent(match.similarity, 1)
    return f"{percent(match.similarity, 1)} ({percent(match.low)}-{percent(match.high)})"


def _match_json(match: Match) -> dict[str, Any]:
    return {
        "id": match.id,
        "path": match.path,
        "similarity": match.similarity,
        "measure": match.measure,
        "low": match.low,
        "high": match.high,
        "keys_shared": match.keys_shared,
        "containment": list(match.containment),
        "shared": [
            {"a": list(one.a), "b": list(one.b), "words": one.words} for one in match.shared
        ],
    }
