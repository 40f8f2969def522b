"""A comparison as a file: the compare page, a Word document with tracked changes, a PDF.

The page is one HTML file with its style and its scripts in it. The Word document is a minimal
package of Office Open XML (ECMA-376, parts 1 and 2): one part of text, whose changes are `w:ins`,
`w:del`, `w:moveFrom` and `w:moveTo`, and one of properties. Accepting all changes leaves the second
text, rejecting them the first one, but for the spelling and symbols of words that are the same.
"""

from __future__ import annotations

import io
import re
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.comparing.compare import Change, Comparison, Stretch, redline_in_lines
from indexer.errors import MissingExtra, UsageError
from indexer.review.api.responses import measures_of, without_boilerplate
from indexer.review.boilerplate import DiscountedSimilarity
from indexer.review.compared_documents import Original
from indexer.review.rendering import render_file
from indexer.review.side_by_side import SideBySide, facts
from indexer.wording import visible, visible_lines

if TYPE_CHECKING:
    from fpdf import FPDF


MAX_BLOCKS = 10_000  # that are shown
_SCRIPTS = ("keyboard.js", "differences.js", "file.js")
AUTHOR = "nearfold"
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_TYPES = f"""{_XML}<Types xmlns="{_PACKAGE}/content-types">\
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>\
<Override PartName="/word/document.xml" ContentType="{_WORD_TYPE}"/>\
<Override PartName="/docProps/core.xml" \
ContentType="application/vnd.openxmlformats-package.core-properties+xml"/></Types>"""
_RELATIONS = f"""{_XML}<Relationships xmlns="{_PACKAGE}/relationships">\
<Relationship Id="r1" Target="word/document.xml" \
Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/>\
<Relationship Id="r2" Target="docProps/core.xml" \
Type="{_PACKAGE}/relationships/metadata/core-properties"/></Relationships>"""
_BREAK = re.compile(r"(\n(?:[^\S\n]*\n)*)")
_TAGS: Mapping[tuple[Change, bool], str] = {
    ("same", False): "",
    ("removed", False): "del",
    ("added", False): "ins",
    ("removed", True): "moveFrom",
    ("added", True): "moveTo",
}  # of a change that is a move or not
_WRAPPED_CHARS = 100  # of a line that was not wrapped
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


