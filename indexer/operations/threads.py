"""Threads of the mails in files, folders and mailboxes."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from indexer.defaults import REVIEW
from indexer.errors import ExtractionError, UsageError
from indexer.extraction.base import DEFAULT_LIMITS
from indexer.extraction.mail import is_mail
from indexer.mail.build_threads import Thread, ThreadMail, build_threads
from indexer.mail.mail_bytes import mail_bytes
from indexer.mail.message import MailMessage, read_message
from indexer.mail.outlook_message import MAGIC, is_outlook_message
from indexer.matching.limits import check_threshold
from indexer.model import Blob, FailedBlob
from indexer.operations.near_mails import NearMail, near_mails
from indexer.similarity.lcs import lcs
from indexer.sources import mbox
from indexer.sources.base import Reading
from indexer.sources.folder import FileSource, path_list
from indexer.sources.members import INSIDE
from indexer.sources.read_blob import read
from indexer.text.normal_words import normal_words


@dataclass(frozen=True, slots=True)
class ThreadsOptions:
    """Settings of `threads`.

    `namespace`: what ids are relative to, as for `index`, so that the ids are those of the store.
    `ignore_signatures`: a mail is not inclusive only for its signature or disclaimer.
    `threshold`: least similarity of what the senders of near duplicates wrote; above 0, at most 1.

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
    mail (as those of a Maildir do), or a message of a mailbox: `.mbox`, or a file that begins with
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
    return lcs(normal_words(a), normal_words(b))


class _Account:
    """Reads mails and counts what is none."""

    def __init__(self) -> None:
        self.others = 0
        self.failed: list[FailedBlob] = []

    def messages(self, paths: Sequence[str], options: ThreadsOptions) -> Iterator[MailMessage]:
        reading = Reading(containers="all", namespace=options.namespace)
        source = FileSource(paths, reading)
        for item in source.blobs():
            if isinstance(item, Blob):
                yield from self._mails(item, reading)
            elif isinstance(item, FailedBlob):
                self.failed.append(item)
            else:
                self.others += 1

    def _mails(self, blob: Blob, reading: Reading) -> Iterator[MailMessage]:
        """Yield the mail of a blob, or those of a mailbox that has another name."""
        try:
            source = read(blob, DEFAULT_LIMITS.bytes).data
            if source.startswith(MAGIC):
                yield from self._outlook(blob, source)
                return
            data = mail_bytes(source).data
            if data.startswith(b"From ") and INSIDE not in blob.path:
                yield from self._mailbox(blob, data, reading)
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

    def _mailbox(self, blob: Blob, data: bytes, reading: Reading) -> Iterator[MailMessage]:
        for item in mbox.blobs(blob, io.BytesIO(data), reading):
            if isinstance(item, Blob):
                yield from self._mails(item, reading)
            elif isinstance(item, FailedBlob):
                self.failed.append(item)
