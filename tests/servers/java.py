"""The newest of the installed versions of Java."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from servers.engine import AbsentError


def home(minimum: int) -> Path:
    """Return the home of the newest JDK installed, of version `minimum` or later. Raises
    `AbsentError`.

    Looked at: JAVA_HOME, the `java` on the path with its siblings, and the usual folders of Linux
    and macOS.
    """
    versions = {place: version for place in _places() if (version := _version(place))}
    newest = max(versions, key=lambda place: (versions[place], str(place)), default=None)
    if newest is None or versions[newest] < minimum:
        seen = f"the newest here is {versions[newest]}" if newest else "none is here"
        raise AbsentError(
            f"a JDK {minimum} or later is needed and {seen}; install one, or set JAVA_HOME"
        )
    return newest


def fingerprint(place: Path) -> str:
    """Return eight hexadecimal digits that differ from one build of a JDK to another."""
    return hashlib.sha256((place / "release").read_bytes()).hexdigest()[:8]


def _places() -> Iterator[Path]:
    if chosen := os.environ.get("JAVA_HOME"):
        yield Path(chosen)
    parents = [Path("/usr/lib/jvm"), Path("/opt/java"), Path("/Library/Java/JavaVirtualMachines")]
    if java := shutil.which("java"):
        parents.insert(0, Path(java).resolve().parents[2])
    for parent in parents:
        if parent.is_dir():
            yield from (place.resolve() for place in parent.iterdir())
            yield from parent.glob("*/Contents/Home")


def _version(place: Path) -> int:
    """Return the feature version in a JDK's `release` file; 0 when the folder is no JDK."""
    release = place / "release"
    if not release.is_file() or not (place / "bin" / "java").is_file():
        return 0
    match = re.search(
        r'^JAVA_VERSION="(?:1\.)?(\d+)', release.read_text(encoding="utf-8"), re.MULTILINE
    )
    return int(match[1]) if match else 0
