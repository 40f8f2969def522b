"""Cells of sheets that are not displayed, or are marked: digits of values (3.14159 behind 3.1),
hidden rows, columns and sheets, struck words, and words of the colour of their cell; sheets of
OpenDocument as they are displayed, and rows of tables as lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from html import unescape
from math import isfinite
from operator import eq, ge, gt, le, lt, ne
from typing import TypeVar

from indexer.documents.base import colour_of_digits, is_near

_T = TypeVar("_T")

# Sheets of Excel (.xlsx).

_NUMBER = re.compile(
    rb"<c (?![^>]*\bt=\"(?:s|str|inlineStr|b|e|d)\")([^>]*)>(?:<f\b[^>]*(?:/>|>[^<]*</f>))?"
    rb"<v>([-+.\deE]+)</v>"
)
_NAME, _STYLE = re.compile(rb"\br=\"(\w+)\""), re.compile(rb"\bs=\"(\d+)\"")
_FORMAT = re.compile(rb"<numFmt\s[^>]*>")
_ID, _CODE = re.compile(rb"\bnumFmtId=\"(\d+)\""), re.compile(rb"\bformatCode=\"([^\"]*)\"")
_CELL_STYLES = re.compile(rb"<cellXfs\b.*?</cellXfs>", re.DOTALL)
_CELL_STYLE = re.compile(rb"<xf\b[^>]*>")
_QUOTED = re.compile(rb"\"[^\"]*\"|\\.|\[(?!(?:h+|m+|s+)\])[^\]]*\]|_.|\*.", re.IGNORECASE)
_DECIMALS, _THOUSANDS = re.compile(rb"[0#?]\.([0#?]+)"), re.compile(rb"[0#?.],+[^0#?]*\Z")
_SECTION = re.compile(rb"((?:[^;\"\\]|\"[^\"]*\"|\\.)*);?", re.DOTALL)
_CONDITION = re.compile(rb"\[([<>]=?|=|<>)\s*([-+.\deE]+)\]")
_DISPLAYED = re.compile(rb"[0#?ymdhsgbe@]", re.IGNORECASE)
_BRACKETS, _LEADING_MINUS = re.compile(rb"\[[^\]]*\]|_."), re.compile(rb"[\s\"\\]*[-\xe2]")
_NEGATIVE = re.compile(rb"[-(\xe2]|[^\W\d_]{2}")  # of a number: another minus, or words, too
_COMPARE: dict[bytes, Callable[[float, float], bool]] = {
    b"<": lt,
    b"<=": le,
    b">": gt,
    b">=": ge,
    b"=": eq,
    b"<>": ne,
}
_MINUTES, _SECONDS = 1440.0, 86400.0  # of a day, the unit of times
_NEVER = 0.0  # units that are displayed where a number is never displayed as it is
BUILT_IN = {1: b"0", 2: b"0.00", 3: b"#,##0", 4: b"#,##0.00", 9: b"0%", 10: b"0.00%"}
BUILT_IN |= dict.fromkeys((37, 38, 41, 42), b"#,##0;(#,##0)")
BUILT_IN |= dict.fromkeys((39, 40, 43, 44), b"#,##0.00;(#,##0.00)")
BUILT_IN |= dict.fromkeys((14, 15, *range(27, 32), *range(50, 59)), b"d/m/y")
BUILT_IN |= {16: b"d-m", 17: b"m-y"}
BUILT_IN |= dict.fromkeys((18, 20, 22, 32), b"h:m") | dict.fromkeys((19, 21, 45, 46), b"h:m:s")
_GENERAL_DIGITS = 10  # that are displayed without a format
_SIGNIFICANT = 12  # significant ones, in which all programs write a value alike


def hidden_values(sheet: bytes, styles: bytes) -> bytes:
    """Return the cells with values that are displayed in part, or as other ones, and these values;
    empty for none.
    """
    codes = _style_codes(styles)
    hidden: list[bytes] = []
    for attributes, value in _NUMBER.findall(sheet):
        style = _STYLE.search(attributes)
        index = int(style[1]) if style else 0
        if hides(codes[index] if index < len(codes) else b"", value):
            name = _NAME.search(attributes)
            hidden.append(b"%s %s" % (name[1] if name else b"", rounded(float(value))))
    return b"\n".join(hidden)


def rounded(value: float) -> bytes:
    """Return a value with the digits in which all programs write it alike."""
    return f"{value:.{_SIGNIFICANT}g}".encode()


def hides(code: bytes, value: bytes) -> bool:
    """Return whether a format of cells displays less of a number than there is, or another one;
    without a format as many digits as fit are displayed. A zero may be displayed as any text.

    >>> hides(b"0.00", b"3.14"), hides(b"0.00", b"3.149"), hides(b"#,##0,", b"5000")
    (False, True, True)
    >>> [hides(b"0;0;", value) for value in (b"5", b"-5", b"0")]
    [False, True, True]
    """
    if not code and len(value) <= _GENERAL_DIGITS:
        return False
    number = _number(value)
    if number is None or not isfinite(number):
        return False
    section = _section(code, number)
    if number == 0:
        return not section
    scale = _scale(section, _separates_negatives(code), number < 0)
    if scale is None:
        digits = float(f"{number:.{_GENERAL_DIGITS}g}")
        return digits != float(f"{number:.{_SIGNIFICANT}g}")
    if scale == _NEVER:
        return True
    scaled = number * scale
    if not isfinite(scaled):
        return False
    return bool(abs(scaled - round(scaled)) > max(1e-6, abs(scaled) * 10**-_SIGNIFICANT))


@lru_cache(maxsize=1000)
def _sections(code: bytes) -> list[bytes]:
    """Return the sections of a format that are for numbers."""
    sections = _SECTION.findall(code + b";")[:-1]
    return [section for section in sections if b"@" not in _QUOTED.sub(b"", section)][:3]


@lru_cache(maxsize=1000)
def _separates_negatives(code: bytes) -> bool:
    """Return whether the section for negative numbers displays them as such: no other one is."""
    return len(_sections(code)) > 1 and not _CONDITION.search(code)


def _section(code: bytes, number: float) -> bytes:
    """Return the section of a format that displays a number."""
    sections = _sections(code)
    if _CONDITION.search(code):
        for section in sections:
            condition = _CONDITION.search(section)
            limit = _number(condition[2]) if condition else None
            if condition is None or (limit is not None and _COMPARE[condition[1]](number, limit)):
                return section
    index = (number < 0) + 2 * (number == 0)
    return (sections[index : index + 1] or sections[:1] or [b"General"])[0]


def _style_codes(styles: bytes) -> list[bytes]:
    """Return the formats of the styles of cells, in order; empty for none."""
    codes = dict(BUILT_IN)
    for element in _FORMAT.findall(styles):
        id, code = _ID.search(element), _CODE.search(element)
        if id and code:
            codes[int(id[1])] = unescape(code[1].decode("utf-8", "replace")).encode()
    ids = [_ID.search(style) for style in _cell_styles(styles)]
    return [codes.get(int(id[1]), b"") if id else b"" for id in ids]


def _cell_styles(styles: bytes) -> list[bytes]:
    listed = _CELL_STYLES.search(styles)
    return _CELL_STYLE.findall(listed[0]) if listed else []


@lru_cache(maxsize=1000)
def _scale(section: bytes, separates: bool, is_negative: bool) -> float | None:
    """Return how many units a section of a format displays of one; None where it displays what
    fits, 0 where it does not display the number, its minus or its thousands.

    >>> [_scale(code, False, False) for code in (b"0.00", b"#,##0", b"0.0%", b"d mmm yyyy")]
    [100.0, 1.0, 1000.0, 1.0]
    >>> [_scale(code, False, False) for code in (b"General", b"0,", b"hh:mm:ss", b"-0")]
    [None, 0.0, 86400.0, 0.0]
    >>> _scale(b"0", True, True), _scale(b"(0)", True, True), _scale(b'"Yes"', False, False)
    (0.0, 1.0, 0.0)
    """
    plain = _QUOTED.sub(b"", section).lower()
    if not _DISPLAYED.search(plain):
        return _NEVER
    is_time = any(letter in plain for letter in b"ydhsm") and b"general" not in plain
    if not is_time:
        written = _BRACKETS.sub(b"", section).lower().replace(b"general", b"")
        if is_negative and separates and not _NEGATIVE.search(written):
            return _NEVER
        if not is_negative and _LEADING_MINUS.match(written):
            return _NEVER
    if any(mark in plain for mark in (b"general", b"@", b"e+", b"/?", b"/#")):
        return None
    if is_time:
        if any(unit in plain for unit in (b"s", b"h", b"[m")):
            return _SECONDS if b"s" in plain else _MINUTES
        return 1.0 if all(letter in plain for letter in b"ymd") else _NEVER
    decimals = _DECIMALS.search(plain)
    digits = (len(decimals[1]) if decimals else 0) + 2 * plain.count(b"%")
    return _NEVER if _THOUSANDS.search(plain) else float(10.0**digits)


_HIDDEN_CELLS = re.compile(
    rb"<(row|col)\s(?=[^>]*\b(?:hidden=\"(?:1|true)|(?:width|ht)=\"0(?:\.0*)?)\")[^>]*>"
)
_NUMBERED = re.compile(rb"\s(?:r|min|max)=\"(\d{1,7})\"")
LAST_COLUMN = 16384
_RULE_CELLS = re.compile(rb"<(?:conditionalFormatting|dataValidation)\s[^>]*?\bsqref=\"([^\"]*)")


def hidden_cells(sheet: bytes) -> bytes:
    """Return the numbers of hidden rows and columns, however many a program joins in an element.

    >>> hidden_cells(b'<col min="2" max="3" hidden="1"/><row r="7" hidden="true">')
    b'col 2,col 3,row 7'
    """
    hidden: set[tuple[bytes, int]] = set()
    may_have = any(mark in sheet for mark in (b"hidden=", b'width="0', b'ht="0'))
    for match in _HIDDEN_CELLS.finditer(sheet) if may_have else ():
        numbers = sorted(map(int, _NUMBERED.findall(match[0])))
        if numbers:
            last = min(numbers[-1], max(numbers[0], LAST_COLUMN))
            hidden.update((match[1], number) for number in range(numbers[0], last + 1))
    return b",".join(b"%s %d" % cell for cell in sorted(hidden))


def rule_cells(sheet: bytes) -> bytes:
    """Return the ranges that conditions and lists of allowed values are for, in any order.

    >>> rule_cells(b'<dataValidation type="list" sqref="B2:B9 A1">')
    b'A1 B2:B9'
    """
    return b" ".join(sorted(set(b" ".join(_RULE_CELLS.findall(sheet)).split())))


_VIEW = re.compile(
    rb"\b(?:showZeros=\"(?:0|false)|(?:showFormulas|zeroHeight|rightToLeft)=\"(?:1|true))\""
)
_VIEWS = (b"showZeros", b"showFormulas", b"zeroHeight", b"rightToLeft", b"<first", b"<even")
_OTHER_HEADERS = ((b"<first", b'differentFirst="'), (b"<even", b'differentOddEven="'))


def view_of_cells(sheet: bytes) -> bytes:
    """Return what displays the cells of a sheet otherwise: no zeros, formulas instead of values,
    no rows but those that say so, the first column on the right, headers of no page.

    >>> view_of_cells(b'<sheetView showZeros="0" showFormulas="false"/>')
    b'showZeros="0"'
    """
    if not any(view in sheet for view in _VIEWS):
        return b""
    found = [view.replace(b"true", b"1") for view in sorted(_VIEW.findall(sheet))]
    headers = sheet[sheet.find(b"<headerFooter") :] if b"<headerFooter" in sheet else b""
    tag, _, texts = headers.partition(b">")
    for name, switch in _OTHER_HEADERS:
        is_used = switch + b"1" in tag or switch + b"true" in tag
        found += [name] * (name in texts and not is_used)
    return b" ".join(found)


_FONTS, _FONT = re.compile(rb"<fonts\b.*?</fonts>", re.DOTALL), re.compile(rb"<font/?>|<font\s")
_FONT_ID = re.compile(rb"\bfontId=\"(\d+)\"")
_SYMBOLS = re.compile(
    rb"<name val=\"(?:symbol|wingdings(?: [23])?|webdings|zapf ?dingbats|marlett)\"", re.IGNORECASE
)
_STRUCK_FONT = re.compile(rb"<strike(?: val=\"(?:1|true)\")?\s*/>")
_STYLED = re.compile(rb"<c (?=[^>]*\br=\"(\w+)\")(?=[^>]*\bs=\"(\d+)\")[^>]*>(?!</c>)(?<!/>)")


def cells_of_fonts(sheet: bytes, styles: bytes, marks: re.Pattern[bytes]) -> bytes:
    """Return the names of cells that are not empty and whose font has a mark: it strikes them out,
    or displays other characters, as in Wingdings, in which `n` is a square.
    """
    fonts = _FONTS.search(styles)
    if fonts is None or not marks.search(fonts[0]):
        return b""
    marked = [bool(marks.search(font)) for font in _FONT.split(fonts[0])[1:]]
    return _cells_of_styles(
        sheet, [_of_list(marked, _FONT_ID, style) or False for style in _cell_styles(styles)]
    )


_FILLS, _FILL = re.compile(rb"<fills\b.*?</fills>", re.DOTALL), re.compile(rb"<fill/?>")
_FILL_ID = re.compile(rb"\bfillId=\"(\d+)\"")
_INK, _PLAIN = (
    re.compile(rb"<(?:color|fgColor) ([^>]*?)\s*/?>"),
    re.compile(rb"=\"(?:none|gray125)"),
)
_RGB = re.compile(rb"rgb=\"\w{0,2}?(\w{6})\"|theme=\"(\d+)\"(?! tint)|indexed=\"(\d+)\"")
_WHITE, _BLACK = b"FFFFFF", b"000000"
_NAMED = {b"0": _WHITE, b"1": _BLACK}, {b"1": _WHITE, b"9": _WHITE, b"64": _BLACK, b"8": _BLACK}
_NO_FORMAT = re.compile(rb"\s*(?:&quot;&quot;|\"\")?;(?:&quot;&quot;|\"\"|;)*\s*$")


def unseen_words(sheet: bytes, styles: bytes) -> bytes:
    """Return the names of cells that are not empty and of which nothing is seen: their font has the
    colour of their fill, or their format (`;;;`) displays nothing.
    """
    fonts, fills = _FONTS.search(styles), _FILLS.search(styles)
    colours = [_colour(font, _BLACK) for font in _FONT.split(fonts[0])[1:]] if fonts else []
    backgrounds = [
        _WHITE if _PLAIN.search(fill) else _colour(fill, b"")
        for fill in (_FILL.split(fills[0])[1:] if fills else ())
    ]
    formats = {
        id[1]
        for element in _FORMAT.findall(styles)
        if (id := _ID.search(element)) and (code := _CODE.search(element))
        if _NO_FORMAT.match(code[1])
    }
    unseen: list[bool] = []
    for style in _cell_styles(styles):
        background = _of_list(backgrounds, _FILL_ID, style) or _WHITE
        format = _ID.search(style)
        colour = _of_list(colours, _FONT_ID, style) or b""
        is_unseen = is_near(colour_of_digits(colour), colour_of_digits(background))
        unseen.append(is_unseen or (format is not None and format[1] in formats))
    return _cells_of_styles(sheet, unseen) if any(unseen) else b""


_CELL = re.compile(
    rb"<c (?![^<>]*\bt=\"[bde]\")(?=[^<>]*\br=\"(\w+)\")(?=[^<>]*\bs=\"(\d+)\")([^<>]*)>"
    rb"(?:<f\b[^>]*(?:/>|>[^<]*</f>))?<(?:v|is)>(?:([-+.\deE]+)</v>)?"
)
_TEXT_CELL = re.compile(rb"\bt=\"(?:s|str|inlineStr)\"")
_WORDS = re.compile(rb"\"([^\"]*[^\W\d_][^\"]*)\"")


def worded_cells(sheet: bytes, styles: bytes) -> bytes:
    """Return the cells that display the words of their format, which are not read, and these."""
    if b"&quot;" not in styles:
        return b""
    of_styles = _style_codes(styles)
    worded: list[bytes] = []
    for name, style, attributes, value in _CELL.findall(sheet):
        format = of_styles[int(style)] if int(style) < len(of_styles) else b""
        number = None if _TEXT_CELL.search(attributes) else _number(value or b"0")
        if words := words_of_format(format, number):
            worded.append(b"%s %s" % (name, words))
    return b"\n".join(worded)


def _number(value: bytes) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def words_of_format(code: bytes, value: float | None) -> bytes:
    """Return the words that a format displays instead of a number, or next to a text (None).
    Those next to digits are read.

    >>> words_of_format(b'"Yes";;"No"', 5), words_of_format(b'"Yes";;"No"', 0)
    (b'Yes', b'No')
    >>> words_of_format(b'0" EUR"', 5), words_of_format(b'@" not"', None)
    (b'', b' not')
    """
    if value is None:
        numbers = _sections(code)
        unread = [each for each in _SECTION.findall(code + b";")[:-1] if each not in numbers]
    else:
        section = _section(code, value)
        unread = [] if _DISPLAYED.search(_QUOTED.sub(b"", section)) else [section]
    return b" ".join(_WORDS.findall(b" ".join(unread)))


def _colour(element: bytes, default: bytes) -> bytes:
    """Return the colour of a font or a fill in six digits; as it is written where that is unknown.

    >>> _colour(b'<color rgb="FFabcdef"/>', b""), _colour(b'<fgColor theme="0"/>', b"")
    (b'ABCDEF', b'FFFFFF')
    """
    ink = _INK.search(element)
    if ink is None:
        return default
    found = _RGB.search(ink[1])
    if found is None:
        return ink[1]
    theme, indexed = _NAMED
    return (found[1] or b"").upper() or theme.get(found[2]) or indexed.get(found[3]) or ink[1]


_RULE_STYLE = re.compile(rb"<cfRule\s[^>]*?\bdxfId=\"(\d+)\"")
_RULES = re.compile(rb"<conditionalFormatting\s[^>]*?\bsqref=\"([^\"]*)")
_RULE_GROUND = re.compile(rb"<bgColor ([^>]*?)\s*/?>")


def styles_of_rules(sheet: bytes, styles: bytes) -> bytes:
    """Return the cells in which a rule displays another format of numbers, struck words, or words
    of the colour of their background, and these.

    >>> styles = b'<dxfs><dxf><numFmt numFmtId="9" formatCode=";;;"/></dxf></dxfs>'
    >>> rule = b'<conditionalFormatting sqref="B2"><cfRule type="cellIs" dxfId="0"/>'
    >>> styles_of_rules(rule, styles)
    b'B2 ;;;'
    """
    if b"dxfId=" not in sheet:
        return b""
    changed: dict[bytes, bytes] = {}
    for number, style in enumerate(styles.partition(b"<dxfs")[2].split(b"<dxf>")[1:]):
        code, ground = _CODE.search(style), _RULE_GROUND.search(style)
        paper = _colour(b"<color %s/>" % ground[1], _WHITE) if ground else _WHITE
        font = style.partition(b"<font>")[2].partition(b"</font>")[0]
        colours = map(colour_of_digits, (_colour(font, _BLACK), paper))
        is_unseen = bool(font) and is_near(*colours)
        marks = (b"struck" * bool(_STRUCK_FONT.search(font)), b"unseen" * is_unseen)
        if found := b" ".join(filter(None, (code[1] if code else b"", *marks))):
            changed[b"%d" % number] = found
    lines = {
        b"%s %s" % (cells[1], changed[id])
        for rules in sheet.split(b"</conditionalFormatting>")
        for cells in _RULES.finditer(rules)
        for id in _RULE_STYLE.findall(rules)
        if id in changed
    }
    return b"\n".join(sorted(lines))


def _of_list(values: Sequence[_T], id: re.Pattern[bytes], style: bytes) -> _T | None:
    """Return the value whose number a style of cells names."""
    found = id.search(style)
    return values[int(found[1])] if found and int(found[1]) < len(values) else None


def _cells_of_styles(sheet: bytes, chosen: Sequence[bool]) -> bytes:
    names = {str(index).encode() for index, is_chosen in enumerate(chosen) if is_chosen}
    return b",".join(name for name, style in _STYLED.findall(sheet) if style in names)


_STRING_OF_RUNS = re.compile(rb"<(?:si|is)>(?=.{0,40}<r[ >]).*?</(?:si|is)>", re.DOTALL)
_RUN = re.compile(rb"<r[ >](?P<style>(?:(?!<r[ >]).)*?)<t\b[^>]*>(?P<text>[^<]*)")
_RUN_MARK = re.compile(rb"<(strike)(?: val=\"(?:1|true)\")?\s*/>|<vertAlign val=\"(su\w+)\"\s*/>")


def marked_strings(strings: bytes) -> bytes:
    """Return the words in cells that are struck out or raised, after what is before them, in any
    order of the strings.
    """
    marked: set[bytes] = set()
    has_marks = b"<strike" in strings or b"<vertAlign" in strings
    for written in _STRING_OF_RUNS.finditer(strings) if has_marks else ():
        before, last = b"", b""
        line: list[bytes] = []
        for run in _RUN.finditer(written[0]):
            text = b"".join(run["text"].split())
            marks = b",".join(b"".join(mark) for mark in _RUN_MARK.findall(run["style"]))
            if marks and text:
                line.append(text if marks == last else b" %s %s %s" % (before, marks, text))
            last = marks if text else last
            before += text
        if line:
            marked.add(b"".join(line))
    return b"\n".join(sorted(marked))


MARKED_WORDS = "struck and raised words"


def unseen_cells(part: bytes, styles: bytes) -> dict[str, bytes]:
    """Return what a sheet, or a list of strings, has besides what its cells display, by kinds."""
    return {
        "values": hidden_values(part, styles),
        "hidden cells": hidden_cells(part),
        "view of cells": view_of_cells(part),
        "cells of rules": rule_cells(part),
        "styles of rules": styles_of_rules(part, styles),
        "struck cells": cells_of_fonts(part, styles, _STRUCK_FONT),
        "white cells": unseen_words(part, styles),
        "cells in fonts of symbols": cells_of_fonts(part, styles, _SYMBOLS),
        "formats of cells": worded_cells(part, styles),
        MARKED_WORDS: marked_strings(part),
    }


# Sheets of OpenDocument: a cell has its value next to the text that it displays.

_ODF_CELL = re.compile(
    rb"<table:table-cell\s(?P<attributes>[^>]*\boffice:(?:(?:date-|time-)?value)=[^>]*[^>/])>"
    rb"(?:<office:annotation\b.*?</office:annotation>)?<text:p\b[^>]*>(?P<text>.*?)</text:p>",
    re.DOTALL,
)
_ODF_VALUE = re.compile(rb"\boffice:(date-|time-|)value=\"([^\"]*)\"")
_ELEMENT, _NO_DIGIT = re.compile(rb"<[^>]*>"), re.compile(rb"[^0-9]+")
_NUMBERS, _SEPARATED = re.compile(rb"\d+"), re.compile(rb"[.,](\d+)[^0-9]*\Z")
_EXPONENT = re.compile(rb"\dE[-+\d]")
_TIME = re.compile(rb"(\d+)(?:[:HM](\d+))?(?:[:M](\d+(?:\.\d+)?))?")


def values_behind_texts(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the values of cells that display less than there is, by their positions.

    >>> cell = b'<table:table-cell office:value="%s"><text:p>1.234,5</text:p></table:table-cell>'
    >>> list(values_behind_texts(cell % b"1234.50")), list(values_behind_texts(cell % b"1234.51"))
    ([], [(0, b'1234.51')])
    """
    for cell in _ODF_CELL.finditer(content) if b"<table:table-cell" in content else ():
        found = _ODF_VALUE.search(cell["attributes"])
        text = _ELEMENT.sub(b"", cell["text"])
        if found and (hidden := _behind(found[1], found[2], text)):
            yield cell.start(), hidden


