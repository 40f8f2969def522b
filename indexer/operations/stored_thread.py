"""The thread of a stored mail, as a tree, by the Message-IDs that the documents carry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from indexer.comparing.versions import own_date
from indexer.mail.build_threads import Thread, ThreadMail, build_threads
from indexer.mail.message import MailMessage
from indexer.mail.message_hash import message_hash
from indexer.model import Query, Row
from indexer.searching.by_thread import named_ids
from indexer.sources.mail_metadata import MESSAGE_ID, REFERENCES, THREAD
from indexer.stores.base import Store
from indexer.stores.row_limits import rows_of

MOST_SEARCHES = 20
MOST_MAILS = 500


@dataclass(frozen=True, slots=True)
class StoredThread:
    """The mails of a thread in the order of its tree, with their rows, which have no texts.

    `id` is that of the thread, as `Thread` has it. `is_complete`: answers to every mail were looked
    for; else there may be more.
    """

    id: str
    mails: tuple[tuple[ThreadMail, Row], ...]
    is_complete: bool


def stored_thread(store: Store, row: Row) -> StoredThread | None:
    """Return the thread of a stored mail; None for a document without a Message-ID and references.

    The mails are those with the same first Message-ID (`thread` of their metadata), those that they
    answer, and those that answer them, looked up by at most 20 searches; at most 500 mails. The
    tree is that of `build_threads` by the fields alone.
    """
    if not named_ids(row):
        return None
    search = _Search(store, {row.id: replace(row, text="")})
    is_complete = search.run()
    messages = [_message(known) for known in search.rows.values()]
    threads = build_threads(messages, lambda _a, _b: 0.0)
    tree = next(thread for thread in threads if _has(thread, row.id))
    mails = tuple((mail, search.rows[mail.message.id]) for mail in tree.mails)
    return StoredThread(tree.id, mails, is_complete)


def _has(thread: Thread, id: str) -> bool:
    return any(mail.message.id == id for mail in thread.mails)


@dataclass(slots=True)
class _Search:
    """Looks up the mails of a thread."""

    store: Store
    rows: dict[str, Row]
    asked: set[tuple[str, str]] = field(default_factory=set)

    def run(self) -> bool:
        """Search until every mail was asked for; return False where a limit ends it."""
        while (condition := self._next()) is not None:
            if len(self.asked) >= MOST_SEARCHES or len(self.rows) >= MOST_MAILS:
                return False
            self.asked.add(condition)
            hits = self.store.search(Query("", (condition,))).hits
            ids = [hit.id for hit in hits if hit.id not in self.rows]
            for row in rows_of(self.store, ids[: MOST_MAILS - len(self.rows)]):
                self.rows[row.id] = replace(row, text="")
        return True

    def _next(self) -> tuple[str, str] | None:
        """Return the next filter to search by; None if there is no other one."""
        return next((item for item in self._filters() if item not in self.asked), None)

    def _filters(self) -> Iterator[tuple[str, str]]:
        """Yield the threads that mails name, the mails that are answered, and the answers to each
        mail that name no other one.
        """
        rows = list(self.rows.values())
        own_ids = {row.metadata.get(MESSAGE_ID) for row in rows}
        for row in rows:
            if row.metadata.get(THREAD):
                yield f"metadata.{THREAD}", row.metadata[THREAD]
        for row in rows:
            for name in row.metadata.get(REFERENCES, "").split()[:1]:
                if name not in own_ids:
                    yield f"metadata.{MESSAGE_ID}", name
        for row in rows:
            if row.metadata.get(MESSAGE_ID):
                yield f"metadata.{THREAD}", message_hash(row.metadata[MESSAGE_ID])


def _message(row: Row) -> MailMessage:
    return MailMessage(
        id=row.id,
        path=row.path,
        message_id=row.metadata.get(MESSAGE_ID, ""),
        replies_to=tuple(row.metadata.get(REFERENCES, "").split()),
        subject=row.title,
        sender=row.metadata.get("from", ""),
        date=own_date(row)[0],
    )
