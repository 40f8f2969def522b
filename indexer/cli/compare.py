"""The command that compares two documents."""

from __future__ import annotations

from pathlib import Path

import click

from indexer.cli import compare_output as printing
from indexer.cli import progress
from indexer.cli.options import json_option, open_for_command, store_option
from indexer.comparing.boilerplate import discount
from indexer.comparing.compare import compare
from indexer.comparing.originals import original
from indexer.recipe import DEFAULT
from indexer.similarity.alignment import Matching
from indexer.similarity.boilerplate_discount import DiscountedSimilarity
from indexer.similarity.measures import MEASURES
from indexer.stores.base import Store
from indexer.system.whole_file import check_place, write_whole
from indexer.web.compare_page import compare_page


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
    printing.compared(compared, originals, as_json, measure, str(page) if page else None, told)
    return 0


def _discounted(store: Store, a: str, b: str) -> DiscountedSimilarity:
    with progress.of_stages() as advance:
        return discount(store, a, b, progress=advance)
