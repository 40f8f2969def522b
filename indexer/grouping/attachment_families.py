"""Attachment families: a mail and its attachments, by the metadata `parent_id` of attachments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from indexer.model import Query, Row
from indexer.sources.mail_metadata import PARENT
from indexer.stores.abilities import FullStore
from indexer.stores.row_limits import rows_of

_MOST_SEARCHES = 20


def mail_of(row: Row) -> str:
    """Return the id of the mail to which a document is attached; its own id if it is no attachment.

    The mail may be missing from the store.
    """
    return row.metadata.get(PARENT) or row.id


def mail_documents(store: FullStore, mails: Sequence[str]) -> Iterator[Row]:
    """Yield the documents with these ids and their attachments, by id, without their texts.

    Up to 20 mails take a search each, more of them one pass over the store.
    """
    if len(mails) > _MOST_SEARCHES:
        wanted = set(mails)
        for row in store.scan():
            if mail_of(row) in wanted:
                yield replace(row, text="")
        return
    ids = set(mails)
    for mail in mails:
        ids.update(hit.id for hit in store.search(Query("", ((f"metadata.{PARENT}", mail),))).hits)
    for row in rows_of(store, sorted(ids)):
        yield replace(row, text="")
