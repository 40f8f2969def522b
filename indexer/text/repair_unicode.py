"""Repair of broken Unicode by ftfy: the one file that imports it."""

from __future__ import annotations

from indexer.errors import MissingExtra


def repair_unicode(text: str) -> str:
    """Repair mis-decoded characters, HTML entities, ligatures, full-width forms and curly quotes.

    The text comes in NFC: that of the running Python, so characters of newer Unicode versions may
    come out different under an older Python. Raises `MissingExtra` without ftfy.

    >>> repair_unicode("cafÃ© â€” Ｌ")
    'café — L'
    """
    try:
        import ftfy
    except ImportError:
        raise MissingExtra(package="ftfy", extra="text") from None
    return ftfy.fix_text(text, normalization="NFC")
