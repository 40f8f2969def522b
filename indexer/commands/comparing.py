"""The command that compares two documents."""

from __future__ import annotations

from pathlib import Path

import click

from indexer import printing_comparison
from indexer.align import Matching
from indexer.commands.options import json_option, opened, store_option
from indexer.comparison import compare
from indexer.errors import UsageError
from indexer.measures import MEASURES
from indexer.originals import original
from indexer.recipe import DEFAULT
from indexer.web.comparisonfile import compare_page


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.option("--matching", type=click.Choice(["literal", "information"]), default="literal", show_default=True)
@click.option("--measure", type=click.Choice(sorted(MEASURES)), help="Print this measure alone.")
@click.option("--html", "page", type=click.Path(dir_okay=False, writable=True), metavar="FILE", help="Write one HTML file too.")
@store_option
@json_option
def compare_command(
    a: str, b: str, store_url: str, as_json: bool, matching: Matching, measure: str | None, page: str | None
) -> int:
    """Two documents side by side, shared text marked; A and B are paths or ids."""
    with opened(store_url) as store:
        originals = original(a, store), original(b, store)
        recipe = store.stored_recipe() or DEFAULT
    first, second = originals
    compared = compare(first.text, second.text, recipe, matching=matching, names=(first.path, second.path))
    if page:
        _write(page, compare_page(compared, originals))
    printing_comparison.compared(compared, originals, as_json, measure, page)
    return 0


def _write(page: str, html: str) -> None:
    try:
        Path(page).write_text(html, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {page}: {error.strerror or error}; give --html another place") from error
