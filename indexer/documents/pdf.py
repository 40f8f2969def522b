"""Pages of PDF files: their text as Tika reads it, repaired (text that was drawn twice, rotated
text, lines of Arabic and Hebrew); and what is drawn over it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, compress, groupby, pairwise
from typing import NamedTuple, TypeAlias

_PAGE_END = re.compile(r"\n{4,}")
_MAX_LISTED = 5  # numbers of pages in a warning
_MAX_JUNK = 0.2  # of the characters of a page
_MAX_UNMAPPED = 0.5
_MIN_DOUBLED = 3  # pages that all have their text twice, where it is drawn twice
_MIN_LINES, _MIN_PAGE = 3, 120  # lines and characters of a page that is looked at


def pdf_text(
    text: str, metadata: Mapping[str, Sequence[str]]
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the repaired text of a PDF, warnings about text that could not be read, and others.

    Pages end in a form feed; the text does not become longer.
    """
    if any(value.startswith("LibreOffice") for value in metadata.get("pdf:producer", ())):
        text = reorder_lines(text)
    text = join_rotated(draw_once(text))
    pages = _PAGE_END.split(text)
    unread, notes = _unread_pages(pages, metadata)
    halves = [_half_page(page) for page in pages]
    is_twice = len(pages) >= _MIN_DOUBLED and all(halves)
    if is_twice:
        ends = _PAGE_END.findall(text)
        text = "".join(chain(*zip(halves, [*ends, ""], strict=True)))
    if any(halves):
        how = "read once" if is_twice else "drawn twice, or two copies on the page"
        notes += (f"the whole text twice on {_doubled(halves, metadata)}: {how}",)
    return _PAGE_END.sub(_page_end, text), unread, notes


def _half_page(page: str) -> str:
    """Return the first half of a page whose lines all stand a second time, in the same order, after
    the last of them; empty for other pages.
    """
    lines = page.split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip()]
    words = [lines[number].strip() for number in filled]
    middle, odd = divmod(len(filled), 2)
    if odd or middle < _MIN_LINES or len(page) < _MIN_PAGE:
        return ""
    if words[:middle] != words[middle:]:
        return ""
    return "\n".join(lines[: filled[middle - 1] + 1] + lines[filled[-1] + 1 :])


def _doubled(halves: Sequence[str], metadata: Mapping[str, Sequence[str]]) -> str:
    """Return the pages with a half, by their numbers in the file where these are known."""
    counts: Sequence[str] = metadata.get("pdf:charsPerPage", ())
    numbers = [number for number, count in enumerate(counts, 1) if int(count)]
    if len(numbers) != len(halves):
        counts, numbers = halves, list(range(1, len(halves) + 1))
    return _listed(list(compress(numbers, halves)), counts)


def _page_end(found: re.Match[str]) -> str:
    """Return a form feed for each page that ends there, of which one without text has two more line
    feeds.
    """
    pages, rest = divmod(len(found[0]) - 2, 2)
    return "\n\n" + "\f\n" * pages + "\n" * rest


