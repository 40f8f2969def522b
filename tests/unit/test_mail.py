"""Mail that declares UTF-8, with any transfer encoding and content."""

from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.extraction import mail
from indexer.extraction.base import DEFAULT_LIMITS
from indexer.extraction.native import NativeExtractor

POLISH = "Wszystkie pliki plików są gotowe; żółta łódź i pliku ów.\n"


def message(text: str, encoding: str) -> bytes:
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "ann@example.org", "Plików"
    mail.set_content(text, cte=encoding)
    mail.add_attachment(
        b"\x00\xffnot text", maintype="application", subtype="octet-stream", filename="x.bin"
    )
    return mail.as_bytes()


@pytest.mark.parametrize("encoding", ["8bit", "base64", "quoted-printable"])
def test_polish_mail_stays_polish(encoding: str) -> None:
    text = NativeExtractor(DEFAULT_LIMITS).extract(message(3 * POLISH, encoding), "a.eml").text
    assert POLISH.strip() in text and "\ufeff" not in text


def test_ascii_mail_and_what_is_no_mail_are_left_alone() -> None:
    plain = message("nothing but ASCII\n", "7bit")
    assert mail.mark_charset(plain) == plain
    assert not mail.is_mail(b"Frommage: cheese", "a.txt")
    assert mail.is_mail(b"Received: from here", "noname")


@given(st.binary(max_size=300))
def test_no_bytes_make_it_fail(junk: bytes) -> None:
    for data in (
        junk,
        b"Content-Type: text/plain; charset=utf-8\n\n" + junk,
        b"Content-Type: multipart/mixed; charset=utf-8\n\n" + junk,
    ):
        assert isinstance(mail.mark_charset(data), bytes)
