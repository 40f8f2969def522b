"""Messages of Outlook as mails. aspose-email-foss writes them."""

from __future__ import annotations

import hashlib
import random
import struct
import zlib
from datetime import datetime, timezone
from email import message_from_bytes, policy

import pytest
from aspose.email_foss.msg import MapiMessage, PropertyTypeCode
from samples import native_reader

from indexer import IndexOptions, index, open_store, threads
from indexer.documents.base import ReadOptions, message_hash
from indexer.documents.mail.message import read_message, split_attachments
from indexer.documents.mail.outlook import outlook_mail
from indexer.review.originals.files import kind_of_original
from indexer.review.originals.render import attached_parts, view_mail

TEXT = PropertyTypeCode.PTYP_STRING
SENT, PAGE, HTML_PAGE, BODY, HTML, COMPRESSED_RTF = 0x0039, 0x3FFD, 0x3FDE, 0x1000, 0x1013, 0x1009
CLASS, CONTENT_ID, TYPE = 0x001A, 0x3712, 0x370E
NOON = datetime(2026, 3, 2, 12, tzinfo=timezone.utc)


def outlook(body="Shall we meet at noon?", subject="Ferry", eight_bit=False, **texts):
    """Return a message; `texts` are properties by their tags, after `_`."""
    message = MapiMessage.create(subject, body, unicode_strings=not eight_bit)
    for tag, value in texts.items():
        message.set_property(int(tag[1:], 16), TEXT, value)
    message.set_property(SENT, PropertyTypeCode.PTYP_TIME, NOON)
    return message


def read(message):
    return read_message(message.to_bytes(), "id", "a.msg")


def test_fields_of_a_sent_message_are_properties() -> None:
    mail = read(
        outlook(
            _0C1A="Ann Łęska",
            _5D01="ann@example.org",
            _0C1F="/O=EXCHANGE/CN=ANN",
            _1035="<3@example.org>",
            _1039="<1@example.org> <2@example.org>",
            _1042="<2@example.org>",
        )
    )
    assert mail.message_id == "<3@example.org>" and mail.mih == message_hash("<3@example.org>")
    assert mail.replies_to == ("<1@example.org>", "<2@example.org>")
    assert (mail.sender, mail.subject) == ("Ann Łęska <ann@example.org>", "Ferry")
    assert mail.date == round(NOON.timestamp() * 1000)
    assert mail.body == "Shall we meet at noon?"


def test_the_known_hash_of_a_message_id() -> None:
    known = "<CALckR-a8UDkRjO4xJyjd_s0GPxQWw@mail.gmail.com>"
    assert read(outlook(_1035=known)).mih == "1de319c276884bd0c9e2f1621ada26cc"


def test_the_transport_header_goes_first() -> None:
    header = (
        "Received: from a by b\r\nFrom: =?utf-8?q?J=C3=B8rn?= <j@example.org>\r\n"
        "Message-ID: <9@example.org>\r\nReferences: <1@example.org>\r\n <2@example.org>\r\n"
        "Date: Mon, 2 Mar 2026 13:00:00 +0100\r\nContent-Type: text/html\r\n\r\n"
    )
    mail = read(outlook(_007D=header, _1035="<other@example.org>", _0C1A="Somebody"))
    assert (mail.message_id, mail.sender) == ("<9@example.org>", "Jørn <j@example.org>")
    assert mail.replies_to == ("<1@example.org>", "<2@example.org>")
    assert mail.date == round(NOON.timestamp() * 1000)
    assert (mail.subject, mail.body) == ("Ferry", "Shall we meet at noon?")


def test_an_address_of_exchange_is_no_address() -> None:
    assert read(outlook(_0C1A="Bo", _0C1F="/O=X/CN=BO")).sender == "Bo"


def test_text_of_eight_bits_is_in_its_code_page() -> None:
    message = outlook(body="", eight_bit=True)
    message.set_property(PAGE, PropertyTypeCode.PTYP_INTEGER32, 1251)
    message.set_property(BODY, PropertyTypeCode.PTYP_STRING8, "Паром".encode("cp1251"))
    assert read(message).body == "Паром"


