"""The machine of a benchmark, and an OpenSearch for it that is as large and as compiled as in production."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from servers.engine import Launch
from servers.opensearch import ENGINE
from servers.process import Server

HEAP = "2g"
_TESTS_ONLY = ("-Xms", "-Xmx", "-XX:TieredStopAtLevel", "-XX:SharedArchiveFile")


@contextmanager
def server(url: str | None) -> Iterator[str]:
    """The URL of a server; one that is started here ends with the block."""
    if url:
        yield url.rstrip("/")
        return
    started = Server(replace(ENGINE, launch=launch))
    try:
        started.start()
        yield started.url
    finally:
        started.close()


def launch(home: Path, folder: Path, port: int) -> Launch:
    """As for tests, with a larger heap and the whole compiler."""
    quick = ENGINE.launch(home, folder, port)
    java, *rest = quick.argv
    kept = [word for word in rest if not word.startswith(_TESTS_ONLY)]
    return replace(quick, argv=(java, f"-Xms{HEAP}", f"-Xmx{HEAP}", *kept))


def machine() -> str:
    """Processors and memory, as the system tells."""
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} processors ({platform.machine()}), {gigabytes:.0f} GB, Python {platform.python_version()}"
