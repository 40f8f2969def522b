"""The folder in which nearfold keeps what belongs to a user and to no file of theirs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from indexer.errors import UsageError


def state_folder() -> Path:
    """Return the folder for state of the user: `nearfold` in XDG_STATE_HOME, or its default."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "nearfold"


# Files of stores and journals: private creation, durable renaming, moving damaged ones away.


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
    os.replace(half, target)  # noqa: PTH105 - as in all code around SQLite, paths are text
    if os.name == "posix":  # elsewhere a folder cannot be synced
        folder = os.open(Path(target).absolute().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


# Output files that appear whole or not at all, checked before the work for them starts.


def check_output_path(out: Path, option: str = "--out", *, replace: bool) -> None:
    """Raise `UsageError` when `write_whole` could not write there now, or would replace a file
    without `replace`; leaves nothing behind.

    `option` is the option that named the file.
    """
    try:
        if is_special(out):
            out.open("ab").close()
            return
        if out.is_dir():
            raise IsADirectoryError(None, "it is a folder")
        part = _part(out)
        part.open("wb").close()
        part.unlink()
    except (OSError, ValueError) as error:
        raise write_error(out, option, error) from error
    if not replace:
        check_new(out, option)


def check_new(out: Path, option: str = "--out") -> None:
    """Raise `UsageError` where something is already."""
    if os.path.lexists(out):
        raise UsageError(
            f"{out} exists; give {option} another name, or --replace to replace that file"
        )


def check_not_read(out: Path, inputs: Iterable[str], option: str = "--out") -> None:
    """Raise `UsageError` where `out` is one of the files that are read, or lies in a folder of
    them.
    """
    if not out.exists() or is_special(out):
        return
    path = out.resolve()
    for name in inputs:
        source = Path(name).resolve()
        if path == source or source in path.parents:
            raise UsageError(f"{option} {out} is among the files that are read; name another file")


@contextmanager
def write_whole(out: Path, option: str = "--out") -> Iterator[Path]:
    """Yield a path to write to, which replaces `out` when all is written. Raises `UsageError` when
    it cannot be written.

    An existing file stays until then. A link, a device or a pipe, such as /dev/stdout, is written
    to directly.
    """
    part = out if is_special(out) else _part(out)
    try:
        yield part
        if part is not out:
            part.replace(out)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise write_error(out, option, error) from error
    finally:
        if part is not out:
            part.unlink(missing_ok=True)


def folder_at(out: Path) -> Path:
    """Make the folder if it is missing, and return it. Raises `UsageError` when that fails."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot make {out}: {error.strerror or error}; choose another path for --out"
        ) from error
    return out


def _part(out: Path) -> Path:
    """Return a name next to it that no other process uses, short enough where the file's own is."""
    return out.with_name(f".{out.name[:200]}.{os.getpid()}.part")


def is_special(out: Path) -> bool:
    """Return whether the path is something that another file must not replace."""
    return out.exists() and not out.is_dir() and (out.is_symlink() or not out.is_file())


def write_error(out: Path, option: str, error: OSError | ValueError) -> UsageError:
    """Return the error for a file that cannot be written, which the user named by `option`."""
    reason = error.strerror if isinstance(error, OSError) else None
    return UsageError(f"cannot write {out}: {reason or error}; choose another path for {option}")
