"""The newest installed version of Java that a server runs on."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from servers.engine import AbsentError


def home(minimum: int, below: int = 1_000) -> Path:
    """Return the home of the newest JDK installed, of version `minimum` or later and before
    `below`. Raises `AbsentError`.

    Searched: JAVA_HOME, the `java` on the path with its siblings, and the usual folders of Linux
    and macOS.
    """
    versions = {place: _version(place) for place in _places()}
    homes = [place for place in versions if 0 < versions[place] < below]
    newest = max(homes, key=lambda place: (versions[place], str(place)), default=None)
    if newest is None or versions[newest] < minimum:
        limit = f" before {below}" if below < 1_000 else ""
        state = f"the newest here is {versions[newest]}" if newest else "none is here"
        raise AbsentError(
            f"a JDK {minimum} or later{limit} is needed and {state}; install one, or set JAVA_HOME"
        )
    return newest


def fingerprint(place: Path) -> str:
    """Return eight hexadecimal digits that differ from one build of a JDK to another."""
    return hashlib.sha256((place / "release").read_bytes()).hexdigest()[:8]


def _places() -> Iterator[Path]:
    configured = os.environ.get("JAVA_HOME")
    if configured:
        yield Path(configured)
    parents = [Path("/usr/lib/jvm"), Path("/opt/java"), Path("/Library/Java/JavaVirtualMachines")]
    java = shutil.which("java")
    if java:
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
