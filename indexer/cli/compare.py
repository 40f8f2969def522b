"""`nearfold compare`: two documents side by side."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from indexer.cli import progress
from indexer.cli.console import print_json
from indexer.cli.options import json_option, open_for_command, store_option
from indexer.cli.side_by_side import show
from indexer.comparing.blocks_view import facts
from indexer.comparing.boilerplate import discount
from indexer.comparing.compare import Comparison, as_json, compare
from indexer.comparing.originals import Original, original
from indexer.recipe import DEFAULT
from indexer.similarity.alignment import Matching
from indexer.similarity.boilerplate_discount import DiscountedSimilarity
from indexer.similarity.measures import MEASURES
from indexer.stores.base import Store
from indexer.system.whole_file import check_place, write_whole
from indexer.text.visible import visible
from indexer.text.wording import percent
from indexer.web.compare_page import compare_page

_MOST_VALUE = 400


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.option(
    "--matching",
    type=click.Choice(["literal", "information"]),
    default="literal",
    show_default=True,
)
@click.option("--measure", type=click.Choice(sorted(MEASURES)), help="Print this measure alone.")
@click.option(
    "--html",
    "page",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write one HTML file.",
)
@click.option(
    "--discounted", is_flag=True, help="Also without boilerplate, by what is common in the store."
)
@store_option
@json_option
def compare_command(
    a: str,
    b: str,
    store_url: str,
    as_json: bool,
    matching: Matching,
    measure: str | None,
    page: Path | None,
    discounted: bool,
) -> int:
    """Two documents side by side, shared text marked; A and B are paths or ids."""
    if page:
        check_place(page, "--html")
    with open_for_command(store_url) as store:
        originals = original(a, store), original(b, store)
        recipe = store.stored_recipe() or DEFAULT
        first, second = originals
        without = (
            _discounted(store, first.text, second.text)
            if discounted or (page and store.stored_recipe())
            else None
        )
    compared = compare(
        first.text, second.text, recipe, matching=matching, names=(first.path, second.path)
    )
    if page:
        with write_whole(page, "--html") as part:
            part.write_text(compare_page(compared, originals, without), encoding="utf-8")
    told = without if discounted else None
    print_comparison(compared, originals, as_json, measure, str(page) if page else None, told)
    return 0


def _discounted(store: Store, a: str, b: str) -> DiscountedSimilarity:
    with progress.show_stages() as advance:
        return discount(store, a, b, progress=advance)


def print_comparison(
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
