"""The documents of a comparison as read: text, metadata, warnings of the extraction, and the
formats of Word files.
"""

from __future__ import annotations

import io
import zipfile
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from html import escape
from pathlib import Path
from xml.etree import ElementTree

from indexer.errors import DocumentNotFound
from indexer.fingerprinting.fingerprint import with_pictographs
from indexer.jobs.document_rows import STDIN, WARNING, document_at
from indexer.model import NO_GAPS, Row, unpack_embedded
from indexer.stores.base import Store
from indexer.stores.fields import metadata_label
from indexer.stores.requirements import stored_ids
from indexer.wording import CUT, EMPTY, STATUS_WARNINGS

_MIN_DIGITS = 12  # of a SHA-256, which tell two sets of files apart


@dataclass(frozen=True, slots=True)
class Original:
    """A document as it was read. `path` is `-` for stdin; `modified` is in milliseconds since 1970
    UTC; None is unknown.
    """

    path: str
    text: str
    title: str = ""
    content_type: str = ""
    size: int | None = None
    modified: int | None = None
    extractor: str = ""
    labels: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    embedded: str = ""

    @property
    def facts(self) -> dict[str, str]:
        """Return the properties to compare besides the text, by name, without unknown and empty
        ones.
        """
        facts = {
            "title": self.title,
            "content type": self.content_type,
            "size": "" if self.size is None else f"{self.size:,} bytes",
            "file modified": _iso_time(self.modified),
            "labels": ", ".join(self.labels),
            "extractor": self.extractor,
            "files in the document": _file_names(self.embedded),
        }
        for key, value in sorted(self.metadata.items()):
            name = metadata_label(key, self.content_type)
            facts[f"{name} (metadata)" if name in facts else name] = value
        return {name: value for name, value in facts.items() if value}


def original(name: str, store: Store) -> Original:
    """Return a document by the path of a file, from stdin (`-`), or by the id or path of a stored
    one; a file goes before it.

    Raises `DocumentNotFound` for a name that is neither, and what `document_at` raises.
    """
    if name == STDIN or Path(name).exists():
        return _read(name)
    [id] = stored_ids(store, [name])
    row = store.get([id]).get(id) if store.stored_recipe() else None
    if row is None:
        raise DocumentNotFound(id=name)
    return stored_original(row)


def _read(name: str) -> Original:
    """Read a file, or stdin for `-`. A truncated or empty text always has a warning."""
    path, document = document_at(name)
    file_status = Path(name).stat() if name != STDIN else None
    warnings = document.warnings or ((CUT,) if document.truncated else ())
    return Original(
        path=path,
        text=document.text,
        title=document.title,
        content_type=document.content_type,
        size=file_status and file_status.st_size,
        modified=file_status and file_status.st_mtime_ns // 1_000_000,
        extractor=document.extractor,
        labels=document.labels,
        metadata=document.metadata,
        warnings=warnings if document.text.strip() else (*warnings, EMPTY),
        embedded=with_pictographs(document.embedded, document.text),
    )


def stored_original(row: Row) -> Original:
    """Return a stored document, with the warnings of its extraction; of one that was stored without
    any, those that follow from its status.
    """
    metadata = dict(row.metadata)
    stored = metadata.pop(WARNING, "")
    warnings = (
        stored or STATUS_WARNINGS.get(row.status, ""),
        EMPTY if row.status == "empty" else "",
    )
    return Original(
        path=row.path,
        text=row.text,
        title=row.title,
        content_type=row.content_type,
        size=row.size,
        modified=row.modified,
        extractor=row.extractor,
        labels=row.labels,
        metadata=metadata,
        warnings=tuple(dict.fromkeys(filter(None, warnings))),
        embedded=row.embedded,
    )


def _file_names(embedded: str) -> str:
    """Return the names of the files in a document, after the beginning of the SHA-256 of all."""
    names = [file.name for file in unpack_embedded(embedded) if file.sha256 != NO_GAPS]
    return f"SHA-256 {embedded[:_MIN_DIGITS]}: {', '.join(names)}" if names else ""


def _iso_time(milliseconds: int | None) -> str:
    """Return a time as ISO 8601 in UTC; empty when unknown or beyond the calendar."""
    if milliseconds is None:
        return ""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, timezone.utc).isoformat(
            timespec="seconds"
        )
    except (OverflowError, OSError, ValueError):
        return ""


# The styles and the numbering of paragraphs in Word files, which their texts do not have.

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STYLES, NUMBERING = "word/styles.xml", "word/numbering.xml"
_W = f"{{{WORD}}}"
_MAX_BYTES = 32 << 20  # of a part
# what a copied part must not have: pictures and links, which are in other parts
_ELSEWHERE = (b"numPicBullet", b"r:id=", b"r:embed=", b"r:link=")


@dataclass(frozen=True, slots=True)
class WordFormats:
    """The formats of a Word file.

    `parts`: its styles and its numbering, by the names of the parts. `paragraphs`: the id of the
    style of paragraphs outside tables and their numbering as XML, in order, by their texts without
    blanks. `styles`: the names of styles by their ids.
    """

    parts: Mapping[str, bytes]
    paragraphs: Mapping[str, tuple[tuple[str, str], ...]]
    styles: Mapping[str, str]


