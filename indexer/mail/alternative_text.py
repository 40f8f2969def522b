"""The text of a mail that has it twice, as plain text and as HTML."""

from __future__ import annotations

from collections import Counter

from indexer.mail.quote_marks import marked_lines
from indexer.mail.segment_words import segment_words, spelled


def alternative_text(plain: str, rich: str) -> str:
    """Return the plain text if it has all words of the other, the other if only that has all.

    Where each has words that the other lacks: the one with more words, below the lines of the other
    in which the words are that it lacks. Either may be empty.

    >>> alternative_text("At one.", "Two"), alternative_text("See HTML.", "At one, see HTML.")
    ('Two\\n\\nAt one.', 'At one, see HTML.')
    """
    plain_words = _words(plain)
    rich_words = _words(rich)
    if not Counter(rich_words) - Counter(plain_words):
        return plain
    if not Counter(plain_words) - Counter(rich_words):
        return rich
    if len(plain_words) >= len(rich_words):
        return f"{_lines_beyond(rich, plain_words)}\n\n{plain}"
    return f"{_lines_beyond(plain, rich_words)}\n\n{rich}"


def _words(text: str) -> list[str]:
    return segment_words("\n".join(line.text for line in marked_lines(text)))


def _lines_beyond(text: str, words: list[str]) -> str:
    """Return the lines of a text in which words are that are not among some others so often."""
    surplus = Counter(_words(text)) - Counter(words)
    others = spelled(words)
    lines = []
    for line in marked_lines(text):
        line_words = segment_words(line.text)
        if any(word in surplus for word in line_words) and spelled(line_words) not in others:
            lines.append(text[line.start : line.stop].rstrip("\n"))
    return "\n".join(lines)
