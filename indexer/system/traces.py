"""Spans of OpenTelemetry where its API is installed (extra `otel`), none elsewhere.

The operator decides where they go, as with any program: `opentelemetry-instrument nearfold index
...`. A span carries its name, numbers and the class of an error: no text, no path, no message.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def span(name: str, **numbers: int | str) -> Iterator[None]:
    """Make the body a span of the trace, a child of the span around it."""
    tracing = _tracing()
    if tracing is None:
        yield
        return
    attributes = {f"nearfold.{field}": value for field, value in numbers.items()}
    tracer = tracing.get_tracer("nearfold")
    with tracer.start_as_current_span(
        f"nearfold.{name}",
        attributes=attributes,
        record_exception=False,  # its message may quote a document
        set_status_on_exception=False,
    ) as current:
        try:
            yield
        except BaseException as error:
            current.set_status(tracing.StatusCode.ERROR, type(error).__name__)
            raise


@cache
def _tracing() -> Any:
    """Return the API, None where it is not installed."""
    try:
        from opentelemetry import trace
    except ModuleNotFoundError:
        return None
    return trace
