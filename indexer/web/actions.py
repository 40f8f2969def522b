"""What pages and the API may change: labels, with a dry run and an undo, and the survey that is
kept; nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from indexer.errors import DocumentNotFound, UsageError
from indexer.grouping.label import LabelOptions, LabelResult, UndoResult, label, undo_labels
from indexer.web.parameters import Parameter, ParameterValues
from indexer.web.safety import TOKEN_FIELD, same_token
from indexer.web.site import Site

MOST_BYTES = 64 << 10
YES_NO = ("yes", "no")
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class SurveyReset:
    """The survey is read anew when somebody asks for it next."""

    forgotten: bool


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do. `api` is its path under `/api`; `do` makes a value of the class `shape`."""

    api: str
    summary: str
    parameters: tuple[Parameter, ...]
    do: Callable[[Site, ParameterValues], Any]
    shape: type


def _label(site: Site, asked: ParameterValues) -> LabelResult:
    """Nothing is labelled when one of the documents is not there."""
    known = site.store.sources(asked["id"])
    for id in asked["id"]:
        if id not in known:
            raise DocumentNotFound(id=id)
    dry_run = asked["dry_run"] == "yes"
    done = label(
        site.store,
        asked["id"],
        LabelOptions(
            add=asked["add"],
            remove=asked["remove"],
            family=asked["family"] == "yes",
            review=asked["review"],
            threshold=asked["threshold"],
        ),
        dry_run=dry_run,
    )
    if not dry_run:
        site.changed()
    return done


def _undo(site: Site, asked: ParameterValues) -> UndoResult:
    done = undo_labels(site.store, asked["job"])
    site.changed()
    return done


def _anew(site: Site, asked: ParameterValues) -> SurveyReset:
    site.anew()
    return SurveyReset(True)


ACTIONS: Mapping[str, Action] = {
    "label": Action(
        "label",
        "Add and remove labels of documents and, if asked, of the others in their families; a dry run unless told otherwise.",
        (
            Parameter("id", "ids of documents", many=True),
            Parameter("add", "labels to add", many=True),
            Parameter("remove", "labels to remove", many=True),
            Parameter("family", "the others of their families as well", "no", choices=YES_NO),
            Parameter("review", "labels that leave the others of a family for review", many=True),
            Parameter(
                "threshold", "others less similar are left for review", 0.0, "number", low=0, high=1
            ),
            Parameter(
                "dry_run", "change nothing, only say what would change", "yes", choices=YES_NO
            ),
        ),
        _label,
        LabelResult,
    ),
    "undo": Action(
        "label/undo",
        "Give documents back the labels that they had before a labelling.",
        (Parameter("job", "the number of the labelling", kind="integer", low=1, high=1 << 53),),
        _undo,
        UndoResult,
    ),
    "anew": Action(
        "survey/anew",
        "Read the whole store again when the survey is asked for next.",
        (),
        _anew,
        SurveyReset,
    ),
}


class TokenRefusal(UsageError):
    """A write without the token of this process."""


def parsed(body: bytes, content_type: str) -> Mapping[str, Sequence[str]]:
    """The values of a form or of a JSON object, as strings by name. Raises `UsageError`.

    >>> parsed(b'{"id": ["a"], "family": true}', "application/json")
    {'id': ['a'], 'family': ['yes']}
    """
    kind = content_type.partition(";")[0].strip().lower()
    try:
        if kind == _FORM:
            return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=1000)
        if kind == _JSON and isinstance(value := json.loads(body), dict):
            return {
                name: list(map(_spelled, one if isinstance(one, list) else [one]))
                for name, one in value.items()
            }
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the request cannot be read: {error}") from error
    raise UsageError(f"send a JSON object as {_JSON}")


def check_token(given: Mapping[str, Sequence[str]], header: str, token: str) -> None:
    """Raise `TokenRefusal` unless the header or the form carries the token of this process."""
    if not any(same_token(one, token) for one in (header, *given.get(TOKEN_FIELD, ()))):
        raise TokenRefusal(
            "this page is from another run of nearfold serve; load it again, then repeat"
        )


def _spelled(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, (str, int, float)):
        raise UsageError("values are strings, numbers, true or false, or lists of them")
    return str(value)
