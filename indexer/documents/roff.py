"""Manual pages: the text that roff prints of the macro packages man and mdoc.

A small interpreter of what pages use: macros and strings of their own, conditions, tables. Anything
that is not known prints nothing, but every line of text does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from indexer.documents.roff_macros import Macros

# Escape sequences and special characters of roff, the language of manual pages.

_LIST = (
    "em — en – hy - mi - pl + bu • ci ○ sq □ lz ◊ dg † dd ‡ de ° ss ß SS ẞ ct ¢ Do $ Eu € eu € "
    "Po £ Ye ¥ Cs ¤ Fn ƒ co © rg ® tm ™ ps ¶ sc § fm ′ sd ″ mc µ lq “ rq ” oq ‘ cq ’ aq ' dq \" "
    "Bq „ bq ‚ Fo « Fc » fo ‹ fc › ga ` aa ´ ha ^ ti ~ rs \\ sl / ba | br │ bb ¦ or | at @ sh # "
    "lB [ rB ] lC { rC } la ⟨ ra ⟩ lc ⌈ rc ⌉ lf ⌊ rf ⌋ <- ← -> → <> ↔ ua ↑ da ↓ va ↕ lA ⇐ rA ⇒ "
    "hA ⇔ uA ⇑ dA ⇓ AN ∧ OR ∨ no ¬ tno ¬ te ∃ fa ∀ st ∋ 3d ∴ tf ∴ +- ± -+ ∓ t+- ± mu × tmu × "
    "di ÷ tdi ÷ c* ⊗ c+ ⊕ <= ≤ >= ≥ << ≪ >> ≫ eq = != ≠ == ≡ ne ≢ ap ∼ |= ≃ =~ ≅ ~~ ≈ ~= ≈ "
    "pt ∝ es ∅ mo ∈ nm ∉ sb ⊂ nb ⊄ sp ⊃ nc ⊅ ib ⊆ ip ⊇ ca ∩ cu ∪ /_ ∠ pp ⊥ is ∫ in ∫ sum ∑ "
    "product ∏ coproduct ∐ gr ∇ sr √ if ∞ Ah ℵ Im ℑ Re ℜ wp ℘ pd ∂ -h ℏ hbar ℏ 12 ½ 14 ¼ 34 ¾ "
    "18 ⅛ 38 ⅜ 58 ⅝ 78 ⅞ S1 ¹ S2 ² S3 ³ Of ª Om º r! ¡ r? ¿ AE Æ ae æ OE Œ oe œ IJ Ĳ ij ĳ .i ı "
    ".j ȷ -D Ð Sd ð TP Þ Tp þ /L Ł /l ł /O Ø /o ø oA Å oa å ff ff fi fi fl fl Fi ffi Fl ffl "
    "CL ♣ SP ♠ HE ♥ DI ♦ OK ✓ lh ☜ rh ☞ CR ↵ pc · md ⋅ u00A0 \u00a0 ul _ rn ‾ bv │ cr ↵ ^o °"
)
_NAMED = _LIST.split(" ")
CHARACTERS: Mapping[str, str] = dict(zip(_NAMED[::2], _NAMED[1::2], strict=True))
_GREEK = dict(zip("ABGDEZYHIKLMNCOPRSTUFXQW", "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ", strict=True))
_ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", ":": "\u0308", "~": "\u0303", ",": "\u0327",
    "v": "\u030c", "-": "\u0304", '"': "\u030b", "o": "\u030a", "h": "\u0306", ".": "\u0307",
}  # fmt: skip
_PLAIN = {
    "e": "\\", "\\": "\\", "E": "", "-": "-", "'": "´", "`": "`", " ": " ", "~": " ", "0": " ",
    "t": "\t", "_": "_", ".": ".", '"': '"',
}  # fmt: skip
_NAME = r"(?:\((?P<two{0}>..)|\[(?P<long{0}>[^\]]{{0,60}})\]|(?P<one{0}>.))"
_ESCAPE = re.compile(
    r"\\(?:"
    r"(?P<name>(?=[(\[]))" + _NAME.format(0) + r"|(?P<kind>\*|n[+-]?)" + _NAME.format(1) + "|"
    r"(?P<drop>[fFmMYVgkO])" + _NAME.format(2) + "|"
    r"s(?:[+-]?(?:\(..|\[[^\]]{0,60}\]|'[^']{0,20}'|[123]?\d)|\(..)|"
    r"(?P<call>[CNhvwlLDxXRSHABbZo])(?P<mark>['\"^!|%])(?P<argument>.*?)(?:(?P=mark)|$)|"
    r"(?P<char>.)|$)"
)


def character(name: str) -> str:
    """Return the special character `\\[name]`; empty for a name that is not known.

    >>> character("em"), character("u00E4"), character("'e"), character("*a"), character("char65")
    ('—', 'ä', 'é', 'α', 'A')
    """
    if name in CHARACTERS:
        return CHARACTERS[name]
    if re.fullmatch(r"u[0-9A-F]{4,6}(?:_[0-9A-F]{4,6})*", name):
        return unicodedata.normalize("NFC", "".join(map(_code_point, name[1:].split("_"))))
    if re.fullmatch(r"char\d{1,3}", name):
        return chr(int(name[4:]))
    if len(name) == 2 and name[0] == "*":
        letter = _GREEK.get(name[1].upper(), "")
        return letter if name[1].isupper() else letter.lower()
    if len(name) == 2 and name[0] in _ACCENTS and name[1].isalpha():
        return unicodedata.normalize("NFC", name[1] + _ACCENTS[name[0]])
    return name if len(name) == 1 else ""


def _code_point(digits: str) -> str:
    value = int(digits, 16)
    return chr(value) if value <= 0x10FFFF and not 0xD800 <= value <= 0xDFFF else ""


def replace_escapes(text: str, string: Callable[[str], str], register: Callable[[str], str]) -> str:
    """Return the text with its escapes replaced by what they print: characters, spaces, nothing.

    `string` gives the replaced text of a string `\\*[name]`, `register` the digits of `\\n[name]`.
    Fonts, sizes, colours and drawings print nothing; an escape that is not known prints its
    character.
    """
    if "\\" not in text:
        return text

    def printed(match: re.Match[str]) -> str:
        group = match.groupdict()
        if group["name"] is not None:
            return character(group["two0"] or group["long0"] or "")
        if group["kind"]:
            name = group["two1"] or group["long1"] or group["one1"] or ""
            return string(name.split(" ")[0]) if group["kind"] == "*" else register(name)
        if group["call"]:
            return _called(group["call"], group["argument"])
        char = group["char"] or ""
        return _PLAIN.get(char, "" if char in "&)%/,:^|{}cdurpazDE!?" else char)

    return _ESCAPE.sub(printed, text)


def _called(function: str, argument: str) -> str:
    """Return what an escape with a quoted argument prints."""
    if function == "C":
        return character(argument)
    if function == "N" and re.fullmatch(r"\d{1,3}", argument):
        return chr(int(argument))
    if function == "o":
        return argument[:1]
    if function == "h":
        return "" if argument.startswith(("-", "\\")) else " "
    return ""


# Tables of tbl, the preprocessor of roff: their cells, row by row.

_OPTION = re.compile(r"\btab *\((.)\)")
_EMPTY = frozenset({"\\^", "T{", "_", "="})


class Table:
    """A table that is being read. `stack` holds the lines to come, the next one last."""

    def __init__(self, stack: list[str]) -> None:
        options = stack[-1] if stack else ""
        separator = _OPTION.search(options) if options.rstrip().endswith(";") else None
        self._separator = separator[1] if separator else "\t"
        self._is_block = False
        self.skip_formats(stack)

    def skip_formats(self, stack: list[str]) -> None:
        """Leave out the lines that describe columns, up to the one that ends with a full stop."""
        while stack and not stack[-1].startswith(".TE"):
            if stack.pop().rstrip().endswith("."):
                return

    def row(self, line: str) -> tuple[str, bool]:
        """Return the cells of a line, and whether it ends a row: a cell may have several lines,
        from `T{` to `T}`.
        """
        if self._is_block and not line.startswith("T}"):
            return line, False
        self._is_block = line.endswith("T{")
        cells = line.removeprefix("T}").removesuffix("T{").split(self._separator)
        return "\t".join(cell for cell in cells if cell not in _EMPTY), not self._is_block


_COMMENT = re.compile(r'(?<!\\)((?:\\\\)*)\\["#].*')
_CONTINUED = re.compile(r"(?<!\\)((?:\\\\)*)\\\n")
_CONTROL = re.compile(r"[.'][ \t]*([^\s\\]*)[ \t]*(.*)", re.DOTALL)
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)(?:"|$)|((?:\\.|[^ \\])+\\?|\\)')
_CALL = re.compile(r"\\\$(?:([*@1-9])|\[(\d{1,3})\])|\\n(?:\(\.\$|\[\.\$\])")
_OPERATION = re.compile(r"(-?\d+)[a-z]?(?:([<>]=?|==?)(-?\d+)[a-z]?)?")
_TITLE = re.compile(r"[^\s{,:].*")
_FIRST = {"TH": _TITLE, "Dd": re.compile(r".*"), "Dt": _TITLE, "so": re.compile(r"[\w./:+@\[-]+")}
_DEFINITIONS = frozenset({"de", "de1", "dei", "am", "am1", "ami", "ig"})


@dataclass(frozen=True, slots=True)
class ManualPage:
    """Name with section, such as `ls(1)`, and text of a manual page."""

    title: str
    text: str


def is_manual_page(header: str) -> bool:
    """Return whether a text begins as a manual page: with the title of man or mdoc, or as a
    reference to another page; comments, definitions and conditions may come before it.

    >>> is_manual_page('.\\\\" by hand\\n.TH LS 1\\n'), is_manual_page(".so man1/ls.1\\n")
    (True, True)
    >>> is_manual_page("Ls lists.\\n.TH LS 1\\n"), is_manual_page(".gitignore\\n")
    (False, False)
    """
    definition = ""
    for line in _COMMENT.sub(r"\1", header).split("\n"):
        match = _CONTROL.match(line)
        name = match[1] if match else ""
        if definition:
            definition = "" if name == definition else definition
        elif match and name in _DEFINITIONS:
            definition = _end_of_definition(name, match[2].split())
        elif match and name in _FIRST:
            return bool(_FIRST[name].fullmatch(match[2].strip()))
        elif not match and line.strip() and not line.startswith(("\\{", "\\}")):
            return False
    return False


def _end_of_definition(kind: str, words: list[str]) -> str:
    """Return the name of the line that ends a definition."""
    named = words if kind == "ig" else words[1:]
    return named[0] if named else "."


def read(header: str, text: str) -> tuple[str, str] | None:
    """Return title and text of a manual page by its first characters and its source, None for a
    text of another format: the reader of a `TextFormat`.
    """
    if not is_manual_page(header):
        return None
    page = manual_page(text)
    return page.title, page.text


def manual_page(source: str) -> ManualPage:
    """Return title and text of a manual page, in time linear in its length.

    A page that only refers to another one (`.so man1/ls.1`) has the reference as its text. Raises
    nothing. The text has at most four times the characters of the source, and 1,000.
    """
    return _Reader(source).page()


class _Reader:
    """The state of an interpreter: lines to read, definitions, and the text printed so far."""

    def __init__(self, source: str) -> None:
        source = _CONTINUED.sub(r"\1", _COMMENT.sub(r"\1", source.replace("\r\n", "\n")))
        limit = 4 * len(source) + 1000
        self._stack = source.split("\n")[::-1]
        self._budget = 10 * len(source) + 10_000
        self._macros = Macros(self._printed, limit)
        self._table: Table | None = None
        self._own: dict[str, list[str]] = {}
        self._strings = {"R": "®", "Tm": "™", "lq": "“", "rq": "”", "Ba": "|"}
        self._registers = {".g": 1}
        self._translation: dict[int, str] = {}
        self._results: list[bool] = []
        self._references: list[str] = []
        self._depth = 0

    def page(self) -> ManualPage:
        """Read all lines."""
        while self._stack:
            self._line(self._stack.pop())
        text = str(self._macros.text).strip("\n")
        name, section = self._macros.name, self._macros.section
        title = f"{name}({section})" if section else name
        return ManualPage(title, text or "\n".join(self._references))

    def _line(self, line: str) -> None:
        match = _CONTROL.match(line)
        if match:
            self._control(match[1], match[2])
        elif self._table:
            cells, ends_row = self._table.row(line)
            self._macros.put(cells)
            if ends_row:
                self._macros.text.end_line()
        elif not line.strip():
            self._macros.text.end_paragraph()
        else:
            if line[0] in " \t":
                self._macros.text.end_line()
            self._macros.put(line)

    def _printed(self, source: str) -> str:
        """Return what a piece of source prints, escapes replaced."""
        text = replace_escapes(source, self._string, lambda name: str(self._registers.get(name, 0)))
        return text.translate(self._translation) if self._translation else text

    def _string(self, name: str) -> str:
        value = self._strings.get(name, "")
        self._budget -= len(value) + 1
        if self._depth >= 4 or self._budget < 0:
            return ""
        self._depth += 1
        try:
            return self._printed(value)
        finally:
            self._depth -= 1

    def _control(self, name: str, rest: str) -> None:
        """Follow one control line: a page's own macro first, then what this module knows."""
        if name in self._own:
            self._call(name, rest)
        elif name in _DEFINITIONS:
            self._define(name, rest.split())
        elif name in {"if", "ie", "while"}:
            self._if(name, rest)
        elif name == "el":
            self._branch(not (self._results.pop() if self._results else True), rest)
        elif not self._request(name, rest):
            self._macros.read(name, _arguments(rest))

    def _request(self, name: str, rest: str) -> bool:
        """Follow a request of roff itself; False for anything else."""
        word, _, value = rest.partition(" ")
        value = value.lstrip(" ").removeprefix('"')
        if name in {"ds", "as"}:
            before = self._strings.get(word, "") if name == "as" else ""
            self._budget -= len(before)
            self._strings[word] = before + value if self._budget >= 0 else ""
        elif name == "als":
            self._own[word] = self._own.get(value.strip(), [f".{value.strip()} \\$@"])
        elif name == "nr":
            step = self._registers.get(word, 0) if value.startswith(("+", "-")) else 0
            self._registers[word] = step + self._value(value.lstrip("+"))
        elif name == "tr":
            pairs = self._printed(word)
            targets = pairs[1::2].ljust(len(pairs[::2]))
            self._translation |= dict(zip(map(ord, pairs[::2]), targets, strict=False))
        elif name == "so":
            self._references.append(rest.strip())
        elif name == "TS":
            self._macros.text.end_line()
            self._table = Table(self._stack)
        elif name == "T&" and self._table:
            self._table.skip_formats(self._stack)
        elif name == "TE":
            self._macros.text.end_line()
            self._table = None
        else:
            return False
        return True

    def _call(self, name: str, rest: str) -> None:
        """Put the lines of a page's own macro instead of its call."""
        arguments = _arguments(rest)
        everything = " ".join(arguments)
        quoted = " ".join(f'"{word}"' for word in arguments)

        def argument(match: re.Match[str]) -> str:
            number = match[1] or match[2]
            if number is None:
                return str(len(arguments))
            if number in "*@":
                return everything if number == "*" else quoted
            return arguments[int(number) - 1] if 0 < int(number) <= len(arguments) else ""

        for line in reversed(self._own[name]):
            if self._budget < 0:
                return
            called = _CALL.sub(argument, line)
            self._budget -= len(called) + 1
            self._stack.append(called)

    def _define(self, kind: str, words: list[str]) -> None:
        """Read a definition to its end; the text of `.ig` is a comment."""
        end = _end_of_definition(kind, words)
        body: list[str] = []
        while self._stack:
            line = self._stack.pop()
            match = _CONTROL.match(line)
            if match and match[1] == end:
                break
            body.append(line.replace("\\\\", "\\"))
        if words and kind != "ig":
            before = self._own.get(words[0], []) if kind.startswith("am") else []
            self._budget -= len(before)
            self._own[words[0]] = before + body if self._budget >= 0 else []

    def _if(self, kind: str, rest: str) -> None:
        holds, rest = self._condition(rest)
        if kind == "ie":
            self._results.append(holds)
        self._branch(holds and kind != "while", rest)

    def _branch(self, holds: bool, rest: str) -> None:
        """Read the rest of a conditional line when it holds, else skip it with its block."""
        rest = rest.lstrip(" \t")
        if holds:
            rest = rest.removeprefix("\\{").lstrip(" \t")
            self._budget -= len(rest)
            if rest and self._budget >= 0:
                self._stack.append(rest)
            return
        depth = rest.count("\\{") - rest.count("\\}")
        while depth > 0 and self._stack:
            line = self._stack.pop()
            depth += line.count("\\{") - line.count("\\}")

    def _condition(self, rest: str) -> tuple[bool, str]:
        """Return whether a condition holds for a terminal, and the rest of the line."""
        plain = rest.lstrip(" \t!")
        is_negated = rest[: len(rest) - len(plain)].count("!") % 2 == 1
        letter = re.match(r"([nteov])(?=[ \t\\]|$)|([drcmFS]) *(\S+)", plain)
        if letter:
            name = self._printed(letter[3] or "")
            known = name in self._strings or name in self._own or name in self._registers
            holds = letter[1] in {"n", "o"} if letter[1] else known or letter[2] == "c"
            end = letter.end()
        elif plain[:1] and plain[0] in "'\"":
            parts = plain[1:].split(plain[0], 2)
            holds = len(parts) == 3 and self._printed(parts[0]) == self._printed(parts[1])
            end = len(plain) - len(parts[2]) if len(parts) == 3 else len(plain)
        else:
            expression = re.match(r"(?:\\[^{]|[^ \t\\])*", plain)
            end = expression.end() if expression else 0
            holds = self._value(plain[:end]) > 0
        return holds != is_negated, plain[end:]

    def _value(self, expression: str) -> int:
        """Return a number, or 1 and 0 for a comparison; 0 for anything else."""
        expression = self._printed(expression[:200]).replace("(", "").replace(")", "")
        if "&" in expression:
            return int(all(self._value(part) > 0 for part in expression.split("&")))
        if ":" in expression:
            return int(any(self._value(part) > 0 for part in expression.split(":")))
        match = _OPERATION.match(expression)
        if not match:
            return 0
        left = int(match[1][:9])
        if not match[2]:
            return left
        right = int(match[3][:9])
        operator = match[2]
        return int(
            ("=" in operator and left == right)
            or ("<" in operator and left < right)
            or (">" in operator and left > right)
        )


def _arguments(rest: str) -> list[str]:
    """Split the arguments of a macro: at blanks, but not in quotes nor behind a backslash.

    >>> _arguments('"an argument" b "c"')
    ['an argument', 'b', 'c']
    """
    return [
        match[2] if match[1] is None else match[1].replace('""', '"')
        for match in _ARGUMENT.finditer(rest)
    ]