def word_formats(data: bytes) -> WordFormats | None:
    """Return the formats of a file; None if it is no Word file (docx) that can be read."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            names = set(package.namelist()) & {STYLES, NUMBERING}
            parts = {name: part for name in sorted(names) if (part := _copied(package, name))}
            document = ElementTree.fromstring(_part(package, "word/document.xml"))
    except (zipfile.BadZipFile, KeyError, ValueError, ElementTree.ParseError, OSError):
        return None
    paragraphs: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for paragraph in _outside_tables(document):
        text = "".join(node.text or "" for node in paragraph.iter(f"{_W}t"))
        paragraphs[without_blanks(text)].append(_properties(paragraph, parts))
    styles = dict(_style_names(parts[STYLES])) if STYLES in parts else {}
    kept = {text: tuple(formats) for text, formats in paragraphs.items()}
    return WordFormats(parts, kept, styles)


def _style_names(part: bytes) -> Iterator[tuple[str, str]]:
    """Yield the id and the name of each style."""
    for style in ElementTree.fromstring(part).iter(f"{_W}style"):
        name = style.find(f"{_W}name")
        if name is not None:
            yield style.get(f"{_W}styleId", ""), name.get(f"{_W}val", "").casefold()


def without_blanks(text: str) -> str:
    """Return a text without blanks and line ends, by which paragraphs are compared.

    >>> without_blanks(" 1.\\tThe rent\\n")
    '1.Therent'
    """
    return "".join(text.split())


class FormatFinder:
    """The formats of paragraphs of two versions, each given once.

    Those of the second are used; paragraphs that are in the first alone have the style of that name
    in the second, and their numbers where both have the same numbering.
    """

    def __init__(self, before: WordFormats | None, after: WordFormats | None) -> None:
        self.parts = after.parts if after else {}
        self._after, self._before = _queues(after), _queues(before)
        ids = {name: style for style, name in after.styles.items()} if after else {}
        names = before.styles if before else {}
        self._ids = {style: ids[name] for style, name in names.items() if name in ids}
        numbering = [formats.parts.get(NUMBERING) for formats in (before, after) if formats]
        self._has_same_numbers = len(numbering) == 2 and numbering[0] == numbering[1]

    def of(self, before: str, after: str) -> str:
        """Return the properties of the next paragraph with these texts, as XML; empty for none."""
        queues, text = (self._after, after) if after.strip() else (self._before, before)
        formats = queues.get(without_blanks(text))
        if not formats:
            return ""
        style, number = formats.popleft()
        if queues is self._before:
            style, number = self._ids.get(style, ""), number if self._has_same_numbers else ""
        return f'<w:pStyle w:val="{escape(style)}"/>{number}' if style else number


def _queues(formats: WordFormats | None) -> dict[str, deque[tuple[str, str]]]:
    paragraphs = formats.paragraphs if formats else {}
    return {text: deque(properties) for text, properties in paragraphs.items()}


def _part(package: zipfile.ZipFile, name: str) -> bytes:
    """Return a part; raises `ValueError` for one that is too large, or that declares entities."""
    if package.getinfo(name).file_size > _MAX_BYTES:
        raise ValueError(name)
    part = package.read(name)
    if b"<!DOCTYPE" in part or b"<!ENTITY" in part:
        raise ValueError(name)
    return part


def _copied(package: zipfile.ZipFile, name: str) -> bytes | None:
    """Return a part that stands alone; None if it has what is in others."""
    part = _part(package, name)
    is_whole = not any(reference in part for reference in _ELSEWHERE)
    is_word = ElementTree.fromstring(part).tag.startswith(_W)
    return part if is_whole and is_word else None


def _outside_tables(document: ElementTree.Element) -> Iterator[ElementTree.Element]:
    tables = document.iter(f"{_W}tbl")
    inside = {id(paragraph) for table in tables for paragraph in table.iter(f"{_W}p")}
    for paragraph in document.iter(f"{_W}p"):
        if id(paragraph) not in inside:
            yield paragraph


def _properties(paragraph: ElementTree.Element, parts: Mapping[str, bytes]) -> tuple[str, str]:
    """Return the id of the style of a paragraph and its numbering as XML, as far as their parts
    are there.
    """
    style = _value(paragraph, "pStyle") if STYLES in parts else ""
    level, number = (_value(paragraph, f"numPr/{_W}{name}") for name in ("ilvl", "numId"))
    if NUMBERING not in parts or not number.isdigit():
        return style, ""
    levels = f'<w:ilvl w:val="{level}"/>' if level.isdigit() else ""
    return style, f'<w:numPr>{levels}<w:numId w:val="{number}"/></w:numPr>'


def _value(paragraph: ElementTree.Element, name: str) -> str:
    found = paragraph.find(f"{_W}pPr/{_W}{name}")
    return "" if found is None else found.get(f"{_W}val", "")