def _behind(kind: bytes, value: bytes, text: bytes) -> bytes:
    """Return what a text does not display of a value; empty for nothing."""
    has_digits = _NUMBERS.search(text) is not None
    if not has_digits and any(map(str.isdecimal, text.decode("utf-8", "replace"))):
        return b""  # digits of other scripts are not compared
    if kind == b"date-":
        date, _, time = value.partition(b"T")
        year, *_, day = [number.lstrip(b"0") for number in date.rpartition(b"-")[::2]]
        numbers = {number.lstrip(b"0") for number in _NUMBERS.findall(text)}
        if not ({year[:4], year[2:4].lstrip(b"0")} & numbers and day in numbers):
            return value
        is_displayed = b":" in text or not time.strip(b"0:.Z")
        return b"" if is_displayed else time
    if kind == b"time-":
        parts = _TIME.search(value)
        seconds = (parts[3] or b"") if parts else b""
        is_displayed = text.count(b":") > 1 or not seconds.strip(b"0.")
        return b"" if is_displayed else seconds
    number = _number(value)
    if not number:
        return b""
    is_displayed = number > 0 or _NEGATIVE.search(text) is not None
    if is_displayed and _EXPONENT.search(text):
        digits, _, _ = rounded(number).partition(b"e")
        is_displayed = _digits(digits) == _digits(text.partition(b"E")[0])
    elif is_displayed:
        is_displayed = has_digits and rounded(abs(number)) in map(rounded, _displayed_numbers(text))
    return b"" if is_displayed else rounded(number)


