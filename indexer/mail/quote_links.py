"""The mail that another one quotes, found by its words where the fields name none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from indexer.mail.read_mail import Quote, ReadMail, names_sender
from indexer.mail.segment_words import RUN, key_runs, runs, spelled, without_signs

LEAST_WORDS = 8
"""Words that a mail and a quote share at least, unless the quote is the mail, with its sender named
and its subject."""
_KEYS = 4
_CHANGED = 0.8
_MOST_MAILS = 200
_TOLERANCE = 86_400_000  # a day in milliseconds: clocks and time zones of senders are wrong
Run: TypeAlias = tuple[str, ...]
Similarity: TypeAlias = Callable[[str, str], float]


@dataclass(frozen=True, slots=True)
class _Index:
    """Mails by runs of words of their own text: those of `key_runs`, and all that are wanted."""

    by_key: Mapping[Run, Sequence[int]]
    by_run: Mapping[Run, Sequence[int]]

    def having(self, quote: Quote) -> set[int]:
        """Return the mails whose own text a quote may hold, or that may hold the quote."""
        numbers: set[int] = set()
        words = without_signs(quote.words)
        for run in key_runs(words, _KEYS):
            numbers.update(_few(self.by_run.get(run, ())))
        for width in range(1, RUN + 1):
            for run in runs(words, width):
                numbers.update(_few(self.by_key.get(run, ())))
        return numbers


def _few(places: Sequence[int]) -> Sequence[int]:
    return places if len(places) <= _MOST_MAILS else ()


def quote_parents(
    mails: Sequence[ReadMail], orphans: Collection[int], similarity: Similarity
) -> Iterator[tuple[int, int]]:
    """Yield each orphan that quotes another mail, with that mail, by their places.

    The mail is the one of the least depth of quoting whose own words are in the quote in a row, or
    in whose own words the quote is; or whose own words, 8 or more, and those of the quote have a
    `similarity` of 80 % at least, for a quote may be changed. It was sent at most a day after the
    orphan, as far as both dates are known. Fewer than 8 words in common do for none but a mail
    that is the whole quote, whose sender is named above it, and whose subject is the same. Of
    several, the one counts that is not changed, then whose sender is named, then one of the same
    subject, then the one with more words in common, then the last one sent, then the first by id.
    Texts that more than 200 mails share are no evidence, nor are signs such as `?`, which stand for
    characters that were lost.
    """
    quoting = sorted(place for place in orphans if mails[place].inner)
    index = _index(mails, quoting)
    for place in quoting:
        parent = _parent(mails, place, index, similarity)
        if parent is not None:
            yield place, parent


def _index(mails: Sequence[ReadMail], quoting: Sequence[int]) -> _Index:
    quotes = (quote for place in quoting for quote in mails[place].inner)
    wanted = {run for quote in quotes for run in key_runs(without_signs(quote.words), _KEYS)}
    by_key: dict[Run, list[int]] = {}
    by_run: dict[Run, list[int]] = {}
    for place, mail in enumerate(mails):
        own = without_signs(mail.own)
        for run in key_runs(own, _KEYS):
            by_key.setdefault(run, []).append(place)
        for run in set(runs(own, RUN)) & wanted:
            by_run.setdefault(run, []).append(place)
    return _Index(by_key, by_run)


def _parent(
    mails: Sequence[ReadMail], place: int, index: _Index, similarity: Similarity
) -> int | None:
    """Return the mail that a mail quotes; None if none is found."""
    mail = mails[place]
    for quote in sorted(mail.inner, key=lambda quote: quote.depth):
        ranked = [
            (rank, other)
            for other in index.having(quote) - {place}
            if (rank := _rank(mail, quote, mails[other], similarity)) is not None
        ]
        if ranked:
            return max(ranked)[1]
    return None


def _rank(
    mail: ReadMail, quote: Quote, other: ReadMail, similarity: Similarity
) -> tuple[object, ...] | None:
    """Return by how much a mail is what a quote is of, more is better; None if it is not."""
    sent = other.message.date
    received = mail.message.date
    if sent is not None and received is not None and sent > received + _TOLERANCE:
        return None
    own_words = without_signs(other.own)
    quoted_words = without_signs(quote.words)
    own = spelled(own_words)
    quoted = spelled(quoted_words)
    common = min(len(own_words), len(quoted_words))
    is_whole = own in quoted or quoted in own
    if not is_whole and (common < LEAST_WORDS or similarity(own, quoted) < _CHANGED):
        return None
    is_named = names_sender(quote.attribution, other.message.sender)
    is_same_subject = bool(mail.subject) and mail.subject == other.subject
    is_same = own_words == quoted_words
    if common < LEAST_WORDS and not (is_same and is_named and is_same_subject):
        return None
    return (is_whole, is_named, is_same_subject, common, sent or 0, _reversed(other.message.id))


def _reversed(id: str) -> tuple[int, ...]:
    """Return a key by which the first id is the greatest."""
    return tuple(-ord(character) for character in id)
