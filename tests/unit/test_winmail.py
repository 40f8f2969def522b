"""Messages that Outlook hides in `winmail.dat` (TNEF), written here byte by byte."""

import struct
from email.message import EmailMessage

import pytest
from samples import native_reader

from indexer.documents.base import DEFAULT_LIMITS
from indexer.documents.embedded import embedded_files
from indexer.documents.extractors import document_or_task
from indexer.documents.mail.message import read_message, split_attachments
from indexer.documents.tika import document
from indexer.errors import ExtractionError
from indexer.model import unpack_embedded

BODY = "The ferry to the harbour leaves at eight."
REPORT = b"The report: the ferry is late on Mondays."


def attribute(level: int, name: int, value: bytes) -> bytes:
    checksum = sum(value) & 0xFFFF
    return struct.pack("<BII", level, name, len(value)) + value + struct.pack("<H", checksum)


def properties(*values: tuple[int, int, bytes]) -> bytes:
    """Return properties of variable size: number, type and value."""
    data = struct.pack("<I", len(values))
    for number, kind, value in values:
        padding = b"\0" * (-len(value) % 4)
        data += struct.pack("<HHII", kind, number, 1, len(value)) + value + padding
    return data


def tnef(*values: tuple[int, int, bytes], attached: bytes = b"", inner: bytes = b"") -> bytes:
    data = b"\x78\x9f\x3e\x22\x01\x00"
    data += attribute(1, 0x69007, struct.pack("<II", 1252, 0))
    data += attribute(1, 0x69003, properties(*values))
    if attached:
        data += attribute(2, 0x69002, b"\0" * 14)
        data += attribute(2, 0x18010, b"report.txt\0")
        data += attribute(2, 0x6800F, attached)
    if inner:
        data += attribute(2, 0x69002, b"\0" * 14)
        data += attribute(2, 0x69005, properties((0x3701, 0x0D, b"\0" * 16 + inner)))
    return data


HTML = (0x1013, 0x102, f"<html><body><p>{BODY}</p></body></html>".encode())
PLAIN = (0x1000, 0x1F, BODY.encode("utf-16-le") + b"\0\0")


def mail(content: bytes, text: str = "") -> bytes:
    message = EmailMessage()
    message["From"] = "ann@example.org"
    message["Subject"] = "Ferry"
    message.set_content(text)
    message.add_attachment(
        content, maintype="application", subtype="ms-tnef", filename="winmail.dat"
    )
    return message.as_bytes()


def text_of(data: bytes, name: str = "a.eml") -> str:
    return native_reader().extract(data, name).text


@pytest.mark.long
@pytest.mark.parametrize("body", [HTML, PLAIN], ids=["html", "plain"])
def test_the_body_is_read(body: tuple[int, int, bytes]) -> None:
    data = mail(tnef(body))
    assert read_message(data, "", "").body.strip() == BODY
    assert BODY in text_of(data)
    assert BODY in text_of(tnef(body), "winmail.dat")


def test_a_body_that_the_mail_has_already_is_read_once() -> None:
    data = mail(tnef(HTML), BODY)
    assert read_message(data, "", "").body.count("harbour") == 1
    assert text_of(data).count("harbour") == 1


@pytest.mark.long
def test_attachments_are_those_of_the_mail() -> None:
    data = mail(tnef(PLAIN, attached=REPORT))
    rest, (file,) = split_attachments(data)
    assert (file.name, file.data) == ("report.txt", REPORT)
    assert BODY in text_of(rest)
    assert REPORT.decode() in text_of(data)
    document = native_reader().extract(data, "a.eml")
    assert [found.name for found in unpack_embedded(document.embedded)] == ["report.txt"]


@pytest.mark.long
def test_a_message_in_a_message_is_read() -> None:
    assert BODY in text_of(mail(tnef((0x37, 0x1E, b"Outer\0"), inner=tnef(PLAIN))))