def _displayed_numbers(text: bytes) -> Iterator[float]:
    """Yield the numbers that a text may be, whose last separator may be one of decimals or not.

    >>> list(_displayed_numbers(b"1.234,5")), list(_displayed_numbers(b"12%"))
    ([12345.0, 1234.5], [0.12])
    """
    units = 100 if b"%" in text else 1
    yield float(_NO_DIGIT.sub(b"", text)) / units
    if decimals := _SEPARATED.search(text):
        whole = _NO_DIGIT.sub(b"", text[: decimals.start()])
        yield float(b"0%s.%s" % (whole, decimals[1])) / units


def _digits(number: bytes) -> bytes:
    return _NO_DIGIT.sub(b"", number).strip(b"0")


_ODF_TABLE = re.compile(rb"<table:table(?:-(row|column))?(?=[\s>])[^>]*>")
_REPEATED = re.compile(rb"\btable:number-(?:rows|columns)-repeated=\"(\d{1,7})\"")
_STYLE_OF_TABLE = re.compile(rb"\btable:style-name=\"([^\"]*)\"")
_HIDDEN_TABLES = re.compile(
    rb"<style:style\s[^>]*?style:name=\"([^\"]+)\"[^>]*(?<!/)>(?:(?!</?style:style\b).)*?"
    rb"table:display=\"false",
    re.DOTALL,
)


