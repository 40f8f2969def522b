"""Which page shows which answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from indexer.web.parameters import Parameter, ParameterValues, parameter_values
from indexer.web.questions import QUESTIONS
from indexer.web.site import Site


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its path, template and title, and the questions whose answers it shows, each under
    its name.

    `defaults` are parameters that the page sets where the reader did not.
    """

    path: str
    template: str
    title: str
    questions: tuple[str, ...]
    defaults: Mapping[str, str]

    @property
    def parameters(self) -> Sequence[Parameter]:
        """The parameters of all its questions."""
        return list(
            {
                one.name: one for name in self.questions for one in QUESTIONS[name].parameters
            }.values()
        )

    def values(self, site: Site, given: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """What the template is given: the answers, and `parameter_values` with the values of the parameters.

        What else stands in the address of a page, such as a mark that a mail program put there, is
        passed over.
        """
        names = {one.name for one in self.parameters}
        known = {name: one for name, one in given.items() if name in names}
        values: ParameterValues = parameter_values(
            self.parameters, {**{name: (value,) for name, value in self.defaults.items()}, **known}
        )
        return {
            "asked": values,
            **{name: QUESTIONS[name].answer(site, values) for name in self.questions},
        }


PAGES = (
    Page("/", "search.html", "Search", ("search",), {}),
    Page("/document", "document.html", "Document", ("document", "similar"), {}),
    Page("/family", "family.html", "Family", ("family",), {}),
    Page("/versions", "versions.html", "Versions", ("versions",), {"redline": "yes"}),
    Page("/compare", "compare.html", "Compare", ("compare",), {}),
    Page("/overview", "overview.html", "Overview", ("status", "survey"), {}),
    Page("/threshold", "threshold.html", "Threshold", ("preview", "survey"), {}),
    Page("/jobs", "jobs.html", "Jobs", ("status", "labellings"), {}),
)
