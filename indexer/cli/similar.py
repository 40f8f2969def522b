"""`nearfold similar`: find near duplicates of a file, of text on stdin, or of a stored document."""

from __future__ import annotations

import dataclasses
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.options import (
    criteria_options,
    drop_defaults,
    json_option,
    measure_option,
    open_for_command,
    store_option,
    take_criteria,
    threshold_option,
)
from indexer.cli.output import console, print_json, short_path
from indexer.errors import UsageError
from indexer.wording import count_of, format_words_in_order, percent, visible

if TYPE_CHECKING:
    from indexer.model import Match
    from indexer.searching.similar import SimilarResult


_CONTAINED = (
    "documents that grew are found by --measure grown; "
    "excerpts, and documents that hold others, are listed by `nearfold match --contained`"
)
EXCERPT = 70  # characters of a shared passage that are quoted


@click.command("similar")
@click.argument("path", required=False)
@click.option("--id", "id", metavar="ID|PATH", help="A stored document, instead of a file.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Maximum number of matches.",
)
@click.option(
    "--of",
    type=click.Choice(["documents", "parts", "both"]),
    help="Documents or clauses (default: parts if the id is that of a clause, else documents).",
)
@threshold_option
@measure_option
@criteria_options
@store_option
@json_option
def similar_command(
    path: str | None,
    id: str | None,
    store_url: str,
    as_json: bool,
    **options: Any,
) -> int:
    """Find near duplicates of a file, a text or a stored document. Text is read from stdin (-)."""
    from indexer.documents.base import may_be_mail
    from indexer.jobs.document_rows import STDIN, document_at, row_at
    from indexer.searching.similar import SimilarOptions, similar
    from indexer.stores.requirements import require_recipe, stored_ids

    drop_defaults(options, "threshold", "measure")  # the recipe has some
    if (path is None) == (id is None):
        raise UsageError("give a PATH, - for stdin, or --id ID, and only one of them")
    settings = SimilarOptions(criteria=take_criteria(options), **options)
    with open_for_command(store_url) as store:
        require_recipe(store)
        if path is None:
            [id] = stored_ids(store, [str(id)])
            result = similar(store, options=settings, id=id)
        else:
            is_file = path != STDIN
            if is_file and may_be_mail(str(Path(path).resolve())) and store.parts.attachments():
                from indexer.jobs.check import mail_alone

                real_path, document = mail_alone(path)
            else:
                real_path, document = document_at(path)
            row = row_at(path, real_path, document) if is_file else None
            result = similar(store, document.text, settings, path=real_path, row=row)
    _print_matches(result, as_json)
    return 0


def _print_matches(result: SimilarResult, as_json: bool) -> None:
    """Print the matches of a look-up."""
    from indexer.comparing.criteria import COMPARED
    from indexer.comparing.measures import rank_phrase
    from indexer.comparing.reasons import format_reasons

    if as_json:
        print_json(_result_json(result))
        return
    from rich.text import Text

    out = console()
    for match in result.matches:
        similarity = (_similarity(match), "bold")
        out.print(Text.assemble(similarity, f"  {short_path(match.path)}  ", (match.id, "dim")))
        out.print(Text(f"  {_reasons(match, result.text)}"))
        for sentence in format_reasons(match):
            out.print(Text(f"  {visible(sentence)}"))
    if result.matches:
        number = count_of(len(result.matches), "near duplicate")
        measures = list(dict.fromkeys(match.measure for match in result.matches))
        order = rank_phrase(measures[0]) if len(measures) == 1 else ""
        phrase = f", in the order of {order}" if order else ""
        out.print(f"\n{number} by measure: {' and '.join(measures)}{phrase}")
    else:
        out.print("no near duplicates found")
        if result.status in COMPARED:
            out.print(f"note: {_CONTAINED}")
    for note in result.notes:
        out.print(f"note: {note}")


def _reasons(match: Match, text: str) -> str:
    """Return containment both ways, and the opening of the longest shared passage.

    By the measure `lcs` the words in order come first, of which it is the share. Texts without
    features contain nothing.
    """
    clauses = []
    if match.measure == "lcs" and match.in_order:
        clauses.append(format_words_in_order(*dataclasses.astuple(match.in_order)))
    if match.containment:
        query_in_match, match_in_query = map(percent, match.containment)
        clauses.append(
            f"{query_in_match} of the query is in it, {match_in_query} of it in the query"
        )
    if match.shared:
        longest = max(match.shared, key=lambda passage: passage.words)
        passage_text = " ".join(text[slice(*longest.a)].split())
        opening = textwrap.shorten(visible(passage_text), EXCERPT, placeholder=" …")
        passages = count_of(len(match.shared), "shared passage")
        words = count_of(sum(passage.words for passage in match.shared), "word")
        clauses.append(f"{passages}, {words}, the longest: “{opening}”")
    return "; ".join(clauses)


def _similarity(match: Match) -> str:
    if match.low == match.high:
        return percent(match.similarity, 1)
    return f"{percent(match.similarity, 1)} ({percent(match.low)}-{percent(match.high)})"


def _result_json(result: SimilarResult) -> dict[str, Any]:
    return {
        "query": result.query,
        "recipe": result.recipe,
        "matches": list(map(_match_json, result.matches)),
        "capped_keys": list(result.capped_keys),
        "notes": list(result.notes),
    }


def _match_json(match: Match) -> dict[str, Any]:
    shared = [
        {"a": list(passage.a), "b": list(passage.b), "words": passage.words}
        for passage in match.shared
    ]
    return {
        "id": match.id,
        "path": match.path,
        "similarity": match.similarity,
        "measure": match.measure,
        "rank": match.rank,
        "low": match.low,
        "high": match.high,
        "keys_shared": match.keys_shared,
        "containment": match.containment and list(match.containment),
        "in_order": match.in_order and dataclasses.asdict(match.in_order),
        "same": match.same and dataclasses.asdict(match.same),
        "rearranged": match.rearranged,
        "marks": [dataclasses.asdict(mark) for mark in match.marks],
        "differences": [dataclasses.asdict(difference) for difference in match.differences],
        "new_words": dataclasses.asdict(match.new_words),
        "shared": shared,
    }
