"""A web page with what web pages have around their text: style, script, a head and a foot."""

from __future__ import annotations

from html import escape

from corpus.documents import Document, Heading, Paragraph, Part, Table

_STYLE = "body { max-width: 40em; margin: auto } td, th { padding: 0 1em }"
_SCRIPT = "document.documentElement.classList.add('ready');"


def content(document: Document) -> bytes:
    """UTF-8, said so in the head."""
    return text(document).encode()


def text(document: Document) -> str:
    """What `content` encodes."""
    direction = "rtl" if document.language.right_to_left else "ltr"
    parts = "\n".join(_element(part) for part in document.parts)
    return f"""<!DOCTYPE html>
<html lang="{document.language.code}" dir="{direction}">
<head><meta charset="utf-8"><title>{escape(document.title)}</title>
<style>{_STYLE}</style><script>{_SCRIPT}</script></head>
<body><header>{escape(document.header)}</header>
<main><h1>{escape(document.title)}</h1>
{parts}
</main></body></html>
"""


def _element(part: Part) -> str:
    if isinstance(part, Heading):
        return f"<h2>{escape(part.text)}</h2>"
    if isinstance(part, Paragraph):
        return f"<p>{escape(part.text)}</p>"
    return _table(part)


def _table(table: Table) -> str:
    head, *rows = table.rows
    lines = [_row("th", head), *(_row("td", row) for row in rows)]
    return f"<table>{''.join(lines)}</table>"


def _row(kind: str, cells: tuple[str, ...]) -> str:
    return "<tr>" + "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in cells) + "</tr>"
