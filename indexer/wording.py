"""Counts, percentages and names in sentences; warnings about texts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from indexer.model import DifferenceKind, Mark, MarkKind, Sameness

END_OF_HEADER = "\f\v"  # in a text, after a line that stands on each page of its file
_LINE_END = re.compile("\r\n|[\r\f\v]")

# Text that is safe to show: control, bidirectional and hidden characters are written out.

_BIDI = {
    0x061C: "ALM", 0x200E: "LRM", 0x200F: "RLM", 0x202A: "LRE", 0x202B: "RLE", 0x202C: "PDF",
    0x202D: "LRO", 0x202E: "RLO", 0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI",
}  # fmt: skip
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)

_SURROGATE = re.compile("[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """Replace each lone surrogate by U+FFFD, so that the text can be written as UTF-8.

    >>> well_formed("a\\ud800b")
    'a\ufffdb'
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


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


def unify_line_ends(text: str) -> str:
    """Return a text in which line ends of any kind are `\\n`.

    >>> unify_line_ends("one\\r\\ntwo\\fthree")
    'one\\ntwo\\nthree'
    """
    return _LINE_END.sub("\n", text)


def visible_lines(text: str) -> str:
    """Apply `visible` line by line.

    Line ends of any kind become `\\n`, tabs a blank, and more than one empty line becomes one.

    >>> visible_lines("one\\r\\n\\r\\n\\r\\n\\ttwo\\x07")
    'one\\n\\n two␇'
    """
    plain = unify_line_ends(text).replace("\t", " ")
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


# Cells of tables that a spreadsheet would run as formulas.

_FORMULA = re.compile("[=+\\-@＝＋－＠\t\r\n']")


def escape_formula(text: str) -> str:
    """Return a text as a table has it.

    >>> texts = ["=1+1", "'=1", "hot", ""]
    >>> [escape_formula(text) for text in texts]
    ["'=1+1", "''=1", 'hot', '']
    >>> [unescape_formula(escape_formula(text)) for text in texts] == texts
    True
    """
    return f"'{text}" if _FORMULA.match(text) else text


def unescape_formula(cell: str) -> str:
    """Return the text of a cell, also of one that was not escaped.

    >>> unescape_formula("'=hot"), unescape_formula("'tis"), unescape_formula("hot")
    ('=hot', "'tis", 'hot')
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell, 1) else cell


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is 1.

    A final y after a consonant becomes ies, a final s ses.

    >>> count_of(1, "family"), count_of(0, "family"), count_of(2_000, "survey"), count_of(1, "word")
    ('1 family', '0 families', '2,000 surveys', '1 word')
    >>> count_of(2, "address")
    '2 addresses'
    """
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{number:,} {noun[:-1]}ies"
    return f"{number:,} {noun}{'es' if noun.endswith('s') else 's'}"


def join_names(names: Iterable[str]) -> str:
    """Join names, made visible, with commas.

    A name that reads like several is in quotes, as in JSON.

    >>> join_names(["a", "b, c", "d"])
    'a, "b, c", d'
    """
    return ", ".join(map(unmistakable, names))


def unmistakable(name: str) -> str:
    """Return one name of a list, made visible.

    It is in quotes, as in JSON, where it holds a separator of names, or begins with a quote.

    >>> print(*map(unmistakable, ["a, b", '"a"', "a,b", "x  # max"]))
    "a, b" "\\"a\\"" a,b "x  # max"
    """
    shown = visible(name)
    plain = ", " not in shown and "  # " not in shown and not shown.startswith('"')
    return shown if plain else json.dumps(shown, ensure_ascii=False)


def percent(fraction: float | None, digits: int = 0) -> str:
    """Return a fraction in [0, 1] in per cent. Only 1 is 100 %: texts that differ are never shown
    as equal.

    A fraction that would round up to 100 % has one decimal place or more, of which it is rounded
    down only if it would be 100 % again. None, a share of nothing, is a dash.

    >>> percent(0.918, 1), percent(0.99999, 1), percent(0.995), percent(1)
    ('91.8%', '99.9%', '99.5%', '100%')
    >>> percent(0.9975), percent(0.9975, 1)
    ('99.8%', '99.8%')
    """
    if fraction is None:
        return "–"
    text = f"{fraction:.{digits}%}"
    if fraction == 1 or not text.startswith("100"):
        return text
    digits = max(1, digits)
    text = f"{fraction:.{digits}%}"
    if not text.startswith("100"):
        return text
    steps = 10 ** (digits + 2)
    return f"{math.floor(fraction * steps) / steps:.{digits}%}"


def percent_below(fraction: float, minimum: float, digits: int = 0) -> str:
    """Return a fraction below a minimum in per cent, with the decimal places that show it is less.

    >>> percent_below(0.8998, 0.9), percent_below(0.8998, 0.9, 1), percent_below(0.89, 0.9)
    ('89.98%', '89.98%', '89%')
    """
    while digits < 9 and f"{fraction:.{digits}%}" == f"{minimum:.{digits}%}":
        digits += 1
    return percent(fraction, digits)


def format_sameness(same: Sameness) -> str:
    """Return a sentence.

    >>> from indexer.model import Sameness
    >>> format_sameness(Sameness("words", ("case", "signs"), as_read=True))
    'the same words, as far as read; ignored: case, signs'
    """
    if same.kind == "bytes":
        return "identical: the same bytes"
    read = ", as far as read" if same.as_read else ""
    read += ", as extracted from files that differ" if same.extracted else ""
    what = f"; ignored: {', '.join(same.ignored)}" if same.ignored else ""
    return f"the same {same.kind}{read}{what}"


