"""Rows for tests, with every field filled."""

from __future__ import annotations

from typing import Any

from indexer.model import Row
from indexer.recipe import DEFAULT

TEXT = "The quick brown fox jumps over the lazy dog."


def row(id: str, **changes: Any) -> Row:
    """Return a complete row; its path is `/library/ID.txt` by default."""
    values: dict[str, Any] = {
        "id": id,
        "recipe": DEFAULT.id,
        "status": "complete",
        "title": f"Title of {id}",
        "text": TEXT,
        "path": f"/library/{id}.txt",
        "content_type": "text/plain",
        "modified": 1_700_000_000_123,
        "size": 45,
        "source": f"source of {id}",
        "extractor": "plain 1",
        "raw": "a" * 64,
        "exact": "b" * 64,
        "words": 9,
        "chars": 36,
        "family": id,
    }
    return Row(**{**values, **changes})


def band(place: int, value: int) -> str:
    return f"{place:02x}{value:016x}"


def block(place: int, value: int) -> str:
    return f"{place:02x}{value:04x}"
