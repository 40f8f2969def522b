"""Tika compiled to native code: the formats that it reads, its refusals, and their messages."""

import random
import struct
import zlib

import pytest
from samples import PARAGRAPHS, TITLE, docx, formats, html, native_reader, odt, pdf, rtf, zipped

from indexer.documents.base import CUT, Limits
from indexer.documents.tika import document
from indexer.errors import ExtractionError

READER = native_reader(Limits(chars=5_000))
NOISE = random.Random(7).randbytes(20_000)


def words(text: str) -> list[str]:
    return text.split()


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(formats()))
def test_every_format_gives_the_same_words(name: str) -> None:
    result = READER.extract(formats()[name], name)
    inner = words(result.text)[1:] if name == "a.zip" else words(result.text)
    assert inner == words(" ".join(PARAGRAPHS))
    assert (result.truncated, result.warnings) == (False, ())
    assert result.extractor == READER.identity


@pytest.mark.long
@pytest.mark.parametrize("name", ["a.docx", "a.eml", "a.html", "a.pdf", "a.rtf"])
def test_titles(name: str) -> None:
    assert READER.extract(formats()[name], name).title == TITLE


@pytest.mark.long
def test_content_type_has_no_parameters_and_metadata_plain_names() -> None:
    assert READER.extract(html(), "a.html").content_type == "text/html"
    result = READER.extract(formats()["a.eml"], "a.eml")
    assert result.content_type == "message/rfc822"
    assert (result.metadata["from"], result.metadata["to"]) == (
        "ann@example.org",
        "bob@example.org",
    )


@pytest.mark.long
def test_all_who_get_a_copy_of_a_mail_are_in_its_metadata() -> None:
    mail = b"To: bob@example.org\nCc: Carl <carl@example.org>, eve@example.org\n\nHello there.\n"
    metadata = READER.extract(mail, "a.eml").metadata
    assert metadata["cc"] == "Carl <carl@example.org>; eve@example.org"


def test_no_bytes_are_an_empty_document() -> None:
    assert READER.extract(b"", "a.pdf").text == ""


CAPTION = b"The ferry at the quay, seen from the harbour"
EXIF = b"Exif\0\0MM\0*\0\0\0\x08" + struct.pack(">HHHIII", 1, 0x10E, 2, 44, 26, 0) + CAPTION
XMP = (
    b'http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf='
    b'"http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc='
    b'"http://purl.org/dc/elements/1.1/" dc:title="' + CAPTION + b'"/></rdf:RDF></x:xmpmeta>'
)
IPTC = b"Photoshop 3.0\08BIM\x04\x04\0\0" + struct.pack(">I", 49) + b"\x1c\x02\x78\0\x2c" + CAPTION
JPEG = bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffc0000b08000100010101110000ffd9")


@pytest.mark.long
@pytest.mark.parametrize(
    ("marker", "metadata"),
    [(0xFE, CAPTION), (0xE1, EXIF), (0xE1, XMP), (0xE1, XMP[:90]), (0xED, IPTC)],
    ids=["comment", "exif", "xmp", "cut xmp", "iptc"],
)
def test_a_photograph_with_text_in_its_metadata_is_empty(marker: int, metadata: bytes) -> None:
    """The metadata may be damaged, which harms no text."""
    segment = struct.pack(">BBH", 0xFF, marker, len(metadata) + 2) + metadata
    result = READER.extract(JPEG[:2] + segment + JPEG[2:], "a.jpg")
    assert (result.text.strip(), result.content_type) == ("", "image/jpeg")


def test_picture_is_a_document_without_text() -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    png = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(200)))
        + chunk(b"IEND", b"")
    )
    result = READER.extract(png, "a.png")
    assert (result.text, result.content_type) == ("", "image/png")


def test_a_pdf_of_a_program_that_recognises_characters_is_a_scan() -> None:
    producer = "Adobe Acrobat 9.0 Paper Capture Plug-in"
    assert READER.extract(pdf(producer=producer), "a.pdf").metadata["ocr_program"] == producer
    assert "ocr_program" not in READER.extract(pdf(), "a.pdf").metadata
    page = b'<html><head><meta name="ocr-system" content="tesseract 5.3"></head>Yes.</html>'
    assert READER.extract(page, "a.html").metadata["ocr_program"] == "tesseract 5.3"


def test_encrypted_pdf_says_so() -> None:
    with pytest.raises(ExtractionError, match="encrypted; remove its password"):
        READER.extract(pdf(password="secret"), "a.pdf")


def test_pdf_with_an_empty_password_is_read() -> None:
    assert words(READER.extract(pdf(password=""), "a.pdf").text) == words(" ".join(PARAGRAPHS))


