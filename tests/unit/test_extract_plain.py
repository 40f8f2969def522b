"""Plain text: decoded exactly, and distinguished from everything that needs an extractor."""

import codecs
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import formats

from indexer.documents.base import CUT, Limits
from indexer.documents.plain_text import PlainExtractor, plain_document
from indexer.errors import ExtractionError
from indexer.model import Document

LIMITS = Limits()
POLISH = "Zażółć gęślą jaźń, powiedział książę do plików owocowych.\n"
ENCODED = {
    "cp1252": (
        "La façon dont les élèves apprennent à lire dépend de l'école où ils étudient, voilà "
        "tout.\n"
    ),
    "cp1250": POLISH,
    "cp1251": (
        "Съешь ещё этих мягких французских булок, да выпей же чаю, сказал он и вышел на улицу.\n"
    ),
    "koi8_r": (
        "Съешь ещё этих мягких французских булок, да выпей же чаю, сказал он и вышел на улицу.\n"
    ),
    "cp1253": "Η γρήγορη καφέ αλεπού πηδά πάνω από το τεμπέλικο σκυλί κάθε πρωί στο χωριό.\n",
    "cp1254": (
        "Çalışkan öğrenci ağacın gölgesinde oturup şiir kitabını okuyordu; güneş batıyordu.\n"
    ),
    "cp1255": "השועל החום המהיר קופץ מעל הכלב העצלן בכל בוקר ליד הנהר הגדול.\n",
    "cp1256": "الثعلب البني السريع يقفز فوق الكلب الكسول كل صباح بجانب النهر الكبير.\n",
    "cp932": "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\n",
    "euc_jp": "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\n",
    "gb18030": (
        "我们都知道，学习一门新的语言需要很多时间和耐心，但是只要每天坚持练习，就一定会有进步。\n"
    ),
    "big5": (
        "我們都知道，學習一門新的語言需要很多時間和耐心，但是只要每天堅持練習，就一定會有進步。\n"
    ),
    "cp949": (
        "빠른 갈색 여우가 매일 아침 강가에서 게으른 개를 뛰어넘는다고 할머니께서 말씀하셨다.\n"
    ),
}


def plain(data: bytes, name: str = "a.txt", limits: Limits = LIMITS) -> Document:
    document = plain_document(data, name, limits)
    assert document is not None
    return document


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_utf8_comes_back_exactly(text: str) -> None:
    document = plain(f"x {text}".encode())
    assert (document.text, document.truncated, document.warnings) == (f"x {text}", False, ())


@pytest.mark.parametrize(
    "text",
    [POLISH, "שלום עולם, מה שלומך היום\n", "我们知道\n", "😀 𝔉𝔬𝔵\n", "\ta\r\nb\f\v\x1b[0m\b\n"],
)
def test_short_texts_that_detectors_get_wrong(text: str) -> None:
    assert plain(text.encode()).text == text


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_byte_order_marks(mark: bytes, encoding: str) -> None:
    assert plain(mark + (POLISH + "😀").encode(encoding)).text == POLISH + "😀"
    assert plain(mark + POLISH.encode(encoding) + b"\xff").text.startswith(POLISH)
    assert plain_document(mark + "<html><p>a</p></html>".encode(encoding), "a", LIMITS) is None


@pytest.mark.parametrize("encoding", ENCODED)
@pytest.mark.parametrize("repeat", [3, 30])
def test_other_encodings_are_guessed_and_said_to_be(encoding: str, repeat: int) -> None:
    document = plain((ENCODED[encoding] * repeat).encode(encoding))
    assert document.text == ENCODED[encoding] * repeat
    assert "guess" in document.warnings[0]


def test_the_encoding_is_guessed_from_lines_beyond_ascii() -> None:
    text = "plain words without any accent\n" * 5000 + ENCODED["cp1251"] * 3
    assert plain(text.encode("cp1251")).text == text


def test_a_few_broken_bytes_do_not_make_utf8_something_else() -> None:
    data = (POLISH * 50).encode()
    document = plain(data[:300] + b"\xff" + data[300:-2])
    assert document.text.startswith("Zażółć")
    assert document.text.count("\ufffd") == 1
    assert "UTF-8" in document.warnings[0]


def test_bytes_that_fit_no_guess_are_shown_as_replaced() -> None:
    data = ("Tout est près d'ici, voilà.\n" * 1000).encode("cp1252") + b"\x81"
    document = plain(data)
    assert document.text.startswith("Tout est près")
    assert document.text.endswith("\ufffd")
    assert "did not fit" in document.warnings[0]


