"""Render templates to HTML. Everything is escaped; a missing value is an error.

Numbers, times and paths have one filter each, so that every page shows them in the same way.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cache
from html import unescape
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.filters import do_forceescape, do_mark_safe

from indexer.coding import NO_CODING
from indexer.comparing.reasons import format_differences, format_new_words_by_text, format_reasons
from indexer.documents.mail.threads import REASONS
from indexer.errors import UsageError
from indexer.model import guessed_encoding
from indexer.searching.snippets import Highlighter
from indexer.stores.fields import metadata_label
from indexer.system.release import release
from indexer.wording import (
    format_marks,
    percent,
    percent_below,
    visible,
    visible_line,
    visible_lines,
    well_formed,
)

STATIC = Path(__file__).parent / "static"
_TEMPLATES = Path(__file__).parent / "templates"
_TYPES = {
    "application/epub+zip": "EPUB",
    "application/gzip": "Gzip archive",
    "application/javascript": "JavaScript",
    "application/json": "JSON",
    "application/mbox": "Mailbox",
    "application/msword": "Word",
    "application/octet-stream": "Other data",
    "application/pdf": "PDF",
    "application/postscript": "PostScript",
    "application/rtf": "RTF",
    "application/vnd.apple.keynote": "Keynote",
    "application/vnd.apple.numbers": "Numbers",
    "application/vnd.apple.pages": "Pages",
    "application/vnd.ms-excel": "Excel",
    "application/vnd.ms-excel.sheet.macroenabled.12": "Excel",
    "application/vnd.ms-outlook": "Outlook mail",
    "application/vnd.ms-powerpoint": "PowerPoint",
    "application/vnd.ms-powerpoint.presentation.macroenabled.12": "PowerPoint",
    "application/vnd.ms-project": "Project",
    "application/vnd.ms-visio.drawing": "Visio",
    "application/vnd.ms-word.document.macroenabled.12": "Word",
    "application/vnd.oasis.opendocument.presentation": "OpenDocument slides",
    "application/vnd.oasis.opendocument.spreadsheet": "OpenDocument table",
    "application/vnd.oasis.opendocument.text": "OpenDocument",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "Excel",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
    "application/vnd.visio": "Visio",
    "application/x-7z-compressed": "7z archive",
    "application/x-bzip2": "Bzip2 archive",
    "application/x-gtar": "Tar archive",
    "application/x-rar-compressed": "RAR archive",
    "application/x-sh": "Shell script",
    "application/x-tar": "Tar archive",
    "application/x-tex": "TeX",
    "application/x-xz": "XZ archive",
    "application/xhtml+xml": "XHTML",
    "application/xml": "XML",
    "application/zip": "Zip archive",
    "image/bmp": "BMP picture",
    "image/gif": "GIF picture",
    "image/jpeg": "JPEG picture",
    "image/png": "PNG picture",
    "image/svg+xml": "SVG picture",
    "image/tiff": "TIFF picture",
    "image/vnd.djvu": "DjVu",
    "image/webp": "WebP picture",
    "message/rfc822": "Mail",
    "text/calendar": "Calendar",
    "text/css": "CSS",
    "text/csv": "CSV",
    "text/html": "HTML",
    "text/javascript": "JavaScript",
    "text/markdown": "Markdown",
    "text/plain": "Text",
    "text/rtf": "RTF",
    "text/tab-separated-values": "Table",
    "text/troff": "Manual page",
    "text/vcard": "Contact",
    "text/x-c++src": "C++",
    "text/x-chdr": "C header",
    "text/x-csrc": "C",
    "text/x-diff": "Patch",
    "text/x-java-source": "Java",
    "text/x-log": "Log",
    "text/x-markdown": "Markdown",
    "text/x-perl": "Perl",
    "text/x-python": "Python",
    "text/x-rst": "reStructuredText",
    "text/x-sql": "SQL",
    "text/x-vcard": "Contact",
    "text/x-web-markdown": "Markdown",
    "text/x-yaml": "YAML",
    "text/xml": "XML",
}


_STAMP = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)T(?P<time>\d\d:\d\d(:\d\d)?)(\.0+|(?P<fraction>\.\d+))?"
    r"(?P<zone>Z|[+-]\d\d:\d\d)?",
    re.ASCII,
)
_FILTER_NAMES = {
    "near_duplicates=true": "with near duplicates",
    "near_duplicates=false": "without near duplicates",
    "label_conflict=true": "unevenly labelled",
    "label_conflict=false": "evenly labelled",
}


def environment() -> Environment:
    """Return the templates of pages and reports, with their filters."""
    templates = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "visible": visible,
        "lines": visible_lines,
        "number": number,
        "percent": percent,
        "percent_below": percent_below,
        "fraction_of": fraction_of,
        "bytes": size,
        "day": day,
        "utc": utc,
        "metadata_label": metadata_label,
        "kind": kind,
        "kinds": kinds,
        "stamp": stamp,
        "name": name,
        "names_apart": names_apart,
        "names_by_path": names_by_path,
        "folder": folder,
        "words": spaced,
        "filter_name": filter_name,
        "guessed_encoding": guessed_encoding,
        "shortened": shortened,
        "visible_text": visible_line,
        "differing": format_differences,
        "marks": format_marks,
        "reasons": lambda match: "; ".join(map(visible, format_reasons(match))),
        "needed": lambda reasons: "; ".join(REASONS[reason] for reason in reasons),
        "new_words_by_side": format_new_words_by_text,
        "marked": marked,
    }
    templates.globals |= {"link": link, "paragraphs": paragraphs, "field_of": NO_CODING.field_of}
    return templates


def link(path: str, **parameters: Any) -> str:
    """Return a path with a query; parameters that are None or empty are left out, tuples are
    repeated. The search of all documents has an empty query, as `/` alone may be the dashboard.

    >>> link("/", q=""), link("/jobs")
    ('/?q=', '/jobs')
    >>> link("/family", id="a b&c", page=None, filter=("x=1", "y=2"))
    '/family?id=a+b%26c&filter=x%3D1&filter=y%3D2'
    """
    query = {key: value for key, value in parameters.items() if value not in (None, "", ())}
    if not query:
        return "/?q=" if path == "/" else path
    return f"{path}?{urlencode(query, doseq=True, errors='replace')}"


def number(value: float) -> str:
    """Return a whole number with commas."""
    return f"{value:,.0f}"


def fraction_of(part: int, whole: int) -> str:
    """Return a part of a whole in per cent; what is not 0 is never shown as 0 %.

    >>> fraction_of(0, 0), fraction_of(1, 500), fraction_of(2, 5), fraction_of(499, 500)
    ('0%', 'under 1%', '40%', '99.8%')
    """
    if 0 < part < whole / 100:
        return "under 1%"
    return percent(part / whole if whole else 0.0)


def size(value: int | None) -> str:
    """Return bytes in a readable unit.

    >>> size(1_536), size(12)
    ('1.5 KB', '12 bytes')
    """
    if value is None:
        return "–"
    for unit, width in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if value >= width:
            return f"{value / width:.1f} {unit}"
    return f"{value} bytes"


def day(milliseconds: int | None) -> str:
    """Return the day in UTC; empty for a time that is unknown or beyond the calendar."""
    if milliseconds is None:
        return ""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, timezone.utc).strftime("%Y-%m-%d")
    except (OverflowError, OSError, ValueError):
        return ""


def utc(milliseconds: int) -> str:
    """Return a time in UTC, which it names.

    >>> utc(0)
    '1970-01-01 00:00:00 UTC'
    """
    try:
        return f"{datetime.fromtimestamp(milliseconds / 1000, timezone.utc):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, OSError, ValueError):
        return ""


def kind(content_type: str) -> str:
    """Return a content type by its common name, or itself where it has none."""
    plain = content_type.partition(";")[0].strip()
    return _TYPES.get(plain) or visible(plain)


def kinds(content_types: Iterable[str]) -> list[str]:
    """Return content types by their common names, types of one name with the type behind it.

    >>> kinds(["text/markdown", "text/html", "text/x-markdown"])
    ['Markdown (text/markdown)', 'HTML', 'Markdown (text/x-markdown)']
    """
    types = list(content_types)
    counts = Counter(map(kind, types))
    return [
        f"{kind(type)} ({visible(type)})" if counts[kind(type)] > 1 else kind(type)
        for type in types
    ]


def stamp(value: str) -> str:
    """Return a time in ISO 8601 as people write it, any other text as it is.

    >>> stamp("2026-11-25T10:11:12.000Z"), stamp("2024-03-04T09:00:00+02:00"), stamp("T1")
    ('2026-11-25 10:11:12 UTC', '2024-03-04 09:00:00 +02:00', 'T1')
    """
    parts = _STAMP.fullmatch(value)
    if parts is None:
        return value
    zone = "UTC" if parts["zone"] in ("Z", "+00:00") else parts["zone"] or ""
    return f"{parts['day']} {parts['time']}{parts['fraction'] or ''} {zone}".rstrip()


def name(path: str) -> str:
    """Return the last part of a path, safe to show; an empty path becomes `(no path)`."""
    return visible(path.rstrip("/").rpartition("/")[2] or path or "(no path)")


def folder(path: str) -> str:
    """Return the path without its last part, safe to show."""
    return visible(path.rstrip("/").rpartition("/")[0])


def names_apart(paths: Iterable[str]) -> list[str]:
    """Return the last part of each path, after as many folders as distinguish paths of one name.

    Safe to show.

    >>> names_apart(["/a/lease.txt", "/b/lease.txt", "/b/note.txt"])
    ['a/lease.txt', 'b/lease.txt', 'note.txt']
    """
    ends = [path.rstrip("/").split("/") for path in paths]
    names = [name("/".join(end)) for end in ends]
    for size in range(2, max(map(len, ends), default=0) + 1):
        counts = Counter(names)
        if max(counts.values()) == 1:
            break
        names = [
            visible("/".join(end[-size:])) if counts[name] > 1 else name
            for end, name in zip(ends, names, strict=True)
        ]
    return names


def names_by_path(paths: Iterable[str]) -> dict[str, str]:
    """Return the names of `names_apart` by path; a path that comes again has one name.

    >>> names_by_path(["/a/lease.txt", "/b/lease.txt", "/a/lease.txt"])
    {'/a/lease.txt': 'a/lease.txt', '/b/lease.txt': 'b/lease.txt'}
    """
    different = list(dict.fromkeys(paths))
    return dict(zip(different, names_apart(different), strict=True))


def spaced(word: str) -> str:
    """Return a name of the code as words."""
    return visible(word.replace("_", " "))


def filter_name(text: str) -> str:
    """Return a filter of a search, as `FIELD=VALUE`, in words.

    >>> filter_name("near_duplicates=true"), filter_name("similarity_from=0.85")
    ('with near duplicates', 'similarity from 0.85')
    >>> filter_name("labels=hot"), filter_name("extractor=plain/4 as cp1252")
    ('hot', 'read as cp1252')
    """
    field, _, value = text.partition("=")
    if field == "extractor" and (encoding := guessed_encoding(value)):
        return f"read as {encoding}"
    if text in _FILTER_NAMES:
        return _FILTER_NAMES[text]
    is_limit = field.endswith(("_from", "_to", "_below", "folder", "custodian", "year"))
    return f"{spaced(field)} {value}" if is_limit else value


def shortened(text: str, limit: int) -> str:
    """Return a text without its middle when it is longer than `limit` characters.

    >>> shortened("from the first word to the last", 15)
    'from th … he last'
    """
    return (
        text if len(text) <= limit else f"{text[: limit // 2]} … {text[len(text) - limit // 2 :]}"
    )


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, safe to show; each may have another direction."""
    return [part for part in visible_lines(text).split("\n\n") if part.strip()]


