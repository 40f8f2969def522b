"""Changes of others to the pipelines that nearfold put into an engine.

The description of a pipeline ends with a digest of the rest, so that a pipeline of another version
of nearfold is told from one that somebody changed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

FILES = "nearfold-attachment-"
_DIGEST = re.compile(r" \(digest ([0-9a-f]{16})\)$")
# the types of the processors of each pipeline, the one for files among ingest pipelines
_TYPES: Mapping[str, tuple[str, ...]] = {
    "ingest pipeline": ("script",),
    "files": ("attachment", "script", "pipeline", "remove"),
    "search pipeline": ("oversample", "rename_field", "collapse", "truncate_hits"),
}


def with_digest(pipeline: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of a pipeline whose description ends with the digest of the rest."""
    description = f"{pipeline['description']} (digest {_digest(pipeline)})"
    return {**pipeline, "description": description}


def is_changed(stored: Mapping[str, Any]) -> bool:
    """Return whether somebody changed a pipeline since nearfold put it there; False for one of an
    earlier nearfold, which wrote no digest.

    >>> ours = with_digest({"description": "nearfold", "processors": [{"script": {}}]})
    >>> is_changed(ours), is_changed({**ours, "processors": []})
    (False, True)
    """
    digest = _DIGEST.search(str(stored.get("description", "")))
    return digest is not None and digest[1] != _digest(stored)


def _digest(pipeline: Mapping[str, Any]) -> str:
    """Return a digest of what a pipeline does; engines add fields of their own, such as dates."""
    parts = {
        name: value
        for name, value in pipeline.items()
        if name.endswith("processors") or name in ("on_failure", "version")
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def added_processors(kind: str, name: str, stored: Mapping[str, Any]) -> list[str]:
    """Return the types of processors that somebody added to a stored pipeline, sorted; empty for
    another asset.

    Every version of nearfold put processors of the same types; those that run after a failure are
    not told apart.

    >>> stored = {"processors": [{"set": {}}, {"script": {}}, {"script": {}}]}
    >>> added_processors("ingest pipeline", "nearfold-default_v2", stored)
    ['script', 'set']
    """
    types = _TYPES.get("files" if name.startswith(FILES) else kind)
    if types is None:
        return []
    processors = [
        processor
        for part, value in stored.items()
        if part.endswith("processors")
        for processor in value
    ]
    added = Counter(type for processor in processors for type in processor) - Counter(types)
    return sorted(added.elements())
