"""Attachment families: mails with their attachments as documents, custodians, and the columns of
load files that say who held which copies.
"""

from __future__ import annotations

import hashlib
import mailbox
from dataclasses import replace
from email.message import EmailMessage
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import store_fixture  # noqa: F401

from indexer import (
    ExportOptions,
    GroupOptions,
    IndexOptions,
    LabelOptions,
    export,
    group,
    index,
    open_store,
)
from indexer.documents.base import ReadOptions, message_hash
from indexer.documents.mail.message import read_message, split_attachments
from indexer.documents.tables import QUOTE
from indexer.errors import UsageError
from indexer.jobs.label import label
from indexer.model import Row
from indexer.review.exports.custody import CustodyBuilder
from indexer.review.originals.files import OriginalFiles
from indexer.review.originals.render import attached_parts

BODY = "Please read the report about the harbour ferry and tell me before noon what is missing."
REPORT = "The report: the harbour ferry leaves at eight in the morning and returns at six at night."
DATA = "The table of the fares: adults four, children two, bicycles one, dogs free, cars eleven."
READING = ReadOptions(attachments=True)


def mail(name, attachments, received="", body=BODY):
    message = EmailMessage()
    if received:
        message["Received"] = received
    message["From"] = "ann@example.org"
    message["Subject"] = f"Ferry {name}"
    message["Message-ID"] = f"<{name}@example.org>"
    message.set_content(body)
    for file, text in attachments.items():
        message.add_attachment(text, filename=file)
    return message.as_bytes()


def fill(folder, **mails):
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in mails.items():
        (folder / f"{name}.eml").write_bytes(data)
    return folder


def read(place, store, custodian="", reading=READING, **options):
    options = IndexOptions(reading=reading, custodian=custodian, **options)
    return index(str(place), store, options, workers=1)


def rows_by_path(store, folder):
    return {row.path.removeprefix(f"{folder}/"): row for row in store.scan()}


def load_file(store, place, **options):
    """Return the records of a load file by their paths below `people`, and the account."""
    records, result = load_file_records(store, place, **options)
    by_path = {record["FilePath"].rpartition("/people/")[2]: record for record in records}
    assert len(by_path) == len(records)
    return by_path, result


def load_file_records(store, place, **options):
    result = export(store, place, "dat", options=ExportOptions(**options))
    names, *rows = [
        [value.strip(QUOTE) for value in line.split("\x14")]
        for line in place.read_text(encoding="utf-8-sig").splitlines()
    ]
    return [dict(zip(names, row, strict=True)) for row in rows], result


def test_attachments_are_documents_beside_their_mail(tmp_path, store):
    data = mail("one", {"report.txt": REPORT, "fares.csv": DATA})
    folder = fill(tmp_path / "mails", one=data, two=mail("two", {}))
    account = read(folder, store)
    assert (account.seen, account.indexed) == (4, 4)
    rows = rows_by_path(store, folder)
    assert set(rows) == {
        "one.eml",
        "one.eml!/report.txt",
        "one.eml!/fares.csv",
        "two.eml",
    }
    assert (rows["one.eml"].text.strip(), rows["one.eml!/report.txt"].text.strip()) == (
        BODY,
        REPORT,
    )
    assert rows["one.eml"].raw == hashlib.sha256(data).hexdigest()
    assert rows["one.eml!/report.txt"].metadata["parent_id"] == rows["one.eml"].id
    assert "parent_id" not in rows["one.eml"].metadata
    assert read(folder, store).unchanged == 4
    fill(folder, one=mail("one", {"fares.csv": DATA}))
    account = read(folder, store, prune=True)
    assert (account.removed, account.unchanged) == (1, 2)
    read(folder, store, reading=ReadOptions(attachments=False))
    assert DATA in rows_by_path(store, folder)["one.eml"].text


