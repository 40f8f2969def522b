"""Endpoints of several documents: near-duplicate groups, versions, comparisons."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from indexer.errors import DocumentNotFound, UsageError
from indexer.fingerprinting.fingerprint import rows_with_symbols
from indexer.grouping import families
from indexer.grouping.group_options import DEFAULT_OPTIONS
from indexer.jobs.versions import Versions, order_versions, own_date, read_members
from indexer.model import Matching, Row
from indexer.review import family_view
from indexer.review.access import Login
from indexer.review.api.endpoints import (
    WAIT_SECONDS,
    DocumentId,
    Item,
    Original,
    Part,
    ReadEndpoint,
    TwoIds,
    Wait,
    WriteEndpoint,
    YesNo,
    about,
    count_parts,
    text_meta,
)
from indexer.review.api.responses import (
    ComparisonResponse,
    DocumentFacts,
    FamilyResponse,
    GroupDifferences,
    GroupVariants,
    JoinResult,
    MapLink,
    MatrixResponse,
    NearCopies,
    VersionsResponse,
    WithoutBoilerplate,
    facts_of,
    matrix_row,
    measures_of,
    versions_response,
    warnings_of,
    without_boilerplate,
)
from indexer.review.collation import collate, passages_of
from indexer.review.comparison_cache import MAX_CHARS
from indexer.review.originals.pages import original_view
from indexer.review.rendering import names_by_path
from indexer.review.side_by_side import difference_map, facts
from indexer.review.site import LastJoin, Site
from indexer.review.store_statistics import last_group_options
from indexer.stores.requirements import require_recipe

_BLOCKS_A_PART = 120  # of a comparison that one response holds
MAX_VERSIONS = 8  # side by side
_MAX_PASSAGES = 400  # of each of them
_ROWS_A_PART = 60  # of a matrix that one response holds
_MAX_OTHERS = 40  # documents that are offered next to those shown
_DISCOUNT_SECONDS = 0.05  # for which a response waits for the similarity without boilerplate
_LEAVE_SECONDS = 20  # for which decisions wait for the members that they leave out
_MAX_ORDERED = 24  # documents of a group whose page orders its versions
_MAX_ORDERED_WORDS = 20_000  # words of all of them
_STEP_CHARS = 40_000  # of the versions whose changes a page measures


class VersionsParameters(DocumentId, frozen=True):
    """The versions in the group of a document."""

    dates: Annotated[YesNo, about("order by dates, or by the texts alone")] = "yes"
    redline: Annotated[YesNo, about("include the added and removed words")] = "no"
    whole: Annotated[YesNo, about("measure all steps, or some more than were")] = "yes"


class NearParameters(DocumentId, frozen=True):
    """A group whose near copies in other groups are looked up."""

    wait: Wait = WAIT_SECONDS


class DifferencesParameters(NearParameters, frozen=True):
    """A group whose members are compared with the principal."""

    leave: Annotated[
        YesNo, about("the page leaves the members that have to be read out of decisions")
    ] = "no"
    whole: Annotated[YesNo, about("compare all members, or a few more than are known")] = "yes"


class JoinParameters(DocumentId, frozen=True):
    """A document, and another one whose group it belongs to."""

    other: Annotated[str, text_meta("the id of a document of the group")]


class MatrixParameters(DocumentId, frozen=True):
    """Versions in the group of a document side by side."""

    of: Annotated[
        tuple[Item, ...],
        about("ids of members to show; by default the first eight texts"),
    ] = ()
    rows: Annotated[Literal["differing", "all"], about("passages that differ, or all of them")] = (
        "differing"
    )
    part: Part = 1


class CompareParameters(TwoIds, frozen=True):
    """A part of two documents side by side."""

    matching: Annotated[Matching, about("count repeats, or information")] = "literal"
    part: Part = 1
    original: Original = "no"
    wait: Wait = WAIT_SECONDS


class DiscountedParameters(TwoIds, frozen=True):
    """The similarity of two documents without shared text."""

    wait: Wait = WAIT_SECONDS


def family(site: Site, values: DocumentId) -> FamilyResponse:
    """Return the group of a document."""
    view = site.family(values.id)
    rows = view.documents
    tree = _versions(site, rows) if _is_quick_to_order(rows) else None
    if tree:
        _measure_steps(tree, whole=False)
    joined = site.review.joined()
    return FamilyResponse(
        id=view.id,
        size=view.size,
        principal=DocumentFacts.of(view.principal) if view.principal else None,
        members=tuple(map(DocumentFacts.of, view.members)),
        compared=view.compared,
        matrix=view.matrix,
        labels=view.labels,
        warnings=view.warnings,
        measure=view.measure,
        versions=versions_response(tree, False) if tree else None,
        joined=tuple(row.id for row in view.members if row.id in joined),
    )


def differences(site: Site, values: DifferencesParameters) -> GroupDifferences:
    """Return what tells the members of a group from its principal."""
    view = site.family(values.id)
    leave = values.leave == "yes"
    if view.principal is None:
        return GroupDifferences({}, (), (), leave)
    wait = max(values.wait, _LEAVE_SECONDS) if leave else values.wait
    members = family_view.comparable_members(view.principal, view.members)
    whole = leave or values.whole == "yes"
    found = site.members.find(view.principal, members, view.serious, wait, whole)
    counts = len(found), len(members)
    if counts[0] < counts[1]:
        return GroupDifferences(found, (), (), leave, *counts, ready=False)
    others = tuple(row.id for row in members if found[row.id].is_other)
    sentences = tuple(family_view.format_others(found, view.serious))
    return GroupDifferences(found, sentences, others, leave, *counts)


def variants(site: Site, values: NearParameters) -> GroupVariants:
    """Return the passages in which the documents of a group vary."""
    view = site.family(values.id)
    rows = view.documents
    found = site.varying(rows[0], rows[1:], values.wait)
    paths = {row.id: row.path for row in rows}
    return GroupVariants(
        family=view.id,
        principal=DocumentFacts.of(rows[0]),
        documents=paths,
        names=names_by_path(paths.values()),
        passages=found.passages if found else 0,
        compared=found.documents if found else 0,
        varying=tuple(found.varying) if found else (),
        ready=found is not None,
    )


def near(site: Site, values: NearParameters) -> NearCopies:
    """Return the documents of other groups that are near the principal of a group."""
    row = site.row(values.id)
    principal = site.store.get([row.family]).get(row.family, row)
    copies = site.near_copies(principal, values.wait)
    return NearCopies((), ready=False) if copies is None else NearCopies(copies)


def join(site: Site, values: JoinParameters, login: Login) -> JoinResult:
    """Put a document into the group of another one; later groups keep it there."""
    options = last_group_options(site.store) or DEFAULT_OPTIONS
    row = site.row(values.id)
    members = [id for id, _ in site.store.families.members("family", [row.id]) if id != row.id]
    changed = families.join(site.store, row.id, values.other, options)
    site.review.join(row.id, values.other, login.name)
    if changed:
        site.last_joins[login.name] = LastJoin(row.id, row.path, tuple(members))
    site.discard_counts()
    return JoinResult(changed)


def separate(site: Site, values: DocumentId, login: Login) -> JoinResult:
    """Take a document out of the group that a reviewer put it into; members of its own group that
    are still there go with it if that was the last one of any reviewer.

    After an error it can be taken out again: what was not moved then is moved.
    """
    other = site.review.joined().get(values.id)
    if other is None:
        raise UsageError("no reviewer put this document into its group; load the page again")
    joins = {name: last for name, last in [*site.last_joins.items()] if last.id == values.id}
    stored = site.store.get([values.id, other])
    rows = [stored[id] for id in (values.id, other) if id in stored]
    left = next((row.family for row in rows if row.family != values.id), values.id)
    moved = 0
    if values.id in stored:
        families.separate(site.store, values.id)
        members = {id for last in joins.values() for id in last.members}
        options = last_group_options(site.store) or DEFAULT_OPTIONS
        for row in site.store.get(sorted(members)).values() if members else ():
            if row.family == left:
                moved += families.join(site.store, row.id, values.id, options)
    site.review.separate(values.id)
    for name in joins:
        site.last_joins.pop(name, None)
    site.discard_counts()
    if values.id not in stored:
        raise DocumentNotFound(id=values.id)
    return JoinResult(1 + moved)


def _is_quick_to_order(rows: Sequence[Row]) -> bool:
    """Return whether a group is small enough for its page to order its versions."""
    words = sum(row.words for row in rows)
    return 1 < len(rows) <= _MAX_ORDERED and words <= _MAX_ORDERED_WORDS


def _versions(site: Site, members: Sequence[Row], dates: bool = True) -> Versions:
    """Return the versions among documents of a group, which are kept while these and the recipe
    stay.
    """
    recipe = require_recipe(site.store)
    texts = tuple(
        (row.id, row.path, hash(row.text), row.exact, row.similarity, *own_date(row))
        for row in members
    )
    key = members[0].family, dates, recipe.id, texts
    tree: Versions | None = site.versions.get(key)
    if tree is None:
        ordered = order_versions(members, recipe, dates=dates)
        tree = site.versions.put(key, ordered, sum(len(row.text) for row in members))
    return tree


def _measure_steps(tree: Versions, whole: bool) -> None:
    """Measure the steps between versions: all, or some more of those that are not measured."""
    steps = [version.step for version in tree.versions if version.step]
    unknown = [step for step in steps if not step.is_measured]
    sizes = itertools.accumulate(len(step.texts[1]) for step in unknown)
    for number, (step, size) in enumerate(zip(unknown, sizes, strict=True)):
        if number and size > _STEP_CHARS and not whole:
            return
        _ = step.redline, step.similarity


def version_tree(site: Site, values: VersionsParameters) -> VersionsResponse:
    """Return the versions in the group of a document."""
    members = read_members(site.store, site.row(values.id).id)
    tree = _versions(site, members, values.dates == "yes")
    _measure_steps(tree, values.whole == "yes")
    return versions_response(tree, values.redline == "yes")


def matrix(site: Site, values: MatrixParameters) -> MatrixResponse:
    """Return versions of a group side by side: who has which passage, in which words."""
    view = site.family(site.row(values.id).id)
    documents = list(rows_with_symbols(view.documents, require_recipe(site.store)))
    chosen = _chosen_versions(documents, values.of)
    if _is_quick_to_order(chosen):
        of_order = documents if _is_quick_to_order(documents) else chosen
        tree = _versions(site, of_order)
        positions = {version.id: index for index, version in enumerate(tree.versions)}
        chosen.sort(key=lambda row: positions.get(row.id, len(positions)))
    passages = [passages_of(row.text[:MAX_CHARS]) for row in chosen]
    rows = collate([of_version[:_MAX_PASSAGES] for of_version in passages])
    numbered = [
        (number, row)
        for number, row in enumerate(rows, 1)
        if values.rows == "all" or not row.is_shared
    ]
    part = values.part
    parts = count_parts(len(numbered), _ROWS_A_PART, part)
    texts = {row.exact or row.id: row for row in reversed([*chosen, *documents])}
    others = [row for row in texts.values() if row not in chosen][:_MAX_OTHERS]
    return MatrixResponse(
        family=view.id,
        versions=tuple(map(DocumentFacts.of, chosen)),
        others=tuple(map(DocumentFacts.of, others)),
        passages=len(rows),
        shared=sum(row.is_shared for row in rows),
        rows=tuple(
            matrix_row(number, row)
            for number, row in numbered[(part - 1) * _ROWS_A_PART : part * _ROWS_A_PART]
        ),
        cut=max(map(len, passages)) > _MAX_PASSAGES,
        part=part,
        parts=parts,
    )


def _chosen_versions(documents: Sequence[Row], ids: Sequence[str]) -> list[Row]:
    """Return the documents with these ids, without any the first ones whose texts differ."""
    if len(ids) > MAX_VERSIONS:
        raise UsageError(
            f"at most {MAX_VERSIONS} versions can be compared side by side; choose fewer"
        )
    by_id = {row.id: row for row in documents}
    for id in ids:
        if id not in by_id:
            raise DocumentNotFound(id=id)
    if ids:
        return [by_id[id] for id in dict.fromkeys(ids)]
    texts = {row.exact or row.id: row for row in reversed(documents)}
    return [row for row in documents if texts[row.exact or row.id] is row][:MAX_VERSIONS]


def compare(site: Site, values: CompareParameters) -> ComparisonResponse:
    """Return a part of two documents side by side."""
    a = site.row(values.a)
    b = site.row(values.b)
    compared = site.comparisons.side_by_side(a, b, values.matching, values.wait)
    view = compared.side_by_side
    comparison = view.comparison
    part = values.part
    parts = count_parts(len(view.blocks), _BLOCKS_A_PART, part)
    blocks = view.blocks[(part - 1) * _BLOCKS_A_PART : part * _BLOCKS_A_PART]
    return ComparisonResponse(
        a=DocumentFacts.of(a),
        b=DocumentFacts.of(b),
        matching=values.matching,
        words=comparison.words,
        measures=tuple(measures_of(comparison.measures)),
        discounted=without_boilerplate(site.comparisons.discounted(a, b, _DISCOUNT_SECONDS)),
        passages=len(comparison.shared),
        shared_words=comparison.measures.alignment.common,
        new_words=comparison.new_words,
        differences=view.differences,
        first=next((number for block in blocks for number in block.differences), None),
        part=part,
        parts=parts,
        cells=tuple(view.cells(blocks)),
        facts=tuple(facts(facts_of(a), facts_of(b))),
        warnings=tuple(dict.fromkeys([*_text_warnings("A", a), *_text_warnings("B", b)])),
        map=tuple(
            MapLink(
                differing=round(segment.differing, 3),
                first=segment.first,
                last=segment.last,
                part=segment.block // _BLOCKS_A_PART + 1,
                moved=segment.moved,
            )
            for segment in difference_map(view.blocks)
        ),
        chars=compared.chars,
        views=tuple(original_view(site, site.document_row(row.id)) for row in (a, b))
        if values.original == "yes"
        else (),
        originals=site.originals.is_available(a) and site.originals.is_available(b),
    )


def _text_warnings(letter: str, row: Row) -> list[str]:
    """Return the warnings about one text of a comparison."""
    warnings = list(warnings_of(row))
    if len(row.text) > MAX_CHARS:
        warnings.append(f"only the first {MAX_CHARS:,} characters are compared")
    return [f"{letter}: {warning}" for warning in warnings]


def discounted(site: Site, values: DiscountedParameters) -> WithoutBoilerplate:
    """Return the similarity of two documents without the text that the store shares."""
    a = site.row(values.a)
    b = site.row(values.b)
    return without_boilerplate(site.comparisons.discounted(a, b, values.wait))


COMPARISON_READS: Mapping[str, ReadEndpoint] = {
    "family": ReadEndpoint(
        "family",
        "The near-duplicate group of a document, by the id of any member.",
        DocumentId,
        family,
        FamilyResponse,
    ),
    "differences": ReadEndpoint(
        "family/differences",
        "What tells the members of a near-duplicate group from the principal: marks, facts, new "
        "words.",
        DifferencesParameters,
        differences,
        GroupDifferences,
    ),
    "variants": ReadEndpoint(
        "family/variants",
        "The passages in which the documents of a near-duplicate group vary, each with its "
        "variants and who has them.",
        NearParameters,
        variants,
        GroupVariants,
    ),
    "near": ReadEndpoint(
        "family/near",
        "The documents that are near the principal of a near-duplicate group and in other groups, "
        "and why.",
        NearParameters,
        near,
        NearCopies,
    ),
    "versions": ReadEndpoint(
        "versions",
        "The probable origin of each document of a near-duplicate group, and the changes on the "
        "way.",
        VersionsParameters,
        version_tree,
        VersionsResponse,
    ),
    "matrix": ReadEndpoint(
        "matrix",
        "Versions of a near-duplicate group side by side: which of them has which passage, in "
        "which words.",
        MatrixParameters,
        matrix,
        MatrixResponse,
    ),
    "compare": ReadEndpoint(
        "compare",
        "Two documents side by side, by every measure.",
        CompareParameters,
        compare,
        ComparisonResponse,
    ),
    "discounted": ReadEndpoint(
        "discounted",
        "The similarity of two documents without the text that the store shares; "
        "the first request starts the count.",
        DiscountedParameters,
        discounted,
        WithoutBoilerplate,
    ),
}
COMPARISON_WRITES: Mapping[str, WriteEndpoint] = {
    "join": WriteEndpoint(
        "family/join",
        "Put a document into the near-duplicate group of another one, where later groups keep it.",
        JoinParameters,
        join,
        JoinResult,
    ),
    "separate": WriteEndpoint(
        "family/separate",
        "Take a document out of the near-duplicate group that a reviewer put it into.",
        DocumentId,
        separate,
        JoinResult,
    ),
}
