"""What a PDF holds besides its text: pictures, drawings, marks over text and earlier texts."""

import zlib

import pytest

from indexer.documents.embedded import embedded_files
from indexer.model import unpack_embedded


def described(content: str, *others: str, packed: bool = False) -> bytes:
    """Return a PDF whose page has a description, and other objects: their bodies and streams."""
    bodies = ["<< /Type /Page /Contents 2 0 R >>", f"<< >>\0{content}", *others]
    data = b"%PDF-1.5\n"
    for number, whole in enumerate(bodies, start=1):
        body, _, stream = whole.partition("\0")
        if packed and stream:
            body = body.replace("<<", "<< /Filter /FlateDecode", 1)
        encoded = zlib.compress(stream.encode("latin-1")) if packed else stream.encode("latin-1")
        stored = b"stream\n%s\nendstream\n" % encoded if stream else b""
        data += b"%d 0 obj\n%s\n%sendobj\n" % (number, body.encode(), stored)
    return data + b"%%EOF"


LINE = "BT /F1 12 Tf 20 700 Td (It is not agreed by both of them) Tj ET "
SHOWN = "BT /F1 12 Tf (It is agreed: 1 2 3 4 5 6 c) Tj ET "
INLINE = "q 8 0 0 1 0 0 cm BI /W 8 /H 1 /BPC 1 /IM true ID {} EI Q "
FORM, PATTERN = "<< /Subtype /Form >>\0", "<< /PatternType 1 >>\0"
SIGNED = "<< /Type /Sig /ByteRange [0 1 2 3] /Contents <{}> >>"
STAMP = "<< /Subtype /Stamp /AP << /N 4 0 R >> >>"
DRAWINGS = {
    "inline picture": [(SHOWN + INLINE.format(sign),) for sign in "ab"],
    "inline picture of a form": [(SHOWN, FORM + INLINE.format(sign)) for sign in "ab"],
    "inline picture of a pattern": [(SHOWN, PATTERN + INLINE.format(sign)) for sign in "ab"],
    "curve": [(f"{SHOWN} 1 1 m 2 2 3 3 {end} 9 c S",) for end in "45"],
    "slanting line": [(f"{SHOWN} 1 1 m {end} 9 l S",) for end in "45"],
    "bar without text": [(SHOWN, f"{FORM}0 0 3 {height} re f") for height in "12"],
    "stamp": [(SHOWN, STAMP, f"{FORM}BT ({word}) Tj ET") for word in ("Paid", "Void")],
    "stamp with a name alone": [(SHOWN, f"<< /Subtype /Stamp /Name /A{end} >>") for end in "12"],
    "script": [(SHOWN, f"<< /S /JavaScript /JS (alert\\({end}\\)) >>") for end in "12"],
    "formatted note": [(SHOWN, f"<< /RC (<b>{end}</b>) >>") for end in "12"],
    "form in XML": [(SHOWN, "<< /XFA 4 0 R >>", f"<< >>\0<a>{end}</a>") for end in "12"],
    "hidden layer": [(SHOWN, "<< /OFF [4 0 R] >>", f"<< /Name (Layer {end}) >>") for end in "12"],
    "scaled drawing": [(f"{SHOWN} 90 0 0 90 0 0 cm 0 0 m .1 {end} l S",) for end in (".01", ".02")],
    "line through text": [(SHOWN, f"<< /Subtype /StrikeOut /QuadPoints [{x}] >>") for x in "12"],
    "signature": [(SHOWN, SIGNED.format(digits)) for digits in ("0a", "0b")],
    "struck words": [(f"{LINE}{x} 704 m 99 704 l S",) for x in (30, 60)],
    "struck words by a bar": [(f"{LINE}{x} 704 40 .5 re f",) for x in (30, 60)],
    "covered words": [(f"{LINE}{x} 698 40 12 re f",) for x in (30, 60)],
    "framed words": [(f"{LINE}{x} 698 40 12 re S",) for x in (30, 60)],
    "invisible words": [(f"{LINE}BT {mode} Tr 20 600 Td (never) Tj ET",) for mode in (3, 0)],
    "white words": [(f"{LINE}{grey} g BT 20 600 Td (never) Tj ET",) for grey in (1, 0)],
    "nearly white words": [(f"{LINE}{grey} g BT 20 600 Td (never) Tj ET",) for grey in (0.98, 0.5)],
    "tiny words": [
        (f"{LINE}1 1 7 7 re f BT /F1 {size} Tf 20 600 Td (never) Tj ET",) for size in (0.9, 9)
    ],
    "hidden note": [
        (SHOWN, f"<< /Subtype /FreeText /F {flags} /Contents (not) >>") for flags in (2, 4)
    ],
    "appearance of a field": [
        (SHOWN, "<< /Subtype /Widget /V (900) /AP << /N 4 0 R >> >>", f"{FORM}BT ({of}) Tj ET")
        for of in (800, 900)
    ],
    "state of a box": [
        (SHOWN, f"<< /Subtype /Widget /V /Yes /AS /{of} >>") for of in ("Off", "No")
    ],
    "state of a radio button": [
        (SHOWN, f"<< /Subtype /Widget /Parent 4 0 R /AS /{of} >>", "<< /FT /Btn /V /2 >>")
        for of in (1, 2)
    ],
    "filter that is not known": [(SHOWN, f"<< /Subtype /Form /Filter /X >>\0{x}") for x in "ab"],
    "encrypted": [(SHOWN, "<< /Encrypt 9 0 R >>", f"{FORM}{sign}") for sign in "ab"],
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_what_a_pdf_draws_counts(name: str) -> None:
    first, second = (embedded_files(described(*parts), "") for parts in DRAWINGS[name])
    assert first and first[:64] != second[:64]


@pytest.mark.parametrize(
    "name", sorted(DRAWINGS.keys() - {"encrypted", "filter that is not known"})
)
def test_a_pdf_that_is_saved_again_is_a_copy(name: str) -> None:
    """It is, whatever packs its descriptions, and however they write blanks and numbers."""
    parts = DRAWINGS[name][0]
    saved = [part.replace(" 9 ", "\n9.00 ") for part in parts]
    first = embedded_files(described(*parts), "")
    assert first == embedded_files(described(*saved, packed=True), "")


def test_brackets_in_the_value_of_a_field_are_part_of_it() -> None:
    field = "<< /Subtype /Widget /V (a (b) c) /AP << /N 4 0 R >> >>"
    for drawn, is_other in (("(a (b) c)", False), ("(a (d) c)", True)):
        found = embedded_files(described(SHOWN, field, f"{FORM}BT {drawn} Tj ET"), "")
        assert ("appearance of a field" in found) == is_other


@pytest.mark.parametrize(
    "drawn",
    [
        "{}",
        "0 0 m 9 0 l S {}",
        "9 690 300 30 re f {}",
        "9 690 300 30 re W n {}",
        "{} 20 698 m 99 698 l S",
        "{} 15 690 300 20 re 15 710 300 20 re S",
        "q 0 0 9 9 re W n {} 9 690 300 30 re f Q",
    ],
)
def test_rules_and_borders_around_text_of_a_pdf_do_not_count(drawn: str) -> None:
    assert embedded_files(described(drawn.format(LINE)), "") == ""


@pytest.mark.parametrize(
    ("at", "boxes"),
    [
        ("20 -40", ("", "/MediaBox [0 0 612 792]")),
        ("700 300", ("/MediaBox [0 0 612 792]", "")),
        ("-300 300", ("/MediaBox [0 0 612 792]", "")),
        ("20 780", ("/CropBox [612 742 0 50]", "/MediaBox [0 0 612 792]")),
    ],
)
def test_text_outside_of_a_page_counts(at: str, boxes: tuple[str, str]) -> None:
    page = f"<< /Type /Page /Parent 4 0 R /Contents 2 0 R {boxes[0]} >>"
    parent = f"<< /Type /Pages /Kids [3 0 R] {boxes[1]} >>"
    inside, outside = (
        embedded_files(described(f"{LINE}BT {position} Td (never) Tj ET", page, parent), "")
        for position in ("20 60", at)
    )
    [file] = unpack_embedded(outside)
    assert (inside, file.kind, file.name) == ("", "object", "text outside of page 1")


def test_an_earlier_text_that_a_pdf_keeps_counts() -> None:
    refused, agreed = (described(f"BT ({word}) Tj ET") for word in ("refused", "agreed"))
    assert embedded_files(agreed + agreed, "") == ""
    [earlier] = unpack_embedded(embedded_files(refused + agreed, ""))
    assert (earlier.kind, earlier.name) == ("unread", "earlier version of 1 pages")


def test_the_palette_of_a_picture_counts_however_it_is_written() -> None:
    image = "<< /Subtype /Image /ColorSpace [/Indexed /DeviceGray 1 {}] >>\0picture"
    palettes = ("<4142>", "(AB)", "(\\101B)", "4 0 R", "<4143>")
    digests = [
        embedded_files(described(SHOWN, image.format(palette), "<< >>\0AB"), "")
        for palette in palettes
    ]
    assert len(set(digests[:4])) == 1
    assert digests[4] != digests[0]


def test_what_draws_text_that_could_not_be_read_counts() -> None:
    files = [described(f"BT ({word}) Tj ET") for word in ("agreed", "refused")]
    assert embedded_files(files[0], "", 1) == ""
    first, second = (embedded_files(data, "", 0) for data in files)
    assert first != second
    assert first == embedded_files(described("BT (agreed)  Tj ET", packed=True), "", 0)


def test_pictures_of_a_pdf_count_with_their_pages_and_positions() -> None:
    page = "<< /Type /Page /Contents {} 0 R /Resources << /XObject << /A 5 0 R /B 6 0 R >> >> >>"
    files = []
    for names in ("AB", "BA"):
        shown = [
            f"q 1 0 0 1 9 {height} cm /{name} Do Q"
            for name, height in zip(names, "19", strict=True)
        ]
        for contents in (shown, ["".join(shown), ""]):
            images = (f"<< /Subtype /Image >>\0{name}" for name in "ab")
            streams = (f"<< >>\0{content}" for content in contents)
            data = described("", page.format(7), page.format(8), *images, *streams)
            files.append(embedded_files(data.replace(b"/Contents 2 0 R", b""), "")[:64])
    assert len(set(files)) == 4


def test_a_pdf_with_its_objects_in_streams_is_looked_into() -> None:
    packed = "7 0 << /Type /Page /Contents 4 0 R >>"
    stream = f"<< /Type /ObjStm /N 1 /First 4 >>\0{packed}"
    drawn = [described(SHOWN, stream, f"<< >>\0{end} 1 m 3 9 l S", packed=True) for end in "12"]
    digests = {embedded_files(data, "")[:64] for data in drawn}
    assert len(digests) == 2


def test_words_that_a_picture_covers_count() -> None:
    cover = "q 300 0 0 40 10 690 cm /I Do Q "
    page = b"/Contents 2 0 R /Resources << /XObject << /I 3 0 R >> >>"
    before, after = (
        described(content, "<< /Subtype /Image >>\0x").replace(b"/Contents 2 0 R", page)
        for content in (cover + LINE, LINE + cover)
    )
    names = [file.name for file in unpack_embedded(embedded_files(after, ""))]
    assert names == ["picture 1", "lines through text of page 1"]
    assert "lines through" not in embedded_files(before, "")
