"""The pages, with the questions whose answers each shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from indexer.web.questions import Parameter, Question, parameter_values

if TYPE_CHECKING:
    from indexer.web.site import Site


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its path, template and title, and the names of the questions that it shows.

    The template receives each answer under the name of its question. `defaults` are parameters
    that the page sets where the reader did not.
    """

    path: str
    template: str
    title: str
    questions: tuple[str, ...]
    defaults: Mapping[str, str]

    def values(
        self, site: Site, questions: Mapping[str, Question], query: Mapping[str, Sequence[str]]
    ) -> dict[str, Any]:
        """Return the values for the template: the answers, and `parameters` by name.

        Unknown names in `query` are ignored: mail programs add marks to addresses.
        """
        parameters = self._parameters(questions)
        known = {name: values for name, values in query.items() if name in parameters}
        defaults = {name: (value,) for name, value in self.defaults.items()}
        values = parameter_values(list(parameters.values()), {**defaults, **known})
        answers = {name: questions[name].answer(site, values) for name in self.questions}
        return {"parameters": values, **answers}

    def _parameters(self, questions: Mapping[str, Question]) -> Mapping[str, Parameter]:
        """Return the parameters of all questions of the page by name."""
        return {
            parameter.name: parameter
            for name in self.questions
            for parameter in questions[name].parameters
        }


_SOON = {"wait": "0.1"}  # the first screen of long texts does not wait for all of them
_READING = {"wait": "0.2"}  # nor the first page of a store for all of it
_SEARCHING = {"wait": "1.5", "ranking": "first"}
PAGES = (
    Page("/", "search.html", "Search", ("search", "searches"), _SEARCHING),
    Page("/document", "document.html", "Document", ("document", "similar", "history"), _SOON),
    Page("/thread", "thread.html", "Thread of mails", ("thread",), {}),
    Page("/family", "family.html", "Family", ("family",), {}),
    Page("/versions", "versions.html", "Versions", ("versions",), {"redline": "yes"}),
    Page("/matrix", "matrix.html", "Versions side by side", ("matrix",), {}),
    Page("/compare", "compare.html", "Compare", ("compare",), _SOON),
    Page("/worklist", "worklist.html", "Work list", ("worklist", "searches"), _READING),
    Page("/overview", "overview.html", "Overview", ("status", "figures"), _READING),
    Page("/threshold", "threshold.html", "Threshold", ("survey", "preview"), _READING),
    Page("/regroup", "regroup.html", "Apply a threshold", ("regroup",), _READING),
    Page("/jobs", "jobs.html", "Jobs", ("status", "labellings"), {}),
)
