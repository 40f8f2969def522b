"""Headings at the beginning of a line: numbers and letters of contracts and statutes, titles in
capitals. `headings_v1`, and `heading_v2` of a marked line.

Nothing here depends on a language's words but the few that announce a number ("Section", "Artikel",
"Anlage", "第 ... 条"), and the small words that a title writes small ("of", "und", "de"). Whether a
line may carry a heading at all, for it might be the second line of a sentence that says "as set out
in / Section 7.9", is decided in `indexer.comparing.clauses.segmentation`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from indexer.comparing.clauses.lexicon import (
    DIVISIONS,
    LEADING_PARTICLES,
    NUMBER_WORDS,
    SITE_ENDING,
    STARTERS,
    is_abbreviation,
)

# The numbers and letters at the beginning of a clause: "Section 7.9", "4A.", "[4.1]", "(iv)(b)".

Decide = Callable[[str, str], bool]
"""Return whether a label and the text after it begin with a name, or with a clause."""

_PARTICLE = "|".join(sorted(LEADING_PARTICLES))
# eBay, booking.com, de Beers
SMALL_NAME = rf"(?:[a-z]+[A-Z]|[\w\-]+{SITE_ENDING}|(?:{_PARTICLE})\s+[A-Z])"
_GOES_ON = (
    rf"\s+(?:[^\sa-z,—–\-]|{SMALL_NAME})"  # not as the sentence goes on that a reference is in
)
_BELOW = r"\((?:[a-z]{1,2}|[A-Z]|[ivxlc]{1,5}|[IVXLC]{1,5}|\d{1,2})\)"  # "5.1(b)(ii)"
_ROMAN_NUMERAL = r"C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_ROMANS = rf"(?:(?=[IVXLC]{{2}}){_ROMAN_NUMERAL}|(?=[ivxlc]{{2}})(?i:{_ROMAN_NUMERAL}))"
_ORDINALS = ("st", "nd", "rd", "th")
_NUMBER_WORD = rf"(?i:{'|'.join(sorted(NUMBER_WORDS, reverse=True))})(?![\w\-])"
_ORDINAL = rf"(?i:{'|'.join(word for word in NUMBER_WORDS if word.endswith(_ORDINALS))})(?!\w)"
_ADVERB = rf"(?i:{'|'.join(f'{word}ly' for word in NUMBER_WORDS)})"
_ATOM = r"\d{1,4}(?:(?:[A-Za-z]|bis|ter|quater|er|re)(?![A-Za-z])|[ºª°])?"
_PARTS = rf"{_ATOM}(?:[.．\-:/](?:{_ATOM}|[A-Za-z](?![A-Za-z])))*"
_CHARS = r"[\u2460-\u249b\u2160-\u217f]+"  # ④, ⒋, Ⅳ
_AFTER_DIVISION = (
    rf"(?:{_PARTS}|[IVXLC]+(?![A-Za-z])|{_NUMBER_WORD}"
    rf"|[A-Z](?:-\d{{1,2}})?(?![A-Za-z.]\w)|{_CHARS})"
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
    rf"\(?(?=[A-Z])(?:{_NUMBER_WORD}[:)]+(?={_GOES_ON})|{_ORDINAL}\.(?={_GOES_ON}))",
    rf"\(?(?=[A-Z])(?:{_NUMBER_WORD}|{_ADVERB})(?:[.,]{_OPENS}|{_DASH}|{_LINE_END})",
)
LABEL = re.compile(rf"\s*(?:{'|'.join(f'(?:{form})' for form in _FORMS)})(?=\s)\s*")
_BARE_LABEL = re.compile(  # of what may also begin a name: "4A Rent", "II-3 Notices", "A.1 Costs"
    rf"\s*(?:[A-Z]\.|{_PARTS}|[A-Z](?:[.\-]\d{{1,3}}|{_BELOW})+|{_ROMANS}(?:-\d{{1,3}})?)\s+(?=\S)"
)
_MAX_LABELS = 4


def label_end(text: str, begins_name: Decide, begins_clause: Decide) -> int:
    """Return the offset after the numbers and letters at the beginning of a text, 0 without.

    A capital letter with a full stop is the initial of a name, and a number without a sign may be
    part of one, unless `begins_clause` says that a sentence or a heading begins after it.
    """
    end = 0
    for _ in range(_MAX_LABELS):
        label = LABEL.match(text, end)
        if label is None:
            label = _BARE_LABEL.match(text, end)
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


MAJOR, SECTION, LETTERED, TITLE = 1, 2, 3, 1
_LONGEST_TITLE, _MAX_WORDS = 100, 12

_NUMBER = r"\d{1,3}[A-Z]?(?:[.\-]\d{1,3}[A-Z]?)*"
_SUBNUMBERS = r"(?:\((?:[a-zA-Z]{1,4}|\d{1,2})\))*"  # "7.9(b)(ii)"
_ROMAN = r"(?=[IVXLC])(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_WORDED = (
    "ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE|TEN"
    "|FIRST|SECOND|THIRD|FOURTH|FIFTH|SIXTH|SEVENTH|EIGHTH|NINTH|TENTH"
)
_MAJOR_WORDS = (
    "article|chapter|part|title|schedule|exhibit|annex|annexe|appendix|attachment|kapitel|teil"
    "|anlage|anhang|abschnitt|artikel|chapitre|titre|annexe|capítulo|título|anexo|capitolo|titolo"
    "|allegato|hoofdstuk|bijlage|bilaga|bilag|artículo|articolo|artigo"
)
_SECTION_WORDS = "section|sec\\.|clause|paragraph|§{1,2}|art\\.|cláusula|clausola|paragraaf|klausul"
_KEYWORD = re.compile(
    rf"(?P<word>(?P<major>{_MAJOR_WORDS})|{_SECTION_WORDS})[ \t\xa0]*"
    rf"(?P<number>{_NUMBER}|{_ROMAN}|{_WORDED}|[A-Z](?:-\d{{1,2}})?)(?![\w/]){_SUBNUMBERS}",
    re.IGNORECASE,
)
_DOTTED = re.compile(
    rf"(?P<number>\d{{1,3}}(?:\.\d{{1,3}}){{1,5}}{_SUBNUMBERS})(?P<close>[.):]?)(?=[ \t\xa0]|$)"
)
_SINGLE = re.compile(r"(?P<number>\d{1,3})(?P<close>[.):])(?=[ \t\xa0]|$)")
_BARE = re.compile(r"(?P<number>\d{1,2})(?=[ \t\xa0]+\S)")
_CAPITAL = re.compile(rf"(?P<number>{_ROMAN}|[A-Z])(?P<close>[.)])(?=[ \t\xa0])")
_BRACKETED = re.compile(r"(?P<number>\((?:[a-zA-Z]{1,3}|\d{1,2})\))(?=[ \t\xa0])")
_HAN = re.compile(
    r"(?P<number>第[ \t]*[0-9０-９一二三四五六七八九十百千〇零]+[ \t]*"
    r"(?P<unit>[条條章節节編编款項项]))"
)
_HAN_TITLE = re.compile(r"[（(【](?P<title>[^）)】]{1,40})[）)】]")
_REFERENCE = re.compile(
    r"(?:of|and|or|to|above|below|hereof|shall|is|are|was|has|as|in|Abs|Absatz|Satz|Nr|Nummer"
    r"|Ziffer|Ziff|lit|und|bis|ff?|ist|gilt|du|de la|des|et|y|e)\b|[,;)\]%/]"
)
_RUN_IN = re.compile(
    r"[^.:\u2014\u2013]*?(?:(?:\.|:)(?=[ \t\xa0]|$)|[ \t\xa0]*(?:\u2014|\u2013|--?)[ \t\xa0])"
)
_CAPITALS_THEN = re.compile(r"(?P<title>[^\W\d_a-z]{2}[^a-z.:]*?)[ \t\xa0]+(?=[A-Z][a-z])")
_SMALL = frozenset(
    re.findall(
        r"\w+",
        "a an and as at but by for from if in into nor of on or per the to upon with without under "
        "over between vs via der die das des dem den ein eine und oder von vom zu zur zum für mit "
        "im bei aus auf über nach van het een en de du la le les l et ou à au aux sur par pour el "
        "los las y o del al con da do dos e di il lo gli della",
    )
)
_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|['\u2019\-])*")
_SPELLED = re.compile(r"[^\W_]+(?:\.[^\W_]+)*")
_MONTHS = re.compile(
    r"(?:jan|feb|mar|mär|apr|ma[iy]|jun|jul|aug|sep|oct|okt|nov|dec|dez)\w*\b", re.IGNORECASE
)
_OPENING_SYMBOLS = frozenset("(§")
_AROUND = " \t\xa0.:-\u2014\u2013"
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_ENDS_OPEN = (",", ";", ".", "?", "!", "-", "\u2014")


@dataclass(frozen=True, slots=True)
class Marker:
    """The number or letter that announces a clause.

    `label` as written ("Section 7.9", "(m)"); `rest`, the offset in the line where the rest begins.
    `ordinals` are the positions in a row that it may stand for ("4." comes after "3."; "I." is
    first or ninth), none where any is right.
    """

    label: str
    kind: str
    level: int
    rest: int
    ordinals: tuple[int, ...] = ()


def marker(line: str) -> Marker | None:
    """Return the number or letter that a line begins with, None when there is none.

    White space before it is skipped. `rest` is the offset in the line where the text after it
    begins, or the line's length. A reference ("Section 7.9 of the Indenture") is no marker.

    >>> marker("  Section 7.9 Waiver of Jury Trial").label
    'Section 7.9'
    >>> marker("Section 7.9 of the Indenture shall apply") is None
    True
    """
    start = len(line) - len(line.lstrip())
    if not line[start : start + 1].isalnum() and line[start : start + 1] not in _OPENING_SYMBOLS:
        return None
    for find in (_keyword, _han, _number, _bracket, _letter):
        announced = find(line, start)
        if announced is not None:
            return None if _REFERENCE.match(line, announced.rest) else announced
    return None


def heading(line: str, announced: Marker) -> tuple[str, int]:
    """Return the title in the rest of a marked line, and the offset where the body begins.

    The offset is the line's length when there is no body. A title is the whole rest of the line, or
    runs up to a full stop, a colon or a dash; its words have capitals, or it is short and alone on
    its line. Otherwise it is empty, and every word belongs to the body.

    >>> line = "(m) LEVERAGE RATIO. The Borrower shall not permit ..."
    >>> title, body = heading(line, marker(line))
    >>> title, line[body:]
    ('LEVERAGE RATIO', 'The Borrower shall not permit ...')
    """
    rest = line[announced.rest : announced.rest + 2 * _LONGEST_TITLE].rstrip()
    bracketed = _HAN_TITLE.match(rest) if announced.kind == "han" else None
    if bracketed:
        return bracketed["title"], _after(line, announced.rest + bracketed.end())
    if rest and is_whole_title(rest, strict=announced.kind == "bracketed"):
        return rest.rstrip(" .:"), len(line)
    run = _RUN_IN.match(rest)
    title = run.group().strip(_AROUND) if run else ""
    if run and is_titled(title):
        return title, _after(line, announced.rest + run.end())
    capitals = _CAPITALS_THEN.match(rest)
    if capitals:
        return capitals["title"], _after(line, announced.rest + capitals.end())
    return "", announced.rest


def heading_v2(line: str, announced: Marker) -> tuple[str, int]:
    """Return what `heading` returns, but no title that ends by the full stop of an abbreviation,
    or before a small letter: there a sentence goes on.

    >>> line = "7. Acme, Inc. shall pay the rent in advance on the first of the month."
    >>> heading(line, marker(line))[0], heading_v2(line, marker(line))[0]
    ('Acme, Inc', '')
    """
    title, body = heading(line, announced)
    if body < len(line) and line[announced.rest : body].rstrip(" \t\xa0").endswith("."):
        words = _SPELLED.findall(title)
        if line[body].islower() or (words and is_abbreviation(words[-1])):
            return "", announced.rest
    return title, body


def is_titled(words: str) -> bool:
    """Return whether words are written as a title.

    Up to twelve, capitals first in each but the small ones, no digits.

    >>> is_titled("Successors and Assigns"), is_titled("The fee is due"), is_titled("")
    (True, False, False)
    """
    matches = _WORD.findall(words)
    if not 0 < len(matches) <= _MAX_WORDS or len(words) > _LONGEST_TITLE:
        return False
    if not words[0].isalpha() and words[0] not in "\"\u201c'[":
        return False
    return _is_capitalised(matches[0]) and all(
        _is_capitalised(word) or word.lower() in _SMALL for word in matches
    )


def _is_capitalised(word: str) -> bool:
    """Return whether a word begins with a capital, or with a letter that has none."""
    return word[0] == word[0].upper()


def is_whole_title(rest: str, strict: bool = False) -> bool:
    """Return whether all that follows a line's number is a title: short, no sentence.

    `strict` requires capitals as in `is_titled`.
    """
    bare = rest.removesuffix(".").removesuffix(":")
    if len(rest) > _LONGEST_TITLE or rest.endswith(_ENDS_OPEN[:2]):
        return False
    if any(mark in bare for mark in (". ", "; ", ": ")):
        return False
    return is_titled(bare) if strict or rest != bare else _is_sentence_case(rest)


def is_in_capitals(line: str) -> bool:
    """Return whether a line is a title in capitals: four letters or more, none small, no sentence.

    >>> [is_in_capitals(line) for line in ("WAIVER OF JURY TRIAL", "USD 4,000", "Waiver")]
    [True, False, False]
    """
    stripped = line.strip()
    characters = [char for char in stripped if char.isalpha()]
    return (
        len(characters) >= 4
        and len(stripped) <= _LONGEST_TITLE
        and not stripped.endswith(_ENDS_OPEN)
        and stripped[0].isalpha()
        and all(char == char.upper() != char.lower() for char in characters)
        and 3 * sum(char.isdigit() for char in stripped) <= len(characters)
    )


def _keyword(line: str, start: int) -> Marker | None:
    match = _KEYWORD.match(line, start)
    if match is None:
        return None
    rest = _after(line, match.end(), ".:\u2014\u2013-)")
    if match["word"][0].islower() or _goes_on(line, rest):
        return None
    level = MAJOR if match["major"] else max(SECTION, _depth(match["number"]))
    return Marker(line[start : match.end()].strip(), "keyword", level, rest)


def _han(line: str, start: int) -> Marker | None:
    match = _HAN.match(line, start)
    if match is None:
        return None
    level = MAJOR if match["unit"] in "章節节編编" else SECTION
    return Marker(match["number"].strip(), "han", level, _after(line, match.end(), ":：、"))


def _number(line: str, start: int) -> Marker | None:
    match = _DOTTED.match(line, start)
    if match:
        rest = _after(line, match.end())
        if _goes_on(line, rest):
            return None
        return Marker(match["number"], "dotted", _depth(match["number"]), rest)
    match = _SINGLE.match(line, start)
    if match:
        rest = _after(line, match.end())
        if _goes_on(line, rest) or _MONTHS.match(line, rest):
            return None
        return Marker(match["number"], "single", MAJOR, rest, (int(match["number"]),))
    match = _BARE.match(line, start)
    if match:
        rest = _after(line, match.end())
        if is_whole_title(line[rest:].rstrip(), strict=True) and not _MONTHS.match(line, rest):
            return Marker(match["number"], "bare", MAJOR, rest, (int(match["number"]),))
    return None


def _bracket(line: str, start: int) -> Marker | None:
    """Return a letter in brackets where a title follows.

    Without a title it is an item of the clause that it stands in.
    """
    match = _BRACKETED.match(line, start)
    if match is None:
        return None
    announced = Marker(match["number"], "bracketed", LETTERED, _after(line, match.end()))
    title, body = heading(line, announced)
    if title and (body < len(line) or title == title.upper() or line.rstrip().endswith(".")):
        return announced
    return None


def _letter(line: str, start: int) -> Marker | None:
    match = _CAPITAL.match(line, start)
    if match is None:
        return None
    number = match["number"]
    kind = "roman" if len(number) > 1 else "letter"
    announced = Marker(number, kind, MAJOR, _after(line, match.end()), _positions(number))
    title, _ = heading(line, announced)
    return announced if title and is_titled(title) else None


def _goes_on(line: str, rest: int) -> bool:
    """Return whether a sentence goes on: then the number belongs to the words before it."""
    return rest < len(line) and line[rest].isalpha() and line[rest].islower()


def _is_sentence_case(rest: str) -> bool:
    return (
        0 < len(_WORD.findall(rest)) <= _MAX_WORDS
        and rest[0].isalpha()
        and not rest[0].islower()
        and not rest.endswith(_ENDS_OPEN)
    )


def _depth(number: str) -> int:
    return number.count(".") + 1


def _positions(number: str) -> tuple[int, ...]:
    """Return the positions in a row that a capital letter or a roman number stands for.

    I, V and X are both.
    """
    letter = (ord(number) - ord("A") + 1,) if len(number) == 1 else ()
    if len(number) == 1 and number not in "IVX":
        return letter
    digits = [_ROMAN_DIGITS[char] for char in number]
    value = 0
    for digit, following in zip(digits, [*digits[1:], 0], strict=True):
        value += -digit if digit < following else digit
    return (*letter, value)


def _after(line: str, position: int, symbols: str = "") -> int:
    """Return the offset after the blanks, and these signs, that begin at a position."""
    skipped = " \t\xa0" + symbols
    while position < len(line) and line[position] in skipped:
        position += 1
    return position


# The number of a clause before a name that begins small: "5. eBay". Part of `clauses_v3`.

_NUMBERED = re.compile(
    r"[ \t\xa0]*(?:[^\W\d_]+\.?[ \t\xa0]+|§+[ \t\xa0]*)?[\d.()a-zA-Z\-]{1,12}:?[ \t\xa0]+"
    rf"(?P<name>{SMALL_NAME})"
)


def marker_v3(line: str) -> Marker | None:
    """Return what `marker` returns, also where a name with a small first letter follows.

    >>> marker("5. eBay") is None, marker_v3("5. eBay").label
    (True, '5')
    """
    return marker(_with_capital(line))


def heading_v3(line: str, announced: Marker) -> tuple[str, int]:
    """Return what `heading_v2` returns, also for a title that begins with such a name.

    >>> heading_v3("5. eBay", marker_v3("5. eBay"))[0]
    'eBay'
    """
    recased = _with_capital(line)
    title, body = heading_v2(recased, announced)
    start = recased.find(title, announced.rest)
    return (title if start < 0 else line[start : start + len(title)]), body


def _with_capital(line: str) -> str:
    """Return a line with a capital at the beginning of the name after its number."""
    name = _NUMBERED.match(line)
    if name is None or len(line[name.start("name")].upper()) != 1:
        return line
    at = name.start("name")
    return line[:at] + line[at].upper() + line[at + 1 :]
