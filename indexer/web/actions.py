"""The actions of pages and the API: labelling, its undo, and reading the store again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from indexer.errors import DocumentNotFound
from indexer.grouping.label import LabelOptions, LabelResult, label
from indexer.grouping.undo_labels import UndoResult, undo_labels
from indexer.web.questions import YES_NO, Action, Parameter, ParameterValues
from indexer.web.site import Site


@dataclass(frozen=True, slots=True)
class SurveyReset:
    """The survey was discarded; the next request reads the store again."""

    forgotten: bool


def _label(site: Site, values: ParameterValues) -> LabelResult:
    """Label documents; none is labelled if one of them is not in the store."""
    sources = site.store.sources(values["id"])
    for id in values["id"]:
        if id not in sources:
            raise DocumentNotFound(id=id)
    options = LabelOptions(
        add=values["add"],
        remove=values["remove"],
        family=values["family"] == "yes",
        review=values["review"],
        threshold=values["threshold"],
    )
    is_dry_run = values["dry_run"] == "yes"
    result = label(site.store, values["id"], options, dry_run=is_dry_run)
    if not is_dry_run:
        site.discard_counts()
    return result


def _undo(site: Site, values: ParameterValues) -> UndoResult:
    result = undo_labels(site.store, values["job"])
    site.discard_counts()
    return result


def _reset_survey(site: Site, values: ParameterValues) -> SurveyReset:
    site.reset()
    return SurveyReset(True)


_LABEL_PARAMETERS = (
    Parameter("id", "ids of documents", many=True),
    Parameter("add", "labels to add", many=True),
    Parameter("remove", "labels to remove", many=True),
    Parameter("family", "label the rest of their families as well", "no", choices=YES_NO),
    Parameter("review", "labels that leave the rest of a family for review", many=True),
    Parameter(
        "threshold", "less similar members are left for review", 0.0, "number", low=0, high=1
    ),
    Parameter("dry_run", "change nothing, only list the changes", "yes", choices=YES_NO),
)
_JOB = Parameter("job", "the number of the labelling", kind="integer", low=1, high=1 << 53)

ACTIONS: Mapping[str, Action] = {
    "label": Action(
        "label",
        "Add and remove labels of documents and, with `family`, of the rest of their families; "
        "a dry run by default.",
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
