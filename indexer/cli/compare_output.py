"""What `compare` prints: the texts side by side, what went wrong when they were read, and where
their metadata differ.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from indexer.cli.console import print_json
from indexer.cli.side_by_side import show
from indexer.comparing.blocks_view import facts
from indexer.comparing.compare import Comparison, as_json
from indexer.comparing.originals import Original
from indexer.similarity.boilerplate_discount import DiscountedSimilarity
from indexer.text.visible import visible
from indexer.text.wording import percent

_MOST_VALUE = 400


def compared(
    made: Comparison,
    originals: tuple[Original, Original],
    json: bool,
    measure: str | None = None,
    page: str | None = None,
    without: DiscountedSimilarity | None = None,
) -> None:
    """Two documents side by side. For programs, and for one measure alone, extraction warnings go
    to stderr.
    """
    if json or measure:
        for warning in _warnings(originals):
            print(warning, file=sys.stderr)
    if json:
        print_json(as_json(made, measure) | ({"discounted": asdict(without)} if without else {}))
    elif measure:
        print(f"{measure}  {as_json(made, measure)['measures'][measure]}")
    else:
        _show(made, originals)
    if without and not json:
        print(_told(without))
    if page and not json:
        print(f"\nside by side in {visible(page)}")


def _told(without: DiscountedSimilarity) -> str:
    """The discounted figure in a line like those of the measures."""
    if not without.texts:
        return f"discounted     {percent(without.similarity, 1):18} S_R; the store has no other texts to weigh by"
    return (
        f"discounted     {percent(without.similarity, 1):18} S_R with shingles weighted by rarity in {without.texts:,} texts; "
        f"{percent(without.common)} of them are common there; S_R itself {percent(without.plain, 1)}"
    )


def _show(made: Comparison, originals: tuple[Original, Original]) -> None:
    console = Console(highlight=False)
    for warning in _warnings(originals):
        console.print(Text(warning, style="yellow"), soft_wrap=True)
    show(made, console)
    differing = [fact for fact in facts(originals[0].facts, originals[1].facts) if not fact.same]
    if not differing:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("metadata that differ", "A", "B"):
        table.add_column(title, overflow="fold")
    for fact in differing:
        table.add_row(*(Text(_shortened(value)) for value in (fact.name, fact.left, fact.right)))
    console.print(Padding(table, (1, 0, 0, 0)))


def _warnings(originals: tuple[Original, Original]) -> Iterator[str]:
    for letter, one in zip("AB", originals, strict=True):
        yield from (f"warning: {letter}: {visible(warning)}" for warning in one.warnings)


def _shortened(value: str) -> str:
    return (value if len(value) <= _MOST_VALUE else f"{value[:_MOST_VALUE]}…") or "–"