def hidden_cells_of_odf(content: bytes) -> bytes:
    """Return the numbers of hidden tables, rows and columns of OpenDocument.

    >>> hidden_cells_of_odf(
    ...     b'<table:table table:name="S"><table:table-row table:number-rows-repeated="2"/>'
    ...     b'<table:table-row table:visibility="collapse">'
    ... )
    b'1 row 3'
    """
    if b"table:visibility=" not in content and b'table:display="false' not in content:
        return b""
    styles = set(_HIDDEN_TABLES.findall(content))
    hidden: list[bytes] = []
    table = row = column = 0
    for found in _ODF_TABLE.finditer(content):
        kind, element = found[1], found[0]
        if not kind:
            table, row, column = table + 1, 0, 0
            style = _STYLE_OF_TABLE.search(element)
            hidden += [b"table %d" % table] * (style is not None and style[1] in styles)
            continue
        repeated = _REPEATED.search(element)
        count = int(repeated[1]) if repeated else 1
        first = (row if kind == b"row" else column) + 1
        if b'table:visibility="collapse' in element or b'table:visibility="filter' in element:
            last = min(first + count - 1, max(first, LAST_COLUMN))
            hidden += [b"%d %s %d" % (table, kind, number) for number in range(first, last + 1)]
        row, column = (row + count, column) if kind == b"row" else (row, column + count)
    return b",".join(hidden)


