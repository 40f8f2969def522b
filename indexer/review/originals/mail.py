"""A mail as a mail program shows it: its header, its body and its attachments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import Message
from html import escape

from indexer.documents.mail.message import (
    children,
    decoded_field,
    file_name,
    is_body_text,
    is_container,
    mail_bytes,
    part_bytes,
    payload_text,
)

_HEADERS = ("From", "To", "Cc", "Bcc", "Date", "Subject")
PICTURE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""The pictures that browsers show."""


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
        if name and part.get_content_type() in PICTURE_TYPES:
            yield name, part_bytes(part)
