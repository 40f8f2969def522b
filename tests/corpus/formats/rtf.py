r"""Rich text: every character outside ASCII as \uN, a table, a running header and a footer with the
page's number.
"""

from __future__ import annotations

from collections.abc import Iterator

from corpus.documents import Document, Heading, Paragraph, Part, Table

_CELL_TWIPS = 3000


def content(document: Document) -> bytes:
    """One section, the header and footer groups first."""
    way = r"\rtlpar\qr " if document.language.right_to_left else r"\ltrpar "
    footer = _escape(document.footer).replace("<page>", r"\chpgn ")
    lines = [
        r"{\rtf1\ansi\ansicpg1252\deff0\uc1{\fonttbl{\f0\fnil DejaVu Sans;}}\f0\fs22",
        rf"{{\header\pard{way}{_escape(document.header)}\par}}",
        rf"{{\footer\pard{way}{footer}\par}}",
        rf"\pard{way}{{\b\fs32 {_escape(document.title)}}}\par",
        *(line for part in document.parts for line in _part(part, way)),
        "}",
    ]
    return "\n".join(lines).encode("ascii")


def _part(part: Part, way: str) -> Iterator[str]:
    if isinstance(part, Heading):
        yield rf"\pard{way}\sb240{{\b {_escape(part.text)}}}\par"
    elif isinstance(part, Paragraph):
        yield rf"\pard{way}\sb120 {_escape(part.text)}\par"
    else:
        yield from _table(part, way)


def _table(table: Table, way: str) -> Iterator[str]:
    for row in table.rows:
        edges = "".join(rf"\cellx{_CELL_TWIPS * (place + 1)}" for place in range(len(row)))
        cells = "".join(rf"\pard{way}\intbl {_escape(cell)}\cell" for cell in row)
        yield rf"\trowd{edges}{cells}\row"


def _escape(text: str) -> str:
    """Escape for RTF; `{n}` becomes `<page>`, which is no character of its own there."""
    return "".join(map(_character, text.replace("{n}", "<page>")))


def _character(character: str) -> str:
    code = ord(character)
    if character in "\\{}":
        return "\\" + character
    return character if code < 128 else rf"\u{code - 65536 if code > 32767 else code}?"
