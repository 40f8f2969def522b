"""`nearfold search`: full-text search with near duplicates folded."""

from __future__ import annotations

import dataclasses
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.options import (
    criteria_options,
    json_option,
    open_for_command,
    refuse_options,
    search_measure_option,
    search_threshold_option,
    store_option,
    synonyms_option,
    take_criteria,
)
from indexer.cli.output import console, print_json, short_path
from indexer.wording import count_of, percent, visible

if TYPE_CHECKING:
    from indexer.model import CountRelation, Facet, FoldedHit, Hit, Part
    from indexer.searching.search import Page
    from indexer.stores.base import Store


LISTED = 5  # folded hits of a hit
_NOUNS = {"documents": "document", "parts": "part", "both": "row"}
_RELATIONS = {"eq": "", "gte": "at least ", "approximate": "about "}


@click.command("search")
@click.argument("query", required=False)
@click.option(
    "--saved",
    is_flag=True,
    help="Instead of a search: count the hits of each search saved on the review pages.",
)
@click.option(
    "--fold",
    type=click.Choice(["live", "family", "threads", "types", "none"]),
    default="live",
    show_default=True,
    help="Fold by similarity (live), stored near-duplicate group (family), mail thread, duplicate "
    "type, or not at all.",
)
@click.option(
    "--join",
    type=click.Choice(["any", "all"]),
    default="any",
    show_default=True,
    help="Match any of the words, or all of them; with all, AND, OR, NOT, ( ) and w/5 are "
    "operators.",
)
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Only hits with this value (docs/search.md); if repeated, all must match.",
)
@click.option(
    "--facet",
    "facets",
    multiple=True,
    metavar="FIELD",
    help="Count the values of a field, in documents and in near-duplicate groups.",
)
@click.option(
    "--sort",
    type=click.Choice(["relevance", "path", "newest", "oldest", "modified"]),
    default="relevance",
    show_default=True,
    help="Order of the hits; newest and oldest use the date of the document, modified the date of "
    "its file.",
)
@click.option(
    "--show",
    metavar="ORDER",
    help="Represent each group by its first hit in the order of a field: `date:desc` (the newest), "
    "`path`, `size:desc`, ... (default: the best hit).",
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Maximum number of hits per page.",
)
@click.option(
    "--page",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Page number.",
)
@click.option(
    "--after",
    metavar="TOKEN",
    help="Continue after the page that ended with this `next` token; no hit appears twice.",
)
@click.option(
    "--keep-alive",
    is_flag=True,
    help="In a cluster: keep a snapshot of the index for the following pages.",
)
@click.option(
    "--top",
    type=click.IntRange(1, 1000),
    default=100,
    show_default=True,
    help="With --fold types: number of hits to compare.",
)
@synonyms_option("With --fold types: a file of synonyms.")
@click.option(
    "--of",
    type=click.Choice(["documents", "parts", "both"]),
    default="documents",
    show_default=True,
    help="Whole documents, or the clauses stored by `index --parts clauses`.",
)
@click.option(
    "--snippets/--no-snippets",
    default=True,
    help="Show the text around the words that match (default).",
)
@search_threshold_option
@search_measure_option
@criteria_options
@store_option
@json_option
def search_command(
    query: str | None,
    saved: bool,
    filters: tuple[str, ...],
    store_url: str,
    as_json: bool,
    after: str | None,
    **options: Any,
) -> int:
    """Search documents and fold near duplicates under the best hit.

    Any word of QUERY may match; documents with more and rarer ones come first. Every store has the
    same syntax:

    \b
      +word             required; the other words only add to the rank
      -word             excluded (write `--` before a QUERY that begins with -)
      one|other         alternatives, as in +ferry|boat
      "words together"  in this order, next to each other
      word*             words with this prefix
      from:ann          the value of a field: from, to, cc, custodian, subject, sent, date, type,
                        label, path, and coding fields of the store

    With --join all, every word must match, and operators are available:

    \b
      (ferry OR boat) NOT "press release"
      privileg* w/10 (lawyer OR advice)   up to ten words apart

    An empty QUERY finds every document.
    """
    from indexer.searching.search import FACTS, SearchOptions, parse_filters, search

    if saved == (query is not None):
        raise click.UsageError("give either a QUERY or --saved")
    if query is None:
        return _print_saved(store_url, as_json)
    if options["fold"] != "types":
        refuse_options(["top", "synonyms"], "without --fold types")
    settings = SearchOptions(
        filters=_with_real_paths(parse_filters(filters)),
        after=after,
        criteria=take_criteria(options),
        facts=FACTS if as_json else LISTED,
        **options,
    )
    with open_for_command(store_url) as store:
        page = search(store, _with_labels(store, query), settings)
    print_page(page, as_json, by_token=settings.keep_alive or after is not None)
    if not (as_json or page.hits or after) and page.total:
        last = math.ceil(page.families / settings.limit)
        click.echo(f"the last page is --page {last}")
    return 0


def _with_labels(store: Store, query: str) -> str:
    """Return a query in which values of the store's coding fields are labels."""
    if ":" not in query:
        return query
    from indexer.jobs.review_file import stored_coding, with_labels

    return with_labels(query, stored_coding(store))


def _print_saved(store_url: str, as_json: bool) -> int:
    """Print what each saved search finds."""
    from indexer.jobs.review_file import ReviewFile, review_path
    from indexer.review.api.saved_searches import count_searches
    from indexer.stores.journal import journal_path

    with open_for_command(store_url) as store:
        saved = ReviewFile(review_path(journal_path(store.address))).searches()
        for search in count_searches(store, saved):
            if as_json:
                print_json(dataclasses.asdict(search))
                continue
            error = f"  ({' '.join(search.error.split())})" if search.error else ""
            counts = f"{search.documents:>10,}{search.groups:>10,}"
            click.echo(f"{counts}  {visible(search.name)}: {visible(search.query)}{error}")
    return 0


