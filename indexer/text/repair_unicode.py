"""Broken Unicode mended, through ftfy: the one file that imports it."""

from __future__ import annotations

from indexer.errors import MissingExtra


def repair_unicode(text: str) -> str:
    """Text with mis-decoded characters, HTML entities, ligatures, full-width forms and curly quotes
    put right, in NFC.

    NFC is that of the running Python, so what newer Unicode versions add may come out different
    under an older Python. Raises `MissingExtra` without ftfy.

    >>> repair_unicode("cafÃ© â€” Ｌ")
    'café — L'
    """
    try:
        import ftfy
    except ImportError:
        raise MissingExtra(package="ftfy", extra="text") from None
    return ftfy.fix_text(text, normalization="NFC")
