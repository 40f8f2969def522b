"""What is told of a fault of our own: where it struck, and nothing of what was being worked on.

The message of an exception may quote a document, a password or a query; the lines of our own
program cannot.
"""

from __future__ import annotations

import traceback


def crash_report(error: BaseException) -> str:
    """The calls that led to an error and to those behind it, the last one last, with their kinds
    and without their messages.

    >>> try:
    ...     int("a secret")
    ... except ValueError as error:
    ...     told = crash_report(error)
    >>> told.splitlines()[-1], "a secret" in told.splitlines()[-1]
    ('ValueError (what it says is left out: it may quote a document)', False)
    """
    told = [
        "".join([*traceback.format_tb(one.__traceback__), f"{_kind(one)}"])
        for one in reversed(_chain(error))
    ]
    led_to = "\n\nwhich led to:\n\n"
    return f"{led_to.join(told)} (what it says is left out: it may quote a document)"


def _chain(error: BaseException) -> list[BaseException]:
    """An error and those that it came from, the last one first."""
    found: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in found:
        found.append(following)
        following = following.__cause__ or (
            None if following.__suppress_context__ else following.__context__
        )
    return found


def _kind(error: BaseException) -> str:
    """The class, with the number that the operating system gave."""
    kind = type(error)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return f"{name} [errno {error.errno}]" if isinstance(error, OSError) and error.errno else name