@dataclass(frozen=True, slots=True)
class FoundWords:
    """The words that a page highlights: the words of a search, and terms, each in one of
    `colors`."""

    highlighter: Highlighter
    colors: Sequence[int]

    def counts(self, text: str) -> Counter[int]:
        """Return how often each is in a text, by number: 0 for the search, terms from 1."""
        return self.highlighter.counts(text)

    def total(self, text: str) -> int:
        """Return how many words of a text are highlighted."""
        return sum(1 for _ in self.highlighter.spans(text))

    def for_scripts(self) -> list[tuple[str, bool, int]]:
        """Return the words, whether each may go on, and its color, for a script."""
        return [(text, more, self.colors[of]) for text, more, of in self.highlighter.terms()]


def found_words(query: str, terms: Mapping[str, int]) -> FoundWords:
    """Return what a page highlights for a query and the terms of a matter with their colors."""
    texts = list(terms)
    try:
        highlighter = Highlighter([query, *texts])
    except UsageError:  # which the search itself explains
        highlighter = Highlighter(["", *texts])
    return FoundWords(highlighter, [0, *terms.values()])


_HIT = re.compile('(<mark(?: class="term t[0-9]+")?) data-hit( tabindex="-1">[^<]*</mark>)')
_TAG = re.compile(r"""(<(?:[^<>"']|"[^"]*"|'[^']*')*>)""")