def test_an_attachment_that_is_cut_with_its_winmail_counts_as_far_as_it_goes() -> None:
    whole = [tnef(PLAIN, attached=word * 99) for word in (b"ferry", b"plane")]
    cut = [data[:-90] for data in whole]
    files: set[str] = set()
    for data in (*whole, *cut):
        read = native_reader().extract(mail(data), "a.eml")
        assert BODY in read.text
        files.add(read.embedded)
        rest = split_attachments(mail(data))[0]
        alone, without = (document(BODY, {}, each, 999, "tika") for each in (data, rest))
        warnings = () if data in whole else ("the end of winmail.dat is missing",)
        assert read.warnings == alone.warnings == without.warnings == warnings
    assert len(files) == 4


def test_meetings_in_winmail_are_lines_of_the_text() -> None:
    location = struct.pack("<HH16sII", 0x1F, 0x8001, bytes(16), 0, 0x8208)
    location += struct.pack("<II", 1, 12) + "Pier 2".encode("utf-16-le")
    data = b"\x78\x9f\x3e\x22\x01\x00"
    data += attribute(1, 0x78008, b"IPM.Microsoft Schedule.MtgCncl\0")
    data += attribute(1, 0x30006, struct.pack("<7H", 2026, 3, 9, 10, 0, 0, 1))
    data += attribute(1, 0x69003, struct.pack("<I", 1) + location)
    lines = "METHOD:CANCEL\nDTSTART:20260309T100000Z\nLOCATION:Pier 2"
    for text in ("", BODY):
        assert read_message(mail(data, text), "", "").body.split("\n")[-3:] == lines.split("\n")


@pytest.mark.parametrize("time", [bytes(14), b"\0\0", b"\xff" * 14])
def test_a_damaged_time_in_winmail_leaves_its_text(time: bytes) -> None:
    assert BODY in text_of(mail(tnef(PLAIN) + attribute(1, 0x30006, time)))


def test_a_text_about_a_winmail_that_is_cut_has_no_warning() -> None:
    data = mail(tnef(PLAIN), "He wrote: the end of winmail.dat is missing")
    assert native_reader().extract(data, "a.eml").warnings == ()


def test_objects_count_by_their_bytes() -> None:
    first, second = (mail(tnef(PLAIN, inner=b"sheet %d" % number)) for number in (1, 2))
    (one,), (other,) = (split_attachments(data)[1] for data in (first, second))
    assert (one.data, other.data) == (b"sheet 1", b"sheet 2")
    assert embedded_files(first, "message/rfc822") != embedded_files(second, "message/rfc822")


def test_damaged_tnef_is_an_attachment_as_it_is() -> None:
    whole = tnef(PLAIN)
    for size in (3, 10, 40, len(whole) - 20):
        message = read_message(mail(whole[:size], "See below."), "", "")
        assert "See below." in message.body


def parts(*contents: bytes, kind: str = "mixed") -> bytes:
    head = b"From: a@x.org\nMIME-Version: 1.0\nContent-Type: multipart/%s; boundary=b\n\n"
    body = b"".join(b"--b\n%s\n" % content for content in contents)
    return head % kind.encode() + body + b"--b--\n"


TEXT = b"Content-Type: text/plain\n\nShall we meet on the ferry at noon?"
EMPTY = b"Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n"
NO_PICTURE = (
    b"Content-Type: image/png; name=a.png\nContent-Transfer-Encoding: base64\n"
    b"Content-Disposition: attachment; filename=a.png\n\n"
)


def test_an_attachment_of_no_bytes_is_not_missing() -> None:
    document = native_reader().extract(parts(TEXT, NO_PICTURE), "a.eml")
    assert not document.truncated and not document.warnings


def test_a_mail_of_empty_parts_is_empty() -> None:
    document = native_reader().extract(parts(EMPTY, NO_PICTURE), "a.eml")
    assert not document.text.strip() and not document.truncated


