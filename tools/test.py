"""Set up and run every check: the kernel's own, lint, types, tests, with real engines.

    python3 tools/test.py [PYTEST ARGUMENT ...]

Real servers are started as tests/servers describes; the review pages are tried in the Chromium that
tools/chromium.py finds. Without Java and without Docker the tests that need them are skipped with
the reason; with CI=true in the environment they fail instead. NEARFOLD_ADVISORIES=1 asks a database
for known vulnerabilities (tools/audit.py).
"""

from __future__ import annotations

import os
import subprocess
import sys

import audit
import chromium
import rust
from environment import ROOT, prepared

CHECKS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
)


def main(arguments: list[str]) -> int:
    """Run the checks in order and stop at the first that fails; its exit code."""
    python = prepared("test")
    chromium.ensured()
    if code := rust.failed():
        return code
    if os.environ.get("NEARFOLD_ADVISORIES") == "1" and (code := audit.main([])):
        return code
    for module, *rest in (*CHECKS, ("pytest", *arguments)):
        print(f"\n$ python -m {module} {' '.join(rest)}", flush=True)
        if code := subprocess.run(
            [str(python), "-m", module, *rest], cwd=ROOT, check=False
        ).returncode:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
