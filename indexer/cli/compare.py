"""`nearfold compare`: show two documents side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.cli import progress
from indexer.cli.options import (
    MeasureName,
    json_option,
    open_for_command,
    out_file_option,
    replace_option,
    store_option,
)
from indexer.cli.output import console, note, print_json
from indexer.cli.side_by_side import print_side_by_side
from indexer.defaults import SHINGLE_WORDS
from indexer.wording import count_of, percent, visible

if TYPE_CHECKING:
    from indexer.comparing.compare import Comparison
    from indexer.model import Matching
    from indexer.review.boilerplate import DiscountedSimilarity
    from indexer.review.compared_documents import Original, WordFormats
    from indexer.stores.abilities import FullStore
    from indexer.stores.base import Store


_MAX_VALUE = 400  # characters of a metadata value that are shown


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.option(
    "--matching",
    type=click.Choice(["literal", "information"]),
    default="literal",
    show_default=True,
    help="Match passages one to one, or let repeats within a text add nothing.",
)
@click.option(
    "--shingle-width",
    type=click.IntRange(1, 100),
    default=SHINGLE_WORDS,
    show_default=True,
    metavar="WORDS",
    help="Words of a shingle in resemblance, S_R.",
)
@click.option(
    "--measure",
    type=MeasureName(),
    help="Print this measure only; variants such as overlap:8 or overlap:information are accepted.",
)
@out_file_option("Also write the comparison to an HTML file.", "--html", "page")
@out_file_option(
    "Also write the changes from A to B as tracked changes of a Word document.", "--docx"
)
@out_file_option("Also write the changes from A to B as a PDF.", "--pdf")
@replace_option
@click.option(
    "--font",
    "fonts",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="With --pdf: a TrueType font for characters that Noto Sans lacks; repeatable.",
)
@click.option(
    "--discounted",
    is_flag=True,
    help="Also print the similarity without the boilerplate of the store.",
)
@store_option
@json_option
def compare_command(
    a: str,
    b: str,
    store_url: str,
    as_json: bool,
    matching: Matching,
    shingle_width: int,
    measure: str | None,
    page: Path | None,
    docx: Path | None,
    pdf: Path | None,
    replace: bool,
    fonts: tuple[Path, ...],
    discounted: bool,
) -> int:
    """Compare two documents and mark the text they have in common. A and B are paths or ids."""
    from indexer.comparing.criteria import NO_CRITERIA
    from indexer.recipe import DEFAULT
    from indexer.review.compared_documents import original
    from indexer.review.comparison_files import compare_page, redline_docx, redline_pdf
    from indexer.system.files import check_not_read, check_output_path, write_whole

    for position, option in ((page, "--html"), (docx, "--docx"), (pdf, "--pdf")):
        if position:
            check_not_read(position, (a, b), option)
            check_output_path(position, option, replace=replace)
    with open_for_command(store_url) as store:
        left, right = originals = original(a, store), original(b, store)
        if measure:
            NO_CRITERIA.check_sketches(store.stored_recipe() or DEFAULT, measure)
        variants = (measure,) if measure and ":" in measure else ()
        comparison = _compare(store, left, right, matching, shingle_width, variants)
        discounts = None
        if discounted or (page and store.stored_recipe()):
            discounts = _discount(store, left.text, right.text, as_json)
    if page:
        with write_whole(page, "--html") as part:
            part.write_text(compare_page(comparison, originals, discounts), encoding="utf-8")
    if docx:
        with write_whole(docx, "--docx") as part:
            part.write_bytes(redline_docx(comparison, (_formats(a), _formats(b))))
    if pdf:
        with write_whole(pdf, "--pdf") as part:
            part.write_bytes(redline_pdf(comparison, fonts=fonts))
    print_comparison(
        comparison,
        originals,
        as_json,
        measure,
        str(page) if page else None,
        discounts if discounted else None,
    )
    return 0


def _formats(name: str) -> WordFormats | None:
    """Return the formats of a document that is given as a Word file."""
    from indexer.review.compared_documents import word_formats

    file = Path(name)
    return word_formats(file.read_bytes()) if file.is_file() else None


def _compare(
    store: FullStore,
    left: Original,
    right: Original,
    matching: Matching,
    shingle_width: int,
    variants: tuple[str, ...],
) -> Comparison:
    """Compare two documents by the recipe of the store, or the default one without an index."""
    from indexer.comparing.compare import compare
    from indexer.recipe import DEFAULT

    recipe = store.stored_recipe()
    return compare(
        left.text,
        right.text,
        recipe or DEFAULT,
        matching=matching,
        shingle_width=shingle_width,
        variants=variants,
        names=(left.path, right.path),
        frequencies=store.vocabulary.frequencies if recipe else None,
    )


def _discount(store: Store, a: str, b: str, as_json: bool) -> DiscountedSimilarity:
    from indexer.review.boilerplate import discount

    with progress.show_stages(as_json) as advance:
        return discount(store, a, b, progress=advance)


def print_comparison(
    comparison: Comparison,
    originals: tuple[Original, Original],
    json: bool,
    measure: str | None = None,
    page: str | None = None,
    discounts: DiscountedSimilarity | None = None,
) -> None:
    """Print two documents side by side, as JSON, or one measure alone.

    For JSON and for one measure extraction warnings go to stderr. `discounts` is printed with
    the measures; `page` is the path of the HTML file that was written.
    """
    from indexer.comparing.compare import as_json

    if json or measure:
        for warning in _warnings(originals):
            note(warning, json)
    if json:
        extra = {"discounted": asdict(discounts)} if discounts else {}
        print_json(as_json(comparison, measure) | extra)
        return
    if measure:
        value = as_json(comparison, measure)["measures"][measure]
        print(f"{measure}  {'no sketch: a text is too short' if value is None else value}")
    else:
        _print_texts(comparison, originals)
    if discounts:
        print(_discounted_line(discounts))
    if page:
        print(f"\nside by side in {visible(page)}")


def _discounted_line(discounts: DiscountedSimilarity) -> str:
    """Return the discounted similarity in a line like the lines of the measures."""
    title = f"discounted     {percent(discounts.similarity, 1):18} S_R"
    if not discounts.texts:
        return f"{title}; the store has no other texts to compute weights from"
    return (
        f"{title} with shingles weighted by rarity in {count_of(discounts.texts, 'text')}; "
        f"{percent(discounts.common)} of them are common there; "
        f"S_R itself {percent(discounts.plain, 1)}"
    )


def _print_texts(comparison: Comparison, originals: tuple[Original, Original]) -> None:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from indexer.review.side_by_side import facts

    out = console(soft_wrap=False)
    for warning in _warnings(originals):
        out.print(Text(warning, style="yellow"), soft_wrap=True)
    print_side_by_side(comparison, out)
    left, right = originals
    differing = [fact for fact in facts(left.facts, right.facts) if not fact.same]
    if not differing:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("metadata that differ", "A", "B"):
        table.add_column(title, overflow="fold")
    for fact in differing:
        values = (fact.name, fact.left, fact.right)
        table.add_row(*(Text(_shorten(value)) for value in values))
    out.print(Padding(table, (1, 0, 0, 0)))


def _warnings(originals: tuple[Original, Original]) -> Iterator[str]:
    for letter, original in zip("AB", originals, strict=True):
        yield from (f"warning: {letter}: {visible(warning)}" for warning in original.warnings)


def _shorten(value: str) -> str:
    return (value if len(value) <= _MAX_VALUE else f"{value[:_MAX_VALUE]}…") or "–"
