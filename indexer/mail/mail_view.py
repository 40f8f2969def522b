"""A mail as a reader of mail shows it: its head, its body, and what is attached."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import Message
from html import escape

from indexer.mail.mail_bytes import mail_bytes
from indexer.mail.message import children, decoded_field, payload_text

_HEAD = ("From", "To", "Cc", "Bcc", "Date", "Subject")
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


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
    fields = {name: decoded_field(message, name) for name in _HEAD}
    head = "".join(
        f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>"
        for name, value in fields.items()
        if value
    )
    pictures = dict(_pictures(message))
    body = []
    for part in _shown(message):
        text = payload_text(part, source.is_recoded)
        is_html = part.get_content_type() == "text/html"
        body.append(clean(text, pictures) if is_html else f"<pre>{escape(text)}</pre>")
    return f"<dl>{head}</dl>{'<hr>'.join(body)}"


def attached_parts(data: bytes) -> list[AttachedPart]:
    """Return the parts of a mail that are attached, in order; a mail within it is one part."""
    message = message_from_bytes(mail_bytes(data).data, policy=policy.compat32)
    return [_attached(part) for part in _others(message)]


def _attached(part: Message) -> AttachedPart:
    kind = part.get_content_type()
    if part.is_multipart():
        name = next((decoded_field(inner, "Subject") for inner in children(part)), "")
        data = b"\n".join(inner.as_bytes() for inner in children(part))
        return AttachedPart(part.get_filename() or name or kind, kind, data)
    return AttachedPart(part.get_filename() or kind, kind, _bytes(part))


def _bytes(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _is_text(part: Message) -> bool:
    """Return whether a part is text of the body."""
    is_attached = part.get_content_disposition() == "attachment" or part.get_filename()
    return part.get_content_type() in ("text/plain", "text/html") and not is_attached


def _is_container(part: Message) -> bool:
    return part.is_multipart() and part.get_content_maintype() == "multipart"


def _shown(part: Message) -> Iterator[Message]:
    """Yield the parts that are the body: of alternatives, HTML where there is any."""
    if not _is_container(part):
        if _is_text(part):
            yield part
        return
    bodies = [list(_shown(child)) for child in children(part)]
    if part.get_content_type() == "multipart/alternative":
        bodies = sorted(bodies, key=_has_html, reverse=True)[:1]
    for body in bodies:
        yield from body


def _has_html(body: list[Message]) -> bool:
    return any(part.get_content_type() == "text/html" for part in body)


def _others(part: Message) -> Iterator[Message]:
    """Yield the parts that are attached."""
    if _is_container(part):
        for child in children(part):
            yield from _others(child)
    elif not _is_text(part):
        yield part


def _pictures(message: Message) -> Iterator[tuple[str, bytes]]:
    for part in _others(message):
        name = str(part.get("Content-ID", "")).strip().strip("<>")
        if name and part.get_content_type() in _PICTURES:
            yield name, _bytes(part)
