"""Rows as documents of a search engine: a flat `_source` without empty fields."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from indexer.fingerprinting.fingerprint import (
    PROVISIONAL,
    fingerprint_rows,
    lengthen,
    own_family,
    shorten,
    ungrouped,
)
from indexer.fingerprinting.keys import signed64, unsigned64
from indexer.model import (
    Assignment,
    Candidate,
    CountRelation,
    Facet,
    RankedRow,
    Row,
    Status,
)
from indexer.recipe import Recipe
from indexer.stores.base import Counts
from indexer.stores.engine.field_substitutes import column_digest
from indexer.stores.engine.index_mapping import GROUPED, MADE_BY_PLUGIN
from indexer.stores.engine.search_bodies import LAST
from indexer.stores.fields import FIELDS, OF_GROUPS
from indexer.wording import field_of

MAX_SEARCHABLE_BYTES = 32_000
# In the order in which a document has them, others after them. What most documents have in common
# stands together and before the text, since an engine compresses documents by a dictionary of what
# comes first.
_ORDER = (
    "recipe", "status", "extractor", "provisional", "principal", "blocks", "words", "chars",
    "similarity", "cluster", "parent", "start", "stop", "family", "raw", "source", "exact",
    "bands", "title", "path", "content_type", "modified", "date", "size", "text",
)  # fmt: skip
# what `source` writes in a form of its own
_ENCODED = ("id", "labels", "metadata", "minhash", "simhash")
_BY_ORDER = sorted(
    (field for field in FIELDS if field.name not in _ENCODED),
    key=lambda field: _ORDER.index(field.name) if field.name in _ORDER else len(_ORDER),
)
_STORED = {field.name: field.in_engine for field in _BY_ORDER}
# fields with another name in an engine, and those with the same
_NAMES = {name: stored for name, stored in _STORED.items() if name != stored}
_PLAIN = tuple(name for name, stored in _STORED.items() if name == stored)
_FINGERPRINT_FIELDS = (
    "near_id", "near_simhash", "near_minhash", "near_error", "near_file", *_NAMES.values(),
)  # fmt: skip
# the fields that another recipe changes
KEYS = (
    *(field.in_engine for field in FIELDS if field.fingerprinted and field.name != "provisional"),
    "near_terms", "near_rare", "near_provisional",
)  # fmt: skip
# `group` sets them, where they are or else at the end
_ASSIGNED_LATER = OF_GROUPS[1:]
_TEXTS = tuple(field.name for field in _BY_ORDER if field.is_written and field.default == "")
_MISSING = {field.name: field.default for field in _BY_ORDER if field.default is not None}


def source(row: Row, has_file: bool = True) -> dict[str, Any]:
    """Return the document of a row; metadata that no engine can index is in `near_unsearchable`.

    The digest of the bytes of a document that has a text is in `near_file`, where nothing searches
    it, if the index has that field.
    """
    searchable = {
        name: value for name, value in row.metadata.items() if _is_searchable(name, value)
    }
    unsearchable = {name: row.metadata[name] for name in row.metadata if name not in searchable}
    is_searched = row.status == "empty" or not has_file
    document: dict[str, Any] = {stored: getattr(row, name) for name, stored in _NAMES.items()}
    document |= {
        "near_id": row.id,
        "near_source": shorten(row.source),
        "near_exact": shorten(row.exact),
        "near_raw": row.raw if is_searched else None,
        "near_file": None if is_searched or not row.raw else shorten(row.raw),
        "near_simhash": None if row.simhash is None else signed64(row.simhash),
        "near_minhash": None if row.minhash is None else _base64(row.minhash),
        "near_unsearchable": unsearchable or None,
        "near_embedded": row.embedded or None,
        "near_custodian": row.custodian or None,
        "near_ocr": row.ocr or None,
        "labels": row.labels,
        "metadata": searchable,
        **{name: getattr(row, name) for name in _PLAIN},
    }
    return {
        name: value
        for name, value in document.items()
        if value is not None or name in _ASSIGNED_LATER
    }


def text_of(document: Mapping[str, Any], name: str) -> str:
    """Return the text in a field of a document; empty where there is none.

    A dotted name that no field has is a path into objects.

    >>> text_of({"page": {"body": "words"}}, "page.body"), text_of({}, "text")
    ('words', '')
    >>> text_of({"a": [{"b": "c"}, {"b": "d"}]}, "a.b")
    'c\\nd'
    """
    return _text(field_of(document, name))


def has_text(document: Mapping[str, Any], name: str) -> bool:
    """Return whether a field holds a text, texts or nothing, so that a document can be
    fingerprinted.

    >>> [has_text({"text": value}, "text") for value in (None, "", ["a", None])]
    [True, True, True]
    >>> [has_text({"text": value}, "text") for value in (5, ["a", 5], {"a": "b"})]
    [False, False, False]
    """
    value = field_of(document, name)
    values = value if isinstance(value, list) else [value]
    return all(text is None or isinstance(text, str) for text in values)


def fingerprint_fields(row: Row, text_field: str) -> dict[str, Any]:
    """Return the `near_*` fields to add to another program's document; null where absent."""
    near = {name: value for name, value in source(row).items() if name in _FINGERPRINT_FIELDS}
    elsewhere = {} if text_field == "text" else {"near_text_field": text_field}
    return {**dict.fromkeys(_FINGERPRINT_FIELDS), **near, **elsewhere}


