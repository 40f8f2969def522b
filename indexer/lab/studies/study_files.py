"""What a study leaves behind: `report.html` and its figures for people, tables as CSV and
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


def read_results(made: StudyResult) -> dict[str, object]:
    """Everything as JSON, the findings in words too."""
    return {**as_json(made), "findings": list(sentences(made))}


def _cells(rows: Iterable[Row]) -> Iterator[list[str | int]]:
    return (
        ["" if one is None else f"{one:.6f}" if isinstance(one, float) else one for one in row]
        for row in rows
    )


def _signatures(made: StudyResult) -> Iterator[Row]:
    """Tables 1 and 2 and Figure 1: one row a method and length, as measured here and as
    published.
    """
    yield (
        "method", "bits", "documents", "unique", "collisions", "deviation", "most", "seconds", "seconds_deviation",
        "megabytes_a_second", "compared_pairs", "mean_jaccard", "under_half", "published_collisions", "published_deviation",
        "published_seconds", "published_seconds_deviation",
    )  # fmt: skip
    seconds = {
        (one.method, one.bits): (one.mean, one.deviation, one.megabytes_a_second)
        for one in made.seconds
    }
    likened = {(one.method, one.bits): (one.pairs, one.mean, one.unlike) for one in made.alike}
    for one in made.spreads:
        compared = likened.get((one.method, one.bits), (None, None, None))
        measured = (
            one.unique,
            one.collisions,
            one.deviation,
            one.most,
            *seconds[one.method, one.bits],
            *compared,
        )
        yield (
            one.method,
            one.bits,
            made.account.studied,
            *measured,
            *_published(one.method, one.bits),
        )


def _published(method: str, bits: int) -> tuple[float | None, ...]:
    if method not in PUBLISHED_METHODS or bits not in PUBLISHED_COLLISIONS:
        return (None, None, None, None)
    place = PUBLISHED_METHODS.index(method)
    return (*PUBLISHED_COLLISIONS[bits][place], *PUBLISHED_SECONDS[bits][place])


def _neighbours(made: StudyResult) -> Iterator[Row]:
    """Figures 2 and 3: one row a number of neighbours; the last stands for more than 10."""
    yield ("method", "bits", "distance", "neighbours", "documents")
    for one in made.near:
        for number, documents in enumerate(one.documents):
            yield (
                one.method,
                one.bits,
                one.distance,
                number if number < len(one.documents) - 1 else "more",
                documents,
            )


def _statistics(made: StudyResult) -> Iterator[Row]:
    """Weighted TopSig by the statistics of some documents, and of those that had arrived."""
    yield (
        "counted",
        "documents",
        *(f"unique_{bits}" for bits in QUESTION_BITS),
        "differing_bits_of_64",
        "within_3_bits",
    )
    for one in made.answers.samples:
        yield (
            "before",
            one.documents,
            *(one.unique[bits] for bits in QUESTION_BITS),
            one.differing,
            one.close,
        )
    for arrival in made.answers.arrivals:
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
        *(made.answers.online[bits] for bits in QUESTION_BITS),
        None,
        None,
    )
