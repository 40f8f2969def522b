"""Functions that take a store, called with the URL of one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

PARAMETER = "store"


def with_store_urls(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that opens its `store` where that is a URL, and closes it in the end.

    A function without a parameter of that name is returned as it is.
    """
    signature = inspect.signature(function)
    if PARAMETER not in signature.parameters:
        return function

    @functools.wraps(function)
    def call(*values: Any, **named: Any) -> Any:
        bound = signature.bind_partial(*values, **named)
        url = bound.arguments.get(PARAMETER)
        if not isinstance(url, str):
            return function(*values, **named)
        results = _with_open_store(function, bound, url)
        return results if inspect.isgeneratorfunction(function) else next(results)

    return call


def _with_open_store(
    function: Callable[..., Any], bound: inspect.BoundArguments, url: str
) -> Iterator[Any]:
    """Yield the result of a function, or its results one by one, and close the store after it."""
    from indexer.stores import open_store

    with closing(open_store(url)) as store:
        bound.arguments[PARAMETER] = store
        result = function(*bound.args, **bound.kwargs)
        if inspect.isgenerator(result):
            yield from result
            return
    yield result