# What a reader has of sheets of OpenDocument: cells and rows that are written once and repeated,
# names of sheets, and of headers those that someone wrote.

_MAX_REPEATED = 16 << 20  # bytes of repeated cells and rows that are written out
_REPEATED_CELL = re.compile(
    rb"<(?P<tag>table:(?:covered-)?table-cell)(?=[^<>]*(?<!/)>)(?P<before>\s[^<>]*?)?"
    rb"\stable:number-columns-repeated=\"(?P<count>\d{1,7})\"(?P<after>[^<>]*)>"
    rb"(?P<content>[^<]*(?:<(?!/?table:)[^<]*)*)</(?P=tag)>"
)
_REPEATED_ROW = re.compile(
    rb"<(?P<tag>table:table-row)(?=[^<>]*(?<!/)>)(?P<before>\s[^<>]*?)?"
    rb"\stable:number-rows-repeated=\"(?P<count>\d{1,7})\"(?P<after>[^<>]*)>"
    rb"(?P<content>[^<]*(?:<(?!/?table:table-row\b)[^<]*)*)</(?P=tag)>"
)
_EMPTY_CELL = re.compile(  # that is repeated, or covered by another one
    rb"<table:(?:covered-table-cell|table-cell(?=[^<>]*-columns-repeated))(?:\s[^<>]*)?/>"
    rb"(?=\s*<table:(?:covered-)?table-cell)"
)
_CELL_OF_VALUE = re.compile(  # and of no text
    rb"<table:table-cell(?=\s)(?P<attributes>[^<>]*?)(?:/>|>\s*</table:table-cell>)"
)
_ANY_VALUE = re.compile(rb"\soffice:(?:(?:date|time|boolean|string)-)?value=\"([^\"]+)\"")
_NAMED_SHEET = re.compile(
    rb"<table:table(?=[^<>]*(?<!/)>)\s[^<>]*?"
    rb"table:name=\"(?!(?:'|&apos;)file:|local-table\")([^\"]+)\""
)
_MASTER_PAGE = re.compile(
    rb"<style:master-page(?=[^<>]*(?<!/)>)\s[^<>]*?style:name=\"([^\"]*)\"[^<>]*>"
    rb"[^<]*(?:<(?!/?style:master-page)[^<]*)*</style:master-page>"
)
_PAGE_OF_SHEETS = re.compile(rb"style:master-page-name=\"([^\"]+)")
_SHEET_HEADER = re.compile(
    rb"(<style:(?:header|footer)(?:-left|-first)?(?:\s[^<>]*)?(?<!/)>)"
    rb"([^<]*(?:<(?!/style:(?:header|footer))[^<]*)*)"
)
_HEADER_FIELD = re.compile(rb"<text:(sheet-name|page-number)\b[^<>]*(?:(?<=/)>|>[^<]*)")
DEFAULT_HEADER = re.compile(
    r"&sheet-name|(?:(?:page|seite|p[aá]gina|blad|sid[ae]|strona|sivu|стр\.?|страница) )?"
    r"&page-number",
    re.IGNORECASE,
)


