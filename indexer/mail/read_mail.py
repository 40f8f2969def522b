"""A mail divided into segments, and the words of the messages in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from indexer.mail.client_words import SUBJECT_MARKS
from indexer.mail.message import MailMessage
from indexer.mail.segment_words import segment_words, spelled
from indexer.mail.segments import Segment, segments

CONTENT = ("reply", "quoted", "forwarded")
"""The kinds of segments that are what somebody wrote to somebody."""
_NAME = re.compile(r"[^\W\d_]{3,}")
_ADDRESS = re.compile(r"[^\s<>()@,;:\"]+@[^\s<>()@,;:\"]+")


@dataclass(frozen=True, slots=True)
class Quote:
    """One message within a mail, its own text at depth 0: the words of all its segments of content,
    of these and what ends them, and the attribution right above it.
    """

    depth: int
    words: tuple[str, ...]
    whole: tuple[str, ...]
    attribution: str


@dataclass(frozen=True)
class ReadMail:
    """A mail with its segments."""

    message: MailMessage
    segments: tuple[Segment, ...]

    @cached_property
    def quotes(self) -> tuple[Quote, ...]:
        """The messages in the mail, in the order of their first segments; those without words are
        left out.
        """
        by_region: dict[int, list[Segment]] = {}
        attributions: dict[int, str] = {}
        above = ""
        for segment in self.segments:
            if segment.kind == "attribution":
                above = segment.text
                continue
            attributions.setdefault(segment.region, above)
            above = ""
            by_region.setdefault(segment.region, []).append(segment)
        quotes = [_quote(parts, attributions[number]) for number, parts in by_region.items()]
        return tuple(quote for quote in quotes if quote.words)

    @cached_property
    def own(self) -> tuple[str, ...]:
        """The words that the sender wrote."""
        return self.own_message.words if self.own_message else ()

    @cached_property
    def own_message(self) -> Quote | None:
        """The message of the sender; None without words."""
        return next((quote for quote in self.quotes if quote.depth == 0), None)

    @cached_property
    def inner(self) -> tuple[Quote, ...]:
        """The messages that are quoted or forwarded."""
        return tuple(quote for quote in self.quotes if quote.depth)

    @cached_property
    def subject(self) -> str:
        """The subject without `Re:`, `Fwd:` and the names of lists, folded."""
        return base_subject(self.message.subject)


def read_mail(message: MailMessage) -> ReadMail:
    """Return a mail with its segments."""
    return ReadMail(message, segments(message.body, message.subject))


def base_subject(subject: str) -> str:
    """Return a subject without marks of replies and lists, in folded words.

    >>> base_subject("AW: [list] Re[2]: The  ferry"), base_subject("Re:")
    ('the ferry', '')
    """
    return " ".join(segment_words(subject_parts(subject)[-1]))


def subject_parts(subject: str) -> list[str]:
    """Return the parts of a subject that answers keep: marks such as `[list]`, and the text below
    these and `Re:`.

    >>> subject_parts("AW: [list] Re[2]: The  ferry")
    ['[list]', 'The  ferry']
    """
    parts = []
    while (mark := SUBJECT_MARKS.match(subject)) is not None:
        subject = subject[mark.end() :]
        parts += [mark[0].strip()] if "[" in mark[0].lstrip()[:1] else []
    return [*parts, subject]


def names_sender(attribution: str, sender: str) -> bool:
    """Return whether an attribution has the address of a sender, or a part of the name.

    >>> names_sender("On Monday, Lee, Ann wrote:", "Ann Lee <al@x.org>"), names_sender("", "Ann")
    (True, False)
    """
    said = attribution.casefold()
    address = _ADDRESS.search(sender)
    if address and address[0].casefold() in said:
        return True
    names = _NAME.findall(sender.partition("<")[0].casefold())
    words = set(_NAME.findall(said))
    return bool(names) and all(name in words for name in names)


def names_another(attribution: str, sender: str) -> bool:
    """Return whether an attribution has addresses, but neither the name nor that of a sender.

    >>> names_another("Bo <bo@x.org> wrote:", "Ann <ann@x.org>"), names_another("", "Ann <a@x>")
    (True, False)
    """
    has_both = _ADDRESS.search(attribution) and _ADDRESS.search(sender)
    return bool(has_both) and not names_sender(attribution, sender)


def is_same(message: Quote, quote: Quote) -> bool:
    """Return whether a quote has all words of a message and no others; what ends either may be
    there or not.
    """
    texts = (quote.words, quote.whole)
    return message.words in texts or message.whole in texts


def is_same_with_names(message: Quote, quote: Quote) -> bool:
    """Return whether a quote has the words of a message and, where there is one, its attribution.

    Of two attributions that follow each other, an answer may have the second one alone.
    """
    if not message.attribution or not is_same(message, quote):
        return is_same(message, quote)
    names = [spelled(segment_words(item.attribution)) for item in (message, quote)]
    return bool(quote.attribution) and (names[0] in names[1] or names[1] in names[0])


def _quote(parts: Iterable[Segment], attribution: str) -> Quote:
    all_parts = list(parts)
    content = [part.text for part in all_parts if part.kind in CONTENT]
    return Quote(
        all_parts[0].depth,
        tuple(segment_words("\n".join(content))),
        tuple(segment_words("\n".join(part.text for part in all_parts))),
        attribution,
    )
