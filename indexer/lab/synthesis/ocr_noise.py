"""A model of the errors of optical character recognition: misread letters, lost blanks, broken
lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from indexer.lab.synthesis.changes import wrap_lines
from indexer.lab.synthesis.random_draws import RandomSource

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
_STRAY_BLANK = 0.08  # share of the errors inside words
_HYPHENATED = 0.3  # share of the lines that end in a long word


def add_ocr_noise(text: str, rate: float, chance: RandomSource) -> str:
    """Return a text as read from a poor scan: an error at `rate` of its characters, in lines that
    are wrapped again, some inside a word.

    An error at a blank drops it. An error in a word inserts a blank, replaces the character by one
    that looks alike, or drops a character without such. The number of errors is random.
    """
    return _break_lines("".join(_misread_characters(text, rate, chance)), chance)


def _misread_characters(text: str, rate: float, chance: RandomSource) -> list[str]:
    parts, place = [], 0
    while place < len(text):
        pair = text[place : place + 2]
        character = text[place]
        if chance.share() >= rate:
            parts.append(character)
            place += 1
        elif character.isspace():
            parts.append(character if character == "\n" else "")
            place += 1
        elif chance.share() < _STRAY_BLANK:
            parts.append(f"{character} ")
            place += 1
        elif pair in CONFUSIONS:
            parts.append(chance.choice(CONFUSIONS[pair]))
            place += 2
        else:
            parts.append(chance.choice(CONFUSIONS.get(character, ("",))))
            place += 1
    return parts


def _break_lines(text: str, chance: RandomSource) -> str:
    """Wrap a text into lines; the long last word of some is broken by a hyphen."""
    lines = wrap_lines(text, _WIDTH)
    for place in range(len(lines) - 1):
        head, _, word = lines[place].rpartition(" ")
        if (
            head
            and lines[place + 1]
            and len(word) > 6
            and word.isalpha()
            and chance.share() < _HYPHENATED
        ):
            cut = chance.between(3, len(word) - 3)
            lines[place], lines[place + 1] = (
                f"{head} {word[:cut]}-",
                f"{word[cut:]} {lines[place + 1]}",
            )
    return "\n".join(lines)
