"""An evaluation as one HTML file: scores, agreement, and every error side by side."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from indexer.comparing.compare import compare
from indexer.lab.evaluation.judgements import GoldDocument, Kappa, MeasuredAgreement
from indexer.lab.evaluation.precision_recall import RULES
from indexer.lab.evaluation.scores import Evaluation, Mistake, Result
from indexer.review.rendering import render_file
from indexer.review.side_by_side import Cells, SideBySide

MAX_DISPLAYED = 100  # mistakes of a recipe that are shown
MAX_BLOCKS = 100  # blocks of a mistake that are shown


@dataclass(frozen=True, slots=True)
class _PrintedMistake:
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
            (result, _printed_mistakes(result), max(0, _errors(result) - MAX_DISPLAYED))
            for result in evaluation.results
        ],
    }
    return render_file("evaluation.html", values, ("compare.css", "evaluation.css"))


def _errors(result: Result) -> int:
    return len(result.false_positives) + len(result.misses)


def _printed_mistakes(result: Result) -> Iterator[_PrintedMistake]:
    """Yield the first errors, false positives before misses."""
    mistakes = [("Found", mistake) for mistake in result.false_positives]
    mistakes += [("Missed", mistake) for mistake in result.misses]
    for title, mistake in mistakes[:MAX_DISPLAYED]:
        names = mistake.a.path, mistake.b.path
        view = SideBySide(compare(mistake.a.text, mistake.b.text, names=names))
        yield _PrintedMistake(title, mistake, view.cells(view.blocks[:MAX_BLOCKS]))


# An evaluation as JSON, with the command that shows each mistake.


def evaluation_json(evaluation: Evaluation, store_url: str) -> dict[str, Any]:
    """Return a whole evaluation as JSON values, with all its mistakes."""
    fields = dataclasses.asdict(dataclasses.replace(evaluation, results=()))
    fields["types"] = dict(evaluation.types)
    if evaluation.assessors:
        for name in ("duplicate", "types"):
            agreement = getattr(evaluation.assessors, name)
            fields["assessors"][name] = _agreement_json(agreement)
    fields["results"] = [_result_json(result, store_url) for result in evaluation.results]
    return fields


def compare_command(mistake: Mistake, store_url: str) -> str:
    """Return the command that shows both texts of a mistake side by side."""
    texts = f"{shlex.quote(_name(mistake.a))} {shlex.quote(_name(mistake.b))}"
    store = f" --store {shlex.quote(store_url)}" if mistake.a.stored or mistake.b.stored else ""
    return f"nearfold compare {texts}{store}"


def _name(document: GoldDocument) -> str:
    return document.key if document.stored else document.path


def _agreement_json(agreement: MeasuredAgreement) -> dict[str, Any]:
    return {
        "pooled": _kappa_json(agreement.pooled),
        "corrected": _kappa_json(agreement.corrected),
        "by_group": dataclasses.asdict(agreement.by_group),
        "cohen": agreement.cohen and _kappa_json(agreement.cohen),
    }


def _kappa_json(kappa: Kappa) -> dict[str, Any]:
    return {**dataclasses.asdict(kappa), "z": kappa.z, "p": kappa.p}


def _result_json(result: Result, store_url: str) -> dict[str, Any]:
    fields = dataclasses.asdict(dataclasses.replace(result, false_positives=(), misses=()))
    fields["agreement"] = _kappa_json(result.agreement)
    for name in ("false_positives", "misses"):
        mistakes = getattr(result, name)
        fields[name] = [_mistake_json(mistake, store_url) for mistake in mistakes]
    return fields


def _mistake_json(mistake: Mistake, store_url: str) -> dict[str, Any]:
    return {
        "a": _name(mistake.a),
        "b": _name(mistake.b),
        "type": mistake.type,
        "kind": mistake.kind,
        "group": mistake.group,
        "similarity": mistake.similarity,
        "why": mistake.why,
        "compare": compare_command(mistake, store_url),
    }
