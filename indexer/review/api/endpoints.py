"""Endpoints of pages and of the API, and the models of their parameters."""

from __future__ import annotations

import functools
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from indexer.errors import UnknownNumber, UsageError

if TYPE_CHECKING:
    from indexer.review.access import Login
    from indexer.review.site import Site


P = TypeVar("P", bound="Parameters")
MAX_CHARS = 2000  # of a parameter
MAX_BYTES = 64 << 10  # of the body of a request
YesNo: TypeAlias = Literal["yes", "no"]
Item: TypeAlias = Annotated[str, Meta(max_length=MAX_CHARS)]
"""One of several texts of a parameter."""


def about(description: str) -> Meta:
    """Return the description of a choice or of several texts, for `Annotated`."""
    return Meta(description=description)


def described_pattern(pattern: str) -> Meta:
    """Return a pattern that OpenAPI describes and the endpoint itself checks, for `Annotated`."""
    return Meta(extra_json_schema={"pattern": pattern})


def text_meta(description: str, max_chars: int = MAX_CHARS) -> Meta:
    """Return the description and the greatest length of a text, for `Annotated`."""
    return Meta(description=description, max_length=max_chars)


def number_meta(description: str, low: float, high: float) -> Meta:
    """Return the description and the range of a number, for `Annotated`."""
    return Meta(description=description, ge=low, le=high)


class Parameters(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of an endpoint: each field declares type, range, description and default.

    A field without a default must be given; a tuple may be given several times. The same fields are
    read from an address, from a form and from a JSON object.
    """

    def as_dict(self) -> dict[str, Any]:
        """Return the values by name."""
        return msgspec.structs.asdict(self)

    def replace(self: P, **values: Any) -> P:
        """Return the same parameters with other values of these names."""
        return msgspec.structs.replace(self, **values)


class NoParameters(Parameters, frozen=True):
    """An endpoint that takes none."""


@dataclass(frozen=True, slots=True)
class ReadEndpoint:
    """A request to a site that changes nothing.

    `path` is below `/api`; `run` returns a value of the class `response`.
    """

    path: str
    summary: str
    parameters: type[Parameters]
    run: Callable[[Site, Any], Any]
    response: type


@dataclass(frozen=True, slots=True)
class WriteEndpoint:
    """A write to a site by a login.

    `path` is below `/api`; `run` returns a value of the class `response`; `max_bytes` limits the
    body of a request.
    """

    path: str
    summary: str
    parameters: type[Parameters]
    run: Callable[[Site, Any, Login], Any]
    response: type
    max_bytes: int = MAX_BYTES


# Parameters that several endpoints take.
Id: TypeAlias = Annotated[str, text_meta("a document's id")]
Part: TypeAlias = Annotated[int, number_meta("part of a long text, from 1", 1, 1_000_000)]
Wait: TypeAlias = Annotated[float, number_meta("seconds to wait for it", 0, 30)]
WAIT_SECONDS = 1.5
Original: TypeAlias = Annotated[YesNo, Meta(description="show the file next to the text")]
Attachment: TypeAlias = Annotated[
    int, number_meta("the number of an attachment; 0: the file itself", 0, 9999)
]


class DocumentId(Parameters, frozen=True):
    """A stored document."""

    id: Id


class TwoIds(Parameters, frozen=True):
    """Two stored documents."""

    a: Annotated[str, text_meta("the id of one document")]
    b: Annotated[str, text_meta("the id of the other")]


class Waiting(Parameters, frozen=True):
    """The time that a response waits for what is computed."""

    wait: Wait = WAIT_SECONDS


def parse_parameters(model: type[P], texts: Mapping[str, Sequence[str]]) -> P:
    """Return the parameters of these texts by name.

    Raises `UsageError`, also for a name that the model does not have, and for several texts where
    one is allowed.
    """
    fields = model_fields(model)
    if unknown := [name for name in texts if name not in fields]:
        remedy = (
            f"the parameters are {', '.join(sorted(fields))}" if fields else "there are none here"
        )
        raise UsageError(f"unknown parameter: {', '.join(map(repr, unknown))}; {remedy}")
    values = {}
    for field in fields.values():
        value = _given_value(field, texts.get(field.name, ()))
        if value is not None:
            values[field.name] = value
    try:
        return msgspec.convert(values, model, strict=False)
    except msgspec.ValidationError as error:
        raise UsageError(_describe_problem(model, values, str(error))) from None


@functools.cache
def model_fields(model: type[Parameters]) -> dict[str, msgspec.inspect.Field]:
    """Return the fields of a model by name."""
    described = msgspec.inspect.type_info(model)
    assert isinstance(described, msgspec.inspect.StructType)
    return {field.name: field for field in described.fields}


def choices(model: type[Parameters], name: str) -> tuple[str, ...]:
    """Return the values that a parameter takes, as they are declared; of any other type none."""
    kind = typing.get_type_hints(model)[name]
    return typing.get_args(kind) if typing.get_origin(kind) is Literal else ()


def _given_value(field: msgspec.inspect.Field, texts: Sequence[str]) -> str | list[str] | None:
    """Return the text of a field, a list where several are allowed, None for the default."""
    if isinstance(_plain_type(field), msgspec.inspect.VarTupleType):
        return [text for text in texts if text]
    if len(texts) > 1:
        raise UsageError(f"{field.name} is given {len(texts)} times; give it once")
    if texts and (texts[-1] or field.required):
        return texts[-1]
    if field.required:
        raise UsageError(f"{field.name} is missing: {_description(field)}")
    return None


def _plain_type(field: msgspec.inspect.Field) -> msgspec.inspect.Type:
    """Return the type of a field without its description, and without None."""
    kind = field.type
    if isinstance(kind, msgspec.inspect.Metadata):
        kind = kind.type
    if isinstance(kind, msgspec.inspect.UnionType):
        (kind,) = [one for one in kind.types if not isinstance(one, msgspec.inspect.NoneType)]
    return kind.type if isinstance(kind, msgspec.inspect.Metadata) else kind


def _description(field: msgspec.inspect.Field) -> str:
    extra = field.type.extra_json_schema if isinstance(field.type, msgspec.inspect.Metadata) else {}
    return str((extra or {}).get("description", ""))


def _describe_problem(
    model: type[Parameters], values: Mapping[str, str | list[str]], message: str
) -> str:
    """Return what is wrong with the field that a message of msgspec names by its path."""
    path = re.search(r"`\$\.(\w+)(?:\[(\d+)\])?`", message)
    if path is None:
        return message
    name, value = path[1], values[path[1]]
    given = value[int(path[2])] if path[2] else value
    if names := choices(model, name):
        return f"{name} must be one of {', '.join(names)}, not {given!r}"
    kind = _plain_type(model_fields(model)[name])
    if isinstance(kind, (msgspec.inspect.IntType, msgspec.inspect.FloatType)):
        return f"{name} must be a number from {kind.ge or 0:g} to {kind.le or 0:g}, not {given!r}"
    item = kind.item_type if isinstance(kind, msgspec.inspect.VarTupleType) else kind
    item = item.type if isinstance(item, msgspec.inspect.Metadata) else item
    limit = item.max_length if isinstance(item, msgspec.inspect.StrType) else None
    return f"{name} is longer than {limit or 0:,} characters; shorten it"


def count_parts(items: int, size: int, part: int) -> int:
    """Return how many parts of `size` hold so many items, one for none.

    Raises `UnknownNumber` for a `part` beyond the last; parts count from 1.
    """
    parts = max(1, -(-items // size))
    if part > parts:
        raise UnknownNumber(what="part", number=part, remedy=f"the last part is {parts:,}")
    return parts
