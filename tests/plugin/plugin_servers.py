"""Engines with the plugin: a copy of the installed server, with the zip unpacked into it."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]

import plugin  # noqa: E402
from servers import cache, elasticsearch, opensearch  # noqa: E402
from servers.engine import Engine  # noqa: E402
from servers.process import Server  # noqa: E402


def engine(name: str, version: str | None = None) -> Engine:
    """Return an engine with the plugin, of the version that tests use unless one is given."""
    if name == "opensearch":
        plain = opensearch.engine(version or opensearch.VERSION)
    else:
        plain = elasticsearch.engine(version or elasticsearch.VERSION)
    return replace(plain, install=lambda: _install(plain, name, version))


@contextmanager
def server(name: str, version: str | None = None, log: bool = False) -> Iterator[Server]:
    """Run a server with the plugin; with `log`, its output is printed at the end."""
    running = Server(engine(name, version))
    try:
        running.start()
        yield running
    finally:
        if log:
            sys.stderr.write(running.log(20_000))
        running.close()


def _install(plain: Engine, name: str, version: str | None) -> Path:
    home = plain.install()
    archive = plugin.archive(name, version)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()[:12]
    copy = f"{home.name}-nearfold-{digest}"
    with cache.installing(copy) as fresh:
        if fresh:
            shutil.copytree(home, fresh, dirs_exist_ok=True, copy_function=os.link)
            shutil.unpack_archive(archive, fresh / "plugins" / "nearfold")
    return cache.folder() / copy