def test_a_new_store_has_attachments_as_documents_and_others_keep_their_setting(tmp_path, store):
    folder = fill(tmp_path / "mails", one=mail("one", {"report.txt": REPORT}))
    read(folder, store, reading=ReadOptions())
    assert len(rows_by_path(store, folder)) == 2
    read(folder, store, reading=ReadOptions(attachments=False), prune=True)
    [row] = store.scan()
    label(store, [row.id], LabelOptions(add=["hot"]))
    assert REPORT in row.text and not store.parts.attachments()
    assert read(folder, store, reading=ReadOptions()).unchanged == 1
    read(folder, store, reading=ReadOptions(attachments=True))
    rows = rows_by_path(store, folder)
    assert rows["one.eml"].labels == ("hot",) and REPORT not in rows["one.eml"].text
    assert rows["one.eml!/report.txt"].labels == ()
    assert read(folder, store, reading=ReadOptions()).unchanged == 2


def test_attachments_of_mailboxes_and_maildirs(tmp_path, store):
    box = mailbox.mbox(tmp_path / "in.mbox")
    box.add(mail("one", {"report.txt": REPORT}))
    box.close()
    read(tmp_path / "in.mbox", store)
    assert {row.path.rpartition("!/")[2] for row in store.scan()} == {
        "one@example.org.eml",
        "report.txt",
    }
    maildir = mailbox.Maildir(tmp_path / "box")
    name = maildir.add(mail("two", {"fares.csv": DATA}))
    account = read(tmp_path / "box", store)
    assert (account.seen, account.indexed) == (2, 2)
    read_mail = tmp_path / "box" / "cur" / f"{name}:2,S"
    (tmp_path / "box" / "new" / name).rename(read_mail)
    read(tmp_path / "box", store)
    paths = [row.path for row in store.scan() if "/box/" in row.path]
    assert sorted(paths) == [str(read_mail), f"{read_mail}!/fares.csv"]


def test_the_files_of_mails_and_attachments_are_given_whole(tmp_path, store):
    data = mail("one", {"report.txt": REPORT})
    folder = fill(tmp_path / "mails", one=data)
    box = mailbox.mbox(folder / "in.mbox")
    box.add(mail("two", {"report.txt": REPORT}))
    box.close()
    read(folder, store, reading=ReadOptions(attachments=True, containers="all"))
    originals = OriginalFiles(folder)
    for path, row in rows_by_path(store, folder).items():
        assert originals.is_available(row)
        with originals.open(row) as stream:
            content = stream.read()
        assert hashlib.sha256(content).hexdigest() == row.raw, path
        if path.endswith("report.txt"):
            assert content.decode().strip() == REPORT
        else:
            assert b"report.txt" in content


def test_what_belongs_to_the_text_stays_in_the_mail():
    message = EmailMessage()
    message.set_content("Text")
    message.add_alternative("<p>Text <img src='cid:a'></p>", subtype="html")
    logo = {"cid": "<a>", "filename": "logo.png", "disposition": "inline"}
    message.get_payload()[1].add_related(b"logo", "image", "png", **logo)
    forwarded = EmailMessage()
    forwarded["Subject"] = "inner"
    forwarded.set_content(REPORT)
    forwarded.add_attachment(DATA, filename="deep.txt")
    message.add_attachment(forwarded)
    message.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="../é x.pdf")
    message.add_attachment(b"1", maintype="application", subtype="pdf")
    rest, files = split_attachments(message.as_bytes())
    assert [file.name for file in files] == ["attachment.eml", "é x.pdf", "attachment.pdf"]
    assert b"deep.txt" in files[0].data and files[1].data == b"%PDF"
    assert b"logo.png" in rest and b"deep.txt" not in rest
    single = (
        b"Content-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\nMQ==\n"
    )
    rest, files = split_attachments(single)
    assert [(file.name, file.data) for file in files] == [("a.pdf", b"1")]
    assert b"MQ==" not in rest
    assert split_attachments(b"")[1] == ()


NAMES = {
    "filename*=utf-8''..%2F..%2Fa%0D%0Ab%1B%5B31m%00.txt": "a b [31m .txt",
    'filename="=?utf-8?q?x=0D=0Ay.txt?="': "x y.txt",
    "filename*=utf-8''C%3A%5Cfares%E2%80%A8.txt": "fares .txt",
    "filename*=utf-8''%0D%0A": "attachment.txt",
}


