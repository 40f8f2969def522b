"""Set up and run the main job on the example folder: index, a folded search, a comparison.

python3 tools/demo.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile

from environment import ROOT, prepared

EXAMPLES = "examples"
COMMANDS = (
    ("index", EXAMPLES),
    ("search", "written report"),
    ("similar", f"{EXAMPLES}/ferry-press-release.txt"),
    (
        "compare",
        f"{EXAMPLES}/services-agreement-2024.txt",
        f"{EXAMPLES}/services-agreement-2025-renewal.txt",
    ),
)


def main() -> int:
    """Run the four commands on a store of its own; 0 when all of them succeed."""
    python = prepared()
    with tempfile.TemporaryDirectory(prefix="nearfold-demo-") as folder:
        for command in COMMANDS:
            print(f"\n$ nearfold {subprocess.list2cmdline(command)}", flush=True)
            store = ["--store", f"sqlite:///{folder}/demo.db"] if command[0] != "compare" else []
            if code := subprocess.run(
                [str(python), "-m", "indexer", *command, *store], cwd=ROOT, check=False
            ).returncode:
                return code
    print("\nTo keep an index of your own: .venv/bin/nearfold index FOLDER")
    return 0


if __name__ == "__main__":
    sys.exit(main())
