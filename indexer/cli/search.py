"""`nearfold search`: full-text search with near duplicates folded."""

from __future__ import annotations

import dataclasses
from typing import Any

import click
from rich.text import Text

from indexer.cli.console import console, print_json
from indexer.cli.options import (
    SynonymsFile,
    json_option,
    open_for_command,
    store_option,
    threshold_option,
)
from indexer.model import Facet, FoldedHit, Hit, Part
from indexer.searching.search import Page, SearchOptions, parse_filters, search
from indexer.text.visible import visible
from indexer.text.wording import count_of, percent

_NOUNS = {"documents": "document", "parts": "part", "both": "row"}


@click.command("search")
@click.argument("query")
@click.option(
    "--fold",
    type=click.Choice(["live", "family", "types", "none"]),
    default="live",
    show_default=True,
)
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="FIELD=VALUE",
    help="May be given several times; all must hold.",
)
@click.option(
    "--facet",
    "facets",
    multiple=True,
    metavar="FIELD",
    help="Count its values, in documents and in families.",
)
@click.option(
    "--sort",
    type=click.Choice(["relevance", "path", "modified"]),
    default="relevance",
    show_default=True,
)
@click.option("--limit", type=click.IntRange(1), default=10, show_default=True, help="Hits a page.")
@click.option(
    "--page",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Search again for that page.",
)
@click.option(
    "--after",
    metavar="TOKEN",
    help="Go on after a page, by its `next`; what was shown is not shown again.",
)
@click.option(
    "--hold",
    is_flag=True,
    help="Let a cluster keep its documents as they are for the pages after this one.",
)
@click.option(
    "--top",
    type=click.IntRange(1, 1000),
    default=100,
    show_default=True,
    help="With --fold types: hits compared.",
)
@click.option(
    "--synonyms",
    type=SynonymsFile(exists=True, dir_okay=False),
    default="",
    metavar="FILE",
    help="With --fold types: a file of words that agree.",
)
@click.option(
    "--of",
    type=click.Choice(["documents", "parts", "both"]),
    default="documents",
    show_default=True,
    help="What is found: whole documents, or the clauses that `index --parts clauses` made of them.",
)
@threshold_option
@store_option
@json_option
def search_command(
    query: str,
    filters: tuple[str, ...],
    store_url: str,
    as_json: bool,
    after: str | None,
    hold: bool,
    **options: Any,
) -> int:
    """Full-text search with near duplicates folded under the best of them."""
    chosen = SearchOptions(filters=parse_filters(filters), after=after, keep_alive=hold, **options)
    with open_for_command(store_url) as store:
        page = search(store, query, chosen)
    print_page(page, as_json, by_token=hold or after is not None)
    return 0


def print_page(shown: Page, as_json: bool, by_token: bool) -> None:
    """One page; `by_token`: the way to the next one is its token, not its number."""
    if as_json:
        print_json(_page_json(shown))
        return
    out = console()
    least = "at least " if shown.relation == "gte" else ""
    out.print(
        f"{count_of(shown.total, _NOUNS[shown.of])} in {least}{count_of(shown.families, 'group')}, page {shown.page}\n"
    )
    for hit in shown.hits:
        out.print(Text.assemble((visible(hit.path), "bold"), "  " if hit.path else "", hit.id))
        if not hit.path.endswith(hit.title):
            out.print(Text(f"  {visible(hit.title)}", style="italic"))
        for one in hit.folded:
            kind = f"{one.type.replace('_', ' '):<16}" if one.type else ""
            called = (
                f"{visible(one.path)}  {one.id}"
                if shown.of != "documents"
                else visible(one.path or one.id)
            )
            out.print(Text(f"  + {percent(one.similarity):>4}  {kind}{called}"))
    if any(hit.folded for hit in shown.hits):
        out.print(f"\nsimilarity to the hit above by measure: {shown.measure}")
    for name, values in shown.facets.items():
        out.print(Text(f"\n{'documents':>10}{'families':>10}  {name}", style="dim"))
        for value in values:
            out.print(Text(f"{value.documents:>10,}{value.families:>10,}  {visible(value.value)}"))
    for note in shown.notes:
        out.print(f"note: {note}")
    if shown.more:
        out.print(
            f"\nnext page: {f'--after {shown.next}' if by_token else f'--page {shown.page + 1}'}"
        )


def _page_json(shown: Page) -> dict[str, Any]:
    made: dict[str, Any] = {
        "total": shown.total,
        "families": {"value": shown.families, "relation": shown.relation},
        "hits": [_hit_json(hit) for hit in shown.hits],
        "next": shown.next,
        "measure": shown.measure,
    }
    if shown.facets:
        made["facets"] = {
            name: [_facet_json(value) for value in values] for name, values in shown.facets.items()
        }
    return {**made, "notes": list(shown.notes)} if shown.notes else made


def _hit_json(hit: Hit) -> dict[str, Any]:
    folded = [_folded_json(one) for one in hit.folded]
    made = {
        "id": hit.id,
        "path": hit.path,
        "title": hit.title,
        "score": hit.score,
        **_part_json(hit.part),
    }
    return {**made, "folded": folded}


def _folded_json(one: FoldedHit) -> dict[str, Any]:
    made: dict[str, Any] = {"id": one.id, "path": one.path, "similarity": one.similarity}
    return {**made, **({"type": one.type} if one.type else {}), **_part_json(one.part)}


def _part_json(part: Part | None) -> dict[str, Any]:
    return {} if part is None else {"part": dataclasses.asdict(part)}


def _facet_json(value: Facet) -> dict[str, Any]:
    return {"value": value.value, "documents": value.documents, "families": value.families}
