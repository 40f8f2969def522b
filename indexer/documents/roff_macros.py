"""The macros of man and mdoc: what they print, and where they break lines and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

# Macros of mdoc, the semantic markup of BSD manual pages, as text.

_PAIRS = {
    "Ao": "<>", "Bo": "[]", "Bro": "{}", "Do": "“”", "Oo": "[]", "Po": "()", "Qo": '""', "So": "‘’",
}  # fmt: skip
_OPENING = {name: pair[0] for name, pair in _PAIRS.items()}
CLOSING = {f"{name[:-1]}c": pair[1] for name, pair in _PAIRS.items()} | {"Fc": ")"}
_QUOTING = {f"{name[:-1]}q": pair for name, pair in _PAIRS.items() if name != "Oo"} | {
    "Op": "[]", "Ql": "‘’", "En": "<>",
}  # fmt: skip
_SYSTEMS = {
    "At": "AT&T UNIX", "Bsx": "BSD/OS", "Bx": "BSD", "Dx": "DragonFly", "Fx": "FreeBSD",
    "Nx": "NetBSD", "Ox": "OpenBSD", "Ux": "UNIX",
}  # fmt: skip
_WORDS = {"Ar": "file ...", "Pa": "~", "Bt": "is currently in beta test.", "Mt": "~"}
_STANDARDS = {
    "ansiC": "ANSI X3.159-1989 (“ANSI C89”)", "isoC": "ISO/IEC 9899:1990 (“ISO C90”)",
    "isoC-99": "ISO/IEC 9899:1999 (“ISO C99”)", "isoC-2011": "ISO/IEC 9899:2011 (“ISO C11”)",
}  # fmt: skip
_WORD_MACROS = (
    "Ad An Ap Ar Cd Cm Dv Em Er Ev Fa Fl Fn Fo Ft Ic In Lb Li Lk Ms Mt Nm No Ns Nx Pa Pf St Sx Sy "
    "Ta Tn Va Vt Xc Xo Xr"
)
CALLABLE = frozenset(_WORD_MACROS.split()).union(_OPENING, CLOSING, _QUOTING, _SYSTEMS)
_CLOSE, OPEN = frozenset(".,:;)]?!"), tuple("([<{“‘")
_EXIT = "The {} utility exits 0 on success, and >0 if an error occurs."
_RETURN = (
    "The {}() function returns the value 0 if successful; otherwise the value -1 is returned and "
    "the global variable errno is set to indicate the error."
)


def sentence(macro: str, arguments: Sequence[str], page: str) -> str:
    """Return the text of a macro that stands for a whole sentence; `page` is the page's name."""
    names = [argument for argument in arguments if argument != "-std"] or [page]
    return (_EXIT if macro == "Ex" else _RETURN).format(", ".join(names))


class MdocLine:
    """The text of one macro line, made word by word."""

    def __init__(self, page: str) -> None:
        self._page = page
        self._parts: list[str] = []
        self._glued = True

    def read(self, words: Sequence[str]) -> str:
        """Return the text of the macro `words[0]` and of those that it calls.

        >>> MdocLine("ls").read(["Op", "Fl", "a", "Ar", "name", "."])
        '[-a name].'
        >>> MdocLine("ls").read(["Xr", "mount", "8", ","])
        'mount(8),'
        """
        end = len(words)
        while end > 1 and words[end - 1] in _CLOSE:
            end -= 1
        closers: list[str] = []
        position = 0
        while position < end:
            position = self._macro(words, position, end, closers)
        for closer in (*reversed(closers), *words[end:]):
            self._put(closer, glued=True)
        return "".join(self._parts)

    def _put(self, text: str, glued: bool = False) -> None:
        if not (self._glued or glued or text in _CLOSE):
            self._parts.append(" ")
        self._parts.append(text)
        self._glued = text in OPEN

    def _macro(self, words: Sequence[str], position: int, end: int, closers: list[str]) -> int:
        """Print one macro or word, and return the position behind it."""
        macro = words[position]
        if macro not in CALLABLE and position:
            self._put(macro)
            return position + 1
        stop = position + 1
        while stop < end and words[stop] not in CALLABLE:
            stop += 1
        following = list(words[position + 1 : stop])
        if macro in _QUOTING:
            closers.append(_QUOTING[macro][1])
        opening = _QUOTING.get(macro, "")[:1] or _OPENING.get(macro)
        if opening or macro in CLOSING:
            self._put(opening or CLOSING[macro], glued=not opening)
            self._glued = bool(opening)
        elif macro in {"Ns", "Pf", "Ap"}:
            self._join(macro, following)
            return stop
        else:
            following = self._named(macro, following, is_last=stop == end)
        for word in following:
            self._put(word)
        return stop

    def _join(self, macro: str, following: list[str]) -> None:
        """Print words without a space before them (`Ns`), or after the first one (`Pf`)."""
        if macro == "Ap":
            self._put("'", glued=True)
        if macro != "Pf":
            self._glued = True
        for word in following:
            self._put(word)
        if macro == "Pf":
            self._glued = True

    def _named(self, macro: str, following: list[str], is_last: bool) -> list[str]:
        """Return the words of a macro that adds to its arguments."""
        if macro == "Fl":
            return [word if word in "|.,()[]" else f"-{word}" for word in following] or ["-"]
        if macro == "Nm":
            return following or [self._page]
        if macro in _WORDS and not following:
            return [_WORDS[macro]]
        if macro in _SYSTEMS:
            return _system(macro, following)
        if macro == "Xr" and len(following) > 1:
            return [f"{following[0]}({following[1]})", *following[2:]]
        if macro == "Fn" and following:
            return [f"{following[0]}({', '.join(following[1:])})"]
        if macro == "Fo" and following:
            return [f"{following[0]}("]
        if macro == "In" and following:
            return [f"<{following[0]}>", *following[1:]]
        if macro == "Lk" and len(following) > 1 and is_last:
            return [f"{' '.join(following[1:])}: {following[0]}"]
        if macro == "Lb" and following:
            return [f"library “{following[0]}”", *following[1:]]
        if macro == "St" and following:
            name = following[0].removeprefix("-")
            posix = re.sub(r"^p(?=1003)", "IEEE Std ", name)
            return [_STANDARDS.get(name, posix), *following[1:]]
        return following


def _system(macro: str, following: list[str]) -> list[str]:
    """Return the name of an operating system with its version."""
    if macro == "Bx" and following:
        return [f"{following[0]}BSD", *following[1:]]
    if macro == "At" and re.fullmatch(r"v\d", "".join(following[:1])):
        return [f"Version {following[0][1:]} {_SYSTEMS[macro]}", *following[1:]]
    return [_SYSTEMS[macro], *following]


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

    def __init__(self, limit: int) -> None:
        self._lines: list[str] = []
        self._current: list[str] = []
        self._left = limit
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

    def __init__(self, printed: Callable[[str], str], limit: int) -> None:
        self._printed = printed
        self._left = limit
        self.text = FilledText(limit)
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
        """Keep name and section of the page, from its first title."""
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
