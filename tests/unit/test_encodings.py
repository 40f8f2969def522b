"""Texts in rare and mixed encodings, and texts with NULs."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from indexer import IndexOptions, SearchOptions, index, open_store, search
from indexer.documents.base import DEFAULT_LIMITS
from indexer.documents.extractors import document_or_task, is_outdated
from indexer.documents.plain_text import PLAIN_IDENTITY, plain_document
from indexer.errors import ExtractionError
from indexer.jobs.index import Account
from indexer.jobs.status import status
from indexer.model import Document
from indexer.review.compared_documents import stored_original
from indexer.stores.abilities import FullStore

LOG = "2024-05-06 10:00 café ouvert à Nîmes\n2024-05-06 10:01 “naïve” — 5 €\n"
OLD = "2024-05-06 10:02 Müller grüßt\n"
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\n"
KOREAN = "빠른 갈색 여우가 매일 아침 강가에서 게으른 개를 뛰어넘는다고 할머니께서 말씀하셨다.\n"
CHINESE = "我们都知道，学习一门新的语言需要很多时间和耐心，但是只要每天坚持练习，就一定会有进步。\n"
RARE_HANGUL = "뷁 쀍꿿 힣쫅 ⓐⓑ¿¿ 因九 뚧뚫 깗칪!! ㉮㉯ 펲햏\n"
RARE_KANA = "か゚き゚く゚\n"
CANTONESE = "佢哋嘅嘢喺呢度，唔使畀錢，我哋一齊去食嘢啦，聽日再嚟過。\n"


def plain(data: bytes, name: str = "a.txt") -> Document:
    document = plain_document(data, name, DEFAULT_LIMITS)
    assert document is not None
    return document


@pytest.mark.parametrize("copies", [1, 50])
def test_a_line_in_latin_1_garbles_no_other_line(copies: int) -> None:
    document = plain((LOG * copies).encode() + OLD.encode("latin-1") + LOG.encode())
    assert document.text == LOG * copies + OLD + LOG
    assert document.warnings == ("a line is not UTF-8; read as cp1252, which is a guess",)


@pytest.mark.parametrize(
    ("text", "encoding", "read_as"),
    [
        (JAPANESE, "iso2022_jp", "iso2022_jp_ext"),
        (KOREAN, "iso2022_kr", "iso2022_kr"),
        (CHINESE.replace("，", ","), "hz", "hz"),
        (LOG, "utf-16-le", "utf-16-le"),
        (LOG, "utf-16-be", "utf-16-be"),
        (JAPANESE * 3, "utf-16-le", "utf-16-le"),
        (JAPANESE * 3, "utf-16-be", "utf-16-be"),
        (LOG, "utf-32-le", "utf-32-le"),
        (LOG, "utf-32-be", "utf-32-be"),
        (KOREAN * 3, "johab", "johab"),
        (CANTONESE * 3, "big5hkscs", "big5hkscs"),
        (RARE_HANGUL, "cp949", "cp949"),
        (RARE_HANGUL, "johab", "johab"),
        (JAPANESE + RARE_KANA, "euc_jis_2004", "euc_jis_2004"),
    ],
)
def test_encodings_without_a_mark(text: str, encoding: str, read_as: str) -> None:
    document = plain(text.encode(encoding))
    assert document.text == text
    assert document.warnings == (f"not UTF-8; read as {read_as}, which is a guess",)


def test_a_log_that_is_padded_with_nuls_is_text() -> None:
    document = plain(LOG.encode() + bytes(4096) + LOG.encode(), "a.log")
    assert document.text == LOG * 2
    assert document.warnings == ("4,096 NUL characters are left out",)


def test_a_log_of_any_name_that_nuls_pad_is_text_and_others_are_not() -> None:
    for data in (b"09:58 started\n" + bytes(512), bytes(512) + b"09:58 started\n"):
        document = plain_document(data, "messages.1", DEFAULT_LIMITS)
        assert document is not None
        assert (document.text, document.truncated) == ("09:58 started\n", False)
        assert document.warnings == ("512 NUL characters are left out",)
    inside = b"a name" + bytes(94) + b"its content" + bytes(512)  # of an archive
    assert plain_document(inside, "messages.1", DEFAULT_LIMITS) is None


def test_text_in_ebcdic_is_refused_with_what_to_do() -> None:
    data = "DEAR ANN, THE FERRY LEAVES AT 8 FROM THE HARBOUR.".encode("cp037")
    assert plain_document(data, "a.txt", DEFAULT_LIMITS) is None
    with pytest.raises(ExtractionError, match="iconv"):
        document_or_task("a.txt", data, "a.txt", DEFAULT_LIMITS)


@pytest.mark.parametrize(
    "text", ["a ~{x~} b {{~}}", "\x1b[31mred\x1b[0m", "cost: ~{ 5 }", '(format t "~{word~}")']
)
def test_ascii_that_looks_like_another_encoding_stays(text: str) -> None:
    assert plain(text.encode()).text == text


@pytest.fixture
def guessed(tmp_path) -> Iterator[tuple[FullStore, Account]]:
    """A store of one text in UTF-8 and two in a legacy encoding, and the account of its job."""
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "new.txt").write_text(LOG, "utf-8")
    (folder / "old.txt").write_bytes((OLD * 5).encode("cp1252"))
    (folder / "korean.txt").write_bytes((KOREAN * 3).encode("johab"))
    with closing(open_store(f"sqlite:///{tmp_path / 'store.db'}")) as store:
        yield store, index(folder, store, IndexOptions(extractor="plain"))


def test_index_and_status_count_guessed_encodings(guessed) -> None:
    store, account = guessed
    assert account.guessed_encodings == {"cp1252": 1, "johab": 1}
    assert status(store).guessed_encodings == {"cp1252": 1, "johab": 1}


def test_search_filters_by_a_guessed_encoding(guessed) -> None:
    store, _ = guessed
    found = search(store, "", SearchOptions(filters=(("extractor", "plain/4 as cp1252"),)))
    assert [hit.path.rpartition("/")[2] for hit in found.hits] == ["old.txt"]


def test_a_stored_document_keeps_the_warnings_of_its_extraction(guessed) -> None:
    store, _ = guessed
    warnings = {row.path.rpartition("/")[2]: stored_original(row).warnings for row in store.scan()}
    assert warnings["new.txt"] == ()
    assert warnings["old.txt"] == ("not UTF-8; read as cp1252, which is a guess",)


def test_a_guess_makes_no_text_outdated() -> None:
    assert not is_outdated(f"{PLAIN_IDENTITY} as cp1252", "iscc-tika/0.6.0")
    assert is_outdated("plain/1 as cp1252", "iscc-tika/0.6.0")


def test_a_letter_of_latin_1_in_one_line_of_utf8_does_not_garble_the_line() -> None:
    line = '{"name":"Müller","city":"Zürich","items":["größer — more","schön"]}'
    data = line.encode().replace("schön".encode(), "schön".encode("latin-1"))
    document = plain_document(data, "a.json", DEFAULT_LIMITS)
    assert document is not None
    assert (document.text, document.extractor.partition(" as ")[2]) == (line, "cp1252")
    assert document.warnings[0].startswith("a character is not UTF-8")


def test_czech_in_iso_8859_2_is_not_read_as_windows_1250() -> None:
    text = "Žluťoučký kůň úpěl ďábelské ódy. Příliš dlouhý text o lodi, která každý den vyplouvá."
    for encoding in ("iso8859_2", "cp1250"):
        document = plain_document(text.encode(encoding), "a.txt", DEFAULT_LIMITS)
        assert document is not None
        assert document.text == text
