"""The records of threads, one a mail, and their columns in tables and load files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from indexer.exports.csv_tables import Column
from indexer.mail.build_threads import Thread, ThreadMail
from indexer.operations.near_mails import NearMail
from indexer.operations.threads import ThreadsResult


@dataclass(frozen=True, slots=True)
class ThreadRecord:
    """A mail in its thread; `place` is its place in the tree, from 1. `near` is None for a mail
    without near duplicates.
    """

    thread: Thread
    place: int
    mail: ThreadMail
    near: NearMail | None


def thread_records(result: ThreadsResult) -> Iterator[ThreadRecord]:
    """Yield the mails of threads, in the order of the trees."""
    for thread in result.threads:
        for place, mail in enumerate(thread.mails, 1):
            yield ThreadRecord(thread, place, mail, result.near.get(mail.message.id))


THREADS = (
    Column("id", "text", lambda record: record.mail.message.id),
    Column("thread", "text", lambda record: record.thread.id),
    Column("place", "whole", lambda record: record.place),
    Column("depth", "whole", lambda record: record.mail.depth),
    Column("parent", "text", lambda record: record.mail.parent),
    Column("link", "text", lambda record: record.mail.link),
    Column("copy_of", "text", lambda record: record.mail.copy_of),
    Column("inclusive", "flag", lambda record: record.mail.is_inclusive),
    Column("reasons", "list", lambda record: list(record.mail.reasons)),
    Column("held_by", "text", lambda record: record.mail.held_by),
    Column("own_group", "text", lambda record: record.near and record.near.principal),
    Column("own_similarity", "share", lambda record: record.near and record.near.similarity),
    Column(
        "quotes_contained", "share", lambda record: record.near and record.near.quotes_contained
    ),
    Column("mih", "text", lambda record: record.mail.message.mih or None),
    Column("message_id", "text", lambda record: record.mail.message.message_id or None),
    Column("date", "time", lambda record: record.mail.message.date),
    Column("from", "text", lambda record: record.mail.message.sender),
    Column("subject", "text", lambda record: record.mail.message.subject),
    Column("attachments", "whole", lambda record: len(record.mail.message.attachments)),
    Column("path", "text", lambda record: record.mail.message.path),
)
_LOAD_FILE_NAMES = {
    "id": "DOCID",
    "thread": "ThreadID",
    "place": "ThreadOrder",
    "depth": "ThreadDepth",
    "parent": "ThreadParent",
    "link": "ThreadLink",
    "copy_of": "MessageCopyOf",
    "inclusive": "Inclusive",
    "reasons": "InclusiveReason",
    "held_by": "HeldBy",
    "own_group": "OwnTextGroup",
    "own_similarity": "OwnTextSimilarity",
    "quotes_contained": "QuotesContained",
    "mih": "MIH",
    "message_id": "MessageID",
    "date": "DateSent",
    "from": "From",
    "subject": "Subject",
    "attachments": "AttachmentCount",
    "path": "FilePath",
}
LOAD_FILE_THREADS = tuple(
    Column(_LOAD_FILE_NAMES[column.name], column.kind, column.value) for column in THREADS
)
