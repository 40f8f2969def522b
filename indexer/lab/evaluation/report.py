"""An evaluation as one HTML file: scores, agreement, and every error side by side."""

from __future__ import annotations

import csv
import dataclasses
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from indexer.comparing.compare import compare
from indexer.lab.evaluation.judgements import TYPES, GoldDocument, Kappa, MeasuredAgreement
from indexer.lab.evaluation.precision_recall import RULES
from indexer.lab.evaluation.scores import Evaluation, JudgedQuery, JudgedSet, Mistake, Result
from indexer.review.rendering import render_file
from indexer.review.side_by_side import Cells, SideBySide
from indexer.system.files import write_whole

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


# Tables of what was judged: by query, by the size of sets, and the length of each set.


TABLES = ("queries.csv", "sizes.csv", "sets.csv")


def write_tables(evaluation: Evaluation, folder: Path) -> None:
    """Write the files `TABLES` into a folder that exists."""
    by_query: dict[str, list[JudgedSet]] = {}
    by_size: dict[int, list[JudgedSet]] = {}
    for judged in evaluation.sets:
        by_query.setdefault(judged.query, []).append(judged)
        by_size.setdefault(len(judged.documents), []).append(judged)
    columns = ["query", "documents", *TYPES, "sets", "documents_in_sets"]
    queries = [_of_query(query, by_query.get(query.query, [])) for query in evaluation.queries]
    sizes = [_of_size(size, sets) for size, sets in sorted(by_size.items())]
    sets = [
        [judged.query, len(judged.documents), *_lengths(judged.words), *judged.documents]
        for judged in evaluation.sets
    ]
    lengths = ["mean_words", "shortest", "longest"]
    by_name = (
        (columns, queries),
        (["documents", "sets", *lengths], sizes),
        (["query", "documents", *lengths, "paths"], sets),
    )
    for name, (header, rows) in zip(TABLES, by_name, strict=True):
        _write_table(folder / name, header, rows)


def _of_query(query: JudgedQuery, sets: Sequence[JudgedSet]) -> list[object]:
    pairs = (query.types.get(type, 0) for type in TYPES)
    in_sets = sum(len(judged.documents) for judged in sets)
    return [query.query, query.documents, *pairs, len(sets), in_sets]


def _of_size(size: int, sets: Sequence[JudgedSet]) -> list[object]:
    words = [*chain.from_iterable(judged.words for judged in sets)]
    return [size, len(sets), *_lengths(words)]


def _lengths(words: Sequence[int]) -> tuple[float, int, int]:
    return round(sum(words) / len(words), 1), min(words), max(words)


def _write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with write_whole(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *rows])


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
