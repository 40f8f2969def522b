"""The macros of man and mdoc: what they print, and where they break lines and paragraphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from indexer.extraction.roff_mdoc import CALLABLE, CLOSING, OPEN, MdocLine, sentence

_BREAKS = frozenset(
    {
        "br",
        "ce",
        "in",
        "ti",
        "fi",
        "nf",
        "EX",
        "EE",
        "RS",
        "RE",
        "SY",
        "YS",
        "TS",
        "TE",
        "Bl",
        "El",
        "Ed",
        "Fd",
        "D1",
        "Dl",
        "It",
        "Rv",
        "Ex",
    }
)
_PARAGRAPHS = frozenset(
    {"sp", "PP", "P", "LP", "HP", "Pp", "Lp", "TP", "TQ", "IP", "SH", "SS", "Sh", "Ss", "Rs", "Bd"}
)
_HEADINGS = frozenset({"SH", "SS", "Sh", "Ss"})
_FONTS = frozenset({"B", "I", "R", "SM", "SB", "CW", "BX", "UL"})
_ALTERNATING = frozenset({"BR", "RB", "BI", "IB", "IR", "RI"})
_UNFILLED = frozenset({"nf", "EX", "DS", "Vb"})
_FILLED = frozenset({"fi", "EE", "DE", "Ve"})

_NAME = 100  # characters of a page's name, which takes its place wherever it is left out


class FilledText:
    """Printed text, by paragraphs: in filled text, words of several lines become one line."""

    def __init__(self, most: int) -> None:
        self._lines: list[str] = []
        self._current: list[str] = []
        self._left = most
        self.is_filled = True

    def put(self, text: str, glued: bool = False) -> None:
        """Add to the current line, after a space unless `glued`."""
        if self._current and not glued:
            self._current.append(" ")
        self._left -= len(text) + 2
        if self._left >= 0:
            self._current.append(text)
        if not self.is_filled:
            self.end_line()

    def end_line(self) -> None:
        """End the current line, if anything is on it."""
        if self._current:
            self._lines.append("".join(self._current).rstrip())
            self._current = []

    def end_paragraph(self) -> None:
        """End the current line, and leave one line empty."""
        self.end_line()
        if self._lines and self._lines[-1]:
            self._lines.append("")

    def __str__(self) -> str:
        self.end_paragraph()
        return "\n".join(self._lines)


class Macros:
    """The text printed so far, and what the macros of a page leave for the next line.

    `printed` replaces the escapes of a piece of source.
    """

    def __init__(self, printed: Callable[[str], str], most: int) -> None:
        self._printed = printed
        self._left = most
        self.text = FilledText(most)
        self.name = self.section = ""
        self._page = self._link = self._heading = ""
        self._is_mdoc = self._is_tag = self._is_glued = False

    def read(self, name: str, words: list[str]) -> None:
        """Print what a macro prints; one that is not known prints nothing."""
        self._layout(name)
        if self._is_mdoc:
            self._mdoc(name, words)
        else:
            self._man(name, words)

    def put(self, source: str) -> None:
        """Print a piece of source; nothing for one without text."""
        glues = source.rstrip().endswith("\\c")
        text = self._printed(source).lstrip()
        text = text if glues else text.rstrip()
        if text:
            self.text.put(text, glued=self._is_glued)
            self._is_glued = glues
            if self._is_tag and not glues:
                self.text.end_line()
                self._is_tag = False

    def _layout(self, name: str) -> None:
        """Break lines and paragraphs where a macro does so, and fill text or not."""
        if name in _PARAGRAPHS:
            self.text.end_paragraph()
            self._is_tag = False
        elif name in _BREAKS:
            self.text.end_line()
        if name in _UNFILLED:
            self.text.is_filled = False
        elif name in _FILLED or name in _HEADINGS:
            self.text.is_filled = True

    def _man(self, name: str, words: list[str]) -> None:
        """Print what a macro of the package man prints."""
        first = words[0] if words else ""
        if name == "TH":
            self._titled(words)
        elif name in {"Dd", "Dt"}:
            self._is_mdoc = True
            self._mdoc(name, words)
        elif name in _HEADINGS:
            self._is_tag = True
            self.put(" ".join(words))
        elif name in {"TP", "TQ"}:
            self._is_tag = True
        elif name in {"IP", "SY"}:
            self.put(first)
        elif name in _FONTS:
            self.put(" ".join(words))
        elif name in _ALTERNATING:
            self.put("".join(words))
        elif name == "OP":
            self.put(f"[{' '.join(words)}]")
        elif name == "MR":
            self.put(f"{first}({''.join(words[1:2])}){''.join(words[2:])}")
        elif name in {"UR", "MT"}:
            self._link = first
        elif name in {"UE", "ME"}:
            self.put(f"⟨{self._link}⟩{first}")
            self._link = ""

    def _titled(self, words: Sequence[str]) -> None:
        """Keep name and section of the page, those of the first title."""
        if not self.name:
            self.name, self.section = (self._printed(word) for word in (*words, "", "")[:2])

    def _mdoc(self, name: str, words: list[str]) -> None:
        """Print what a macro of the package mdoc prints."""
        first = words[0] if words else ""
        if name == "Dt":
            self._titled(words)
        elif name in _HEADINGS:
            self._is_tag = True
            self._heading = " ".join(words)
            self._line_of("No", words)
        elif name in {"It", "D1", "Dl"}:
            self._line_of("No", words)
            self.text.end_line()
        elif name == "Nd":
            self._line_of("No", ["–", *words])
        elif name == "Bd":
            self.text.is_filled = not {"-literal", "-unfilled"} & set(words)
        elif name == "Ed":
            self.text.is_filled = True
        elif name == "In" and self._heading == "SYNOPSIS":
            self.put(f"#include <{first}>")
            self.text.end_line()
        elif name in {"Ex", "Rv"}:
            self.put(sentence(name, words, self._page))
        elif name in {"Fd", "Ud"} or name.startswith("%"):
            self.put(" ".join(words) or "currently under development.")
        elif name in CALLABLE and not (name == "An" and first in {"-split", "-nosplit"}):
            if name == "Nm" and first and first not in CALLABLE:
                self._page = self._page or first[:_NAME]
            self._is_glued = self._is_glued or name in {"Ns", "Ap"} or name in CLOSING
            self._line_of(name, words)

    def _line_of(self, name: str, words: list[str]) -> None:
        printed = MdocLine(self._page).read([name, *words])
        self._left -= len(printed)
        if self._left >= 0:
            self.put(printed)
        if words[-1:] == ["Ns"] or printed.endswith(OPEN):
            self._is_glued = True
