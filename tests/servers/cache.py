"""The cache of installed servers: outside the checkout, filled once, readable for the user that
runs them.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from servers.engine import AbsentError


def folder() -> Path:
    """Return the cache folder: `NEARFOLD_SERVERS`, or the user's cache; for root the system's, as
    root's home is closed to others.
    """
    configured = os.environ.get("NEARFOLD_SERVERS")
    if configured:
        return reachable(Path(configured).resolve())
    if os.geteuid() == 0:
        return reachable(Path("/var/cache/nearfold/servers"))
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "nearfold" / "servers"


@contextmanager
def installing(name: str) -> Iterator[Path | None]:
    """Yield an empty folder to fill, or None when `name` is in the cache already; a filled folder
    appears all at once.

    Several processes may ask at the same time: one fills, the others wait. A failure leaves nothing
    behind.
    """
    root = folder()
    root.mkdir(parents=True, exist_ok=True)
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (root / name).exists():
            yield None
            return
        fresh = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=root))
        try:
            yield fresh
            _open_to_all(fresh)
            fresh.rename(root / name)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def reachable(path: Path) -> Path:
    """Raise `AbsentError` when root keeps the cache where the unprivileged user that runs the
    servers cannot go.
    """
    if os.geteuid() != 0:
        return path
    closed = [
        folder_above
        for folder_above in [path, *path.parents]
        if folder_above.exists() and not folder_above.stat().st_mode & stat.S_IXOTH
    ]
    if closed:
        raise AbsentError(
            f"{closed[0]} is closed to other users, but the servers refuse to run as root and are "
            "run by another user; set NEARFOLD_SERVERS to a folder that every user can enter, for "
            "example /var/tmp/nearfold"
        )
    return path


def _open_to_all(root: Path) -> None:
    for path in [root, *root.rglob("*")]:
        path.chmod(path.stat().st_mode | (0o755 if path.is_dir() else 0o444))
