"""A comparison as a file: the compare page, a Word document with tracked changes, a PDF.

The page is one HTML file with its style and its scripts in it. The Word document is a minimal
package of Office Open XML (ECMA-376, parts 1 and 2): one part of text, whose changes are `w:ins`,
`w:del`, `w:moveFrom` and `w:moveTo`, one of properties, and the styles and the numbering of the
second document where that is a Word file. Accepting all changes leaves the second
text, rejecting them the first one, but for the spelling and symbols of words that are the same.
"""

from __future__ import annotations

import io
import re
import sys
import unicodedata
import zipfile
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from functools import cache
from html import escape
from itertools import accumulate, count, groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from indexer.comparing.compare import Change, Comparison, Stretch, redline_in_lines
from indexer.comparing.words import normal_words
from indexer.errors import MissingExtra, UsageError
from indexer.model import Passage, Progress, no_progress
from indexer.review.api.responses import measures_of, without_boilerplate
from indexer.review.boilerplate import DiscountedSimilarity
from indexer.review.compared_documents import WORD, FormatFinder, Original, WordFormats
from indexer.review.rendering import render_file
from indexer.review.side_by_side import SideBySide, facts
from indexer.wording import END_OF_HEADER, unify_line_ends, visible, visible_lines

if TYPE_CHECKING:
    from fpdf import FPDF


MAX_BLOCKS = 10_000  # that are shown
_SCRIPTS = ("keyboard.js", "differences.js", "file.js")
AUTHOR = "nearfold"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_CORE, _CORE_TYPE = (
    "docProps/core.xml",
    "application/vnd.openxmlformats-package.core-properties+xml",
)
_DOCUMENT = "word/document.xml"
_RELATIONS = f"""{_XML}<Relationships xmlns="{_PACKAGE}/relationships">\
<Relationship Id="r1" Target="{_DOCUMENT}" Type="{_OFFICE}/officeDocument"/>\
<Relationship Id="r2" Target="{_CORE}" \
Type="{_PACKAGE}/relationships/metadata/core-properties"/></Relationships>"""
_BREAK = re.compile(r"(\n(?:[^\S\n]*\n)*)")
_LINE_END = re.compile(f"(?:{END_OF_HEADER})?(?:\r\n|[\n\r\f\v])")
_TAGS: Mapping[tuple[Change, bool], str] = {
    ("same", False): "",
    ("removed", False): "del",
    ("added", False): "ins",
    ("removed", True): "moveFrom",
    ("added", True): "moveTo",
}  # of a change that is a move or not
_WRAPPED_CHARS = 160  # of a line that was not wrapped
_FULL_LINE = 0.6  # of the longest line: a shorter one was not wrapped
_SENTENCE_ENDS = ".!?:;\u2026\u3002"
_EDGES = ("top", "left", "bottom", "right", "insideH", "insideV")
_LINES = "".join(f'<w:{edge} w:val="single" w:sz="4"/>' for edge in _EDGES)
_BORDERS = f"<w:tblPr><w:tblBorders>{_LINES}</w:tblBorders></w:tblPr>"
_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def compare_page(
    comparison: Comparison,
    originals: tuple[Original, Original] | None = None,
    without: DiscountedSimilarity | None = None,
) -> str:
    """Return the side-by-side view of a comparison as one HTML file.

    Equal comparisons give equal files. `originals` are the documents whose texts were compared:
    with them metadata and extraction warnings are shown. `without` is the similarity without what
    the texts of a store share (`indexer.review.boilerplate.discount`); the page says when it is
    missing. Of texts with more than 10,000 blocks (some 120 words each) the rest is left out, and
    the page says so.

    >>> from indexer.comparing.compare import compare
    >>> page = compare_page(compare("Did you steal the money?", "Did you steal the money? Yes."))
    >>> "Did you steal" in page
    True
    """
    left, right = originals or _without_metadata(comparison)
    view = SideBySide(comparison)
    values = {
        "comparison": comparison,
        "originals": (left, right),
        "measures": measures_of(comparison.measures),
        "discounted": without_boilerplate(without, "no store of other texts was at hand"),
        "differences": view.differences,
        "cells": view.cells(view.blocks[:MAX_BLOCKS]),
        "facts": facts(left.facts, right.facts),
        "warnings": _warnings(left, right, len(view.blocks)),
    }
    return render_file("comparison.html", values, ("compare.css",), _SCRIPTS)


