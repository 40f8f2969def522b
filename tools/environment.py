"""The project's own virtual environment: made once, brought up to date when pyproject.toml or the
kernel changes.

Needs Python 3.10 or newer and nothing else.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
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
    install = _installed(VENV, "build", lock)
    if nearfold not in states:  # else it was installed with another lock
        # What the kernel needs is compiled once for all checkouts.
        os.environ.setdefault("CARGO_TARGET_DIR", str(cache_folder("kernel")))
        install("--no-deps", "--no-build-isolation", "--editable", ".")
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


def _installed(place: Path, *locks: str) -> Callable[..., None]:
    """Make an environment with what these locks name; returns how to install more into it."""
    if sys.version_info < (3, 10):  # noqa: UP036 (this runs on whatever Python there is)
        sys.exit(
            f"nearfold needs Python 3.10 or newer; this is {sys.version.split()[0]}. "
            "Run this file with a newer python3."
        )
    print(
        f"Setting up {place.name} (a minute or two the first time) ...", file=sys.stderr, flush=True
    )
    _make(place)
    install = partial(_install, place / BIN.name / "python")
    named = [flag for name in locks for flag in ("--requirement", str(LOCKS / f"{name}.txt"))]
    install("--require-hashes", "--no-deps", *named)
    return install


def _make(place: Path) -> None:
    if not (place / BIN.name / "python").exists():
        venv = [sys.executable, "-m", "venv", str(place)]
        _run(venv, "on Debian and Ubuntu: apt install python3-venv")


def _install(python: Path, *arguments: str) -> None:
    """Install with uv, which takes a tenth of pip's processor time; where it cannot (another
    index is set for pip, no program for this system), with pip.
    """
    if uv := _uv():
        command = [str(uv), "pip", "install", "--quiet", "--python", str(python), *arguments]
        if not subprocess.run(command, cwd=ROOT, check=False, capture_output=True).returncode:
            return
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, "--no-compile", *arguments], "check the network")


def _uv() -> Path | None:
    """Return uv in the user's cache, installed at first by the hashes in its lock; None where it
    cannot be.
    """
    lock = LOCKS / "uv.txt"
    place = (
        cache_folder("uv")
        / hashlib.sha256(repr((sys.version, lock.read_bytes())).encode()).hexdigest()[:16]
    )
    if (place / ".prepared").exists():
        return place / BIN.name / "uv"
    _make(place)
    pip = [str(place / BIN.name / "python"), "-m", "pip", "install", "--quiet"]
    command = [*pip, "--require-hashes", "--requirement", str(lock)]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        return None
    (place / ".prepared").touch()
    return place / BIN.name / "uv"


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
