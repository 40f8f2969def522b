"""The figures of a study by name: those of the signature study for this collection, and those that
answer what it left open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from indexer.html.charts import Line, Scale, lines
from indexer.lab.studies.methods import (
    METHODS,
    NAMED,
    NEIGHBOUR_BITS,
    PUBLISHED_COLLISIONS,
    PUBLISHED_METHODS,
    QUESTION_BITS,
    WITH_NEIGHBOURS,
)
from indexer.lab.studies.spread import SHOWN, by_chance
from indexer.lab.studies.study_results import StudyResult

UNIQUE, PUBLISHED, SHARED = "figure-1", "figure-1-published", "collisions"
PROJECTIONS, STATISTICS, SETTLING = "projections", "statistics", "settling"
_SHARE = Scale(1.0, shares=True)
_BITS = "bits of a signature"
_PROJECTIONS = ("simhash", "weighted-simhash", "topsig", "weighted-topsig")


def figures(result: StudyResult) -> dict[str, str]:
    """Draw every figure as SVG, by the name of its file. Raises `MissingExtra`."""
    charts = {UNIQUE: _unique(result), SHARED: _shared(result), PUBLISHED: _published()}
    for bits in NEIGHBOUR_BITS:
        if bits in result.bits:
            charts[f"figure-2-{bits}"] = _neighbours(result, bits, 1)
    if NEIGHBOUR_BITS[-1] in result.bits:
        charts[f"figure-3-{NEIGHBOUR_BITS[-1]}"] = _neighbours(result, NEIGHBOUR_BITS[-1], 3)
    charts[PROJECTIONS] = _projections(result)
    charts[STATISTICS] = _statistics(result)
    charts[SETTLING] = _settling(result)
    return charts


def _unique(result: StudyResult) -> str:
    counted = result.counted
    shares = {(spread.method, spread.bits): spread.unique / counted for spread in result.spreads}
    series = [_by_bits(result, method.name, shares) for method in METHODS]
    return lines("Share of signatures that are unique, by their length", series, _BITS, _SHARE)


def _shared(result: StudyResult) -> str:
    names = [method.name for method in METHODS]
    return _repeats(result, names, "Documents that repeat the signature of another")


def _projections(result: StudyResult) -> str:
    title = "Corpus statistics with hash projections and with random vectors"
    return _repeats(result, _PROJECTIONS, title)


def _repeats(result: StudyResult, methods: Iterable[str], title: str) -> str:
    """Draw the documents beyond the first of their signature: what Figure 1 lacks, on a logarithmic
    scale.
    """
    counted = result.counted
    repeats = {(spread.method, spread.bits): counted - spread.unique for spread in result.spreads}
    studied = result.account.studied
    copies = counted - studied
    chance = [(str(bits), copies + by_chance(studied, bits)) for bits in result.bits]
    series = [_by_bits(result, name, repeats) for name in methods]
    series.append(Line("random bits", chance))
    return lines(title, series, _BITS, Scale(counted, log=True))


def _by_bits(
    result: StudyResult, method: str, values: Mapping[tuple[str, int], float | None]
) -> Line:
    points = [(str(bits), values.get((method, bits))) for bits in result.bits]
    return Line(NAMED[method].label, points)


def _published() -> str:
    series = []
    for place, name in enumerate(PUBLISHED_METHODS):
        points = [(str(bits), 1 / means[place][0]) for bits, means in _PUBLISHED]
        series.append(Line(NAMED[name].label, points))
    return lines("The same as published, by its Table 2", series, _BITS, _SHARE)


_PUBLISHED: Sequence[tuple[int, Sequence[tuple[float, float]]]] = tuple(
    PUBLISHED_COLLISIONS.items()
)


def _neighbours(result: StudyResult, bits: int, distance: int) -> str:
    documents = {
        near.method: near.documents
        for near in result.near
        if (near.bits, near.distance) == (bits, distance)
    }
    places = [*map(str, range(SHOWN + 1)), f">{SHOWN}"]
    series = [
        Line(NAMED[name].label, list(zip(places, documents[name], strict=True)))
        for name in WITH_NEIGHBOURS
    ]
    return lines(
        f"Documents by their neighbours within {distance} of {bits} bits",
        series,
        f"neighbours within {distance} of {bits} bits",
        Scale(result.counted, log=True),
    )


def _statistics(result: StudyResult) -> str:
    whole = result.account.studied
    samples = result.answers.samples
    series = []
    for bits in QUESTION_BITS:
        points = [(f"{sample.documents:,}", whole - sample.unique[bits]) for sample in samples]
        series.append(Line(f"{bits} bits", points))
    title = "Documents that repeat a weighted TopSig signature, by the documents counted"
    return lines(title, series, "documents counted", Scale(whole, log=True))


def _settling(result: StudyResult) -> str:
    """Draw the share of signatures close to the final ones."""
    places = [f"{arrival.last:,}" for arrival in result.answers.arrivals]
    before = [sample.close for sample in result.answers.samples]
    arriving = [arrival.close for arrival in result.answers.arrivals]
    same = [sample.same_pairs for sample in result.answers.samples]
    series = [
        Line("counted before", list(zip(places, before, strict=True))),
        Line("counted on arrival", list(zip(places, arriving, strict=True))),
        Line("pairs within 3 bits as by all", list(zip(places, same, strict=True))),
    ]
    title = (
        "Share of weighted TopSig signatures of 64 bits within 3 bits of those by all statistics"
    )
    return lines(title, series, "documents counted, or arrived", _SHARE)
