"""One set of servers for several pytest processes: the process that starts the others starts the
servers too, when one of them asks through files in a folder.
"""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

from servers.choosing import ENGINES, Session
from servers.engine import AbsentError, Engine
from servers.process import StartError

POLL = 0.05
LONGEST = 600.0


class Broker:
    """A watcher that starts a server when a file `NAME.wanted` appears, and writes `NAME.json` when
    it answers.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._session = Session()
        self._is_over = threading.Event()
        self._waiters: list[threading.Thread] = []
        self._watcher = threading.Thread(target=self._watch, name="servers", daemon=True)
        self._watcher.start()

    def close(self) -> None:
        """End the servers; one that is still starting is waited for and then ended."""
        self._is_over.set()
        self._watcher.join()
        for waiter in self._waiters:
            waiter.join()
        self._session.close()

    def _watch(self) -> None:
        started: set[str] = set()
        while not self._is_over.wait(POLL):
            names = {path.stem for path in self.folder.glob("*.wanted")}
            for name in sorted(names - started):
                started.add(name)
                waiter = threading.Thread(target=self._answer, args=(name,), daemon=True)
                waiter.start()
                self._waiters.append(waiter)

    def _answer(self, name: str) -> None:
        try:
            answer = {"url": self._session.url(ENGINES[name])}
        except AbsentError as error:
            answer = {"absent": str(error)}
        except Exception as error:
            answer = {"failed": str(error)}
        draft = self.folder / f"{name}.draft"
        draft.write_text(json.dumps(answer), encoding="utf-8")
        draft.rename(self.folder / f"{name}.json")


class Client:
    """A client of the broker in another process, with the methods of `choosing.Session`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def begin(self, engine: Engine) -> None:
        """Ask for a server without waiting for it."""
        (self._folder / f"{engine.name.lower()}.wanted").touch()

    def url(self, engine: Engine) -> str:
        """Wait for a server and return its URL. Raises `AbsentError` or `StartError`, each time."""
        self.begin(engine)
        path = self._folder / f"{engine.name.lower()}.json"
        end = time.monotonic() + LONGEST
        while not path.exists():
            if time.monotonic() > end:
                raise StartError(f"no {engine.name} within {LONGEST:.0f} s")
            time.sleep(POLL)
        answer = json.loads(path.read_text(encoding="utf-8"))
        if "absent" in answer:
            raise AbsentError(answer["absent"])
        if "failed" in answer:
            raise StartError(answer["failed"])
        return str(answer["url"])

    def close(self) -> None:
        """Leave the servers to the process that started them."""
