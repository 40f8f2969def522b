"""The numbers and letters at the beginning of a clause: "Section 7.9", "4A.", "[4.1]", "(iv)(b)".

A label is told by its form: a word of division with a number, a number with a sign after it or in
brackets, or a number alone before a word that begins sentences. A number that may be part of a
name is no label; that is decided by `begins_name`, which the caller passes, where the form alone
does not tell: "Section 8 Capital shall pay".
"""

from __future__ import annotations

import re
from collections.abc import Callable

from indexer.text.clauses.function_words import (
    DIVISIONS,
    LEADING_PARTICLES,
    NUMBER_WORDS,
    SITE_ENDING,
    STARTERS,
)

Decide = Callable[[str, str], bool]
"""Return whether a label and the text after it begin with a name, or with a clause."""

_PARTICLE = "|".join(sorted(LEADING_PARTICLES))
# eBay, booking.com, de Beers
SMALL_NAME = rf"(?:[a-z]+[A-Z]|[\w\-]+{SITE_ENDING}|(?:{_PARTICLE})\s+[A-Z])"
_GOES_ON = (
    rf"\s+(?:[^\sa-z,—–\-]|{SMALL_NAME})"  # not as the sentence goes on that a reference is in
)
_BELOW = r"\((?:[a-z]{1,2}|[A-Z]|[ivxlc]{1,5}|[IVXLC]{1,5}|\d{1,2})\)"  # "5.1(b)(ii)"
_ROMAN = r"C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_ROMANS = rf"(?:(?=[IVXLC]{{2}}){_ROMAN}|(?=[ivxlc]{{2}})(?i:{_ROMAN}))"
_ORDINALS = ("st", "nd", "rd", "th")
_WORDED = rf"(?i:{'|'.join(sorted(NUMBER_WORDS, reverse=True))})(?![\w\-])"
_ORDINAL = rf"(?i:{'|'.join(word for word in NUMBER_WORDS if word.endswith(_ORDINALS))})(?!\w)"
_ADVERB = rf"(?i:{'|'.join(f'{word}ly' for word in NUMBER_WORDS)})"
_ATOM = r"\d{1,4}(?:(?:[A-Za-z]|bis|ter|quater|er|re)(?![A-Za-z])|[ºª°])?"
_PARTS = rf"{_ATOM}(?:[.．\-:/](?:{_ATOM}|[A-Za-z](?![A-Za-z])))*"
_CHARS = r"[\u2460-\u249b\u2160-\u217f]+"  # ④, ⒋, Ⅳ
_AFTER_DIVISION = (
    rf"(?:{_PARTS}|[IVXLC]+(?![A-Za-z])|{_WORDED}|[A-Z](?:-\d{{1,2}})?(?![A-Za-z.]\w)|{_CHARS})"
)
_DIVISION_WORD = "|".join(
    form
    for word in sorted(DIVISIONS, reverse=True)
    for form in (
        rf"(?:Sub-{word}|{word.capitalize()}|{word})\b\.?",
        rf"(?:SUB-)?{word.upper()}\b\.?",
    )
)
_SIGN = r"§+|¶+|[Nn][°º]"
_SCALE = r"(?:[Mm]illion|[Bb]illion|[Tt]housand|[Hh]undred|[Pp]er\s?cent)\b"
_CLOSE = r"[.:)\]]"
_SENTENCE = rf"(?i:{'|'.join(sorted(STARTERS, reverse=True))})\b"
_OPENS = rf"(?=\s+[\"“‘'(]?(?=[A-Z]){_SENTENCE})"  # a word that begins sentences
_LINE_END = r"(?=[^\S\n]*\n)"
_DASH = r"(?:\s+(?:-{1,2}|—|–)(?=\s+[^\s\da-z])|[—–](?=\s*[A-Z]))"
# any other word before a number and a sign: "Step 4.", "Enclosure 3:"
_COUNTED = (
    rf"(?P<counted>[A-Z][^\W\d_]{{2,}}[^\S\n](?:{_PARTS}|[IVXLC]+|[A-Z]))"
    rf"(?:{_CLOSE}+(?={_GOES_ON})|{_LINE_END})"
)
_FORMS = (
    # Section 7.9, ARTICLE FOUR, Exhibit B-1, § 4-102, "Schedule 2, Part 1"
    rf"(?:{_DIVISION_WORD}|{_SIGN})[^\S\n]*{_AFTER_DIVISION}(?:\s?{_BELOW})*{_CLOSE}*"
    rf"(?:(?={_GOES_ON})|{_DASH}|,{_OPENS}|{_LINE_END}"
    rf"|,(?=\s(?:{_DIVISION_WORD})[^\S\n]*{_AFTER_DIVISION}\W))",
    rf"(?:{_DIVISION_WORD})[^\S\n]*(?:{_BELOW})+{_CLOSE}*(?={_GOES_ON})",
    rf"第[^\S\n]*[\d〇零一二三四五六七八九十百千]+[^\S\n]*[条條章節节款项項編编](?:{_CLOSE}*(?=\s))",
    _COUNTED,
    r"\(?\d{1,3}(?:\.\d{1,3})*[.)]",
    rf"\d{{1,3}}(?:\.\d{{1,3}})*(?:{_BELOW})+[.):]?(?={_GOES_ON})|\d{{1,3}}(?=\s+{_BELOW}\s)",
    rf"\d{{1,3}}(?:\.\d{{1,3}})+(?={_GOES_ON})(?!\s+{_SCALE})",
    # [4.1], {4}, |4.1|, [Section 4]
    rf"[\[({{|][^\S\n]*(?:(?:{_DIVISION_WORD}|§+)[^\S\n]*{_AFTER_DIVISION}|{_PARTS}|{_ROMANS})"
    rf"(?:{_BELOW})*"
    rf"[^\S\n]*\.?[\])}}|]{_CLOSE}*(?={_GOES_ON})",
    # IV.1., A.1.2
    rf"(?:[A-Z]|{_ROMANS})(?:\.\d{{1,3}})+(?:{_CLOSE}+(?={_GOES_ON})|{_OPENS}|{_LINE_END})",
    rf"(?:[A-Z](?:\.\d{{1,3}}){{2,}}|{_ROMANS}(?:\.\d{{1,3}})+)(?={_GOES_ON})",
    # 4A., 4.A., 4-1:, 4.1.(a), A-4., 4.1]
    rf"{_PARTS}(?:\.?{_BELOW})*(?:{_CLOSE}+(?={_GOES_ON})(?!\s+\d)|{_DASH}|{_OPENS}|{_LINE_END})",
    rf"[A-Z]-\d{{1,2}}(?:\.\d{{1,2}})*(?:{_CLOSE}+|{_OPENS})",
    rf"\d{{1,2}}(?:[°º]|(?:st|nd|rd|th)[.:)])(?={_GOES_ON})",
    rf"{_PARTS}(?:\.?{_BELOW})+(?={_GOES_ON})",
    rf"(?:{_BELOW})(?:\s?{_BELOW})*",
    rf"{_ROMANS}(?:[.)]|{_DASH}|{_LINE_END})|(?=[A-Z]){_ROMANS}{_OPENS}|[IVXLC]{_LINE_END}",
    r"[a-z][.)]|[A-Z]\)",
    r"[\-–—•◦▪●■‣·*](?=\s+[^\W\d_])",
    rf"{_CHARS}[.)]?(?={_GOES_ON})",
    rf"\(?(?=[A-Z])(?:{_WORDED}[:)]+(?={_GOES_ON})|{_ORDINAL}\.(?={_GOES_ON}))",
    rf"\(?(?=[A-Z])(?:{_WORDED}|{_ADVERB})(?:[.,]{_OPENS}|{_DASH}|{_LINE_END})",
)
LABEL = re.compile(rf"\s*(?:{'|'.join(f'(?:{form})' for form in _FORMS)})(?=\s)\s*")
_BARE = re.compile(  # of what else may begin a name: "4A Rent", "II-3 Notices", "A.1 Costs"
    rf"\s*(?:[A-Z]\.|{_PARTS}|[A-Z](?:[.\-]\d{{1,3}}|{_BELOW})+|{_ROMANS}(?:-\d{{1,3}})?)\s+(?=\S)"
)
_MOST = 4


def label_end(text: str, begins_name: Decide, begins_clause: Decide) -> int:
    """Return the offset after the numbers and letters at the beginning of a text, 0 without.

    A capital letter with a full stop is the initial of a name, and a number without a sign may be
    part of one, unless `begins_clause` says that a sentence or a heading begins after it.
    """
    end = 0
    for _ in range(_MOST):
        label = LABEL.match(text, end)
        if label is None:
            label = _BARE.match(text, end)
            if label is None or not begins_clause(label.group(), text[label.end() :]):
                return end
        elif begins_name(label.group(), text[label.end() :]):
            return end
        end = label.end()
    return end


def counted_part(text: str) -> str:
    """Return a word and a number at the beginning that no division has, in lower case: "step 4"."""
    label = LABEL.match(text)
    return " ".join((label["counted"] or "").lower().split()) if label else ""


def without_labels(heading: str) -> str:
    """Return the words of a heading without the labels before them.

    >>> without_labels("ARTICLE FOUR. Rent"), without_labels("(ii) Rent")
    ('Rent', 'Rent')
    """
    if not heading:
        return heading
    end = label_end(f"{heading} The", lambda _, __: False, lambda _, __: True)
    return heading[end:]
