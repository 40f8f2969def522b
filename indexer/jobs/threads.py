"""Threads of the mails in files, folders and mailboxes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from indexer.comparing.measures import ComparedText, align, measure_pair
from indexer.comparing.words import normal_words
from indexer.defaults import REVIEW
from indexer.documents.base import (
    DEFAULT_LIMITS,
    MESSAGE_ID,
    REFERENCES,
    THREAD,
    ReadOptions,
    is_mail,
    message_hash,
)
from indexer.documents.blobs import INSIDE, read
from indexer.documents.containers import MAILBOX
from indexer.documents.mail.message import (
    Attachment,
    MailMessage,
    is_compound_file,
    is_outlook_message,
    mail_bytes,
    read_message,
)
from indexer.documents.mail.threads import Thread, ThreadMail, build_threads
from indexer.documents.sources import FileSource, path_list
from indexer.errors import ExtractionError, UsageError
from indexer.fingerprinting.fingerprint import fingerprints
from indexer.fingerprinting.keys import stored_sketch
from indexer.grouping.group import assign_families, grouping_of_rows
from indexer.grouping.group_options import GroupOptions, check_threshold
from indexer.jobs.versions import own_date
from indexer.model import (
    Assignment,
    Blob,
    FailedBlob,
    Fingerprint,
    Query,
    Row,
    unpack_embedded,
)
from indexer.recipe import DEFAULT
from indexer.searching.folding_rules import named_ids
from indexer.stores.base import Store
from indexer.stores.fields import rows_of

# Near duplicates of mails by what their senders wrote, whatever they quote.


@dataclass(frozen=True, slots=True)
class NearMail:
    """A mail in a group of mails whose senders wrote nearly the same.

    `principal`: the id of the principal mail of the group. `similarity`: the similarity of the own
    text to the text of the principal, in [0, 1]; 1 of the principal itself. `quotes_contained`: the
    fraction of the words quoted or forwarded in the mail that stand in the principal, in [0, 1];
    None of the principal and of a mail that quotes nothing.
    """

    principal: str
    similarity: float
    quotes_contained: float | None


def near_mails(mails: Iterable[ThreadMail], threshold: float) -> Mapping[str, NearMail]:
    """Return the mails whose own texts are near duplicates, by their ids.

    Own text is what the sender wrote, without quotes, signature and disclaimer. The groups are
    families, as `group` makes them by measure `lcs`: the earliest mail leads, ties by id, and each
    other one reaches `threshold`, above 0 and at most 1, with it. Own texts that are too short for
    keys are similar to equal ones only. A mail without own text, or without near duplicates, is not
    in the result. Raises `UsageError` for a threshold out of its range.
    """
    options = GroupOptions(threshold=threshold, principal="first")
    by_id = {mail.message.id: mail for mail in mails if _own_text(mail)}
    ordered = [by_id[id] for id in sorted(by_id)]
    rows = {row.id: row for row in _rows(ordered)}
    texts, criteria = _OwnTexts(rows), options.folding
    grouping = grouping_of_rows(rows.values(), texts, DEFAULT, options, len(rows), criteria)
    families = assign_families(grouping).assignments
    joined = {member.family for member in families if member.family != member.id}
    return {member.id: _near_mail(member, by_id) for member in families if member.family in joined}


def quotes_contained(mail: ThreadMail, other: ThreadMail) -> float | None:
    """Return the fraction of the words quoted or forwarded in a mail that stand in another mail.

    Passages of five words or more count, shorter quotes as a whole, and each place of the other
    mail once. None for a mail without quotes.
    """
    quotes = normal_words(mail.content(1))
    if not len(quotes):
        return None
    return align(quotes, normal_words(other.content(0))).containment[0]


@dataclass(frozen=True, slots=True)
class _OwnTexts:
    """The rows of own texts, by id, as verification reads them."""

    rows: Mapping[str, Row]

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        return {id: self.rows[id] for id in ids if id in self.rows}


def _near_mail(member: Assignment, by_id: Mapping[str, ThreadMail]) -> NearMail:
    if member.family == member.id:
        return NearMail(member.id, 1.0, None)
    contained = quotes_contained(by_id[member.id], by_id[member.family])
    return NearMail(member.family, member.similarity or 0.0, contained)


def _own_text(mail: ThreadMail) -> str:
    return "\n".join(part.text for part in mail.segments if part.kind == "reply")


def _rows(mails: Sequence[ThreadMail]) -> Iterator[Row]:
    texts = [_own_text(mail) for mail in mails]
    prints = fingerprints(texts, DEFAULT)
    for index, (mail, text) in enumerate(zip(mails, texts, strict=True)):
        yield _row(mail.message, text, prints[index])


def _row(message: MailMessage, text: str, fingerprint: Fingerprint) -> Row:
    return Row(
        id=message.id,
        recipe=DEFAULT.id,
        status=fingerprint.status,
        title="",
        text=text,
        path=message.path,
        content_type="",
        modified=message.date,
        size=0,
        source="",
        extractor="",
        raw="",
        exact=fingerprint.exact,
        words=fingerprint.words,
        chars=fingerprint.chars,
        family=message.id,
        minhash=stored_sketch(fingerprint),
    )


@dataclass(frozen=True, slots=True)
class ThreadsOptions:
    """Settings of `threads`.

    `namespace`: what ids are relative to, as for `index`, so that the ids are the same as in the
    store.
    `ignore_signatures`: a mail is not inclusive only for its signature or disclaimer.
    `threshold`: minimum similarity of what the senders of near duplicates wrote; above 0, at most
    1.

    Raises `UsageError` for a threshold out of its range.
    """

    namespace: str | None = None
    ignore_signatures: bool = False
    threshold: float = REVIEW

    def __post_init__(self) -> None:
        check_threshold(self.threshold)


DEFAULTS = ThreadsOptions()


@dataclass(frozen=True, slots=True)
class ThreadsResult:
    """The threads, the earliest first, and the account: files that are no mails, and failures.

    `near`: the mails whose own texts are near duplicates, of any threads, by their ids.
    """

    threads: tuple[Thread, ...]
    others: int = 0
    failed: tuple[FailedBlob, ...] = ()
    near: Mapping[str, NearMail] = field(default_factory=dict)

    @property
    def mails(self) -> Iterator[ThreadMail]:
        """The mails of all threads, in order."""
        return (mail for thread in self.threads for mail in thread.mails)

    @property
    def mail_count(self) -> int:
        """The number of mails in all threads."""
        return sum(len(thread.mails) for thread in self.threads)

    @property
    def inclusive_count(self) -> int:
        """The number of inclusive mails."""
        return sum(len(thread.inclusive) for thread in self.threads)


def threads(paths: Sequence[str] | str | Path, options: ThreadsOptions = DEFAULTS) -> ThreadsResult:
    """Return the threads of the mails at `paths`: files, folders, mailboxes and archives; a single
    one need not be in a list.

    A mail is a file `.eml`, a message of Outlook (`.msg`), a file that begins with a field of a
    mail (as files of a Maildir do), or a message of a mailbox: `.mbox`, or a file that begins with
    `From `. Ids are those that `index` gives the same PATHs. Raises `SourceNotFound`, and
    `UsageError` without a PATH.
    """
    names = path_list(paths)
    if not names:
        raise UsageError("no PATH is given; give files, folders or mailboxes with mails")
    account = _Account()
    mail_threads = build_threads(
        account.messages(names, options), similarity, options.ignore_signatures
    )
    near = near_mails((mail for thread in mail_threads for mail in thread.mails), options.threshold)
    return ThreadsResult(tuple(mail_threads), account.others, tuple(account.failed), near)


def similarity(a: str, b: str) -> float:
    """Return the share of words in order of two texts, in [0, 1], as the measure `lcs` does."""
    return measure_pair("lcs", ComparedText(a, DEFAULT), ComparedText(b, DEFAULT)).similarity


class _Account:
    """Reads mails and counts other files."""

    def __init__(self) -> None:
        self.others = 0
        self.failed: list[FailedBlob] = []

    def messages(self, paths: Sequence[str], options: ThreadsOptions) -> Iterator[MailMessage]:
        read_options = ReadOptions(containers="all", namespace=options.namespace)
        source = FileSource(paths, read_options)
        for item in source.blobs():
            if isinstance(item, Blob):
                yield from self._mails(item, read_options)
            elif isinstance(item, FailedBlob):
                self.failed.append(item)
            else:
                self.others += 1

    def _mails(self, blob: Blob, read_options: ReadOptions) -> Iterator[MailMessage]:
        """Yield the mail of a blob, or the mails of a mailbox that has another name."""
        try:
            source = read(blob, DEFAULT_LIMITS.bytes).data
            if is_compound_file(source):
                yield from self._outlook(blob, source)
                return
            data = mail_bytes(source).data
            if data.startswith(b"From ") and INSIDE not in blob.path:
                yield from self._mailbox(blob, data, read_options)
            elif is_mail(data, blob.path):
                yield read_message(source, blob.id, blob.path)
            else:
                self.others += 1
        except (ExtractionError, ValueError) as error:
            self.failed.append(FailedBlob(blob.path, str(error)))

    def _outlook(self, blob: Blob, data: bytes) -> Iterator[MailMessage]:
        """Yield a message of Outlook; count another compound file, such as a Word document."""
        if is_outlook_message(data, blob.path):
            yield read_message(data, blob.id, blob.path)
        else:
            self.others += 1

    def _mailbox(self, blob: Blob, data: bytes, read_options: ReadOptions) -> Iterator[MailMessage]:
        for item in MAILBOX.members(blob, io.BytesIO(data), read_options):
            if isinstance(item, Blob):
                yield from self._mails(item, read_options)
            elif isinstance(item, FailedBlob):
                self.failed.append(item)


# The thread of a stored mail, as a tree, by the Message-IDs that the documents carry.

MAX_SEARCHES = 20
MAX_MAILS = 500
MAX_CHARS = 2_000_000  # of the mails of a thread that are judged by their texts


@dataclass(frozen=True, slots=True)
class StoredThread:
    """The mails of a thread in the order of its tree, with their rows, which have no texts.

    `id` is the id of the thread, as `Thread` has it. `is_complete`: replies to every mail were
    looked for; else there may be more. `is_judged`: the texts say which mails are inclusive, and
    which are `near` duplicates by what their senders wrote, by id.
    """

    id: str
    mails: tuple[tuple[ThreadMail, Row], ...]
    is_complete: bool
    is_judged: bool
    near: Mapping[str, NearMail]


def stored_thread(store: Store, row: Row) -> StoredThread | None:
    """Return the thread of a stored mail; None for a document without a Message-ID and references.

    The mails are those with the same first Message-ID (`thread` of their metadata), those that they
    reply, and the replies to them, looked up by at most 20 searches; at most 500 mails. The
    tree and what is inclusive are as `build_threads` has them, by the stored texts; by the fields
    alone where the texts have more than two million characters together.
    """
    if not named_ids(row):
        return None
    search = _Search(store, {row.id: row}, chars=len(row.text))
    is_complete = search.run()
    is_judged = search.chars <= MAX_CHARS
    messages = [_message(known, is_judged) for known in search.rows.values()]
    threads = build_threads(messages, similarity)
    tree = next(thread for thread in threads if _has(thread, row.id))
    mails = tuple((mail, replace(search.rows[mail.message.id], text="")) for mail in tree.mails)
    near = near_mails(tree.mails, REVIEW) if is_judged else {}
    return StoredThread(tree.id, mails, is_complete, is_judged, near)


def _has(thread: Thread, id: str) -> bool:
    return any(mail.message.id == id for mail in thread.mails)


@dataclass(slots=True)
class _Search:
    """Looks up the mails of a thread."""

    store: Store
    rows: dict[str, Row]  # without texts beyond those that are judged
    asked: set[tuple[str, str]] = field(default_factory=set)
    chars: int = 0

    def run(self) -> bool:
        """Search until every mail was requested; return False where a limit ends it."""
        while (condition := self._next()) is not None:
            if len(self.asked) >= MAX_SEARCHES or len(self.rows) >= MAX_MAILS:
                return False
            self.asked.add(condition)
            hits = self.store.search(Query("", (condition,))).hits
            ids = [hit.id for hit in hits if hit.id not in self.rows]
            for row in rows_of(self.store, ids[: MAX_MAILS - len(self.rows)]):
                self.chars += len(row.text)
                self.rows[row.id] = replace(row, text="") if self.chars > MAX_CHARS else row
        return True

    def _next(self) -> tuple[str, str] | None:
        """Return the next filter to search by; None if there is no other one."""
        return next((item for item in self._filters() if item not in self.asked), None)

    def _filters(self) -> Iterator[tuple[str, str]]:
        """Yield the threads that mails name, the mails that are answered, and the replies to each
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


def _message(row: Row, with_text: bool) -> MailMessage:
    attached = unpack_embedded(row.embedded) if with_text else ()
    return MailMessage(
        id=row.id,
        path=row.path,
        message_id=row.metadata.get(MESSAGE_ID, ""),
        replies_to=tuple(row.metadata.get(REFERENCES, "").split()),
        subject=row.title,
        sender=row.metadata.get("from", ""),
        date=own_date(row)[0],
        body=row.text if with_text else "",
        attachments=tuple(Attachment(file.name, file.sha256) for file in attached),
    )