def redline_docx(comparison: Comparison) -> bytes:
    """Return the changes from the first text of a comparison to the second as a docx file.

    Blank lines part paragraphs, and so do other line ends where most of the text is in long lines;
    in text that was wrapped they are breaks. A passage that was moved as a whole is a move; other
    text that is elsewhere is deleted and inserted. Characters that XML cannot hold become U+FFFD.
    Equal comparisons give equal files.
    """
    before, after = (escape(_clean(name)) for name in comparison.names)
    core = (
        f'{_XML}<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>Changes from {before} to {after}</dc:title><dc:creator>{AUTHOR}</dc:creator>"
        "</cp:coreProperties>"
    )
    ends = 2 if _is_wrapped(comparison.texts) else 1
    body = "".join(_paragraphs(redline_in_lines(comparison), ends))
    document = f'{_XML}<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>'
    parts = {
        "[Content_Types].xml": _TYPES,
        "_rels/.rels": _RELATIONS,
        "docProps/core.xml": core,
        "word/document.xml": document,
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in parts.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            package.writestr(entry, text.encode())
    return file.getvalue()


def _is_wrapped(texts: Iterable[str]) -> bool:
    """Return whether lines end where a page did: at most half of the text is in long lines.

    >>> _is_wrapped(["a line of wrapped text " * 3]), _is_wrapped(["a whole paragraph " * 9])
    (True, False)
    """
    lengths = [len(line) for text in texts for line in text.splitlines()]
    return 2 * sum(length for length in lengths if length > _WRAPPED_CHARS) <= sum(lengths)


def _paragraphs(stretches: Iterable[Stretch], line_ends: int) -> Iterator[str]:
    """Yield the paragraphs, which so many line ends part.

    The mark that ends one is changed as the line ends are.
    """
    runs: list[str] = []
    number = 0
    for stretch in stretches:
        text = _clean(stretch.text.replace("\r\n", "\n").replace("\r", "\n"))
        tag = _TAGS[stretch.change, bool(stretch.moved)]
        number += 1
        own = number
        if stretch.moved:
            runs.append(f'<w:{tag}RangeStart {_by(own)} w:name="move{stretch.moved}"/>')
        for piece in _BREAK.split(text):
            number += 1
            if piece.count("\n") >= line_ends:
                mark = f"<w:pPr><w:rPr><w:{tag} {_by(number)}/></w:rPr></w:pPr>" if tag else ""
                yield f"<w:p>{mark}{''.join(runs)}</w:p>"
                runs = []
            elif piece:
                runs.append(_run(tag, piece, number))
        if stretch.moved:
            runs.append(f'<w:{tag}RangeEnd w:id="{own}"/>')
    yield f"<w:p>{''.join(runs)}</w:p>"


def _run(tag: str, text: str, number: int) -> str:
    """Return a run of text, or a line break; `tag` is that of its change, empty for none."""
    name = "delText" if tag == "del" else "t"
    content = f'<w:{name} xml:space="preserve">{escape(text)}</w:{name}>'
    run = f"<w:r>{'<w:br/>' if text == chr(10) else content}</w:r>"
    if not tag:
        return run
    return f"<w:{tag} {_by(number)}>{run}</w:{tag}>"


def _by(number: int) -> str:
    return f'w:id="{number}" w:author="{AUTHOR}"'


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


# The changes from one text to another as a PDF: deletions struck through, insertions underlined.

MAX_CHARS = 1_000_000  # of both texts
MAX_SHAPED = 100_000  # of both texts in scripts whose letters change their shapes or direction
_SHAPED = re.compile("[\u0590-\u109f\u1780-\u18af\u1a20-\u1aaf\ufb1d-\ufdff\ufe70-\ufefc]")
_STYLES = {
    "same": ("", (28, 33, 38)),
    "removed": ("S", (154, 52, 18)),
    "added": ("U", (11, 93, 104)),
}
_BRACKETS = str.maketrans("\u27e8\u27e9", "<>")  # of characters that are spelled out
_MISSING = "\N{REPLACEMENT CHARACTER}"
_MAX_LISTED = 12
_FONT = "text"
_SIZE, _SMALL = 10.5, 8.5
_LINE = 5.2  # millimetres


def redline_pdf(comparison: Comparison, fonts: Sequence[Path] = ()) -> bytes:
    """Return the changes from the first text of a comparison to the second as a PDF.

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
        (stretch.change, visible_lines(stretch.text).translate(_BRACKETS))
        for stretch in redline_in_lines(comparison)
    ]
    missing = _missing((text for _, text in stretches), known)
    pdf = _document(files, is_shaped)
    _write_heading(pdf, comparison.names, known, missing)
    for change, text in stretches:
        style, colour = _STYLES[change]
        pdf.set_font(_FONT, style, _SIZE)
        pdf.set_text_color(*colour)
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
    shown = (visible(name).translate(_BRACKETS) for name in names)
    before, after = (_formatted(name, known) for name in shown)
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
    for change, word in (("removed", "deleted"), ("added", "inserted")):
        style, colour = _STYLES[change]
        pdf.set_font(_FONT, style, _SMALL)
        pdf.set_text_color(*colour)
        pdf.write(4.4, word)
        pdf.set_font(_FONT, "", _SMALL)
        pdf.write(4.4, "   ")
    pdf.ln(9)


def _missing(texts: Iterable[str], known: frozenset[int]) -> list[str]:
    """Return the characters that no font has, in order of code points."""
    chars = set().union(*texts) if texts else set()
    return sorted(char for char in chars if ord(char) not in known and not char.isspace())


def _formatted(text: str, known: frozenset[int]) -> str:
    """Return a text with a mark instead of each character that no font has.

    What joins or parts letters without a shape of its own stays.
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
