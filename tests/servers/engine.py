"""What has to be known of an engine to start it, whichever way it is started."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


class AbsentError(Exception):
    """An engine cannot be had here; the message says what is missing and what to install or set."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A command that runs a server in the foreground, and what it needs in its environment."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Engine:
    """One kind of server.

    `install` puts the server into the cache and returns its home; it raises `AbsentError` when it
    cannot. `launch` writes the configuration into a data folder that is the server's own and
    returns the command. `ready` is a path that answers 200 once the server can be used, not merely
    once its port is open.
    """

    name: str
    variable: str
    image: str
    container_port: int
    container_environment: Mapping[str, str]
    ready: str
    install: Callable[[], Path]
    launch: Callable[[Path, Path, int], Launch]
