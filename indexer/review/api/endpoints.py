"""The forms of questions and actions, and their parameters: the same for a page and for the API."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from indexer.defaults import REVIEW
from indexer.errors import UnknownNumber, UsageError

if TYPE_CHECKING:
    from indexer.review.access import Login
    from indexer.review.site import Site


Kind: TypeAlias = Literal["string", "number", "integer"]
MOST_CHARS = 2000  # of a parameter
MOST_BYTES = 64 << 10  # of the body of a request
YES_NO = ("yes", "no")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter with its type, range and description.

    `default` None: it is required, unless `optional`. `many`: it may be repeated. `pattern`: a
    regular expression for the description of the API; what reads the value checks it. `most`:
    characters of a value.
    """

    name: str
    description: str
    default: Any = None
    kind: Kind = "string"
    choices: tuple[str, ...] = ()
    low: float = 0
    high: float = 0
    many: bool = False
    optional: bool = False
    pattern: str = ""
    most: int = MOST_CHARS

    @property
    def required(self) -> bool:
        """It must be given."""
        return self.default is None and not (self.many or self.optional)

    def value(self, texts: Sequence[str]) -> Any:
        """Return the value of these texts, a tuple for `many`.

        Raises `UsageError`, also for several texts where one is allowed.
        """
        if self.many:
            return tuple(self._parse(text) for text in texts if text)
        if len(texts) > 1:
            raise UsageError(f"{self.name} is given {len(texts)} times; give it once")
        if not texts or not (texts[-1] or self.required):
            if self.required:
                raise UsageError(f"{self.name} is missing: {self.description}")
            return self.default
        return self._parse(texts[-1])

    def _parse(self, text: str) -> Any:
        if len(text) > self.most:
            raise UsageError(f"{self.name} is longer than {self.most:,} characters; shorten it")
        if self.kind != "string":
            return self._number(text)
        if self.choices and text not in self.choices:
            choices = ", ".join(self.choices)
            raise UsageError(f"{self.name} must be one of {choices}, not {text!r}")
        return text

    def _number(self, text: str) -> float | int:
        try:
            number = int(text) if self.kind == "integer" else float(text)
        except ValueError:
            number = math.nan
        if not self.low <= number <= self.high:
            raise UsageError(
                f"{self.name} must be a number from {self.low:g} to {self.high:g}, not {text!r}"
            )
        return number


class ParameterValues(dict[str, Any]):
    """The values of all parameters of a question or action by name."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a site that changes nothing.

    `api` is its path under `/api`; `answer` returns a value of the class `shape`.
    """

    api: str
    summary: str
    parameters: tuple[Parameter, ...]
    answer: Callable[[Site, ParameterValues], Any]
    shape: type


@dataclass(frozen=True, slots=True)
class Action:
    """A write to a site by a login. `api` is its path under `/api`; `do` returns a value of
    `shape`. `most_bytes`: of the body of a request.
    """

    api: str
    summary: str
    parameters: tuple[Parameter, ...]
    do: Callable[[Site, ParameterValues, Login], Any]
    shape: type
    most_bytes: int = MOST_BYTES


ID = Parameter("id", "a document's id")
SIDE_A = Parameter("a", "the id of one document")
SIDE_B = Parameter("b", "the id of the other")
ORIGINAL = Parameter("original", "show the file beside the text", "no", choices=YES_NO)
ATTACHMENT = Parameter(
    "attachment", "the number of an attachment; 0: the file itself", 0, "integer", low=0, high=9999
)
PART = Parameter("part", "part of a long text, from 1", 1, "integer", low=1, high=1_000_000)
WAIT = Parameter("wait", "seconds to wait for it", 1.5, "number", low=0, high=30)
REVIEW_THRESHOLD = Parameter(
    "threshold", "least similarity, from 0 to 1", REVIEW, "number", low=0, high=1
)


def parameter_values(
    parameters: Sequence[Parameter], texts: Mapping[str, Sequence[str]]
) -> ParameterValues:
    """Return the values of these parameters.

    Raises `UsageError`, also for a name that is not among them.
    """
    names = {parameter.name for parameter in parameters}
    if unknown := [name for name in texts if name not in names]:
        remedy = (
            f"the parameters are {', '.join(sorted(names))}" if names else "there are none here"
        )
        raise UsageError(f"unknown parameter: {', '.join(map(repr, unknown))}; {remedy}")
    return ParameterValues(
        {parameter.name: parameter.value(texts.get(parameter.name, ())) for parameter in parameters}
    )


def count_parts(items: int, size: int, part: int) -> int:
    """Return how many parts of `size` hold so many items, one for none.

    Raises `UnknownNumber` for a `part` beyond the last; parts count from 1.
    """
    parts = max(1, -(-items // size))
    if part > parts:
        raise UnknownNumber(what="part", number=part, remedy=f"the last part is {parts:,}")
    return parts
