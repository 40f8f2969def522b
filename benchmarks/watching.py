"""Seconds and memory of a piece of work in this process (Linux)."""

from __future__ import annotations

import threading
import time
from pathlib import Path

EVERY = 0.01


def status(line: str) -> float:
    """Return one figure of the process in MB: `VmHWM` is the most resident memory since it was
    forgotten, `RssAnon` its own now.
    """
    status_text = Path("/proc/self/status").read_text()
    return int(status_text.partition(f"{line}:")[2].split()[0]) / 1024


class Watch:
    """Resources of a block of work: `seconds`, `busy` (processor), and peaks of memory above those
    before it, in MB.

    `own` is anonymous memory, looked at every hundredth of a second; `resident` counts mapped files
    too, which the system may take back at any time.
    """

    def __enter__(self) -> Watch:
        Path("/proc/self/clear_refs").write_text("5")
        self._before, self._own_before = status("VmRSS"), status("RssAnon")
        self.own = self.resident = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        self._began, self._busy = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds, self.busy = (
            time.perf_counter() - self._began,
            time.process_time() - self._busy,
        )
        self._stop.set()
        self._thread.join()
        self.resident = status("VmHWM") - self._before

    def _look(self) -> None:
        while not self._stop.wait(EVERY):
            self.own = max(self.own, status("RssAnon") - self._own_before)
