"""Plugins of OpenSearch that are published as a zip, added to a server from jars.

They are published up to 3.4.0, so the server with one is 3.4.0. The module of search pipelines is
not published for it; that of a later release runs in it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from servers import cache, maven, opensearch

VERSION = "3.4.0"
_LATER = "3.8.0"
_PIPELINES = "search-pipeline-common"


def install(plugin: str, name: str, finish: Callable[[Path], None] = lambda _: None) -> Path:
    """Add the plugin to a copy of the server, called `name` in the cache, once; return its home.

    `finish` changes the copy.
    """
    plain = opensearch.install(opensearch.Release(VERSION))
    with cache.installing(name) as home:
        if home:
            shutil.copytree(plain, home, dirs_exist_ok=True, copy_function=os.link)
            _unpack(plugin, home)
            _add_pipelines(home)
            finish(home)
    return cache.folder() / name


def _unpack(plugin: str, home: Path) -> None:
    """Unpack the plugin, without the libraries that the server has.

    Those that extend a module which is not published (workload groups, gRPC) work without it.
    """
    place = home / "plugins" / plugin
    maven.copy(f"org.opensearch.plugin:{plugin}:{VERSION}.0:zip", home)
    archive = home / f"{plugin}-{VERSION}.0.zip"
    shutil.unpack_archive(archive, place)
    archive.unlink()
    core = {opensearch.unversioned(jar) for jar in (home / "lib").glob("*.jar")}
    for jar in place.glob("*.jar"):
        if opensearch.unversioned(jar) in core:
            jar.unlink()
    modules = {module.name for module in (home / "modules").iterdir()}
    descriptor = place / "plugin-descriptor.properties"
    lines = descriptor.read_text(encoding="utf-8").splitlines()
    descriptor.write_text("\n".join(_extending(line, modules) for line in lines), encoding="utf-8")


def _extending(line: str, modules: set[str]) -> str:
    """Return a line of the descriptor, in which a plugin extends only the modules that are there.

    >>> _extending("extended.plugins=lang-painless,transport-grpc", {"lang-painless"})
    'extended.plugins=lang-painless'
    """
    name, _, value = line.partition("=")
    if name != "extended.plugins":
        return line
    names = [part for part in value.split(",") if part.partition(";")[0] in modules]
    return f"{name}={','.join(names)}"


def _add_pipelines(home: Path) -> None:
    """Add search pipelines, under the version of the server."""
    place = home / "modules" / _PIPELINES
    shutil.copytree(opensearch.install(opensearch.Release(_LATER)) / "modules" / _PIPELINES, place)
    descriptor = place / "plugin-descriptor.properties"
    text = descriptor.read_text(encoding="utf-8")
    descriptor.write_text(text.replace(_LATER, VERSION), encoding="utf-8")
