"""Templates to HTML. Everything is escaped, always; numbers, times and paths are spelled in one
way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from indexer.text import wording
from indexer.text.visible import visible, visible_lines
from indexer.web import chart_geometry as drawing

_FOLDER = Path(__file__).parent / "templates"
_TYPES = {
    "application/pdf": "PDF",
    "application/msword": "Word",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "Excel",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint",
    "application/vnd.oasis.opendocument.text": "OpenDocument",
    "application/rtf": "RTF",
    "message/rfc822": "Mail",
    "text/html": "HTML",
    "text/markdown": "Markdown",
    "text/plain": "Text",
}


def environment() -> Environment:
    """The templates with their filters."""
    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "visible": visible,
        "lines": visible_lines,
        "number": number,
        "percent": percent,
        "bytes": size,
        "day": day,
        "kind": kind,
        "name": name,
        "folder": folder,
        "words": spaced,
        "shortened": shortened,
        "visible_text": visible_stretch,
    }
    made.globals |= {"link": link, "drawing": drawing, "paragraphs": paragraphs}
    return made


def link(path: str, **parameters: Any) -> str:
    """A path with a query; parameters that are None or empty are left out, tuples are repeated.

    >>> link("/family", id="a b&c", page=None, filter=("x=1", "y=2"))
    '/family?id=a+b%26c&filter=x%3D1&filter=y%3D2'
    """
    given = {key: value for key, value in parameters.items() if value not in (None, "", ())}
    return f"{path}?{urlencode(given, doseq=True, errors='replace')}" if given else path


def number(value: float) -> str:
    """A whole number with commas."""
    return f"{value:,.0f}"


def percent(share: float | None, digits: int = 0) -> str:
    """A share as per cent, or a dash of nothing."""
    return "–" if share is None else wording.percent(share, digits)


def size(value: int | None) -> str:
    """Bytes in the unit that suits.

    >>> size(1_536), size(12)
    ('1.5 KB', '12 bytes')
    """
    if value is None:
        return "–"
    for unit, width in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if value >= width:
            return f"{value / width:.1f} {unit}"
    return f"{value} bytes"


def day(milliseconds: int | None) -> str:
    """The day in UTC; nothing for a time that is unknown or beyond the calendar."""
    if milliseconds is None:
        return ""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, timezone.utc).strftime("%Y-%m-%d")
    except (OverflowError, OSError, ValueError):
        return ""


def kind(content_type: str) -> str:
    """A content type as a reader calls it."""
    plain = content_type.partition(";")[0].strip()
    return _TYPES.get(plain) or visible(plain)


def name(path: str) -> str:
    """The last part of a path, safe to show; a path that ends in a slash, or is empty, as it is."""
    return visible(path.rstrip("/").rpartition("/")[2] or path or "(no path)")


def folder(path: str) -> str:
    """What stands before the last part of a path."""
    return visible(path.rstrip("/").rpartition("/")[0])


def spaced(word: str) -> str:
    """A name of the code as words."""
    return visible(word.replace("_", " "))


def visible_stretch(text: str) -> str:
    """A stretch of a text on one line, safe to show, with a blank where white space begins or ends
    it.
    """
    return visible(re.sub(r"\s+", " ", text))


def shortened(text: str, most: int) -> str:
    """A stretch of a text, its middle left out when it is longer than `most` characters.

    >>> shortened("from the first word to the last", 15)
    'from th … he last'
    """
    return text if len(text) <= most else f"{text[: most // 2]} … {text[len(text) - most // 2 :]}"


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, safe to show; each may be of another direction."""
    return [part for part in visible_lines(text).split("\n\n") if part.strip()]


def render(templates: Environment, template: str, values: Mapping[str, Any]) -> str:
    """One page; what is no valid Unicode was replaced before."""
    return templates.get_template(template).render(values)
