"""What benchmarks share: arguments, tables, clocks, processes and servers.

Importing this module makes `indexer` and the modules of `tests` importable from a checkout, and
`arguments` does so for the processes that are started, unless another nearfold is in front of them.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
sys.path += [str(ROOT), str(ROOT / "tests")]


def arguments(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser of the command line whose help is the docstring of a benchmark."""
    os.environ.setdefault("PYTHONPATH", str(ROOT))
    kind = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(description=doc, formatter_class=kind)


def sizes(text: str) -> list[int]:
    """Return the numbers of a list such as "10000,100000"."""
    return [int(size) for size in text.split(",")]


def row(cells: Sequence[str]) -> str:
    """Return a row of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def head(cells: Sequence[str]) -> Iterator[str]:
    """Yield the two lines above the rows of a table in Markdown."""
    yield row(cells)
    yield row(["---", *("---:" for _ in cells[1:])])


def thousandths(value: float | None) -> str:
    """Return a fraction with three digits, as ".812"."""
    return "–" if value is None else f"{value:.3f}".removeprefix("0")


def quantile(values: Sequence[float], fraction: float) -> float:
    """Return the value that so large a fraction of the values does not exceed."""
    return sorted(values)[min(int(fraction * len(values)), len(values) - 1)]


def seconds_of(work: Callable[[], object]) -> float:
    """Return the seconds that a piece of work takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def machine() -> str:
    """Return the processors and the memory that the system reports."""
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    processors = f"{os.cpu_count()} processors ({platform.machine()})"
    return f"{processors}, {gigabytes:.0f} GB, Python {platform.python_version()}"


def memory_status(line: str, pid: int | str = "self") -> float:
    """Return a figure of a process in MB (Linux): `VmHWM` is its peak, `RssAnon` its own memory."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.partition(f"{line}:")[2].split()[0]) / 1024


class Watch:
    """Resources of a block of work: `seconds`, `busy` (processor), and peaks of memory above those
    before it, in MB.

    `own` is anonymous memory, sampled every hundredth of a second; `resident` counts mapped files
    too, which the system may take back at any time.
    """

    def __enter__(self) -> Watch:
        Path("/proc/self/clear_refs").write_text("5")  # from here on the peak is counted anew
        self._before, self._own_before = memory_status("VmRSS"), memory_status("RssAnon")
        self.own = self.resident = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()
        self._started, self._busy = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._started
        self.busy = time.process_time() - self._busy
        self._stop.set()
        self._thread.join()
        self.resident = memory_status("VmHWM") - self._before

    def _sample(self) -> None:
        while not self._stop.wait(0.01):
            self.own = max(self.own, memory_status("RssAnon") - self._own_before)


@dataclass(frozen=True)
class Usage:
    """Seconds, processor seconds and the peak memory of a process and its children, in MB."""

    seconds: float
    busy: float
    megabytes: float


def run_python(words: Sequence[str], checkout: Path = ROOT) -> Usage:
    """Run Python in a checkout; modules may be compiled, as those of an installed package are."""
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *words], cwd=checkout, env=environment, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(words)} ended with {process.returncode}")
    return Usage(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def merge_segments(store: Any, index: str) -> int:
    """Return the bytes of an index in one segment, without the versions that were replaced.

    The engine keeps these until it has told its copies, which takes it half a minute.
    """
    call = partial(store.index.requests.call, seconds=900)
    size = before = 0
    for _ in range(12):
        call("POST", f"{index}/_forcemerge", None, {"max_num_segments": "1"})
        call("POST", f"{index}/_flush")
        call("POST", f"{index}/_refresh")
        stats = call("GET", f"{index}/_stats/docs,store")["_all"]["primaries"]
        size = stats["store"]["size_in_bytes"]
        if size == before and not stats["docs"]["deleted"]:
            break
        before = size
        time.sleep(10)
    return size


@contextmanager
def serve(url: str) -> Iterator[tuple[str, int]]:
    """Run `nearfold serve`; yield its host and port, and its process id."""
    command = [sys.executable, "-m", "indexer", "serve", "--port", "0", "--store", url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            site = process.stdout.readline().split(" at ")[1].split()[0]
            yield urlsplit(site).netloc, process.pid
        finally:
            process.terminate()


@contextmanager
def engine(url: str | None, name: str = "opensearch", heap: str | None = None) -> Iterator[str]:
    """Yield the URL of a server: the given one, or one that is started as the tests start theirs.

    With `heap` it is as large as that, and compiled as in production.
    """
    if url:
        yield url.rstrip("/")
        return
    from servers import elasticsearch, opensearch
    from servers.process import Server

    kind = {"opensearch": opensearch, "elasticsearch": elasticsearch}[name].ENGINE

    def launch(home: Path, folder: Path, port: int) -> object:
        quick = kind.launch(home, folder, port)
        java, *rest = quick.argv
        of_tests = ("-Xms", "-Xmx", "-XX:SharedArchiveFile")
        kept = [word for word in rest if not word.startswith(of_tests)]
        return replace(quick, argv=(java, f"-Xms{heap}", f"-Xmx{heap}", *kept))

    server = Server(replace(kind, launch=launch).for_long_runs() if heap else kind)
    try:
        server.start()
        yield server.url
    finally:
        server.close()
