"""Rows as a search engine keeps them: the `_source` of a document, flat, empty fields left out."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from indexer.model import Assignment, Candidate, Facet, RankedRow, Row
from indexer.sketch.codec import signed64, unsigned64
from indexer.stores.base import Counts
from indexer.stores.engine.sort_keys import LAST
from indexer.text.field_paths import field_of

MAX_SEARCHABLE_BYTES = 32_000
_NAMES = {  # fields of a row that carry another name in an engine
    name: f"near_{name}"
    for name in (
        "recipe", "status", "source", "extractor", "words", "chars", "raw", "exact", "bands", "blocks", "family", "provisional",
        "principal", "similarity", "cluster", "parent", "start", "stop",
    )
}  # fmt: skip
_SIGNATURE = ("near_id", "near_simhash", "near_minhash", "near_error", *_NAMES.values())
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
        "near_unsearchable": {
            name: value for name, value in row.metadata.items() if name not in searchable
        }
        or None,
        "near_simhash": None if row.simhash is None else signed64(row.simhash),
        "near_minhash": None
        if row.minhash is None
        else base64.b64encode(row.minhash).decode("ascii"),
    }
    return {name: value for name, value in document.items() if value is not None}


def text_of(document: Mapping[str, Any], name: str) -> str:
    """The text in a field of a document; a dotted name that is none leads into objects. Empty where
    there is nothing.

    >>> text_of({"page": {"body": "words"}}, "page.body"), text_of({}, "text"), text_of({"a": [{"b": "c"}, {"b": "d"}]}, "a.b")
    ('words', '', 'c\\nd')
    """
    return _text(field_of(document, name))


def has_text(document: Mapping[str, Any], name: str) -> bool:
    """Whether a field holds a text, texts or nothing at all, so that a document can be signed by
    it.

    >>> [has_text({"text": value}, "text") for value in (None, "", ["a", None], 5, ["a", 5], {"a": "b"})]
    [True, True, True, False, False, False]
    """
    value = field_of(document, name)
    return all(
        one is None or isinstance(one, str)
        for one in (value if isinstance(value, list) else [value])
    )


def signature(row: Row, text_field: str) -> dict[str, Any]:
    """What nearfold adds to a document of somebody else: the `near_*` fields, those that the row
    lacks as null.
    """
    near = {name: value for name, value in source(row).items() if name in _SIGNATURE}
    elsewhere = {} if text_field == "text" else {"near_text_field": text_field}
    return {**dict.fromkeys(_SIGNATURE), **near, **elsewhere}


def unsigned(id: str, recipe: str, error: str) -> dict[str, Any]:
    """What takes a signature from a document and leaves it a family of its own; `error` says why it
    has none.
    """
    own = {"near_id": id, "near_recipe": recipe, "near_family": id, "near_provisional": True}
    return {**dict.fromkeys(_SIGNATURE), **own, "near_status": "unsigned", "near_error": error}


def _searchable(name: str, value: str) -> bool:
    """An indexed term holds name and value, at most 32,766 bytes; Elasticsearch takes no NUL in a
    name.
    """
    if "\0" in name:
        return False
    return (len(name) + len(value)) * 4 <= MAX_SEARCHABLE_BYTES or len(
        f"{name}{value}".encode()
    ) <= MAX_SEARCHABLE_BYTES


def row(id: str, document: Mapping[str, Any], field: str = "text") -> Row:
    """The inverse of `source`; what a document of another program lacks is empty. `field`: where
    such a one has its text.
    """
    stored = {**dict(zip(_PLAIN, _PLAIN, strict=True)), **_NAMES}
    present = {
        name: value for name, place in stored.items() if (value := document.get(place)) is not None
    }
    fields = {name: present.get(name, _MISSING.get(name)) for name in stored}
    fields["text"] = text_of(
        document,
        document.get("near_text_field") or ("text" if document.get("near_recipe") else field),
    )
    fields |= {name: _text(fields[name]) for name in _TEXTS}
    fields |= {
        "family": fields["family"] or id,
        "modified": _milliseconds(fields["modified"]),
        "size": fields["size"] if isinstance(fields["size"], int) else 0,
        "bands": tuple(fields["bands"] or ()),
        "blocks": tuple(fields["blocks"] or ()),
        "labels": _listed(document.get("labels")),
        "metadata": {
            **_named(document.get("metadata")),
            **_named(document.get("near_unsearchable")),
        },
        "minhash": _bytes(document.get("near_minhash")),
        "simhash": _unsigned(document.get("near_simhash")),
    }
    return Row(id=id, **fields)


def candidate(hit: Mapping[str, Any]) -> Candidate:
    """A hit of a search whose score is the number of keys shared, sorted by score, path and id."""
    _, path, id, *_ = hit["sort"]
    sketches = _bytes(_column(hit, "near_minhash")), _unsigned(_column(hit, "near_simhash"))
    return Candidate(hit.get("_id", id), _sorted_text(path), int(hit["_score"]), *sketches)


def ranked(hit: Mapping[str, Any], scored: bool) -> RankedRow:
    """A hit of a full-text search, sorted by path, id and place at the end."""
    path, id, _ = hit["sort"][-3:]
    id = hit.get("_id", id)
    return RankedRow(
        id=id,
        path=_sorted_text(path),
        score=hit["_score"] if scored else None,
        family=_column(hit, "near_family") or id,
        status=_column(hit, "near_status") or "complete",
        minhash=_bytes(_column(hit, "near_minhash")),
    )


def facet(bucket: Mapping[str, Any]) -> Facet:
    """A bucket of a facet."""
    return Facet(bucket["key"], bucket["doc_count"], families(bucket))


def families(counted: Mapping[str, Any]) -> int:
    """What the aggregations of `bodies.families` count."""
    return int(counted["families"]["value"] + counted["without_family"]["doc_count"])


def counts(answer: Mapping[str, Any], size: int | None, parts: int) -> Counts:
    """The answer to `bodies.counts`, with what it does not tell: bytes on disk where known, and how
    many parts there are.
    """
    counted = answer["aggregations"]
    status, types = (
        {bucket["key"]: bucket["doc_count"] for bucket in counted[name]["buckets"]}
        for name in ("status", "content_type")
    )
    return Counts(answer["hits"]["total"]["value"], status, types, families(counted), size, parts)


def _column(hit: Mapping[str, Any], name: str) -> Any:
    """The first value of a field that was read from doc values."""
    values = hit.get("fields", {}).get(name)
    return values[0] if values else None


def _sorted_text(value: str) -> str:
    """A sort value as text; what sorts last was missing."""
    return "" if value == LAST else value


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
    """One text of what another program may have sent: nothing, a number, a list of texts, one a
    line.

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
    """Bytes from Base64; doc values come without the padding."""
    return None if stored is None else base64.b64decode(stored + "=" * (-len(stored) % 4))


def _unsigned(stored: int | None) -> int | None:
    return None if stored is None else unsigned64(stored)


def _milliseconds(stored: int | str | None) -> int | None:
    """A time as this project writes it, or as an ISO 8601 string of another program; None for
    anything else.
    """
    if not isinstance(stored, str):
        return stored if isinstance(stored, int) else None
    if stored.lstrip("-").isdigit():
        return int(stored)
    try:
        moment = datetime.fromisoformat(stored.replace("Z", "+00:00"))
    except ValueError:
        return None
    return round(
        (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp() * 1000
    )
