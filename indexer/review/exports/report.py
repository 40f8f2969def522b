"""One HTML file about a whole store for readers who know nothing of it: numbers, charts, coding,
the largest groups, what is missing.

Near duplicates are called groups in it, for to many of its readers a family is an e-mail with its
attachments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from indexer.comparing.measures import MEASURES
from indexer.defaults import MEASURE
from indexer.grouping.match import MatchResult
from indexer.jobs.review_file import review_file, stored_coding
from indexer.jobs.status import Overview, status
from indexer.model import Progress, Row, no_progress
from indexer.review import charts
from indexer.review.compared_statistics import ThresholdStatistics, threshold_statistics
from indexer.review.family_view import Family, family
from indexer.review.rendering import kinds, render_file
from indexer.review.store_statistics import BINS, Step
from indexer.review.work_list import FieldProgress, WorkList
from indexer.stores.abilities import FullStore
from indexer.system.release import release
from indexer.wording import STATUS_MEANINGS, percent

MEMBERS, FAILURES, TYPES = 25, 50, 12


@dataclass(frozen=True, slots=True)
class Report:
    """A page, and how many documents it is about."""

    html: str
    documents: int


@dataclass(frozen=True, slots=True)
class _Group:
    """A group with the members that are shown; `others` counts the rest."""

    family: Family
    name: str
    min_similarity: float | None
    members: Sequence[Row]
    others: int


def report(
    store: FullStore,
    date: str | None = None,
    progress: Progress = no_progress,
    audited: MatchResult | None = None,
) -> Report:
    """Return the report of a store as the last `group` left it.

    `date` stands at its top; today's in UTC when None. `audited` holds an estimate of what `group`
    misses. For the same documents and the same date the report is the same, byte for byte. Charts
    are left out where they cannot be drawn; their numbers are always there. The whole store is read
    once, and again the texts of up to 20,000 pairs, for what other thresholds would give. Raises
    `StoreError` when nothing was indexed yet.
    """
    overview = status(store)
    audit = None if audited is None else audited.audit
    statistics = threshold_statistics(store, progress)
    measure = statistics.measure if statistics.measure != "none" else MEASURE
    families = [family(store, largest.id) for largest in statistics.largest]
    values = {
        "date": date if date is not None else datetime.now(timezone.utc).date().isoformat(),
        "overview": overview,
        "survey": statistics,
        "measure": measure,
        "meaning": MEASURES[measure].phrase if measure in MEASURES else "",
        "remaining": statistics.documents - statistics.redundant,
        "numbers": _numbers(statistics, overview),
        "charts": _charts(statistics) if charts.can_draw() else dict.fromkeys(_CHARTS),
        "missing": "" if charts.can_draw() else charts.MISSING,
        "tables": _tables(statistics, overview, audited),
        "content_types": _content_types(overview),
        "matter": review_file(store).matter(),
        "fields": _fields(store),
        "states": _states(overview),
        "groups": [_group(large) for large in families],
        "audit": audit,
        "audit_sentences": _audit_sentences(audited),
        "more_failures": max(0, len(overview.failed) - FAILURES),
        "settings": _settings(overview, statistics),
    }
    return Report(render_file("report.html", values, ("report.css",)), statistics.documents)


def _numbers(statistics: ThresholdStatistics, overview: Overview) -> Sequence[tuple[str, int]]:
    largest = max((large.documents for large in statistics.largest), default=0)
    return (
        ("documents read", statistics.documents),
        ("groups of near duplicates", sum(n for name, n in statistics.sizes if name != "1")),
        ("documents in a group", statistics.documents - dict(statistics.sizes)["1"]),
        ("to read, one of each group", statistics.documents - statistics.redundant),
        ("largest group", largest),
        ("repeat a text word for word", statistics.same_text),
        ("repeat a file byte for byte", statistics.same_bytes),
        ("files that could not be read", len(overview.failed)),
    )


_CHARTS = ("sizes", "similarities", "gathered", "families")


def _charts(statistics: ThresholdStatistics) -> dict[str, str]:
    """Draw the charts by name; charts of thresholds where the store has sketches to group by."""
    chart_by_name = {
        "sizes": charts.columns("Group sizes", statistics.sizes, "documents", root=True),
        "similarities": charts.columns(
            "Similarity to the principal, in per cent", _similarities(statistics), "per cent"
        ),
    }
    if statistics.steps:
        documents = statistics.documents or 1
        fractions = [(step.threshold, step.gathered / documents) for step in statistics.steps]
        numbers = [(step.threshold, step.families) for step in statistics.steps]
        scale = charts.Scale(1.0, is_fraction=True, is_fraction_across=True)
        chart_by_name["gathered"] = charts.lines(
            "Fraction of documents in a group, by threshold",
            [charts.Line("", fractions)],
            "threshold",
            scale,
        )
        chart_by_name["families"] = charts.lines(
            "Number of groups, by threshold",
            [charts.Line("", numbers)],
            "threshold",
            charts.Scale(is_fraction_across=True),
        )
    return chart_by_name


def _similarities(statistics: ThresholdStatistics) -> list[tuple[str, int]]:
    """Return the documents of each bin by its lower end in per cent, from the first that has any;
    always the upper half.
    """
    bins = statistics.similarities
    first = min(_first_bin(statistics) or 0, BINS // 2) if any(bins) else BINS // 2
    return [(f"{100 * position // BINS}", bins[position]) for position in range(first, BINS)]


def _first_bin(statistics: ThresholdStatistics) -> int | None:
    bins = statistics.similarities
    return next((index for index, number in enumerate(bins) if number), None)


def _tables(
    statistics: ThresholdStatistics, overview: Overview, audited: MatchResult | None
) -> dict[str, list[tuple[str, ...]]]:
    audit = None if audited is None else audited.audit
    return {
        "sizes": [(size, f"{number:,}") for size, number in statistics.sizes],
        "similarities": [(low, f"{number:,}") for low, number in _similarities(statistics)],
        "steps": [
            (percent(step.threshold), _figure(step, step.gathered), _figure(step, step.families))
            for step in statistics.steps
        ],
        "strata": [
            (stratum.name, f"{stratum.size:,}", f"{stratum.sampled:,}", f"{stratum.found:,}")
            for stratum in (audit.strata if audit else ())
        ],
        "failures": [(failure.path, failure.error) for failure in overview.failed[:FAILURES]],
    }


def _figure(step: Step, number: int) -> str:
    return f"~{number:,}" if step.estimated else f"{number:,}"


def _content_types(overview: Overview) -> list[tuple[str, int, str]]:
    """Return (name, documents, "") of the most frequent content types, by the names that pages give
    them; the rest as one.
    """
    counts = overview.counts.by_content_type.items()
    types = sorted(counts, key=lambda item: (-item[1], item[0]))
    names = kinds(name for name, _ in types[:TYPES])
    rows = [(name, number, "") for name, (_, number) in zip(names, types, strict=False)]
    rest = sum(number for _, number in types[TYPES:])
    return [*rows, ("all others", rest, "")] if rest else rows


def _states(overview: Overview) -> list[tuple[str, int, str]]:
    """Return (status, documents, meaning)."""
    return [
        (name.replace("_", " "), number, STATUS_MEANINGS[name])
        for name, number in sorted(overview.counts.by_status.items())
    ]


def _group(large: Family) -> _Group:
    similarities = [row.similarity for row in large.members if row.similarity is not None]
    members = large.members[:MEMBERS]
    return _Group(
        large,
        name=(large.principal.path or large.id) if large.principal else large.id,
        min_similarity=min(similarities, default=None),
        members=members,
        others=large.size - 1 - len(members),
    )


def _audit_sentences(audited: MatchResult | None) -> list[str]:
    if audited is None or audited.audit is None:
        return []
    sentences = [sentence.removeprefix("audit: ") for sentence in audited.audit.sentences()]
    return [sentence[:1].upper() + sentence[1:] for sentence in sentences]


def _fields(store: FullStore) -> list[tuple[FieldProgress, list[tuple[str, int, str]]]]:
    """Return the progress of each coding field, and its values as (name, documents, "")."""
    coding = stored_coding(store)
    fields = WorkList(store, coding).progress_of_fields() if coding.fields else ()
    return [(field, list(_values(field))) for field in fields]


def _values(field: FieldProgress) -> Iterator[tuple[str, int, str]]:
    for label, number in field.values.items():
        yield label.removeprefix(f"{field.name}="), number, ""
    yield "no value", field.progress.documents - field.progress.reviewed, ""


def _settings(overview: Overview, statistics: ThresholdStatistics) -> Sequence[tuple[str, str]]:
    first = _first_bin(statistics)
    minimum = "no group" if first is None else f"{percent(first / BINS)} or more"
    return (
        ("store", overview.store),
        ("recipe", f"{overview.recipe.name} ({overview.recipe.id})"),
        ("minimum similarity in a group", minimum),
        ("provisional documents", f"{statistics.provisional:,}"),
        ("nearfold", release()),
    )