def _without_metadata(comparison: Comparison) -> tuple[Original, Original]:
    left, right = map(Original, comparison.names, comparison.texts)
    return left, right


def _warnings(left: Original, right: Original, blocks: int) -> list[str]:
    sentences = [f"A: {warning}" for warning in left.warnings]
    sentences += [f"B: {warning}" for warning in right.warnings]
    if blocks > MAX_BLOCKS:
        sentences.append(f"only the first {MAX_BLOCKS:,} of {blocks:,} blocks are shown")
    return sentences


def redline_docx(
    comparison: Comparison, formats: tuple[WordFormats | None, WordFormats | None] = (None, None)
) -> bytes:
    """Return the changes from the first text of a comparison to the second as a docx file.

    Line ends part paragraphs; in text that was wrapped blank lines do, and other line ends are
    breaks. Lines with a tab before each cell are rows of tables. A passage that was moved as a
    whole is a move; other text that is elsewhere is deleted and inserted. Characters that XML
    cannot hold become U+FFFD. Equal comparisons give equal files. With the `formats` of Word files
    whose texts were compared, paragraphs have the styles and the automatic numbers of the second.
    """
    before, after = (escape(_clean(name)) for name in comparison.names)
    core = (
        f'{_XML}<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>Changes from {before} to {after}</dc:title><dc:creator>{AUTHOR}</dc:creator>"
        "</cp:coreProperties>"
    )
    ends = 2 if _is_wrapped(comparison.texts) else 1
    finder = FormatFinder(*formats)
    body = "".join(_blocks(comparison, ends, finder))
    document = f'{_XML}<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
    parts = {
        "[Content_Types].xml": _types([_DOCUMENT, *finder.parts]).encode(),
        "_rels/.rels": _RELATIONS.encode(),
        _CORE: core.encode(),
        _DOCUMENT: document.encode(),
        **finder.parts,
    }
    if finder.parts:
        parts["word/_rels/document.xml.rels"] = _relations_of(finder.parts).encode()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            package.writestr(entry, content)
    return file.getvalue()


def _types(parts: Iterable[str]) -> str:
    """Return the types of the parts of a package."""
    kinds = {name: f"{_WORD_TYPE}.{Path(name).stem}+xml" for name in parts}
    kinds[_DOCUMENT] = f"{_WORD_TYPE}.document.main+xml"
    overrides = "".join(
        f'<Override PartName="/{name}" ContentType="{kind}"/>'
        for name, kind in {**kinds, _CORE: _CORE_TYPE}.items()
    )
    return (
        f'{_XML}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f"{overrides}</Types>"
    )


def _relations_of(parts: Iterable[str]) -> str:
    """Return the relations of the text to the parts of its styles and its numbering."""
    relations = "".join(
        f'<Relationship Id="r{number}" Target="{Path(name).name}" '
        f'Type="{_OFFICE}/{Path(name).stem}"/>'
        for number, name in enumerate(parts, 1)
    )
    return f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">{relations}</Relationships>'


