"""Processes of commands that need not import nearfold each: forks of one process that has.

The commands of a page are hundreds of processes, and importing is most of what each takes. Here
each is still a process with arguments, environment, folder and streams of its own; a client, which
imports nothing, stands for it and passes SIGTERM on. What Python itself reads from its environment
is that of the first process.
"""

from __future__ import annotations

import array
import atexit
import gc
import importlib
import marshal
import os
import pkgutil
import select
import shlex
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from functools import cache
from pathlib import Path

import indexer

ROOT = Path(__file__).parent.parent.parent
STREAMS = (0, 1, 2)
# No command imports these; the libraries of two of them take as long as all others together.
NO_COMMAND = (
    "indexer.__main__",
    "indexer.searching.langchain",
    "indexer.searching.llama_index",
    "indexer.spark",
)
# It imports what is part of the interpreter alone: `socket`, `signal` and `json` take longer than
# all else that it does.
CLIENT = """
import marshal, posix, sys, _signal, _socket
server = _socket.socket(_socket.AF_UNIX)
server.connect(sys.argv[1])
request = marshal.dumps((sys.argv[2:], posix.environ, posix.getcwd()))
streams = b"".join(stream.to_bytes(4, sys.byteorder) for stream in (0, 1, 2))
server.sendmsg(
    [len(request).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)]
)
server.sendall(request)
process = int.from_bytes(server.recv(4), "big")
_signal.signal(_signal.SIGTERM, lambda number, _: posix.kill(process, number))
status = int.from_bytes(server.recv(4), "big", signed=True)
if status < 0:
    _signal.signal(_signal.SIGTERM, _signal.SIG_DFL)
    posix.kill(posix.getpid(), -status)
posix._exit(status)
"""


@cache
def client_command() -> list[str]:
    """Start the process that is forked, and return the command of its client."""
    folder = tempfile.TemporaryDirectory(prefix="nearfold-commands-")
    address = f"{folder.name}/socket"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    server = subprocess.Popen(
        [sys.executable, __file__],
        stdin=listener,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    listener.close()

    def close() -> None:
        server.kill()
        server.wait()
        folder.cleanup()

    atexit.register(close)
    client = Path(folder.name, "client.py")
    client.write_text(CLIENT, encoding="utf-8")
    return [sys.executable, "-I", "-S", str(client), address]


def bash_function() -> str:
    """Return the definition of `nearfold` in bash."""
    return f'nearfold() {{ {shlex.join(client_command())} "$@"; }}'


def serve() -> None:
    """Fork a process for each request, as long as the parent of this one lives."""
    _import_commands()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the status is for the client, not for here
    listener, parent = socket.socket(fileno=os.dup(0)), os.getppid()
    while os.getppid() == parent:
        if not select.select([listener], [], [], 1.0)[0]:
            continue
        client, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _answer(client)
            return
        client.close()


def _import_commands() -> None:
    """Import all modules that commands use, and what tables are printed by, so that forks find it
    done.
    """
    for module in pkgutil.walk_packages(indexer.__path__, "indexer."):
        if not module.name.startswith(NO_COMMAND):
            importlib.import_module(module.name)
    for name in ("difflib", "numpy.ma", "numpy.polynomial", "rich.table", "snowballstemmer"):
        importlib.import_module(name)
    gc.freeze()  # else each fork copies the pages that its garbage collector marks


def _answer(client: socket.socket) -> None:
    """Run the command in a fork, and send its exit status, negative for a signal."""
    header, rights, *_ = client.recvmsg(4, socket.CMSG_SPACE(len(STREAMS) * 4))
    streams = array.array("i")
    streams.frombytes(rights[0][2])
    request = client.makefile("rb").read(struct.unpack(">I", header)[0])
    process = os.fork()
    if process == 0:
        client.close()
        _run(*marshal.loads(request), list(streams))
        return
    for stream in streams:
        os.close(stream)
    client.sendall(process.to_bytes(4, "big"))
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    client.sendall(status.to_bytes(4, "big", signed=True))
    os._exit(0)


def _run(
    arguments: list[str], environment: dict[bytes, bytes], folder: str, streams: list[int]
) -> None:
    for stream, number in zip(streams, STREAMS, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environb.update(environment)
    time.tzset()
    sys.argv = ["nearfold", *arguments]
    from indexer.cli.main import main

    try:
        main()
    except SystemExit as end:
        _exit(end.code)


def _exit(status: str | int | None) -> None:
    """End as Python does, without the tenth of a second in which it takes all modules apart."""
    if not isinstance(status, int):
        raise SystemExit(status)
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    serve()
