"""Headings at the beginning of a line: numbers and letters of contracts and statutes, titles in
capitals. `headings_v1`.

Nothing here knows a language's words but those few that announce a number ("Section", "Artikel",
"Anlage", "第 ... 条"), and the small words that a title writes small ("of", "und", "de"). Whether a
line may carry a heading at all, for it might be the second line of a sentence that says "as set out
in / Section 7.9", is decided in `indexer.text.clauses.segmentation`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAJOR, SECTION, LETTERED, TITLE = 1, 2, 3, 1
_LONGEST_TITLE, _MOST_WORDS = 100, 12

_NUMBER = r"\d{1,3}[A-Z]?(?:[.\-]\d{1,3}[A-Z]?)*"
_BELOW = r"(?:\((?:[a-zA-Z]{1,4}|\d{1,2})\))*"  # "7.9(b)(ii)"
_ROMAN = r"(?=[IVXLC])(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_WORDED = "ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE|TEN|FIRST|SECOND|THIRD|FOURTH|FIFTH|SIXTH|SEVENTH|EIGHTH|NINTH|TENTH"
_MAJOR_WORDS = (
    "article|chapter|part|title|schedule|exhibit|annex|annexe|appendix|attachment|kapitel|teil|anlage|anhang|abschnitt|artikel"
    "|chapitre|titre|annexe|capítulo|título|anexo|capitolo|titolo|allegato|hoofdstuk|bijlage|bilaga|bilag|artículo|articolo|artigo"
)
_SECTION_WORDS = "section|sec\\.|clause|paragraph|§{1,2}|art\\.|cláusula|clausola|paragraaf|klausul"
_KEYWORD = re.compile(
    rf"(?P<word>(?P<major>{_MAJOR_WORDS})|{_SECTION_WORDS})[ \t\xa0]*"
    rf"(?P<number>{_NUMBER}|{_ROMAN}|{_WORDED}|[A-Z](?:-\d{{1,2}})?)(?![\w/]){_BELOW}",
    re.IGNORECASE,
)
_DOTTED = re.compile(
    rf"(?P<number>\d{{1,3}}(?:\.\d{{1,3}}){{1,5}}{_BELOW})(?P<close>[.):]?)(?=[ \t\xa0]|$)"
)
_SINGLE = re.compile(r"(?P<number>\d{1,3})(?P<close>[.):])(?=[ \t\xa0]|$)")
_BARE = re.compile(r"(?P<number>\d{1,2})(?=[ \t\xa0]+\S)")
_CAPITAL = re.compile(rf"(?P<number>{_ROMAN}|[A-Z])(?P<close>[.)])(?=[ \t\xa0])")
_BRACKETED = re.compile(r"(?P<number>\((?:[a-zA-Z]{1,3}|\d{1,2})\))(?=[ \t\xa0])")
_HAN = re.compile(
    r"(?P<number>第[ \t]*[0-9０-９一二三四五六七八九十百千〇零]+[ \t]*(?P<unit>[条條章節节編编款項项]))"
)
_HAN_TITLE = re.compile(r"[（(【](?P<title>[^）)】]{1,40})[）)】]")
_REFERENCE = re.compile(
    r"(?:of|and|or|to|above|below|hereof|shall|is|are|was|has|as|in|Abs|Absatz|Satz|Nr|Nummer|Ziffer|Ziff|lit|und|bis|ff?|ist|gilt"
    r"|du|de la|des|et|y|e)\b|[,;)\]%/]"
)
_RUN_IN = re.compile(
    r"[^.:\u2014\u2013]*?(?:(?:\.|:)(?=[ \t\xa0]|$)|[ \t\xa0]*(?:\u2014|\u2013|--?)[ \t\xa0])"
)
_CAPITALS_THEN = re.compile(r"(?P<title>[^\W\d_a-z]{2}[^a-z.:]*?)[ \t\xa0]+(?=[A-Z][a-z])")
_SMALL = frozenset(
    re.findall(
        r"\w+",
        "a an and as at but by for from if in into nor of on or per the to upon with without under over between vs via "
        "der die das des dem den ein eine und oder von vom zu zur zum für mit im bei aus auf über nach van het een en "
        "de du la le les l et ou à au aux sur par pour el los las y o del al con da do dos e di il lo gli della",
    )
)
_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|['\u2019\-])*")
_MONTHS = re.compile(
    r"(?:jan|feb|mar|mär|apr|ma[iy]|jun|jul|aug|sep|oct|okt|nov|dec|dez)\w*\b", re.IGNORECASE
)
_OPENS = frozenset("(§")
_ENDS_OPEN = (",", ";", ".", "?", "!", "-", "\u2014")


@dataclass(frozen=True, slots=True)
class Marker:
    """What announces a clause: its label as written ("Section 7.9", "(m)"), and the offset in the
    line where the rest begins.

    `ordinals` are the places in a row that it may stand for ("4." comes after "3."; "I." is first
    or ninth), none where any will do.
    """

    label: str
    kind: str
    level: int
    rest: int
    ordinals: tuple[int, ...] = ()


def marker(line: str) -> Marker | None:
    """The number or letter that a line begins with (white space before it is passed over), None
    when there is none.

    `rest` is the offset in the line where what follows begins, or the line's length. What is a
    reference and no heading ("Section 7.9 of the Indenture") has none.

    >>> marker("  Section 7.9 Waiver of Jury Trial").label
    'Section 7.9'
    >>> marker("Section 7.9 of the Indenture shall apply") is None
    True
    """
    start = len(line) - len(line.lstrip())
    if not line[start : start + 1].isalnum() and line[start : start + 1] not in _OPENS:
        return None
    for find in (_keyword, _han, _numbered, _bracketed, _lettered):
        if (found := find(line, start)) is not None:
            return None if _REFERENCE.match(line, found.rest) else found
    return None


def heading(line: str, found: Marker) -> tuple[str, int]:
    """The title in the rest of a marked line, and the offset where the body begins (the line's
    length when it has none).

    A title is the whole rest of the line, or runs up to a full stop, a colon or a dash; its words
    have capitals, or it is short and alone on its line. Otherwise it is empty, and every word
    belongs to the body.

    >>> line = "(m) LEVERAGE RATIO. The Borrower shall not permit ..."
    >>> title, body = heading(line, marker(line))
    >>> title, line[body:]
    ('LEVERAGE RATIO', 'The Borrower shall not permit ...')
    """
    rest = line[found.rest : found.rest + 2 * _LONGEST_TITLE].rstrip()
    if bracketed := _HAN_TITLE.match(rest) if found.kind == "han" else None:
        return bracketed["title"], _after(line, found.rest + bracketed.end())
    if rest and whole_title(rest, strict=found.kind == "bracketed"):
        return rest.rstrip(" .:"), len(line)
    if (run := _RUN_IN.match(rest)) and is_titled(run.group().strip(" \t\xa0.:-\u2014\u2013")):
        return run.group().strip(" \t\xa0.:-\u2014\u2013"), _after(line, found.rest + run.end())
    if capitals := _CAPITALS_THEN.match(rest):
        return capitals["title"], _after(line, found.rest + capitals.end())
    return "", found.rest


def is_titled(words: str) -> bool:
    """Whether words are written as a title: up to twelve, capitals first in each but the small
    ones, no digits.

    >>> is_titled("Successors and Assigns"), is_titled("The fee is due"), is_titled("")
    (True, False, False)
    """
    found = _WORD.findall(words)
    if (
        not found
        or len(found) > _MOST_WORDS
        or len(words) > _LONGEST_TITLE
        or not (words[0].isalpha() or words[0] in "\"\u201c'[")
    ):
        return False
    return found[0][0] == found[0][0].upper() and all(
        word[0] == word[0].upper() or word.lower() in _SMALL for word in found
    )


def whole_title(rest: str, strict: bool = False) -> bool:
    """Whether all that a line says after its number is a title: short, no sentence; `strict`: with
    capitals as in `is_titled`.
    """
    bare = rest.removesuffix(".").removesuffix(":")
    if (
        len(rest) > _LONGEST_TITLE
        or rest.endswith(_ENDS_OPEN[:2])
        or any(mark in bare for mark in (". ", "; ", ": "))
    ):
        return False
    return is_titled(bare) if strict or rest != bare else _sentence_case(rest)


def capitals(line: str) -> bool:
    """Whether a line is a title in capitals: four letters or more, none of them small, no sentence.

    >>> capitals("WAIVER OF JURY TRIAL"), capitals("USD 4,000"), capitals("Waiver")
    (True, False, False)
    """
    stripped = line.strip()
    letters = [char for char in stripped if char.isalpha()]
    return (
        len(letters) >= 4
        and len(stripped) <= _LONGEST_TITLE
        and not stripped.endswith(_ENDS_OPEN)
        and stripped[0].isalpha()
        and all(char == char.upper() != char.lower() for char in letters)
        and 3 * sum(char.isdigit() for char in stripped) <= len(letters)
    )


def _keyword(line: str, start: int) -> Marker | None:
    if (found := _KEYWORD.match(line, start)) is None:
        return None
    rest = _after(line, found.end(), ".:\u2014\u2013-)")
    if found["word"][0].islower() or _open(line, rest):
        return None
    level = MAJOR if found["major"] else max(SECTION, _depth(found["number"]))
    return Marker(line[start : found.end()].strip(), "keyword", level, rest)


def _han(line: str, start: int) -> Marker | None:
    if (found := _HAN.match(line, start)) is None:
        return None
    level = MAJOR if found["unit"] in "章節节編编" else SECTION
    return Marker(found["number"].strip(), "han", level, _after(line, found.end(), ":：、"))


def _numbered(line: str, start: int) -> Marker | None:
    if found := _DOTTED.match(line, start):
        rest = _after(line, found.end())
        return (
            None
            if _open(line, rest)
            else Marker(found["number"], "dotted", _depth(found["number"]), rest)
        )
    if found := _SINGLE.match(line, start):
        rest = _after(line, found.end())
        plain = _open(line, rest) or _MONTHS.match(line, rest)
        return (
            None
            if plain
            else Marker(found["number"], "single", MAJOR, rest, (int(found["number"]),))
        )
    if (found := _BARE.match(line, start)) and whole_title(
        line[_after(line, found.end()) :].rstrip(), strict=True
    ):
        rest = _after(line, found.end())
        return (
            None
            if _MONTHS.match(line, rest)
            else Marker(found["number"], "bare", MAJOR, rest, (int(found["number"]),))
        )
    return None


def _bracketed(line: str, start: int) -> Marker | None:
    """A letter in brackets begins a clause where a title follows; without one it is an item of the
    clause it stands in.
    """
    if (found := _BRACKETED.match(line, start)) is None:
        return None
    made = Marker(found["number"], "bracketed", LETTERED, _after(line, found.end()))
    title, body = heading(line, made)
    return (
        made
        if title and (body < len(line) or title == title.upper() or line.rstrip().endswith("."))
        else None
    )


def _lettered(line: str, start: int) -> Marker | None:
    if (found := _CAPITAL.match(line, start)) is None:
        return None
    rest = _after(line, found.end())
    made = Marker(
        found["number"],
        "roman" if len(found["number"]) > 1 else "letter",
        MAJOR,
        rest,
        _places(found["number"]),
    )
    title, _ = heading(line, made)
    return made if title and is_titled(title) else None


def _open(line: str, rest: int) -> bool:
    """Whether something else than a new sentence or a title follows: then the number belongs to
    what went before.
    """
    return rest < len(line) and line[rest].isalpha() and line[rest].islower()


def _sentence_case(rest: str) -> bool:
    found = _WORD.findall(rest)
    return (
        bool(found)
        and len(found) <= _MOST_WORDS
        and rest[0].isalpha()
        and not rest[0].islower()
        and not rest.endswith(_ENDS_OPEN)
    )


def _depth(number: str) -> int:
    return number.count(".") + 1


def _places(number: str) -> tuple[int, ...]:
    """The places in a row that a capital letter or a roman number stands for: I, V and X are
    both.
    """
    letter = (ord(number) - ord("A") + 1,) if len(number) == 1 else ()
    if len(number) == 1 and number not in "IVX":
        return letter
    digits = [{"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}[char] for char in number]
    return (
        *letter,
        sum(
            -one if one < other else one
            for one, other in zip(digits, [*digits[1:], 0], strict=True)
        ),
    )


def _after(line: str, place: int, also: str = "") -> int:
    blank = " \t\xa0" + also
    while place < len(line) and line[place] in blank:
        place += 1
    return place
