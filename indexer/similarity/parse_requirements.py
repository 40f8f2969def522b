"""The requirements of a pair as options write them: `MEASURE=VALUE`, `novelty<=N`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from indexer.errors import UsageError

LIMITS = ("novelty", "replaced")  # the requirements that are upper limits


def parse_requirements(
    texts: Sequence[str],
) -> tuple[tuple[tuple[str, float], ...], dict[str, float]]:
    """Return `MEASURE=VALUE` strings as pairs, and the least N of `NAME<=N` or `NAME=N` by name.

    A measure is at least its value, also if written `>=`; novelty and replaced are at most N.
    Raises `UsageError` for one that is not a name, a sign and a number.

    >>> parse_requirements(["resemblance=0.5", "novelty<=20"])
    ((('resemblance', 0.5),), {'novelty': 20.0})
    """
    pairs = []
    limits: dict[str, float] = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not name or math.isnan(number):
            raise UsageError(
                "a requirement is MEASURE=VALUE, for example resemblance=0.5, novelty<=N or "
                f"replaced<=N, not {text!r}"
            )
        sign = name[-1] if name[-1] in "<>" else ""
        name = name.removesuffix(sign).strip()
        if sign and (name in LIMITS) != (sign == "<"):
            raise UsageError(
                f"{text!r} cannot be required: measures are at least a value (lcs=0.9), "
                "novelty and replaced at most one (novelty<=20, replaced<=2)"
            )
        if name in LIMITS:
            limits[name] = min(number, limits.get(name, number))
        else:
            pairs.append((name, number))
    return tuple(pairs), limits
