"""The changes from one text to another as a Word document with tracked changes.

A minimal package of Office Open XML (ECMA-376, parts 1 and 2): one part of text, whose changes are
`w:ins` and `w:del`, and one of properties. Accepting all changes leaves the second text, rejecting
them the first one, but for the spelling and signs of words that are the same.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from html import escape

from indexer.comparing.compare import Comparison
from indexer.comparing.redline import Change, Stretch, redline_in_lines

AUTHOR = "nearfold"
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_TYPES = f"""{_HEAD}<Types xmlns="{_PACKAGE}/content-types">\
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>\
<Override PartName="/word/document.xml" ContentType="{_WORD_TYPE}"/>\
<Override PartName="/docProps/core.xml" \
ContentType="application/vnd.openxmlformats-package.core-properties+xml"/></Types>"""
_RELATIONS = f"""{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">\
<Relationship Id="r1" Target="word/document.xml" \
Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/>\
<Relationship Id="r2" Target="docProps/core.xml" \
Type="{_PACKAGE}/relationships/metadata/core-properties"/></Relationships>"""
_BREAK = re.compile(r"(\n(?:[^\S\n]*\n)*)")
_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def redline_docx(comparison: Comparison) -> bytes:
    """Return the changes from the first text of a comparison to the second as a docx file.

    Blank lines part paragraphs, other line ends are breaks. Moved text is deleted in one place and
    inserted in another. Characters that XML cannot hold become U+FFFD. Equal comparisons give equal
    files.
    """
    before, after = (escape(_clean(name)) for name in comparison.names)
    core = (
        f'{_HEAD}<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>Changes from {before} to {after}</dc:title><dc:creator>{AUTHOR}</dc:creator>"
        "</cp:coreProperties>"
    )
    body = "".join(_paragraphs(redline_in_lines(comparison)))
    document = f'{_HEAD}<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>'
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


def _paragraphs(stretches: Iterable[Stretch]) -> Iterator[str]:
    """Yield the paragraphs; the mark that ends one is changed as the blank line there is."""
    runs: list[str] = []
    number = 0
    for stretch in stretches:
        text = _clean(stretch.text.replace("\r\n", "\n").replace("\r", "\n"))
        for piece in _BREAK.split(text):
            number += 1
            if piece.count("\n") > 1:
                mark = _mark(stretch.change, number)
                yield f"<w:p>{mark}{''.join(runs)}</w:p>"
                runs = []
            elif piece:
                runs.append(_run(stretch.change, piece, number))
    yield f"<w:p>{''.join(runs)}</w:p>"


def _mark(change: Change, number: int) -> str:
    """Return the properties of a paragraph whose mark is inserted, deleted or neither."""
    if change == "same":
        return ""
    name = "del" if change == "removed" else "ins"
    return f"<w:pPr><w:rPr><w:{name} {_by(number)}/></w:rPr></w:pPr>"


def _run(change: Change, text: str, number: int) -> str:
    """Return a run of text, or a line break."""
    name = "delText" if change == "removed" else "t"
    content = f'<w:{name} xml:space="preserve">{escape(text)}</w:{name}>'
    run = f"<w:r>{'<w:br/>' if text == chr(10) else content}</w:r>"
    if change == "same":
        return run
    tag = "del" if change == "removed" else "ins"
    return f"<w:{tag} {_by(number)}>{run}</w:{tag}>"


def _by(number: int) -> str:
    return f'w:id="{number}" w:author="{AUTHOR}"'


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
