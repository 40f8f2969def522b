"""Line filling with hyphenation, for the formats whose lines are fixed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from corpus.language import Language

_VOWELS = set("aeiouyäöüáéíóúýàèìòùâêîôûåæøœąęěůıаеёиоуыэюяαεηιουωάέήίόύώ")
_NOT_FIRST = set("。、，；：）」！？")


def fill_lines(text: str, spoken: Language, fits: Callable[[str], bool]) -> Iterator[str]:
    """Fill lines greedily; `fits` says whether a line is short enough. A piece that never fits gets
    a line of its own.
    """
    line = ""
    for piece in _pieces(text, spoken):
        if fits((line + piece).rstrip()):
            line += piece
            continue
        head, rest = _split(line, piece, fits) if spoken.hyphenates else ("", piece)
        if line or head:
            yield (line + head).rstrip()
        line = rest
    if line.strip():
        yield line.rstrip()


def _pieces(text: str, spoken: Language) -> list[str]:
    """Return the pieces that stay on one line: words with the space after them, or single
    characters of scripts without spaces.
    """
    if spoken.spaced:
        return [f"{word} " for word in text.split(" ")]
    if spoken.code == "th":
        return _clusters(text)
    pieces: list[str] = []
    for character in text:
        if pieces and character in _NOT_FIRST:
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


def _clusters(text: str) -> list[str]:
    """Split Thai only before a consonant or a leading vowel, so that no mark leaves its
    letter.
    """
    pieces: list[str] = []
    for character in text:
        leading = bool(pieces) and pieces[-1][-1] in "เแโใไ"
        if pieces and (leading or not ("ก" <= character <= "ฮ" or character in "เแโใไ")):
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


def _split(line: str, piece: str, fits: Callable[[str], bool]) -> tuple[str, str]:
    """The longest start of a word that fits with its hyphen, and the rest; an empty start when none
    fits.
    """
    word = piece.rstrip(" .,;:·")
    for end in range(len(word) - 3, 2, -1) if word.isalpha() else ():
        if _breakable(word.lower(), end) and fits(f"{line}{word[:end]}-"):
            return f"{word[:end]}-", piece[end:]
    return "", piece


def _breakable(word: str, end: int) -> bool:
    """After a vowel and before a single consonant that a vowel follows; near enough to syllables
    for a test.
    """
    return word[end - 1] in _VOWELS and word[end] not in _VOWELS and word[end + 1] in _VOWELS
