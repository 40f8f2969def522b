"""The properties of an engine that are needed to start it in any of the ways."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

QUICK = "-XX:TieredStopAtLevel=1"  # of Java: compile soon and little, as suits tests


class AbsentError(Exception):
    """Raised when an engine is not available; the message says what is missing and what to install
    or set.
    """


@dataclass(frozen=True, slots=True)
class Launch:
    """A command that runs a server in the foreground, with its environment."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Engine:
    """One kind of server.

    `install` puts the server into the cache and returns its home; it raises `AbsentError` when it
    cannot. `launch` writes the configuration into a data folder that is the server's own and
    returns the command. `ready` is a path that answers 200 once the server can be used, not merely
    once its port is open; `tls` says that it is asked by https. A server that `refuses_root` runs
    as `nobody` when root starts it.
    """

    name: str
    variable: str
    image: str
    container_port: int
    container_environment: Mapping[str, str]
    ready: str
    install: Callable[[], Path]
    launch: Callable[[Path, Path, int], Launch]
    tls: bool = False
    refuses_root: bool = True

    def for_long_runs(self) -> Engine:
        """Return this engine with all of Java's compiler, which takes minutes to pay for itself."""

        def launch(home: Path, folder: Path, port: int) -> Launch:
            quick = self.launch(home, folder, port)
            argv = tuple(word for word in quick.argv if word != QUICK)
            variables = {name: text.replace(QUICK, "") for name, text in quick.environment.items()}
            return Launch(argv, variables)

        return replace(self, launch=launch)
