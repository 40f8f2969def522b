"""Files that stores and journals live in: made for the same readers, given their name durably,
moved aside when damaged.
"""

from __future__ import annotations

import os
from pathlib import Path


def move_aside(path: str) -> str:
    """Rename a file that cannot be read, and its log, to FILE.damaged, FILE.damaged.2 and so on;
    returns the first free one.
    """
    aside, number = f"{path}.damaged", 1
    while Path(aside).exists():
        number += 1
        aside = f"{path}.damaged.{number}"
    os.replace(path, aside)  # noqa: PTH105
    if (log := Path(f"{path}-wal")).exists():
        os.replace(log, f"{aside}-wal")  # noqa: PTH105
    Path(f"{path}-shm").unlink(missing_ok=True)
    return aside


def make_private(new: Path, like: Path) -> None:
    """Make an empty file that nobody may use who may not use the other one. Raises
    `FileExistsError`.
    """
    os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, like.stat().st_mode & 0o666))


def rename_durably(half: str, target: str) -> None:
    """Give a finished file its name, in place of an earlier one: after a loss of power there is the
    one or the other, whole.
    """
    with Path(half).open("rb+") as written:
        os.fsync(written.fileno())
    os.replace(half, target)  # noqa: PTH105 - as everywhere beside SQLite, paths are text
    if os.name == "posix":  # elsewhere a folder cannot be synced
        folder = os.open(Path(target).absolute().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
