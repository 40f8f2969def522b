"""Inclusive mails: those to be read, because no later mail of the thread holds them whole."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast

from indexer.mail.read_mail import (
    CONTENT,
    Quote,
    ReadMail,
    is_same,
    is_same_with_names,
    names_another,
    names_sender,
    subject_parts,
)
from indexer.mail.segment_words import RUN, key_run, runs, segment_words, spelled
from indexer.mail.segments import SegmentKind

Reason: TypeAlias = Literal[
    "own_text",
    "changed",
    "quoted_text",
    "attachment",
    "subject",
    "attribution",
    "signature",
    "disclaimer",
    "empty",
]
"""Why a mail is inclusive.

`own_text`: no later mail quotes what its sender wrote. `changed`: an answer to it quotes that, but
not as it is. `quoted_text`: a later mail has the sender's text, but not all that is quoted below.
`attachment`: a later mail has the text, but not all attachments. `subject`, `attribution` (the
lines above a quote), `signature` and `disclaimer`: no other inclusive mail has these, or a later
mail has the quotes with other attributions. `empty`:
there is nothing in it that another mail could have.
"""
_LEAST_CHANGED, _CHANGED = 8, 0.8
Run = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The `reasons` why a mail is inclusive, or the place of a later mail that holds it."""

    reasons: tuple[Reason, ...] = ()
    held_by: int | None = None

    @property
    def is_inclusive(self) -> bool:
        """True for a mail that must be read."""
        return self.held_by is None


