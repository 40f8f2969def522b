"""Documents of records: rows of CSV and TSV, lines of JSON, rows of a store.

A record is known by its number from 1; in CSV and TSV the first row has the names of the fields.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import json
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, BinaryIO, Protocol, TypeAlias

from indexer.documents.base import ReadOptions, Records, SourceItem, byte_order_mark
from indexer.documents.blobs import DamagedRecord, NumberedBlobs, identifier, inner_blob, lines
from indexer.errors import ExtractionError, UnreadableFile
from indexer.model import Blob, Document, FailedBlob, Payload
from indexer.wording import count_of, field_of

_UNDECODED = re.compile("[\udc80-\udcff]")
_QUOTES = {  # U+00FE, with which a load file begins
    b"\xc3\xbe": "utf-8",
    b"\xfe\0": "utf-16-le",
    b"\0\xfe": "utf-16-be",
}
_PIECE = 1 << 20
_DELIMITERS = (",", ";", "\t", "|")


def delimited_records(path: str, stream: BinaryIO, read_options: ReadOptions) -> Records:
    """Yield the rows of a file as `read_table` returns them; raises as it does."""
    _, rows = read_table(path, stream, read_options)
    yield from rows


def read_table(path: str, stream: BinaryIO, read_options: ReadOptions) -> tuple[list[str], Records]:
    """Return the names of the columns, and the rows of a file in `read_options.encoding`, or in
    the one that a byte order mark names.

    Without `read_options.delimiter`, the first of comma, semicolon, tab and bar (in `.tsv` files
    tab first) that makes the requested fields columns separates fields, or that makes several
    columns if no field is requested. Raises `DamagedRecord` when one of these is not a column.
    """
    names, rows = _table(path, stream, read_options)
    return names, _records(names, rows, read_options)


def _records(names: list[str], rows: Rows, read_options: ReadOptions) -> Records:
    for number, row in enumerate((row for row in rows if row != []), 1):
        yield (
            str(number),
            row if isinstance(row, ExtractionError) else record(names, row, read_options),
        )


def delimited_lines(path: str, stream: BinaryIO, read_options: ReadOptions) -> Iterator[bytes]:
    """Yield the row of names, then the row of each item of `records`, as they stand, in UTF-8.

    A row that cannot be read is its first line.
    """
    _, rows = _table(path, stream, read_options)
    yield rows.raw_bytes
    for row in rows:
        if row != []:
            yield rows.raw_bytes


def table_rows(
    path: str, stream: BinaryIO, read_options: ReadOptions
) -> tuple[dict[str, str], bytes, Iterator[tuple[bytes, Mapping[str, Any] | ExtractionError]]]:
    """Return the `columns`, their row, and each item of `records` with its row, as `raw_rows` has
    them; raises as `read_table` does.
    """
    names, rows = _table(path, stream, read_options)
    first = rows.raw_bytes
    both = ((rows.raw_bytes, item) for _, item in _records(names, rows, read_options))
    return _separated(names, rows), first, both


def columns(path: str, stream: BinaryIO, read_options: ReadOptions) -> dict[str, str]:
    """Return the names of the columns in their order, each with what separates it from the next.

    Raises `DamagedRecord` when one of the requested fields is not a column.
    """
    return _separated(*_table(path, stream, read_options))


def _separated(names: list[str], rows: Rows) -> dict[str, str]:
    return dict.fromkeys(names, f"separated by {rows.delimiter!r}")


def _table(path: str, stream: BinaryIO, read_options: ReadOptions) -> tuple[list[str], Rows]:
    """Return the names of the columns, and the rows below them."""
    tabs_first = path.lower().removesuffix(".gz").endswith(".tsv")
    text = text_lines(stream, read_options)
    first = next(text, "")
    delimiter = read_options.delimiter or _delimiter(first, tabs_first, read_options)
    rows = Rows(chain([first], text), delimiter, read_options.max_bytes)
    names = next(rows, None)
    if isinstance(names, ExtractionError) or not names:
        raise DamagedRecord(f"it has no row of column names ({names or 'it is empty'}); add one")
    for name in read_options.required_fields:
        if name not in names:
            raise DamagedRecord(
                f"it has no column {name!r}, but: {', '.join(names[:20])}; "
                "choose by --text-field, --id-field and --label-field, "
                "or name the separator of fields by --delimiter"
            )
    return names, rows


def _delimiter(first: str, tabs_first: bool, read_options: ReadOptions) -> str:
    """Return the character that separates the fields of the first line."""
    delimiters = ("\t", *_DELIMITERS) if tabs_first else _DELIMITERS
    required = set(read_options.required_fields)
    for delimiter in delimiters:
        columns = next(csv.reader([first], delimiter=delimiter), ())
        if required <= set(columns) if required else len(columns) > 1:
            return delimiter
    return delimiters[0]


def text_lines(stream: BinaryIO, read_options: ReadOptions) -> Iterator[str]:
    """Yield the lines as text; bytes that are not of the encoding are lone surrogates, so that only
    their own row fails.

    Raises `DamagedRecord` for a file that cannot be read to its end.
    """
    encoding = read_options.encoding
    try:
        start = stream.read(4)
        mark, marked_encoding = byte_order_mark(start)
        encoding = marked_encoding or _QUOTES.get(start[:2], encoding)
        pieces = chain([start[len(mark) :]], iter(lambda: stream.read(_PIECE), b""))
        errors = "strict" if encoding.startswith(("utf-16", "utf-32")) else "surrogateescape"
        texts = codecs.iterdecode(pieces, encoding, errors)
        yield from _lines(texts, read_options.max_bytes)
    except (OSError, EOFError, zlib.error, UnicodeError) as error:
        raise DamagedRecord(
            f"it cannot be read completely as {encoding.upper()} ({error}); repair the file, then "
            "run again"
        ) from error


def _lines(pieces: Iterable[str], max_chars: int) -> Iterator[str]:
    """Yield the lines of a text in pieces. Raises `DamagedRecord` for one of more than `max_chars`
    characters.
    """
    begun: list[str] = []
    for piece in pieces:
        first, *rest = piece.split("\n")
        begun.append(first)
        if max(sum(map(len, begun)), *map(len, rest), 0) > max_chars:
            raise DamagedRecord(f"a line of it is too long: {UnreadableFile.too_large(max_chars)}")
        if rest:
            yield "".join(begun) + "\n"
            yield from (f"{line}\n" for line in rest[:-1])
            begun = [rest[-1]]
    last = "".join(begun)
    if last:
        yield last


class Rows:
    """The rows of CSV.

    A damaged row, as after a quote that is never closed, costs its first line; the next line begins
    a new row. `raw`: the last row as it stands. `delimiter` separates its fields, of at most
    `max_field` characters, and `quote` encloses them.
    """

    def __init__(
        self, text: Iterator[str], delimiter: str, max_field: int, quote: str = '"'
    ) -> None:
        csv.field_size_limit(max(csv.field_size_limit(), min(max_field, (1 << 31) - 1)))
        self._text = text
        self.delimiter = delimiter
        self._quote = quote
        self._returned: deque[str] = deque()
        self._line = 0
        self.raw = ""

    @property
    def raw_bytes(self) -> bytes:
        """The last row as it stands, in UTF-8."""
        return self.raw.encode("utf-8", "surrogateescape")

    def __iter__(self) -> Iterator[list[str] | ExtractionError]:
        return self

    def __next__(self) -> list[str] | ExtractionError:
        used: list[str] = []
        try:
            lines = self._take(used)
            reader = csv.reader(lines, delimiter=self.delimiter, quotechar=self._quote, strict=True)
            row = next(reader)
        except csv.Error as error:
            self._returned.extendleft(reversed(used[1:]))
            self._line += 1
            self.raw = used[0]
            return ExtractionError(
                f"line {self._line} is not a row of CSV ({error}); "
                "look for a quote that is not closed or doubled"
            )
        self._line += len(used)
        self.raw = "".join(used)
        return row

    def _take(self, used: list[str]) -> Iterator[str]:
        """Yield lines for a row, and append them to `used`."""
        while True:
            line = self._returned.popleft() if self._returned else next(self._text, None)
            if line is None:
                return
            used.append(line)
            yield line


def record(
    names: list[str], row: list[str], read_options: ReadOptions
) -> Mapping[str, str] | ExtractionError:
    """Return the fields of a row by name, or why it has none: their number, its encoding, or a text
    that is too long.
    """
    if len(row) != len(names):
        return ExtractionError(
            f"the row has {count_of(len(row), 'field')}, "
            f"the first row {count_of(len(names), 'name')}; repair the row"
        )
    if any(map(_UNDECODED.search, row)):
        return ExtractionError(
            f"the row is not {read_options.encoding.upper()}; name the encoding by --encoding, "
            "such as cp1252, or convert the file"
        )
    fields = dict(zip(names, row, strict=True))
    if len(fields.get(read_options.text_field, "")) > read_options.max_bytes:
        return UnreadableFile.too_large(read_options.max_bytes)
    return fields


# JSON Lines: one record a line, known by the number of its line.


def json_records(path: str, stream: BinaryIO, read_options: ReadOptions) -> Records:
    """Yield the records of a file; empty lines are none, but count."""
    for number, line in enumerate(lines(stream, read_options.max_bytes), 1):
        if isinstance(line, UnreadableFile):
            yield str(number), line
        elif line.strip():
            yield str(number), _record(line)


def json_lines(path: str, stream: BinaryIO, read_options: ReadOptions) -> Iterator[bytes]:
    """Yield the line of each item of `records` as it stands; empty for a line that is too long."""
    for line in lines(stream, read_options.max_bytes):
        if isinstance(line, UnreadableFile):
            yield b""
        elif line.strip():
            yield line.removeprefix(codecs.BOM_UTF8)


_decode_json = json.JSONDecoder().decode


def _record(line: bytes) -> Mapping[str, Any] | ExtractionError:
    try:
        record = _decode_json(line.removeprefix(codecs.BOM_UTF8).decode())
    except (ValueError, RecursionError) as error:
        return ExtractionError(f"the line is not JSON ({error}); repair it, or leave it out")
    if not isinstance(record, dict):
        return ExtractionError("the line is not a JSON object; repair it, or leave it out")
    return record


# Documents made of records: text, title, labels, and the other single values as metadata.

EXTRACTOR = "records/1"
_PART = re.compile("#[1-9][0-9]*$", re.ASCII)
_KINDS = {
    dict: "an object",
    list: "a list of other things",
    int: "a number",
    float: "a number",
    bool: "true or false",
}


def document(record: Mapping[str, Any], read_options: ReadOptions) -> Document | ExtractionError:
    """Return the document of a record, or the error that it has none."""
    text = text_of(record, read_options)
    if isinstance(text, ExtractionError):
        return text
    if not all(_is_label(label) for label in _label_values(record, read_options)):
        return ExtractionError(
            f"the field {read_options.label_field!r} holds more than labels, "
            "which are single values or one list of them; repair it"
        )
    special = {read_options.text_field, read_options.title_field}
    return Document(
        text=text[: read_options.max_chars],
        title=_text(field_of(record, read_options.title_field)) or "",
        content_type="text/plain",
        metadata={name: value for name, value in _flat(record) if name not in special},
        extractor=EXTRACTOR,
        truncated=len(text) > read_options.max_chars,
    )


def text_of(record: Mapping[str, Any], read_options: ReadOptions) -> str | ExtractionError:
    """Return the text of a record, or the error that it has none.

    A list of texts is one text, an element a line, null left out. An error instead of the text is
    the error of its text file.
    """
    value = field_of(record, read_options.text_field)
    if isinstance(value, ExtractionError):
        return value
    text = _text(value)
    return _no_text(record, value, read_options) if text is None else text


def _no_text(
    record: Mapping[str, Any], value: object, read_options: ReadOptions
) -> ExtractionError:
    """Return the error of a record whose text field holds this value."""
    if not is_empty(value):
        kind = _KINDS.get(type(value), "something else")
        return ExtractionError(f"the field {read_options.text_field!r} holds no text but {kind}")
    names = [name for name in sorted(record) if not name.startswith("near_")]
    return ExtractionError(
        f"the record has no text in the field {read_options.text_field!r} "
        f"(it has: {', '.join(names[:20]) or 'nothing'}); name the field by --text-field"
    )


def payload(record: Mapping[str, Any], read_options: ReadOptions) -> Payload:
    """Return the payload of a record.

    `raw` is the SHA-256 of its text, `source` the SHA-256 of everything that is stored of it.
    """
    result = document(record, read_options)
    if isinstance(result, ExtractionError):
        digest = hashlib.sha256(_canonical(sorted(record))).hexdigest()
        return Payload(b"", 0, None, digest, digest, result)
    text = result.text.encode("utf-8", "surrogatepass")
    content = [
        result.text,
        result.title,
        result.metadata,
        labels(record, read_options),
        result.truncated,
    ]
    raw = hashlib.sha256(text).hexdigest()
    source = hashlib.sha256(_canonical(content)).hexdigest()
    return Payload(b"", len(text), None, raw, source, result)


def record_blobs(
    outer: Blob, records: Records, read_options: ReadOptions
) -> Iterator[Blob | FailedBlob]:
    """Yield a blob for each record.

    With an `id_field` the key is its value; a record without one, or with that of an earlier
    record, fails.
    """
    if read_options.own_ids and read_options.id_field is None:
        yield FailedBlob(
            outer.path,
            "its records have no ids of their own unless --id-field names them; "
            "--own-ids needs that",
        )
        return
    keys = NumberedBlobs()
    try:
        for position, record in records:
            if isinstance(record, ExtractionError):
                yield _broken(outer, position, record, read_options)
            else:
                yield _blob_at(outer, position, record, keys, read_options)
    except DamagedRecord as error:
        yield FailedBlob(outer.path, str(error))


def _blob_at(
    outer: Blob,
    path: str,
    record: Mapping[str, Any],
    keys: NumberedBlobs,
    read_options: ReadOptions,
) -> Blob | FailedBlob:
    """Return the blob of the record at a position, or its failure when it has no usable key."""
    field = read_options.id_field
    name = path if field is None else _scalar(field_of(record, field))
    if not name:
        problem = f"has no value in {field!r}; give it one, or change --id-field"
        return FailedBlob(outer.path, f"record {path} {problem}")
    key = name.encode("utf-8", "surrogatepass")
    objection = _objection(name, key, read_options) if read_options.own_ids else None
    if objection is None and field is not None and not keys.first(key):  # positions are distinct
        objection = f"has the same {field} as an earlier one: {name}; make ids distinct"
    if objection is not None:
        return FailedBlob(outer.path, f"record {path} {objection}")
    return blob(outer, name, record, payload(record, read_options), read_options)


def _objection(name: str, key: bytes, read_options: ReadOptions) -> str | None:
    """Return why a record's key cannot be its document's id, None when it can."""
    if key != name.encode("utf-8", "replace"):
        return f"has half a character in {read_options.id_field!r}, which no store keeps; repair it"
    if read_options.parted and _PART.search(name):
        return (
            f"has an id that ends as those of parts do ({name[-80:]}); "
            "where clauses are kept, give it another"
        )
    return None


def blob(
    outer: Blob, name: str, record: Mapping[str, Any], payload: Payload, read_options: ReadOptions
) -> Blob:
    """Return the blob of a record; with `own_ids` its name is its id."""
    inner = inner_blob(outer, name.encode("utf-8", "surrogatepass"), name, payload)
    id = name if read_options.own_ids else inner.id
    return replace(inner, id=id, labels=labels(record, read_options))


def labels(record: Mapping[str, Any], read_options: ReadOptions) -> tuple[str, ...]:
    """Return the labels of the label field, one value or a list; numbers as text, none empty."""
    texts = (_scalar(value) for value in _label_values(record, read_options))
    return tuple(dict.fromkeys(text for text in texts if text))


def _label_values(record: Mapping[str, Any], read_options: ReadOptions) -> list[Any]:
    value = field_of(record, read_options.label_field) if read_options.label_field else None
    return value if isinstance(value, list) else [value]


def _is_label(value: object) -> bool:
    return value is None or _scalar(value) is not None


def _broken(
    outer: Blob, path: str, error: ExtractionError, read_options: ReadOptions
) -> Blob | FailedBlob:
    """Return the blob of a record that cannot be read, whose key is its number, or its failure
    where an `id_field` would be the key.
    """
    if read_options.id_field is not None:
        return FailedBlob(outer.path, f"record {path}: {error}")
    digest = hashlib.sha256(str(error).encode()).hexdigest()
    return inner_blob(outer, path.encode(), path, Payload(b"", 0, None, digest, digest, error))


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


# Documents of a store: of an index that others filled, or of another store of nearfold.

Digest: TypeAlias = Callable[[Mapping[str, Any]], str]


class Documents(Protocol):
    """A reader of the documents of an index."""

    def documents(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the id and the fields of each document."""
        ...


