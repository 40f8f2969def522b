"""Macros of mdoc, the semantic markup of BSD manual pages, as text."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
        place = 0
        while place < end:
            place = self._macro(words, place, end, closers)
        for closer in (*reversed(closers), *words[end:]):
            self._put(closer, glued=True)
        return "".join(self._parts)

    def _put(self, text: str, glued: bool = False) -> None:
        if not (self._glued or glued or text in _CLOSE):
            self._parts.append(" ")
        self._parts.append(text)
        self._glued = text in OPEN

    def _macro(self, words: Sequence[str], place: int, end: int, closers: list[str]) -> int:
        """Print one macro or word, and return the place behind it."""
        macro = words[place]
        if macro not in CALLABLE and place:
            self._put(macro)
            return place + 1
        stop = place + 1
        while stop < end and words[stop] not in CALLABLE:
            stop += 1
        following = list(words[place + 1 : stop])
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
