"""A server as a child process: started, waited for, killed, paused, and restarted on the same data
and port.
"""

from __future__ import annotations

import http.client
import os
import pwd
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from servers import cache
from servers.engine import Engine
from servers.settings import free_port

STARTUP = 240
_SUPERVISOR = Path(__file__).with_name("supervisor.py")


class StartError(Exception):
    """Raised when an installed server does not start; the message ends with the last lines of its
    log.
    """


class Server:
    """A server with its port and data folder, both fixed until `close`.

    `detached` servers outlive this process and end when their supervisor, `supervisor_pid`, gets
    SIGTERM.
    """

    def __init__(self, engine: Engine, *, detached: bool = False) -> None:
        self.engine = engine
        self.port = free_port()
        self.url = f"http{'s' if engine.tls else ''}://127.0.0.1:{self.port}"
        self._home = engine.install()
        self._parent = 0 if detached else os.getpid()
        temporary = cache.reachable(Path(tempfile.gettempdir()).resolve())
        self.folder = Path(
            tempfile.mkdtemp(prefix=f"nearfold-{engine.name.lower()}-", dir=temporary)
        )
        self._supervisor: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and return once it can be used; nothing is done when it runs.

        Raises `StartError` when it ends early or is not ready within `STARTUP` seconds.
        """
        if self._supervisor is not None and self._supervisor.poll() is None:
            return
        launch = self.engine.launch(self._home, self.folder, self.port)
        user = _unprivileged_user() if self.engine.refuses_root else None
        as_user = [] if user is None else ["--user", str(user)]
        if user is not None:
            _hand_over(self.folder, user)
        watch = ["--folder", str(self.folder), "--parent", str(self._parent), *as_user]
        with (self.folder / "server.log").open("ab") as log:
            self._supervisor = subprocess.Popen(
                [sys.executable, str(_SUPERVISOR), *watch, "--", *launch.argv],
                env={**os.environ, "HOME": str(self.folder), **launch.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._wait_until_ready(self._supervisor)

    @property
    def variable(self) -> str:
        """The environment variable with the URL of such a server."""
        return self.engine.variable

    @property
    def supervisor_pid(self) -> int:
        """The process to send SIGTERM to. Raises `StartError` before the first start."""
        if self._supervisor is None:
            raise StartError(f"{self.engine.name} was not started")
        return self._supervisor.pid

    @property
    def pid(self) -> int:
        """The server's own process id."""
        return int((self.folder / "server.pid").read_text(encoding="ascii"))

    def kill(self) -> None:
        """End the server at once, as a power failure would; its data stay."""
        self._signal_and_wait(signal.SIGKILL)

    def stop(self) -> None:
        """Let the server shut down; its data stay."""
        self._signal_and_wait(signal.SIGTERM)

    def restart(self) -> None:
        """Kill the server and start it again on the same data and port."""
        self.kill()
        self.start()

    def pause(self) -> None:
        """Stop the server's process: connections are accepted, nothing is answered."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Continue a paused server."""
        os.kill(self.pid, signal.SIGCONT)

    def close(self) -> None:
        """End the server and remove its data; may be called more than once."""
        if self._supervisor is not None:
            self._supervisor.terminate()
            self._supervisor.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self, characters: int = 3000) -> str:
        """Return the last characters of the server's output."""
        path = self.folder / "server.log"
        if not path.exists():
            return ""
        return path.read_text(encoding="utf-8", errors="replace")[-characters:]

    def _signal_and_wait(self, number: signal.Signals) -> None:
        if self._supervisor is not None and self._supervisor.poll() is None:
            os.kill(self.pid, number)
            self._supervisor.wait()

    def _wait_until_ready(self, supervisor: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + STARTUP
        while not answers(self.port, self.engine.ready, tls=self.engine.tls):
            if supervisor.poll() is not None:
                raise StartError(f"{self.engine.name} ended while it started:\n{self.log()}")
            if time.monotonic() > deadline:
                raise StartError(
                    f"{self.engine.name} was not ready within {STARTUP} s:\n{self.log()}"
                )
            time.sleep(0.1)


def answers(port: int, path: str, *, tls: bool = False) -> bool:
    """Return whether a loopback server answers 200 to a GET within five seconds; with `tls` by
    https, with any certificate.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    if tls:
        context = ssl._create_unverified_context()
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=context)
    with closing(connection):
        try:
            connection.request("GET", path)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False


def _unprivileged_user() -> int | None:
    """Return the user that runs servers that refuse root: `nobody` when root starts them, else None
    for the same user.
    """
    return pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None


def _hand_over(folder: Path, user: int) -> None:
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, user, user, follow_symlinks=False)
