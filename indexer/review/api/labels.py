"""The actions of pages and the API: labelling, its undo, the check of a text, and reading the store
again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from indexer.defaults import FOLD
from indexer.documents.base import DEFAULT_LIMITS
from indexer.errors import DocumentNotFound, NearfoldError, UsageError
from indexer.grouping.label import LabelOptions, LabelResult, UndoResult, label
from indexer.jobs.check import CheckOptions, CheckResult
from indexer.review.access import Login
from indexer.review.api.endpoints import YES_NO, Action, Parameter, ParameterValues
from indexer.review.label_queue import LabelRequest

if TYPE_CHECKING:
    from indexer.review.site import Site


@dataclass(frozen=True, slots=True)
class SurveyReset:
    """The survey was discarded; the next request reads the store again."""

    forgotten: bool


def label_request(site: Site, values: ParameterValues, login: Login) -> LabelRequest:
    """Return what the parameters ask to label.

    Raises `DocumentNotFound` if one of the documents is not in the store, and `UsageError`.
    """
    if not values["id"]:
        raise UsageError("no document is named; check at least one, or give its id")
    sources = site.store.sources(values["id"])
    for id in values["id"]:
        if id not in sources:
            raise DocumentNotFound(id=id)
    options = LabelOptions(
        add=values["add"],
        remove=values["remove"],
        family=values["family"] == "yes",
        others=values["others"] == "yes",
        review=values["review"],
        threshold=values["threshold"],
    )
    return LabelRequest(login.name, values["id"], options, values["seen"])


def _label(site: Site, values: ParameterValues, login: Login) -> LabelResult:
    """Label documents; none is labelled if one of them is not in the store."""
    request = label_request(site, values, login)
    if values["dry_run"] == "yes":
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


def _undo(site: Site, values: ParameterValues, login: Login) -> UndoResult:
    outcome = take_outcome(site, site.labels.put(LabelRequest(login.name, undo=values["job"])))
    if outcome is None:
        return UndoResult(values["job"], (), (), (), waits=True)
    assert isinstance(outcome, UndoResult)
    return outcome


def _reset_survey(site: Site, values: ParameterValues, login: Login) -> SurveyReset:
    site.reset()
    return SurveyReset(True)


def _check(site: Site, values: ParameterValues, login: Login) -> CheckResult:
    """Check a text and, if asked, store it."""
    from indexer.jobs.check import check

    store_it = values["store"] == "yes"
    result = check(
        site.store,
        values["text"],
        CheckOptions(
            threshold=values["threshold"],
            review=values["review"],
            review_differences=values["review_differences"] == "yes",
        ),
        path=values["path"] or None,
        id=values["id"] or None,
        labels=values["label"],
        store_it=store_it,
        drop_duplicates=values["drop_duplicates"] == "yes",
    )
    if result.stored:
        site.discard_counts()
    return result


_CHECK_PARAMETERS = (
    Parameter("text", "the text of the document", most=DEFAULT_LIMITS.chars),
    Parameter("id", "its id; by default a digest of its text", ""),
    Parameter("path", "where it came from, such as a URL", ""),
    Parameter("label", "labels for it if it is stored", many=True),
    Parameter("store", "store it, whatever the answer", "no", choices=YES_NO),
    Parameter("drop_duplicates", "with `store`: do not store a duplicate", "no", choices=YES_NO),
    Parameter("threshold", "least similarity of a duplicate", FOLD, "number", low=0.01, high=1),
    Parameter(
        "review",
        "least similarity of what is for review; by default 0.8, or `threshold` where it is lower",
        None,
        "number",
        low=0.01,
        high=1,
        optional=True,
    ),
    Parameter(
        "review_differences",
        "near duplicates whose facts, such as numbers or names, differ are for review",
        "no",
        choices=YES_NO,
    ),
)
_LABEL_PARAMETERS = (
    Parameter("id", "ids of documents", many=True),
    Parameter("add", "labels to add", many=True),
    Parameter("remove", "labels to remove", many=True),
    Parameter("family", "label the rest of their families as well", "no", choices=YES_NO),
    Parameter("others", "with family, label that rest alone", "no", choices=YES_NO),
    Parameter("review", "labels that leave the rest of a family for review", many=True),
    Parameter(
        "threshold", "less similar members are left for review", 0.0, "number", low=0, high=1
    ),
    Parameter("dry_run", "change nothing, only list the changes", "yes", choices=YES_NO),
    Parameter(
        "seen",
        "the `state` of a dry run: nothing is written if the labels have changed since",
        "",
    ),
)
_JOB = Parameter("job", "the number of the labelling", kind="integer", low=1, high=1 << 53)

ACTIONS: Mapping[str, Action] = {
    "check": Action(
        "check",
        "Say whether a text is new, a duplicate or for review and, with `store`, store it in the "
        "same step.",
        _CHECK_PARAMETERS,
        _check,
        CheckResult,
        most_bytes=32 << 20,
    ),
    "label": Action(
        "label",
        "Add and remove labels of documents and, with `family`, of the rest of their families; "
        "a dry run by default. While a job works on the store, it waits.",
        _LABEL_PARAMETERS,
        _label,
        LabelResult,
    ),
    "undo": Action(
        "label/undo",
        "Restore the labels that documents had before a labelling.",
        (_JOB,),
        _undo,
        UndoResult,
    ),
    "refresh": Action(
        "survey/refresh",
        "Discard the survey, so that the next request for it reads the whole store again.",
        (),
        _reset_survey,
        SurveyReset,
    ),
}
