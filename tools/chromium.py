"""A Chromium for tests of pages and for pictures of them: that of the system.

Found on PATH or named by NEARFOLD_TEST_CHROMIUM. Where there is none and this is root on Debian or
Ubuntu, it is installed.
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


def found() -> str | None:
    """The path of a Chromium, None where there is none."""
    return os.environ.get(VARIABLE) or next(
        (path for name in NAMES if (path := shutil.which(name))), None
    )


def ensured() -> str | None:
    """`found`, after an attempt to install one where that may be done without asking: root,
    apt-get, a package of that name.
    """
    if (path := found()) or os.name != "posix" or os.geteuid() != 0 or not shutil.which("apt-get"):
        return path
    print("Installing Chromium for the tests of the pages ...", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update", "-q"],
        ["apt-get", "install", "-q", "-y", "--no-install-recommends", "chromium"],
    ):
        if subprocess.run(command, env=environment, check=False, capture_output=True).returncode:
            break
    return found()


def arguments() -> list[str]:
    """What it is started with: root has no sandbox, and nothing is asked of the network."""
    plain = [
        "--disable-background-networking",
        "--disable-component-update",
        "--no-default-browser-check",
        "--no-first-run",
    ]
    return [*plain, "--no-sandbox"] if os.name == "posix" and os.geteuid() == 0 else plain