class IndexSource:
    """One index; a document in it is known by its id there."""

    def __init__(
        self,
        documents: Documents,
        location: str,
        read_options: ReadOptions,
        digest: Digest | None = None,
    ) -> None:
        """Read from the store at `location`, its URL without user and options.

        With `digest`, documents are fingerprinted in place: they keep their ids, and changed when
        their digest did.
        """
        self._documents = documents
        self._digest = digest
        self._options = read_options if digest is None else replace(read_options, own_ids=True)
        self._url = location

    def blobs(self) -> Iterator[SourceItem]:
        """Yield the documents as of the time of the first; one without a text fails, unless it is
        fingerprinted in place.
        """
        outer = Blob(identifier(self._space(), self._url.encode()), b"", self._url, b"", 0, None)
        for id, fields in self._documents.documents():
            if self._digest is None:
                content = payload(fields, self._options)
            else:
                fingerprinted = payload(self._with_text(fields), self._options)
                content = replace(fingerprinted, source=self._digest(fields))
            yield blob(outer, id, fields, content, self._options)

    def _with_text(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the fields with an empty text when they have none."""
        name = self._options.text_field
        return {**fields, name: ""} if is_empty(field_of(fields, name)) else fields

    def scopes(self) -> tuple[str, ...]:
        """Return the inside of this index; nothing if its documents are fingerprinted in place."""
        return (f"{self._url}!",) if self._digest is None else ()

    def holds(self, path: str) -> bool:
        """Return False: every document was read."""
        return False

    def _space(self) -> bytes:
        return (self._options.namespace or "").encode("utf-8", "surrogateescape")


# Concordance load files: their separators, and the names of their fields.

QUOTE, DELIMITER, NEWLINE = "\u00fe", "\u0014", "\u00ae"
_NO_NAME = re.compile(r"[^a-z0-9]+")
IDS = (
    "docid", "controlnumber", "documentid", "begdoc", "begbates", "batesbeg", "begno", "docno",
    "prodbeg", "prodbegbates", "begcontrol", "begprod", "id",
)  # fmt: skip
SEPARATOR = ";"


def field_named(names: Sequence[str], known: Sequence[str]) -> str | None:
    """Return the first field with one of the known names, the best known first; None without any.

    >>> field_named(["Control Number", "BEGDOC#"], ("begdoc", "controlnumber"))
    'BEGDOC#'
    """
    formatted = {_NO_NAME.sub("", name.casefold()): name for name in reversed(names)}
    return next((formatted[name] for name in known if name in formatted), None)


def split_labels(value: str) -> list[str]:
    """Return the labels of a field.

    >>> split_labels("hot; privileged"), split_labels("")
    (['hot', 'privileged'], [])
    """
    return [label.strip() for label in value.split(SEPARATOR) if label.strip()]
