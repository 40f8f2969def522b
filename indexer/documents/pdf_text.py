"""The text of PDF pages as Tika reads it, repaired: footnotes, text that was drawn twice, rotated
text, lines of Arabic and Hebrew.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain, compress, groupby, pairwise
from typing import TypeAlias

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
    text = inline_notes(join_rotated(draw_once(text)))
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


# Footnotes. At the end of a page stand notes, each of which begins with its number, which stands in
# the text before them as the end of a word: other formats have the note there, without numbers.

_NOTE = re.compile(r"\n([1-9]\d{,2}) ?(?=[^\W\d_]|[\"'“„«(\[])")
_REFERENCE = re.compile(  # a digit first, which is found faster than what is before it
    r"[1-9](?:(?<=[^\W\d_]{2}.)|(?<=[\w)\]”’\"'»][.,;:!?)\]”’\"'»].))"
    r"(?<!\d[.,:].)(?<!\b[A-Z]\..)(?<![A-Z].)\d{,2}(?!\w|[.,:/-]+\w)"
)
_NOTE_END = re.compile(r"[.!?:)”»\"’'](?=\s*\n\s*\n)|(?=\s*\n\s*\n\d+\s*(?:\n|\Z))")
_DIGITS, _LINES = re.compile(r"\d+"), re.compile(r"\n+")
_Numbers: TypeAlias = Sequence[tuple[int, tuple[int, int]]]  # numbers and where they stand
_MAX_STARTS = 200  # lines of a page; one with more is a list or a table
_MAX_REFERENCES = 2000
_MAX_FEET = 3  # lines at the end of a page that may recur on other pages


def inline_notes(text: str) -> str:
    """Return the text of a PDF with footnotes at their references, without numbers, as other
    formats have them; pages without any, or where a number stands twice, as they are.

    >>> inline_notes("It is let.1 Rent is due.\\n\\n1 By a deed.")
    'It is let. By a deed. Rent is due.'
    """
    pages = _PAGE_END.split(text)
    starts = [_starts(page) for page in pages]
    if not any(starts):
        return text
    feet = Counter(chain.from_iterable(set(map(_foot, _last_lines(page))) for page in pages))
    recurring = {foot for foot, count in feet.items() if count > max(1, len(pages) // 4)}
    placed: list[str] = []
    expected = 1
    for page, notes in zip(pages, starts, strict=True):
        done, expected = _page_with_notes(page, notes, recurring, expected)
        placed.append(done)
    return "".join(chain(*zip(placed, [*_PAGE_END.findall(text), ""], strict=True)))


def _starts(page: str) -> _Numbers:
    """Return the lines that may begin a note: their numbers, and the spans of these."""
    return [(int(found[1]), (found.start() + 1, found.end())) for found in _NOTE.finditer(page)]


def _last_lines(page: str) -> list[str]:
    return [line for line in page.splitlines(keepends=True) if line.strip()][-_MAX_FEET:]


def _foot(line: str) -> str:
    return _DIGITS.sub("", line).strip()


def _page_with_notes(page: str, starts: _Numbers, feet: Set[str], expected: int) -> tuple[str, int]:
    """Return a page with its notes at their references, and the number after its last note; its
    last lines stay, if they are of `feet` or digits alone.

    The first note of a page has the expected number or 1, so that no number says anything that is
    lost with it: `FY24` and a line `24 months` are none.
    """
    is_noted = 0 < len(starts) <= _MAX_STARTS
    found = _REFERENCE.finditer(page, 0, starts[-1][1][0]) if is_noted else ()
    references = [(int(reference[0]), reference.span()) for reference in found]
    following = _consecutive(expected, starts)
    if not 0 < len(references) <= _MAX_REFERENCES:
        return page, expected + len(following)
    end = page.rstrip()
    for last in reversed(_last_lines(end)):
        foot = _foot(last)
        if any(map(str.isalpha, foot)) and foot not in feet:
            break
        end = end[: -len(last)].rstrip()
    for index, (first, (start, _)) in enumerate(starts):
        if first not in (1, expected) or not page.endswith("\n\n", 0, start):
            continue
        notes = _consecutive(first, starts[index:])
        before = [(n, span) for n, span in references if span[1] < start]
        numbers = [n for n, _ in before if first - 1 <= n < first + len(notes)]
        if numbers == list(range(first, first + len(notes))) and start >= len(end) // 4:
            return _placed(page, len(end), notes, before), first + len(notes)
    return page, expected + len(following)


def _consecutive(first: int, starts: _Numbers) -> _Numbers:
    """Return the notes whose numbers follow one another."""
    notes: list[tuple[int, tuple[int, int]]] = []
    for number, span in starts:
        if number == first + len(notes):
            notes.append((number, span))
    return notes


def _placed(page: str, end: int, notes: _Numbers, references: _Numbers) -> str:
    """Return a page with its notes, the last of which stops at `end`, at their references."""
    spans = dict(references)
    found = _NOTE_END.search(page, notes[-1][1][1], end)
    end = found.end() if found else end
    ends = [*(span[0] for _, span in notes[1:]), end]
    pieces: list[str] = []
    done = 0
    for (number, (_, begin)), stop in zip(notes, ends, strict=True):
        at, after = spans[number]
        pieces += (page[done:at], " ", _LINES.sub("\n", page[begin:stop].strip()))
        done = after
    return "".join((*pieces, page[done : notes[0][1][0]].rstrip(), page[end:]))


# Text drawn twice or more often, for bold type or shadows: PDFBox reads it as often. Where the
# pieces that are repeated are lines, phrases or characters, a text hardly has such by itself; where
# they are single words (`couscous`), or a line has hardly a letter (`11 22 33`), other lines of the
# file must show that it draws twice.

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
    >>> draw_once("11 22 33"), draw_once("TThhee  bbaalllloooonn\\n11 22 33")
    ('11 22 33', 'The balloon\\n1 2 3')
    """
    lines = text.split("\n")
    once = [_line_once(line) if _is_prose(line) else line for line in lines]
    once = _spaced_once(once, lines)
    if once == lines and not _SEAM.search(text):
        return "\n".join(_without_pairs(lines))
    phrases = [_PHRASE.sub(r"\1", line) if _SEAM.search(line) else line for line in once]
    if phrases == lines:
        return "\n".join(_without_pairs(lines))
    phrases = [line if _is_prose(line) else _line_once(line) for line in phrases]
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