def _is_wrapped(texts: Iterable[str]) -> bool:
    """Return whether lines end where a page did: few lines before others end a sentence, or are
    short or very long.

    >>> _is_wrapped(["a line of a text\\nthat was wrapped"]), _is_wrapped(["a paragraph " * 15])
    (True, False)
    >>> _is_wrapped(["A heading\\nThe rent is due each month.\\nThe tenant pays it."])
    False
    """
    lines = [line.rstrip() for text in texts for line in (*text.splitlines(), "")]
    lengths = [len(line) for line in lines]
    if 2 * sum(length for length in lengths if length > _WRAPPED_CHARS) > sum(lengths):
        return False
    inner = [line for line, after in pairwise(lines) if line and after and "\t" not in line]
    full = max(map(len, inner), default=0) * _FULL_LINE
    ends = sum(line[-1] in _SENTENCE_ENDS or len(line) < full for line in inner)
    return bool(inner) and 2 * ends <= len(inner)


class _Line(NamedTuple):
    """A paragraph: its content as XML, the pieces of it with their tags, the tag of its end."""

    content: list[str]
    pieces: list[tuple[str, str]]
    tag: str = ""

    @property
    def text_before(self) -> str:
        """The text that rejecting all changes leaves."""
        return "".join(text for tag, text in self.pieces if tag not in ("ins", "moveTo"))

    @property
    def text_after(self) -> str:
        """The text that accepting all changes leaves."""
        return "".join(text for tag, text in self.pieces if tag not in ("del", "moveFrom"))

    def is_only(self, change: str) -> bool:
        """Return whether the whole content is inserted, or deleted."""
        return {tag for tag, text in self.pieces if text} == {change}


class _LinedText:
    """A text in lines, the line of each word, and the lines that are rows of tables."""

    def __init__(self, text: str) -> None:
        ends = list(_LINE_END.finditer(text))
        self.starts = [0, *(end.end() for end in ends), len(text)]
        self.stops = [*(end.start() for end in ends), len(text)]
        self.lines = [text[slice(*span)] for span in zip(self.starts, self.stops, strict=False)]
        self.text, self.words = text, normal_words(text)
        self.line_of = [bisect_right(self.starts, start) - 1 for start in self.words.starts]
        self.rows = dict.fromkeys(_rows(self.lines))

    def next_rows(self, lines: range) -> range:
        """Return the first rows next to each other among lines; without any, none at their end."""
        first = next((line for line in lines if line in self.rows), lines.stop)
        rest = range(first, lines.stop)
        return range(first, next((line for line in rest if line not in self.rows), lines.stop))

    def words_of(self, lines: range) -> range:
        """Return the positions of the words of lines."""
        return range(*(bisect_left(self.line_of, line) for line in (lines.start, lines.stop)))

    def text_of(self, lines: range) -> str:
        """Return the text of lines with its own line ends."""
        return self.text[self.starts[lines.start] : self.stops[lines.stop - 1]] if lines else ""

    def offsets(self, first: int, last: int, lines: range) -> tuple[int, int]:
        """Return the offsets [start, end) of words in the text of these lines."""
        begin = self.starts[lines.start]
        return int(self.words.starts[first]) - begin, int(self.words.ends[last]) - begin

    def stripped(self, lines: range) -> range:
        """Return lines without the empty ones before and after them."""
        kept = [line for line in lines if self.lines[line].strip()]
        return range(kept[0], kept[-1] + 1) if kept else range(lines.start, lines.start)


def _rows(lines: Sequence[str]) -> Iterator[int]:
    """Yield the numbers of the lines that are rows of tables.

    They have a tab before each cell, and one of those next to each other has two cells with text:
    others are indented.

    >>> list(_rows(["\\tAn indented line", "", "\\tItem\\tPrice", "\\tCrane\\t", "Total"]))
    [2, 3]
    """
    for is_row, group in groupby(enumerate(lines), lambda pair: pair[1].startswith("\t")):
        run = list(group)
        cells = (_cells(line) for _, line in run)
        if is_row and any(len(list(filter(str.strip, row))) > 1 for row in cells):
            yield from (number for number, _ in run)


def _cells(row: str) -> list[str]:
    return row.split("\t")[1:]


_Kept: TypeAlias = Sequence[tuple[int, int, int]]