@pytest.mark.long
def test_text_beside_an_invitation_is_read() -> None:
    entry = b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Board\nEND:VEVENT\nEND:VCALENDAR"
    invitation = b"Content-Type: text/calendar; method=REQUEST\n\n" + entry
    html = b"Content-Type: text/html\n\n<p>Shall we meet on the ferry at noon?</p>"
    for texts in ((TEXT,), (TEXT, html)):
        text = text_of(parts(*texts, invitation, kind="alternative"))
        assert text.count("Shall we meet") == 1
        assert "SUMMARY:Board" in text


@pytest.mark.long
def test_encrypted_mails_say_so() -> None:
    pgp = (
        b"Content-Type: application/pgp-encrypted\n\nVersion: 1",
        b"Content-Type: application/octet-stream\n\n-----BEGIN PGP MESSAGE-----\n\nabcd",
    )
    read = native_reader().extract(parts(*pgp, kind="encrypted"), "a.eml")
    assert read.truncated
    assert read.warnings == ("what is encrypted by PGP is not read",)
    envelope = (
        b"From: a@x.org\nMIME-Version: 1.0\nContent-Type: application/pkcs7-mime; "
        b"smime-type=enveloped-data; name=smime.p7m\nContent-Transfer-Encoding: base64\n\n"
        b"MIAGCSqGSIb3DQEHA6CA\n"
    )
    whole = envelope.replace(b"MIAGCSqGSIb3DQEHA6CA", b"MIIAGQYJKoZIhvcNAQcDoAwwCgIBADEAMAMCAQA=")
    reasons = r"by S/MIME is damaged, and not read; repair", r"by S/MIME is not read; decrypt the"
    for encrypted, reason in zip((envelope, whole), reasons, strict=True):
        with pytest.raises(ExtractionError, match=reason):
            text_of(encrypted)
        assert split_attachments(encrypted) == (encrypted, ())
    signed = whole.replace(b"enveloped-data", b"signed-data")
    assert [file.name for file in split_attachments(signed)[1]] == ["smime.p7m"]
    cut = signed.replace(b"MIIAGQYJKoZIhvcNAQcDoAww", b"MIIAGQYJKoZIhvcNAQcCoAww")
    assert [document("a", {}, each, 9, "tika").warnings for each in (cut, cut[:-9])] == [
        (),
        ("the end of an S/MIME envelope is missing",),
    ]
    fares = b"Content-Type: text/csv; name=fares.csv\n\nadult,4"
    rest, (file,) = split_attachments(parts(envelope.partition(b"1.0\n")[2], fares))
    assert file.name == "fares.csv" and b"enveloped-data" in rest


def test_mails_that_are_signed_by_s_mime_are_read_wholly() -> None:
    signature = (
        b"Content-Type: application/x-pkcs7-signature; name=smime.p7s\n"
        b"Content-Transfer-Encoding: base64\n\n"
        b"MIAGCSqGSIb3DQEHAqCAMIACAQExADALBgkqhkiG9w0BBwExAAAAAAA="
    )
    text = b"Content-Type: text/plain\n\nThe price is 7 euros."
    document = native_reader().extract(parts(text, signature, kind="signed"), "a.eml")
    assert "7 euros" in document.text
    assert not document.truncated and not document.warnings


def test_pgp_inside_the_text_of_a_mail_is_said_and_what_is_signed_is_text() -> None:
    mail = b"From: ann@x.org\nTo: bob@x.org\nSubject: Price\n\n-----BEGIN PGP %s-----\n\nhQEMA5\n"
    encrypted, signed = (
        native_reader().extract(mail % kind, "a.eml") for kind in (b"MESSAGE", b"SIGNED MESSAGE")
    )
    assert encrypted.truncated
    assert encrypted.warnings == ("what is encrypted by PGP is not read",)
    assert not signed.truncated


def test_a_store_of_outlook_is_refused_with_what_to_do() -> None:
    with pytest.raises(ExtractionError, match="readpst"):
        document_or_task("a.pst", b"!BDN" + bytes(600), "a.pst", DEFAULT_LIMITS)
