"""The files of a study: `report.html` and its figures for people, tables as CSV and
`results.json` for programs.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from indexer.html.charts import can_draw, standalone
from indexer.lab.studies.findings import sentences
from indexer.lab.studies.methods import (
    PUBLISHED_COLLISIONS,
    PUBLISHED_METHODS,
    PUBLISHED_SECONDS,
    QUESTION_BITS,
)
from indexer.lab.studies.study import as_json
from indexer.lab.studies.study_figures import figures
from indexer.lab.studies.study_page import page
from indexer.lab.studies.study_results import StudyResult
from indexer.system.whole_file import write_whole

REPORT, RESULTS = "report.html", "results.json"
SIGNATURES, NEIGHBOURS, STATISTICS = "signatures.csv", "neighbours.csv", "statistics.csv"
Row = Sequence[str | int | float | None]


def write(result: StudyResult, out: Path) -> None:
    """Write all files, each whole or not at all; figures where they can be drawn. Raises
    `UsageError`.
    """
    drawn = figures(result) if can_draw() else {}
    texts = {f"{name}.svg": standalone(svg) for name, svg in drawn.items()}
    texts[REPORT] = page(result, drawn)
    texts[RESULTS] = json.dumps(read_results(result), indent=1) + "\n"
    for name, text in texts.items():
        with write_whole(out / name) as place:
            place.write_text(text, encoding="utf-8")
    for name, rows in (
        (SIGNATURES, _signatures(result)),
        (NEIGHBOURS, _neighbours(result)),
        (STATISTICS, _statistics(result)),
    ):
        with (
            write_whole(out / name) as place,
            place.open("w", encoding="utf-8", newline="") as sheet,
        ):
            csv.writer(sheet, lineterminator="\n").writerows(_cells(rows))


def read_results(result: StudyResult) -> dict[str, object]:
    """Return everything as JSON, with the findings as sentences."""
    return {**as_json(result), "findings": list(sentences(result))}


def _cells(rows: Iterable[Row]) -> Iterator[list[str | int]]:
    return (
        [
            "" if value is None else f"{value:.6f}" if isinstance(value, float) else value
            for value in row
        ]
        for row in rows
    )


def _signatures(result: StudyResult) -> Iterator[Row]:
    """Yield Tables 1 and 2 and Figure 1: one row a method and length, as measured here and as
    published.
    """
    yield (
        "method", "bits", "documents", "unique", "collisions", "deviation", "most",
        "seconds", "seconds_deviation", "megabytes_a_second",
        "compared_pairs", "mean_jaccard", "under_half",
        "published_collisions", "published_deviation",
        "published_seconds", "published_seconds_deviation",
    )  # fmt: skip
    seconds = {
        (timed.method, timed.bits): (timed.mean, timed.deviation, timed.megabytes_a_second)
        for timed in result.seconds
    }
    alike = {
        (pairs.method, pairs.bits): (pairs.pairs, pairs.mean, pairs.unlike)
        for pairs in result.alike
    }
    for spread in result.spreads:
        key = spread.method, spread.bits
        yield (
            *key,
            result.account.studied,
            spread.unique,
            spread.collisions,
            spread.deviation,
            spread.most,
            *seconds[key],
            *alike.get(key, (None, None, None)),
            *_published(*key),
        )


def _published(method: str, bits: int) -> tuple[float | None, ...]:
    if method not in PUBLISHED_METHODS or bits not in PUBLISHED_COLLISIONS:
        return (None, None, None, None)
    place = PUBLISHED_METHODS.index(method)
    return (*PUBLISHED_COLLISIONS[bits][place], *PUBLISHED_SECONDS[bits][place])


def _neighbours(result: StudyResult) -> Iterator[Row]:
    """Yield Figures 2 and 3: one row a number of neighbours; the last stands for more than 10."""
    yield ("method", "bits", "distance", "neighbours", "documents")
    for near in result.near:
        for number, documents in enumerate(near.documents):
            yield (
                near.method,
                near.bits,
                near.distance,
                number if number < len(near.documents) - 1 else "more",
                documents,
            )


def _statistics(result: StudyResult) -> Iterator[Row]:
    """Yield weighted TopSig by the statistics of some documents, and of those that had arrived."""
    yield (
        "counted",
        "documents",
        *(f"unique_{bits}" for bits in QUESTION_BITS),
        "differing_bits_of_64",
        "within_3_bits",
    )
    for sample in result.answers.samples:
        yield (
            "before",
            sample.documents,
            *(sample.unique[bits] for bits in QUESTION_BITS),
            sample.differing,
            sample.close,
        )
    for arrival in result.answers.arrivals:
        yield (
            "while arriving",
            arrival.last,
            *(None for _ in QUESTION_BITS),
            arrival.differing,
            arrival.close,
        )
    yield (
        "while arriving",
        "all",
        *(result.answers.online[bits] for bits in QUESTION_BITS),
        None,
        None,
    )
