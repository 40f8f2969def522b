"""Documents made of records: text, title, labels, and the other single values as metadata."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from indexer.errors import ExtractionError
from indexer.model import Blob, Document, FailedBlob, Payload
from indexer.sources.base import Reading, Records
from indexer.sources.members import NumberedBlobs, inner_blob
from indexer.sources.payloads import DamagedRecord
from indexer.text.field_paths import field_of

EXTRACTOR = "records/1"
_PART = re.compile("#[1-9][0-9]*$", re.ASCII)
_KINDS = {
    dict: "an object",
    list: "a list of other things",
    int: "a number",
    float: "a number",
    bool: "true or false",
}


def document(record: Mapping[str, Any], reading: Reading) -> Document | ExtractionError:
    """Return the document of a record, or the error that it has none."""
    text = text_of(record, reading)
    if isinstance(text, ExtractionError):
        return text
    if not all(_is_label(label) for label in _label_values(record, reading)):
        return ExtractionError(
            f"the field {reading.label_field!r} holds more than labels, "
            "which are single values or one list of them; repair it"
        )
    special = {reading.text_field, reading.title_field}
    return Document(
        text=text[: reading.max_chars],
        title=_text(field_of(record, reading.title_field)) or "",
        content_type="text/plain",
        metadata={name: value for name, value in _flat(record) if name not in special},
        extractor=EXTRACTOR,
        truncated=len(text) > reading.max_chars,
    )


def text_of(record: Mapping[str, Any], reading: Reading) -> str | ExtractionError:
    """Return the text of a record, or the error that it has none.

    A list of texts is one text, an element a line, null left out. An error in place of the text is
    that of its text file.
    """
    value = field_of(record, reading.text_field)
    if isinstance(value, ExtractionError):
        return value
    text = _text(value)
    return _no_text(record, value, reading) if text is None else text


def _no_text(record: Mapping[str, Any], value: object, reading: Reading) -> ExtractionError:
    """Return the error of a record whose text field holds this value."""
    if not is_empty(value):
        kind = _KINDS.get(type(value), "something else")
        return ExtractionError(f"the field {reading.text_field!r} holds no text but {kind}")
    names = [name for name in sorted(record) if not name.startswith("near_")]
    return ExtractionError(
        f"the record has no text in the field {reading.text_field!r} "
        f"(it has: {', '.join(names[:20]) or 'nothing'}); name the field by --text-field"
    )


def payload(record: Mapping[str, Any], reading: Reading) -> Payload:
    """Return the payload of a record.

    `raw` is the SHA-256 of its text, `source` that of everything that is kept of it.
    """
    result = document(record, reading)
    if isinstance(result, ExtractionError):
        digest = hashlib.sha256(_canonical(sorted(record))).hexdigest()
        return Payload(b"", 0, None, digest, digest, result)
    text = result.text.encode("utf-8", "surrogatepass")
    content = [
        result.text,
        result.title,
        result.metadata,
        labels(record, reading),
        result.truncated,
    ]
    raw = hashlib.sha256(text).hexdigest()
    source = hashlib.sha256(_canonical(content)).hexdigest()
    return Payload(b"", len(text), None, raw, source, result)


def blobs(outer: Blob, records: Records, reading: Reading) -> Iterator[Blob | FailedBlob]:
    """Yield a blob for each record.

    With an `id_field` the key is its value; a record without one, or with that of an earlier
    record, fails.
    """
    if reading.own_ids and reading.id_field is None:
        yield FailedBlob(
            outer.path,
            "its records have no ids of their own unless --id-field names them; "
            "--own-ids needs that",
        )
        return
    keys = NumberedBlobs()
    try:
        for place, record in records:
            if isinstance(record, ExtractionError):
                yield _broken(outer, place, record, reading)
            else:
                yield _blob_at(outer, place, record, keys, reading)
    except DamagedRecord as error:
        yield FailedBlob(outer.path, str(error))


def _blob_at(
    outer: Blob, place: str, record: Mapping[str, Any], keys: NumberedBlobs, reading: Reading
) -> Blob | FailedBlob:
    """Return the blob of the record at a place, or its failure when it has no usable key."""
    field = reading.id_field
    name = place if field is None else _scalar(field_of(record, field))
    if not name:
        problem = f"has no value in {field!r}; give it one, or change --id-field"
        return FailedBlob(outer.path, f"record {place} {problem}")
    key = name.encode("utf-8", "surrogatepass")
    objection = _objection(name, key, reading) if reading.own_ids else None
    if objection is None and not keys.first(key):
        objection = f"has the same {field} as an earlier one: {name}; make ids distinct"
    if objection is not None:
        return FailedBlob(outer.path, f"record {place} {objection}")
    return blob(outer, name, record, payload(record, reading), reading)


def _objection(name: str, key: bytes, reading: Reading) -> str | None:
    """Return why a record's key cannot be its document's id, None when it can."""
    if key != name.encode("utf-8", "replace"):
        return f"has half a character in {reading.id_field!r}, which no store keeps; repair it"
    if reading.parted and _PART.search(name):
        return (
            f"has an id that ends as those of parts do ({name[-80:]}); "
            "where clauses are kept, give it another"
        )
    return None


def blob(
    outer: Blob, name: str, record: Mapping[str, Any], payload: Payload, reading: Reading
) -> Blob:
    """Return the blob of a record; with `own_ids` its name is its id."""
    inner = inner_blob(outer, name.encode("utf-8", "surrogatepass"), name, payload)
    id = name if reading.own_ids else inner.id
    return replace(inner, id=id, labels=labels(record, reading))


def labels(record: Mapping[str, Any], reading: Reading) -> tuple[str, ...]:
    """Return the labels of the label field, one value or a list; numbers as text, none empty."""
    texts = (_scalar(value) for value in _label_values(record, reading))
    return tuple(dict.fromkeys(text for text in texts if text))


def _label_values(record: Mapping[str, Any], reading: Reading) -> list[Any]:
    value = field_of(record, reading.label_field) if reading.label_field else None
    return value if isinstance(value, list) else [value]


def _is_label(value: object) -> bool:
    return value is None or _scalar(value) is not None


def _broken(outer: Blob, place: str, error: ExtractionError, reading: Reading) -> Blob | FailedBlob:
    """Return the blob of a record that cannot be read, whose key is its number, or its failure
    where an `id_field` would be the key.
    """
    if reading.id_field is not None:
        return FailedBlob(outer.path, f"record {place}: {error}")
    digest = hashlib.sha256(str(error).encode()).hexdigest()
    return inner_blob(outer, place.encode(), place, Payload(b"", 0, None, digest, digest, error))


def is_empty(value: object) -> bool:
    """Return whether a field holds no value: null, or a list without any.

    >>> [is_empty(value) for value in (None, [], [None], "", [""])]
    [True, True, True, False, False]
    """
    return value is None or (isinstance(value, list) and all(item is None for item in value))


def _text(value: object) -> str | None:
    """Return a text, or a list of texts one a line; None for anything else."""
    if isinstance(value, list):
        texts = [item for item in value if item is not None]
        return "\n".join(texts) if texts and all(isinstance(text, str) for text in texts) else None
    return value if isinstance(value, str) else None


def _scalar(value: object) -> str | None:
    """Return a single value, such as true, 7, 1.5 or 2024-01-31, as a text; None for null and for
    several values.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None or isinstance(value, (list, tuple, Mapping, bytes)) else str(value)


def _flat(record: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield every single value with its name, nested ones with a dotted name; nearfold's own fields
    are left out.

    >>> dict(_flat({"a": 1, "b": {"c": True}, "d": [1, 2], "near_words": 7}))
    {'a': '1', 'b.c': 'true'}
    """
    for name, value in record.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif not name.startswith("near_") and (single := _scalar(value)) is not None:
            yield f"{prefix}{name}", single


def _canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, default=list).encode("ascii")
