"""Mail that declares UTF-8, with any transfer encoding and content."""

import base64
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import native_reader

from indexer.documents import tika
from indexer.documents.base import message_hash
from indexer.documents.mail.headers import thread_fields

POLISH = "Wszystkie pliki plików są gotowe; żółta łódź i pliku ów.\n"


def message(text: str, encoding: str) -> bytes:
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "ann@example.org", "Plików"
    mail.set_content(text, cte=encoding)
    mail.add_attachment(
        b"\x00\xffnot text", maintype="application", subtype="octet-stream", filename="x.bin"
    )
    return mail.as_bytes()


@pytest.mark.long
@pytest.mark.parametrize("encoding", ["8bit", "base64", "quoted-printable"])
def test_polish_mail_stays_polish(encoding: str) -> None:
    text = native_reader().extract(message(3 * POLISH, encoding), "a.eml").text
    assert POLISH.strip() in text and "\ufeff" not in text


DECLARED = {
    "iso-8859-2": "Nasza rodzina pojedzie razem, rodzą się nowe pomysły.",
    "windows-1257": "Visi žmonės gimsta laisvi ir lygūs savo orumu.",
    "iso-8859-6": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق",
    "utf-7": "Alle Menschen sind frei und gleich an Würde geboren.",
    "iso-8859-1": "Großes Gemüse: in Wahrheit UTF-8",
}


@pytest.mark.long
def test_a_mail_is_read_in_the_character_sets_that_its_parts_declare() -> None:
    parts = []
    for charset, text in DECLARED.items():
        body = text.encode("utf-8" if text.endswith("UTF-8") else charset)
        for kind, page in (("plain", body), ("html", b"<html><p>%s</p></html>" % body)):
            fields = f"Content-Type: text/{kind}; charset={charset}\nContent-Transfer-Encoding: "
            parts.append(f"--B\n{fields}base64\n\n".encode() + base64.encodebytes(page))
    head = b"Subject: s\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n"
    text = native_reader().extract(head + b"".join(parts) + b"--B--\n", "a.eml").text
    assert [text.count(declared) for declared in DECLARED.values()] == [2] * len(DECLARED)


def test_alternatives_that_tika_passes_over_are_read() -> None:
    for kinds in (("plain", "markdown"), ("plain", "plain"), ("html", "html")):
        mail = EmailMessage()
        mail["From"], mail["Subject"] = "ann@example.org", "Terms"
        mail.make_alternative()
        says = [f"Pay {number} hundred euros to Ann." for number in range(len(kinds))]
        for kind, text in zip(kinds, says, strict=True):
            mail.add_alternative(text, subtype=kind)
        text = native_reader().extract(mail.as_bytes(), "a.eml").text
        assert [text.count(said) for said in says] == [1, 1], kinds


def test_ascii_mail_and_what_is_no_mail_are_left_alone() -> None:
    plain = message("nothing but ASCII\n", "7bit")
    assert tika.mark_charset(plain) == plain
    assert not tika.is_mail(b"Frommage: cheese", "a.txt")
    assert tika.is_mail(b"Received: from here", "noname")


@given(st.binary(max_size=300))
def test_no_bytes_make_it_fail(junk: bytes) -> None:
    for data in (
        junk,
        b"Content-Type: text/plain; charset=utf-8\n\n" + junk,
        b"Content-Type: multipart/mixed; charset=utf-8\n\n" + junk,
    ):
        assert isinstance(tika.mark_charset(data), bytes)


def test_ids_of_the_thread_are_metadata() -> None:
    data = b"Message-Id: <2@x>\nReferences: <0@x>\n <1@x>\nIn-Reply-To: <1@x>\n\nYes.\n"
    metadata = native_reader().extract(data, "a.eml").metadata
    assert (metadata["message_id"], metadata["references"]) == ("<2@x>", "<0@x> <1@x>")
    assert metadata["thread"] == message_hash("<0@x>")


def test_of_many_references_the_first_and_the_last_stay() -> None:
    ids = [f"<{number:0100}@x>" for number in range(20)]
    kept = thread_fields({"Message:Raw-Header:References": [" ".join(ids)]})["references"].split()
    assert kept == [ids[0], *ids[-8:]] and len(" ".join(kept)) <= 1000


def test_outlook_keeps_the_message_id_in_a_property_of_its_own() -> None:
    assert thread_fields({"mapi:internet-message-id": ["<a@x>"]}) == {
        "message_id": "<a@x>",
        "thread": message_hash("<a@x>"),
    }
    assert thread_fields({"Content-Type": ["text/plain"]}) == {}


@pytest.mark.long
@pytest.mark.parametrize("first", ["To: bo@x.org", "X-GM-THRID: 17", "Cc: c@x.org", "Bcc: c@x"])
def test_a_mail_may_begin_with_any_field(first: str) -> None:
    data = f"{first}\nFrom: ann@x.org\nMessage-ID: <2@x>\n\nYes, at noon.\n".encode()
    document = native_reader().extract(data, "a.eml")
    assert (document.content_type, document.text.strip()) == ("message/rfc822", "Yes, at noon.")
    assert document.metadata["message_id"] == "<2@x>"
