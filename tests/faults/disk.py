"""The disk calls of a job, recorded by strace, and the possible contents of a disk after a loss of
power.

The simulated disk keeps what was synced. Of what was written since, it keeps any part:
some writes and not others, whole or torn into sectors, later ones without earlier ones. A new name,
a removal or a renaming is kept for certain once the folder was synced.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from jobs import PROGRAM, ROOT, SECONDS, JobResult

STRACE = shutil.which("strace")
SECTOR = 512
CALLS = "openat,write,pwrite64,fsync,fdatasync,ftruncate,unlink,unlinkat,rename,renameat,renameat2"
_HEX = r"(?:\\x[0-9a-f]{2})*"
_LINE = re.compile(r"(\d+) +(?:<\.\.\. )?(\w+)(?: resumed>|\()(.*)\) += (-?\d+).*")
_FILE = re.compile(rf"\d+<({_HEX})>")
_TEXT = re.compile(rf'"({_HEX})"')


@dataclass(frozen=True)
class Event:
    """One change: `create`, `write`, `cut`, `sync`, `remove`, `rename`, `sync folder`; or `report`,
    a line of the job's log.
    """

    kind: str
    name: str
    at: int = 0
    data: bytes = b""


def run_traced(
    words: Sequence[str | Path], options: Sequence[str | Path], environment: dict[str, str]
) -> JobResult:
    """Run a job under strace, with these options of it."""
    assert STRACE
    command = [
        STRACE,
        "--seccomp-bpf",
        "-f",
        "-qq",
        "-y",
        "-e",
        "signal=none",
        *options,
        sys.executable,
        PROGRAM,
        *words,
    ]
    settings = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    completed = subprocess.run(
        command, env=settings, capture_output=True, text=True, check=False, timeout=SECONDS
    )
    return JobResult(completed.returncode, completed.stdout, completed.stderr, 0)


def read_trace(trace: Path, folder: Path, log: Path) -> list[Event]:
    """Return the changes in a folder, in order; writes into `log` are `report` events."""
    unfinished: dict[str, str] = {}
    events = []
    for line in trace.read_text(encoding="utf-8").splitlines():
        if line.endswith(" <unfinished ...>"):
            process, _, rest = line.removesuffix(" <unfinished ...>").partition(" ")
            unfinished[process] = rest.strip().partition("(")[2]
            continue
        match = _LINE.fullmatch(line)
        if match:
            process, call, arguments, result = match.groups()
            if "resumed>" in line:
                arguments = unfinished.pop(process) + arguments
            if int(result) >= 0:
                events += _events(call, arguments, int(result), folder, log)
    return events


def _events(call: str, arguments: str, result: int, folder: Path, log: Path) -> Iterator[Event]:
    texts = [bytes.fromhex(text.replace(r"\x", "")) for text in _TEXT.findall(arguments)]
    file = _FILE.match(arguments)
    names = [bytes.fromhex(file[1].replace(r"\x", ""))] if file else texts[:1]
    path = Path(os.fsdecode(b"".join(names)))
    if path == log and call == "write":
        yield Event("report", "", data=texts[0])
    elif path == folder and "sync" in call:
        yield Event("sync folder", "")
    elif path.parent == folder and not path.name.endswith("-shm"):
        # -shm is memory that processes share; the next process creates it again
        assert call != "write", f"written without an offset: {path}"
        numbers = re.findall(r", (\d+)", arguments)
        if call == "openat":
            yield from [Event("create", path.name)] if "O_CREAT" in arguments else []
            yield from [Event("cut", path.name)] if "O_TRUNC" in arguments else []
        elif call == "pwrite64":
            yield Event("write", path.name, int(numbers[-1]), texts[0][:result])
        elif call == "ftruncate":
            yield Event("cut", path.name, int(numbers[-1]))
        elif call.startswith("rename"):
            yield Event("rename", path.name, data=os.path.basename(texts[1]))  # noqa: PTH119 - bytes
        else:
            yield Event("remove" if "unlink" in call else "sync", path.name)


@dataclass
class Content:
    """A file: the bytes that are certainly on the disk, and the writes since."""

    synced: bytes = b""
    since: list[Event] = field(default_factory=list)

    def after(self, chance: random.Random, share: float) -> bytes:
        """Return the content after a loss of power: of each write since, with this probability,
        all, and sometimes a part.
        """
        data = bytearray(self.synced)
        for event in self.since:
            if chance.random() < share:
                _put(data, event, chance if 0 < share < 1 else None)
        return bytes(data)


def _put(data: bytearray, event: Event, chance: random.Random | None) -> None:
    """Apply a write, with some probability torn into sectors."""
    if event.kind == "cut":
        del data[event.at :]
        data.extend(bytes(event.at - len(data)))
        return
    torn = chance is not None and chance.random() < 0.3
    start, end = event.at, event.at + len(event.data)
    edges = [start, *range(start // SECTOR * SECTOR + SECTOR, end, SECTOR), end]
    for left, right in pairwise(edges):
        if not torn or (chance and chance.random() < 0.5):
            data.extend(bytes(max(0, right - len(data))))
            data[left:right] = event.data[left - start : right - start]


class Disk:
    """A folder on a disk that loses its power."""

    def __init__(self, folder: Path) -> None:
        self._now = {
            path.name: Content(path.read_bytes()) for path in folder.iterdir() if path.is_file()
        }
        self._certain: dict[str, Content] = dict(self._now)
        self.reported = b""

    def apply(self, event: Event) -> None:
        """Apply the next event of the job."""
        if event.kind == "report":
            self.reported += event.data
        elif event.kind == "sync folder":
            self._certain = dict(self._now)
        elif event.kind == "create":
            self._now.setdefault(event.name, Content())
        elif event.kind == "remove":
            del self._now[event.name]
        elif event.kind == "rename":
            self._now[os.fsdecode(event.data)] = self._now.pop(event.name)
        elif event.kind == "sync":
            content = self._now[event.name]
            content.synced, content.since = content.after(random.Random(0), 1.0), []
        else:
            self._now[event.name].since.append(event)

    def lose_power(self, into: Path, chance: random.Random, share: float) -> None:
        """Write the remaining files into a new folder. `share`: the part of the unsynced writes
        that arrived, 0 to 1.
        """
        into.mkdir()
        for name in sorted(self._certain.keys() | self._now.keys()):
            content = (self._now if chance.random() < share else self._certain).get(name)
            if content is not None:
                (into / name).write_bytes(content.after(chance, share))
