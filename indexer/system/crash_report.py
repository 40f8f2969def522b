"""Reports of internal errors: the calls and the kinds of exceptions, without their messages.

The message of an exception may quote a document, a password or a query; the lines of nearfold's
source code cannot.
"""

from __future__ import annotations

import traceback


def crash_report(error: BaseException) -> str:
    """Return the calls that led to an error and to its causes, the error last, with their kinds and
    without their messages.

    >>> try:
    ...     int("a secret")
    ... except ValueError as error:
    ...     report = crash_report(error)
    >>> report.splitlines()[-1], "a secret" in report.splitlines()[-1]
    ('ValueError (what it says is left out: it may quote a document)', False)
    """
    calls = [_calls(link) for link in reversed(_chain(error))]
    report = "\n\nwhich led to:\n\n".join(calls)
    return f"{report} (what it says is left out: it may quote a document)"


def _calls(error: BaseException) -> str:
    """Return the calls of one error, and its kind."""
    return "".join(traceback.format_tb(error.__traceback__)) + _kind(error)


def _chain(error: BaseException) -> list[BaseException]:
    """Return an error and its causes, the error first."""
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        context = None if link.__suppress_context__ else link.__context__
        link = link.__cause__ or context
    return chain


def _kind(error: BaseException) -> str:
    """Return the class, with the error number of the operating system."""
    kind = type(error)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return f"{name} [errno {error.errno}]" if isinstance(error, OSError) and error.errno else name