def with_repeated_cells(content: bytes) -> tuple[bytes, bytes]:
    """Return an OpenDocument in which each cell and row with text that is repeated is written as
    often, and those that are left as they are, because they would fill 16 MB; both in order.

    >>> row = b'<table:table-row table:number-rows-repeated="2">%s</table:table-row>'
    >>> cell = b'<table:table-cell table:number-columns-repeated="%d">%s</table:table-cell>'
    >>> written, left = with_repeated_cells(row % (cell % (3, b"<text:p>900</text:p>")))
    >>> written.count(b"<text:p>900"), left
    (6, b'')
    >>> with_repeated_cells(cell % (9_999_999, b"<text:p>900</text:p>"))[1]
    b'9999999 900'
    """
    left: list[bytes] = []
    added = 0

    def written(found: re.Match[bytes]) -> bytes:
        nonlocal added
        if b"<text:p" not in found["content"]:
            return found[0]
        count, attributes = int(found["count"]), (found["before"] or b"") + found["after"]
        element = b"<%s%s>%s</%s>" % (found["tag"], attributes, found["content"], found["tag"])
        if added + count * len(element) > _MAX_REPEATED:
            left.append(b"%d %s" % (count, _ELEMENT.sub(b"", found["content"])))
            return found[0]
        added += count * len(element)
        return element * count

    if b"-repeated=" in content:
        content = _REPEATED_ROW.sub(written, _REPEATED_CELL.sub(written, content))
    return content, b"\n".join(left)


