"""Threads by the fields Message-ID, In-Reply-To and References.

The first step of the algorithm REFERENCES (RFC 5256, section 3; by Jamie Zawinski, who described it
in "message threading"): every mail links the Message-IDs that it refers to, oldest first. Messages
are not gathered by their subjects: equal subjects are no evidence that one answers another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise


def reference_parents(references: Sequence[tuple[str, Sequence[str]]]) -> dict[str, str]:
    """Return the parent of each Message-ID that has one, also of those that are only referred to.

    `references`: each message's own id and those it refers to, oldest first, the parent last. A
    message's own last reference counts more than what others say of it; of what others say the
    first counts, in the order given. A link that would close a circle is left out.

    >>> reference_parents([("<c>", ["<a>", "<b>"]), ("<b>", ["<a>"]), ("<a>", ["<c>"])])
    {'<b>': '<a>', '<c>': '<b>'}
    """
    parents: dict[str, str] = {}
    for own, line in references:
        for parent, child in pairwise(line):
            if child not in parents and child != own and not is_above(child, parent, parents):
                parents[child] = parent
        if line and not is_above(own, line[-1], parents):
            parents[own] = line[-1]
    return parents


def is_above(upper: str, lower: str, parents: Mapping[str, str]) -> bool:
    """Return whether `upper` is `lower` or one of its ancestors."""
    here: str | None = lower
    while here is not None:
        if here == upper:
            return True
        here = parents.get(here)
    return False