class _Part(NamedTuple):
    """Lines of both texts that belong together: a row of both or of one, or paragraphs."""

    left: range
    right: range
    is_row: bool


class _Row(NamedTuple):
    """A row of a table: the tag of its change, empty for none, and the changes of each cell."""

    tag: str
    cells: list[Iterable[Stretch]]


class _Parts:
    """Both texts of a comparison in parts, in order: each row of a table, and what is between rows.

    Rows with words in common and as many cells are one part; another row is deleted or inserted as
    a whole, and no paragraphs before and after it are one part.
    """

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self.a, self.b = map(_LinedText, comparison.texts)
        self._starts = [passage.a[0] for passage in comparison.shared]
        self._ends = list(accumulate((passage.a[1] for passage in comparison.shared), max))

    def __iter__(self) -> Iterator[_Part]:
        left, right = range(len(self.a.lines)), range(len(self.b.lines))
        if not self.a.rows and not self.b.rows:
            yield _Part(left, right, False)
            return
        kept = Counter(self._kept())
        lines = [
            (*pair, words)
            for pair, words in sorted(kept.items())
            if pair[0] not in self.a.rows and pair[1] not in self.b.rows
        ]
        common = lines, [(other, line, words) for line, other, words in lines]
        x = y = 0
        for row, other in self._pairs(kept):
            yield from self._between(range(x, row), range(y, other), common)
            yield _Part(range(row, row + 1), range(other, other + 1), True)
            x, y = row + 1, other + 1
        yield from self._between(range(x, left.stop), range(y, right.stop), common)

    def _kept(self) -> Iterator[tuple[int, int]]:
        """Yield the lines that each word of both texts is in."""
        x = y = 0
        for stretch in redline_in_lines(self._comparison):
            end = x + (stretch.words if stretch.change != "added" else 0)
            stop = y + (stretch.words if stretch.change != "removed" else 0)
            if stretch.change == "same":
                yield from zip(self.a.line_of[x:end], self.b.line_of[y:stop], strict=True)
            x, y = end, stop

    def _pairs(self, kept: Mapping[tuple[int, int], int]) -> list[tuple[int, int]]:
        """Return the rows of both texts that belong together, equal ones first, in order."""
        ranked = sorted(kept, key=lambda pair: (not self._are_equal(*pair), -kept[pair], pair))
        pairs: dict[int, int] = {}
        taken: set[int] = set()
        for row, other in ranked:
            is_free = row not in pairs and other not in taken
            if is_free and self._cells_of(row, self.a) == self._cells_of(other, self.b) > 0:
                pairs[row] = other
                taken.add(other)
        for step in (1, -1):
            for row in sorted(pairs, reverse=step < 0):
                other = pairs[row]
                while self._are_equal(row := row + step, other := other + step):
                    if row in pairs or other in taken:
                        break
                    pairs[row] = other
                    taken.add(other)
        return sorted(pairs.items())

    def _cells_of(self, line: int, text: _LinedText) -> int:
        return len(_cells(text.lines[line])) if line in text.rows else 0

    def _are_equal(self, line: int, other: int) -> bool:
        """Return whether two lines are the same row."""
        is_row = line in self.a.rows and other in self.b.rows
        return is_row and self.a.lines[line] == self.b.lines[other]

    def _between(self, left: range, right: range, common: tuple[_Kept, _Kept]) -> Iterator[_Part]:
        """Yield the parts of lines whose rows are deleted or inserted.

        `common` are the lines of paragraphs with words in common and the number of these words, by
        the lines of each text.
        """
        while True:
            removed, added = self.a.next_rows(left), self.b.next_rows(right)
            stop = min(max(_cut(common[0], removed.stop), right.start), right.stop)
            end = min(max(_cut(common[1], added.stop), left.start), left.stop)
            if removed and (stop <= added.start or end > removed.start):
                end, stop = removed.start, min(stop, added.start)
                rows = [_Part(range(row, row + 1), range(0), True) for row in removed]
            elif added:
                end, stop = min(end, removed.start), added.start
                rows = [_Part(range(0), range(row, row + 1), True) for row in added]
            else:
                end, stop, rows = left.stop, right.stop, []
            yield from self._paragraphs(range(left.start, end), range(right.start, stop))
            yield from rows
            if not rows:
                return
            left = range(removed.stop if rows[0].left else end, left.stop)
            right = range(added.stop if rows[0].right else stop, right.stop)

    def _paragraphs(self, left: range, right: range) -> Iterator[_Part]:
        left, right = self.a.stripped(left), self.b.stripped(right)
        if left or right:
            yield _Part(left, right, False)

    def comparison_of(self, part: _Part) -> Comparison:
        """Return the comparison of the paragraphs of a part."""
        texts = self.a.text_of(part.left), self.b.text_of(part.right)
        if texts == self._comparison.texts:
            return self._comparison
        start = self.a.starts[part.left.start]
        first = bisect_right(self._ends, start)
        last = bisect_left(self._starts, start + len(texts[0]))
        own = (self._within(passage, part) for passage in self._comparison.shared[first:last])
        return replace(self._comparison, texts=texts, shared=tuple(filter(None, own)))

    def row(self, part: _Part) -> _Row:
        """Return the changes of a row of both texts, or of one."""
        whole = self._comparison
        before = [_cells(self.a.lines[line]) for line in part.left]
        after = [_cells(self.b.lines[line]) for line in part.right]
        if not before or not after:
            change: Change = "removed" if before else "added"
            [cells] = before or after
            return _Row(_TAGS[change, False], [[Stretch(change, cell, 0)] for cell in cells])
        pairs = zip(*before, *after, strict=True)
        return _Row("", [_changes(replace(whole, texts=pair, shared=())) for pair in pairs])

    def _within(self, passage: Passage, part: _Part) -> Passage | None:
        """Return the words of a passage in a part, with offsets in its texts; None without any."""
        a, b = self.a, self.b
        own, other = a.words_of(part.left), b.words_of(part.right)
        x = int(a.words.starts.searchsorted(passage.a[0]))
        y = int(b.words.starts.searchsorted(passage.b[0]))
        first = max(0, own.start - x, other.start - y)
        last = min(passage.words, own.stop - x, other.stop - y) - 1
        if last < first:
            return None
        left = a.offsets(x + first, x + last, part.left)
        right = b.offsets(y + first, y + last, part.right)
        return Passage(left, right, last - first + 1)