def displayed_sheets(content: bytes) -> bytes:
    """Return the sheets of an OpenDocument with their names before them, as in Excel files, values
    of cells without text as their text, and each empty cell before another one by itself, of which
    Tika would make one column.

    >>> cell = b'<table:table-cell table:number-columns-repeated="2"/>'
    >>> displayed_sheets(cell + b"<table:table-cell>").count(b"<table:table-cell")
    3
    >>> displayed_sheets(b'<table:table-cell office:date-value="2024-01-05"/>')[-48:]
    b'"><text:p>2024-01-05</text:p></table:table-cell>'
    """
    left = _MAX_REPEATED

    def written(found: re.Match[bytes]) -> bytes:
        nonlocal left
        count = int((_REPEATED.search(found[0]) or (b"", b"1"))[1])
        left -= count
        return found[0] if left < 0 else b"<table:table-cell/>" * count

    content = _CELL_OF_VALUE.sub(_with_value, content)
    content = _NAMED_SHEET.sub(rb"<text:p>\1</text:p>\g<0>", content)
    return _EMPTY_CELL.sub(written, content)


def _with_value(cell: re.Match[bytes]) -> bytes:
    value = _ANY_VALUE.search(attributes := cell["attributes"])
    if value is None:
        return cell[0]
    return b"<table:table-cell%s><text:p>%s</text:p></table:table-cell>" % (attributes, value[1])


