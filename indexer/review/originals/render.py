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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from email import message_from_bytes, policy
from email.message import Message
from html import escape

from indexer.documents.mail.message import (
    children,
    decoded_field,
    file_name,
    html_text,
    is_body_text,
    is_container,
    mail_bytes,
    part_bytes,
    payload_text,
)
from indexer.review.originals.files import MailPart, picture_type

_PICTURE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")  # that browsers show
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
_DATA = re.compile(rf"data:(?:{'|'.join(_PICTURE_TYPES)});base64,[A-Za-z0-9+/=\s]*\Z")


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


# A mail as a mail program shows it: its header, its body and its attachments.

_HEADERS = ("From", "To", "Cc", "Bcc", "Date", "Subject")


@dataclass(frozen=True, slots=True)
class AttachedPart:
    """A part of a mail that is no text of its body."""

    name: str
    content_type: str
    data: bytes


def view_mail(data: bytes, clean: Callable[[str, Mapping[str, bytes]], str]) -> str:
    """Return a mail as HTML: its head, then its body, as HTML where the sender wrote that.

    `clean` makes safe what the sender wrote, with the pictures by their Content-ID.

    >>> view_mail(b"From: Ann <a@x>\\nSubject: Rent\\n\\nIt is <b>400</b>.", lambda html, _: html)
    '<dl><div><dt>From</dt><dd>Ann &lt;a@x&gt;</dd></div>\
<div><dt>Subject</dt><dd>Rent</dd></div></dl><pre>It is &lt;b&gt;400&lt;/b&gt;.</pre>'
    """
    source = mail_bytes(data)
    message = message_from_bytes(source.data, policy=policy.compat32)
    fields = {name: decoded_field(message, name) for name in _HEADERS}
    header = "".join(
        f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>"
        for name, value in fields.items()
        if value
    )
    pictures = dict(_pictures(message))
    body = []
    for part in _displayed(message):
        text = payload_text(part, source.is_recoded)
        is_html = part.get_content_type() == "text/html"
        body.append(clean(text, pictures) if is_html else f"<pre>{escape(text)}</pre>")
    return f"<dl>{header}</dl>{'<hr>'.join(body)}"


def attached_parts(data: bytes) -> list[AttachedPart]:
    """Return the parts of a mail that are attached, in order; a mail within it is one part."""
    message = message_from_bytes(mail_bytes(data).data, policy=policy.compat32)
    return [_attached(part) for part in _others(message)]


def _attached(part: Message) -> AttachedPart:
    kind = part.get_content_type()
    inner = children(part) if part.is_multipart() else []
    subject = next((decoded_field(child, "Subject") for child in inner), "")
    return AttachedPart(file_name(part) or subject or kind, kind, part_bytes(part))


def _displayed(part: Message) -> Iterator[Message]:
    """Yield the parts that are the body: of alternatives, HTML where there is any."""
    if not is_container(part):
        if is_body_text(part):
            yield part
        return
    bodies = [list(_displayed(child)) for child in children(part)]
    if part.get_content_type() == "multipart/alternative":
        bodies = sorted(bodies, key=_has_html, reverse=True)[:1]
    for body in bodies:
        yield from body


def _has_html(body: list[Message]) -> bool:
    return any(part.get_content_type() == "text/html" for part in body)


def _others(part: Message) -> Iterator[Message]:
    """Yield the parts that are attached."""
    if is_container(part):
        for child in children(part):
            yield from _others(child)
    elif not is_body_text(part):
        yield part


def _pictures(message: Message) -> Iterator[tuple[str, bytes]]:
    for part in _others(message):
        name = str(part.get("Content-ID", "")).strip().strip("<>")
        if name and part.get_content_type() in _PICTURE_TYPES:
            yield name, part_bytes(part)
