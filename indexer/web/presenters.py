"""Rows, hits, versions and measures in the form of answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from indexer.comparing.collation import CollationRow
from indexer.comparing.compare import compare
from indexer.comparing.originals import stored_original
from indexer.comparing.redline import Stretch, redline
from indexer.comparing.versions import Version, Versions
from indexer.model import Estimate, Hit, Row
from indexer.searching.snippets import snippet
from indexer.similarity.boilerplate_discount import DiscountedSimilarity
from indexer.similarity.measures import MeasureValues, describe_measures
from indexer.text.wording import count_of, percent, spell_words_in_order
from indexer.web.comparison_answers import (
    MatrixRow,
    Measure,
    StepAnswer,
    VersionAnswer,
    VersionsAnswer,
    WithoutBoilerplate,
)
from indexer.web.document_answers import Piece, ShownHit
from indexer.web.document_facts import DocumentFacts

_UNCHANGED = "same"
NOT_COUNTED = "the passages of the store are being counted; look again"
NO_STATISTICS = "no corpus statistics: {}"


def shown_hit(hit: Hit, row: Row | None, query: str) -> ShownHit:
    """Return a hit with its excerpt; `row` is None if the document was deleted since."""
    pieces = tuple(Piece(*piece) for piece in snippet(row.text, query)) if row else ()
    facts = DocumentFacts.of(row) if row else None
    return ShownHit(hit.id, hit.path, hit.title, hit.score, pieces, hit.folded, facts, hit.part)


def shown_versions(tree: Versions, with_redline: bool) -> VersionsAnswer:
    """Return the versions of a family, with their changes word by word if `with_redline`."""
    shown = tuple(_shown_version(version, with_redline) for version in tree.versions)
    return VersionsAnswer(tree.family, tree.documents, shown, tree.notes)


def _shown_version(version: Version, with_redline: bool) -> VersionAnswer:
    return VersionAnswer(
        id=version.id,
        path=version.path,
        words=version.words,
        date=version.date,
        date_of=version.source,
        copies=version.copies,
        depth=version.depth,
        step=_shown_step(version, with_redline),
    )


def _shown_step(version: Version, with_redline: bool) -> StepAnswer | None:
    step = version.step
    if not step:
        return None
    changes = _changes(step.redline) if with_redline else ()
    return StepAnswer(step.origin, step.dated, step.similarity, step.added, step.removed, changes)


def _changes(stretches: Iterable[Stretch]) -> tuple[tuple[str, str], ...]:
    return tuple((part.change, part.text) for part in stretches)


def shown_passage(number: int, row: CollationRow) -> MatrixRow:
    """Return a passage, its further readings with the changes from the first one."""
    first = row.readings[0]
    others = (_changes(redline(compare(first, reading))) for reading in row.readings[1:])
    return MatrixRow(number, tuple(row.cells), (((_UNCHANGED, first),), *others))


def warnings_of(row: Row) -> Sequence[str]:
    """Return the warnings about the extraction of a document."""
    return stored_original(row).warnings


def facts_of(row: Row) -> Mapping[str, str]:
    """Return the facts of a document that a comparison shows, by name."""
    counts = {"words": f"{row.words:,}", "status": row.status.replace("_", " ")}
    return {**counts, **stored_original(row).facts}


def without_boilerplate(
    discounted: DiscountedSimilarity | None, missing: str = ""
) -> WithoutBoilerplate:
    """Return the discounted similarity with its explanation.

    Without one, `missing` is the reason; empty if it is still being computed.
    """
    if discounted is None:
        note = NO_STATISTICS.format(missing) if missing else NOT_COUNTED
        return WithoutBoilerplate(bool(missing), None, None, None, 0, note)
    if not discounted.texts:
        note = NO_STATISTICS.format("the store has no other texts to compare with")
        return WithoutBoilerplate(True, None, None, None, 0, note)
    note = (
        f"S_R with shingles weighted by rarity in {count_of(discounted.texts, 'text')} "
        f"of the store; {percent(discounted.common)} of them are common there"
    )
    return WithoutBoilerplate(
        True, discounted.similarity, discounted.plain, discounted.common, discounted.texts, note
    )


def measures_of(measures: MeasureValues) -> Sequence[Measure]:
    """Return every measure by name, in the order in which they are shown."""
    in_order = spell_words_in_order(measures.in_order.common, measures.in_order.words)
    meanings = {**describe_measures(measures), "lcs": in_order}
    return [_measure(measures, name, meaning) for name, meaning in meanings.items()]


def _measure(measures: MeasureValues, name: str, meaning: str) -> Measure:
    value = getattr(measures, name)
    if isinstance(value, tuple):
        return Measure(name, meaning, value[0], other=value[1])
    if isinstance(value, Estimate):
        return Measure(name, meaning, value.similarity, None, value.low, value.high)
    bounds = measures.hamming_interval if name == "hamming" else None
    return Measure(name, meaning, value, None, *(bounds or ()))
