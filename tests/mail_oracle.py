"""What threads of mail must hold, by brute force: words, segments and attachments that are lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from synthetic_mail import Mail

from indexer.documents.mail.quote_headings import segment_words
from indexer.documents.mail.threads import Thread

Label = tuple[str, int]
Labelled = list[tuple[str, Label]]
OF_MESSAGES = ("reply", "quoted", "forwarded")


def labelled_words(parts: Iterable[Any]) -> Labelled:
    """Return the words of segments in order, each with the kind and depth of its segment."""
    return [(word, (part.kind, part.depth)) for part in parts for word in segment_words(part.text)]


def spaced(words: Iterable[str]) -> str:
    """Return words so that a run of them is a substring."""
    return f" {' '.join(words)} "


def uncovered(thread: Thread) -> list[tuple[str, str]]:
    """Return the segments of a thread that no inclusive mail has, by brute force.

    The words of a segment must stand in a row in the text of an inclusive mail, in one segment or
    in the segments of one message in it, or in its attributions.
    """
    texts = []
    for mail in thread.inclusive:
        regions: dict[int, list[str]] = defaultdict(list)
        contents: dict[int, list[str]] = defaultdict(list)
        for part in mail.segments:
            words = segment_words(part.text)
            texts.append(words)
            if part.kind != "attribution":
                regions[part.region] += words
            if part.kind in OF_MESSAGES:
                contents[part.region] += words
        above = "\n".join(part.text for part in mail.segments if part.kind == "attribution")
        texts += [*regions.values(), *contents.values(), segment_words(above)]
    joined = [spaced(text) for text in texts]
    segments = ((mail, part.text) for mail in thread.mails for part in mail.segments)
    return [
        (mail.message.id, text)
        for mail, text in segments
        if not any(spaced(segment_words(text)) in other for other in joined)
    ]


def lost_attachments(thread: Thread) -> int:
    """Return how many attachments of a thread no inclusive mail has."""
    held, everything = (
        {item.sha256 for mail in mails for item in mail.message.attachments}
        for mails in (thread.inclusive, thread.mails)
    )
    return len(everything - held)


def true_inclusive(mails: Sequence[Mail]) -> set[str]:
    """Return the keys of the mails of a true thread that no later one holds whole.

    By the truth alone: all texts of a mail without signatures and notices, and its attachments, are
    among those that a mail below it in the tree quotes.
    """

    def texts(mail: Mail, min_depth: int) -> list[str]:
        found: dict[int, list[str]] = defaultdict(list)
        for part in mail.parts:
            if part.kind in OF_MESSAGES and part.depth >= min_depth:
                found[part.depth] += segment_words(part.text)
        return [spaced(words) for words in found.values()]

    def is_held(mail: Mail, other: Mail) -> bool:
        quoted = texts(other, 1)
        has_texts = all(any(text in inner for inner in quoted) for text in texts(mail, 0))
        return has_texts and has_attachments(other, mail)

    return {
        mail.key
        for mail in mails
        if not any(is_below(other, mail) and is_held(mail, other) for other in mails)
    }


def is_below(lower: Mail, upper: Mail) -> bool:
    parent = lower.parent
    while parent is not None and parent is not upper:
        parent = parent.parent
    return parent is upper


def has_attachments(mail: Mail, other: Mail) -> bool:
    """Return whether a mail has the attachments of another one."""
    return {data for _, data in other.attachments} <= {data for _, data in mail.attachments}