@pytest.mark.parametrize(
    ("page", "codec"), [(65001, "utf-8"), (1251, "cp1251"), (28592, "iso8859-2"), (0, "cp1252")]
)
def test_html_is_in_its_code_page(page: int, codec: str) -> None:
    word = {"cp1251": "Паром", "iso8859-2": "Łódź"}.get(codec, "Café")
    message = outlook(body="")
    message.set_property(HTML_PAGE, PropertyTypeCode.PTYP_INTEGER32, page)
    page_bytes = f"<p>{word}<blockquote>Noon?</blockquote>".encode(codec)
    message.set_property(HTML, PropertyTypeCode.PTYP_BINARY, page_bytes)
    assert read(message).body == f"{word}\n> Noon?"


def test_attachments_have_the_digests_of_their_files() -> None:
    message = outlook()
    data = bytes(range(256)) * 40
    for number in range(12):
        message.add_attachment(f"Bericht ß {number}.bin", data + bytes([number]))
    digests = [hashlib.sha256(data + bytes([number])).hexdigest() for number in range(12)]
    mail = read(message)
    assert [attachment.sha256 for attachment in mail.attachments] == digests
    assert mail.attachments[11].name == "Bericht ß 11.bin"
    rest, files = split_attachments(message.to_bytes())
    assert [file.data for file in files] == [data + bytes([number]) for number in range(12)]
    assert read_message(rest, "", "").attachments == ()


def test_an_attachment_whose_content_id_has_a_line_feed_keeps_its_bytes() -> None:
    message = outlook()
    attachment = message.add_attachment("ferry.png", b"a ferry")
    attachment.set_property(CONTENT_ID, TEXT, "ferry\r\n@example.org")
    mail = read(message)
    assert mail.attachments[0].sha256 == hashlib.sha256(b"a ferry").hexdigest()
    assert b"Content-ID: <ferry@example.org>" in outlook_mail(message.to_bytes())


@pytest.mark.parametrize("kind", ["message/rfc822", "Multipart/mixed", "message/delivery-status"])
def test_a_file_that_is_a_mail_keeps_its_bytes(kind: str) -> None:
    data = b"From: ann@example.org\r\nSubject: Rent\r\n\r\nFour hundred crowns are due.\r\n"
    message = outlook()
    message.add_attachment("rent.eml", data).set_property(TYPE, TEXT, kind)
    [attachment] = read(message).attachments
    assert attachment.sha256 == hashlib.sha256(data).hexdigest()
    assert [part.data for part in attached_parts(message.to_bytes())] == [data]


@pytest.mark.parametrize("start", ["Microsoft Mail Internet Headers Version 2.0\r\n", "\ufeff"])
def test_what_precedes_the_first_field_hides_no_field(start: str) -> None:
    mail = read(outlook(_007D=f"{start}Message-ID: <9@example.org>\r\nReferences: <1@x.org>\r\n"))
    assert (mail.message_id, mail.replies_to) == ("<9@example.org>", ("<1@x.org>",))


def test_a_message_in_a_message_is_an_attached_mail() -> None:
    inner = outlook(body="The rent is 400.", _1035="<1@example.org>")
    inner.add_attachment("rent.txt", b"400")
    for outer in (outlook(), outlook(body="Other words.")):
        outer.add_embedded_message_attachment(inner)
        [part] = attached_parts(outer.to_bytes())
        attached = read_message(part.data, "", "")
        assert (attached.message_id, attached.body) == ("<1@example.org>", "The rent is 400.")
        assert [file.name for file in attached.attachments] == ["rent.txt"]
    assert read(outlook()).attachments == ()


def test_the_same_attached_message_has_one_digest_in_any_mail() -> None:
    inner = outlook(body="The rent is 400.")
    digests = set()
    for body in ("One.", "Two."):
        outer = outlook(body=body)
        outer.add_embedded_message_attachment(inner)
        digests.add(read(outer).attachments)
    assert len(digests) == 1