def _cut(kept: _Kept, line: int) -> int:
    """Return the line before which another text is cut where the lines before `line` end: the first
    with words of later lines, the next one if it has more words of earlier ones.
    """
    position = bisect_left(kept, (line,))
    if position == len(kept):
        return sys.maxsize
    other = kept[position][1]
    later = sum(words for _, own, words in kept[position : position + 9] if own == other)
    earlier = sum(words for _, own, words in kept[max(0, position - 9) : position] if own == other)
    return other + (earlier > later)


def _changes(comparison: Comparison, line_ends: int = 1) -> Iterable[Stretch]:
    """Return the changes of two texts, of which one without words is replaced as a whole."""
    before, after = comparison.texts
    if before == after:
        return [Stretch("same", after, 0)]
    if all(len(normal_words(text)) for text in comparison.texts):
        return redline_in_lines(comparison, line_ends)
    changes = Stretch("removed", before, 0), Stretch("added", after, 0)
    return [change for change in changes if change.text]


def _blocks(comparison: Comparison, line_ends: int, formats: FormatFinder) -> Iterator[str]:
    """Yield the paragraphs and tables of a document, which ends with a paragraph."""
    ids = count(1)
    parts = _Parts(comparison)
    is_table = False
    for is_table, group in groupby(parts, lambda part: part.is_row):
        if is_table:
            yield _table([parts.row(part) for part in group], ids)
            continue
        for part in group:
            own = parts.comparison_of(part)
            tag = "" if all(own.texts) else "del" if own.texts[0] else "ins"
            lines = _with_own_ends(_lines(_changes(own, line_ends), line_ends, ids, tag))
            yield from _paragraphs(lines, ids, formats)
    if is_table:
        yield "<w:p/>"


