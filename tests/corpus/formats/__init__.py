"""The formats: file name ending -> function that makes a file's bytes of a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from corpus.documents import Document
from corpus.formats import docx, eml, html, odt, pdf, rtf, txt

FORMATS: Mapping[str, Callable[[Document], bytes]] = {
    "html": html.content,
    "docx": docx.content,
    "odt": odt.content,
    "rtf": rtf.content,
    "pdf": pdf.content,
    "eml": eml.content,
    "txt": txt.content,
}
# Devanagari needs its letters shaped, and neither of the PDF writers at hand keeps the text of
# shaped letters: of a Hindi
# page one gives back three quarters of the 4-grams, the other a third.
_WITHOUT = {("hi", "pdf")}


def formats_of(document: Document) -> tuple[str, ...]:
    """The endings a document can be written with."""
    return tuple(ending for ending in FORMATS if (document.language.code, ending) not in _WITHOUT)