def compressed(rich_text: bytes) -> bytes:
    """Return RTF as Outlook stores it, with literal bytes only."""
    runs = [rich_text[start : start + 8] for start in range(0, len(rich_text), 8)]
    content = b"".join(b"\0" + run for run in runs)
    check = zlib.crc32(content, 0xFFFFFFFF) ^ 0xFFFFFFFF
    head = struct.pack("<II4sI", len(content) + 12, len(rich_text), b"LZFu", check)
    return head + content


def rich(text: bytes, body: str = ""):
    message = outlook(body=body)
    message.set_property(COMPRESSED_RTF, PropertyTypeCode.PTYP_BINARY, compressed(text))
    return message


def test_rich_text_alone_is_the_text() -> None:
    text = rb"{\rtf1\ansi\ansicpg1250{\fonttbl{\f0 Arial;}}\f0 The caf\'e9 in \'a3\'f3d\'9f.\par}"
    assert read(rich(text)).body.strip() == "The café in Łódź."
    assert read(rich(text, body="Plain.")).body.strip() == "Plain."


def test_quotes_in_rich_text_alone_are_segments(tmp_path) -> None:
    text = (
        rb"{\rtf1 Yes, at noon.\par\par -----Original Message-----\par From: Ann\par "
        rb"Sent: Monday\par To: Bo\par Subject: Ferry\par\par Shall we meet?\par}"
    )
    rich(text).save(tmp_path / "a.msg")
    [mail] = threads(tmp_path).mails
    assert [(part.kind, part.text) for part in mail.segments if part.kind != "attribution"] == [
        ("reply", "Yes, at noon."),
        ("quoted", "Shall we meet?"),
    ]


def test_damaged_rich_text_alone_is_refused() -> None:
    message = outlook(body="")
    message.set_property(COMPRESSED_RTF, PropertyTypeCode.PTYP_BINARY, bytes(40))
    with pytest.raises(ValueError, match="compressed rich text is damaged"):
        read(message)


def signed(data: bytes, kind: str = "IPM.Note.SMIME.MultipartSigned"):
    message = outlook(body="")
    message.set_property(CLASS, TEXT, kind)
    message.add_attachment("smime.p7m", data).set_property(TYPE, TEXT, "multipart/signed")
    return message


SIGNED = (
    b'Content-Type: multipart/signed; protocol="application/pkcs7-signature"; boundary="s"\r\n\r\n'
    b'--s\r\nContent-Type: multipart/mixed; boundary="m"\r\n\r\n'
    b"--m\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Content-Transfer-Encoding: quoted-printable\r\n\r\nThe caf=C3=A9 opens at eight.\r\n"
    b'--m\r\nContent-Type: text/csv; name="fares.csv"\r\n\r\nadult,4\r\n--m--\r\n'
    b'--s\r\nContent-Type: application/pkcs7-signature; name="smime.p7s"\r\n'
    b"Content-Transfer-Encoding: base64\r\n\r\nMIIF\r\n--s--\r\n"
)


def test_a_signed_message_has_the_text_and_files_that_are_signed() -> None:
    mail = read(signed(SIGNED))
    assert (mail.subject, mail.body.strip()) == ("Ferry", "The café opens at eight.")
    assert [file.name for file in mail.attachments] == ["fares.csv", "smime.p7s"]
    [file] = split_attachments(signed(SIGNED).to_bytes())[1]
    assert (file.name, file.data) == ("fares.csv", b"adult,4")


@pytest.mark.parametrize("data", [b"", b"no mail", SIGNED.replace(b'boundary="s"', b"")])
def test_what_is_signed_stays_an_attachment_where_it_cannot_be_divided(data: bytes) -> None:
    [file] = read(signed(data)).attachments
    assert (file.name, file.sha256) == ("smime.p7m", hashlib.sha256(data).hexdigest())


