"""Headers, footers, notes and the like of office documents, and blocks of HTML."""

import io
from email.message import EmailMessage

import docx
import pytest
from odf import style, text
from odf.opendocument import OpenDocumentText
from samples import native_reader

from indexer.fingerprinting.fingerprint import fingerprint

HEADER, FOOTER = "Our reference 4711", "Harbour Ferries Ltd"
BODY = "The ferry leaves the harbour at eight and takes the mail to both islands every day."


def word_file() -> bytes:
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = HEADER
    document.sections[0].footer.paragraphs[0].text = FOOTER
    document.add_paragraph(BODY)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def open_document() -> bytes:
    document = OpenDocumentText()
    layout = style.PageLayout(name="layout")
    document.automaticstyles.addElement(layout)
    page = style.MasterPage(name="Standard", pagelayoutname=layout)
    document.masterstyles.addElement(page)
    for kind, words in ((style.Header, HEADER), (style.Footer, FOOTER)):
        part = kind()
        part.addElement(text.P(text=words))
        page.addElement(part)
    document.text.addElement(text.P(text=BODY))
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def rich_text() -> bytes:
    source = r"{\rtf1\ansi{\header\pard %s\par}{\footer\pard %s\par}%s\par}"
    return (source % (HEADER, FOOTER, BODY)).encode()


def text_of(data: bytes, name: str) -> str:
    return native_reader().extract(data, name).text


@pytest.mark.parametrize(
    ("make", "name"),
    [(word_file, "a.docx"), (open_document, "a.odt"), (rich_text, "a.rtf")],
)
def test_headers_and_footers_are_read_in_every_format(make, name: str) -> None:
    found = sorted(" ".join(text_of(make(), name).split()).split())
    assert found == sorted(f"{HEADER} {FOOTER} {BODY}".split())


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<nav>Contact</nav>This is the page.", "Contact This is the page."),
        ("See the list<p>first</p>", "See the list first"),
        ("<main>One</main><section>two</section>three", "One two three"),
        ("Send<button>Cancel</button>Help", "Send Cancel Help"),
        ("See the list<span><div>first</div></span>", "See the list first"),
        ("un<b>believ</b>able", "unbelievable"),
    ],
)
def test_blocks_of_a_page_join_no_words(source: str, expected: str) -> None:
    page = f"<html><body>{source}</body></html>"
    xhtml = f'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">{page[6:]}'
    for data in (page, xhtml, "\ufeff" + page):
        assert " ".join(text_of(data.encode(), "a.html").split()) == expected


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1"])
def test_blocks_of_a_mail_join_no_words(charset: str) -> None:
    message = EmailMessage()
    message["From"] = "ann@example.org"
    message["Subject"] = "Ferry"
    page = f"<html>{BODY} Viele Grüße, schöne Tage, bis übermorgen<div>Ann</div></html>"
    message.set_content(page, subtype="html", charset=charset)
    words = text_of(message.as_bytes(), "a.eml").split()
    assert words[-2:] == ["übermorgen", "Ann"]


def test_a_page_in_an_encoding_of_seven_bits_is_left_as_it_is() -> None:
    japanese = "吾輩は猫である。名前はまだ無い。どこで生れたか。" * 3 + "昭昭昭、"
    meta = '<meta http-equiv="Content-Type" content="text/html; charset=iso-2022-jp">'
    page = f"<html><head>{meta}</head><body><p>{japanese}</p></body></html>"
    assert japanese in text_of(page.encode("iso2022_jp"), "a.html")


def test_separated_blocks_change_no_digest_of_words_that_were_apart() -> None:
    page = f"<html><body><p>{BODY}</p>\n<div>{HEADER}</div></body></html>".encode()
    found = fingerprint(text_of(page, "a.html"))
    assert found.exact == fingerprint(f"{BODY}\n{HEADER}").exact
