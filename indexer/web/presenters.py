"""Rows, hits and measures as answers tell them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from indexer.comparing.originals import stored_original
from indexer.comparing.versions import Versions
from indexer.model import Estimate, Hit, Row
from indexer.searching.snippets import snippet
from indexer.similarity.boilerplate_discount import DiscountedSimilarity
from indexer.similarity.measures import MEANINGS, Measures
from indexer.text.wording import percent
from indexer.web.answers import (
    DocumentFacts,
    Measure,
    Piece,
    ShownHit,
    StepAnswer,
    VersionAnswer,
    VersionsAnswer,
    WithoutBoilerplate,
)
from indexer.web.site import MOST_CHARS


def shown_hit(hit: Hit, row: Row | None, query: str) -> ShownHit:
    """A hit with its excerpt; `row` is None when the document was deleted in between."""
    pieces = tuple(Piece(*piece) for piece in snippet(row.text, query)) if row else ()
    facts = DocumentFacts.of(row) if row else None
    return ShownHit(hit.id, hit.path, hit.title, hit.score, pieces, hit.folded, facts, hit.part)


def shown_versions(found: Versions, redlined: bool) -> VersionsAnswer:
    """The versions of a family; what changed word by word with `redlined` alone."""
    shown = []
    for one in found.versions:
        step = None
        if one.step:
            stretches = (
                tuple((part.change, part.text) for part in one.step.redline) if redlined else ()
            )
            step = StepAnswer(
                one.step.origin,
                one.step.dated,
                one.step.similarity,
                one.step.added,
                one.step.removed,
                stretches,
            )
        shown.append(
            VersionAnswer(
                one.id, one.path, one.words, one.date, one.source, one.copies, one.depth, step
            )
        )
    return VersionsAnswer(found.family, found.documents, tuple(shown), found.notes)


def warnings_of(row: Row) -> Sequence[str]:
    """What a reader must know of how a document was read."""
    return stored_original(row).warnings


def side_by_side(letter: str, row: Row) -> list[str]:
    """What a reader must know of one side of a comparison."""
    cut = (
        [f"only the first {MOST_CHARS:,} characters are compared"]
        if len(row.text) > MOST_CHARS
        else []
    )
    return [f"{letter}: {warning}" for warning in (*warnings_of(row), *cut)]


def facts_of(row: Row) -> Mapping[str, str]:
    """What is told of a document, as a reader compares it."""
    counted = {"words": f"{row.words:,}", "status": row.status.replace("_", " ")}
    return {**counted, **stored_original(row).facts}


NOT_COUNTED = "the passages of the store are being counted; look again"
NO_STATISTICS = "no corpus statistics: {}"


def without_boilerplate(
    found: DiscountedSimilarity | None, missing: str = ""
) -> WithoutBoilerplate:
    """The discounted figure with its explanation. Without one, `missing` says why there is none,
    empty that it will come.
    """
    if found is None:
        note = NO_STATISTICS.format(missing) if missing else NOT_COUNTED
        return WithoutBoilerplate(bool(missing), None, None, None, 0, note)
    if not found.texts:
        note = NO_STATISTICS.format("the store has no other texts to weigh by")
        return WithoutBoilerplate(True, None, None, None, 0, note)
    counted = f"{found.texts:,} texts" if found.texts > 1 else "one other text"
    note = f"S_R with shingles weighted by rarity in {counted} of the store; {percent(found.common)} of them are common there"
    return WithoutBoilerplate(True, found.similarity, found.plain, found.common, found.texts, note)


def measures_of(made: Measures) -> Sequence[Measure]:
    """Every measure by name, in the order in which they are shown."""
    listed = []
    for name, meaning in MEANINGS.items():
        value = getattr(made, name)
        if isinstance(value, tuple):
            listed.append(Measure(name, meaning, value[0], other=value[1]))
        elif isinstance(value, Estimate):
            listed.append(Measure(name, meaning, value.similarity, None, value.low, value.high))
        else:
            bounds = made.hamming_interval if name == "hamming" else None
            listed.append(Measure(name, meaning, value, None, *(bounds or ())))
    return listed
