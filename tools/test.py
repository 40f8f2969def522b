"""Set up and run the checks: lint, types, kernel, documentation, tests with real engines.

    python3 tools/test.py [PYTEST ARGUMENT ...]          # the whole gate, as .ci/run runs it
    python3 tools/test.py --fast [PYTEST ARGUMENT ...]   # no servers, browser, Spark or long tests
    python3 tools/test.py --slow [PYTEST ARGUMENT ...]   # the tests that the gate leaves out
    python3 tools/test.py --random [...]                 # in random order; the seed is printed

Real servers are started as tests/servers describes; the review pages are tried in the Chromium that
tools/chromium.py finds. Without Java and without Docker the tests that need them are skipped with
the reason; with CI=true in the environment they fail instead. Tests run in three processes or more
(`-n 0`: in one), while types, kernel and documentation are checked; what mypy and Cargo made stays
in the user's cache for the next checkout. The temporary files of tests are in /dev/shm where there
is room, unless TMPDIR is set. NEARFOLD_ADVISORIES=1 asks a database for known vulnerabilities
(tools/audit.py).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import audit
import chromium
import rust
import subjects
from environment import ROOT, cache_folder, prepared

LINT = (("ruff", "check", "."), ("ruff", "format", "--check", "."))
FLAGS = ("--fast", "--slow", "--random")
WORKERS = str(max(3, (os.cpu_count() or 2) // 2))  # a third of the time is waiting for servers
PARALLEL = ("-n", WORKERS, "--dist", "loadscope", "--no-loadscope-reorder")
FAST_FOLDERS = ("tests/unit", "tests/contract", "tests/web", "indexer")
FAST_FILES = ("tests/test_layers.py", "tests/test_structure.py", "tests/test_public_api.py")
FAST_WORKERS = str(max(2, (os.cpu_count() or 2) // 2))  # no test waits, and each worker collects
FAST_MARKERS = "not (slow or long or engines or spark or browser)"
FAST = ("-n", FAST_WORKERS, "-m", FAST_MARKERS, *FAST_FOLDERS, *FAST_FILES)
MEMORY_DISK = Path("/dev/shm")
MAX_TEMPORARY_BYTES = 8 * 2**30
WHOLE = ("--durations", "25")
SLOW = ("-m", "slow or second_engine", "--durations", "25")


def main(arguments: list[str]) -> int:
    """Run the checks and return the exit code of the first that fails, 0 when none does."""
    is_fast = "--fast" in arguments
    extra = [argument for argument in arguments if argument not in FLAGS]
    if "--random" not in arguments:
        extra += ["-p", "no:randomly"]
    python = prepared("test")
    if not is_fast:
        chromium.ensure()
    if "--slow" in arguments:
        return _pytest(python, *SLOW, *extra)
    if code := subjects.check() or _lint(python):
        return code
    os.environ.setdefault("MYPY_CACHE_DIR", str(cache_folder("mypy")))
    types = partial(_captured, python, "-m", "mypy")
    if is_fast:
        return _together({"mypy": types}, partial(_pytest, python, *FAST, *extra))
    if os.environ.get("NEARFOLD_ADVISORIES") == "1" and (code := audit.main([])):
        return code
    site = partial(_captured, Path(sys.executable), "tools/docs.py")
    checks = {"mypy": types, "kernel": rust.check, "documentation": site}
    return _together(checks, partial(_pytest, python, *WHOLE, *extra))


def _lint(python: Path) -> int:
    return next((code for check in LINT if (code := _captured(python, "-m", *check))), 0)


def _together(checks: dict[str, Callable[[], int]], tests: Callable[[], int]) -> int:
    """Run checks, each of which takes one processor at most, while the tests run."""
    with ThreadPoolExecutor() as pool:
        runs = {name: pool.submit(check) for name, check in checks.items()}
        codes = {"tests": tests(), **{name: run.result() for name, run in runs.items()}}
    failed = [name for name, code in codes.items() if code]
    if failed:
        print(f"\nfailed: {', '.join(failed)}", flush=True)
    return next((code for code in codes.values() if code), 0)


def _captured(python: Path, *words: str) -> int:
    """Run Python, and print what it prints in one piece when it ends."""
    begin = time.monotonic()
    done = subprocess.run(
        [str(python), *words],
        cwd=ROOT,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    seconds = time.monotonic() - begin
    print(f"\n$ python {' '.join(words)}  # {seconds:.0f} s\n{done.stdout}", end="", flush=True)
    return done.returncode


def _pytest(python: Path, *arguments: str) -> int:
    return _run(python, "pytest", *PARALLEL, *arguments)


def _run(python: Path, module: str, *arguments: str) -> int:
    print(f"\n$ python -m {module} {' '.join(arguments)}", flush=True)
    command = [str(python), "-m", module, *arguments]
    with _fast_temporary_files() as environment:
        # Hundreds of commands run as processes: without byte code each would compile the package.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


@contextlib.contextmanager
def _fast_temporary_files() -> Iterator[dict[str, str]]:
    """Yield an environment whose temporary files are in memory, where the system has room for them.

    The tests make thousands of small stores, each of which waits for the disk at every commit.
    """
    if "TMPDIR" in os.environ or not _has_room(MEMORY_DISK):
        yield dict(os.environ)
        return
    with tempfile.TemporaryDirectory(prefix="nearfold-tests-", dir=MEMORY_DISK) as folder:
        Path(folder).chmod(0o1777)  # as /tmp is: some tests change their user
        yield {**os.environ, "TMPDIR": folder}


def _has_room(folder: Path) -> bool:
    return os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > MAX_TEMPORARY_BYTES


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