def _paragraphs(lines: Iterable[_Line], ids: Iterator[int], formats: FormatFinder) -> Iterator[str]:
    """Yield paragraphs: each has the format of the one that it ends in the text that has its end,
    which begins in the lines before it whose ends that text lacks.
    """
    before = after = ""
    for line in lines:
        before += line.text_before
        after += line.text_after
        is_new, is_old = line.tag in ("ins", "moveTo"), line.tag in ("del", "moveFrom")
        mark = f"<w:rPr><w:{line.tag} {_by(ids)}/></w:rPr>" if line.tag else ""
        properties = formats.of("" if is_new else before, "" if is_old else after) + mark
        yield f"<w:p>{properties and f'<w:pPr>{properties}</w:pPr>'}{''.join(line.content)}</w:p>"
        before = before if is_new else ""
        after = after if is_old else ""


def _table(rows: Sequence[_Row], ids: Iterator[int]) -> str:
    """Return consecutive rows as a table."""
    made = []
    for tag, cells in rows:
        mark = f"<w:trPr><w:{tag} {_by(ids)}/></w:trPr>" if tag else ""
        made.append(f"<w:tr>{mark}{''.join(_cell(cell, ids) for cell in cells)}</w:tr>")
    grid = f"<w:tblGrid>{'<w:gridCol/>' * max(len(cells) for _, cells in rows)}</w:tblGrid>"
    return f"<w:tbl>{_BORDERS}{grid}{''.join(made)}</w:tbl>"


def _cell(stretches: Iterable[Stretch], ids: Iterator[int]) -> str:
    runs = "".join(
        _run(_TAGS[stretch.change, False], _clean(stretch.text), ids)
        for stretch in stretches
        if stretch.text
    )
    return f"<w:tc><w:p>{runs}</w:p></w:tc>"


def _lines(
    stretches: Iterable[Stretch], line_ends: int, ids: Iterator[int], last: str
) -> Iterator[_Line]:
    """Yield the paragraphs, which so many line ends part.

    The mark that ends one is changed as the line ends are; `last` is the tag of the last mark.
    """
    names: dict[int, int] = {}
    line = _Line([], [])
    for stretch in stretches:
        text = _clean(unify_line_ends(stretch.text.replace(END_OF_HEADER, "")))
        tag = _TAGS[stretch.change, bool(stretch.moved)]
        own = next(ids)
        if stretch.moved:
            name = f'w:name="move{names.setdefault(stretch.moved, own)}"'
            line.content.append(f'<w:{tag}RangeStart w:id="{own}" w:author="{AUTHOR}" {name}/>')
        for piece in _BREAK.split(text):
            if piece.count("\n") >= line_ends:
                yield line._replace(tag=tag)
                line = _Line([], [])
            elif piece:
                line.content.append(_run(tag, piece, ids))
                line.pieces.append((tag, piece))
        if stretch.moved:
            line.content.append(f'<w:{tag}RangeEnd w:id="{own}"/>')
    yield line._replace(tag=last)


def _with_own_ends(lines: Iterable[_Line]) -> Iterator[_Line]:
    """Yield lines of which an inserted or deleted one has its own end as well, not the one before
    it: both are the same in the text.
    """
    held: list[_Line] = []  # a line that is kept, whose end is not; lines that are changed as it is
    for line in lines:
        if held and line.is_only(held[0].tag):
            held.append(line)
            if line.tag == held[0].tag:
                continue
            if not line.tag:
                change = held[0].tag
                held = [held[0]._replace(tag=""), *(one._replace(tag=change) for one in held[1:])]
            yield from held
            held = []
            continue
        yield from held
        is_first = line.tag in ("ins", "del") and not line.is_only(line.tag)
        held = [line] if is_first else []
        if not is_first:
            yield line
    yield from held


