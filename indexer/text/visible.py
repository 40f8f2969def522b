"""Text that is safe to show: control, bidirectional and hidden characters are spelled out."""

from __future__ import annotations

import re

_BIDI = {
    0x061C: "ALM", 0x200E: "LRM", 0x200F: "RLM", 0x202A: "LRE", 0x202B: "RLE", 0x202C: "PDF",
    0x202D: "LRO", 0x202E: "RLO", 0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI",
}  # fmt: skip
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """Spell out control characters, bidirectional controls and hidden characters.

    A terminal or page then shows the text without being controlled by it. Line ends and tabs are
    control characters too. Soft hyphens go; lone surrogates become U+FFFD.

    >>> visible("exe\\u202etxt.\\x1b[31m")
    'exe⟨RLO⟩txt.␛[31m'
    """
    return _HIDDEN.sub(lambda match: _symbol(ord(match.group())), text.replace("\u00ad", ""))


def visible_line(text: str) -> str:
    """Apply `visible` to a text as one line, in which white space is one blank.

    >>> visible_line("one\\r\\n\\ttwo")
    'one two'
    """
    return visible(re.sub(r"\s+", " ", text))


def visible_lines(text: str) -> str:
    """Apply `visible` line by line.

    Line ends of any kind become `\\n`, tabs a blank, and more than one empty line becomes one.

    >>> visible_lines("one\\r\\n\\r\\n\\r\\n\\ttwo\\x07")
    'one\\n\\n two␇'
    """
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").replace("\t", " ")
    shown = "\n".join(visible(line) for line in plain.split("\n"))
    return re.sub(r"\n[ \n]*\n", "\n\n", shown)


def _symbol(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code < 0xE000:
        return "\ufffd"
    return f"⟨{_BIDI.get(code, f'U+{code:04X}')}⟩"
