"""Wilson's score interval of a share."""

from __future__ import annotations

import math

Z95 = 1.959963984540054


def wilson(successes: float, trials: int, z: float = Z95) -> tuple[float, float]:
    """Return the Wilson score interval of a share: (low, high) in [0, 1] (Wilson, JASA 1927).

    The default z gives 95 %. No trials: (0, 1).

    >>> low, high = wilson(100, 200)
    >>> round(low, 3), round(high, 3)
    (0.431, 0.569)
    """
    if trials == 0:
        return 0.0, 1.0
    share = successes / trials
    spread = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    centre = share + z * z / (2 * trials)
    scale = 1 + z * z / trials
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
