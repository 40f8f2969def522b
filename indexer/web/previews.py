"""The families of a survey at the thresholds that pages ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexer.errors import UsageError
from indexer.grouping.survey_figures import FamilyChanges, Preview
from indexer.web.dated_readings import DatedSurvey

if TYPE_CHECKING:
    from indexer.grouping.survey import Survey


@dataclass(frozen=True, slots=True)
class ThresholdPreview:
    """The families at a threshold, and those that would split or merge."""

    dated: DatedSurvey
    families: Preview
    changes: FamilyChanges


def preview_at(dated: DatedSurvey, threshold: float | None) -> ThresholdPreview:
    """Return the families at a threshold, None for that of the families.

    Raises `UsageError` for one below those that a survey makes.
    """
    survey = dated.survey
    least = survey.threshold if threshold is None else checked_threshold(survey, threshold)
    return ThresholdPreview(dated, survey.at(threshold), survey.changes(least))


def checked_threshold(survey: Survey, threshold: float) -> float:
    """Return a threshold as `group` takes it; raises `UsageError` for one below a survey's."""
    least = survey.least_threshold
    if round(threshold, 6) < least:
        raise UsageError(
            f"families are made here at {least:g} or more; for less, run nearfold group"
        )
    return round(threshold, 6)
