"""Write docs/licences.md: the licence of every package that nearfold and its extras install.

    .venv/bin/python tools/licences.py

Reads requirements/all.txt and the metadata of the installed packages; the environment of
`tools/test.py` has all but those of other systems and other Pythons.
"""

from __future__ import annotations

import re
import sys
from importlib import metadata

import pdfjs
from environment import LOCKS, ROOT

COPIED = ((f"pdf.js {pdfjs.VERSION}", "Apache-2.0; parts of it BSD-2-Clause and BSD-3-Clause"),)
PAGE = ROOT / "docs" / "licences.md"
HEAD = """# Licences of what nearfold installs

nearfold itself: Apache-2.0. Packages marked ● come with every installation, the others with an
extra. Written by `tools/licences.py` from `requirements/all.txt` and the packages' own metadata.

| package | | licence |
|---|---|---|
"""
COPIED_HEAD = """
## Copied into the package

In `indexer/review/originals/pdfjs`, with their licences and digests.

| copied files | licence |
|---|---|
"""
NOT_HERE = "not installed where this list was made: for another system or Python"


def main() -> int:
    """Write the page."""
    core = _names("core")
    rows = [
        f"| {name} | {'●' if name in core else ''} | {_licence(name)} |\n"
        for name in sorted(_names("all"))
    ]
    copied = "".join(f"| {name} | {licence} |\n" for name, licence in COPIED)
    PAGE.write_text(HEAD + "".join(rows) + COPIED_HEAD + copied, encoding="utf-8")
    return 0


def _names(lock: str) -> set[str]:
    text = (LOCKS / f"{lock}.txt").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z0-9.-]+)==", text, re.MULTILINE))


def _licence(name: str) -> str:
    """Return the licence expression, else the classifiers, else the licence field's first line."""
    try:
        fields = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return NOT_HERE
    every = fields.get_all("Classifier", [])
    classifiers = [line.rsplit(" :: ", 1)[1] for line in every if line.startswith("License ::")]
    text = (fields.get("License") or "").strip().splitlines()
    first_line = text[0] if text else "not stated"
    return fields.get("License-Expression") or ", ".join(classifiers) or first_line


if __name__ == "__main__":
    sys.exit(main())
