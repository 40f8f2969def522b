"""What is asked of several documents together: families, versions, comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from indexer.comparing.blocks_view import facts
from indexer.comparing.versions import versions
from indexer.grouping import family_view as familyview
from indexer.model import Row
from indexer.similarity.alignment import Matching
from indexer.web.answers import (
    ComparisonAnswer,
    DocumentFacts,
    FamilyAnswer,
    VersionsAnswer,
    WithoutBoilerplate,
)
from indexer.web.parameters import ParameterValues, part_of
from indexer.web.presenters import (
    facts_of,
    measures_of,
    shown_versions,
    side_by_side,
    without_boilerplate,
)
from indexer.web.site import Site

BLOCKS_PART = 120
SHORT_SECONDS = 0.05
ORDERED, ORDERED_WORDS = 24, 20_000


def family(site: Site, asked: ParameterValues) -> FamilyAnswer:
    """The family of a document."""
    seen = familyview.family(site.store, asked["id"])
    listed = [*([seen.principal] if seen.principal else []), *seen.members]
    return FamilyAnswer(
        id=seen.id,
        size=seen.size,
        principal=DocumentFacts.of(seen.principal) if seen.principal else None,
        members=tuple(map(DocumentFacts.of, seen.members)),
        compared=seen.compared,
        matrix=seen.matrix,
        labels=seen.labels,
        warnings=seen.warnings,
        versions=shown_versions(versions(site.store, listed[0].id), False)
        if _ordered(listed)
        else None,
    )


def _ordered(listed: Sequence[Row]) -> bool:
    """Whether the versions of a family are shown without being asked for: when ordering them takes
    no time.
    """
    return 1 < len(listed) <= ORDERED and sum(row.words for row in listed) <= ORDERED_WORDS


def version_tree(site: Site, asked: ParameterValues) -> VersionsAnswer:
    """The versions in the family of a document."""
    found = versions(site.store, site.row(asked["id"]).id, dates=asked["dates"] == "yes")
    return shown_versions(found, asked["redline"] == "yes")


def compare(site: Site, asked: ParameterValues) -> ComparisonAnswer:
    """Two documents side by side, one part of them."""
    a, b = site.row(asked["a"]), site.row(asked["b"])
    matching: Matching = asked["matching"]
    made = site.compared(a, b, matching)
    parts = max(1, -(-len(made.blocks) // BLOCKS_PART))
    part = part_of(asked, parts)
    shown = made.blocks[(part - 1) * BLOCKS_PART : part * BLOCKS_PART]
    compared = made.comparison
    return ComparisonAnswer(
        a=DocumentFacts.of(a),
        b=DocumentFacts.of(b),
        matching=matching,
        words=compared.words,
        measures=tuple(measures_of(compared.measures)),
        discounted=without_boilerplate(site.discounted(a, b, SHORT_SECONDS)),
        passages=len(compared.shared),
        shared_words=compared.measures.alignment.common,
        differences=made.differences,
        first=next((number for block in shown for number in block.differences), None),
        part=part,
        parts=parts,
        cells=tuple(made.cells(shown)),
        facts=tuple(facts(facts_of(a), facts_of(b))),
        warnings=tuple(dict.fromkeys([*side_by_side("A", a), *side_by_side("B", b)])),
    )


def discounted(site: Site, asked: ParameterValues) -> WithoutBoilerplate:
    """Two documents compared without what the texts of the store share."""
    return without_boilerplate(
        site.discounted(site.row(asked["a"]), site.row(asked["b"]), asked["wait"])
    )
