"""Write the locks in requirements/: every package that is installed, with the hashes of its files.

    python tools/lock.py            # newest versions that pyproject.toml allows; needs `pip install uv`
    python tools/lock.py --check    # only tell whether the locks still meet pyproject.toml

One lock serves every system and every Python from 3.10 on: versions that differ between them carry
markers.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from environment import LOCKS, ROOT

OPTIONS = [
    "--universal",
    "--python-version",
    "3.10",
    "--generate-hashes",
    "--no-emit-index-url",
    "--no-header",
    "--no-annotate",
]
ORDER = ("test", "all", "core", "build", "audit")  # each later lock agrees with the earlier ones
INPUTS = {
    "test": ("pyproject.toml", "--all-extras", "--group", "dev"),
    "all": ("pyproject.toml", "--all-extras"),
    "core": ("pyproject.toml",),
    "build": ("requirements/build.in",),
    "audit": ("requirements/audit.in",),
}
HEAD = "# Written by tools/lock.py; checked by pip, which refuses a file whose hash is not here.\n"


def main(arguments: list[str]) -> int:
    """Write the locks, or say which would change; 1 when some would."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 when a lock no longer fits"
    )
    checking = parser.parse_args(arguments).check
    stale = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ORDER:
            lock, made = LOCKS / f"{name}.txt", Path(folder, f"{name}.txt")
            if checking and lock.exists():
                made.write_bytes(
                    lock.read_bytes()
                )  # versions already locked are kept where they still fit
            _compile(name, made)
            text = HEAD + made.read_text(encoding="utf-8").removeprefix(HEAD)
            if checking and text != lock.read_text(encoding="utf-8"):
                stale.append(str(lock.relative_to(ROOT)))
            elif not checking:
                lock.write_text(text, encoding="utf-8")
    for lock_name in stale:
        print(f"{lock_name} no longer fits pyproject.toml; run: python tools/lock.py")
    return 1 if stale else 0


def _compile(name: str, made: Path) -> None:
    """Resolve one lock into `made`, with the locks before it as limits."""
    limits = [
        flag
        for other in ORDER[: ORDER.index(name)]
        for flag in ("--constraint", str(LOCKS / f"{other}.txt"))
    ]
    command = [
        sys.executable,
        "-m",
        "uv",
        "pip",
        "compile",
        "--quiet",
        *OPTIONS,
        *INPUTS[name],
        *limits,
        "-o",
        str(made),
    ]
    subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
