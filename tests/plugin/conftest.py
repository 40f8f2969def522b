"""What the tests of the engine plugin need: the tools that build it, and a node of each engine."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest
from plugin_servers import server
from servers import choosing, java
from servers.engine import AbsentError
from servers.process import Server

import plugin


@pytest.fixture(scope="session", autouse=True)
def build_tools() -> None:
    """Skip where Maven or a JDK 21 is absent; in CI that is a failure."""
    try:
        java.home(21)
        if shutil.which("mvn") is None:
            raise AbsentError("the plugin is built by Maven and `mvn` is not on the path")
    except AbsentError as absent:
        if choosing.required():
            raise
        pytest.skip(str(absent))


@pytest.fixture(scope="session")
def shared_node() -> Iterator[Callable[[str], Server]]:
    """Return a function that gives the node of an engine, by its name, with the plugin and a secret
    key; the tests of this folder share it, and each makes indices of its own.
    """
    with ExitStack() as nodes:
        yield cache(lambda name: nodes.enter_context(server(name, plugin.VERSIONS[name][0])))
