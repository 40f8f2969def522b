"""The files of `mappings/`: index bodies, pipelines, scripts and the SQLite schema, wherever
nearfold is installed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_INSTALLED = Path(__file__).parent / "_mappings"
_CHECKOUT = Path(__file__).parent.parent / "mappings"


def folder() -> Path:
    """Where the files lie: inside the package of an installed wheel, at the top level of a
    checkout.
    """
    return _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT


def read(name: str) -> str:
    """The text of one file, such as `sqlite-0001.sql`."""
    return (folder() / name).read_text(encoding="utf-8")


def load(name: str) -> Any:
    """One JSON file as a fresh value, such as `index.json`."""
    return json.loads(read(name))
