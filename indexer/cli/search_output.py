"""What `search` prints: folded hits, facets, and how to go on."""

from __future__ import annotations

import dataclasses
from typing import Any

from rich.text import Text

from indexer.cli.console import console, print_json
from indexer.model import Facet, FoldedHit, Hit, Part
from indexer.searching.search import Page
from indexer.text.visible import visible
from indexer.text.wording import count_of, percent

_CALLED = {"documents": "document", "parts": "part", "both": "row"}


def page(shown: Page, as_json: bool, by_token: bool) -> None:
    """One page; `by_token`: the way to the next one is its token, not its number."""
    if as_json:
        print_json(_json(shown))
        return
    out = console()
    least = "at least " if shown.relation == "gte" else ""
    out.print(
        f"{count_of(shown.total, _CALLED[shown.of])} in {least}{count_of(shown.families, 'group')}, page {shown.page}\n"
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


def _json(shown: Page) -> dict[str, Any]:
    made: dict[str, Any] = {
        "total": shown.total,
        "families": {"value": shown.families, "relation": shown.relation},
        "hits": [_hit(hit) for hit in shown.hits],
        "next": shown.next,
        "measure": shown.measure,
    }
    if shown.facets:
        made["facets"] = {
            name: [_facet(value) for value in values] for name, values in shown.facets.items()
        }
    return {**made, "notes": list(shown.notes)} if shown.notes else made


def _hit(hit: Hit) -> dict[str, Any]:
    folded = [_folded(one) for one in hit.folded]
    made = {
        "id": hit.id,
        "path": hit.path,
        "title": hit.title,
        "score": hit.score,
        **_part(hit.part),
    }
    return {**made, "folded": folded}


def _folded(one: FoldedHit) -> dict[str, Any]:
    made: dict[str, Any] = {"id": one.id, "path": one.path, "similarity": one.similarity}
    return {**made, **({"type": one.type} if one.type else {}), **_part(one.part)}


def _part(part: Part | None) -> dict[str, Any]:
    return {} if part is None else {"part": dataclasses.asdict(part)}


def _facet(value: Facet) -> dict[str, Any]:
    return {"value": value.value, "documents": value.documents, "families": value.families}