def test_names_of_attachments_are_one_line_without_control_characters(tmp_path, store):
    parts = "".join(
        f"--b\nContent-Type: text/plain\nContent-Disposition: attachment; {name}\n\n{number}\n"
        for number, name in enumerate(NAMES)
    )
    data = (
        "Subject: =?utf-8?q?Ferry=0D=0AX-Other:_1=1B?=\n"
        f"Content-Type: multipart/mixed; boundary=b\n\n{parts}--b--\n"
    ).encode()
    names = list(NAMES.values())
    assert [file.name for file in split_attachments(data)[1]] == names
    message = read_message(data, "", "")
    assert message.subject == "Ferry X-Other: 1 "
    named = [*names[:-1], "text/plain"]
    assert [file.name for file in message.attachments] == named
    assert [part.name for part in attached_parts(data)] == named
    (tmp_path / "a.eml").write_bytes(data)
    index(str(tmp_path / "a.eml"), store, IndexOptions(reading=READING))
    assert sorted(row.path.partition("!/")[2] for row in store.scan()) == ["", *sorted(names)]


@given(st.lists(st.tuples(st.text(min_size=1), st.binary()), max_size=4))
def test_every_attachment_comes_out_and_nothing_else_does(attachments):
    message = EmailMessage()
    message.set_content(BODY)
    for name, data in attachments:
        file = "".join(char for char in name if char.isalnum()) or "x"
        message.add_attachment(data, maintype="application", subtype="pdf", filename=file)
    rest, files = split_attachments(message.as_bytes())
    assert [file.data for file in files] == [data for _, data in attachments]
    again, none = split_attachments(rest)
    assert (again, none) == (rest, ())


def people(tmp_path, store):
    """Index the mails of two custodians, and return the folder above."""
    files = {"report.txt": REPORT, "fares.csv": DATA}
    folder = tmp_path / "people"
    fill(folder / "ann", one=mail("one", files, "by a"), more=mail("one", files, "by b"))
    fill(folder / "ann", two=mail("two", {"report.txt": REPORT}, body=f"{BODY} Again."))
    other_line_ends = mail("one", files, "by c").replace(b"\n", b"\r\n")
    fill(folder / "bo", one=other_line_ends)
    fill(folder / "bo", dropped=mail("one", {"report.txt": REPORT}, "by d"))
    read(folder / "ann", store, "Ann")
    read(folder / "bo", store, "Bo")
    group(store, GroupOptions())
    return folder


def test_a_load_file_names_families_custodians_and_paths_of_copies(tmp_path, store):
    folder = people(tmp_path, store)
    rows, _ = load_file(store, tmp_path / "out.dat")
    assert len(rows) == 13
    parent = rows["ann/one.eml"]
    assert parent["ParentID"] == "" and parent["BegAttach"] == parent["DOCID"]
    report, fares = rows["ann/one.eml!/report.txt"], rows["ann/one.eml!/fares.csv"]
    assert report["ParentID"] == fares["ParentID"] == parent["DOCID"]
    assert report["AttachRange"] == parent["AttachRange"] == f"{parent['DOCID']}-{report['DOCID']}"
    assert parent["EndAttach"] == report["DOCID"]
    assert parent["MIH"] == message_hash("<one@example.org>") and report["MIH"] == ""
    copies = ("ann/more.eml", "ann/one.eml", "bo/one.eml")
    for end in ("", "!/report.txt", "!/fares.csv"):
        for path in copies:
            record = rows[f"{path}{end}"]
            assert record["AllCustodians"] == "Ann;Bo"
            assert record["AllPaths"] == ";".join(f"{folder}/{copy}{end}" for copy in copies)
    for path, custodian in (("bo/dropped.eml", "Bo"), ("ann/two.eml", "Ann")):
        for end in ("", "!/report.txt"):
            record = rows[f"{path}{end}"]
            assert (record["Custodian"], record["AllCustodians"]) == (custodian, custodian)
            assert record["AllPaths"] == f"{folder}/{path}{end}"


