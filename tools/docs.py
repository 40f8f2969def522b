"""Build the documentation site into build/site, with the command and API reference, links checked.

python3 tools/docs.py            # build; a broken link or anchor is an error
python3 tools/docs.py --serve    # build and serve on http://127.0.0.1:8000, again at each change
"""

from __future__ import annotations

import os
import subprocess
import sys

from environment import ROOT, apart


def main(arguments: list[str]) -> int:
    """Build or serve the site and return the exit code of mkdocs."""
    programs = apart("docs")
    command = ["serve"] if "--serve" in arguments else ["build", "--strict", "--clean"]
    settings = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    mkdocs = [str(programs / "mkdocs"), *command]
    return subprocess.run(mkdocs, cwd=ROOT, env=settings, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
