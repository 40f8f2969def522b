"""The attachments of a mail as files, and the mail without them."""

from __future__ import annotations

import mimetypes
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.errors import MessageError
from email.message import Message

from indexer.mail.mail_bytes import mail_bytes
from indexer.mail.message import (
    children,
    file_name,
    is_body_text,
    is_container,
    part_bytes,
)

_SIGNATURES = (
    "application/pgp-signature",
    "application/pkcs7-signature",
    "application/x-pkcs7-signature",
)


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """An attachment: its name, and its bytes as they were before they were encoded."""

    name: str
    data: bytes


def split_attachments(data: bytes) -> tuple[bytes, tuple[AttachedFile, ...]]:
    """Return a mail without its attachments, and these in order; the mail as it is without any.

    Pictures that the text shows, other versions of the text, and signatures by a key stay in the
    mail. An attached mail is one attachment, with all that is in it. Raises `ValueError` for a mail
    that the `email` package cannot divide, and one in UTF-16.
    """
    source = mail_bytes(data)
    if source.is_recoded:
        raise ValueError("a mail in UTF-16 is not divided")
    files: list[AttachedFile] = []
    try:
        message = message_from_bytes(source.data, policy=policy.compat32)
        if is_container(message):
            _detach(message, files)
        elif not is_body_text(message):
            files.append(_file(message))
            _empty(message)
        return (message.as_bytes() if files else data), tuple(files)
    except (MessageError, LookupError, TypeError, RecursionError, AttributeError) as error:
        raise ValueError(str(error) or type(error).__name__) from error


def _detach(container: Message, files: list[AttachedFile]) -> None:
    """Move the attachments of a part with parts to `files`."""
    kept: list[Message | str] = []
    for part in children(container):
        if is_container(part):
            _detach(part, files)
        elif not _belongs_to_text(part, container):
            files.append(_file(part))
            continue
        kept.append(part)
    container.set_payload(kept)


def _belongs_to_text(part: Message, container: Message) -> bool:
    if is_body_text(part) or part.get_content_type() in _SIGNATURES:
        return True
    if container.get_content_type() == "multipart/alternative":
        return True
    is_shown = container.get_content_type() == "multipart/related" or "Content-ID" in part
    return is_shown and part.get_content_disposition() != "attachment"


def _empty(message: Message) -> None:
    for name in ("Content-Type", "Content-Transfer-Encoding", "Content-Disposition"):
        del message[name]
    message["Content-Type"] = "text/plain"
    message.set_payload("")


def _file(part: Message) -> AttachedFile:
    return AttachedFile(_name(part), part_bytes(part))


def _name(part: Message) -> str:
    """Return the name of an attachment; `attachment` and an ending without any."""
    name = file_name(part)
    kind = part.get_content_type()
    ending = ".eml" if kind == "message/rfc822" else mimetypes.guess_extension(kind) or ""
    if not name:
        return f"attachment{ending}"
    return name if kind != "message/rfc822" or name.lower().endswith(".eml") else f"{name}.eml"
