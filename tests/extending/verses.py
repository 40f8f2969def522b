"""Verses under a line `#verse TITLE`. An example of a format of text with marks of its own.

Copy this module into `indexer/documents/`, and declare `VERSES` in `TEXT_FORMATS` of
`indexer/documents/plain_text.py`. A larger reader is `indexer/documents/roff.py`.
"""

from __future__ import annotations

import re

from indexer.documents.plain_text import TextFormat

# 1. The format: its identity, which is stored with each text, its media type, a pattern that every
# file of it has among its first bytes, and the module of its reader.
VERSES = TextFormat("verse/1", "text/x-verse", re.compile(rb"\A#verse "), __name__)


# 2. The reader: title and text, None for a file of another format.
def read(header: str, text: str) -> tuple[str, str] | None:
    """Return the title and the verses below it, None for a text without a title."""
    title, _, verses = text.removeprefix("#verse ").partition("\n")
    return (title, verses) if title else None
