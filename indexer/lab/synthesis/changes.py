"""Change texts as people do: revise, move paragraphs, fill in other numbers and names, quote,
excerpt.

Each function takes a text and a `RandomSource` and returns the changed text, or None for a text
without anything to change.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import TypeVar

from indexer.comparing.words import words

# Random numbers that are the same on every platform and under every Python.

T = TypeVar("T")


class RandomSource:
    """Random numbers from a seed of any parts. Only `random()` of the generator is used: the one
    sequence that Python promises to keep.

    >>> RandomSource(1, "edits").below(100) == RandomSource(1, "edits").below(100)
    True
    """

    def __init__(self, *seed: object) -> None:
        self._draw = Random("\x1f".join(map(str, seed))).random

    def share(self) -> float:
        """Return a number in [0, 1)."""
        return self._draw()

    def below(self, count: int) -> int:
        """Return an integer in [0, count); `count` is at least 1."""
        return int(self._draw() * count)

    def between(self, minimum: int, limit: int) -> int:
        """Return an integer in [least, most]."""
        return minimum + self.below(limit - minimum + 1)

    def choice(self, items: Sequence[T]) -> T:
        """Return one of the items, of which there is at least one."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in a random order."""
        result = list(items)
        for position in range(len(result) - 1, 0, -1):
            other = self.below(position + 1)
            result[position], result[other] = result[other], result[position]
        return result


MIN_NUMBERS, MIN_NAMES, MIN_BLOCKS = 3, 3, 3
_RUN = 4  # words that are changed at one position, at most
_DIGITS = re.compile(r"\d+")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_SENTENCE_OPENING = re.compile(r"(?:^|[.!?:;»\"“”(\n])\s*\Z")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def word_list(text: str) -> list[str]:
    """Return the words of a text as written, in order."""
    return [text[start:end] for start, end in _spans(text)]


def _spans(text: str) -> list[tuple[int, int]]:
    text_words = words(text)
    return list(zip(text_words.starts.tolist(), text_words.ends.tolist(), strict=True))


def edit_words(
    text: str, fraction: float, donor: Sequence[str], chance: RandomSource
) -> str | None:
    """Change a share of the words, in runs of one to four: replace them by words of `donor`, drop
    them, or insert words after them.

    At least one word is changed. None for a text without words.
    """
    spans = _spans(text)
    if not spans or not donor:
        return None
    changed = [text[start:end] for start, end in spans]
    remaining = max(1, round(fraction * len(spans)))
    unchanged = set(range(len(spans)))
    while remaining and unchanged:
        start, act = chance.below(len(spans)), chance.share()
        for position in range(
            start, min(len(spans), start + min(remaining, chance.between(1, _RUN)))
        ):
            if position in unchanged:
                unchanged.remove(position)
                remaining -= 1
                changed[position] = _change_word(changed[position], act, donor, chance)
    return _replace_words(text, spans, changed)


def _change_word(word: str, act: float, donor: Sequence[str], chance: RandomSource) -> str:
    """Replace six words of ten, drop two, and insert another word after two."""
    if act < 0.6:
        return next(
            (other for _ in range(9) if (other := chance.choice(donor)) != word),
            chance.choice(donor),
        )
    if act < 0.8:
        return ""
    return word + (" " if len(word) > 1 else "") + chance.choice(donor)


def _replace_words(text: str, spans: Sequence[tuple[int, int]], replacements: Sequence[str]) -> str:
    """Return a text with other words at the positions of its words; a dropped word takes the space
    before it along.
    """
    parts, end = [], 0
    for (start, stop), word in zip(spans, replacements, strict=True):
        gap = text[end:start]
        parts.append("" if not word and gap.isspace() and "\n" not in gap else gap)
        parts.append(word)
        end = stop
    return "".join(parts) + text[end:]


