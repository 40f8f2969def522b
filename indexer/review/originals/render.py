"""The main function of a process that makes safe HTML or a picture of one file.

The file comes from standard input; the result goes to standard output. The arguments are the kind
and, for a mail, `parts` or `part NUMBER`; for a TIFF the number of the page from 1.
"""

from __future__ import annotations

import base64
import codecs
import hashlib
import io
import json
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from html import escape

from indexer.documents.mail.message import html_text
from indexer.review.originals.files import MailPart, picture_type
from indexer.review.originals.mail import PICTURE_TYPES, AttachedPart, attached_parts, view_mail

_MAX_MEMORY = 2 << 30
_MAX_SECONDS = 30
_MAX_HTML = 10 << 20
_MAX_PIXELS = 2400  # pixels of a TIFF as it is shown
_MAX_PAGES = 50  # of a TIFF
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]{2,40})", re.IGNORECASE)
_NOTHING = "<p><em>Nothing is in it.</em></p>"


def main(arguments: Sequence[str]) -> int:
    """Render standard input, and return the exit code."""
    _limit()
    data = sys.stdin.buffer.read()
    sys.stdout.buffer.write(_rendered(arguments[0], data, arguments[1:]))
    return 0


def _rendered(kind: str, data: bytes, more: Sequence[str]) -> bytes:
    if kind == "tiff":
        return _png(data, int(more[0])) if more else _page_count(data)
    if kind == "mail" and more:
        parts = attached_parts(data)
        if more[0] == "part":
            return parts[int(more[1]) - 1].data
        numbered = enumerate(parts, 1)
        return json.dumps([asdict(_fields(number, part)) for number, part in numbered]).encode()
    html = {"word": _word, "mail": _mail, "html": _html}[kind](data)
    return html[:_MAX_HTML].encode("utf-8", "replace")


def _fields(number: int, part: AttachedPart) -> MailPart:
    digest = hashlib.sha256(part.data).hexdigest()
    return MailPart(number, part.name, part.content_type, len(part.data), digest)


def _word(data: bytes) -> str:
    """Return a Word document as HTML: deletions left out, insertions shown, pictures inline."""
    import mammoth  # type: ignore[import-untyped]

    return safe_html(mammoth.convert_to_html(io.BytesIO(data)).value) or _NOTHING


def _html(data: bytes) -> str:
    return safe_html(_decoded(data)) or _NOTHING


def _decoded(data: bytes) -> str:
    """Return HTML in the character set that it declares, else in UTF-8, else in Windows-1252."""
    declared = _CHARSET.search(data[:2048])
    name = "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"
    for encoding in (declared[1].decode() if declared else name, name, "cp1252"):
        with suppress(LookupError, ValueError):
            return data.decode(encoding)
    return data.decode("utf-8", "replace")


def _mail(data: bytes) -> str:
    """Return the head and the body of a mail; without nh3, HTML as its text alone."""
    try:
        import nh3  # noqa: F401
    except ModuleNotFoundError:
        return view_mail(data, lambda html, _: f"<pre>{escape(html_text(html))}</pre>") or _NOTHING
    return view_mail(data, safe_html) or _NOTHING


def _page_count(data: bytes) -> bytes:
    """Return the number of pages of a TIFF, 50 at most."""
    from PIL import Image

    with Image.open(io.BytesIO(data), formats=["TIFF"]) as picture:
        return b"%d" % min(_MAX_PAGES, getattr(picture, "n_frames", 1))


def _png(data: bytes, page: int) -> bytes:
    """Return a page of a TIFF as PNG, of at most 2,400 pixels a side."""
    from PIL import Image

    with Image.open(io.BytesIO(data), formats=["TIFF"]) as picture:
        picture.seek(page - 1)
        picture.thumbnail((_MAX_PIXELS, _MAX_PIXELS))
        out = io.BytesIO()
        picture.convert("RGB").save(out, "PNG")
    return out.getvalue()


def _limit() -> None:
    """Bound memory and processor time, where the system can."""
    try:
        import resource
    except ModuleNotFoundError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_MAX_SECONDS, _MAX_SECONDS))


# HTML of strangers as HTML that runs, loads and sends nothing.

_TAGS = frozenset((
    "a", "abbr", "address", "b", "bdi", "bdo", "blockquote", "br", "caption", "center", "cite",
    "code", "col", "colgroup", "dd", "del", "div", "dl", "dt", "em", "figcaption", "figure",
    "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "li", "mark", "ol", "p", "pre",
    "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "table", "tbody", "td",
    "tfoot", "th", "thead", "tr", "tt", "u", "ul", "var",
))  # fmt: skip
_ATTRIBUTES = {
    "*": {"dir", "lang"},
    "img": {"src", "alt"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
    "ol": {"start"},
}
_DATA = re.compile(rf"data:(?:{'|'.join(PICTURE_TYPES)});base64,[A-Za-z0-9+/=\s]*\Z")


def safe_html(html: str, pictures: Mapping[str, bytes] | None = None) -> str:
    """Return HTML of plain tags; scripts, styles, forms, links and addresses are left out.

    Pictures stay where they are in it as data, or by their `cid:` in `pictures`.

    >>> safe_html('<p onclick="x()">See <a href="https://a.example">this</a><script>1</script>')
    '<p>See <a>this</a></p>'
    """

    import nh3

    def keep(element: str, attribute: str, value: str) -> str | None:
        if (element, attribute) != ("img", "src"):
            return value
        if value.startswith("cid:") and pictures:
            return _inline(pictures.get(value[4:], b""))
        return value if _DATA.match(value) else None

    return nh3.clean(
        html,
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        attribute_filter=keep,
        url_schemes={"data", "cid"},
        link_rel=None,
    )


def _inline(data: bytes) -> str | None:
    kind = picture_type(data)
    return f"data:{kind};base64,{base64.b64encode(data).decode()}" if kind else None
