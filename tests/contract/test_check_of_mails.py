"""`check_mail`: a check of a mail whose attachments are documents of their own, in every store."""

from contextlib import closing
from email.message import EmailMessage
from pathlib import Path

import pytest
from sample_library import edited, sentence

from indexer import IndexOptions, check, check_mail, index, open_store
from indexer.documents.base import ReadOptions
from indexer.errors import UsageError

pytestmark = pytest.mark.one_engine

TEXT = sentence(1)
FILE = sentence(2)
PICTURE = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def store(store, kind: str):
    if kind.endswith("reopened"):
        pytest.skip("one connection checks and stores")
    return store


def mail(path: Path, *attachments: bytes, name: str = "report.txt") -> str:
    message = EmailMessage()
    message["Message-ID"] = f"<{path.stem}@example.org>"
    message["Subject"] = "Report"
    message.set_content(f"{TEXT}\n")
    for data in attachments:
        kind = name.rpartition(".")[2]
        message.add_attachment(data, maintype="application", subtype=kind, filename=name)
    path.write_bytes(message.as_bytes())
    return str(path)


@pytest.mark.long
def test_mail_is_a_duplicate_of_itself_where_attachments_are_documents(store, tmp_path) -> None:
    path = mail(tmp_path / "a.eml", FILE.encode())
    options = IndexOptions(reading=ReadOptions(attachments=True), namespace="other")
    index([str(tmp_path)], store, options)
    result = check(store, path=path)
    assert result == check_mail(store, path)
    assert (result.verdict, result.reasons) == ("duplicate", ("identical: the same bytes",))
    [(place, attachment)] = result.attachments.items()
    assert place == attachment.path == f"{path}!/report.txt"
    assert (attachment.verdict, attachment.stored) == ("duplicate", False)
    store.refresh()
    assert len(list(store.scan())) == 2


@pytest.mark.long
def test_mail_is_stored_as_index_stores_it(store, tmp_path) -> None:
    path = mail(tmp_path / "a.eml", FILE.encode(), edited(FILE, 1, "other").encode())
    result = check_mail(store, path, store_it=True, labels=["kept"])
    attachments = list(result.attachments.values())
    assert [item.verdict for item in (result, *attachments)] == ["new", "new", "duplicate"]
    store.refresh()
    rows = {row.id: row for row in store.scan()}
    assert rows.keys() == {result.id, *(item.id for item in attachments)}
    assert all(rows[item.id].metadata["parent_id"] == result.id for item in attachments)
    assert all(row.labels == ("kept",) for row in rows.values())
    assert FILE not in rows[result.id].text
    account = index([path], store, IndexOptions(reading=ReadOptions(attachments=True)))
    assert (account.unchanged, account.indexed) == (3, 0)
    again = check_mail(store, path, store_it=True)
    assert again.of == result.id and not again.stored
    assert {item.of for item in again.attachments.values()} == {item.id for item in attachments}
    (tmp_path / "copy").mkdir()
    copy = mail(tmp_path / "copy" / "a.eml", FILE.encode(), edited(FILE, 1, "other").encode())
    dropped = check(store, path=copy, store_it=True, drop_duplicates=True)
    assert (dropped.of, dropped.stored) == (result.id, False)
    assert not any(item.stored for item in dropped.attachments.values())


@pytest.mark.long
def test_attachment_that_cannot_be_read_is_named(store, tmp_path) -> None:
    path = mail(tmp_path / "a.eml", b"%PDF-1.7 damaged", name="report.pdf")
    result = check_mail(store, path, store_it=True)
    assert (result.verdict, result.stored, result.attachments) == ("new", True, {})
    [note] = result.notes
    assert f"{path}!/report.pdf was neither checked nor stored" in note


@pytest.mark.long
def test_file_without_attachments_is_read_as_ever(store, tmp_path) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    for path in (str(tmp_path / "a.txt"), mail(tmp_path / "a.eml")):
        result = check_mail(store, path)
        assert (result.verdict, result.attachments) == ("new", {})


def test_an_empty_id_is_refused(store, tmp_path) -> None:
    with pytest.raises(UsageError, match="the id is empty"):
        check_mail(store, mail(tmp_path / "a.eml"), id="")


@pytest.mark.long
def test_mail_whose_attachment_was_replaced_is_stored_anew(tmp_path) -> None:
    path = mail(tmp_path / "a.eml", PICTURE + b"1", name="scan.png")
    with closing(open_store(f"sqlite:///{tmp_path}/x.db")) as store:
        assert check(store, path=path, store_it=True).stored
        assert not check(store, path=path, store_it=True).stored
        [first] = store.scan()
        mail(tmp_path / "a.eml", PICTURE + b"2", name="scan.png")
        assert check(store, path=path, store_it=True).stored
        [second] = store.get([first.id]).values()
    assert second.text == first.text and second.embedded != first.embedded
