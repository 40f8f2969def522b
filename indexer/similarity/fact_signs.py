"""Signs between words that change what a text says: comparisons, "not", "about", and the like.

They are written in several ways (`<=`, `≤`). No such sign is the `<` or `>` of a tag, of an arrow
or of an address in angle brackets, nor the `>` of a quoted line. `=`, `+` and `-` are none, which
also stand for a colon, an item of a list or a dash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TAG = re.compile(r"""</?[^\s<>]+(?:\s+[\w:-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+))*\s*/?>""")
_SIGN = re.compile(
    r"""(?<![<>=!~/?&|-])(?:
        (<>|[<>]=?|=<|!==?)(?![<>=!?/]|-(?!\d))
        | (\+/-|\+-|[±×÷¬＜＞≦≧⩽⩾]|(?![\u2212\u2215\u2217-\u2219\u22c5])[\u2200-\u22ff])
        | (?:(?<=\s)(&&|\|\|)(?=\s))
        | (?<![\w.,)~/])(~)(?=\d)
        | (?<=[\s(,;{[|&])(!)(?=[^\W\d]|\()
    )""",
    re.VERBOSE,
)
_FIRST = re.compile(r"[<>=!+~&|±×÷¬＜＞≦≧⩽⩾\u2200-\u22ff]")  # characters that a sign begins with
_SAME = {
    "<=": "≤", "=<": "≤", "≦": "≤", "⩽": "≤", ">=": "≥", "≧": "≥", "⩾": "≥", "＜": "<", "＞": ">",
    "!=": "≠", "!==": "≠", "<>": "≠", "+/-": "±", "+-": "±", "~": "≈", "∼": "≈", "≃": "≈",
    "≅": "≈", "!": "¬", "&&": "∧", "||": "∨",
}  # fmt: skip
_QUOTING = re.compile(r"(?:\A|[\r\n])[ \t>|]*\Z")
_FROM_LINE = 40  # characters before a sign that are looked at for the beginning of its line


def signs(text: str) -> Iterator[tuple[int, str]]:
    """Yield each sign with the place in the text where it ends.

    >>> list(signs("> if 5 <= x <b>or</b> y->z != 3")), list(signs("x ≤ 5"))
    ([(9, '≤'), (29, '≠')], [(3, '≤')])
    """
    matches = list(_matches(text))
    if not matches:
        return
    tags = [match.span() for match in _TAG.finditer(text)]
    inside = iter([*tags, (len(text), len(text))])
    start, end = next(inside)
    for match in matches:
        while end <= match.start():
            start, end = next(inside)
        if match.start() >= start:
            continue
        sign = match.group()
        if sign in (">", "!") and _QUOTING.search(
            text, max(0, match.start() - _FROM_LINE), match.start()
        ):
            continue
        yield match.end(), _SAME.get(sign, sign)


def _matches(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of `_SIGN`, which is tried only where a sign may begin."""
    place = 0
    while first := _FIRST.search(text, place):
        match = _SIGN.match(text, first.start())
        if match:
            yield match
        place = match.end() if match else first.end()
