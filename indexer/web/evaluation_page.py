"""An evaluation as one HTML file: scores, agreement, and every error side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from indexer.comparing.blocks_view import Cells, SideBySide
from indexer.comparing.compare import compare
from indexer.html.page_file import render_file
from indexer.lab.evaluation.evaluation_results import Evaluation, Mistake, Result
from indexer.statistics.precision_recall import RULES

MOST_SHOWN = 100  # mistakes of a recipe that are shown
MOST_BLOCKS = 100  # blocks of a mistake that are shown


@dataclass(frozen=True, slots=True)
class _ShownMistake:
    """An error with its texts side by side; `title` says which kind of error it is."""

    title: str
    mistake: Mistake
    cells: Iterator[Cells]


def evaluation_page(evaluation: Evaluation) -> str:
    """Return the page of an evaluation. It runs no script and loads nothing.

    Of each result the first 100 errors are shown with the first 100 blocks of their texts, of some
    120 words each.
    """
    values = {
        "evaluation": evaluation,
        "rule": RULES[evaluation.rule],
        "results": [
            (result, _shown_mistakes(result), max(0, _errors(result) - MOST_SHOWN))
            for result in evaluation.results
        ],
    }
    return render_file("evaluation.html", values, ("compare.css", "evaluation.css"))


def _errors(result: Result) -> int:
    return len(result.false_positives) + len(result.misses)


def _shown_mistakes(result: Result) -> Iterator[_ShownMistake]:
    """Yield the first errors, false positives before misses."""
    mistakes = [("Found", mistake) for mistake in result.false_positives]
    mistakes += [("Missed", mistake) for mistake in result.misses]
    for title, mistake in mistakes[:MOST_SHOWN]:
        names = mistake.a.path, mistake.b.path
        beside = SideBySide(compare(mistake.a.text, mistake.b.text, names=names))
        yield _ShownMistake(title, mistake, beside.cells(beside.blocks[:MOST_BLOCKS]))
