"""The project's own virtual environment: made once, brought up to date when pyproject.toml or the
kernel changes.

Needs Python 3.10 or newer and nothing else.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ROOT / "requirements"
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / "python"


def prepared(lock: str = "core") -> Path:
    """Make `.venv` with nearfold from this folder and what requirements/LOCK.txt names; returns its
    Python.

    Does nothing when it is up to date. Every package is checked against the hashes in the lock.
    """
    stamp, state, nearfold = VENV / ".prepared", _state(lock), _state("nearfold")
    states = stamp.read_text().splitlines() if stamp.exists() else []
    if state in states:
        return PYTHON
    pip = _installed(VENV, "build", lock)
    if nearfold not in states:  # else it was installed with another lock
        editable = [*pip, "--no-deps", "--no-build-isolation", "--editable", "."]
        _run(editable, "see the messages above")
        states = [nearfold]
    stamp.write_text("".join(f"{line}\n" for line in [*states, state]))
    return PYTHON


def apart(lock: str) -> Path:
    """Make `.venv-LOCK` with what requirements/LOCK.txt names and without nearfold; returns the
    folder of its programs.
    """
    place = VENV.with_name(f"{VENV.name}-{lock}")
    stamp, state = place / ".prepared", _state(lock)
    if not stamp.exists() or stamp.read_text() != state:
        _installed(place, lock)
        stamp.write_text(state)
    return place / BIN.name


def cache_folder(name: str) -> Path:
    """Return a folder of the user's cache, which all checkouts share."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "nearfold" / name


def _installed(place: Path, *locks: str) -> list[str]:
    """Make an environment with what these locks name; how its pip installs."""
    if sys.version_info < (3, 10):  # noqa: UP036 (this runs on whatever Python there is)
        sys.exit(
            f"nearfold needs Python 3.10 or newer; this is {sys.version.split()[0]}. "
            "Run this file with a newer python3."
        )
    print(
        f"Setting up {place.name} (a minute or two the first time) ...", file=sys.stderr, flush=True
    )
    python = place / BIN.name / "python"
    if not python.exists():
        _run(
            [sys.executable, "-m", "venv", str(place)],
            "on Debian and Ubuntu: apt install python3-venv",
        )
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip.append("--no-compile")  # of one file after another
    named = [flag for name in locks for flag in ("--requirement", str(LOCKS / f"{name}.txt"))]
    _run([*pip, "--require-hashes", *named], "check the network")
    _compile(python, place / "lib")
    return pip


def _compile(python: Path, folder: Path) -> None:
    """Compile what was installed but its tests, on all processors; other syntax is left."""
    command = [str(python), "-m", "compileall", "-qq", "-j", "0", "-x", "/tests/", str(folder)]
    subprocess.run(command, check=False)


def _state(lock: str) -> str:
    """A digest of what decides the environment's content."""
    digest = hashlib.sha256(repr((sys.version, lock)).encode())
    sources = [
        ROOT / "pyproject.toml",
        ROOT / "setup.py",
        *sorted(LOCKS.glob("*.txt")),
        *sorted((ROOT / "kernel").rglob("*.rs")),
        *(ROOT / "kernel").glob("Cargo.*"),
    ]
    for source in sources:
        if source.is_file() and "target" not in source.parts:
            digest.update(source.read_bytes())
    return digest.hexdigest()


def _run(command: list[str], remedy: str) -> None:
    """Run a step quietly; what it said is shown when it fails."""
    done = subprocess.run(
        command, cwd=ROOT, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\nsetting up failed at: {' '.join(command)}\n{remedy}")
