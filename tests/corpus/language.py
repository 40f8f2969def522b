"""The phrases of one language, as its file holds them: `[section]`, then one phrase a line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).with_name("languages")
_RIGHT_TO_LEFT = {"ar", "he"}
_UNSPACED = {"zh", "ja", "th"}
# In the order in which the fifty documents take them.
CODES = ("en", "de", "fr", "es", "pl", "cs", "ru", "el", "tr", "zh", "ja", "ar", "he", "hi", "th")


@dataclass(frozen=True, slots=True)
class Language:
    """`sections` maps a section's name to its phrases. In an unspaced language nothing stands
    between sentences.
    """

    code: str
    sections: dict[str, tuple[str, ...]]

    @property
    def right_to_left(self) -> bool:
        """True for Arabic and Hebrew."""
        return self.code in _RIGHT_TO_LEFT

    @property
    def spaced(self) -> bool:
        """False where words are not set apart by spaces, so that a line may break between any two
        characters.
        """
        return self.code not in _UNSPACED

    @property
    def hyphenates(self) -> bool:
        """True where a long word may be broken with a hyphen at the end of a line."""
        return self.spaced and self.code not in {*_RIGHT_TO_LEFT, "hi"}

    def only_phrase(self, section: str) -> str:
        """The only phrase of a section."""
        (phrase,) = self.sections[section]
        return phrase


@cache
def language(code: str) -> Language:
    """Read a language's file."""
    sections: dict[str, list[str]] = {}
    name = ""
    for line in (_FOLDER / f"{code}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            name = line.strip("[]")
            sections[name] = []
        elif line:
            sections[name].append(line)
    return Language(code, {name: tuple(phrases) for name, phrases in sections.items()})
