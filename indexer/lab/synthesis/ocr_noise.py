"""A model of what optical character recognition does to a text: letters taken for others, lost
blanks, broken lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from indexer.lab.synthesis.changes import filled
from indexer.lab.synthesis.random_draws import RandomSource

# What is read, by what was printed: shapes that look alike in small or worn type.
CONFUSED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "m": ("rn", "nn"), "rn": ("m",), "w": ("vv",), "d": ("cl",), "cl": ("d",), "l": ("1", "I", "i"), "I": ("l", "1", "|"),
        "1": ("l", "I"), "0": ("O", "o"), "O": ("0", "Q"), "o": ("0", "c"), "e": ("c", "o"), "c": ("e", "o"), "h": ("b", "li"),
        "b": ("h", "6"), "n": ("ri", "u"), "u": ("n", "ii"), "i": ("j", "l"), "t": ("f", "l"), "f": ("t",), "a": ("o", "u"),
        "s": ("5",), "S": ("5", "8"), "5": ("S",), "8": ("B",), "B": ("8", "E"), "g": ("q", "9"), "q": ("g",), "y": ("v",),
        "v": ("y",), "z": ("2",), "Z": ("2",), ".": (",", ""), ",": (".", ""), ";": (":",), ":": (";",), "-": ("~", ""),
        "и": ("н", "п"), "н": ("и", "п"), "п": ("н",), "о": ("0", "с"), "е": ("с", "о"), "ш": ("щ",), "л": ("п",),
        "日": ("目", "曰"), "未": ("末",), "土": ("士",), "ー": ("一",), "ビ": ("ピ",), "ο": ("o", "σ"), "ν": ("v",),
    }
)  # fmt: skip
_WIDTH = 68
_STRAY_BLANK, _HYPHENATED = (
    0.08,
    0.3,
)  # shares: of the errors inside words, of the lines that could be


def noisy(text: str, rate: float, chance: RandomSource) -> str:
    """A text as a poor scan of it reads: an error at `rate` of its characters, in lines broken
    anew, some inside a word.

    An error at a blank loses it. One in a word puts a blank there, takes a look-alike for what was
    printed, or loses a character that has none. How many errors there are follows chance.
    """
    return _broken("".join(_misread(text, rate, chance)), chance)


def _misread(text: str, rate: float, chance: RandomSource) -> list[str]:
    parts, place = [], 0
    while place < len(text):
        two, one = text[place : place + 2], text[place]
        if chance.share() >= rate:
            parts.append(one)
            place += 1
        elif one.isspace():
            parts.append(one if one == "\n" else "")
            place += 1
        elif chance.share() < _STRAY_BLANK:
            parts.append(f"{one} ")
            place += 1
        elif two in CONFUSED:
            parts.append(chance.one(CONFUSED[two]))
            place += 2
        else:
            parts.append(chance.one(CONFUSED.get(one, ("",))))
            place += 1
    return parts


def _broken(text: str, chance: RandomSource) -> str:
    """Lines of a page; a long last word of some is broken by a hyphen."""
    lines = filled(text, _WIDTH)
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