def move_paragraphs(text: str, chance: RandomSource) -> str | None:
    """Move one in five paragraphs (lines or sentences of a text with few of these) to another
    place.

    None for a text with fewer than three of them.
    """
    paragraphs = blocks(text)
    if len(paragraphs) < MIN_BLOCKS:
        return None
    before = list(paragraphs)
    for _ in range(max(1, len(paragraphs) // 5)):
        block = paragraphs.pop(chance.below(len(paragraphs)))
        paragraphs.insert(chance.below(len(paragraphs) + 1), block)
    if paragraphs == before:
        paragraphs = [*paragraphs[1:], paragraphs[0]]
    return "\n\n".join(paragraphs)


def blocks(text: str) -> list[str]:
    """Return the paragraphs of a text; its lines when it has few paragraphs, its sentences when it
    has few lines.
    """
    parts: list[str] = []
    for parting in (_BLANK_LINE, re.compile(r"\n+"), _SENTENCE_END):
        parts = [block.strip() for block in parting.split(text.strip()) if block.strip()]
        if len(parts) >= 2 * MIN_BLOCKS:
            break
    return parts


def sentences(text: str, minimum: int, limit: int) -> list[str]:
    """Return the distinct sentences of `minimum` to `limit` words, each on one line."""
    candidates = (
        " ".join(sentence.split())
        for block in blocks(text)
        for sentence in _SENTENCE_END.split(block)
    )
    return [
        sentence_text
        for sentence_text in dict.fromkeys(candidates)
        if minimum <= len(words(sentence_text)) <= limit
    ]


def change_numbers(text: str, chance: RandomSource) -> str | None:
    """Change the digits of most numbers, always the first digit. None with fewer than three
    numbers.
    """
    numbers = list(_DIGITS.finditer(text))
    if len(numbers) < MIN_NUMBERS:
        return None
    parts, end = [], 0
    for index, number in enumerate(numbers):
        parts.append(text[end : number.start()])
        parts.append(
            _other_number(number.group(), chance)
            if index == 0 or chance.share() < 0.7
            else number.group()
        )
        end = number.end()
    return "".join(parts) + text[end:]


def _other_number(number: str, chance: RandomSource) -> str:
    zero = ord(number[0]) - int(number[0])
    first = 1 + (int(number[0]) + chance.below(8)) % 9
    return chr(zero + first) + "".join(chr(zero + chance.below(10)) for _ in number[1:])


def names(text: str) -> list[str]:
    """Return the distinct capitalised words inside sentences that the text never writes in lower
    case, in order of first appearance.
    """
    spans = _spans(text)
    small = {text[start:end] for start, end in spans if text[start:end].islower()}
    names_found = {
        word: None
        for start, end in spans
        if len(word := text[start:end]) > 2
        and word.istitle()
        and word.isalpha()
        and word.lower() not in small
        and not _SENTENCE_OPENING.search(text, max(0, start - 8), start)
    }
    return list(names_found)


def change_names(text: str, donor: Sequence[str], chance: RandomSource) -> str | None:
    """Replace every name by one of `donor`, consistently, as in a form filled in for other people.

    None when there are fewer than three names, or too few to put in their place.
    """
    own_names = names(text)
    others = [name for name in chance.shuffled(donor) if name not in own_names]
    if len(own_names) < MIN_NAMES or len(others) < len(own_names):
        return None
    replacements = dict(zip(own_names, others, strict=False))
    return _replace_words(
        text, _spans(text), [replacements.get(word, word) for word in word_list(text)]
    )


def excerpt(text: str, minimum: float, limit: float, chance: RandomSource) -> str | None:
    """Return a run of words that is a share of `minimum` to `limit` of the text. None for a text of
    fewer than twenty words.
    """
    spans = _spans(text)
    if len(spans) < 20:
        return None
    count = int(len(spans) * (minimum + (limit - minimum) * chance.share()))
    first = chance.below(len(spans) - count + 1)
    return text[spans[first][0] : spans[first + count - 1][1]]


def reply(text: str, message: str, chance: RandomSource) -> str:
    """Return a reply above the quoted lines of the text."""
    day = f"{chance.between(1, 28)} {chance.choice(_MONTHS)} {chance.between(2001, 2025)}"
    quoted = "\n".join(f"> {line}" for line in wrap_lines(text, 70))
    time = f"{chance.between(8, 19)}:{chance.between(10, 59)}"
    return f"{message}\n\nOn {day}, {time}, office@example.org wrote:\n{quoted}\n"


def wrap_lines(text: str, width: int) -> list[str]:
    """Return the text wrapped into lines of at most `width` characters, paragraphs separated by an
    empty line.
    """
    lines: list[str] = []
    for block in _BLANK_LINE.split(text.strip()):
        line = ""
        for word in block.split():
            if line and len(line) + 1 + len(word) > width:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}" if line else word
        lines += [line, ""]
    return lines[:-1]


def put_under_form(form: str, body: str, fraction: float) -> str:
    """Return a body under the opening of a form that makes up `fraction` of all words (or the whole
    form, when it is short).
    """
    spans = _spans(form)
    count = min(len(spans), max(1, round(len(words(body)) * fraction / (1 - fraction))))
    return f"{form[: spans[count - 1][1]]}\n\n{body}"


# Errors of optical character recognition: misread letters, lost blanks, broken lines.

# Misreadings by printed characters: shapes that look alike in small or worn type.
CONFUSIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "m": ("rn", "nn"), "rn": ("m",), "w": ("vv",), "d": ("cl",), "cl": ("d",),
        "l": ("1", "I", "i"), "I": ("l", "1", "|"), "1": ("l", "I"), "0": ("O", "o"),
        "O": ("0", "Q"), "o": ("0", "c"), "e": ("c", "o"), "c": ("e", "o"), "h": ("b", "li"),
        "b": ("h", "6"), "n": ("ri", "u"), "u": ("n", "ii"), "i": ("j", "l"), "t": ("f", "l"),
        "f": ("t",), "a": ("o", "u"), "s": ("5",), "S": ("5", "8"), "5": ("S",), "8": ("B",),
        "B": ("8", "E"), "g": ("q", "9"), "q": ("g",), "y": ("v",), "v": ("y",), "z": ("2",),
        "Z": ("2",), ".": (",", ""), ",": (".", ""), ";": (":",), ":": (";",), "-": ("~", ""),
        "и": ("н", "п"), "н": ("и", "п"), "п": ("н",), "о": ("0", "с"), "е": ("с", "о"),
        "ш": ("щ",), "л": ("п",), "日": ("目", "曰"), "未": ("末",), "土": ("士",), "ー": ("一",),
        "ビ": ("ピ",), "ο": ("o", "σ"), "ν": ("v",),
    }
)  # fmt: skip
_WIDTH = 68
_STRAY_BLANK = 0.08  # fraction of the errors inside words
_HYPHENATED = 0.3  # fraction of the lines that end in a long word


