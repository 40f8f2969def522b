"""The choice of a server for a test, and the servers of one test session: started in the
background, ended together.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import NoReturn, Protocol, TypeVar

from servers import containers, elasticsearch, opensearch, secured, tika, with_plugin
from servers.engine import AbsentError, Engine
from servers.process import Server

IS_SECURED = os.environ.get("NEARFOLD_OPENSEARCH_SECURITY") == "1"  # of the version with a plugin
_OPENSEARCH = secured.OPEN if IS_SECURED else opensearch.ENGINE
ENGINES = {
    engine.name.lower(): engine for engine in (_OPENSEARCH, elasticsearch.ENGINE, tika.ENGINE)
}


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that answers, and the function that ends it; a server of the environment is left
    running.
    """

    url: str
    close: Callable[[], None]


def obtain(engine: Engine) -> RunningServer:
    """Return a server from the environment, from a container or from jars, in this order; one from
    jars has the plugin, where it can be built.

    Raises `AbsentError` when none is available, `StartError` when one does not start.
    """
    url = os.environ.get(engine.variable)
    if url:
        return RunningServer(url.rstrip("/"), lambda: None)
    if containers.engine_answers():
        return RunningServer(*containers.start(engine))
    return from_jars(with_plugin.wherever_possible(engine))


def from_jars(engine: Engine) -> RunningServer:
    """Return a new server from jars, whatever others there are."""
    server = Server(engine)
    try:
        server.start()
    except BaseException:
        server.close()
        raise
    return RunningServer(server.url, server.close)


def required() -> bool:
    """Return whether an absent engine is a failure and no reason to skip: in CI, or when
    `NEARFOLD_REQUIRE_ENGINES` is 1.
    """
    return os.environ.get("CI") == "true" or os.environ.get("NEARFOLD_REQUIRE_ENGINES") == "1"


class Session:
    """The servers of one test session."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=len(ENGINES), thread_name_prefix="servers")
        self._running: dict[str, Future[RunningServer]] = {}

    def begin(self, engine: Engine) -> None:
        """Start a server in the background, if that has not been done."""
        if engine.name not in self._running:
            self._running[engine.name] = self._pool.submit(obtain, engine)

    def url(self, engine: Engine) -> str:
        """Wait for a server and return its URL. Raises the error of `obtain`, every time."""
        self.begin(engine)
        return self._running[engine.name].result().url

    def close(self) -> None:
        """End the servers that were started; one that is still starting is waited for and then
        ended.
        """
        for future in self._running.values():
            if not future.cancel() and future.exception() is None:
                future.result().close()
        self._pool.shutdown()


def leave_out(reason: str) -> NoReturn:
    """Skip a test for something that is absent; fail it where everything is required."""
    import pytest

    (pytest.fail if required() else pytest.skip)(reason)


class Startable(Protocol):
    """A server or a cluster."""

    def start(self) -> None:
        """Return when it answers."""

    def close(self) -> None:
        """End it."""


S = TypeVar("S", bound=Startable)


@contextmanager
def running(make: Callable[[], S]) -> Iterator[S]:
    """Run what `make` returns for a test, which is left out where that is absent."""
    try:
        server = make()
    except AbsentError as error:
        leave_out(str(error))
    with closing(server):
        server.start()
        yield server
