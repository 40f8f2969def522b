"""What similar prints: the near duplicates of one document, and why they are."""

from __future__ import annotations

import textwrap
from typing import Any

from rich.text import Text

from indexer.cli.console import console, print_json
from indexer.model import Match
from indexer.searching.similar import SimilarResult
from indexer.text.visible import visible
from indexer.text.wording import count_of, percent

EXCERPT = 70


def found(answer: SimilarResult, as_json: bool) -> None:
    """The matches of a look-up."""
    if as_json:
        print_json(
            {
                "query": answer.query,
                "recipe": answer.recipe,
                "matches": [_match(one) for one in answer.matches],
                "capped_keys": list(answer.capped_keys),
                "notes": list(answer.notes),
            }
        )
        return
    out = console()
    for one in answer.matches:
        out.print(
            Text.assemble((_percent(one), "bold"), f"  {visible(one.path)}  ", (one.id, "dim"))
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


def _percent(match: Match) -> str:
    if match.low == match.high:
        return percent(match.similarity, 1)
    return f"{percent(match.similarity, 1)} ({percent(match.low)}-{percent(match.high)})"


def _match(match: Match) -> dict[str, Any]:
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
