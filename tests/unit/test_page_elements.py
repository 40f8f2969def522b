"""Tags and elements that have no end, as most paragraphs of pages, and such in PDF and RTF."""

from __future__ import annotations

import io
import re
import time
import zipfile
import zlib
from collections.abc import Callable

import pytest

from indexer.documents.base import Anchors
from indexer.documents.embedded import embedded_files
from indexer.documents.embedded_parts import unread_xml
from indexer.documents.marked_text import inline_deletions, marked_text
from indexer.documents.pages import page_files
from indexer.documents.tika import _with_readable_members, with_hint
from indexer.documents.unseen import (
    displayed_headers,
    displayed_sheets,
    unseen_words,
    with_repeated_cells,
    worded_cells,
)

PDF = b"""%%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Contents 4 0 R/MediaBox[0 0 612 792]>>endobj
4 0 obj<</Filter/FlateDecode/Length %d>>stream
%b
endstream endobj 5 0 obj<<%b>>endobj trailer<</Root 1 0 R>>
%%%%EOF"""


@pytest.mark.parametrize(
    ("kind", "unit"),
    [
        *(("html", unit) for unit in (b"<a ", b"<input ", b"<style>", b"<style>@", b"<!--")),
        *(("html", unit) for unit in (b"<style>.a,", b"<img src", b"<script>", b"<p hidden ")),
        *(("html", unit) for unit in (b"<s>x", b"<b hidden>x", b'<p color="#000">', b'a="<')),
        *(("html", unit) for unit in (b"<p hidden><a", b"<b hidden>", b'<a ="<', b'<a =\'"<" =')),
        ("html", b'1<b style="vertical-align:sub">2'),
        *(("css", unit) for unit in (b"&" * 40 + b"{", b"a{b{&,", b"'\\'")),
        *(
            ("css", unit)
            for unit in (b"a ", b"a{", b"a b{}", b"a{b:c}", b":is(", b"/*", b'"', b"\\")
        ),
        ("css", b"* ~ *, * * *, p:nth-of-type(2) { opacity: 0 }"),
        *(("xml", unit) for unit in (b"<w:rPrChange>", b"<math>", b"<text:tracked-changes>", b"<")),
        *(("pdf", unit) for unit in (b"BI ", b"BI ID ", b"1", b".", b"(\\", b"(")),
        *(("object", unit) for unit in (b"/EF<<", b"/AP<<", b"/Contents[", b"/XObject<<")),
        *(("rtf", unit) for unit in (b"{\\header ", b"{\\v x", b"{\\pict", b"{\\field{")),
    ],
)
def test_ends_that_are_missing_are_looked_for_in_linear_time(kind: str, unit: bytes) -> None:
    """A quadratic search in 200 kB takes ten seconds and more."""
    data = unit * (200_000 // len(unit))
    if kind == "css":
        data = b"<style>" + data + b"</style>" + b"<p><b>x" * 5_000
        kind = "html"
    starts = {"html": b"<!DOCTYPE html>", "xml": b"<?xml version='1.0'?><pkg:package>"}
    types = {"html": "text/html", "xml": "application/xml", "rtf": "application/rtf"}
    if kind == "pdf":
        content = zlib.compress(b"BT (a) Tj ET " + data)
        data = PDF % (len(content), content, b"")
    elif kind == "object":
        data = PDF % (0, b"", data)
    data = starts.get(kind, b"{\\rtf1 " if kind == "rtf" else b"") + data
    start = time.process_time()
    embedded_files(with_hint(data, f"a.{kind}"), types.get(kind, "application/pdf"), 1)
    assert time.process_time() - start < 5


# what hides or adds the text of a page
_MARKUP = re.compile(
    r"<style>.*?</style>|\sstyle='[^']*'|\shidden[^\s/>]*|label=\w+|color=\w+"
    r"|</?(?:template|dialog)>"
)
FORMATS = b"""<numFmt numFmtId="1" formatCode="&quot;x&quot;">"""
REGION = b"<text:deletion><text:changed-region "
DELETED, CHANGE = b"</text:deletion>", b'text:change-id="a" '


@pytest.mark.parametrize(
    ("read", "start", "unit"),
    [
        (with_repeated_cells, b"<table:table-cell", b' table:number-columns-repeated="2"'),
        (with_repeated_cells, b"<table:table-row", b' table:number-rows-repeated="2"'),
        (displayed_sheets, b"<table:table ", b'table:name="a"'),
        (lambda data: displayed_headers(data, b""), b"<style:master-page ", b'style:name="a"'),
        (lambda data: worded_cells(data, FORMATS), b"", b"<c "),
        (lambda data: inline_deletions(data + DELETED), b"<text:deletion><text:change ", CHANGE),
        (lambda data: inline_deletions(data + DELETED), REGION, b'xml:id="a" '),
        (lambda data: list(unread_xml(data, "content.xml")), b"", b"<table:deletion>"),
    ],
)
def test_attributes_without_an_end_are_looked_for_in_linear_time(
    read: Callable[[bytes], object], start: bytes, unit: bytes
) -> None:
    data = start + unit * (400_000 // len(unit))
    before = time.process_time()
    read(data)
    assert time.process_time() - before < 1


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_of_one_name_keep_their_texts() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", "<text:p>one</text:p>")
        archive.writestr("content.xml", "<text:p>two</text:p>")
        archive.writestr("styles.xml", "")
    with zipfile.ZipFile(io.BytesIO(_with_readable_members(file.getvalue()))) as archive:
        texts = [archive.read(member) for member in archive.infolist() if member.file_size]
    assert sum(b"one" in text for text in texts) == sum(b"two" in text for text in texts) == 1


def test_scripts_styles_titles_and_comments_are_before_no_position() -> None:
    page = b"<title>One</title><style>p{}</style ><!-- two --><SCRIPT>x</script><p>It is<s>"
    assert Anchors(page)(len(page)) == len("Itis")


def test_colours_and_backgrounds_in_thousands_take_linear_time() -> None:
    pairs = [(f"{each:x}", f"{each + 0x400000:x}") for each in range(0x100000, 0x1C0000, 0x101)]
    rules = "".join(f".a{one}{{color:#{one};background:#{other}}}" for one, other in pairs)
    page = f"<style>{rules}</style>" + "".join(f"<p class=a{one}>x" for one, _ in pairs)
    runs = [f'<w:color w:val="{one}"/><w:shd w:fill="{other}"/>' for one, other in pairs]
    fonts = "".join(f'<font><color rgb="{one}"/></font>' for one, _ in pairs)
    fills = "".join(f'<fill><fgColor rgb="{other}"/></fill>' for _, other in pairs)
    start = time.process_time()
    list(page_files(page.encode()))
    marked_text(f"<w:p>{''.join(runs)}</w:p>".encode())
    unseen_words(b"", f"<fonts>{fonts}</fonts><fills>{fills}</fills>".encode())
    assert time.process_time() - start < 2


def test_base64_without_padding_is_another_file() -> None:
    pages = [b"<img src='data:image/png;base64,%s'>" % each for each in (b"QUJDRA", b"WFlaWg")]
    first, second = ([file.sha256 for file in page_files(page)] for page in pages)
    padded = [file.sha256 for file in page_files(pages[0].replace(b"DRA", b"DRA%3D="))]
    assert first == padded != second


def test_the_first_end_tag_ends_an_element() -> None:
    [closed] = page_files(b"<p hidden>one</P>two")
    [alone] = page_files(b"<p hidden>one</p>")
    assert closed == alone


@pytest.mark.parametrize(
    "page",
    [
        *(
            f"<p style='{style}'>not</p>"
            for style in (
                *("color: rgba(0, 0, 0, 0)", "color:#ff000000", "color:hsla(0,0%,0%,0)"),
                *("opacity:4%", "visibility:collapse", r"d\69splay:none", "display/**/:none"),
                *(
                    "font-size:1px",
                    "font:0/0 a",
                    "margin-left:-9999px",
                    "clip:rect(1px,1px,1px,1px)",
                ),
                *("text-decoration:underline line-through", "transform:scaleY(0)"),
            )
        ),
        "<p title='a>b' style='display:none'>not</p>",
        r"<style>.a::before{content:'\6E\6Ft'}</style><p class=a>x</p>",
        "<style>.a::after{content:attr(data-w)}</style><p class=a data-w=not>x</p>",
        "<style>ul > li:nth-child(2){display:none}</style><ul><li>a</li><li>not</li></ul>",
        "<style>li:nth-child(odd) + li{display:none}</style><ul><li>a<li>not</ul>",
        "<style>p:last-child{display:none}</style><p>x</p><p>not</p>",
        r"<style>.md\:hide{display:none}</style><p class='md:hide'>not</p>",
        "<style>[data-x^=ho]{display:none}</style><p data-x=hoho>not</p>",
        "<style>div p{display:none}</style><div><b><p>not</p></b></div>",
        "<style>p:not(.a, :hover){display:none}</style><p class=b>not</p>",
        "<style>.x{& .a{display:none}}</style><div class=x><p class=a>not</p></div>",
        "<style>@media screen{<!-- P.a{display:none!important} -->}</style><p class=a>not</p>",
        "<style>.a{color:#fefefe}</style><p class=a>not</p>",
        "<style>.a{color:white}td{background:#fdfdfd}</style><table><td class=a>not</table>",
        "<body style='background:#000'><p style='color:#000'>not</p>",
        "<style>p:has(b){display:none}</style><p><b>not</b></p>",  # not evaluated
        "<select><option label=not></select>",
        *("<template>not</template>", "<dialog>not</dialog>", "<p hidden=until-found>not</p>"),
        *("<p style='color:#fff'>not", "<div style='display:none'>not", "<div hidden/>not"),
        "<p>a =\"<b hidden=''>not</b>\" z</p>",
        "<style>a[href*='/*']{color:red} .x{display:none}</style><p class=x>not</p>",
        "<style>.x{display:none</style><p class=x>not</p>",
        "<style>.x{display:none}</style><p class='&#120;'>not</p>",
        "<style>.x{.y{&%s{display:none}}}</style><p>not</p>" % (", & a" * 300),  # too long
        *(
            f"<p style='color:{colour}'>not</p>"
            for colour in ("rgb(100%,100%,100%)", "hsl(0,0%,100%)", "snow", "rgb(1e999,255,255)")
        ),
        *("<p style='color:red;background:#f00'>not</p>", "<font color=ffffff>not</font>"),
        "<svg><g style='display:none'/></svg><p style='display:none'>not</p>",
    ],
)
def test_text_that_is_hidden_or_added_counts_whatever_style_does(page: str) -> None:
    found = embedded_files(page.encode(), "text/html")
    assert found != embedded_files(_MARKUP.sub("", page).encode(), "text/html")


@pytest.mark.parametrize(
    "page",
    [
        "<style>.a:hover{display:none}</style><p class=a>x</p>",
        "<style>.b, .a .a, b > .a{display:none}</style><p class=a>x</p>",
        "<style>@media print{.a{display:none}}</style><p class=a>x</p>",
        "<style>@font-face{src:url(a)} ::-webkit-scrollbar{display:none}</style><p>x</p>",
        "<style>p:has(b){color:red}</style><p><b>x</b></p>",
        "<p style='color:#333;background:#fff'>x</p>",
        "<div style='color:white'><p style='background:#003'>x</p></div>",
        "<font color=white>x</font><div style='background:navy'>y</div>",
        "<body bgcolor=#ffffff text=#000000>x",
        "<style>:is(){display:none} ,{opacity:0} :not(){opacity:0}</style><p>x</p>",
        "<style>.x{/* \\*/} .y{content:'/*'}</style><p class=x>x</p>",
        "<?xml version='1.0'?><html><div hidden=''/><p>x</p></html>",
        "<svg><path hidden/></svg>x",
        "<p style='color:whitesmoke'>x</p>",
        "<p style='width:100%;left:-10px;top:0'>x",
        *("<dialog open>x</dialog>", "<a title='a>b'>x</a>", "<div hidden><a><!-- b --></a></div>"),
    ],
)
def test_text_that_is_displayed_does_not_count(page: str) -> None:
    assert embedded_files(page.encode(), "text/html") == ""