def add_ocr_noise(text: str, rate: float, chance: RandomSource) -> str:
    """Return a text as read from a poor scan: an error at `rate` of its characters, in lines that
    are wrapped again, some inside a word.

    An error at a blank drops it. An error in a word inserts a blank, replaces the character by one
    that looks alike, or drops a character without such. The number of errors is random.
    """
    return _break_lines("".join(_misread_characters(text, rate, chance)), chance)


def _misread_characters(text: str, rate: float, chance: RandomSource) -> list[str]:
    parts, position = [], 0
    while position < len(text):
        pair = text[position : position + 2]
        character = text[position]
        if chance.share() >= rate:
            parts.append(character)
            position += 1
        elif character.isspace():
            parts.append(character if character == "\n" else "")
            position += 1
        elif chance.share() < _STRAY_BLANK:
            parts.append(f"{character} ")
            position += 1
        elif pair in CONFUSIONS:
            parts.append(chance.choice(CONFUSIONS[pair]))
            position += 2
        else:
            parts.append(chance.choice(CONFUSIONS.get(character, ("",))))
            position += 1
    return parts


def _break_lines(text: str, chance: RandomSource) -> str:
    """Wrap a text into lines; the long last word of some is broken by a hyphen."""
    lines = wrap_lines(text, _WIDTH)
    for position in range(len(lines) - 1):
        header, _, word = lines[position].rpartition(" ")
        if (
            header
            and lines[position + 1]
            and len(word) > 6
            and word.isalpha()
            and chance.share() < _HYPHENATED
        ):
            cut = chance.between(3, len(word) - 3)
            lines[position], lines[position + 1] = (
                f"{header} {word[:cut]}-",
                f"{word[cut:]} {lines[position + 1]}",
            )
    return "\n".join(lines)
