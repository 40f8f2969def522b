"""The text of a clause without the layout of a page or a mail: layout changes no clause."""

from __future__ import annotations

import re

from indexer.text.clauses.function_words import COMPANY_FORMS
from indexer.text.codepoints import without_ignorables

_HYPHENATION = re.compile(
    r"(?<=[^\W\d_])[-\u2010][ \t]*\r?\n[ \t]*(?=[^\W\d_])(?!(?:and|or|to|und|oder)\b)"
)
_SOFT_LINE_END = re.compile(r"\u00ad[ \t]*\r?\n[ \t]*")
_QUOTE = re.compile(r"[ \t]*>(?:[ \t]*>)*(?=[ \t]|$)[ \t]?")
_MARK = re.compile(r"^[ \t]*#{1,6}[ \t]+(?=\S)", re.MULTILINE)
_EMPHASIS = re.compile(
    r"(?<![\w*])(?P<sign>\*{1,3}|_{1,3})(?=[^\s*_])(?P<words>[^*_\n]{1,200}?)(?<=\S)"
    r"(?P=sign)(?![\w*])"
)
_EMPHASISED_FIRM = re.compile(
    rf"(?<![\w*_])(?:\*[^\W_]{{1,40}}\*|_[^\W_]{{1,40}}_),?[ \t]+"
    rf"(?:{'|'.join(sorted(map(re.escape, COMPANY_FORMS), reverse=True))})(?![\w])",
    re.IGNORECASE,
)
_ESCAPE = re.compile(r"\\(?=[.()\[\]#*_\-])")
_TAG = re.compile(
    r"</?(?:a|b|big|blockquote|body|br|center|cite|dd|div|dl|dt|em|font|h[1-6]|html|i|label|li|mark"
    r"|ol|p|section|small|span|strong|td|th|tr|u|ul)(?:\s[^<>]{0,300})?/?>",
    re.IGNORECASE,
)
_BLOCK = re.compile(r"</?(?:p|div|h\d|li|tr|br|blockquote)\b", re.IGNORECASE)
_AMOUNT = re.compile(r"[ \t]*(?!\d{1,3}[.)]\s)[\d$€£¥]")


def without_layout(text: str) -> str:
    """Return the text without what a page, a mail or a markup language adds to its words.

    Soft hyphens, hyphenation at line ends, marks of a quotation, HTML tags, and the signs of
    Markdown for headings and emphasis. A word that a line's end divides is joined, but for "pre-"
    before "and". The marks ">" go where every line that is not blank has one; before an amount in
    a single line it compares.

    >>> without_layout("> The con\\u00adsent of the represen-\\n> tative is due.")
    'The consent of the representative is due.'
    """
    if ">" in text:
        text = _without_quotes(text)
    if "</" in text or "/>" in text:
        text = _TAG.sub(lambda tag: "\n" if _BLOCK.match(tag.group()) else "", text)
    if "#" in text:
        text = _MARK.sub("", text)
    if "\\" in text:
        text = _ESCAPE.sub("", text)
    if "*" in text or "_" in text:
        text = _EMPHASIS.sub(lambda run: run["words"], text)
    if "\u00ad" in text:
        text = _SOFT_LINE_END.sub("", text)
    if not text.isascii():
        text = without_ignorables(text)
    return _HYPHENATION.sub("", text) if "\n" in text else text


def emphasised_firms(text: str) -> tuple[str, ...]:
    """Return the marks of emphasis around the last word of a firm's name: "*Star* Inc.".

    They may be part of it, so a clause with them is not the same as one without.

    >>> emphasised_firms("*Star* Inc. shall *promptly* pay _Moon_, LLC")
    ('*', '_')
    """
    if "*" not in text and "_" not in text:
        return ()
    return tuple([match.group()[0] for match in _EMPHASISED_FIRM.finditer(text)])


def _without_quotes(text: str) -> str:
    lines = text.split("\n")
    marks = [_QUOTE.match(line) for line in lines if line.strip()]
    is_quoted = all(mark is not None for mark in marks)
    if not is_quoted or (len(marks) == 1 and _AMOUNT.match(_QUOTE.sub("", text.strip(), count=1))):
        return text
    return "\n".join(_QUOTE.sub("", line, count=1) for line in lines)
