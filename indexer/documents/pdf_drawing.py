"""Drawings of PDF pages: runs of text, and lines and rectangles that change what a reader sees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

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
    rb"(?<!\S)(?:(?:%(of)b\s+){3}(?:rg|scn?)|%(of)b\s+g"
    rb"|(?:(?:0|0?\.0(?:[0-2]\d*)?)\s+){4}(?:k|scn?))(?!\S)"
    % {b"of": rb"(?:1(?:\.0*)?|0?\.9[789]\d*)"}
)  # or nearly so
_TINY = 1.0  # points
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
        self._tiny: list[_Run] = []
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

    def add_picture(self, matrix: Matrix) -> None:
        """Draw a picture, which covers the text below it."""
        self.has_picture = True
        x, y, to_x, to_y = moved([0.0, 0.0, 1.0, 1.0], matrix)
        corners = _Rectangle(
            min(x, to_x), min(y, to_y), max(x, to_x), max(y, to_y), len(self._runs)
        )
        self._filled.append(corners.clipped(self._clip))

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
            self._tiny += [run] * (0 < run.size <= _TINY and not self._is_hidden)
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
        found.update(_position("tiny", None, run) for run in self._tiny)
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
