"""The report of a study as one HTML file that needs nothing but itself and runs no script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from indexer.html import charts
from indexer.html.page_file import render_file
from indexer.lab.studies.findings import neighbourless_counts, sentences
from indexer.lab.studies.methods import (
    METHODS,
    NAMED,
    PUBLISHED_COLLISIONS,
    PUBLISHED_METHODS,
    PUBLISHED_SECONDS,
)
from indexer.lab.studies.study_figures import (
    PROJECTIONS,
    PUBLISHED,
    SETTLING,
    SHARED,
    STATISTICS,
    UNIQUE,
)
from indexer.lab.studies.study_results import CollisionSimilarity, StudyResult
from indexer.text.wording import percent

_TITLES = {
    UNIQUE: "Unique signatures",
    PUBLISHED: "Unique signatures, as published",
    SHARED: "Documents that repeat a signature",
    PROJECTIONS: "Hash projections and random vectors",
    STATISTICS: "Statistics of fewer documents",
    SETTLING: "Signatures by fewer statistics",
}
_CAPTIONS = {
    UNIQUE: (
        "Figure 1. Share of the counted documents: 100 % is a signature of its own for every "
        "document."
    ),
    PUBLISHED: (
        "The study's own figure for its 90,000 documents, from its Table 2. Copies and texts "
        "without content are in it."
    ),
    SHARED: (
        "What is missing from 100 % in Figure 1: documents beyond the first of their signature, "
        "logarithmic."
    ),
    PROJECTIONS: (
        "The weights of TopSig with the votes of SHAKE256 in place of random vectors: the study "
        "left this open."
    ),
    STATISTICS: (
        "How many documents statistics need: the first n in an accidental order are counted, and "
        "all are signed."
    ),
    SETTLING: (
        "Signatures that stay within 3 of 64 bits of those by the statistics of all documents, and "
        "pairs of documents within 3 bits by both, of those by either."
    ),
}
Published: TypeAlias = Mapping[int, Sequence[tuple[float, float]]]


@dataclass(frozen=True, slots=True)
class _Cell:
    """One method at one length: the measurement here, and the published one."""

    lines: tuple[str, ...] = ()
    published: str = ""


Rows: TypeAlias = list[tuple[int, list[_Cell]]]


def page(result: StudyResult, figures: Mapping[str, str]) -> str:
    """Return the page; for the same texts the same, apart from the seconds.

    `figures` are SVG by name. Without any the page says how to get them.
    """
    neighbour_figures = [name for name in figures if name.startswith(("figure-2", "figure-3"))]
    titles = {name: f"Neighbours of signatures of {name[9:]} bits" for name in neighbour_figures}
    captions = {name: _neighbour_caption(name) for name in neighbour_figures}
    values = {
        "result": result,
        "numbers": _numbers(result),
        "findings": list(sentences(result)),
        "methods": METHODS,
        "figures": figures,
        "missing": "" if figures else charts.MISSING,
        "titles": {**_TITLES, **titles},
        "captions": {**_CAPTIONS, **captions},
        "unique_figures": (UNIQUE, PUBLISHED, SHARED),
        "neighbour_figures": neighbour_figures,
        "open_figures": (STATISTICS, SETTLING, PROJECTIONS),
        "seconds": _seconds(result),
        "collisions": _collisions(result),
        "similarities": _similarities(result),
        "neighbours": _neighbours(result),
    }
    return render_file("study.html", values, ("report.css",))


def _numbers(result: StudyResult) -> Sequence[tuple[str, int]]:
    account = result.account
    return (
        ("documents", account.documents),
        ("could not be read", account.failed),
        ("without text", account.empty),
        ("copies of another's text", account.copies),
        ("of numbers alone", account.numbers_only),
        ("under four characters", account.too_short),
        ("studied", account.studied),
        ("counted in Table 2 and the figures", result.counted),
        ("distinct features", result.features),
    )


def _neighbour_caption(name: str) -> str:
    number, bits = name.split("-")[1:]
    within = "1 bit" if number == "2" else "3 bits"
    return (
        f"Figure {number}. Documents by the number of their neighbours within {within}, signatures "
        f"of {bits} bits; the upright scale is logarithmic."
    )


def _seconds(result: StudyResult) -> Rows:
    lines = {
        (seconds.method, seconds.bits): (
            f"{seconds.mean:.4f} ({seconds.deviation:.4f})",
            f"{seconds.megabytes_a_second:.2f} MB/s",
        )
        for seconds in result.seconds
    }
    return _rows(result.bits, lambda *key: lines.get(key, ()), PUBLISHED_SECONDS)


def _collisions(result: StudyResult) -> Rows:
    lines = {
        (spread.method, spread.bits): (f"{spread.collisions:.4f} ({spread.deviation:.3f})",)
        for spread in result.spreads
    }
    return _rows(result.bits, lambda *key: lines.get(key, ()), PUBLISHED_COLLISIONS)


def _similarities(result: StudyResult) -> Rows:
    """Return how much pairs that share a signature have in common."""
    lines = {(alike.method, alike.bits): _similarity(alike) for alike in result.alike}
    bits = sorted({alike.bits for alike in result.alike})
    return _rows(bits, lambda *key: lines.get(key, ()), {})


def _similarity(alike: CollisionSimilarity) -> tuple[str, ...]:
    if alike.mean is None:
        return ()
    pairs = f"{alike.pairs} pair{'s' * (alike.pairs != 1)}"
    return f"{alike.mean:.2f}; {percent(alike.unlike)}", pairs


def _rows(
    bits: Sequence[int], lines_of: Callable[[str, int], tuple[str, ...]], published: Published
) -> Rows:
    """Return a row for each length, with a cell for every method."""
    rows: Rows = []
    for length in bits:
        cells = [_cell(lines_of, published, method.name, length) for method in METHODS]
        rows.append((length, cells))
    return rows


def _cell(
    lines_of: Callable[[str, int], tuple[str, ...]], published: Published, method: str, bits: int
) -> _Cell:
    text = ""
    if method in PUBLISHED_METHODS and bits in published:
        mean, deviation = published[bits][PUBLISHED_METHODS.index(method)]
        text = f"{mean:,.3f} ({deviation:,.3f})"
    return _Cell(lines_of(method, bits), text)


def _neighbours(result: StudyResult) -> list[tuple[str, ...]]:
    """Return documents without a neighbour, by method and length; empty where no length was studied
    that neighbours are counted for.
    """
    if not result.near:
        return []
    return [
        (
            NAMED[row.method].label,
            f"{row.bits:,}",
            f"{row.within_1:,}",
            f"{row.within_3:,}",
            f"{row.leave:,}",
        )
        for row in neighbourless_counts(result)
    ]
