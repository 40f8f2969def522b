"""The check of a mail whose attachments are documents of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from indexer.extraction.base import DEFAULT_LIMITS
from indexer.indexing.check import CHANGED, DEFAULT_OPTIONS, check_documents, read_file
from indexer.indexing.documents import documents_of
from indexer.indexing.make_rows import ExtractedBlob
from indexer.indexing.verdicts import CheckOptions, CheckResult
from indexer.model import Document
from indexer.sources.base import Reading
from indexer.sources.containers import may_be_mail
from indexer.sources.mail_attachments import divide
from indexer.sources.read_blob import read
from indexer.stores.abilities import FullStore
from indexer.text.visible import visible


def check_mail(
    store: FullStore,
    path: str,
    options: CheckOptions = DEFAULT_OPTIONS,
    *,
    id: str | None = None,
    labels: Sequence[str] = (),
    store_it: bool = False,
) -> CheckResult:
    """Check a mail as `check` does, and its attachments, read as `index --attachments` reads them.

    The text of the mail is compared without its attachments, and each attachment by itself; the
    answers on these are the `attachments` of the result. With `store_it` the mail is stored with
    all of them, whatever the answers. An attachment that cannot be read is neither checked nor
    stored; `notes` name it. A file that is no mail is checked as it is.

    Raises what `check` raises.
    """
    items, notes = _divided_mail(read_file(path, id))
    mail, *others = check_documents(store, items, options, labels, store_it)
    places = [item.blob.path for item in items[1:]]
    attachments = dict(zip(places, others, strict=True))
    return replace(mail, notes=(*mail.notes, *notes), attachments=attachments)


def _divided_mail(item: ExtractedBlob) -> tuple[list[ExtractedBlob], list[str]]:
    """Return a mail without its attachments and then these, and a note for each that cannot be
    read; any other document as it is.
    """
    blobs = divide(item.blob, Reading(attachments=True)) if may_be_mail(item.blob.path) else None
    if blobs is None or len(blobs) == 1:
        return [item], []
    documents = dict(documents_of(blobs))
    divided: list[ExtractedBlob] = []
    notes = []
    for blob in blobs:
        payload = read(blob, DEFAULT_LIMITS.bytes)
        document = documents[blob.path]
        if isinstance(document, Document):
            divided.append(ExtractedBlob(blob, payload.raw, payload.source, document))
        elif blob is blobs[0]:
            raise document
        else:
            notes.append(f"{visible(blob.path)} was neither checked nor stored: {document}")
    if divided[0].raw != item.raw:
        raise CHANGED
    return divided, notes
