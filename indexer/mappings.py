"""Access to the files of `mappings/`: index bodies, pipelines, scripts and the SQLite schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_INSTALLED = Path(__file__).parent / "_mappings"
_CHECKOUT = Path(__file__).parent.parent / "mappings"


def folder() -> Path:
    """Return the folder of the files: in the package of an installed wheel, or in the checkout."""
    return _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT


def read(name: str) -> str:
    """Return the text of one file, such as `sqlite-0001.sql`."""
    return (folder() / name).read_text(encoding="utf-8")


def load(name: str) -> Any:
    """Return a new value parsed from one JSON file, such as `index.json`."""
    return json.loads(read(name))
