"""Find the system's Chromium, for tests and screenshots of pages.

It is searched on PATH, or named by NEARFOLD_TEST_CHROMIUM. Its headless shell, the same engine
without the windows around it, comes first: it takes half the processor time. Root on Debian or
Ubuntu installs the shell if there is no Chromium, or on a machine of tests (CI=true).
"""

from __future__ import annotations

import os
import shutil
import subprocess

VARIABLE = "NEARFOLD_TEST_CHROMIUM"
SHELL = "chromium-headless-shell"
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
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
    path = find()
    is_enough = path and (os.environ.get("CI") != "true" or SHELL in path or VARIABLE in os.environ)
    if is_enough or os.name != "posix" or os.geteuid() != 0 or not shutil.which("apt-get"):
        return path
    print("Installing Chromium for the tests of the pages ...", flush=True)
    if not _apt("install", SHELL):
        _apt("update")
        if not _apt("install", SHELL):
            _apt("install", "chromium")
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


def _apt(step: str, *packages: str) -> bool:
    """Run a step of apt-get; returns whether it succeeded."""
    command = [
        "apt-get",
        step,
        "-q",
        "-y",
        *("--no-install-recommends" for _ in packages),
        *packages,
    ]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return not subprocess.run(command, env=environment, check=False, capture_output=True).returncode
