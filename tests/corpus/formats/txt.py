"""Plain text in UTF-8, its lines at most 72 characters long, long words hyphenated at their
ends.
"""

from __future__ import annotations

from collections.abc import Iterator

from corpus.documents import Document, Heading, Paragraph, Part
from corpus.language import Language
from corpus.lines import fill_lines

WIDTH = 72


def content(document: Document) -> bytes:
    """Blank lines part the paragraphs; headings are underlined."""
    return text(document).encode()


def text(document: Document) -> str:
    """What `content` encodes."""
    blocks = [document.header, f"{document.title}\n{'=' * 40}"]
    blocks += ["\n".join(_lines(part, document.language)) for part in document.parts]
    return "\n\n".join(blocks) + "\n"


def _lines(part: Part, spoken: Language) -> Iterator[str]:
    if isinstance(part, Heading):
        yield from (part.text, "-" * 40)
    elif isinstance(part, Paragraph):
        yield from fill_lines(part.text, spoken, lambda line: len(line) <= WIDTH)
    else:
        for label, *numbers in part.rows:
            yield f"{label:<34}" + "".join(f"{number:>12}" for number in numbers)