def unsigned_mark(id: str, recipe: str, error: str) -> dict[str, Any]:
    """Return the fields that remove a fingerprint from a document and give it a family of its own.

    The id would still name the group of an earlier text. `error` says why it has no signature.
    """
    own = {"near_id": id, "near_recipe": recipe, "near_provisional": True}
    return {
        **dict.fromkeys(_FINGERPRINT_FIELDS),
        **own,
        "near_family": own_family(id),
        "near_status": "unsigned",
        "near_error": error,
    }


def _is_searchable(name: str, value: str) -> bool:
    """Return whether an engine can index this metadata.

    An indexed term holds name and value in at most 32,766 bytes; Elasticsearch accepts no NUL in a
    name.
    """
    if "\0" in name:
        return False
    if (len(name) + len(value)) * 4 <= MAX_SEARCHABLE_BYTES:
        return True
    return len(f"{name}{value}".encode()) <= MAX_SEARCHABLE_BYTES


def row_of_hit(id: str, document: Mapping[str, Any], field: str = "text") -> Row:
    """Return the row of a document: the inverse of `source`.

    `field` is where a document of another program has its text; what it lacks is empty.
    """
    fields: dict[str, Any] = {}
    for name, stored_name in _STORED.items():
        value = document.get(stored_name)
        fields[name] = _MISSING.get(name) if value is None else value
    fields["text"] = text_in(document, field)
    fields |= {name: _text(fields[name]) for name in _TEXTS}
    fields |= {
        "source": lengthen(fields["source"]),
        "exact": lengthen(fields["exact"]),
        "raw": fields["raw"] or lengthen(_text(document.get("near_file"))),
        "family": fields["family"] or id,
        "modified": _milliseconds(fields["modified"]),
        "size": fields["size"] if isinstance(fields["size"], int) else 0,
        "bands": tuple(fields["bands"] or ()),
        "blocks": tuple(fields["blocks"] or ()),
        "labels": _texts(document.get("labels")),
        "metadata": {
            **_mapping(document.get("metadata")),
            **_mapping(document.get("near_unsearchable")),
        },
        "minhash": stored_bytes(document.get("near_minhash")),
        "simhash": _simhash(document.get("near_simhash")),
    }
    return Row(id=id, **fields)


def text_in(document: Mapping[str, Any], field: str) -> str:
    """Return the text of a document; `field` is where one of another program has it."""
    fingerprinted_field = "text" if document.get("near_recipe") else field
    return text_of(document, document.get("near_text_field") or fingerprinted_field)


# Documents of an index with the plugin's layout, whose fingerprints are columns of the engine.


def fingerprinted_rows(
    hits: Sequence[Mapping[str, Any]], field: str, recipe: Recipe, as_stored: bool = False
) -> list[Row]:
    """Return the rows of documents with the fingerprints of their texts, as the engine has them.

    A document whose text changed since it got its group, or that has none yet, is in the
    provisional family of its text. The digest of one with files is the stored one; `as_stored`,
    that of one in a group is the digest of the text that it got the group for.
    """
    stored = [row_of_hit(hit["_id"], hit["_source"], field) for hit in hits]
    rows = []
    for hit, before, row in zip(hits, stored, fingerprint_rows(stored, recipe), strict=True):
        source = hit["_source"]
        grouped = source.get(GROUPED) if source.get("near_family") else None
        exact = before.exact if row.embedded and before.exact else row.exact
        if grouped == column_digest(row.exact):
            rows.append(replace(row, exact=exact, provisional=before.provisional))
            continue
        alone = ungrouped(row)
        if alone.family == f"{PROVISIONAL}{shorten(row.exact)}":
            alone = replace(alone, family=f"{PROVISIONAL}{column_digest(row.exact)}")
        rows.append(replace(alone, exact=grouped if grouped and as_stored else exact))
    return rows


def without_columns(document: Mapping[str, Any], row: Row) -> dict[str, Any]:
    """Return a document without what the plugin makes of its text.

    What the plugin cannot know stays: that a text is cut, and the digest of a document with files.
    A group is stored with the digest of the text that it is of.
    """
    kept = {name: value for name, value in document.items() if name not in MADE_BY_PLUGIN}
    if row.status not in ("truncated", "unsigned"):
        kept.pop("near_status", None)
    if not row.embedded:
        kept.pop("near_exact", None)
    if row.family.startswith(PROVISIONAL):
        kept["near_family"] = None
    return {**kept, GROUPED: column_digest(row.exact)}


def candidate(hit: Mapping[str, Any]) -> Candidate:
    """Return the candidate of a hit, sorted by score, path and id.

    The score is the number of keys shared.
    """
    _, path, id, *_ = hit["sort"]
    minhash = stored_bytes(_column(hit, "near_minhash"))
    simhash = _simhash(_column(hit, "near_simhash"))
    shared = int(hit["_score"])
    return Candidate(hit.get("_id", id), _sort_text(path), shared, minhash, simhash)


