"""Records as documents: a text, a title, labels, and every other field that is a single value as
metadata.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from indexer.errors import ExtractionError, NearfoldError
from indexer.model import Blob, Document, FailedBlob, Payload
from indexer.sources.base import NumberedBlobs, Reading, inner
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


class DamagedRecord(NearfoldError):
    """A container cannot be read any further."""


def document(record: Mapping[str, Any], reading: Reading) -> Document | ExtractionError:
    """The document of a record, or why there is none. A list of texts is one text, an element a
    line, null left out.
    """
    value = field_of(record, reading.text_field)
    text = _text(value)
    if text is None and not nothing(value):
        return ExtractionError(
            f"the field {reading.text_field!r} holds no text but {_KINDS.get(type(value), 'something else')}"
        )
    if text is None:
        there = (
            ", ".join([name for name in sorted(record) if not name.startswith("near_")][:20])
            or "nothing"
        )
        return ExtractionError(
            f"the record has no text in the field {reading.text_field!r} (it has: {there}); name the field by --text-field"
        )
    if not all(one is None or _scalar(one) is not None for one in _label_values(record, reading)):
        return ExtractionError(
            f"the field {reading.label_field!r} holds more than labels, which are single values or one list of them; mend it"
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


def payload(record: Mapping[str, Any], reading: Reading) -> Payload:
    """What a record holds. `raw` is the SHA-256 of its text, `source` that of all that is kept of
    it.
    """
    made = document(record, reading)
    if isinstance(made, ExtractionError):
        digest = hashlib.sha256(_canonical(sorted(record))).hexdigest()
        return Payload(b"", 0, None, digest, digest, made)
    text = made.text.encode("utf-8", "surrogatepass")
    kept = [made.text, made.title, made.metadata, labels(record, reading), made.truncated]
    return Payload(
        b"",
        len(text),
        None,
        hashlib.sha256(text).hexdigest(),
        hashlib.sha256(_canonical(kept)).hexdigest(),
        made,
    )


def blobs(
    outer: Blob,
    records: Iterable[tuple[str, Mapping[str, Any] | ExtractionError]],
    reading: Reading,
) -> Iterator[Blob | FailedBlob]:
    """A blob a record. `records` gives each one's place, such as `7` for the seventh, and its
    fields or why it has none.

    With an `id_field` the key is its value, and a record without one, or with one that was there
    before, has failed.
    """
    if reading.own_ids and reading.id_field is None:
        yield FailedBlob(
            outer.path,
            "its records have no ids of their own unless --id-field names them; --own-ids needs that",
        )
        return
    keys = NumberedBlobs()
    try:
        for place, record in records:
            if isinstance(record, ExtractionError):
                yield _broken(outer, place, record, reading)
                continue
            name = (
                place if reading.id_field is None else _scalar(field_of(record, reading.id_field))
            )
            if not name:
                yield FailedBlob(
                    outer.path,
                    f"record {place} has no value in {reading.id_field!r}; give it one, or mend --id-field",
                )
                continue
            key = name.encode("utf-8", "surrogatepass")
            if reading.own_ids and (objection := _objection(name, key, reading)):
                yield FailedBlob(outer.path, f"record {place} {objection}")
                continue
            if not keys.first(key):
                yield FailedBlob(
                    outer.path,
                    f"record {place} has the same {reading.id_field} as an earlier one: {name}; make ids distinct",
                )
                continue
            yield blob(outer, name, record, payload(record, reading), reading)
    except DamagedRecord as error:
        yield FailedBlob(outer.path, str(error))


def _objection(name: str, key: bytes, reading: Reading) -> str | None:
    """Why a record's key cannot be its document's id."""
    if key != name.encode("utf-8", "replace"):
        return f"has half a character in {reading.id_field!r}, which no store keeps; mend it"
    if reading.parted and _PART.search(name):
        return f"has an id that ends as those of parts do ({name[-80:]}); where clauses are kept, give it another"
    return None


def blob(
    outer: Blob, name: str, record: Mapping[str, Any], held: Payload, reading: Reading
) -> Blob:
    """The blob of a record, under its own name as id where that is asked for."""
    made = inner(outer, name.encode("utf-8", "surrogatepass"), name, held)
    return replace(made, id=name if reading.own_ids else made.id, labels=labels(record, reading))


def labels(record: Mapping[str, Any], reading: Reading) -> tuple[str, ...]:
    """The labels in the label field: a list of them, or one, numbers as text; empty ones do not
    count.
    """
    return tuple(
        dict.fromkeys(label for one in _label_values(record, reading) if (label := _scalar(one)))
    )


def _label_values(record: Mapping[str, Any], reading: Reading) -> list[Any]:
    value = field_of(record, reading.label_field) if reading.label_field else None
    return value if isinstance(value, list) else [value]


def _broken(outer: Blob, place: str, error: ExtractionError, reading: Reading) -> Blob | FailedBlob:
    """A record that cannot be read. By its number it is known all the same; by its id it is not."""
    if reading.id_field is not None:
        return FailedBlob(outer.path, f"record {place}: {error}")
    digest = hashlib.sha256(str(error).encode()).hexdigest()
    return inner(outer, place.encode(), place, Payload(b"", 0, None, digest, digest, error))


def nothing(value: object) -> bool:
    """Whether a field holds no value: null, or a list without any.

    >>> [nothing(value) for value in (None, [], [None], "", [""])]
    [True, True, True, False, False]
    """
    return value is None or (isinstance(value, list) and all(one is None for one in value))


def _text(value: object) -> str | None:
    """A text, or texts one a line; None for anything else."""
    if isinstance(value, list):
        given = [one for one in value if one is not None]
        return "\n".join(given) if given and all(isinstance(one, str) for one in given) else None
    return value if isinstance(value, str) else None


def _scalar(value: object) -> str | None:
    """A single value as a text, None for what is nothing or more than one: true, 7, 1.5,
    2024-01-31.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None or isinstance(value, (list, tuple, Mapping, bytes)) else str(value)


def _flat(record: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every single value with its name, nested ones with a dotted name; nearfold's own fields left
    out.

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