def test_a_signed_mail_attached_to_a_mail_replaces_no_text() -> None:
    message = signed(SIGNED, kind="IPM.Note")
    message.set_property(BODY, TEXT, "See below.")
    assert read(message).body == "See below."


MAIL_TEXT = (
    b"Importance: high\nFrom: Ann <a@x.org>\nMessage-ID: <2@x.org>\nIn-Reply-To: <1@x.org>\n\n"
    b"The ferry leaves at noon, from the pier below the town hall.\n"
)


@pytest.mark.long
def test_a_mail_as_text_that_is_named_msg_is_a_mail(tmp_path) -> None:
    (tmp_path / "a.msg").write_bytes(MAIL_TEXT)
    (tmp_path / "catalogue.msg").write_bytes(b'set: 1\n\nFrom: "Od"\n')
    result = threads(tmp_path)
    assert [mail.message.message_id for mail in result.mails] == ["<2@x.org>"]
    assert result.others == 1
    store = open_store("sqlite:///:memory:")
    index(str(tmp_path), store, workers=1)
    rows = {row.path.rpartition("/")[2]: row for row in store.scan()}
    assert rows["a.msg"].text.strip() == MAIL_TEXT.decode().partition("\n\n")[2].strip()
    assert rows["a.msg"].metadata["references"] == "<1@x.org>"
    assert rows["catalogue.msg"].content_type == "text/plain"
    assert kind_of_original(MAIL_TEXT, "a.msg", "") == "mail"


def test_entries_of_calendars_and_contacts_are_lines_of_the_text() -> None:
    request = outlook("Shall we?", _001A="IPM.Schedule.Meeting.Request", _3A0D="Pier 2")
    request.set_property(0x0060, PropertyTypeCode.PTYP_TIME, NOON)
    where = "METHOD:REQUEST\nDTSTART:20260302T120000Z\nLOCATION:Pier 2"
    assert read(request).body == f"Shall we?\n{where}"
    for line in where.split():
        assert line in native_reader().extract(request.to_bytes(), "a.msg").text
    contact = outlook("", _001A="IPM.Contact", _3A08="030 12341", _3A29="Quay 1", _3A27="Hamburg")
    assert read(contact).body == "TEL;TYPE=work:030 12341\nADR:Quay 1;Hamburg"


def test_a_message_without_text_is_empty() -> None:
    assert read(outlook(body="", subject="")).body == ""


def test_it_is_shown_as_a_mail() -> None:
    data = outlook(_0C1A="Ann", _0E04="Bo").to_bytes()
    assert kind_of_original(data, "a.msg", "application/vnd.ms-outlook") == "mail"
    assert kind_of_original(data, "a.doc", "application/msword") == "none"
    shown = view_mail(data, lambda html, _: html)
    assert "<dt>From</dt><dd>Ann</dd>" in shown and "Shall we meet at noon?" in shown


@pytest.mark.parametrize("seed", range(60))
def test_damaged_files_are_refused_or_read(seed: int) -> None:
    message = outlook(_1035="<1@example.org>")
    message.add_attachment("a.bin", bytes(9000))
    chance = random.Random(seed)
    data = bytearray(message.to_bytes())
    for _ in range(chance.choice((1, 20, 400))):
        data[chance.randrange(len(data))] = chance.randrange(256)
    del data[chance.randrange(600, 2 * len(data)) :]
    try:
        outlook_mail(bytes(data))
    except ValueError as error:
        assert str(error)


MAILS = [
    ("1", "", "Shall we take the ferry at noon, or the one that leaves in the evening?", ()),
    ("2", "1", "The one in the evening, for I have work until five o'clock.", ("fares.txt",)),
    ("3", "2", "Then let us meet at the pier at half past five, and bring the tickets.", ()),
]