def ranked(hit: Mapping[str, Any], scored: bool) -> RankedRow:
    """Return the row of a hit of a full-text search, whose sort ends with path, id and position."""
    path, id, _ = hit["sort"][-3:]
    id = hit.get("_id", id)
    status: Status = _column(hit, "near_status") or "complete"
    return RankedRow(
        id=id,
        path=_sort_text(path),
        score=hit["_score"] if scored else None,
        family=_column(hit, "near_family") or id,
        status=status,
        minhash=stored_bytes(_column(hit, "near_minhash")),
        digest=_digest(hit, status),
        words=_column(hit, "near_words"),
    )


def _digest(hit: Mapping[str, Any], status: Status) -> str:
    """Return the digest by which copies of a hit are known: of its bytes, or of its text."""
    if status == "empty":
        return _column(hit, "near_raw") or ""
    return lengthen(_column(hit, "near_exact") or "")


def facets(aggregation: Mapping[str, Any]) -> tuple[Facet, ...]:
    """Return the values of a facet."""
    return tuple(
        Facet(_value_of(bucket), bucket["doc_count"], *families(bucket))
        for bucket in aggregation["buckets"]
        if bucket["key"] != ""
    )


def _value_of(bucket: Mapping[str, Any]) -> str:
    """Return the value of a bucket as text: an owner may keep numbers, dates or truth values."""
    return str(bucket.get("key_as_string", bucket["key"]))


def families(
    aggregations: Mapping[str, Any], exact: int | None = None
) -> tuple[int, CountRelation]:
    """Return the number of families, each document without one counted as one, and its relation.

    `exact`: the number of families where it was counted.
    """
    estimate: int = aggregations["families"]["value"]
    single: int = aggregations["without_family"]["doc_count"]
    if estimate and exact is None:
        return estimate + single, "approximate"
    return (exact or 0) + single, "eq"


def counts(response: Mapping[str, Any], exact: int | None, size: int | None, parts: int) -> Counts:
    """Return the counts of a response to `bodies.counts`.

    `exact`: the number of families where they were counted. `size`: the bytes on disk where known.
    `parts`: the number of parts.
    """
    aggregations = response["aggregations"]
    number, relation = families(aggregations, exact)
    return Counts(
        documents=response["hits"]["total"]["value"],
        by_status=_bucket_counts(aggregations["status"]),
        by_content_type=_bucket_counts(aggregations["content_type"]),
        by_recipe=_bucket_counts(aggregations["recipe"]),
        families=number,
        families_relation=relation,
        size_bytes=size,
        parts=parts,
    )


def _bucket_counts(aggregation: Mapping[str, Any]) -> dict[Any, int]:
    return {_value_of(bucket): bucket["doc_count"] for bucket in aggregation["buckets"]}


def _column(hit: Mapping[str, Any], name: str) -> Any:
    """Return the first doc value of a field; None without any."""
    values = hit.get("fields", {}).get(name)
    return values[0] if values else None


def _sort_text(value: str) -> str:
    """Return a sort value as text; a missing one, which sorts last, is empty."""
    return "" if value == LAST else value


def assignment_fields(assignment: Assignment) -> dict[str, Any]:
    """Return the fields that an assignment changes."""
    return {
        "near_family": assignment.family,
        "near_principal": assignment.principal,
        "near_similarity": assignment.similarity,
        "near_cluster": assignment.cluster,
        "near_provisional": assignment.provisional,
    }


def _text(stored: object) -> str:
    """Return as one text what another program sent: None, a number, or a list, one text a line.

    >>> _text("plain"), _text(None), _text(["one", 2])
    ('plain', '', 'one\\n2')
    """
    return stored if isinstance(stored, str) else "\n".join(_texts(stored))


def _texts(stored: object) -> tuple[str, ...]:
    """Return the texts of a value that may be a list, a single value or None."""
    values = stored if isinstance(stored, list) else [stored]
    return tuple(str(value) for value in values if value is not None)


def _mapping(stored: object) -> Mapping[str, str]:
    """Return names and values; empty where another program stores another type in the field."""
    return stored if isinstance(stored, Mapping) else {}


def stored_bytes(stored: str | None) -> bytes | None:
    """Return the bytes of a Base64 text; doc values come without the padding."""
    return None if stored is None else binascii.a2b_base64(stored + "=" * (-len(stored) % 4))


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def _simhash(stored: int | None) -> int | None:
    return None if stored is None else unsigned64(stored)


def _milliseconds(stored: int | str | None) -> int | None:
    """Return a time in milliseconds from an integer or from another program's ISO 8601 string.

    A time without a zone is UTC. None for anything else.
    """
    if not isinstance(stored, str):
        return stored if isinstance(stored, int) else None
    if stored.lstrip("-").isdigit():
        return int(stored)
    try:
        time = datetime.fromisoformat(stored.replace("Z", "+00:00"))
    except ValueError:
        return None
    if time.tzinfo is None:
        time = time.replace(tzinfo=timezone.utc)
    return round(time.timestamp() * 1000)