def _unread_pages(
    pages: Sequence[str], metadata: Mapping[str, Sequence[str]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return warnings about pages whose text layer is junk, and about pages without one among
    others that have one, and of characters without a meaning.
    """
    counts = [int(value) for value in metadata.get("pdf:charsPerPage", ())]
    unmapped = [int(value) for value in metadata.get("pdf:unmappedUnicodeCharsPerPage", ())]
    numbers = [number for number, count in enumerate(counts, 1) if count]
    junk: list[int] = []
    if len(numbers) == len(pages):
        junk = [number for number, page in zip(numbers, pages, strict=True) if _is_junk(page)]
    unread = (f"junk instead of text on {_listed(junk, counts)}",) if junk else ()
    notes = []
    missing = [number for number, count in enumerate(counts, 1) if not count]
    if missing and numbers:
        notes.append(f"no text on {_listed(missing, counts)}: blank, a picture or a drawing")
    doubtful = [
        number
        for number, (count, without) in enumerate(zip(counts, unmapped, strict=False), 1)
        if without > count * _MAX_UNMAPPED and number not in junk
    ]
    if doubtful:
        notes.append(
            f"perhaps wrong text on {_listed(doubtful, counts)}: a font does not name characters"
        )
    return unread, tuple(notes)


def pages_read(metadata: Mapping[str, Sequence[str]]) -> int | None:
    """Return how many pages have text whose characters a font names; None where that is unknown."""
    counts: Sequence[str] = metadata.get("pdf:charsPerPage", ())
    if not counts:
        return None
    unmapped = metadata.get("pdf:unmappedUnicodeCharsPerPage", ["0"] * len(counts))
    pairs = zip(map(int, counts), map(int, unmapped), strict=False)
    return sum(count > 0 and without <= count * _MAX_UNMAPPED for count, without in pairs)


def _is_junk(page: str) -> bool:
    """Return whether many characters of a page have no meaning."""
    kinds = Counter(map(unicodedata.category, page.translate(_NO_BLANKS)))
    junk = page.count("\ufffd") + kinds["Co"] + kinds["Cc"] + kinds["Cn"]
    return junk > kinds.total() * _MAX_JUNK


_NO_BLANKS = dict.fromkeys(map(ord, " \t\n\r\f"))


def _listed(numbers: Sequence[int], counts: Sequence[object]) -> str:
    """Return pages by number, such as `page 2 of 9` or `pages 1, 2 of 9`."""
    listed = ", ".join(map(str, numbers[:_MAX_LISTED]))
    more = f" and {len(numbers) - _MAX_LISTED} more" if len(numbers) > _MAX_LISTED else ""
    return f"page{'s' if len(numbers) > 1 else ''} {listed}{more} of {len(counts)}"


# Text drawn twice or more often, for bold type or shadows: PDFBox reads it as often. Where the
# pieces that are repeated are lines, phrases or characters, a text hardly has such by itself; where
# they are single words (`couscous`), other lines of the file must show that it draws twice.

_MIN_LINE, _MIN_LETTERS, _MIN_WORDS = 8, 4, 3
_TIMES = (4, 3, 2)
_BLANKS = re.compile(r"(\s+)")
_SEAM = re.compile(r"[a-z0-9.,;:!?)][A-Z]")  # of two words without a blank
_PHRASE = re.compile(r"(?<!\S)(\S{1,40}(?: \S{1,40}){1,7})\1(?![^\s.,;:)])")
_WORD = re.compile(r"(?<!\S)(\S{3,40})\1(?![^\s.,;:)])")


def draw_once(text: str) -> str:
    """Return the text of a PDF with what was drawn several times at one position once.

    >>> draw_once("TThhee  bbaalllloooonn\\nNet priceNet price, a couscous")
    'The balloon\\nNet price, a couscous'
    """
    lines = text.split("\n")
    once = _spaced_once([_line_once(line) for line in lines], lines)
    if once == lines and not _SEAM.search(text):
        return "\n".join(_without_pairs(lines))
    phrases = [_PHRASE.sub(r"\1", line) if _SEAM.search(line) else line for line in once]
    if phrases == lines:
        return "\n".join(_without_pairs(lines))
    words = Counter(word.rstrip(".,;:") for line in phrases for word in line.split())
    return "\n".join(_words_once(line, words) for line in phrases)


def _line_once(line: str) -> str:
    """Return a line without what is repeated: all of it, each word, or each character."""
    stripped = line.strip()
    size = len(stripped)
    if size < _MIN_LINE:
        return line
    for times in _TIMES:
        piece = stripped[: size // times]
        if size % times == 0 and " " in piece and stripped == piece * times:
            return line.replace(stripped, piece) if _is_prose(piece) else line
    words = stripped.split()
    if len(words) < 2 or len(words[0]) % 2:
        return line
    if len(words) >= _MIN_WORDS and all(word == word[: len(word) // 2] * 2 for word in words):
        return " ".join(word[: len(word) // 2] for word in words)
    if all(word[::2] == word[1::2] for word in words) and _is_prose(stripped):
        return "".join(map(_half, _BLANKS.split(stripped)))
    return line


_SPACED = re.compile(r"\s*(\S.{6,}\S)\s{1,2}\1\s*")  # drawn twice with a blank at an end
_MIN_SPACED = 20


def _spaced_once(once: list[str], lines: Sequence[str]) -> list[str]:
    """Return lines without what is repeated after a blank, if other lines of the file are drawn
    twice, or all of them so: two columns may have equal lines by themselves.
    """
    spaced = {
        index: found[1]
        for index, line in enumerate(once)
        if (found := _SPACED.fullmatch(line)) and " " in found[1] and _is_prose(found[1])
    }
    filled = sum(len(line.strip()) >= _MIN_LINE for line in lines)
    is_every = len(spaced) == filled and len(set(spaced.values())) >= _MIN_WORDS
    if once == lines and not is_every:
        return once
    min_size = _MIN_LINE if is_every else _MIN_SPACED
    return [
        spaced[index] if len(spaced.get(index, "")) >= min_size else line
        for index, line in enumerate(once)
    ]


def _is_prose(text: str) -> bool:
    return len(set(filter(str.isalpha, text))) >= _MIN_LETTERS


def _half(piece: str) -> str:
    """Return half of the characters of a word, and of blanks that are drawn twice, too."""
    return piece[::2] if len(piece) % 2 == 0 else piece


def _words_once(line: str, words: Mapping[str, int]) -> str:
    """Return a line of a file that draws twice, with each phrase once, and each word that stands
    elsewhere in it alone.
    """

    def once(found: re.Match[str]) -> str:
        is_heading = found[0] == line.strip()
        is_known = words[found[1].rstrip(".,;:")] > 0 and _has_word(found[1])
        return found[1] if is_known or (is_heading and len(found[1]) >= _MIN_LINE) else found[0]

    stripped = line.strip()
    is_doubled = len(stripped) >= _MIN_LINE and stripped[::2] == stripped[1::2]
    if is_doubled and _is_prose(stripped):
        return line.replace(stripped, stripped[::2])
    return _WORD.sub(once, _PHRASE.sub(r"\1", line))


def _has_word(text: str) -> bool:
    return sum(map(str.isalpha, text)) >= len(text) / 2


def _without_pairs(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines, each once where a shadow is so far away that each stands twice."""
    filled = [index for index, line in enumerate(lines) if line.strip()]
    seconds = filled[1::2]
    is_paired = len(filled) % 2 == 0 and all(
        lines[first] == lines[second] for first, second in zip(filled[::2], seconds, strict=False)
    )
    if not is_paired or len({lines[index] for index in seconds}) < _MIN_WORDS:
        return lines
    if not all(_is_prose(lines[index]) for index in seconds):
        return lines
    repeated = frozenset(seconds)
    return [line for index, line in enumerate(lines) if index not in repeated]


# Rotated text: PDFBox reads it in pieces of a few characters, a line each, with the blanks that
# were drawn at their ends.

_MIN_PIECES, _MAX_PIECE = 8, 6
_ENDS = re.compile(r"(?<=[.;:!?])\0(?=[A-Z])|(?<=[a-z])\0(?=[A-Z]{2})")  # of lines


def join_rotated(text: str) -> str:
    """Return the text of a PDF with the pieces of rotated text as lines of their own.

    >>> join_rotated("The fare.\\nR\\not\\n\\nat\\ned\\n s\\nta\\nm\\np \\nD\\nR\\nAFT\\nThe end.")
    'The fare.\\nRotated stamp DRAFT\\nThe end.'
    """
    lines = text.split("\n")
    joined: list[str] = []
    start = 0
    while start < len(lines):
        stop = start
        while stop < len(lines) and len(lines[stop]) <= _MAX_PIECE:
            stop += 1
        if stop - start >= _MIN_PIECES:
            joined += _joined(lines[start:stop])
        else:
            joined += lines[start:stop]
        joined += lines[stop : stop + 1]
        start = stop + 1
    return "\n".join(joined)


def _joined(lines: Sequence[str]) -> Sequence[str]:
    """Return lines of a few characters as one where they are pieces of words."""
    pieces = [line for line in lines if line.strip()]
    starts = sum(piece[0].islower() for piece in pieces)
    begun = sum(piece[0] == " " for piece in pieces)
    ended = sum(piece[-1] == " " for piece in pieces)
    is_rotated = (
        len(pieces) >= _MIN_PIECES
        and sum(map(len, pieces)) <= 3 * len(pieces)
        and begun > 0
        and ended <= len(pieces) / 2
        and starts + begun >= len(pieces) / 4
    )
    if not is_rotated:
        return lines
    before = len(lines) - len("\n".join(lines).lstrip("\n").split("\n"))
    after = len(lines) - len("\n".join(lines).rstrip("\n").split("\n"))
    text = _ENDS.sub("\n", "\0".join(pieces)).replace("\0", "")
    return [*[""] * before, *text.strip().split("\n"), *[""] * after]


# Lines of Arabic and Hebrew.
#
# In a PDF, LibreOffice draws the words of each script, and numbers, in pieces of their own. PDFBox,
# which reads PDF for Tika, puts each piece in the order of reading, but leaves the pieces of a line
# in the order in which they stand on the page, from left to right, and a blank between two pieces
# stays at the far end of one of them: `קובץ PDF חדש` becomes ` חדשPDFקובץ `. So a letter of a
# script written from right to left stands directly behind a Latin letter or digit, which other
# texts hardly have.
#
# The strokes that fill justified Arabic lines (kashida) are read as a Latin letter or as U+FFFD,
# which depends on the font.

_LEFT, _RIGHT, _NEUTRAL = "L", "R", ""
_STRONG = {"L": _LEFT, "EN": _LEFT, "R": _RIGHT, "AL": _RIGHT, "AN": _RIGHT}
_MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")

_STROKES = re.compile(r"(?<=[\u0620-\u064a])([A-Za-z\ufffd])\1*(?=[\u0620-\u064a])")
_MIN_STROKES = 5

Runs = Sequence[tuple[str, str]]


def reorder_lines(text: str) -> str:
    """Return the text of a PDF of LibreOffice with the pieces of its lines in the order of reading,
    and without the strokes that fill lines.

    Lines are unchanged unless the majority of characters is of scripts written from right to left,
    and a quarter of the runs of such characters that follow Latin ones or digits do so without
    anything between them. Linear in time.

    >>> reorder_lines(" חדשPDFקובץ ")
    'קובץ PDF חדש'
    >>> reorder_lines("קובץ PDF חדש")
    'קובץ PDF חדש'
    """
    if text.isascii():
        return text
    text = _without_strokes(text)
    kinds = [unicodedata.bidirectional(char) for char in text]
    if kinds.count("R") + kinds.count("AL") <= kinds.count("L"):
        return text
    lines = [list(_runs(line)) for line in text.split("\n")]
    joined = sum(_joins(runs) for runs in lines)
    if joined <= sum(_follows(runs) for runs in lines) / 4:
        return text
    return "\n".join(map(_in_reading_order, lines))


def _without_strokes(text: str) -> str:
    """Return the text without the one character that is most frequent inside Arabic words, if it
    does so five times and as often as all others.
    """
    counts = Counter(match[1] for match in _STROKES.finditer(text))
    (stroke, count), *_ = [*counts.most_common(1), ("", 0)]
    if count < max(_MIN_STROKES, counts.total() / 2):
        return text
    return _STROKES.sub(lambda match: "" if match[1] == stroke else match[0], text)


def _joins(runs: Runs) -> int:
    """Return how often characters from right to left stand directly behind Latin ones or digits."""
    return sum(a[0] == _LEFT and b[0] == _RIGHT for a, b in pairwise(runs))


def _follows(runs: Runs) -> int:
    """Return how often they follow those, whatever neutral characters are between."""
    return _joins([run for run in runs if run[0] != _NEUTRAL])


def _in_reading_order(runs: Runs) -> str:
    """Return the pieces of a line from the last to the first, if it has both kinds."""
    if len({direction for direction, _ in runs} - {_NEUTRAL}) < 2:
        return "".join(run for _, run in runs)
    pieces = [
        run[::-1].translate(_MIRRORED) if direction == _NEUTRAL else run
        for direction, run in reversed(runs)
    ]
    return "".join(pieces).strip(" ")


def _runs(line: str) -> Iterator[tuple[str, str]]:
    """Yield direction and characters of each run; neutral characters inside a run belong to it, and
    blanks at either end of the line to the neighbouring run.
    """
    position = 0
    for direction, group in groupby(_directions(line)):
        end = position + sum(1 for _ in group)
        yield direction, line[position:end]
        position = end


def _directions(line: str) -> list[str]:
    """Return the direction of each character; a mark has the direction of its letter."""
    strong = _NEUTRAL
    directions: list[str] = []
    for char in line:
        kind = unicodedata.bidirectional(char)
        strong = _STRONG.get(kind, strong)
        directions.append(strong if kind in _STRONG or kind == "NSM" else _NEUTRAL)
    positions = [index for index, direction in enumerate(directions) if direction]
    for last, index in pairwise(positions):
        if directions[last] == directions[index]:
            directions[last:index] = [directions[last]] * (index - last)
    if positions and line[: positions[0]].isspace():
        directions[: positions[0]] = [directions[positions[0]]] * positions[0]
    if positions and line[positions[-1] + 1 :].isspace():
        directions[positions[-1] :] = [directions[positions[-1]]] * (len(line) - positions[-1])
    return directions


# Text of a page, and lines and rectangles on it that change what a reader sees of it.

Matrix: TypeAlias = tuple[float, float, float, float, float, float]
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
# the end of a picture is followed by operators, which are ASCII
_END_PICTURE = rb"\sEI(?=\s(?:[\t\n\r -~]{12}|[\t\n\r -~]{,11}\Z))"
END_PICTURE = re.compile(_END_PICTURE)
INLINE = rb"(?<![^\s])BI\s(?P<inline>.*?\sID\s.*?)" + _END_PICTURE
STRING = rb"(?<!\\)\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)|<[0-9A-Fa-f\s]*>"
OBLIQUE = 0.5
_OPERATORS = rb"T[mdDfLjJr*]|BT|cm|re|rg|scn?|[gkmlhqQSsnfFBbW]|[fBbW]\*|'|\""
PAINTING = re.compile(
    rb"%s|(?P<string>%s)|/(?P<displayed>[^\s/<>\[\]()]+)\s+Do(?!\S)"
    rb"|(?P<numbers>(?:(?<![\d.])(?:[-+]?[\d.]+\s+){1,6})?)(?<![\w/*.])(?P<operator>%s)(?![\w*])"
    % (INLINE, STRING, _OPERATORS),
    re.DOTALL,
)
_PAINTS = re.compile(rb"[\d.]\s+(?:l|re)\s")
_INVISIBLE = re.compile(rb"(?<!\S)[37]\s+Tr(?!\S)")
_WHITE = re.compile(
    rb"(?<!\S)(?:(?:1(?:\.0*)?\s+){3}(?:rg|scn?)|1(?:\.0*)?\s+g"
    rb"|(?:0(?:\.0*)?\s+){4}(?:k|scn?))(?!\S)"
)
may_be_coloured = re.compile(rb"(?<!\S)(?:[cvy]|sh)(?!\S)").search  # by curves and shadings
_BLANK = re.compile(rb"\(\s*\)|<(?:0{0,2}(?:20|03)|\s)*>")  # blanks, by their usual codes
OUTSIDE = "outside"
_WIDTH = 0.5  # of a character, on average, in sizes of the font
_MIDDLE = (0.14, 0.62)  # where a line strikes out text, in sizes of the font above its base line
_MAX_LINE = 2.5  # points, of the height of a rectangle that is a line
_FRAME = (6.0, 60.0)  # points, of the height of a frame around words
_FINE_GRID = 4.0  # points
_MAX_PAIRS = 400_000


def may_mark(content: bytes) -> bool:
    """Return whether a description has lines, rectangles, or text that is invisible or white."""
    return any(pattern.search(content) for pattern in (_PAINTS, _INVISIBLE, _WHITE))


class _Run(NamedTuple):
    """Text that is drawn at once: its ends, its base line and its size."""

    start: float
    end: float
    base: float
    size: float


class _Rectangle(NamedTuple):
    """A rectangle along the axes, or a line; `after`: how many runs of text were drawn before."""

    left: float
    bottom: float
    right: float
    top: float
    after: int

    def clipped(self, clip: _Rectangle) -> _Rectangle:
        """Return the part of the rectangle that is in another one."""
        left, bottom = max(self.left, clip.left), max(self.bottom, clip.bottom)
        right, top = max(left, min(self.right, clip.right)), min(self.top, clip.top)
        return _Rectangle(left, bottom, right, max(bottom, top), self.after)

    def overlap(self, run: _Run) -> float:
        """Return how much of the shorter of both the longer one covers, from left to right."""
        common = min(self.right, run.end) - max(self.left, run.start)
        return common / max(1.0, min(self.right - self.left, run.end - run.start))


_EVERYWHERE = _Rectangle(-1e9, -1e9, 1e9, 1e9, 0)


class DrawnPage:
    """The runs of text, lines and rectangles of a page, as they are drawn one after another."""

    def __init__(self, box: Sequence[float] = ()) -> None:
        """Take the corners of what is displayed of the page, empty where they are not known."""
        left, bottom, right, top = box or _EVERYWHERE[:4]
        self._page = _Rectangle(left, bottom, right, top, 0)
        self.has_picture = False
        self._runs: list[_Run] = []
        self._hidden: list[_Run] = []
        self._filled: list[_Rectangle] = []
        self._coloured: list[_Rectangle] = []  # the filled ones that are not white
        self._stroked: list[_Rectangle] = []
        self._saved: list[tuple[Matrix, float, bool, bool, _Rectangle]] = []
        self._size, self._leading, self._is_hidden = 1.0, 0.0, False
        self.has_area = self._is_white = False
        self._white: list[tuple[_Run, int]] = []  # and how many rectangles are under it
        self._clip, self._is_clip = _EVERYWHERE, False
        self._line = self._text = IDENTITY
        self._path: list[_Rectangle] = []
        self._point = (0.0, 0.0)
        self._start = (0.0, 0.0)
        self._chars, self._is_blank = 0.0, True

    def begin(self) -> None:
        """Begin a form, which has a state of its own."""
        self._save(IDENTITY)

    def end(self) -> None:
        """End a form."""
        self._restore(IDENTITY)

    def _save(self, matrix: Matrix) -> None:
        state = self._size, self._is_hidden, self._is_white, self._clip
        self._saved.append((matrix, *state))

    def _restore(self, matrix: Matrix) -> Matrix:
        if self._saved:
            matrix, self._size, *flags, self._clip = self._saved.pop()
            self._is_hidden, self._is_white = flags
        return matrix

    def draw(self, found: re.Match[bytes], matrix: Matrix) -> Matrix:
        """Draw what an operator does, and return the matrix after it."""
        if found["inline"]:
            self.has_picture = True
            return matrix
        if string := found["string"]:
            is_hexadecimal = string.startswith(b"<")
            self._chars += len(string) / 4 if is_hexadecimal else len(string) - 2
            self._is_blank &= _BLANK.fullmatch(string) is not None
            return matrix
        operator = found["operator"]
        numbers = [number_of(value) for value in found["numbers"].split()]
        if operator == b"cm":
            matrix = product(matrix_of(numbers), matrix) if len(numbers) == 6 else matrix
        elif operator == b"q":
            self._save(matrix)
        elif operator == b"Q":
            matrix = self._restore(matrix)
        elif operator[:1] in b"T'\"" or operator == b"BT":
            self._set_text(operator, numbers, matrix)
        elif operator in (b"m", b"l", b"re", b"h"):
            self._add_path(operator, numbers, matrix)
        elif operator[:1] == b"W":
            self._is_clip = True
        elif operator in (b"rg", b"g", b"k", b"sc", b"scn"):
            self._is_white = _WHITE.fullmatch(found[0].strip()) is not None
        else:
            self._paint(operator)
        return matrix

    def _set_text(self, operator: bytes, numbers: Sequence[float], matrix: Matrix) -> None:
        if operator == b"BT":
            self._line = self._text = IDENTITY
        elif operator == b"Tm" and len(numbers) == 6:
            self._line = self._text = matrix_of(numbers)
        elif operator in (b"Td", b"TD") and len(numbers) == 2:
            self._leading = -numbers[1] if operator == b"TD" else self._leading
            self._move(*numbers)
        elif operator == b"Tf" and numbers:
            self._size = numbers[-1]
        elif operator == b"TL" and numbers:
            self._leading = numbers[-1]
        elif operator == b"Tr" and numbers:
            self._is_hidden = numbers[-1] in (3, 7)
        elif operator in (b"T*", b"'", b'"'):
            self._move(0, -self._leading)
        if operator in (b"Tj", b"TJ", b"'", b'"'):
            self._show(matrix)
            self._chars, self._is_blank = 0.0, True

    def _move(self, x: float, y: float) -> None:
        self._line = self._text = product((1.0, 0.0, 0.0, 1.0, x, y), self._line)

    def _show(self, matrix: Matrix) -> None:
        """Add a run of text, unless it is not level."""
        a, b, _, d, x, y = product(self._text, matrix)
        width = self._chars * _WIDTH * abs(self._size)
        if abs(b) < abs(a) / 100 and a > 0 and not self._is_blank:
            run = _Run(x, x + width * a, y, abs(self._size * d))
            (self._hidden if self._is_hidden else self._runs).append(run)
            if self._is_white and not self._is_hidden:
                self._white.append((run, len(self._coloured)))
        self._text = product((1.0, 0.0, 0.0, 1.0, width, 0.0), self._text)

    def _add_path(self, operator: bytes, numbers: Sequence[float], matrix: Matrix) -> None:
        if operator == b"h":
            self._add_line(self._start)
        elif operator == b"re" and len(numbers) == 4:
            x, y, width, height = numbers
            corners = moved([x, y, x + width, y + height], matrix)
            self._add_rectangle(*corners)
        elif operator != b"re" and len(numbers) == 2:
            x, y = moved(list(numbers), matrix)
            if operator == b"l":
                self._add_line((x, y))
            else:
                self._start = (x, y)
            self._point = (x, y)

    def _add_line(self, end: tuple[float, float]) -> None:
        (x, y), (to_x, to_y) = self._point, end
        if min(abs(to_x - x), abs(to_y - y)) <= OBLIQUE:
            self._add_rectangle(x, y, to_x, to_y)
        self._point = end

    def _add_rectangle(self, x: float, y: float, to_x: float, to_y: float) -> None:
        left, right = sorted((x, to_x))
        bottom, top = sorted((y, to_y))
        self._path.append(_Rectangle(left, bottom, right, top, len(self._runs)))

    def _paint(self, operator: bytes) -> None:
        if operator[:1] in b"fFBb" and self._path:
            if all(min(r.right - r.left, r.top - r.bottom) <= OBLIQUE for r in self._path):
                self._path = [_around(self._path)]  # the outline of one
            shapes = [shape.clipped(self._clip) for shape in self._path]
            self._filled += shapes
            self._coloured += [] if self._is_white else shapes
        elif operator in (b"S", b"s"):
            self._stroked += (shape.clipped(self._clip) for shape in self._path)
        if self._is_clip and self._path:
            self._clip = _around(self._path).clipped(self._clip)
        self._path, self._is_clip = [], False

    def marks(self) -> bytes:
        """Return what is outside of the page, struck out, covered, framed and invisible, by
        positions.
        """
        outside = (run for run in self._runs if _is_outside(run, self._page))
        found = {_position(OUTSIDE, None, run) for run in outside}
        if len(self._runs) * (len(self._filled) + len(self._stroked)) > _MAX_PAIRS:
            return "\n".join(sorted(found)).encode()
        for shape in self._filled + self._stroked:
            if shape.top - shape.bottom <= _MAX_LINE < shape.right - shape.left:
                height = (shape.top + shape.bottom) / 2
                found.update(_position("struck", shape, run) for run in self._struck(shape, height))
        for shape in self._filled:
            if shape.top - shape.bottom > _MAX_LINE:
                covered = (run for run in self._runs[: shape.after] if _is_inside(run, shape))
                found.update(_position("covered", shape, run) for run in covered)
        for shape in self._stroked:
            if _FRAME[0] < shape.top - shape.bottom < _FRAME[1] and self._is_frame(shape):
                found.add(_position("framed", shape, None))
        if self._runs and not self.has_picture:
            found.update(_position("invisible", None, run) for run in self._hidden)
        for run, below in self._white if not self.has_picture and not self.has_area else ():
            if not any(_is_inside(run, shape) for shape in self._coloured[:below]):
                found.add(_position("white", None, run))
        return "\n".join(sorted(found)).encode()

    def _struck(self, line: _Rectangle, height: float) -> Iterator[_Run]:
        for run in self._runs:
            above = (height - run.base) / max(run.size, 1.0)
            if _MIDDLE[0] < above < _MIDDLE[1] and line.overlap(run) > 0.5:
                yield run

    def _is_frame(self, shape: _Rectangle) -> bool:
        """Return whether a rectangle frames a part of a line alone: no cell of a table, and none of
        several fields in a row.
        """
        inside = [run for run in self._runs if _is_inside(run, shape)]
        if not any(
            run.start < shape.left - _MAX_LINE or (run.start + run.end) / 2 > shape.right
            for run in self._runs
            if inside and abs(run.base - inside[0].base) < 1
        ):
            return False
        return not any(_touch(shape, other) for other in self._stroked if other is not shape)


def _touch(a: _Rectangle, b: _Rectangle) -> bool:
    """Return whether two rectangles have an edge on the same line."""
    level = (abs(one - other) for one in (a.bottom, a.top) for other in (b.bottom, b.top))
    upright = (abs(one - other) for one in (a.left, a.right) for other in (b.left, b.right))
    return min(*level, *upright) < 1


def _around(lines: Sequence[_Rectangle]) -> _Rectangle:
    return _Rectangle(
        min(line.left for line in lines),
        min(line.bottom for line in lines),
        max(line.right for line in lines),
        max(line.top for line in lines),
        lines[-1].after,
    )


def _is_inside(run: _Run, shape: _Rectangle) -> bool:
    """Return whether a rectangle is over the middle of a run of text, or of a part of it."""
    return shape.bottom < run.base + run.size * 0.3 < shape.top and shape.overlap(run) > 0.5


def _is_outside(run: _Run, page: _Rectangle) -> bool:
    """Return whether text is outside of a page, also if it is half as wide again as it seems."""
    after = run.end + (run.end - run.start) / 2
    is_above_or_below = run.base > page.top or run.base + run.size < page.bottom
    return is_above_or_below or run.start > page.right or after < page.left


def _position(kind: str, shape: _Rectangle | None, run: _Run | None) -> str:
    """Return where text is struck, covered or framed: from where to where, and its base line."""
    base = run.base if run else shape.bottom if shape else 0.0
    ends = [shape.left, shape.right] if shape else [run.start if run else 0.0]
    return " ".join([kind, *(str(round(value / _FINE_GRID)) for value in (*ends, base))])


def matrix_of(numbers: Sequence[float]) -> Matrix:
    """Return the matrix of six numbers."""
    a, b, c, d, e, f = numbers
    return a, b, c, d, e, f


def product(first: Matrix, then: Matrix) -> Matrix:
    """Return the matrix that does what the first does, then the other."""
    a, b, c, d, e, f = first
    p, q, r, s, t, u = then
    return (
        a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s,
        e * p + f * r + t, e * q + f * s + u,
    )  # fmt: skip


def moved(numbers: list[float], matrix: Matrix) -> list[float]:
    """Return coordinates as they are on the page."""
    if matrix == IDENTITY:
        return numbers
    a, b, c, d, e, f = matrix
    pairs = zip(numbers[::2], numbers[1::2], strict=False)
    return [value for x, y in pairs for value in (a * x + c * y + e, b * x + d * y + f)]


def number_of(value: bytes) -> float:
    """Return a number as a PDF has it; 0 for anything else."""
    try:
        return float(value)
    except ValueError:
        return 0.0
