"""The figures of a study by name: those of the signature study for this collection, and those that
answer what it left open.
"""

from __future__ import annotations

from collections.abc import Sequence

from indexer.lab.studies.methods import (
    METHODS,
    NAMED,
    NEIGHBOUR_BITS,
    PUBLISHED_COLLISIONS,
    PUBLISHED_METHODS,
    WITH_NEIGHBOURS,
)
from indexer.lab.studies.sign_texts import QUESTION_BITS
from indexer.lab.studies.spread import SHOWN, Near, by_chance
from indexer.lab.studies.study import StudyResult
from indexer.lab.studies.study_charts import Scale, chart

Lines = Sequence[tuple[str, Sequence[float | None]]]
UNIQUE, PUBLISHED, SHARED = "figure-1", "figure-1-published", "collisions"
PROJECTIONS, STATISTICS, SETTLING = "projections", "statistics", "settling"
_SHARE = Scale(1.0, shares=True)
_PROJECTIONS = ("simhash", "weighted-simhash", "topsig", "weighted-topsig")


def figures(made: StudyResult) -> dict[str, str]:
    """Every figure as SVG, by the name of its file."""
    return {
        UNIQUE: _unique(made),
        SHARED: _shared(
            made,
            [method.name for method in METHODS],
            "Documents that repeat the signature of another",
        ),
        PUBLISHED: _published(),
        **{_name(one, 1): _near(made, one, 1) for one in NEIGHBOUR_BITS if one in made.bits},
        **{_name(one, 3): _near(made, one, 3) for one in NEIGHBOUR_BITS[-1:] if one in made.bits},
        PROJECTIONS: _shared(
            made, _PROJECTIONS, "Corpus statistics with hash projections and with random vectors"
        ),
        STATISTICS: _statistics(made),
        SETTLING: _settling(made),
    }


def _name(bits: int, distance: int) -> str:
    return f"figure-{2 if distance == 1 else 3}-{bits}"


def _unique(made: StudyResult) -> str:
    by = {(one.method, one.bits): one.unique / made.account.studied for one in made.spreads}
    named: Lines = [
        (method.label, [by.get((method.name, one)) for one in made.bits]) for method in METHODS
    ]
    title = "Share of signatures that are unique, by their length"
    return chart(title, [str(one) for one in made.bits], named, _SHARE, "bits of a signature")


def _shared(made: StudyResult, methods: Sequence[str], title: str) -> str:
    """All documents of a signature but one, for every signature: what is missing from Figure 1, on
    a logarithmic scale.
    """
    by = {(one.method, one.bits): made.account.studied - one.unique for one in made.spreads}
    named: Lines = [
        *((NAMED[name].label, [by.get((name, one)) for one in made.bits]) for name in methods),
        ("bits drawn by chance", [by_chance(made.account.studied, one) for one in made.bits]),
    ]
    return chart(
        title,
        [str(one) for one in made.bits],
        named,
        Scale(made.account.studied, log=True),
        "bits of a signature",
    )


def _published() -> str:
    bits = list(PUBLISHED_COLLISIONS)
    named: Lines = [
        (NAMED[name].label, [1 / PUBLISHED_COLLISIONS[one][place][0] for one in bits])
        for place, name in enumerate(PUBLISHED_METHODS)
    ]
    return chart(
        "The same as published, by its Table 2",
        [str(one) for one in bits],
        named,
        _SHARE,
        "bits of a signature",
    )


def _near(made: StudyResult, bits: int, distance: int) -> str:
    by: dict[str, Near] = {
        one.method: one for one in made.near if (one.bits, one.distance) == (bits, distance)
    }
    named: Lines = [(NAMED[name].label, by[name].documents) for name in WITH_NEIGHBOURS]
    places = [*map(str, range(SHOWN + 1)), f">{SHOWN}"]
    title = f"Documents by their neighbours within {distance} of {bits} bits"
    return chart(
        title,
        places,
        named,
        Scale(made.account.studied, log=True),
        f"neighbours within {distance} of {bits} bits",
    )


def _statistics(made: StudyResult) -> str:
    whole = made.account.studied
    places = [f"{one.documents:,}" for one in made.answers.samples]
    named: Lines = [
        (f"{bits} bits", [whole - one.unique[bits] for one in made.answers.samples])
        for bits in QUESTION_BITS
    ]
    title = "Documents that repeat a weighted TopSig signature, by the documents that statistics were counted over"
    return chart(title, places, named, Scale(whole, log=True), "documents counted")


def _settling(made: StudyResult) -> str:
    places = [f"{one.last:,}" for one in made.answers.arrivals]
    named: Lines = [
        ("counted before", [one.close for one in made.answers.samples]),
        ("counted on arrival", [one.close for one in made.answers.arrivals]),
    ]
    title = (
        "Share of weighted TopSig signatures of 64 bits within 3 bits of those by all statistics"
    )
    return chart(title, places, named, _SHARE, "documents counted, or arrived")