def marked_html(content: str, found: FoundWords) -> tuple[str, int]:
    """Return HTML with the words that a page highlights, where no tag is within them, and how many
    there are. Each can be linked to, and is followed by links to the hits around it.

    >>> html, _ = marked_html("<b>a</b> &lt;ferry&gt;", FoundWords(Highlighter(["ferry"]), [0]))
    >>> html.partition("<span")[0]
    '<b>a</b> &lt;<mark id="hit-1" data-hit tabindex="-1">ferry</mark>'
    """
    pieces = _TAG.split(content)
    for index in range(0, len(pieces), 2):
        text = unescape(pieces[index])
        if found.counts(text):
            pieces[index] = str(marked(text, found))
    html = "".join(pieces)
    numbers, total = count(1), len(_HIT.findall(html))

    def numbered(hit: re.Match[str]) -> str:
        number = next(numbers)
        links = _links_around(number, total)
        return f'{hit[1]} id="hit-{number}" data-hit{hit[2]}{links}'

    return _HIT.sub(numbered, html), total


def _links_around(number: int, total: int) -> str:
    """Return the links from a hit to the one before and after it, in a circle."""
    before, after = (number - 2) % total + 1, number % total + 1
    return (
        f'<span class="steps">Hit {number:,} of {total:,} <a href="#hit-{before}">Previous hit</a> '
        f'<a href="#hit-{after}">Next hit</a></span>'
    )


