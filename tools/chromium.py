"""Find the system's Chromium, for tests and screenshots of pages.

It is searched on PATH, or named by NEARFOLD_TEST_CHROMIUM. If there is none, root on Debian or
Ubuntu installs it.
"""

from __future__ import annotations

import os
import shutil
import subprocess

VARIABLE = "NEARFOLD_TEST_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
REMEDY = (
    f"install Chromium (on Debian: apt-get install chromium), or set {VARIABLE} to the path of one"
)


def find() -> str | None:
    """Return the path of a Chromium, None if there is none."""
    paths = (shutil.which(name) for name in NAMES)
    return os.environ.get(VARIABLE) or next(filter(None, paths), None)


def ensure() -> str | None:
    """Return the path of a Chromium, installed first if needed and possible.

    Installing needs root, apt-get and a package of that name.
    """
    if (path := find()) or os.name != "posix" or os.geteuid() != 0 or not shutil.which("apt-get"):
        return path
    print("Installing Chromium for the tests of the pages ...", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update", "-q"],
        ["apt-get", "install", "-q", "-y", "--no-install-recommends", "chromium"],
    ):
        if subprocess.run(command, env=environment, check=False, capture_output=True).returncode:
            break
    return find()


def arguments() -> list[str]:
    """Return its options: no sandbox for root, and no requests of its own."""
    plain = [
        "--disable-background-networking",
        "--disable-component-update",
        "--no-default-browser-check",
        "--no-first-run",
    ]
    return [*plain, "--no-sandbox"] if os.name == "posix" and os.geteuid() == 0 else plain