@dataclass(slots=True)
class _Thread:
    """A thread while it is judged; places are those of its mails, in order."""

    mails: Sequence[ReadMail]
    distance: Callable[[int, int], int]
    similarity: Callable[[str, str], float]
    holders: dict[Run, set[int]] = field(default_factory=dict)
    copies: dict[str, list[int]] = field(default_factory=dict)
    by_text: dict[tuple[str, Run], list[int]] = field(default_factory=dict)
    above: dict[tuple[int, tuple[str, Run]], list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        wanted = {key_run(quote.words) for mail in self.mails for quote in mail.quotes}
        for place, mail in enumerate(self.mails):
            for run in _runs_of(mail) & wanted:
                self.holders.setdefault(run, set()).add(place)
            if mail.message.message_id:
                self.copies.setdefault(mail.message.message_id, []).append(place)
            self.by_text.setdefault((mail.message.sender, mail.own), []).append(place)

    def nearer(self, other: int, place: int) -> int:
        """Return how many mails between two have the same text of the same sender as the upper."""
        text = (self.mails[place].message.sender, self.mails[place].own)
        key = (other, text)
        if key not in self.above:
            distances = {self.distance(other, same) for same in self.by_text[text]}
            self.above[key] = sorted(distances - {0})
        return bisect_left(self.above[key], self.distance(other, place))


def inclusive(
    mails: Sequence[ReadMail],
    distance: Callable[[int, int], int],
    similarity: Callable[[str, str], float],
    ignore_endings: bool = False,
) -> list[Verdict]:
    """Return the verdict on each mail of a thread.

    `mails` are in an order in which every mail comes after what it answers. `distance(a, b)` is 1
    where a answers b, 2 where it answers an answer to b, and so on; 0 where it does not.

    An answer, also an indirect one, holds a mail if it quotes each message in it with all its words
    and no others (one that answers interrupt is one message), in the same order and under the same
    attributions, and has all its attachments. The quote of the mail itself is as deep as the
    distance and nobody else is named above it, or its sender is: others may have written the same.
    Of equal mails of one sender, as many are held as there are such quotes. A copy with the same
    Message-ID holds a mail if it has all these at least. `similarity` of two texts says which
    quotes are changed ones.

    The inclusive mails together have every subject and segment: a mail with a signature or
    disclaimer (unless `ignore_endings`), or anything else, that no inclusive mail has, becomes
    inclusive itself, the last ones first.
    """
    thread = _Thread(mails, distance, similarity)
    verdicts = [_verdict(thread, place) for place in range(len(mails))]
    coverage = _Coverage(
        mails, [place for place, verdict in enumerate(verdicts) if verdict.is_inclusive]
    )
    for place in reversed(range(len(mails))):
        if verdicts[place].is_inclusive:
            continue
        missing = coverage.missing(place, ignore_endings)
        if missing:
            verdicts[place] = Verdict(missing)
            coverage.add(place)
    return verdicts


def _verdict(thread: _Thread, place: int) -> Verdict:
    mail = thread.mails[place]
    if not mail.quotes and not mail.message.attachments:
        holder = _copy(thread, place)
        return Verdict(held_by=holder) if holder is not None else Verdict(("empty",))
    with_own = [other for other in _later(thread, place) if _has_own(thread, other, place)]
    with_text = [other for other in with_own if _has_quotes(thread.mails[other], mail)]
    with_names = [o for o in with_text if _has_quotes(thread.mails[o], mail, is_same_with_names)]
    with_all = [other for other in with_names if _has_attachments(thread.mails[other], mail)]
    if with_all:
        return Verdict(held_by=with_all[-1])
    if with_names:
        return Verdict(("attachment",))
    if with_text:
        return Verdict(("attribution",))
    if with_own:
        return Verdict(("quoted_text",))
    return Verdict(("changed" if _is_changed(thread, place) else "own_text",))


def _later(thread: _Thread, place: int) -> list[int]:
    """Return the places after a mail that may hold it: those that quote a run of its own text."""
    mail = thread.mails[place]
    if mail.own:
        candidates = set(thread.holders.get(key_run(mail.own), ()))
    else:
        candidates = set(range(len(thread.mails)))
    candidates.update(thread.copies.get(mail.message.message_id, ()))
    return sorted(other for other in candidates if other > place)


def _copy(thread: _Thread, place: int) -> int | None:
    copies = thread.copies.get(thread.mails[place].message.message_id, [])
    later = [other for other in copies if other > place and _has_own(thread, other, place)]
    return later[-1] if later else None


def _is_copy(a: ReadMail, b: ReadMail) -> bool:
    return bool(a.message.message_id) and a.message.message_id == b.message.message_id


def _has_own(thread: _Thread, other: int, place: int) -> bool:
    """Return whether a mail quotes what the sender of another one wrote, or is a copy of it."""
    mail = thread.mails[place]
    later = thread.mails[other]
    if _is_copy(later, mail):
        return later.own == mail.own
    distance = thread.distance(other, place)
    if not distance or mail.own_message is None:
        return bool(distance)
    sender = mail.message.sender
    quotes = [quote for quote in later.inner if is_same(mail.own_message, quote)]
    is_in_place = any(
        quote.depth == distance and not names_another(quote.attribution, sender) for quote in quotes
    )
    named = sum(names_sender(quote.attribution, sender) for quote in quotes)
    return is_in_place or named > thread.nearer(other, place)


def _has_quotes(
    later: ReadMail, mail: ReadMail, is_equal: Callable[[Quote, Quote], bool] = is_same
) -> bool:
    """Return whether a mail has every message that another one quotes, in the same order."""
    following = iter(later.inner)

    def follows(message: Quote) -> bool:
        return any(is_equal(message, quote) for quote in following)

    return all(map(follows, mail.inner))


def _has_attachments(later: ReadMail, mail: ReadMail) -> bool:
    digests = {attachment.sha256 for attachment in later.message.attachments}
    return all(attachment.sha256 in digests for attachment in mail.message.attachments)


def _is_changed(thread: _Thread, place: int) -> bool:
    """Return whether an answer to a mail quotes at least 80 % of its words in order."""
    mail = thread.mails[place]
    own = " ".join(mail.own)
    if len(mail.own) < _LEAST_CHANGED:
        return False
    answers = (
        other for other in range(place + 1, len(thread.mails)) if thread.distance(other, place)
    )
    quotes = (quote for other in answers for quote in thread.mails[other].inner)
    return any(
        len(quote.words) < 2 * len(mail.own)
        and thread.similarity(own, " ".join(quote.words)) >= _CHANGED
        for quote in quotes
    )


class _Coverage:
    """The segments and subjects that the inclusive mails have."""

    def __init__(self, mails: Sequence[ReadMail], places: Sequence[int]) -> None:
        self._mails = mails
        self._texts: dict[Run, list[str]] = {}
        wanted = (text for mail in mails for text in _wanted_texts(mail))
        self._wanted = {key_run(segment_words(text)) for text in wanted}
        for place in places:
            self.add(place)

    def add(self, place: int) -> None:
        mail = self._mails[place]
        for quote in mail.quotes:
            for words in (quote.words, quote.whole):
                self._add(words)
        for part in mail.segments:
            self._add(segment_words(part.text))
        above = [part.text for part in mail.segments if part.kind == "attribution"]
        self._add(segment_words("\n".join(above)))
        self._add(segment_words(mail.message.subject))

    def missing(self, place: int, ignore_endings: bool) -> tuple[Reason, ...]:
        """Return why a mail is needed: what it has that no inclusive mail has."""
        mail = self._mails[place]
        has_subject = all(map(self._has, subject_parts(mail.message.subject)))
        reasons: list[Reason] = [] if has_subject else ["subject"]
        for part in mail.segments:
            reason = _reason_of(part.kind, part.depth)
            is_ignored = ignore_endings and reason in ("signature", "disclaimer")
            if not is_ignored and not self._has(part.text):
                reasons.append(reason)
        return tuple(dict.fromkeys(reasons))

    def _add(self, words: Sequence[str]) -> None:
        text = spelled(words)
        for run in _all_runs(words) & self._wanted:
            self._texts.setdefault(run, []).append(text)

    def _has(self, text: str) -> bool:
        words = segment_words(text)
        spelling = spelled(words)
        return not words or any(spelling in held for held in self._texts.get(key_run(words), ()))


def _wanted_texts(mail: ReadMail) -> list[str]:
    """Return what some inclusive mail must have: parts of the subject, and segments."""
    return subject_parts(mail.message.subject) + [part.text for part in mail.segments]


def _reason_of(kind: SegmentKind, depth: int) -> Reason:
    if kind in CONTENT:
        return "quoted_text" if depth else "own_text"
    return cast(Reason, kind)


def _runs_of(mail: ReadMail) -> set[Run]:
    """Return the runs of words of the messages that a mail quotes."""
    return {
        run
        for quote in mail.inner
        for words in (quote.words, quote.whole)
        for run in _all_runs(words)
    }


def _all_runs(words: Sequence[str]) -> set[Run]:
    return {run for width in range(1, RUN + 1) for run in runs(words, width)}
