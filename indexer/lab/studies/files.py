"""The files of a study: `report.html` and its figures for people, tables as CSV and `results.json`
for programs.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypeAlias

from indexer.lab.studies.methods import (
    PUBLISHED_COLLISIONS,
    PUBLISHED_METHODS,
    PUBLISHED_SECONDS,
    QUESTION_BITS,
)
from indexer.lab.studies.report import figures, page, sentences
from indexer.lab.studies.results import StudyResult
from indexer.review.charts import can_draw, standalone
from indexer.system.files import write_whole

REPORT, RESULTS = "report.html", "results.json"
SIGNATURES, NEIGHBOURS, STATISTICS = "signatures.csv", "neighbours.csv", "statistics.csv"
Cell: TypeAlias = str | int | float | None
Row: TypeAlias = Sequence[Cell]


def write(result: StudyResult, out: Path) -> None:
    """Write all files, each whole or not at all; figures where they can be drawn.

    Raises `UsageError`.
    """
    svg_by_name = figures(result) if can_draw() else {}
    texts = {f"{name}.svg": standalone(svg) for name, svg in svg_by_name.items()}
    texts[REPORT] = page(result, svg_by_name)
    texts[RESULTS] = json.dumps(read_results(result), indent=1) + "\n"
    for name, text in texts.items():
        with write_whole(out / name) as part:
            part.write_text(text, encoding="utf-8")
    _write_table(out / SIGNATURES, _signatures(result))
    _write_table(out / NEIGHBOURS, _neighbours(result))
    _write_table(out / STATISTICS, _statistics(result))


def _write_table(file: Path, rows: Iterable[Row]) -> None:
    with write_whole(file) as part, part.open("w", encoding="utf-8", newline="") as sheet:
        writer = csv.writer(sheet, lineterminator="\n")
        for row in rows:
            writer.writerow([_cell(value) for value in row])


def read_results(result: StudyResult) -> dict[str, object]:
    """Return the result by the names of its fields, with the findings in sentences."""
    return {**asdict(result), "findings": list(sentences(result))}


def _cell(value: Cell) -> str | int:
    if value is None:
        return ""
    return f"{value:.6f}" if isinstance(value, float) else value


_SIGNATURE_COLUMNS = (
    "method",
    "bits",
    "documents",
    "unique",
    "collisions",
    "deviation",
    "most",
    "seconds",
    "seconds_deviation",
    "megabytes_a_second",
    "compared_pairs",
    "mean_jaccard",
    "under_half",
    "published_collisions",
    "published_deviation",
    "published_seconds",
    "published_seconds_deviation",
)


def _signatures(result: StudyResult) -> Iterator[Row]:
    """Yield tables 1 and 2 and Figure 1: one row a method and length, as measured here and as
    published.
    """
    yield _SIGNATURE_COLUMNS
    seconds = {
        (timing.method, timing.bits): (timing.mean, timing.deviation, timing.megabytes_a_second)
        for timing in result.seconds
    }
    similarities = {
        (alike.method, alike.bits): (alike.pairs, alike.mean, alike.unlike)
        for alike in result.alike
    }
    for spread in result.spreads:
        key = (spread.method, spread.bits)
        yield (
            *key,
            result.counted,
            spread.unique,
            spread.collisions,
            spread.deviation,
            spread.most,
            *seconds[key],
            *similarities.get(key, (None, None, None)),
            *_published(*key),
        )


def _published(method: str, bits: int) -> tuple[float | None, ...]:
    if method not in PUBLISHED_METHODS or bits not in PUBLISHED_COLLISIONS:
        return (None, None, None, None)
    position = PUBLISHED_METHODS.index(method)
    return (*PUBLISHED_COLLISIONS[bits][position], *PUBLISHED_SECONDS[bits][position])


def _neighbours(result: StudyResult) -> Iterator[Row]:
    """Yield figures 2 and 3: one row a number of neighbours; the last stands for more than 10."""
    yield ("method", "bits", "distance", "neighbours", "documents")
    for near in result.near:
        names = [*range(len(near.documents) - 1), "more"]
        for neighbours, documents in zip(names, near.documents, strict=True):
            yield (near.method, near.bits, near.distance, neighbours, documents)


def _statistics(result: StudyResult) -> Iterator[Row]:
    """Yield weighted TopSig by the statistics of some documents, and of those at arrival."""
    unique_names = [f"unique_{bits}" for bits in QUESTION_BITS]
    measures = ("differing_bits_of_64", "within_3_bits", "pairs", "same_pairs")
    yield ("counted", "documents", *unique_names, *measures)
    for sample in result.answers.samples:
        unique = [sample.unique[bits] for bits in QUESTION_BITS]
        measured = (sample.differing, sample.close, sample.pairs, sample.same_pairs)
        yield ("before", sample.documents, *unique, *measured)
    nothing = [None] * len(QUESTION_BITS)
    for arrival in result.answers.arrivals:
        distances = (arrival.differing, arrival.close)
        yield ("while arriving", arrival.last, *nothing, *distances, None, None)
    online = [result.answers.online[bits] for bits in QUESTION_BITS]
    yield ("while arriving", "all", *online, None, None, None, None)
