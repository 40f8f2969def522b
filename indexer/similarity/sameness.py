"""Sameness of copies: what they have in common, and what differs between them all the same."""

from __future__ import annotations

import re

from indexer.model import Row, Sameness

_BLANKS = re.compile(r"\s+")


def sameness(a: Row, b: Row) -> Sameness:
    """Return what two copies have in common: their bytes, their texts, or the words of these."""
    if a.raw and a.raw == b.raw:
        return Sameness("bytes")
    as_read = "truncated" in (a.status, b.status)
    extracted = bool(a.raw and b.raw) and not _is_plain(a) and not _is_plain(b)
    if a.text == b.text:
        return Sameness("text", (), as_read, extracted)
    return Sameness("words", ignored(a.text, b.text), as_read, extracted)


def ignored(a: str, b: str) -> tuple[str, ...]:
    """Return in what two texts of the same words differ, which normalisation ignores.

    >>> ignored("Pay 5!", "pay  -5"), ignored("a b", "a  b")
    (('case', 'blanks', 'signs'), ('blanks',))
    """
    kinds = []
    letters_a, letters_b = (list(filter(str.isalnum, text)) for text in (a, b))
    if letters_a != letters_b:
        is_case = "".join(letters_a).casefold() == "".join(letters_b).casefold()
        kinds.append("case" if is_case else "forms of letters")
    if _BLANKS.findall(a) != _BLANKS.findall(b):
        kinds.append("blanks")
    if list(filter(_is_sign, a)) != list(filter(_is_sign, b)):
        kinds.append("signs")
    return tuple(kinds)


def spell_sameness(same: Sameness) -> str:
    """Return a sentence.

    >>> spell_sameness(Sameness("words", ("case", "signs"), as_read=True))
    'the same words, as far as read; ignored: case, signs'
    """
    if same.kind == "bytes":
        return "identical: the same bytes"
    read = ", as far as read" if same.as_read else ""
    read += ", as extracted from files that differ" if same.extracted else ""
    what = f"; ignored: {', '.join(same.ignored)}" if same.ignored else ""
    return f"the same {same.kind}{read}{what}"


def _is_plain(row: Row) -> bool:
    """Return whether the text is the whole file, or was given without one."""
    return not row.extractor or row.extractor.startswith("plain/")


def _is_sign(char: str) -> bool:
    return not char.isalnum() and not char.isspace()
