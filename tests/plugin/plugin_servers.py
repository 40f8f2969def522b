"""Engines with the plugin: a copy of the installed server, with the zip unpacked into it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]

from servers import cache, elasticsearch, java, opensearch  # noqa: E402
from servers.engine import Engine, Launch  # noqa: E402
from servers.process import Server  # noqa: E402

import plugin  # noqa: E402

SECRET = "0123456789abcdef" * 4
SECRETS = {"nearfold.key.legal.secret": SECRET}


def engine(name: str, version: str | None = None) -> Engine:
    """Return an engine with the plugin and `SECRETS` in its keystore, of the version that tests use
    unless one is given.
    """
    if name == "opensearch":
        plain = opensearch.engine(version or opensearch.VERSION)
    else:
        plain = elasticsearch.engine(version or elasticsearch.VERSION)

    def launch(home: Path, folder: Path, port: int) -> Launch:
        started = plain.launch(home, folder, port)
        if not (folder / "config" / f"{name}.keystore").exists():
            for setting, secret in SECRETS.items():
                _add_secret(name, home, folder / "config", setting, secret)
        return started

    return replace(plain, install=lambda: _install(plain, name, version), launch=launch)


@contextmanager
def server(name: str, version: str | None = None) -> Iterator[Server]:
    """Run a server with the plugin."""
    running = Server(engine(name, version))
    try:
        running.start()
        yield running
    finally:
        running.close()


def _add_secret(name: str, home: Path, config: Path, setting: str, secret: str) -> None:
    environment = {**os.environ, "ES_PATH_CONF": str(config), "ES_JAVA_HOME": str(java.home(21))}
    if name == "elasticsearch":
        tool = home / "bin/elasticsearch-keystore"
        command = ["bash", str(tool), "add", "--stdin", "--force", setting]
    else:
        program = str(Path(__file__).with_name("WriteKeystore.java"))
        arguments = [program, str(config), setting, secret]
        command = [str(java.home(21) / "bin/java"), "-cp", f"{home}/lib/*", *arguments]
    subprocess.run(command, env=environment, input=secret, text=True, check=True, timeout=120)


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
