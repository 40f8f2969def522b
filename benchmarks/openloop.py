"""Questions asked at times that do not depend on the answers, and how long each was waited for.

A latency counts from the time at which the question was due, so a stall is paid by every question
that it holds up.
"""

from __future__ import annotations

import random
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

THREADS = 16


class Histogram:
    """Latencies in classes of three significant digits, as many as there are, in little memory;
    safe to share by threads.
    """

    def __init__(self) -> None:
        self._lock, self._counts = threading.Lock(), Counter[float]()

    def add(self, seconds: float) -> None:
        with self._lock:
            self._counts[float(f"{seconds:.3g}")] += 1

    def quantile(self, share: float) -> float:
        """The least latency that this share of all does not exceed; 0 when there are none."""
        remaining = share * self._counts.total()
        for seconds in sorted(self._counts):
            if (remaining := remaining - self._counts[seconds]) <= 1e-9:
                return seconds
        return 0.0

    @property
    def total(self) -> int:
        return self._counts.total()


@dataclass
class Asking:
    """One kind of question. `ask` is given the number of the question; what it raises is counted,
    by the kind of error.
    """

    name: str
    rate: float
    ask: Callable[[int], object]
    found: Histogram = field(default_factory=Histogram)
    errors: Counter[str] = field(default_factory=Counter)
    asked: int = 0

    @property
    def waiting(self) -> int:
        """Questions that were asked and have no answer yet."""
        return self.asked - self.found.total - self.errors.total()

    def at(self, due: float, number: int) -> None:
        try:
            self.ask(number)
        except Exception as error:
            self.errors[f"{type(error).__name__}: {error}"[:200]] += 1
        else:
            self.found.add(time.monotonic() - due)


def arrivals(rate: float, seconds: float, seed: int) -> Iterator[float]:
    """Seconds from the beginning at which a question is to be asked: a Poisson process."""
    chance, at = random.Random(seed), 0.0
    while rate and (at := at + chance.expovariate(rate)) < seconds:
        yield at


def run(kinds: list[Asking], seconds: float, watch: Callable[[], None]) -> float:
    """Ask all kinds at once; `watch` is called once a second. Returns the seconds until the last
    answer.
    """
    start_time = time.monotonic()
    with ThreadPoolExecutor(THREADS) as pool:
        asking = [
            threading.Thread(target=_ask, args=(kind, seconds, seed, start_time, pool))
            for seed, kind in enumerate(kinds)
        ]
        for thread in asking:
            thread.start()
        while any(thread.is_alive() for thread in asking) or any(kind.waiting for kind in kinds):
            watch()
            time.sleep(min(1.0, seconds / 20))
    return time.monotonic() - start_time


def _ask(
    kind: Asking, seconds: float, seed: int, start_time: float, pool: ThreadPoolExecutor
) -> None:
    for number, arrival in enumerate(arrivals(kind.rate, seconds, seed)):
        time.sleep(max(0.0, start_time + arrival - time.monotonic()))
        kind.asked += 1
        pool.submit(kind.at, start_time + arrival, number)


def thirds(samples: list[float]) -> str:
    """The medians of the first, the second and the last third."""
    width = max(1, len(samples) // 3)
    parts = (samples[:width], samples[width : 2 * width] or samples, samples[-width:])
    return ", ".join(f"{statistics.median(part):,.0f}" for part in parts)
