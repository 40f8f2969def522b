"""The text of a mail that has it twice, as plain text and as HTML."""

from __future__ import annotations

import re

from indexer.mail.quote_marks import marked_lines
from indexer.mail.segment_words import segment_words, spelled

# What programs write in plain text alone: the addresses of links, their numbers, and images.
_ADDED = re.compile(
    r"<[^<>\s]*(?:://|mailto:|@)[^<>]*>|\((?:https?://|mailto:)[^()\s]*\)"
    r"|\[(?:image:|cid:|https?://|\d+\])[^\[\]]*\]?",
    re.IGNORECASE,
)


def alternative_text(plain: str, rich: str) -> str:
    """Return the plain text if it has all lines of the other in order, each with its words in a
    row; the other if only that has all. Addresses of links and images between words do not count.

    Where each has lines that the other lacks: the one with more words, below those lines of the
    other. Either may be empty.

    >>> alternative_text("At one.", "Two"), alternative_text("See HTML.", "At one.\\nSee HTML.")
    ('Two\\n\\nAt one.', 'At one.\\nSee HTML.')
    """
    rich_lines = _lines_beyond(rich, plain)
    if not rich_lines:
        return plain
    plain_lines = _lines_beyond(plain, rich)
    if not plain_lines:
        return rich
    if len(_words(plain)) >= len(_words(rich)):
        return f"{rich_lines}\n\n{plain}"
    return f"{plain_lines}\n\n{rich}"


def _words(text: str) -> list[str]:
    return segment_words("\n".join(line.text for line in marked_lines(text)))


def _lines_beyond(text: str, other: str) -> str:
    """Return the lines of a text that another one lacks; all where it has them in another order."""
    versions = (other, _ADDED.sub(" ", other))
    return min((_missing(text, spelled(_words(version))) for version in versions), key=len)


def _missing(text: str, words: str) -> str:
    place = 0
    lines = []
    for line in marked_lines(text):
        line_words = segment_words(line.text)
        spelling = spelled(line_words)
        following = words.find(spelling, place) if line_words else place
        if following >= 0:
            place = following + len(spelling) - 1 if line_words else place
        elif spelling in words:
            return text
        else:
            lines.append(text[line.start : line.stop].rstrip("\n"))
    return "\n".join(lines)