def test_duplicates_are_left_out_with_their_attachments(tmp_path, store):
    people(tmp_path, store)
    everywhere, result = load_file(store, tmp_path / "a.dat", dedup="global")
    assert "6 duplicates left out" in result.notes[0]
    kept = {path for path in everywhere if "!/" not in path}
    assert {"ann/two.eml", "bo/dropped.eml"} < kept and len(kept) == 3
    assert len(everywhere) == 7
    assert "ann/two.eml!/report.txt" in everywhere and "bo/dropped.eml!/report.txt" in everywhere
    assert all(
        record["AllCustodians"] == "Ann;Bo"
        for path, record in everywhere.items()
        if path.endswith("fares.csv")
    )
    by_custodian, _ = load_file(store, tmp_path / "b.dat", dedup="custodian")
    assert {path for path in by_custodian if "!/" not in path} >= {"bo/one.eml", "bo/dropped.eml"}
    assert len(by_custodian) == 10
    result = export(store, tmp_path / "c.csv", options=ExportOptions(dedup="global"))
    assert result.records == 7
    with pytest.raises(UsageError, match="--replace"):
        export(store, tmp_path / "c.csv")
    assert export(store, tmp_path / "c.csv", replace=True).records == 13


def row(id, parent="", raw="0", family="", **values):
    metadata = {"parent_id": parent} if parent else {}
    texts = {"title": "", "text": "", "content_type": "", "source": "", "extractor": ""}
    return Row(
        id=id, recipe="r", status="complete", path=f"/{id}", modified=None, size=1, raw=raw,
        exact=raw, words=1, chars=1, family=family or id, metadata=metadata, **texts, **values,
    )  # fmt: skip


def test_mails_without_a_message_id_are_copies_by_header_and_text():
    header = {"from": "a@x.org", "to": "b@x.org", "created": "2025-03-03T09:00:00Z"}
    one = replace(row("a", raw="1"), content_type="message/rfc822", exact="e", metadata=header)
    others = {
        "copy": replace(one, id="copy", raw="2"),
        "subject": replace(one, id="subject", raw="2", metadata={**header, "subject": "Ferry"}),
        "text": replace(one, id="text", raw="2", exact="f"),
        "note": replace(one, id="note", raw="2", content_type="text/plain"),
        "draft": replace(one, id="draft", raw="2", metadata={"from": "a@x.org"}),
    }
    for id, other in others.items():
        builder = CustodyBuilder("global")
        builder.add(one)
        builder.add(other)
        custodies = builder.build(
            SimpleNamespace(get=lambda ids, other=other: {one.id: one, other.id: other})
        )
        assert custodies.is_left_out(other) == (id == "copy"), id


@given(
    st.dictionaries(
        st.sampled_from("abcdef"),
        st.tuples(*map(st.sampled_from, (" abcdefx", "01", "abcdef"))),
    )
)
def test_whole_families_are_kept_or_left_out_whatever_the_parents(documents):
    """Also where a parent is missing, or documents name each other as parents."""
    rows = {
        id: row(id, parent.strip(), raw, principal if principal in documents else id)
        for id, (parent, raw, principal) in documents.items()
    }
    for id, document in rows.items():  # a principal is its own
        if rows[document.family].family != document.family:
            rows[id] = replace(document, family=id)

    class OfRows:
        def get(self, ids):
            return {id: rows[id] for id in ids}

    builder = CustodyBuilder("global")
    for document in sorted(rows.values(), key=lambda row: row.id):
        builder.add(document)
    custodies = builder.build(OfRows())
    for document in rows.values():
        parent = rows.get(document.metadata.get("parent_id"))
        if parent is not None and "parent_id" not in parent.metadata:
            assert custodies.is_left_out(document) == custodies.is_left_out(parent)
        assert document.path in custodies.of(document).paths
    kept = {id: document for id, document in rows.items() if not custodies.is_left_out(document)}
    for document in kept.values():
        principal = custodies.group_of(document)
        assert custodies.group_of(kept[principal]) == principal
        if {rows[id].family for id in rows} <= kept.keys():
            assert principal == document.family
    if rows:
        assert any(not custodies.is_left_out(document) for document in rows.values())


