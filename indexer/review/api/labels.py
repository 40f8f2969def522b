"""Endpoints that write: labelling, its undo, the check of a text, and reading the store again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, TypeAlias

from indexer.defaults import FOLD, TEXT_CHARS
from indexer.errors import DocumentNotFound, NearfoldError, UsageError
from indexer.jobs.check import CheckOptions, CheckResult
from indexer.jobs.label import LabelOptions, LabelResult, UndoResult, label
from indexer.review.access import Login
from indexer.review.api.endpoints import (
    Item,
    NoParameters,
    Parameters,
    WriteEndpoint,
    YesNo,
    about,
    number_meta,
    text_meta,
)
from indexer.review.label_queue import LabelRequest

if TYPE_CHECKING:
    from indexer.review.site import Site


@dataclass(frozen=True, slots=True)
class StatisticsReset:
    """The statistics were discarded; the next request reads the store again."""

    forgotten: bool


NoteText: TypeAlias = Annotated[
    str, text_meta("a note on each document that changes, such as the reason")
]


class LabelParameters(Parameters, frozen=True):
    """Documents, and the labels to add and remove."""

    id: Annotated[tuple[Item, ...], about("ids of documents")] = ()
    add: Annotated[tuple[Item, ...], about("labels to add")] = ()
    remove: Annotated[tuple[Item, ...], about("labels to remove")] = ()
    family: Annotated[YesNo, about("label the rest of their near-duplicate groups as well")] = "no"
    others: Annotated[YesNo, about("with family, label that rest alone")] = "no"
    attachments: Annotated[
        YesNo, about("label the other documents of their mails, the mail and attachments, as well")
    ] = "no"
    review: Annotated[
        tuple[Item, ...], about("labels that leave the rest of a group for review")
    ] = ()
    threshold: Annotated[float, number_meta("less similar members are left for review", 0, 1)] = 0.0
    leave: Annotated[
        tuple[Item, ...], about("with family, ids of members that are left for review")
    ] = ()
    note: NoteText = ""
    dry_run: Annotated[YesNo, about("change nothing, only list the changes")] = "yes"
    seen: Annotated[
        str,
        text_meta(
            "the `state` of a dry run: nothing is written if the labels have changed since",
        ),
    ] = ""


class UndoParameters(Parameters, frozen=True):
    """A labelling to undo."""

    job: Annotated[int, number_meta("the number of the labelling", 1, 1 << 53)]


class CheckParameters(Parameters, frozen=True):
    """A text to check and, if asked, to store."""

    text: Annotated[str, text_meta("the text of the document", TEXT_CHARS)]
    id: Annotated[str, text_meta("its id; by default a digest of its text")] = ""
    path: Annotated[str, text_meta("where it came from, such as a URL")] = ""
    label: Annotated[tuple[Item, ...], about("labels for it if it is stored")] = ()
    store: Annotated[YesNo, about("store it, whatever the result")] = "no"
    drop_duplicates: Annotated[YesNo, about("with `store`: do not store a duplicate")] = "no"
    threshold: Annotated[float, number_meta("minimum similarity of a duplicate", 0.01, 1)] = FOLD
    review: (
        Annotated[
            float,
            number_meta(
                "minimum similarity of what is for review; by default 0.8, or `threshold` where it "
                "is lower",
                0.01,
                1,
            ),
        ]
        | None
    ) = None
    review_differences: Annotated[
        YesNo,
        about("near duplicates whose facts, such as numbers or names, differ are for review"),
    ] = "no"


def label_request(site: Site, values: LabelParameters, login: Login) -> LabelRequest:
    """Return what the parameters ask to label.

    Raises `DocumentNotFound` if one of the documents is not in the store, and `UsageError`.
    """
    if not values.id:
        raise UsageError("no document is named; check at least one, or give its id")
    sources = site.store.sources(values.id)
    for id in values.id:
        if id not in sources:
            raise DocumentNotFound(id=id)
    options = LabelOptions(
        add=values.add,
        remove=values.remove,
        family=values.family == "yes",
        others=values.others == "yes",
        attachments=values.attachments == "yes",
        review=values.review,
        threshold=values.threshold,
        leave=values.leave,
        note=values.note,
    )
    return LabelRequest(login.name, values.id, options, values.seen)


def _label(site: Site, values: LabelParameters, login: Login) -> LabelResult:
    """Label documents; none is labelled if one of them is not in the store."""
    request = label_request(site, values, login)
    if values.dry_run == "yes":
        return plan_label(site, request)
    outcome = take_outcome(site, site.labels.put(request))
    if outcome is None:
        return replace(plan_label(site, request), waits=True)
    assert isinstance(outcome, LabelResult)
    return outcome


def plan_label(site: Site, request: LabelRequest) -> LabelResult:
    """Return what a labelling would change."""
    assert request.options is not None
    return label(site.store, request.ids, request.options, dry_run=True)


def take_outcome(site: Site, number: int) -> LabelResult | UndoResult | None:
    """Return what became of a request in the queue, None if it waits. Raises its error."""
    outcome = site.labels.outcome(number)
    if outcome is not None:
        site.labels.mark_seen(number)
    if isinstance(outcome, NearfoldError):
        raise outcome
    return outcome


def _undo(site: Site, values: UndoParameters, login: Login) -> UndoResult:
    outcome = take_outcome(site, site.labels.put(LabelRequest(login.name, undo=values.job)))
    if outcome is None:
        return UndoResult(values.job, (), (), (), waits=True)
    assert isinstance(outcome, UndoResult)
    return outcome


def _reset_statistics(site: Site, values: NoParameters, login: Login) -> StatisticsReset:
    site.reset()
    return StatisticsReset(True)


def _check(site: Site, values: CheckParameters, login: Login) -> CheckResult:
    """Check a text and, if asked, store it."""
    from indexer.jobs.check import check

    store_it = values.store == "yes"
    result = check(
        site.store,
        values.text,
        CheckOptions(
            threshold=values.threshold,
            review=values.review,
            review_differences=values.review_differences == "yes",
        ),
        path=values.path or None,
        id=values.id or None,
        labels=values.label,
        store_it=store_it,
        drop_duplicates=values.drop_duplicates == "yes",
    )
    if result.stored:
        site.discard_counts()
    return result


LABEL_WRITES: Mapping[str, WriteEndpoint] = {
    "check": WriteEndpoint(
        "check",
        "Say whether a text is new, a duplicate or for review and, with `store`, store it in the "
        "same step.",
        CheckParameters,
        _check,
        CheckResult,
        max_bytes=32 << 20,
    ),
    "label": WriteEndpoint(
        "label",
        "Add and remove labels of documents and, with `family`, of the rest of their "
        "near-duplicate groups; "
        "a dry run by default. While a job works on the store, it waits.",
        LabelParameters,
        _label,
        LabelResult,
    ),
    "undo": WriteEndpoint(
        "label/undo",
        "Restore the labels that documents had before a labelling.",
        UndoParameters,
        _undo,
        UndoResult,
    ),
    "refresh": WriteEndpoint(
        "survey/refresh",
        "Discard the statistics by threshold; the next request reads the whole store again.",
        NoParameters,
        _reset_statistics,
        StatisticsReset,
    ),
}
