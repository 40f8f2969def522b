"""Names of labels: one rule for the command line, the pages and the API."""

from __future__ import annotations

from collections.abc import Iterable

from indexer.errors import UsageError
from indexer.text.visible import visible

SEPARATOR = ";"


def label_names(labels: Iterable[str]) -> tuple[str, ...]:
    """Return labels for documents: stripped of white space, each once, in the order given.

    Raises `UsageError` for a label that is blank, that holds a semicolon (exports put one between
    labels), or a character that nobody sees: line ends, tabs and other control characters,
    bidirectional controls, characters without width.

    >>> label_names([" hot ", "privileged", "hot"])
    ('hot', 'privileged')
    """
    names = trim_label(labels)
    for name in names:
        if SEPARATOR in name:
            raise UsageError(
                f"the label {name!r} holds a semicolon, which stands between labels in exports; "
                "give two labels"
            )
        if visible(name) != name:
            raise UsageError(
                f"the label {visible(name)!r} holds a character that cannot be seen; leave it out"
            )
    return names


def trim_label(labels: Iterable[str]) -> tuple[str, ...]:
    """Return labels to look for: stripped of white space, each once, in the order given.

    Raises `UsageError` for a blank one.

    >>> trim_label(["a;b ", "a;b"])
    ('a;b',)
    """
    names = tuple(dict.fromkeys(name.strip() for name in labels))
    if "" in names:
        raise UsageError("a label must not be blank")
    return names
