"""The end of a message below its text: a signature, a legal notice, the footer of a list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from indexer.mail import client_words as words

EndingKind: TypeAlias = Literal["signature", "text", "disclaimer"]
_MOST_SIGNATURE, _MOST_CLOSING, _MOST_DEVICE, _MOST_WIDTH = 20, 8, 2, 90
_MOST_NAME, _LEAST_SENTENCE = 4, 3
_ADDRESS = re.compile(r"@|://|www\.|(?:\d[\s()/.-]*){5}")
_SENTENCE_END = re.compile(r"[.?!…。！？]\W*$")
_RULE = re.compile(r"\s*[-_=*~]{10,}\s*$")
_NOTICE_NAME = re.compile(
    r"\s*\W*(?:disclaimer|confidentiality notice|legal notice|avis de confidentialité|hinweis)\b",
    re.IGNORECASE,
)


def endings(lines: Sequence[str]) -> list[tuple[int, EndingKind]]:
    """Return where signature, text below it and disclaimer begin in the lines of a message, in
    order; each ends where the next one begins, or with the lines.

    A signature begins at `-- ` with at most 20 lines below it, at a line that a telephone added, or
    at a line of closing words ("Best regards,") with a name and at most 7 more short lines below
    it. It goes on with names and addresses alone: a sentence, below the name and an empty line also
    any longer line, is text again, and so is a postscript. Below `-- ` only a postscript is. A
    disclaimer begins in the first paragraph that speaks of secrecy, whom the mail is for, and what
    others must do; or at the rule above the footer of a mailing list.

    >>> endings(["See you.", "", "Kind regards,", "Ann", "", "P.S. Bring the key."])
    [(2, 'signature'), (5, 'text')]
    """
    notice = _disclaimer(lines)
    result: list[tuple[int, EndingKind]] = []
    start = 0
    while (signature := _signature(lines[start:notice])) is not None:
        first = start + signature
        start = _text_below(lines[:notice], first)
        result += [(first, "signature"), (start, "text")]
    if start == notice and result:
        result.pop()
    if notice < len(lines):
        result.append((notice, "disclaimer"))
    return result


def _text_below(lines: Sequence[str], signature: int) -> int:
    """Return the first line of text below a signature, the number of lines if there is none."""
    is_marked = lines[signature].rstrip() == "--"
    is_named = not _is_closing(lines[signature])
    for place in range(signature + 1, len(lines)):
        line = lines[place]
        if words.POSTSCRIPT.match(line):
            return place
        if is_marked or not line.strip():
            continue
        is_below = is_named and not lines[place - 1].strip()
        if _is_sentence(line, _LEAST_SENTENCE) or (is_below and _is_prose(lines, place)):
            return place
        is_named = True
    return len(lines)


def _is_prose(lines: Sequence[str], start: int) -> bool:
    """Return whether a line of the paragraph that starts here is longer than a name or ends a
    sentence; those with addresses do not count.
    """
    return any(
        _is_sentence(line, 1) or (len(line.split()) > _MOST_NAME and not _ADDRESS.search(line))
        for line in _paragraph(lines, start)
    )


def _is_sentence(line: str, least: int) -> bool:
    """Return whether a line of so many words at least ends a sentence and has no address."""
    is_ended = len(line.split()) >= least and _SENTENCE_END.search(line)
    return bool(is_ended) and not _ADDRESS.search(line)


def _paragraph(lines: Sequence[str], start: int) -> Sequence[str]:
    stop = start
    while stop < len(lines) and lines[stop].strip():
        stop += 1
    return lines[start:stop]


def _disclaimer(lines: Sequence[str]) -> int:
    """Return the first line of the disclaimer, the number of lines if there is none."""
    start = 0
    while start < len(lines):
        stop = start
        while stop < len(lines) and lines[stop].strip():
            stop += 1
        if stop > start:
            line = _in_paragraph(lines, start, stop)
            if line is not None:
                return line
        start = stop + 1
    return len(lines)


def _in_paragraph(lines: Sequence[str], start: int, stop: int) -> int | None:
    """Return where in a paragraph a disclaimer begins, its rule above included."""
    for place in range(start, stop):
        first = lines[place + 1][:80] if place + 1 < stop else ""
        if lines[place].rstrip() == "--" and words.LIST_FOOTER.search(first):
            return place
        if _RULE.match(lines[place]):
            near = "\n".join(lines[place + 1 : place + 5])
            if words.LIST_FOOTER.search(near) or _is_notice(near):
                return place
    text = "\n".join(lines[start:stop])
    if _is_group_footer(text):
        return start
    return _first_line_of_notice(lines, start, stop) if _is_notice(text) else None


def _first_line_of_notice(lines: Sequence[str], start: int, stop: int) -> int:
    """Return the first line of a paragraph that speaks of what disclaimers speak of."""
    for place in range(start, stop):
        if _NOTICE_NAME.search(lines[place]) or _topics(lines[place]):
            return place
    return start


def _topics(text: str) -> int:
    """Return of how many things a text speaks that disclaimers speak of, 0 to 3."""
    return sum(bool(topic.search(text)) for topic in words.DISCLAIMER)


def _is_notice(text: str) -> bool:
    topics = _topics(text)
    return topics == 3 or (topics >= 1 and bool(_NOTICE_NAME.match(text)))


def _is_group_footer(text: str) -> bool:
    return "you received this message because you are subscribed" in text.lower()


def _signature(lines: Sequence[str]) -> int | None:
    """Return the first line of the signature."""
    left = sum(bool(line.strip()) for line in lines)
    for place, line in enumerate(lines):
        left -= bool(line.strip())
        most = _most_below(line)
        if most is None or left > most:
            continue
        widest = max(map(len, lines[place + 1 :]), default=0)
        if not _is_closing(line) or (left and widest <= _MOST_WIDTH):
            return place
    return None


def _most_below(line: str) -> int | None:
    """Return how many lines may stand below a line that begins a signature; None for others."""
    if line.rstrip() == "--":
        return _MOST_SIGNATURE
    if len(line) <= _MOST_WIDTH and words.DEVICE.match(line.strip()):
        return _MOST_DEVICE
    return _MOST_CLOSING if _is_closing(line) else None


def _is_closing(line: str) -> bool:
    said = line.strip().rstrip("!.,;，。 ").casefold()
    return bool(said) and said in words.CLOSINGS