def marked(text: str, found: FoundWords | None) -> str:
    """Return a text that is safe to show as HTML, with the words that a page highlights.

    >>> str(marked("a <ferry>", FoundWords(Highlighter(["ferry"]), [0])))
    'a &lt;<mark data-hit tabindex="-1">ferry</mark>&gt;'
    """
    if found is None:
        return do_forceescape(text)
    pieces, end = [], 0
    for start, stop, number in found.highlighter.spans(text):
        color = found.colors[number]
        name = f' class="term t{color}"' if color else ""
        word = do_forceescape(text[start:stop])
        pieces += [
            do_forceescape(text[end:start]),
            f'<mark{name} data-hit tabindex="-1">{word}</mark>',
        ]
        end = stop
    return do_mark_safe("".join([*pieces, do_forceescape(text[end:])]))


def render(templates: Environment, template: str, values: Mapping[str, Any]) -> str:
    """Render one page."""
    return templates.get_template(template).render(values)


# A page as one HTML file that needs nothing but itself: its styles and scripts stand inside it.

_STYLES = ("base.css", "parts.css", "file.css")
_MODULE_SYNTAX = re.compile(r"^(?:import .*|export (?=function))", re.MULTILINE)


def render_file(
    template: str,
    values: Mapping[str, Any],
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
) -> str:
    """Render a template that extends `file.html`; lone surrogates become U+FFFD.

    `styles` and `scripts` are names in `static/`. Every file has the style of the review pages and
    the one for print; `styles` come between them. Scripts become one module, in their order.
    """
    style, script = _style(tuple(styles)), _script(tuple(scripts))
    shared = {
        "style": style,
        "script": script,
        "policy": _policy(style, script),
        "version": release(),
    }
    html = render(_templates(), template, {**values, **shared})
    return well_formed(html)


@cache
def _templates() -> Environment:
    return environment()


@cache
def _style(names: tuple[str, ...]) -> str:
    screen = "\n".join(map(_static, (*_STYLES, *names)))
    return f"{screen}\n@media print {{\n{_static('print.css')}}}\n"


@cache
def _script(names: tuple[str, ...]) -> str:
    """Join scripts to one module: without imports and exports, each can call those before it."""
    return "\n".join(_MODULE_SYNTAX.sub("", _static(name)) for name in names)


def _static(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    rules = [
        "default-src 'none'",
        f"style-src '{_digest(style)}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    if script:
        rules += [
            f"script-src '{_digest(script)}'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    return "; ".join(rules)


def _digest(text: str) -> str:
    """Return the digest by which a policy names a style or a script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
