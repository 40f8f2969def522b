"""The changes from one text to another as a PDF: deletions struck through, insertions underlined.

Letters come from Noto Sans (Latin, Greek, Cyrillic, Devanagari) and from the fonts that the caller
gives. The document says which characters none of them has.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.comparing.compare import Comparison
from indexer.comparing.redline import redline_in_lines
from indexer.errors import MissingExtra, UsageError
from indexer.text.visible import visible, visible_lines

if TYPE_CHECKING:
    from fpdf import FPDF

MOST_CHARS = 1_000_000  # of both texts
MOST_SHAPED = 100_000  # of both texts in scripts whose letters change their shapes or direction
_SHAPED = re.compile("[\u0590-\u109f\u1780-\u18af\u1a20-\u1aaf\ufb1d-\ufdff\ufe70-\ufefc]")
_STYLES = {
    "same": ("", (28, 33, 38)),
    "removed": ("S", (154, 52, 18)),
    "added": ("U", (11, 93, 104)),
}
_BRACKETS = str.maketrans("\u27e8\u27e9", "<>")  # of characters that are spelled out
_MISSING = "\N{REPLACEMENT CHARACTER}"
_MOST_LISTED = 12
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
    most = MOST_SHAPED if is_shaped else MOST_CHARS
    if sum(map(len, comparison.texts)) > most:
        raise UsageError(f"a PDF holds texts of {most:,} characters at most here; write a docx")
    files = [_default_font(), *fonts]
    known = _known(files)
    stretches = [
        (stretch.change, visible_lines(stretch.text).translate(_BRACKETS))
        for stretch in redline_in_lines(comparison)
    ]
    missing = _missing((text for _, text in stretches), known)
    pdf = _document(files, is_shaped)
    _write_head(pdf, comparison.names, known, missing)
    for change, text in stretches:
        style, colour = _STYLES[change]
        pdf.set_font(_FONT, style, _SIZE)
        pdf.set_text_color(*colour)
        pdf.write(_LINE, _spelled(text, known))
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


def _write_head(
    pdf: FPDF, names: tuple[str, str], known: frozenset[int], missing: Sequence[str]
) -> None:
    """Write what is compared, what the marks mean, and which characters are missing."""
    shown = (visible(name).translate(_BRACKETS) for name in names)
    before, after = (_spelled(name, known) for name in shown)
    pdf.set_title(f"Changes from {before} to {after}")
    pdf.set_creator("nearfold")
    lines = [f"Changes from {before} to {after}"]
    if missing:
        some = ", ".join(f"U+{ord(char):04X}" for char in missing[:_MOST_LISTED])
        more = f" and {len(missing) - _MOST_LISTED} more" if len(missing) > _MOST_LISTED else ""
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


def _spelled(text: str, known: frozenset[int]) -> str:
    """Return a text with a mark in place of each character that no font has.

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
