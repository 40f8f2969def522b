"""Files of stores and journals: private creation, durable renaming, moving damaged ones away."""

from __future__ import annotations

import os
from pathlib import Path


def move_aside(path: str) -> str:
    """Rename a damaged file and its log to FILE.damaged, or the first free one of FILE.damaged.2
    and so on, and return that name.
    """
    target = f"{path}.damaged"
    number = 1
    while Path(target).exists():
        number += 1
        target = f"{path}.damaged.{number}"
    os.replace(path, target)  # noqa: PTH105
    log = Path(f"{path}-wal")
    if log.exists():
        os.replace(log, f"{target}-wal")  # noqa: PTH105
    Path(f"{path}-shm").unlink(missing_ok=True)
    return target


def make_private(new: Path, like: Path) -> None:
    """Make an empty file that only the users of `like` may use. Raises `FileExistsError`."""
    os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, like.stat().st_mode & 0o666))


def rename_durably(half: str, target: str) -> None:
    """Rename a finished file to `target`, replacing it: after a loss of power the old or the new
    file is there, whole.
    """
    with Path(half).open("rb+") as file:
        os.fsync(file.fileno())
    os.replace(half, target)  # noqa: PTH105 - as everywhere beside SQLite, paths are text
    if os.name == "posix":  # elsewhere a folder cannot be synced
        folder = os.open(Path(target).absolute().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
