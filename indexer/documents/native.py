"""Tika compiled to native code (iscc-tika), in the process that calls it.

It may hang or die: run it in a worker. Two defects of iscc-tika 0.6.0: the call that returns a
string has runs of U+FFFD instead of text beyond the Basic Multilingual Plane; the call that
returns a stream is right, but its metadata lack late errors, and it returns the same buffer for
every piece.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from indexer.documents.base import Limits
from indexer.documents.tika import READER, damage_error, document, with_hint
from indexer.errors import ExtractorUnavailable
from indexer.model import Document

_PROBE = b"<html><body>nearfold</body></html>"
_BROKEN = "\ufffd"
_WITH_HEADINGS = frozenset(
    {
        "text/html",
        "application/xhtml+xml",
        "application/msword",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.oasis.opendocument.text",
    }
)
_PIECE = 1 << 16


def _identity() -> str:
    try:
        return f"iscc-tika/{version('iscc-tika')}-{READER}"
    except PackageNotFoundError:
        return "iscc-tika/none"


class NativeExtractor:
    """An extractor of the formats of Tika, without Java.

    Its constructor reads a probe, so a broken library is noticed at the start.
    """

    identity = _identity()
    extra_seconds = 0.0

    def __init__(self, limits: Limits) -> None:
        self._chars = limits.chars
        try:
            from iscc_tika import Extractor, OfficeParserConfig  # type: ignore[import-untyped]

            # Tika of Java, and so a server, reads headers and footers of Word and Excel, too.
            office = OfficeParserConfig().set_include_headers_and_footers(True)
            self._tika: Any = (
                Extractor()
                .set_extract_string_max_length(limits.chars + 1)
                .set_office_config(office)
            )
            text, _ = self._tika.extract_bytes_to_string(bytearray(_PROBE))
        except (ImportError, OSError, TypeError) as error:
            raise ExtractorUnavailable(extractor=self.identity, reason=str(error)) from error
        if text.strip() != "nearfold":
            raise ExtractorUnavailable(
                extractor=self.identity, reason="it does not read its own probe"
            )

    def extract(self, data: bytes, name: str) -> Document:
        """Read one document; no bytes give an empty document. Raises `ExtractionError`."""
        if not data:
            return Document("", extractor=self.identity)
        content = bytearray(with_hint(data, name))
        try:
            text, metadata = self._tika.extract_bytes_to_string(content)
        except (TypeError, OSError) as error:
            reason = str(error).removeprefix('ParseError("Parse error occurred : ')
            raise damage_error(reason.removesuffix('")'), data) from error
        if _BROKEN in text:
            text = self._exact_text(content) or text
        return document(text, metadata, data, self._chars, self.identity)

    def _exact_text(self, content: bytearray) -> str:
        """Return the text by the stream, with at most one code point more than the limit; empty
        when that fails.
        """
        pieces: list[bytes] = []
        left = 4 * (self._chars + 1)
        try:
            stream, _ = self._tika.extract_bytes(content)
            while left > 0 and (piece := bytes(stream.read(_PIECE))):
                pieces.append(piece)
                left -= len(piece)
        except OSError:
            return ""
        return b"".join(pieces).decode("utf-8", "replace")[: self._chars + 1]


class StructuredExtractor(NativeExtractor):
    """An extractor that marks headings of html, Word and OpenDocument, too, in a second reading."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        from iscc_tika import Extractor

        self._pages: Any = (
            Extractor().set_extract_string_max_length(limits.chars + 1).set_xml_output(True)
        )

    def extract(self, data: bytes, name: str) -> Document:
        """Read one document with its headings. Raises `ExtractionError`."""
        document = super().extract(data, name)
        if document.content_type not in _WITH_HEADINGS:
            return document
        # Imported here: its patterns take half of the time in which a worker starts.
        from indexer.comparing.clauses.segmentation import marked_headings

        try:
            page, _ = self._pages.extract_bytes_to_string(bytearray(with_hint(data, name)))
        except (TypeError, OSError):
            return document
        return replace(document, headings=marked_headings(page))
