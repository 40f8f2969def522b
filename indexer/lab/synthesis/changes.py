"""What people do to texts: revise, move paragraphs, fill in other numbers and names, quote,
excerpt.

Each function takes a text and a `RandomSource` and gives the changed text, or None where the text has
nothing to change so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from indexer.lab.synthesis.random_draws import RandomSource
from indexer.text.words import words

LEAST_NUMBERS, LEAST_NAMES, LEAST_BLOCKS = 3, 3, 3
_RUN = 4  # words that are changed at one place, at most
_DIGITS = re.compile(r"\d+")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_SENTENCE_OPENING = re.compile(r"(?:^|[.!?:;»\"“”(\n])\s*\Z")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def spelled(text: str) -> list[str]:
    """The words of a text as they are spelled in it, in order."""
    return [text[start:end] for start, end in _spans(text)]


def _spans(text: str) -> list[tuple[int, int]]:
    found = words(text)
    return list(zip(found.starts.tolist(), found.ends.tolist(), strict=True))


def edited(text: str, share: float, donor: Sequence[str], chance: RandomSource) -> str | None:
    """A share of the words changed, in runs of one to four: replaced by words of `donor`, dropped,
    or more put after them.

    At least one word is changed. None for a text without words.
    """
    spans = _spans(text)
    if not spans or not donor:
        return None
    made = [text[start:end] for start, end in spans]
    left = max(1, round(share * len(spans)))
    whole = set(range(len(spans)))
    while left and whole:
        start, act = chance.below(len(spans)), chance.share()
        for place in range(start, min(len(spans), start + min(left, chance.between(1, _RUN)))):
            if place in whole:
                whole.remove(place)
                left -= 1
                made[place] = _changed(made[place], act, donor, chance)
    return _woven(text, spans, made)


def _changed(word: str, act: float, donor: Sequence[str], chance: RandomSource) -> str:
    """Of ten words six are replaced, two go, and two get another one after them."""
    if act < 0.6:
        return next(
            (other for _ in range(9) if (other := chance.one(donor)) != word), chance.one(donor)
        )
    if act < 0.8:
        return ""
    return word + (" " if len(word) > 1 else "") + chance.one(donor)


def _woven(text: str, spans: Sequence[tuple[int, int]], made: Sequence[str]) -> str:
    """A text with other words at the places of its words; the space before a word that goes, goes
    with it.
    """
    parts, end = [], 0
    for (start, stop), word in zip(spans, made, strict=True):
        gap = text[end:start]
        parts.append("" if not word and gap.isspace() and "\n" not in gap else gap)
        parts.append(word)
        end = stop
    return "".join(parts) + text[end:]


def moved(text: str, chance: RandomSource) -> str | None:
    """One in five paragraphs (lines, or sentences, of a text with few) taken out and put in
    somewhere else.

    None for a text with fewer than three of them.
    """
    found = blocks(text)
    if len(found) < LEAST_BLOCKS:
        return None
    before = list(found)
    for _ in range(max(1, len(found) // 5)):
        block = found.pop(chance.below(len(found)))
        found.insert(chance.below(len(found) + 1), block)
    if found == before:
        found = [*found[1:], found[0]]
    return "\n\n".join(found)


def blocks(text: str) -> list[str]:
    """The paragraphs of a text; its lines when it has few of these, its sentences when it has few
    lines.
    """
    made: list[str] = []
    for parting in (_BLANK_LINE, re.compile(r"\n+"), _SENTENCE_END):
        made = [block.strip() for block in parting.split(text.strip()) if block.strip()]
        if len(made) >= 2 * LEAST_BLOCKS:
            break
    return made


def sentences(text: str, least: int, most: int) -> list[str]:
    """Sentences of `least` to `most` words, on one line each, every one once."""
    made = (
        " ".join(sentence.split())
        for block in blocks(text)
        for sentence in _SENTENCE_END.split(block)
    )
    return [one for one in dict.fromkeys(made) if least <= len(words(one)) <= most]


def renumbered(text: str, chance: RandomSource) -> str | None:
    """Most numbers with other digits, the first digit always another one. None with fewer than
    three numbers.
    """
    numbers = list(_DIGITS.finditer(text))
    if len(numbers) < LEAST_NUMBERS:
        return None
    parts, end = [], 0
    for place, number in enumerate(numbers):
        parts.append(text[end : number.start()])
        parts.append(
            _other_number(number.group(), chance)
            if place == 0 or chance.share() < 0.7
            else number.group()
        )
        end = number.end()
    return "".join(parts) + text[end:]


def _other_number(number: str, chance: RandomSource) -> str:
    zero = ord(number[0]) - int(number[0])
    first = 1 + (int(number[0]) + chance.below(8)) % 9
    return chr(zero + first) + "".join(chr(zero + chance.below(10)) for _ in number[1:])


def names(text: str) -> list[str]:
    """Words with a capital inside sentences that the text never writes small: by first appearance,
    every one once.
    """
    spans = _spans(text)
    small = {text[start:end] for start, end in spans if text[start:end].islower()}
    found = {
        word: None
        for start, end in spans
        if len(word := text[start:end]) > 2
        and word.istitle()
        and word.isalpha()
        and word.lower() not in small
        and not _SENTENCE_OPENING.search(text, max(0, start - 8), start)
    }
    return list(found)


def renamed(text: str, donor: Sequence[str], chance: RandomSource) -> str | None:
    """Every name replaced by one of `donor`, the same for the same, as in a form that was filled in
    for others.

    None when there are fewer than three names, or too few to put in their place.
    """
    mine = names(text)
    others = [name for name in chance.shuffled(donor) if name not in mine]
    if len(mine) < LEAST_NAMES or len(others) < len(mine):
        return None
    put = dict(zip(mine, others, strict=False))
    return _woven(text, _spans(text), [put.get(word, word) for word in spelled(text)])


def excerpt(text: str, least: float, most: float, chance: RandomSource) -> str | None:
    """A run of words that is `least` to `most` of the text. None for a text of fewer than twenty
    words.
    """
    spans = _spans(text)
    if len(spans) < 20:
        return None
    count = int(len(spans) * (least + (most - least) * chance.share()))
    first = chance.below(len(spans) - count + 1)
    return text[spans[first][0] : spans[first + count - 1][1]]


def reply(text: str, answer: str, chance: RandomSource) -> str:
    """An answer above the text, every line of which is quoted."""
    day = f"{chance.between(1, 28)} {chance.one(_MONTHS)} {chance.between(2001, 2025)}"
    quoted = "\n".join(f"> {line}" for line in filled(text, 70))
    return f"{answer}\n\nOn {day}, {chance.between(8, 19)}:{chance.between(10, 59)}, office@example.org wrote:\n{quoted}\n"


def filled(text: str, width: int) -> list[str]:
    """The words between blanks in lines of at most `width` characters; paragraphs are parted by an
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


def framed(form: str, body: str, share: float) -> str:
    """A body under the opening of a form that makes up `share` of the words of both (or the whole
    form, when it is short).
    """
    spans = _spans(form)
    count = min(len(spans), max(1, round(len(words(body)) * share / (1 - share))))
    return f"{form[: spans[count - 1][1]]}\n\n{body}"
