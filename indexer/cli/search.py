"""The command that searches."""

from __future__ import annotations

from typing import Any

import click

from indexer.cli import search_output as printing
from indexer.cli.options import (
    SynonymsFile,
    json_option,
    open_for_command,
    store_option,
    threshold_option,
)
from indexer.searching import search as results


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
    chosen = results.SearchOptions(
        filters=results.parse_filters(filters), after=after, keep_alive=hold, **options
    )
    with open_for_command(store_url) as store:
        page = results.search(store, query, chosen)
    printing.page(page, as_json, by_token=hold or after is not None)
    return 0