def _run(tag: str, text: str, ids: Iterator[int]) -> str:
    """Return a run of text, or a line break; `tag` is that of its change, empty for none."""
    name = "delText" if tag == "del" else "t"
    content = f'<w:{name} xml:space="preserve">{escape(text)}</w:{name}>'
    run = f"<w:r>{'<w:br/>' if text == chr(10) else content}</w:r>"
    if not tag:
        return run
    return f"<w:{tag} {_by(ids)}>{run}</w:{tag}>"


def _by(ids: Iterator[int]) -> str:
    return f'w:id="{next(ids)}" w:author="{AUTHOR}"'


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


# The changes from one text to another as a PDF: deletions struck through, insertions underlined,
# moves numbered and in a colour of their own.

MAX_CHARS = 1_000_000  # of both texts
MAX_SHAPED = 100_000  # of both texts in scripts whose letters change their shapes or direction
_SHAPED = re.compile("[\u0590-\u109f\u1780-\u18af\u1a20-\u1aaf\ufb1d-\ufdff\ufe70-\ufefc]")
_STYLES = {
    ("same", False): ("", (28, 33, 38)),
    ("removed", False): ("S", (154, 52, 18)),
    ("added", False): ("U", (11, 93, 104)),
    ("removed", True): ("S", (60, 110, 30)),
    ("added", True): ("U", (60, 110, 30)),
}  # of a change that is a move or not
_MARKS = {
    ("removed", False): "deleted",
    ("added", False): "inserted",
    ("removed", True): "[1] moved away",
    ("added", True): "[1] moved here",
}
_BRACKETS = str.maketrans("\u27e8\u27e9", "<>")  # of characters that are written out
_MISSING = "\N{REPLACEMENT CHARACTER}"
_MAX_LISTED = 12
_FONT = "text"
_SIZE, _SMALL = 10.5, 8.5
_LINE = 5.2  # millimetres


def redline_pdf(
    comparison: Comparison, progress: Progress = no_progress, fonts: Sequence[Path] = ()
) -> bytes:
    """Return the changes from the first text of a comparison to the second as a PDF.

    A passage that was moved as a whole has its number where it was and where it is.

    `fonts` are files in TrueType or OpenType for scripts that Noto Sans lacks; the first that has a
    character gives it. Equal comparisons give equal files. Raises `MissingExtra` without fpdf2,
    `UsageError` for a font that cannot be read, and for texts of more than a million characters,
    of 100,000 where letters change their shapes or direction, as in Hindi, Arabic and Hebrew.
    """
    is_shaped = any(_SHAPED.search(text) for text in comparison.texts)
    limit = MAX_SHAPED if is_shaped else MAX_CHARS
    if sum(map(len, comparison.texts)) > limit:
        raise UsageError(f"a PDF holds texts of {limit:,} characters at most here; write a docx")
    files = [_default_font(), *fonts]
    known = _known(files)
    stretches = [
        (stretch, visible_lines(stretch.text).translate(_BRACKETS))
        for stretch in redline_in_lines(comparison, 2 if _is_wrapped(comparison.texts) else 1)
    ]
    missing = _missing((text for _, text in stretches), known)
    pdf = _document(files, is_shaped)
    _write_heading(pdf, comparison.names, known, missing)
    total = sum(len(text) for _, text in stretches)
    done = 0
    for stretch, text in stretches:
        progress("writing", done, total)
        done += len(text)
        style, colour = _STYLES[stretch.change, bool(stretch.moved)]
        pdf.set_text_color(*colour)
        if stretch.moved:
            pdf.set_font(_FONT, "", _SMALL)
            pdf.write(_LINE, f"[{stretch.moved}] ")
        pdf.set_font(_FONT, style, _SIZE)
        pdf.write(_LINE, _formatted(text, known))
    return bytes(pdf.output())


