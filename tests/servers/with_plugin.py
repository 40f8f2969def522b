"""Engines with the plugin: a copy of the installed server, with the zip unpacked into it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from servers import cache, elasticsearch, java, opensearch
from servers.engine import AbsentError, Engine, Launch
from servers.process import Server

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

import plugin  # noqa: E402

SECRET = "0123456789abcdef" * 4
SECRETS = {"nearfold.key.legal.secret": SECRET}


def wherever_possible(plain: Engine) -> Engine:
    """Return an engine that tests share with the plugin; another, or any where the plugin cannot be
    built, as it is.
    """
    if plain not in (opensearch.ENGINE, elasticsearch.ENGINE):
        return plain
    try:
        require_tools()
    except AbsentError:
        return plain
    return engine(plain.name.lower())


def require_tools() -> None:
    """Raise `AbsentError` where Maven or a JDK 21 is absent."""
    java.home(21)
    if shutil.which("mvn") is None:
        raise AbsentError("the plugin is built by Maven and `mvn` is not on the path")


def engine(name: str, version: str | None = None) -> Engine:
    """Return an engine with the plugin and `SECRETS` in its keystore, of the version that tests use
    unless one is given.
    """
    if name == "opensearch":
        return added_to(opensearch.engine(version or opensearch.VERSION), name, version)
    return added_to(elasticsearch.engine(version or elasticsearch.VERSION), name, version)


def added_to(plain: Engine, name: str, version: str | None) -> Engine:
    """Return an engine of a version with the plugin and `SECRETS` added."""

    def launch(home: Path, folder: Path, port: int) -> Launch:
        started = plain.launch(home, folder, port)
        if not (folder / "config" / f"{name}.keystore").exists():
            for setting, secret in SECRETS.items():
                _add_secret(name, home, folder / "config", setting, secret)
        return started

    return replace(plain, install=lambda: _install(plain, name, version), launch=launch)


def has_plugin(url: str) -> bool:
    """Return whether the node at a URL has the plugin."""
    path = "_nodes/plugins?filter_path=nodes.*.plugins.name"
    with urllib.request.urlopen(f"{url}/{path}", timeout=60) as response:
        nodes = json.load(response).get("nodes", {}).values()
    return any({"name": "nearfold"} in node["plugins"] for node in nodes)


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
