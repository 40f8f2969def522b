"""Attachments of mails as documents of their own, beside the mail."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from indexer.errors import ExtractionError
from indexer.mail.attached_files import split_attachments
from indexer.model import Blob
from indexer.sources import read_blob
from indexer.sources.base import Reading
from indexer.sources.mail_metadata import PARENT
from indexer.sources.maildir import MailFile
from indexer.sources.members import LoadedSource, NumberedBlobs, inner_blob
from indexer.sources.payloads import file_payload


def divide(mail: Blob, reading: Reading) -> Sequence[Blob] | None:
    """Return a mail without its attachments, then these; None for one that cannot be divided.

    An attachment is known by its name, the second of a name by `#2` after it, and has the id of the
    mail in its metadata. The bytes and digest of the mail stay those of its file.
    """
    try:
        payload = read_blob.read(mail, reading.max_bytes)
        text, files = split_attachments(payload.data)
    except (ExtractionError, ValueError):
        return None
    if not files:
        return [replace(mail, opener=LoadedSource(payload))]
    source = hashlib.sha256(f"{payload.source}:without attachments".encode("ascii")).hexdigest()
    rest = LoadedSource(replace(payload, data=text, source=source))
    blobs = [replace(mail, opener=rest, source=None)]
    numbered = NumberedBlobs()
    for file in files:
        key = numbered.key(file.name.encode("utf-8", "surrogateescape"))
        name = key.decode("utf-8", "replace")
        content = file_payload(file.data, None)
        if isinstance(mail.opener, MailFile):
            content = mail.opener.with_name(content)
        blob = inner_blob(mail, key, name, content)
        blobs.append(replace(blob, metadata={PARENT: mail.id}))
    return blobs