def _document(files: Sequence[Path], is_shaped: bool) -> FPDF:
    from fpdf import FPDF

    pdf = FPDF(format="A4")
    pdf.set_creation_date(datetime(1970, 1, 1, tzinfo=timezone.utc))
    pdf.set_auto_page_break(True, margin=18)
    pdf.set_margins(20, 18)
    names = []
    for number, file in enumerate(files):
        names.append(_FONT if not number else f"{_FONT}{number}")
        try:
            pdf.add_font(names[-1], fname=file)
        except (OSError, ValueError, RuntimeError) as error:
            raise UsageError(f"{file} cannot be used as a font: {error}") from error
    pdf.set_fallback_fonts(names[1:], exact_match=False)
    pdf.set_text_shaping(is_shaped)
    pdf.add_page()
    return pdf


def _write_heading(
    pdf: FPDF, names: tuple[str, str], known: frozenset[int], missing: Sequence[str]
) -> None:
    """Write what is compared, what the marks mean, and which characters are missing."""
    displayed = (visible(name).translate(_BRACKETS) for name in names)
    before, after = (_formatted(name, known) for name in displayed)
    pdf.set_title(f"Changes from {before} to {after}")
    pdf.set_creator("nearfold")
    lines = [f"Changes from {before} to {after}"]
    if missing:
        some = ", ".join(f"U+{ord(char):04X}" for char in missing[:_MAX_LISTED])
        more = f" and {len(missing) - _MAX_LISTED} more" if len(missing) > _MAX_LISTED else ""
        lines.append(
            f"Shown as {_MISSING}, because no font here has them: {some}{more}. "
            "nearfold compare --pdf FILE --font FONT takes another font."
        )
    pdf.set_font(_FONT, "", _SMALL)
    for line in lines:
        pdf.set_text_color(28, 33, 38)
        pdf.multi_cell(0, 4.4, line, align="L", new_x="LMARGIN", new_y="NEXT")
    for change, words in _MARKS.items():
        style, colour = _STYLES[change]
        pdf.set_font(_FONT, style, _SMALL)
        pdf.set_text_color(*colour)
        pdf.write(4.4, words)
        pdf.set_font(_FONT, "", _SMALL)
        pdf.write(4.4, "   ")
    pdf.ln(9)


def _missing(texts: Iterable[str], known: frozenset[int]) -> list[str]:
    """Return the characters that no font has, in order of code points."""
    chars = set().union(*texts) if texts else set()
    return sorted(char for char in chars if ord(char) not in known and not char.isspace())


def _formatted(text: str, known: frozenset[int]) -> str:
    """Return a text with a mark instead of each character that no font has.

    Zero-width joiners and non-joiners are kept.
    """
    return "".join(
        char
        if char.isspace() or ord(char) in known or unicodedata.category(char) == "Cf"
        else _MISSING
        for char in text
    )


def _known(files: Sequence[Path]) -> frozenset[int]:
    """Return the code points that the fonts have."""
    return frozenset().union(*map(_code_points, files))


@cache
def _code_points(file: Path) -> frozenset[int]:
    from fontTools.ttLib import TTFont, TTLibError  # type: ignore[import-untyped]

    try:
        with file.open("rb") as stream:
            return frozenset(TTFont(stream, lazy=True).getBestCmap() or ())
    except (OSError, TTLibError) as error:
        raise UsageError(f"{file} cannot be used as a font: {error}") from error


def _default_font() -> Path:
    """Return the file of Noto Sans, which the extra `pdf` installs."""
    try:
        import fontpkg_noto_sans  # type: ignore[import-untyped]
        import fpdf  # noqa: F401 (named in the error)
    except ModuleNotFoundError as error:
        raise MissingExtra(package="fpdf2", extra="pdf") from error
    [file] = Path(fontpkg_noto_sans.__file__ or "").parent.glob("files/NotoSans[[]*.ttf")
    return file