def eml(number, parent, text, files):
    quoted = ""
    for earlier, _, words, _ in reversed(MAILS[: int(number) - 1]):
        marks = ">" * (int(number) - int(earlier))
        above = ">" * (int(number) - int(earlier) - 1)
        quoted += f"\n\n{above} On Monday, P{earlier} <p{earlier}@x.org> wrote:\n{marks} {words}"
    message = message_from_bytes(
        f"Message-ID: <{number}@x.org>\nFrom: P{number} <p{number}@x.org>\nSubject: Ferry\n"
        f"Date: Mon, {number} Mar 2026 12:00:00 +0000\n\n".encode(),
        policy=policy.default,
    )
    if parent:
        message["In-Reply-To"] = f"<{parent}@x.org>"
    message.set_content(text + quoted + "\n")
    for name in files:
        message.add_attachment("Adults four, children two.", filename=name)
    return message


def test_threads_of_outlook_files_are_those_of_the_same_mails(tmp_path) -> None:
    (tmp_path / "eml").mkdir()
    (tmp_path / "msg").mkdir()
    for mail in MAILS:
        message = eml(*mail)
        (tmp_path / "eml" / f"{mail[0]}.eml").write_bytes(message.as_bytes())
        MapiMessage.from_email_message(message).save(tmp_path / "msg" / f"{mail[0]}.msg")
    (tmp_path / "msg" / "a.doc").write_bytes((tmp_path / "msg" / "1.msg").read_bytes())
    (tmp_path / "msg" / "bad.msg").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))

    def shape(result):
        [thread] = result.threads
        return [
            (mail.message.message_id, mail.message.attachments, mail.reasons, mail.link)
            for mail in thread.mails
        ]

    of_outlook = threads(tmp_path / "msg")
    assert shape(of_outlook) == shape(threads(tmp_path / "eml"))
    assert [thread.inclusive for thread in of_outlook.threads]
    assert of_outlook.others == 1
    assert [failure.path for failure in of_outlook.failed] == [str(tmp_path / "msg" / "bad.msg")]


@pytest.mark.long
def test_index_and_threads_name_the_same_thread() -> None:
    message = outlook(_1035="<2@x.org>", _1042="<1@x.org>", _1039="<1@x.org>")
    document = native_reader().extract(message.to_bytes(), "a.msg")
    assert document.metadata["message_id"] == "<2@x.org>"
    assert document.metadata["references"] == "<1@x.org>"
    assert document.metadata["thread"] == message_hash("<1@x.org>")


@pytest.mark.long
def test_attachments_are_indexed_beside_the_message(tmp_path) -> None:
    message = outlook(body="The report about the harbour ferry is attached.", _1035="<1@x.org>")
    message.add_attachment("report.txt", b"The harbour ferry leaves at eight in the morning.")
    message.save(tmp_path / "a.msg")
    store = open_store(f"sqlite:///{tmp_path}/s.db")
    options = IndexOptions(reading=ReadOptions(attachments=True))
    index(str(tmp_path / "a.msg"), store, options, workers=1)
    rows = {row.path.rpartition("/")[2]: row for row in store.scan()}
    assert set(rows) == {"a.msg", "report.txt"}
    assert rows["a.msg"].metadata["message_id"] == "<1@x.org>"
    assert "harbour ferry is attached" in rows["a.msg"].text
    assert rows["report.txt"].metadata["parent_id"] == rows["a.msg"].id
    store.close()


@pytest.mark.long
def test_a_message_and_the_mail_of_it_have_one_text() -> None:
    message = outlook(_0C1A="Ann", _5D01="ann@example.org", _0E04="Bob <bob@example.org>")
    mail = (
        "From: Ann <ann@example.org>\nTo: Bob <bob@example.org>\nSubject: Ferry\n"
        "Date: Mon, 02 Mar 2026 12:00:00 -0000\nMIME-Version: 1.0\n"
        "Content-Type: text/plain; charset=utf-8\n\nShall we meet at noon?\n"
    )
    extractor = native_reader()
    of_message = extractor.extract(message.to_bytes(), "a.msg")
    of_mail = extractor.extract(mail.encode(), "a.eml")
    assert of_message.text.split() == of_mail.text.split()
    assert of_message.content_type == "application/vnd.ms-outlook"
    assert of_message.metadata["from"] == of_mail.metadata["from"]