@pytest.mark.parametrize("name", ["a.txt", "a.pdf", "a.docx", "a.html", "a"])
def test_no_bytes_are_an_empty_document_whatever_the_name(name: str) -> None:
    assert plain(b"", name).text == ""


@pytest.mark.parametrize(
    "name",
    ["a.txt", "README", "a.md", "a.csv", "a.json", "a.py", "a.tex", "A.TXT", "a.doc", "a.unknown"],
)
def test_text_is_plain_whatever_it_is_called(name: str) -> None:
    assert plain(b"import this\n", name).text == "import this\n"


def test_content_type_goes_by_the_name() -> None:
    types = [
        plain(b"a,b\n", name).content_type for name in ("a.txt", "a.csv", "a.md", "a.json", "a")
    ]
    assert types == ["text/plain", "text/csv", "text/markdown", "application/json", "text/plain"]


@pytest.mark.parametrize("name", sorted(formats()))
def test_formats_are_recognised_by_name_or_first_bytes(name: str) -> None:
    data = formats()[name]
    assert plain_document(data, name, LIMITS) is None
    if name != "a.eml":
        assert plain_document(data, "a", LIMITS) is None


@pytest.mark.parametrize(
    "data",
    [
        b"\n\n<!DOCTYPE html><p>hi",
        b"<!-- made by hand -->\n<HTML><p>hi",
        b'<?xml version="1.0"?><a/>',
        b"Return-Path: <ann@example.org>\nSubject: hi\n\nbody",
        b"From ann@example.org Mon Jan  1 00:00:00 2024\nSubject: hi\n\nbody",
        b"text\0with a NUL",
        b"\x01\x02\x03\x04" * 100,
        random.Random(1).randbytes(5000),
    ],
)
def test_other_things_need_a_reader(data: bytes) -> None:
    assert plain_document(data, "unnamed", LIMITS) is None


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "A.LOG"])
@pytest.mark.parametrize("data", [b'<?xml version="1.0"?><a>hi</a>\n', b"<html><p>hi\n"])
def test_markup_in_a_plain_text_stays(data: bytes, name: str) -> None:
    assert plain(data, name).text == data.decode()


@pytest.mark.parametrize(
    "data",
    [b"<p>in Markdown</p>\n", b"From the bank to Monday\n", b"100 %PDF sold\n", b"{not rtf}"],
)
def test_text_that_looks_a_little_like_markup(data: bytes) -> None:
    assert plain(data, "README").text == data.decode()


@pytest.mark.parametrize("unit", ["a", "ż", "我", "😀"])
@pytest.mark.parametrize("length", [9, 10, 11, 100])
def test_text_is_cut_at_the_limit_of_code_points(unit: str, length: int) -> None:
    document = plain((unit * length).encode(), limits=Limits(chars=10))
    assert document.text == unit * min(length, 10)
    assert document.truncated == (length > 10)
    assert (CUT in document.warnings) == (length > 10)


@given(st.binary(max_size=400), st.sampled_from(["a.txt", "a", "a.html", "a.csv"]))
def test_any_bytes_have_an_answer(data: bytes, name: str) -> None:
    document = plain_document(data, name, Limits(chars=100))
    if document is not None:
        document.text.encode("utf-8")
        assert len(document.text) <= 100


@pytest.mark.long
@pytest.mark.parametrize("tail", [b"", b"\xe9"])
def test_one_line_of_fifty_megabytes(tail: bytes) -> None:
    before = time.process_time()
    plain(b"a" * 50_000_000 + tail, limits=Limits(chars=100_000_000))
    assert time.process_time() - before < 5


def test_extractor_for_plain_text_refuses_the_rest() -> None:
    extractor = PlainExtractor(LIMITS)
    assert extractor.extract(b"text", "a.txt").text == "text"
    with pytest.raises(ExtractionError, match="not plain text"):
        extractor.extract(formats()["a.pdf"], "a.pdf")


@pytest.mark.parametrize("data", [b"\x01The ferry leaves.", b"\x01\x02The ferry", b"\x16a\n"])
def test_a_text_by_its_name_may_begin_with_control_characters(data: bytes) -> None:
    document = plain_document(data, "a.txt", Limits())
    assert document is not None and document.text == data.decode()
    assert plain_document(data, "a.bin", Limits()) is None


@pytest.mark.parametrize("data", [b"\x01\x02ab", b"\x01" * 9 + b"a" * 90, b"\x01a\0b"])
def test_control_characters_are_no_text_under_any_name(data: bytes) -> None:
    assert plain_document(data, "a.txt", Limits()) is None
