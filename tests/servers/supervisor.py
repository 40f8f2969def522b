"""Run one server, and end it when the process that started it ends in any way.

    supervisor.py --folder DATA [--parent PID] [--user UID] -- COMMAND...

The server ends, and its data folder goes, when this process gets SIGTERM or SIGINT, or when it is
no longer a child of PID. When the server ends by itself the folder is kept, so that it can be
started again. Its pid is in DATA/server.pid. It prints where this process does.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_LOOK_EVERY = 0.1


def main() -> int:
    """Read the command line, run the server and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument(
        "--parent", type=int, default=0, help="0: nobody's child, runs until it gets a signal"
    )
    parser.add_argument("--user", type=int, help="the user that runs the server, by number")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _leave)
    server = _start(arguments.command, arguments.folder, arguments.user)
    try:
        code = _watch(server, arguments.parent)
    except SystemExit:
        _end(server)
        shutil.rmtree(arguments.folder, ignore_errors=True)
        raise
    _end(server)
    return code


def _start(command: list[str], folder: Path, user: int | None) -> subprocess.Popen[bytes]:
    server = subprocess.Popen(
        command,
        cwd=folder,
        start_new_session=True,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        preexec_fn=_die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 (one thread)
    )
    (folder / "server.pid").write_text(str(server.pid), encoding="ascii")
    return server


def _die_with_parent() -> None:
    """Ask the kernel to kill this process when the supervisor is killed; runs after the change of
    user, which resets it.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _watch(server: subprocess.Popen[bytes], parent: int) -> int:
    """Wait for the server to end; return as soon as the parent is another process."""
    while server.poll() is None:
        if parent and os.getppid() != parent:
            sys.exit(0)
        time.sleep(_LOOK_EVERY)
    return int(server.returncode)


def _end(server: subprocess.Popen[bytes]) -> None:
    """Kill the rest of the server's process group: its data are discarded, so there is nothing to
    save.
    """
    try:
        os.killpg(server.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    server.wait()


def _leave(*_: object) -> None:
    sys.exit(0)


if __name__ == "__main__":
    sys.exit(main())
