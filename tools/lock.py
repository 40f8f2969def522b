"""Write the locks in requirements/: every installed package with the hashes of its files.

    python tools/lock.py             # keep locked versions that still fit; needs `pip install uv`
    python tools/lock.py --upgrade   # take the newest versions that pyproject.toml allows
    python tools/lock.py --check     # only report whether the locks still meet pyproject.toml

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
# Each later lock agrees with the earlier ones, but for that of the peers: what these need, nearfold
# may need of another version.
ORDER = ("test", "all", "core", "image", "docs", "build", "audit", "cross", "uv", "peers")
IMAGE_EXTRAS = ("opensearch", "elasticsearch", "aws", "web", "tika", "parquet", "figures")
INPUTS = {
    "test": ("pyproject.toml", "--all-extras", "--group", "dev"),
    "all": ("pyproject.toml", "--all-extras"),
    "core": ("pyproject.toml",),
    "image": ("pyproject.toml", *(f"--extra={extra}" for extra in IMAGE_EXTRAS)),
    "docs": ("pyproject.toml", "--group", "docs"),
    "build": ("requirements/build.in",),
    "audit": ("requirements/audit.in",),
    "cross": ("requirements/cross.in",),
    "uv": ("requirements/uv.in",),
    "peers": ("pyproject.toml", "requirements/peers.in"),
}
HEAD = "# Written by tools/lock.py; checked by pip, which refuses a file whose hash is not here.\n"


def main(arguments: list[str]) -> int:
    """Write the locks, or say which would change; return 1 when some would."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 when a lock no longer fits"
    )
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    options = parser.parse_args(arguments)
    stale = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ORDER:
            lock, draft = LOCKS / f"{name}.txt", Path(folder, f"{name}.txt")
            if lock.exists() and not options.upgrade:
                draft.write_bytes(lock.read_bytes())  # uv keeps the versions that it finds there
            _compile(name, draft)
            text = HEAD + draft.read_text(encoding="utf-8").removeprefix(HEAD)
            if not options.check:
                lock.write_text(text, encoding="utf-8")
            elif not lock.exists() or text != lock.read_text(encoding="utf-8"):
                stale.append(str(lock.relative_to(ROOT)))
    for lock_name in stale:
        print(f"{lock_name} no longer fits pyproject.toml; run: python tools/lock.py")
    return 1 if stale else 0


def _compile(name: str, draft: Path) -> None:
    """Resolve one lock into `draft`, with the locks before it as limits."""
    earlier = () if name == "peers" else ORDER[: ORDER.index(name)]
    limits = [
        flag
        for earlier_lock in earlier
        for flag in ("--constraint", str(LOCKS / f"{earlier_lock}.txt"))
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
        str(draft),
    ]
    subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
