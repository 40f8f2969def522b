"""Near duplicates of mails by what their senders wrote, whatever they quote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from indexer.grouping.assign_families import assign_families
from indexer.grouping.group_options import GroupOptions
from indexer.mail.build_threads import ThreadMail
from indexer.mail.message import MailMessage
from indexer.mail.read_mail import CONTENT
from indexer.matching.collection import gather
from indexer.matching.verification import Verifier
from indexer.model import Assignment, Fingerprint, Row
from indexer.recipe import DEFAULT
from indexer.similarity.alignment import align
from indexer.sketch.fingerprint import fingerprints
from indexer.sketch.stored_sketch import stored_sketch
from indexer.text.normal_words import normal_words


@dataclass(frozen=True, slots=True)
class NearMail:
    """A mail in a group of mails whose senders wrote nearly the same.

    `principal`: the id of the mail that leads the group. `similarity`: of the own text to that of
    the principal, in [0, 1]; 1 of the principal itself. `quotes_contained`: the share of the words
    quoted or forwarded in the mail that stand in the principal, in [0, 1]; None of the principal
    and of a mail that quotes nothing.
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
    collection = gather(
        rows.values(),
        DEFAULT,
        len(rows),
        criteria=options.folding,
        statuses=options.folding.folded,
    )
    verifier = Verifier(_OwnTexts(rows), collection, options.measure)
    families = assign_families(collection, verifier, options).assignments
    joined = {member.family for member in families if member.family != member.id}
    return {member.id: _near_mail(member, by_id) for member in families if member.family in joined}


def quotes_contained(mail: ThreadMail, other: ThreadMail) -> float | None:
    """Return the share of the words quoted or forwarded in a mail that stand in another mail.

    Passages of five words or more count, shorter quotes as a whole, and each place of the other
    mail once. None for a mail without quotes.
    """
    quotes = normal_words(_content(mail, 1))
    if not len(quotes):
        return None
    return align(quotes, normal_words(_content(other, 0))).containment[0]


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


def _content(mail: ThreadMail, least_depth: int) -> str:
    """Return what was written in a mail, from a depth of quoting on."""
    parts = (
        part.text for part in mail.segments if part.kind in CONTENT and part.depth >= least_depth
    )
    return "\n".join(parts)


def _own_text(mail: ThreadMail) -> str:
    return "\n".join(part.text for part in mail.segments if part.kind == "reply")


def _rows(mails: Sequence[ThreadMail]) -> Iterator[Row]:
    texts = [_own_text(mail) for mail in mails]
    signatures = fingerprints(texts, DEFAULT)
    for place, (mail, text) in enumerate(zip(mails, texts, strict=True)):
        yield _row(mail.message, text, signatures[place])


def _row(message: MailMessage, text: str, signature: Fingerprint) -> Row:
    return Row(
        id=message.id,
        recipe=DEFAULT.id,
        status=signature.status,
        title="",
        text=text,
        path=message.path,
        content_type="",
        modified=message.date,
        size=0,
        source="",
        extractor="",
        raw="",
        exact=signature.exact,
        words=signature.words,
        chars=signature.chars,
        family=message.id,
        minhash=stored_sketch(signature),
    )
