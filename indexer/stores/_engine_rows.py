"""Rows as a search engine keeps them: the `_source` of a document, flat, empty fields left out."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from indexer.model import Assignment, Candidate, Ranked, Row
from indexer.sketch.codec import signed64, unsigned64

MAX_SEARCHABLE_BYTES = 32_000
_NAMES = {  # fields of a row that carry another name in an engine
    name: f"near_{name}"
    for name in (
        "recipe", "status", "source", "extractor", "words", "chars", "raw", "exact", "bands", "blocks", "family", "provisional",
        "principal", "similarity", "cluster", "parent",
    )
}  # fmt: skip
_PLAIN = ("title", "text", "path", "content_type", "modified", "size")
_TEXTS = ("title", "text", "path", "content_type", "recipe", "source", "extractor", "raw", "exact")
_MISSING = {
    **dict.fromkeys(_TEXTS, ""),
    **dict.fromkeys(("size", "words", "chars"), 0),
    "status": "complete",
    "provisional": True,
}


def source(row: Row) -> dict[str, Any]:
    """The document of a row. Metadata that no engine can index is kept in `near_unsearchable`."""
    document = {name: getattr(row, name) for name in _PLAIN}
    document |= {stored: getattr(row, name) for name, stored in _NAMES.items()}
    searchable = {name: value for name, value in row.metadata.items() if _searchable(name, value)}
    document |= {
        "near_id": row.id,
        "labels": row.labels,
        "metadata": searchable,
        "near_unsearchable": {name: value for name, value in row.metadata.items() if name not in searchable} or None,
        "near_simhash": None if row.simhash is None else signed64(row.simhash),
        "near_minhash": None if row.minhash is None else base64.b64encode(row.minhash).decode("ascii"),
    }
    return {name: value for name, value in document.items() if value is not None}


def _searchable(name: str, value: str) -> bool:
    """An indexed term holds name and value, at most 32,766 bytes; Elasticsearch takes no NUL in a name."""
    if "\0" in name:
        return False
    return (len(name) + len(value)) * 4 <= MAX_SEARCHABLE_BYTES or len(f"{name}{value}".encode()) <= MAX_SEARCHABLE_BYTES


def row(id: str, document: Mapping[str, Any]) -> Row:
    """The inverse of `source`; what a document of another program lacks is empty."""
    stored = {**dict(zip(_PLAIN, _PLAIN, strict=True)), **_NAMES}
    fields = {name: document.get(place, _MISSING.get(name)) for name, place in stored.items()}
    fields |= {name: _text(fields[name]) for name in _TEXTS}
    fields |= {
        "family": fields["family"] or id,
        "modified": _milliseconds(fields["modified"]),
        "bands": tuple(fields["bands"] or ()),
        "blocks": tuple(fields["blocks"] or ()),
        "labels": _listed(document.get("labels")),
        "metadata": {**_named(document.get("metadata")), **_named(document.get("near_unsearchable"))},
        "minhash": _bytes(document.get("near_minhash")),
        "simhash": _unsigned(document.get("near_simhash")),
    }
    return Row(id=id, **fields)


def candidate(hit: Mapping[str, Any]) -> Candidate:
    """A hit of a search whose score is the number of keys shared."""
    document = hit["_source"]
    sketches = _bytes(document.get("near_minhash")), _unsigned(document.get("near_simhash"))
    return Candidate(hit["_id"], _text(document.get("path")), int(hit["_score"]), *sketches)


def ranked(hit: Mapping[str, Any], scored: bool) -> Ranked:
    """A hit of a full-text search."""
    document = hit["_source"]
    return Ranked(
        id=hit["_id"],
        path=_text(document.get("path")),
        title=_text(document.get("title")),
        score=hit["_score"] if scored else None,
        family=document.get("near_family") or hit["_id"],
        status=document.get("near_status", "complete"),
        minhash=_bytes(document.get("near_minhash")),
    )


def assigned(assignment: Assignment) -> dict[str, Any]:
    """The fields that an assignment changes."""
    return {
        "near_family": assignment.family,
        "near_principal": assignment.principal,
        "near_similarity": assignment.similarity,
        "near_cluster": assignment.cluster,
        "near_provisional": assignment.provisional,
    }


def _text(stored: object) -> str:
    """One text of what another program may have sent: nothing, a number, a list of texts, one a line.

    >>> _text("plain"), _text(None), _text(["one", 2])
    ('plain', '', 'one\\n2')
    """
    return stored if isinstance(stored, str) else "\n".join(_listed(stored))


def _listed(stored: object) -> tuple[str, ...]:
    """The texts of what may be a list, a single value or nothing."""
    values = stored if isinstance(stored, list) else [stored]
    return tuple(str(value) for value in values if value is not None)


def _named(stored: object) -> Mapping[str, str]:
    """Names and values; nothing where another program keeps something else under that name."""
    return stored if isinstance(stored, Mapping) else {}


def _bytes(stored: str | None) -> bytes | None:
    return None if stored is None else base64.b64decode(stored)


def _unsigned(stored: int | None) -> int | None:
    return None if stored is None else unsigned64(stored)


def _milliseconds(stored: int | str | None) -> int | None:
    """A time as this project writes it, or as an ISO 8601 string of another program."""
    if not isinstance(stored, str):
        return stored
    if stored.lstrip("-").isdigit():
        return int(stored)
    moment = datetime.fromisoformat(stored.replace("Z", "+00:00"))
    return round((moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp() * 1000)