@pytest.mark.long
@pytest.mark.parametrize(
    "data", [NOISE, b"%PDF-1.4\n" + NOISE, b"PK\x03\x04" + NOISE, b"text\0with a NUL"]
)
def test_noise_is_refused_with_a_way_forward(data: bytes) -> None:
    with pytest.raises(ExtractionError, match=r"damaged|no text can be read") as caught:
        READER.extract(data, "a.bin")
    assert "leave it out" in str(caught.value)
    assert "@" not in str(caught.value)


@pytest.mark.long
@pytest.mark.parametrize(
    ("data", "name"),
    [
        (docx([f"{n} {text}" for n in range(300) for text in PARAGRAPHS])[:-2000], "a.docx"),
        (pdf(pages=20)[:-3000], "a.pdf"),
        (rtf(PARAGRAPHS * 20)[:-100], "a.rtf"),
    ],
)
def test_cut_files_are_never_called_complete(data: bytes, name: str) -> None:
    try:
        result = READER.extract(data, name)
    except ExtractionError as error:
        assert "damaged" in str(error)
    else:
        assert result.truncated
        assert "the end of the file is missing" in result.warnings


@pytest.mark.long
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9, 0.99])
@pytest.mark.parametrize("name", ["a.docx", "a.odt", "a.pdf", "a.zip"])
def test_a_file_cut_anywhere_is_truncated_or_refused(name: str, share: float) -> None:
    data = formats()[name]
    try:
        assert READER.extract(data[: int(len(data) * share)], name).truncated
    except ExtractionError as error:
        assert "damaged" in str(error)


def test_archive_with_a_damaged_member_is_truncated() -> None:
    members = {
        "good.html": html(),
        "bad.pdf": b"%PDF-1.4\n" + NOISE,
        "locked.pdf": pdf(password="x"),
    }
    result = READER.extract(zipped(members), "a.zip")
    assert PARAGRAPHS[0] in result.text
    assert result.truncated
    assert any("encrypted" in warning for warning in result.warnings)


@pytest.mark.long
@pytest.mark.parametrize("make", [html, docx, odt, rtf])
def test_text_is_cut_at_the_limit(make: object) -> None:
    result = READER.extract(make(PARAGRAPHS * 100), "a")  # type: ignore[operator]
    assert (len(result.text), result.truncated, result.warnings) == (5_000, True, (CUT,))


@pytest.mark.long
def test_limit_counts_code_points_and_the_last_one_is_whole() -> None:
    extraction = READER.extract(html(["😀" * 4_990]), "a.html")
    assert extraction.text.count("😀") == 4_990
    cut = READER.extract(html(["😀" * 6_000]), "a.html")
    assert (cut.text, cut.truncated) == ("😀" * 5_000, True)


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    ["😀 and 𝔉𝔯𝔞𝔨𝔱𝔲𝔯 and 𠮷野家", "a \ufffd that was there", "Zażółć gęślą jaźń", "שלום עולם"],
)
@pytest.mark.parametrize("name", ["a.html", "a.docx", "a.odt"])
def test_characters_of_every_plane(name: str, text: str) -> None:
    make = {"a.html": html, "a.docx": docx, "a.odt": odt}[name]
    assert READER.extract(make([text]), name).text.strip() == text


def test_html_that_is_utf8_is_read_as_utf8_whatever_it_claims() -> None:
    text = '<html><head><meta charset="iso-8859-1"></head><body>plików owoców</body></html>'
    assert READER.extract(text.encode(), "a.html").text.strip() == "plików owoców"
    assert (
        READER.extract("<html><body>façade</body></html>".encode("cp1252"), "a.html").text.strip()
        == "façade"
    )


@pytest.mark.long
def test_the_name_decides_where_the_first_bytes_do_not() -> None:
    assert words(READER.extract("<p>plików <b>owoców</b></p>".encode(), "a.htm").text) == [
        "plików",
        "owoców",
    ]
    assert words(READER.extract("<a><b>plików</b> <c>owoców</c></a>".encode(), "a.xml").text) == [
        "plików",
        "owoców",
    ]


def test_metadata_are_one_clean_bounded_line_each() -> None:
    metadata = {
        "dc:title": [" a\nb\0c\ud800 "],
        "dc:creator": ["x" * 5000, "y"],
        "dc:subject": ["one", "two"],
        "other": ["z"],
    }
    result = document("text", metadata, b"", 10, "test")
    assert result.title == "a b c"
    assert result.metadata == {"author": "x" * 1000, "subject": "one; two"}
    assert document("a\ud800b", {}, b"", 10, "test").text == "a\ufffdb"
