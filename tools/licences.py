"""Write docs/licences.md: the licence of every package that nearfold and its extras install.

    .venv/bin/python tools/licences.py

Reads requirements/all.txt and what the installed packages say of themselves; the environment of
`tools/test.py` has them all but those of other systems and other Pythons.
"""

from __future__ import annotations

import re
import sys
from importlib import metadata

from environment import LOCKS, ROOT

PAGE = ROOT / "docs" / "licences.md"
HEAD = """# Licences of what nearfold installs

nearfold itself: Apache-2.0. Packages marked ● come with every installation, the others with an extra. Written by
`tools/licences.py` from `requirements/all.txt` and the packages' own metadata.

| package | | licence |
|---|---|---|
"""
NOT_HERE = "not installed where this list was made: for another system or Python"


def main() -> int:
    """Write the page."""
    core = _names("core")
    rows = [
        f"| {name} | {'●' if name in core else ''} | {_licence(name)} |\n"
        for name in sorted(_names("all"))
    ]
    PAGE.write_text(HEAD + "".join(rows), encoding="utf-8")
    return 0


def _names(lock: str) -> set[str]:
    return set(
        re.findall(
            r"^([a-z0-9.-]+)==", (LOCKS / f"{lock}.txt").read_text(encoding="utf-8"), re.MULTILINE
        )
    )


def _licence(name: str) -> str:
    """The licence expression, else the classifiers, else the first line of the licence field."""
    try:
        told = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return NOT_HERE
    classifiers = [
        line.rsplit(" :: ", 1)[1]
        for line in told.get_all("Classifier", [])
        if line.startswith("License ::")
    ]
    field = (told.get("License") or "").strip().splitlines()
    return (
        told.get("License-Expression")
        or ", ".join(classifiers)
        or (field[0] if field else "not told")
    )


if __name__ == "__main__":
    sys.exit(main())