def _with_real_paths(filters: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return filters with the real paths of files and folders, which are stored."""
    of_paths = [name in ("path", "folder") and Path(value).exists() for name, value in filters]
    return tuple(
        (name, os.path.realpath(value) if is_path else value)
        for (name, value), is_path in zip(filters, of_paths, strict=True)
    )


def print_page(page: Page, as_json: bool, by_token: bool) -> None:
    """Print one page; with `by_token` the next one is named by its token, not by its number."""
    from rich.text import Text

    if as_json:
        print_json(_page_json(page))
        return
    out = console()
    groups = f"{_RELATIONS[page.relation]}{count_of(page.families, 'group')}"
    out.print(f"{count_of(page.total, _NOUNS[page.of])} in {groups}, page {page.page}\n")
    for hit in page.hits:
        _print_hit(hit, page.of)
    if any(hit.folded for hit in page.hits):
        out.print(
            f"\nsimilarity to the hit above by measure: {page.measure}{_format_threshold(page)}"
        )
    for name, values in page.facets.items():
        out.print(Text(f"\n{'documents':>10}{'groups':>10}  {name}", style="dim"))
        for value in values:
            groups = f"{'~' if value.relation != 'eq' else ''}{value.families:,}"
            out.print(Text(f"{value.documents:>10,}{groups:>10}  {visible(value.value)}"))
    for note in page.notes:
        out.print(f"note: {note}")
    if page.more:
        next_page = f"--after {page.next}" if by_token else f"--page {page.page + 1}"
        out.print(f"\nnext page: {next_page}")


def _format_threshold(page: Page) -> str:
    policy = f" by policy: {page.policy}" if page.policy else ""
    return "" if page.threshold is None else f", folded at {page.threshold:g} or more{policy}"


def _print_hit(hit: Hit, of: str) -> None:
    """Print a hit and the hits folded under it."""
    from rich.text import Text

    from indexer.comparing.reasons import format_differences
    from indexer.wording import format_marks

    out = console()
    out.print(Text.assemble((short_path(hit.path), "bold"), "  " if hit.path else "", hit.id))
    if not hit.path.endswith(hit.title):
        out.print(Text(f"  {visible(hit.title)}", style="italic"))
    if hit.snippet:
        pieces = [(piece.text, "bold yellow" if piece.found else "") for piece in hit.snippet]
        out.print(Text.assemble("  ", *pieces))
    for folded in hit.folded[:LISTED]:
        kind = f"{folded.type.replace('_', ' '):<16}" if folded.type else ""
        name = short_path(folded.path or folded.id)
        if of != "documents":
            name = f"{short_path(folded.path)}  {folded.id}"
        read = "  (as far as read)" if folded.as_read else ""
        out.print(Text(f"  + {percent(folded.similarity):>4}  {kind}{name}{read}"))
        if folded.marks:
            out.print(Text(f"          marks: {format_marks(folded.marks)}", style="bold"))
        for sentence in format_differences(folded.differences or ()):
            out.print(Text(f"          {visible(sentence)}"))
    if len(hit.folded) > LISTED:
        out.print(f"  + ... and {len(hit.folded) - LISTED:,} more; --json lists all")


def _page_json(page: Page) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "total": page.total,
        "families": _families_json(page.families, page.relation),
        "hits": list(map(_hit_json, page.hits)),
        "next": page.next,
        "measure": page.measure,
        "threshold": page.threshold,
        "policy": page.policy,
    }
    if page.facets:
        fields["facets"] = {
            name: list(map(_facet_json, values)) for name, values in page.facets.items()
        }
    if page.notes:
        fields["notes"] = list(page.notes)
    return fields


def _hit_json(hit: Hit) -> dict[str, Any]:
    return {
        "id": hit.id,
        "path": hit.path,
        "title": hit.title,
        "score": hit.score,
        **_part_json(hit.part),
        **_snippet_json(hit),
        "folded": list(map(_folded_json, hit.folded)),
    }


def _snippet_json(hit: Hit) -> dict[str, Any]:
    return {"snippet": list(map(dataclasses.asdict, hit.snippet))} if hit.snippet else {}


def _folded_json(hit: FoldedHit) -> dict[str, Any]:
    fields: dict[str, Any] = {"id": hit.id, "path": hit.path, "similarity": hit.similarity}
    fields["as_read"] = hit.as_read
    if hit.type:
        fields["type"] = hit.type
    if hit.differences is not None:
        fields["marks"] = list(map(dataclasses.asdict, hit.marks))
        fields["differences"] = list(map(dataclasses.asdict, hit.differences))
    return fields | _part_json(hit.part)


def _part_json(part: Part | None) -> dict[str, Any]:
    return {} if part is None else {"part": dataclasses.asdict(part)}


def _facet_json(value: Facet) -> dict[str, Any]:
    fields: dict[str, Any] = {"value": value.value, "documents": value.documents}
    return {**fields, "families": value.families, "relation": value.relation}


def _families_json(number: int, relation: CountRelation) -> dict[str, Any]:
    from indexer.model import FAMILIES_ERROR

    fields: dict[str, Any] = {"value": number, "relation": relation}
    return {**fields, "error": FAMILIES_ERROR} if relation == "approximate" else fields
