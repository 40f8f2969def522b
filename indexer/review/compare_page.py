"""A comparison as one HTML file: the compare page, its style and its script in one."""

from __future__ import annotations

from indexer.comparing.compare import Comparison
from indexer.review.api.responses import measures_of, without_boilerplate
from indexer.review.boilerplate import DiscountedSimilarity
from indexer.review.compared_documents import Original
from indexer.review.rendering import render_file
from indexer.review.side_by_side import SideBySide, facts

MAX_BLOCKS = 10_000  # that are shown
_SCRIPTS = ("keyboard.js", "differences.js", "file.js")


def compare_page(
    comparison: Comparison,
    originals: tuple[Original, Original] | None = None,
    without: DiscountedSimilarity | None = None,
) -> str:
    """Return the side-by-side view of a comparison as one HTML file.

    Equal comparisons give equal files. `originals` are the documents whose texts were compared:
    with them metadata and extraction warnings are shown. `without` is the similarity without what
    the texts of a store share (`indexer.review.boilerplate.discount`); the page says when it is
    missing. Of texts with more than 10,000 blocks (some 120 words each) the rest is left out, and
    the page says so.

    >>> from indexer.comparing.compare import compare
    >>> page = compare_page(compare("Did you steal the money?", "Did you steal the money? Yes."))
    >>> "Did you steal" in page
    True
    """
    left, right = originals or _without_metadata(comparison)
    view = SideBySide(comparison)
    values = {
        "comparison": comparison,
        "originals": (left, right),
        "measures": measures_of(comparison.measures),
        "discounted": without_boilerplate(without, "no store of other texts was at hand"),
        "differences": view.differences,
        "cells": view.cells(view.blocks[:MAX_BLOCKS]),
        "facts": facts(left.facts, right.facts),
        "warnings": _warnings(left, right, len(view.blocks)),
    }
    return render_file("comparison.html", values, ("compare.css",), _SCRIPTS)


def _without_metadata(comparison: Comparison) -> tuple[Original, Original]:
    left, right = map(Original, comparison.names, comparison.texts)
    return left, right


def _warnings(left: Original, right: Original, blocks: int) -> list[str]:
    sentences = [f"A: {warning}" for warning in left.warnings]
    sentences += [f"B: {warning}" for warning in right.warnings]
    if blocks > MAX_BLOCKS:
        sentences.append(f"only the first {MAX_BLOCKS:,} of {blocks:,} blocks are shown")
    return sentences
