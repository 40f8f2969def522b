"""A comparison as one HTML file that needs nothing but itself: the compare page, its style and its
script in one.

A policy in the file names its style and its script by their digests: nothing else in it can run,
load or send, whatever the documents say.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

from indexer.comparing.blocks_view import SideBySide, facts
from indexer.comparing.compare import Comparison
from indexer.comparing.originals import Original
from indexer.errors import MissingExtra
from indexer.similarity.boilerplate_discount import DiscountedSimilarity
from indexer.system.release import release

MOST_BLOCKS = 10_000
_STATIC = Path(__file__).parent / "static"
_STYLES, _PRINT = ("base.css", "parts.css", "compare.css", "file.css"), "print.css"
_SCRIPTS = ("keys.js", "differences.js", "file.js")
_MODULE = re.compile(r"^(?:import .*|export (?=function))", re.MULTILINE)


def compare_page(
    comparison: Comparison,
    originals: tuple[Original, Original] | None = None,
    without: DiscountedSimilarity | None = None,
) -> str:
    """The side-by-side view of a comparison, whole, as one HTML file; the same for the same
    comparison.

    `originals` are the documents whose texts were compared: with them metadata and extraction
    warnings are shown. `without` is the similarity without what the texts of a store share
    (`indexer.comparing.boilerplate.discount`); the page says when it is missing. Beyond 10,000
    blocks of some 120 words the texts are left out, and the page says so. Raises `MissingExtra`
    without jinja2.

    >>> from indexer.comparing.compare import compare
    >>> "Did you steal" in compare_page(compare("Did you steal the money?", "Did you steal the money? Yes."))
    True
    """
    try:
        from indexer.web.presenters import measures_of, without_boilerplate
        from indexer.web.rendering import environment, render
    except ModuleNotFoundError as error:
        raise MissingExtra(package=str(error.name), extra="web") from error
    left, right = originals or (
        Original(name, text) for name, text in zip(comparison.names, comparison.texts, strict=True)
    )
    beside = SideBySide(comparison)
    values = {
        "comparison": comparison,
        "originals": (left, right),
        "measures": measures_of(comparison.measures),
        "discounted": without_boilerplate(without, "no store of other texts was at hand"),
        "differences": beside.differences,
        "cells": beside.cells(beside.blocks[:MOST_BLOCKS]),
        "facts": facts(left.facts, right.facts),
        "warnings": [*_sided("A", left), *_sided("B", right), *_shortened(len(beside.blocks))],
        "style": _style(),
        "script": _script(),
        "policy": _policy(),
        "version": release(),
    }
    return render(environment(), "comparison_file.html", values).encode("utf-8", "replace").decode()


def _sided(letter: str, original: Original) -> list[str]:
    return [f"{letter}: {warning}" for warning in original.warnings]


def _shortened(blocks: int) -> list[str]:
    return (
        [f"only the first {MOST_BLOCKS:,} of {blocks:,} blocks are shown"]
        if blocks > MOST_BLOCKS
        else []
    )


@cache
def _style() -> str:
    screen = "\n".join((_STATIC / name).read_text(encoding="utf-8") for name in _STYLES)
    return f"{screen}\n@media print {{\n{(_STATIC / _PRINT).read_text(encoding='utf-8')}}}\n"


@cache
def _script() -> str:
    """The scripts of the pages as one module: without imports and exports, the last of them calls
    the others.
    """
    return "\n".join(
        _MODULE.sub("", (_STATIC / name).read_text(encoding="utf-8")) for name in _SCRIPTS
    )


@cache
def _policy() -> str:
    return (
        f"default-src 'none'; style-src '{digest(_style())}'; script-src '{digest(_script())}'; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def digest(text: str) -> str:
    """A style or a script as a policy names it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