def displayed_headers(styles: bytes, content: bytes) -> bytes:
    """Return the styles of a spreadsheet without headers and footers of pages that no sheet of
    `content` names, and without default ones: the name of a sheet, or "Page" and its number.

    >>> header = b"<style:header>%s<text:page-number>1</text:page-number></style:header>"
    >>> displayed_headers(header % b"Page " + header % b"Draft ", b"")[:48]
    b'<style:header></style:header><style:header>Draft'
    >>> displayed_headers(b"<style:header>Draft</style:header>", b"")
    b'<style:header>Draft</style:header>'
    """
    names = set(_PAGE_OF_SHEETS.findall(content))

    def of_sheets(page: re.Match[bytes]) -> bytes:
        return page[0] if page[1] in names or not names else b""

    def edited(header: re.Match[bytes]) -> bytes:
        words = _ELEMENT.sub(b" ", _HEADER_FIELD.sub(rb" &\1 ", header[2])).split()
        is_default = DEFAULT_HEADER.fullmatch(b" ".join(words).decode("utf-8", "replace"))
        return header[1] if is_default else header[0]

    return _SHEET_HEADER.sub(edited, _MASTER_PAGE.sub(of_sheets, styles))


# Rows of tables, of which Tika makes a line with a tab before each cell in other formats.

_CELL_OF_ODF = re.compile(
    rb"(<table:table-cell(?:\s[^<>]*)?(?<!/)>)\s*<text:p(?:\s[^<>]*)?(?:/>|(?<!/)>"
    rb"([^<]*(?:<(?!/?(?:text:p|text:h|table:table-cell)[\s>])[^<]*)*)</text:p>)"
    rb"\s*(?=</table:table-cell>)"
)


def rows_of_odf(content: bytes) -> bytes:
    """Return an OpenDocument with cells of one paragraph as text without one, which Tika would end
    by a line feed.

    >>> rows_of_odf(b"<table:table-cell><text:p>900</text:p></table:table-cell>")
    b'<table:table-cell><text:span>900</text:span></table:table-cell>'
    """
    if b"<table:table-cell" not in content:
        return content
    return _CELL_OF_ODF.sub(rb"\1<text:span>\2</text:span>", content)


# Formulas of Word and PowerPoint: of 10² the text is "102".

_FORMULA_PART = re.compile(
    rb"<(?P<tag>m:(?:oMath|sSup|sSub|sSubSup|sPre|f|rad|nary|func|d|limLow|limUpp|bar|acc|num|den"
    rb"|deg|sup|sub|mr)|/m:(?:oMath|num|den|deg|sup|sub|mr))(?=[\s/>])[^<>]*>"
    rb"|<m:t\b[^<>]*>(?P<text>[^<]*)"
)


def written_formulas(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield position and structure of formulas that have more of it than a line of text.

    >>> power = b"<m:oMath><m:sSup><m:e><m:t>10</m:t></m:e><m:sup><m:t>2</m:t></m:sup></m:sSup>"
    >>> list(written_formulas(power + b"</m:oMath>")), list(written_formulas(b"<m:oMath>"))
    ([(0, b'm:sSup 10 m:sup 2 /m:sup')], [])
    """
    parts: list[bytes] = []
    start = 0
    for found in _FORMULA_PART.finditer(content) if b"<m:oMath" in content else ():
        if found["tag"] == b"m:oMath":
            start, parts = found.start(), []
        elif found["tag"] != b"/m:oMath":
            parts.append(found["tag"] or found["text"])
        elif any(part.startswith(b"m:") for part in parts):
            yield start, b" ".join(parts)
