"""Build the engine plugin, and the Unicode tables of its core.

    python tools/plugin.py                      # the zips of both engines' current versions
    python tools/plugin.py opensearch 3.0.0     # one zip
    python tools/plugin.py --matrix             # every version of VERSIONS, each in target/plugin
    python tools/plugin.py --tables             # write unicode-13.0.txt again

Zips with checksums are written to `target/plugin`. Maven and a JDK 21 or later are needed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import runpy
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLUGIN = ROOT / "plugin"
OUTPUT = ROOT / "target/plugin"
TABLES = PLUGIN / "core/src/main/resources/org/nearfold/core/text/unicode-13.0.txt"
CLASSES = ("UNASSIGNED", "NONSTARTER", "IGNORABLE", "BLANK", "WORDLESS", "UNSPACED", "SEPARATOR")
CATEGORIES = ("WORD", "SPACING_MARK", "LETTER", "MARK", "DIGIT", "KATAKANA")
WIDTH = 110
HANGUL = range(0xAC00, 0xD7A4)


def tables() -> str:
    """Return the text of `unicode-13.0.txt`.

    Classes and categories are those of the Python package. Decompositions come from the running
    Python for the code points that Unicode 13.0 assigns: those never change.
    """
    package = _pinned("unicode13.py"), _pinned("unicode13_categories.py")
    lines = [
        "# Unicode 13.0, pinned; written by tools/plugin.py --tables, never edited.",
        "# A line has the name of a table and entries; lines of one name belong together.",
    ]
    for pinned, names in zip(package, ((*CLASSES, "LOWER"), CATEGORIES), strict=True):
        for name in names:
            lines += _lines(name, pinned[name].split())
    assigned = _assigned(package[0]["UNASSIGNED"])
    lines += _lines("COMBINING", _combining(assigned))
    lines += _lines("DECOMPOSE", _decompositions(assigned))
    lines += _lines("COMPOSE", _compositions(assigned))
    return "\n".join(lines) + "\n"


def _pinned(name: str) -> dict[str, str]:
    (path,) = (ROOT / "indexer").rglob(name)
    return runpy.run_path(str(path))


def _lines(name: str, entries: list[str]) -> Iterator[str]:
    line = name
    for entry in entries:
        if len(line) + len(entry) >= WIDTH:
            yield line
            line = name
        line += f" {entry}"
    yield line


def _assigned(unassigned: str) -> list[int]:
    missing: set[int] = set()
    for word in unassigned.split():
        first, _, last = word.partition("-")
        missing.update(range(int(first, 16), int(last or first, 16) + 1))
    return [code for code in range(0x110000) if code not in missing]


def _combining(assigned: list[int]) -> list[str]:
    """Return runs of code points with the same combining class, `first-last:class`."""
    runs: list[list[int]] = []
    for code in assigned:
        number = unicodedata.combining(chr(code))
        if number and runs and runs[-1][1] == code - 1 and runs[-1][2] == number:
            runs[-1][1] = code
        elif number:
            runs.append([code, code, number])
    return [f"{first:X}-{last:X}:{number}" for first, last, number in runs]


def _decompositions(assigned: list[int]) -> list[str]:
    """Return the full compatibility decompositions, `code:first.second`, without Hangul."""
    entries = []
    for code in assigned:
        if code in HANGUL or 0xD800 <= code < 0xE000:
            continue
        whole = unicodedata.normalize("NFKD", chr(code))
        if whole != chr(code):
            entries.append(f"{code:X}:" + ".".join(f"{ord(letter):X}" for letter in whole))
    return entries


def _compositions(assigned: list[int]) -> list[str]:
    """Return the pairs that NFC composes, `first.second:composed`, without Hangul."""
    entries = []
    for code in assigned:
        parts = unicodedata.decomposition(chr(code)).split()
        is_pair = len(parts) == 2 and not parts[0].startswith("<")
        if is_pair and unicodedata.normalize("NFC", chr(code)) == chr(code):
            entries.append(f"{parts[0].lstrip('0')}.{parts[1].lstrip('0')}:{code:X}")
    return entries


if __name__ == "__main__":
    TABLES.write_text(tables(), encoding="ascii")
