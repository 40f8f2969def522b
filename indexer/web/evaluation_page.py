"""An evaluation as one HTML file that needs nothing but itself: scores, agreement, and every error
side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from indexer.comparing.blocks_view import Cells, SideBySide
from indexer.comparing.compare import compare
from indexer.errors import MissingExtra
from indexer.lab.evaluation.evaluation_results import Evaluation, Mistake, Result
from indexer.statistics.precision_recall import RULES
from indexer.system.release import release
from indexer.web.compare_page import digest

MOST_SHOWN, MOST_BLOCKS = 100, 100
_STATIC = Path(__file__).parent / "static"
_STYLES = ("base.css", "parts.css", "compare.css", "file.css", "evaluation.css")


def evaluation_page(made: Evaluation) -> str:
    """The page of an evaluation. It runs no script and loads nothing, whatever the documents say.

    Of each result the first 100 errors are shown with the first 100 blocks of their texts, of some
    120 words each. Raises `MissingExtra` without jinja2.
    """
    try:
        from indexer.web.rendering import environment, render
    except ModuleNotFoundError as error:
        raise MissingExtra(package=str(error.name), extra="web") from error
    values = {
        "made": made,
        "rule": RULES[made.rule],
        "shown": [(one, _shown(one), max(0, _errors(one) - MOST_SHOWN)) for one in made.results],
        "style": _style(),
        "policy": f"default-src 'none'; style-src '{digest(_style())}'; base-uri 'none'; form-action 'none'",
        "version": release(),
    }
    return render(environment(), "evaluation_file.html", values).encode("utf-8", "replace").decode()


def _errors(result: Result) -> int:
    return len(result.false_positives) + len(result.misses)


def _shown(result: Result) -> Iterator[tuple[Mistake, str, Iterator[Cells]]]:
    """The first errors, what each is, and its texts side by side."""
    both = [
        *((one, "Found") for one in result.false_positives),
        *((one, "Missed") for one in result.misses),
    ]
    for one, what in both[:MOST_SHOWN]:
        beside = SideBySide(compare(one.a.text, one.b.text, names=(one.a.path, one.b.path)))
        yield one, what, beside.cells(beside.blocks[:MOST_BLOCKS])


@cache
def _style() -> str:
    return "\n".join((_STATIC / name).read_text(encoding="utf-8") for name in _STYLES)
