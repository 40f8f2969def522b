"""Escape sequences and special characters of roff, the language of manual pages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

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