def format_words_in_order(common: int, words: tuple[int, int], accents: int = 0) -> str:
    """Return the words that two texts have in order, of the longer one, and both lengths.

    `accents`: further words, which are the same but for their accents.

    >>> format_words_in_order(82, (1_000, 90), 5)
    '82 of 1,000 words, in order, and 5 but for accents; the texts have 1,000 and 90 words'
    """
    longer = count_of(max(words), "word")
    others = f", and {accents:,} but for accents" if accents else ""
    lengths = f"the texts have {words[0]:,} and {words[1]:,} words"
    return f"{common:,} of {longer}, in order{others}; {lengths}"


def format_labels(labels: Iterable[str]) -> str:
    """Join labels with commas; `(none)` for none.

    >>> format_labels(["hot", "key"]), format_labels([])
    ('hot, key', '(none)')
    """
    return ", ".join(labels) or "(none)"


# Warnings by the status of a document: its text is truncated, empty, too short, ...

CUT = "the text is cut: the extractor stopped at a limit or gave up in the middle"
EMPTY = "no text was found; the file may be a scan"
STATUS_WARNINGS = {  # next to a document
    "truncated": CUT,
    "empty": EMPTY,
    "too_short": "the text is too short to be compared by its sketch",
    "numbers_only": "the text is numbers alone: only an equal one is folded with it",
    "unsigned": "a pipeline took the document and could not fingerprint it",
}
STATUS_LIMITS = {  # of a document that is checked
    "truncated": "its text was cut, and what follows was not compared",
    "too_short": "it has fewer than four words, so only exact copies are found",
    "empty": "it has no text, so that only files with the same bytes are found",
    "numbers_only": "it has only numbers, so only exact copies are found",
}
STATUS_MEANINGS = {  # in a report
    "complete": "read whole, and compared",
    "truncated": "cut at a limit; compared by what was read",
    "empty": "no text was found, as in a scan without a text layer; never in a group",
    "too_short": "too few words to compare; never in a group",
    "numbers_only": "numbers alone; in a group with equal ones only",
    "unsigned": "arrived in the cluster and could not be fingerprinted; never in a group",
}


def format_truncated(documents: int) -> str:
    """Return the warning about a group in which so many texts are truncated.

    >>> format_truncated(1)
    'the text of 1 document is cut; similarity is that of what was read'
    """
    return (
        f"the text of {count_of(documents, 'document')} is cut; similarity is that of what was read"
    )


# Marks of pairs.

_MARKS: Mapping[MarkKind, str] = MappingProxyType(
    {
        "form": "another filled-in form",
        "message": "another message",
        "embedded": "attachments differ",
        "accents": "accents differ",
        "obligation": "another obligation",
        "version": "another version",
        "language": "another language",
        "format": "another format of the file",
        "header": "running header",
    }
)
DIFFERENCE_NOUNS: Mapping[DifferenceKind, str] = MappingProxyType(
    {"renamed": "name throughout", "header": "running header"}
)
"""How a kind of difference is counted, where not by its own name."""
_QUOTED: frozenset[MarkKind] = frozenset(
    ("parties_exchanged", "embedded", "version", "accents", "clause_added", "language", "format")
)
MAX_QUOTED = 60  # characters of what a mark quotes


def format_marks(marks: Sequence[Mark]) -> str:
    """Return the names of marks, the most serious first; with a quotation where no fact has one.

    >>> from indexer.model import Mark
    >>> format_marks([Mark("negated", None, "not"), Mark("version", "2.7", "2.8")])
    'negated, another version: 2.7 / 2.8'
    """
    return ", ".join(map(_format_mark, marks))


def mark_name(kind: MarkKind) -> str:
    """Return the name of a kind of marks.

    >>> mark_name("form"), mark_name("clause_added")
    ('another filled-in form', 'clause added')
    """
    return _MARKS.get(kind, kind.replace("_", " "))


def _format_mark(mark: Mark) -> str:
    phrase = mark_name(mark.kind)
    if mark.kind == "parties_exchanged" and any(map(str.isdigit, mark.a or "")):
        phrase = "exchanged"
    if mark.kind == "clause_added" and not mark.b:
        phrase = "clause missing"
    if mark.kind not in _QUOTED:
        return phrase
    more = f" and {mark.count - 1:,} more" if mark.count > 1 else ""
    return f"{phrase}: {' / '.join(map(_quoted, (mark.a, mark.b)))}{more}"


def _quoted(text: str | None) -> str:
    if not text:
        return "–"
    return text if len(text) <= MAX_QUOTED else text[: MAX_QUOTED - 1] + "…"


# Fields of nested records by dotted names, as engines and JSON Lines have them.


def field_of(record: object, name: str) -> Any:
    """Return the value of a field; None where there is none.

    A dotted name that is no field leads into nested records, and into each record of a list.

    >>> field_of({"a": {"b": 1}}, "a.b"), field_of({"a.b": 2}, "a.b"), field_of({"a": 3}, "a.b")
    (1, 2, None)
    >>> field_of({"a": [{"b": 1}, {"b": [2, 3]}, {"c": 4}]}, "a.b")
    [1, 2, 3, None]
    """
    if isinstance(record, list):
        values: list[Any] = []
        for item in record:
            value = field_of(item, name)
            values += value if isinstance(value, list) else [value]
        return values
    if not isinstance(record, Mapping):
        return None
    if name in record:
        return record[name]
    first, dot, rest = name.partition(".")
    return field_of(record.get(first), rest) if dot else None
