"""Who held which copies: attachment families, custodians and paths of documents, and which of them
are duplicates.

A mail is a copy of another one if both have the same Message-ID (or, without one, the same sender,
recipients, subject and time), the same text, and the same attachments. An attachment is a copy of
another one if it has the same bytes, but for the line ends of text, and their mails are copies, so
that a family of attachments is never torn.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from indexer.documents.base import CUSTODIAN, MESSAGE_ID, message_hash
from indexer.documents.blobs import length_prefixed
from indexer.jobs.label import mail_of
from indexer.model import Row
from indexer.stores.base import Store
from indexer.stores.fields import MAILS, rows_of

Dedup: TypeAlias = Literal["none", "global", "custodian"]
"""Which duplicates an export leaves out: none, copies anywhere, or copies of the same custodian."""
_DIGEST_BYTES = 16
_HEADER = ("from", "to", "cc", "subject", "created")


@dataclass(frozen=True, slots=True)
class Custody:
    """The attachment family of a document, and who held copies of it.

    `mail`: the id of the mail that it is attached to; `begin` and `end`: the mail and the last
    attachment of the family, by path; all None without a family. `custodians` and `paths` are those
    of all copies, itself included, sorted. `mih`: the EDRM Message Identification Hash of a mail.
    """

    mail: str | None = None
    begin: str | None = None
    end: str | None = None
    custodians: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    mih: str | None = None

    @property
    def attach_range(self) -> str | None:
        """The first and the last document of the family; None without one."""
        return f"{self.begin}-{self.end}" if self.begin else None


NO_CUSTODY = Custody()


@dataclass(frozen=True, slots=True)
class _Document:
    digest: bytes
    attached_digest: bytes  # the same of an attachment whose mail is here
    custodian: str
    family: str


@dataclass(frozen=True, slots=True)
class _Positions:
    """Custodians and paths of the copies of a document, sorted."""

    custodians: tuple[str, ...]
    paths: tuple[str, ...]


class Custodies:
    """Custody of the documents of a store, and which of them an export leaves out."""

    def __init__(
        self,
        keys: Mapping[str, bytes],
        paths: Mapping[bytes, _Positions],
        attachments: Mapping[str, Sequence[tuple[str, str]]],
        kept: frozenset[str] | None,
        principals: Mapping[str, str],
    ) -> None:
        """Take the bytes that copies have in common, by id; who held repeated ones, by these bytes;
        the sorted paths and ids of the attachments of each mail; the ids that are kept, None for
        all; a kept copy of each principal that is left out.
        """
        self._keys = keys
        self._positions = paths
        self._attachments = attachments
        self._kept = kept
        self._principals = principals
        self._new_principals = frozenset(principals.values())

    def group_of(self, row: Row) -> str:
        """Return the principal of a document's group; where that is left out, a copy of it that is
        kept.
        """
        if row.id in self._new_principals:
            return row.id
        return self._principals.get(row.family, row.family)

    def of(self, row: Row) -> Custody:
        """Return the custody of a document."""
        mail = mail_of(row)
        attachments = self._attachments.get(mail, ())
        own = row.metadata.get(CUSTODIAN)
        positions = _Positions(_sorted({own} if own else set()), (row.path,))
        positions = self._positions.get(self._keys.get(row.id, b""), positions)
        return Custody(
            mail=None if mail == row.id else mail,
            begin=mail if attachments else None,
            end=attachments[-1][1] if attachments else None,
            custodians=positions.custodians,
            paths=positions.paths,
            mih=_mih(row) or None,
        )

    def is_left_out(self, row: Row) -> bool:
        """Return whether a document is a duplicate, or attached to one."""
        return self._kept is not None and row.id not in self._kept


class CustodyBuilder:
    """Facts of documents of which `build` makes their custodies: a few of each, but no text."""

    def __init__(self, dedup: Dedup) -> None:
        self._dedup = dedup
        self._documents: dict[str, _Document] = {}
        self._mails: dict[str, str] = {}
        self._attachments: dict[str, list[tuple[str, str]]] = defaultdict(list)

    def add(self, row: Row) -> None:
        """Note a document."""
        custodian = row.metadata.get(CUSTODIAN, "")
        digest = attached_digest = _digest(row)
        mail = mail_of(row)
        if mail != row.id:
            attached_digest = _attached_digest(row)
            self._mails[row.id] = mail
            self._attachments[mail].append((row.path, row.id))
        document = _Document(digest, attached_digest, custodian, row.family)
        self._documents[row.id] = document

    def build(self, store: Store) -> Custodies:
        """Return the custodies of the documents that were added; those that are copies are read
        again.
        """
        keys = self._copy_keys()
        attachments = {mail: sorted(attached) for mail, attached in self._attachments.items()}
        kept = None if self._dedup == "none" else self._kept(keys)
        principals = {} if kept is None else self._kept_principals(keys, kept)
        return Custodies(keys, _positions(keys, store), attachments, kept, principals)

    def _kept_principals(self, keys: Mapping[str, bytes], kept: frozenset[str]) -> dict[str, str]:
        """Return the first kept copy of each principal that is left out, as of an attachment whose
        mail is; the first member of its group that is kept where there is no copy.
        """
        first_last = sorted(kept, reverse=True)
        members = {self._documents[id].family: id for id in first_last}
        copies = {keys[id]: id for id in first_last}
        principals = {document.family for document in self._documents.values()}
        left_out = (principals & self._documents.keys()) - kept
        chosen = {id: copies.get(keys[id]) or members.get(id) for id in sorted(left_out)}
        return {id: copy for id, copy in chosen.items() if copy}

    def _kept(self, keys: Mapping[str, bytes]) -> frozenset[str]:
        """Return the mails and single documents that are kept, of copies a principal by id, and
        what is attached to them.
        """
        first_copies: dict[tuple[bytes, str], str] = {}
        representatives = sorted(id for id in keys if self._mail_here(id) == id)
        for id in sorted(
            representatives,
            key=lambda representative: self._documents[representative].family != representative,
        ):
            custodian = self._documents[id].custodian if self._dedup == "custodian" else ""
            first_copies.setdefault((keys[id], custodian), id)
        kept_representatives = set(first_copies.values())
        return frozenset(id for id in keys if self._mail_here(id) in kept_representatives)

    def _mail_here(self, id: str) -> str:
        """Return the mail of a document; its own id where that is missing, or attached itself."""
        mail = self._mails.get(id, id)
        return mail if mail in self._documents and mail not in self._mails else id

    def _copy_keys(self) -> dict[str, bytes]:
        """Return 16 bytes of each document that copies have in common, by id."""
        keys: dict[str, bytes] = {}
        for id, document in self._documents.items():
            if self._mail_here(id) == id:
                attached = (
                    self._documents[other].attached_digest
                    for _, other in self._attachments.get(id, ())
                )
                keys[id] = _hash([document.digest, *sorted(attached)])
        for id, document in self._documents.items():
            if id not in keys:
                keys[id] = _hash([keys[self._mail_here(id)], document.attached_digest])
        return keys


def _positions(keys: Mapping[str, bytes], store: Store) -> dict[bytes, _Positions]:
    """Return who held the copies of each document that has several, and where."""
    counts = Counter(keys.values())
    repeated = [id for id, key in keys.items() if counts[key] > 1]
    custodians: dict[bytes, set[str]] = defaultdict(set)
    paths: dict[bytes, set[str]] = defaultdict(set)
    for row in rows_of(store, repeated):
        key = keys[row.id]
        paths[key].add(row.path)
        if CUSTODIAN in row.metadata:
            custodians[key].add(row.metadata[CUSTODIAN])
    return {key: _Positions(_sorted(custodians[key]), _sorted(paths[key])) for key in paths}


def _digest(row: Row) -> bytes:
    """Return 16 bytes of what makes a copy: Message-ID, or else the header, and text of a mail,
    bytes of any other.

    Nothing is a copy of a document without bytes, such as a record without text.
    """
    content = [row.raw if row.size else row.id]
    if mih := _mih(row):
        content = [mih, row.exact]
    elif row.content_type in MAILS and {"from", "created"} <= row.metadata.keys():
        content = [*(row.metadata.get(name, "") for name in _HEADER), row.exact]
    return _hash(part.encode() for part in content)


def _attached_digest(row: Row) -> bytes:
    """Return 16 bytes of what makes a copy of an attachment: a mail that a program stores anew has
    the text in it with other line ends.
    """
    if not row.text or not row.content_type.startswith("text/"):
        return _digest(row)
    return _hash([row.exact.encode(), row.text.replace("\r\n", "\n").encode()])


def _mih(row: Row) -> str:
    return message_hash(row.metadata.get(MESSAGE_ID, "")) or row.metadata.get("MIH", "")


def _hash(parts: Iterable[bytes]) -> bytes:
    return hashlib.blake2b(length_prefixed(parts), digest_size=_DIGEST_BYTES).digest()


def _sorted(values: set[str]) -> tuple[str, ...]:
    return tuple(sorted(values))