def test_a_custodian_reaches_unchanged_documents(tmp_path, store):
    folder = fill(tmp_path / "mails", one=mail("one", {"report.txt": REPORT}))
    read(folder, store)
    assert read(folder, store, "Ann").indexed == 2
    assert {row.metadata["custodian"] for row in store.scan()} == {"Ann"}
    assert read(folder, store, "Ann").unchanged == 2
    assert read(folder, store).unchanged == 2
    assert {row.metadata["custodian"] for row in store.scan()} == {"Ann"}


def test_the_families_of_a_load_file(tmp_path, store):
    rows = [
        ("DOCID", "BegAttach", "ParentID", "AttachRange", "Custodian", "MessageID", "TEXT"),
        ("A-1", "A-1", "", "", "Ann", "<one@example.org>", BODY),
        ("A-2", "A-1", "A-1", "", "Ann", "", REPORT),
        ("A-3", "A-1", "A-2", "", "Ann", "", DATA),
        ("B-1", "", "", "B-1 - B-2", "Bo", "", f"{BODY} Again."),
        ("B-2", "", "", "B-1-B-2", "Bo", "", f"{REPORT} Again."),
        ("C-1", "", "", "C-1", "", "two@example.org", f"{DATA} Again."),
        ("C-2", "", "C-1", "", "", "", f"{DATA} Again and again."),
        ("C-3", "", "C-2", "", "", "", f"{DATA} And again and again."),
    ]
    place = tmp_path / "a.dat"
    place.write_text("".join("\x14".join(f"þ{value}þ" for value in row) + "\r\n" for row in rows))
    for own_ids in (False, True):
        read(place, store, reading=ReadOptions(own_ids=own_ids))
    stored = {row.path.rpartition("/")[2]: [] for row in store.scan()}
    for one in store.scan():
        stored[one.path.rpartition("/")[2]].append(one)
    for name, mail_name in (("A-2", "A-1"), ("A-3", "A-1"), ("B-2", "B-1"), ("C-3", "C-1")):
        parents = {one.metadata["parent_id"] for one in stored[name]}
        assert parents == {one.id for one in stored[mail_name]} and mail_name in parents
    assert all("parent_id" not in one.metadata for name in ("A-1", "B-1") for one in stored[name])
    assert {one.metadata["message_id"] for one in stored["C-1"]} == {"<two@example.org>"}
    assert {one.metadata["custodian"] for one in stored["A-3"]} == {"Ann"}
    records, _ = load_file_records(store, tmp_path / "out.dat")
    by_id = {record["DOCID"]: record for record in records}
    assert by_id["A-2"]["AttachRange"] == "A-1-A-3"


def test_labels_go_to_the_whole_mail_and_to_those_of_near_duplicates(tmp_path, store):
    people(tmp_path, store)
    ids = {row.path.rpartition("/people/")[2]: row.id for row in store.scan()}
    fares = ids["ann/one.eml!/fares.csv"]
    alone = label(store, [fares], LabelOptions(add=["hot"], attachments=True), dry_run=True)
    assert {change.id for change in alone.changes} == {
        ids["ann/one.eml"],
        fares,
        ids["ann/one.eml!/report.txt"],
    }
    assert {change.attached_with for change in alone.changes} == {None, fares}
    options = LabelOptions(add=["hot"], attachments=True, family=True)
    changed = {change.id for change in label(store, [fares], options, dry_run=True).changes}
    of_one = {id for path, id in ids.items() if path.startswith(("ann/one", "ann/more", "bo/one"))}
    assert changed == of_one
    options = LabelOptions(add=["hot"], attachments=True, family=True, others=True)
    changed = {change.id for change in label(store, [fares], options, dry_run=True).changes}
    assert changed == {id for path, id in ids.items() if path.startswith(("ann/more", "bo/one"))}


def test_a_custodian_is_refused_where_documents_are_signed_in_place(tmp_path):
    opened = open_store(f"sqlite:///{tmp_path}/a.db")
    with pytest.raises(UsageError, match="custodian"):
        index([opened.url], opened, IndexOptions(custodian="Ann"))
    opened.close()
