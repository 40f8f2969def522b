"""The server that a test gets, and the servers of one test session: started in the background,
ended together.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from servers import containers, elasticsearch, opensearch, tika
from servers.engine import Engine
from servers.process import Server, StartError

ENGINES = {
    engine.name.lower(): engine for engine in (opensearch.ENGINE, elasticsearch.ENGINE, tika.ENGINE)
}


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers, and the function that ends it; a server of the environment is left
    running.
    """

    url: str
    close: Callable[[], None]


def obtain(engine: Engine) -> Running:
    """Return a server from the environment, from a container or from jars, in this order.

    Raises `AbsentError` when there is none to be had, `StartError` when there is one that does not
    come up.
    """
    if given := os.environ.get(engine.variable):
        return Running(given.rstrip("/"), lambda: None)
    if containers.engine_answers():
        return Running(*containers.start(engine))
    return from_jars(engine)


def from_jars(engine: Engine) -> Running:
    """Return a server of our own, whatever others there are."""
    server = Server(engine)
    try:
        server.start()
    except BaseException:
        server.close()
        raise
    return Running(server.url, server.close)


def required() -> bool:
    """Return whether an absent engine is a failure and no reason to skip: in CI, or when
    `NEARFOLD_REQUIRE_ENGINES` is 1.
    """
    return os.environ.get("CI") == "true" or os.environ.get("NEARFOLD_REQUIRE_ENGINES") == "1"


class Session:
    """The servers of one test session."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=len(ENGINES), thread_name_prefix="servers")
        self._running: dict[str, Future[Running]] = {}

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


__all__ = ["ENGINES", "Running", "Session", "StartError", "from_jars", "obtain", "required"]
