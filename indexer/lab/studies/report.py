"""The report of a study: its findings in sentences, its charts, and the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from indexer.lab.studies.methods import (
    METHODS,
    NAMED,
    NEIGHBOUR_BITS,
    PUBLISHED_COLLISIONS,
    PUBLISHED_METHODS,
    PUBLISHED_SECONDS,
    QUESTION_BITS,
    WITH_NEIGHBOURS,
)
from indexer.lab.studies.results import CollisionSimilarity, Sample, Spread, StudyResult
from indexer.lab.studies.study import SHOWN, by_chance
from indexer.review import charts
from indexer.review.charts import Line, Scale, lines
from indexer.review.rendering import render_file
from indexer.wording import count_of, percent

AS_GOOD = 0.99  # of the unique signatures that all statistics give


@dataclass(frozen=True, slots=True)
class NeighbourlessCounts:
    """The number of documents of a method without neighbours within 1 bit, and within 3."""

    method: str
    bits: int
    within_1: int
    within_3: int

    @property
    def leave(self) -> int:
        """Documents that have a neighbour within 3 bits and none within 1."""
        return self.within_1 - self.within_3


def neighbourless_counts(result: StudyResult) -> list[NeighbourlessCounts]:
    """Return the documents without neighbours of every method that has them, by length."""
    alone = {(near.method, near.bits, near.distance): near.documents[0] for near in result.near}
    return [
        NeighbourlessCounts(name, bits, alone[name, bits, 1], alone[name, bits, 3])
        for bits in NEIGHBOUR_BITS
        if bits in result.bits
        for name in WITH_NEIGHBOURS
    ]


def _of_length(result: StudyResult, bits: int) -> list[Spread]:
    return [spread for spread in result.spreads if spread.bits == bits]


def min_collisions(result: StudyResult, bits: int) -> tuple[Spread, ...]:
    """Return the methods with the fewest collisions at a length: several when they are equal."""
    spreads = _of_length(result, bits)
    max_unique = max(spread.unique for spread in spreads)
    return tuple(spread for spread in spreads if spread.unique == max_unique)


def max_collisions(result: StudyResult, bits: int) -> Spread:
    """Return the method with the most collisions at a length."""
    return min(_of_length(result, bits), key=lambda spread: spread.unique)


def enough_documents(result: StudyResult) -> int:
    """Return the minimum number of documents, of those tried, whose statistics give 99 % of the
    unique signatures that all give.
    """
    samples = result.answers.samples
    return next(sample.documents for sample in samples if _is_as_good(sample, samples[-1]))


def _is_as_good(sample: Sample, whole: Sample) -> bool:
    return all(sample.unique[bits] >= AS_GOOD * whole.unique[bits] for bits in QUESTION_BITS)


def join_names(names: Sequence[str]) -> str:
    """Return names one after the other.

    >>> join_names(["a"]), join_names(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def sentences(result: StudyResult) -> Iterator[str]:
    """Yield the findings, one a sentence."""
    for bits in result.bits:
        yield _collisions(result, bits)
    answers = result.answers
    studied = result.account.studied
    enough = count_of(enough_documents(result), "document")
    yield (
        f"Statistics of {enough} give weighted TopSig 99 % of the "
        f"unique signatures that those of all {studied:,} give."
    )
    settled = (sample.documents for sample in answers.samples if sample.close >= AS_GOOD)
    yield (
        "They say the same of a document (64 bits, at most 3 different, of 99 % of documents) "
        f"from {count_of(next(settled, studied), 'document')} on; of the last documents to arrive "
        f"{answers.arrivals[-1].close:.1%} are signed so by the statistics of that time."
    )
    agreeing = (item.documents for item in answers.samples if item.same_pairs >= AS_GOOD)
    yield (
        "They decide 99 % of the pairs that are near duplicates by either (64 bits, at most 3 "
        f"different) as those of all from {count_of(next(agreeing, studied), 'document')} on."
    )
    online = ", ".join(f"{answers.online[bits]:,} of {bits} bits" for bits in QUESTION_BITS)
    batch = ", ".join(f"{answers.samples[-1].unique[bits]:,}" for bits in QUESTION_BITS)
    yield (
        f"Signed while they arrive, documents have unique signatures: {online}; "
        f"signed after all were counted: {batch}."
    )


def _collisions(result: StudyResult, bits: int) -> str:
    best = min_collisions(result, bits)
    worst = max_collisions(result, bits)
    if worst in best:
        return (
            f"{bits} bits: as many collisions by every method "
            f"({worst.collisions:.4f} documents a signature)."
        )
    names = join_names([NAMED[spread.method].label for spread in best])
    return (
        f"{bits} bits: fewest collisions by {names} "
        f"({best[0].collisions:.4f} documents a signature), "
        f"most by {NAMED[worst.method].label} ({worst.collisions:.4f})."
    )


# The charts of a study by name.

UNIQUE, PUBLISHED, SHARED = "figure-1", "figure-1-published", "collisions"
PROJECTIONS, STATISTICS, SETTLING = "projections", "statistics", "settling"
_SHARE = Scale(1.0, is_fraction=True)
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
    fractions = {(spread.method, spread.bits): spread.unique / counted for spread in result.spreads}
    series = [_by_bits(result, method.name, fractions) for method in METHODS]
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
    for index, name in enumerate(PUBLISHED_METHODS):
        points = [(str(bits), 1 / means[index][0]) for bits, means in _PUBLISHED]
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
    positions = [*map(str, range(SHOWN + 1)), f">{SHOWN}"]
    series = [
        Line(NAMED[name].label, list(zip(positions, documents[name], strict=True)))
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
    """Draw the fraction of signatures close to the final ones."""
    positions = [f"{arrival.last:,}" for arrival in result.answers.arrivals]
    before = [sample.close for sample in result.answers.samples]
    arriving = [arrival.close for arrival in result.answers.arrivals]
    same = [sample.same_pairs for sample in result.answers.samples]
    series = [
        Line("counted before", list(zip(positions, before, strict=True))),
        Line("counted on arrival", list(zip(positions, arriving, strict=True))),
        Line("pairs within 3 bits as by all", list(zip(positions, same, strict=True))),
    ]
    title = (
        "Share of weighted TopSig signatures of 64 bits within 3 bits of those by all statistics"
    )
    return lines(title, series, "documents counted, or arrived", _SHARE)


# The report of a study as one HTML file that needs nothing but itself and runs no script.

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
        "collisions": _collision_rows(result),
        "similarities": _similarities(result),
        "neighbours": _neighbour_rows(result),
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


def _collision_rows(result: StudyResult) -> Rows:
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


def _neighbour_rows(result: StudyResult) -> list[tuple[str, ...]]:
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
