"""Containers that are hostile or damaged, and records with unusual fields."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tarfile
import warnings
import zipfile

import pytest
from places import store_fixture  # noqa: F401

from indexer import IndexOptions, index, threads
from indexer.documents.base import DEFAULT_LIMITS, Limits, ReadOptions
from indexer.documents.blobs import MAX_TIMES
from indexer.errors import UsageError
from indexer.jobs.index import DEFAULT_READ_OPTIONS

ONE = "The harbour ferry leaves at eight in the morning and returns at six in the evening."
TWO = "A quite different text about the price of bread and the people who pay it every day."


def read(place, store, limits=DEFAULT_LIMITS, reading=DEFAULT_READ_OPTIONS, **options):
    return index(
        [str(place)],
        store,
        IndexOptions(extractor="plain", limits=limits, reading=reading, **options),
        workers=1,
    )


def counted(account):
    return account.seen, account.indexed, account.unchanged, len(account.failed)


def test_names_that_lead_out_of_the_archive_write_nothing(tmp_path, store):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in ("../../escaped.txt", "/etc/absolute.txt", "C:\\windows.txt"):
            archive.writestr(name, f"{ONE} {name}")
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        info = tarfile.TarInfo("../../escaped.txt")
        info.size = len(TWO)
        archive.addfile(info, io.BytesIO(TWO.encode()))
    before = sorted(tmp_path.parent.parent.rglob("*escaped*"))
    assert counted(read(tmp_path / "a.zip", store)) == (3, 3, 0, 0)
    assert counted(read(tmp_path / "a.tar", store)) == (1, 1, 0, 0)
    assert sorted(tmp_path.parent.parent.rglob("*escaped*")) == before
    assert f"{tmp_path}/a.zip!/../../escaped.txt" in {row.path for row in store.scan()}


@pytest.mark.parametrize("kind", ["zip", "tar.gz", "tar.xz"])
def test_a_bomb_is_given_up(kind, tmp_path, store):
    zeros, place = b"0" * (1 << 20), tmp_path / f"bomb.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(12):
                archive.writestr(f"{number}.txt", zeros)
    else:
        with tarfile.open(place, f"w:{kind.partition('.')[2]}") as archive:
            for number in range(12):
                info = tarfile.TarInfo(f"{number}.txt")
                info.size = len(zeros)
                archive.addfile(info, io.BytesIO(zeros))
    unpacked = MAX_TIMES * place.stat().st_size + (1 << 20)
    account = read(place, store, Limits(bytes=1 << 20, chars=1000))
    assert account.indexed <= unpacked / (1 << 20) + 1 < 12
    assert any("bomb" in blob.error for blob in account.failed)


def test_a_member_that_is_larger_than_it_says(tmp_path, store):
    place = tmp_path / "a.zip"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", "x" * 100_000)
    data = bytearray(place.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(signature) + offset
        data[at : at + 4] = (10).to_bytes(4, "little")
    place.write_bytes(data)
    account = read(place, store, Limits(bytes=50_000))
    assert account.seen == 1
    assert account.failed or len(next(store.scan()).text) == 10


def test_links_devices_and_encrypted_members(tmp_path, store):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for kind, name in (
            (tarfile.SYMTYPE, "link"),
            (tarfile.FIFOTYPE, "fifo"),
            (tarfile.DIRTYPE, "folder"),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    account = read(tmp_path / "a.tar", store)
    assert (account.seen, account.skipped) == (2, {"special_file": 2})
    place = tmp_path / "b.zip"
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("a.txt", ONE)
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    data = bytearray(place.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    place.write_bytes(data)
    account = read(place, store)
    assert (account.seen, account.skipped) == (2, {"special_file": 1})
    assert "encrypted" in account.failed[0].error


def test_two_members_of_one_name_are_two_documents(tmp_path, store):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for text in (ONE, TWO):
            info = tarfile.TarInfo("a.txt")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    assert counted(read(tmp_path / "a.tar", store)) == (2, 2, 0, 0)
    assert {row.text for row in store.scan()} == {ONE, TWO}


def test_which_containers_are_opened(tmp_path, store):
    (tmp_path / "a.jsonl").write_text(
        json.dumps({"text": ONE}) + "\n" + json.dumps({"text": TWO}) + "\n", encoding="utf-8"
    )
    (tmp_path / "b.txt").write_text(ONE, encoding="utf-8")
    assert counted(read(tmp_path, store)) == (2, 2, 0, 0)
    assert counted(read(tmp_path, store, reading=ReadOptions(containers="all"), prune=True)) == (
        3,
        2,
        1,
        0,
    )
    assert {row.path.removeprefix(f"{tmp_path}/") for row in store.scan()} == {
        "a.jsonl!/1",
        "a.jsonl!/2",
        "b.txt",
    }
    assert counted(read(tmp_path / "a.jsonl", store)) == (2, 0, 2, 0)
    assert (
        counted(read(tmp_path / "a.jsonl", store, reading=ReadOptions(containers="none")))[0] == 1
    )


def test_fields_of_records(tmp_path, store):
    record = {
        "id": 7,
        "body": [ONE, TWO],
        "head": "Two texts",
        "n": 1.5,
        "yes": True,
        "deep": {"a": 1},
        "list": [1],
        "tags": ["x", "y"],
    }
    (tmp_path / "a.jsonl.gz").write_bytes(
        gzip.compress(b"\xef\xbb\xbf" + json.dumps(record).encode() + b"\n\n")
    )
    reading = ReadOptions(
        text_field="body", title_field="head", id_field="id", label_field="tags", own_ids=True
    )
    assert counted(read(tmp_path / "a.jsonl.gz", store, reading=reading)) == (1, 1, 0, 0)
    row = store.get(["7"])["7"]
    assert (row.text, row.title, row.labels) == (f"{ONE}\n{TWO}", "Two texts", ("x", "y"))
    assert row.metadata == {"id": "7", "n": "1.5", "yes": "true", "deep.a": "1"}


def test_records_that_cannot_be_told_apart_fail(tmp_path, store):
    lines = [
        {"id": "a", "text": ONE},
        {"id": "a", "text": TWO},
        {"text": TWO},
        {"id": None, "text": TWO},
        {"id": "b", "text": TWO},
    ]
    (tmp_path / "a.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    account = read(tmp_path / "a.jsonl", store, reading=ReadOptions(id_field="id"))
    assert counted(account) == (5, 2, 0, 3)
    assert "same id" in account.failed[0].error


def test_without_an_id_field_the_line_tells(tmp_path, store):
    lines = [
        json.dumps({"text": ONE}),
        "nonsense",
        "[1]",
        "",
        '{"text": 5}',
        json.dumps({"text": TWO}),
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    account = read(tmp_path / "a.jsonl", store)
    assert counted(account) == (5, 2, 0, 3)
    assert [blob.path.rpartition("!/")[2] for blob in account.failed] == ["2", "3", "5"]


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.mbox", "a.zip", "a.tar", "a.jsonl.gz"])
def test_what_is_not_what_its_name_says_fails_with_a_way_out(name, tmp_path, store):
    (tmp_path / name).write_bytes(b"this is nothing of the kind\nat all\n")
    account = read(tmp_path / name, store)
    assert counted(account) == (1, 0, 0, 1)
    assert account.failed[0].path == str(tmp_path / name)
    assert any(
        word in account.failed[0].error
        for word in ("mend", "repair", "--text-field", "--containers")
    )


def tar_of(*texts):
    return packed("tar", {f"{number}.txt": text.encode() for number, text in enumerate(texts)})


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda whole: whole[:1024], id="cut before a header"),
        pytest.param(lambda whole: whole[:1124], id="cut in a header"),
        pytest.param(lambda whole: whole[:1600], id="cut in a member"),
        pytest.param(
            lambda whole: whole[:1124] + b"x" + whole[1125:], id="a header that is damaged"
        ),
    ],
)
@pytest.mark.parametrize("packing", [bytes, gzip.compress])
def test_a_tar_that_is_cut_or_damaged_tells_that_members_are_missing(
    damage, packing, tmp_path, store
):
    place = tmp_path / ("a.tar" if packing is bytes else "a.tar.gz")
    place.write_bytes(packing(tar_of(ONE, TWO, ONE + TWO)))
    assert counted(read(place, store)) == (3, 3, 0, 0)
    place.write_bytes(packing(damage(tar_of(ONE, TWO, ONE + TWO))))
    account = read(place, store, prune=True)
    assert account.failed[-1].path == str(place) and "damaged" in account.failed[-1].error
    assert len(list(store.scan())) == 3  # what may still be there is not removed


def test_an_empty_container_holds_nothing(tmp_path, store):
    for name in ("a.jsonl", "a.mbox"):
        (tmp_path / name).write_bytes(b"")
        assert counted(read(tmp_path / name, store)) == (0, 0, 0, 0)


def test_csv_with_quotes_line_breaks_and_a_missing_column(tmp_path, store):
    place = tmp_path / "a.csv"
    place.write_text(f'id,text,title\n1,"{ONE}\nand ""more""",T\n2,{TWO}\n', encoding="utf-8-sig")
    account = read(place, store)
    assert counted(account) == (2, 1, 0, 1)
    [row] = store.scan()
    assert (row.text, row.title, row.metadata) == (f'{ONE}\nand "more"', "T", {"id": "1"})
    account = read(place, store, reading=ReadOptions(text_field="body"))
    assert "no column 'body', but: id, text, title" in account.failed[0].error


TABLE = f'id;text;note\n1;"{ONE}; and\nmore";"a, b"\n2;{TWO};\n'


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
@pytest.mark.parametrize(
    ("delimiter", "option"), [(";", None), ("\t", None), ("|", None), (",", None), ("~", "~")]
)
def test_csv_in_any_unicode_with_any_delimiter(encoding, delimiter, option, tmp_path, store):
    mark = "\ufeff" if encoding.endswith("e") else ""
    rows = io.StringIO(newline="")
    csv.writer(rows, delimiter=delimiter).writerows(
        csv.reader(TABLE.splitlines(keepends=True), delimiter=";")
    )
    (tmp_path / "a.csv").write_bytes((mark + rows.getvalue()).encode(encoding))
    assert counted(
        read(tmp_path / "a.csv", store, reading=ReadOptions(id_field="id", delimiter=option))
    ) == (2, 2, 0, 0)
    rows_by_id = {row.metadata["id"]: row for row in store.scan()}
    assert (rows_by_id["1"].text, rows_by_id["1"].metadata["note"], rows_by_id["2"].text) == (
        f"{ONE}; and\nmore",
        "a, b",
        TWO,
    )


def test_a_delimiter_that_is_none_is_refused():
    for delimiter in ("", "::", '"', "\n"):
        with pytest.raises(UsageError, match="give one character"):
            ReadOptions(delimiter=delimiter)


def test_utf_16_that_breaks_off_keeps_what_came_before(tmp_path, store):
    data = f"text\n{ONE}\n{TWO}".encode("utf-16") + b"x"
    (tmp_path / "a.csv").write_bytes(data)
    account = read(tmp_path / "a.csv", store)
    assert account.indexed == 1 and "UTF-16" in account.failed[0].error


@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_unclosed_quote_costs_its_own_row(place, tmp_path, store):
    texts = [ONE, TWO, ONE[::-1], TWO[::-1]]
    lines = [f'"{text}"' if number % 2 else text for number, text in enumerate(texts)]
    lines[place] = f'"{texts[place]}'
    (tmp_path / "a.csv").write_text(
        "text\n" + "".join(f"{line}\n" for line in lines), encoding="utf-8"
    )
    account = read(tmp_path / "a.csv", store)
    assert counted(account) == (4, 3, 0, 1)
    assert (
        account.failed[0].error.startswith(f"line {place + 2} is not a row")
        and "quote" in account.failed[0].error
    )
    assert {row.text for row in store.scan()} == {
        text for number, text in enumerate(texts) if number != place
    }


def test_a_label_column_that_is_not_there(tmp_path, store):
    (tmp_path / "a.csv").write_text(f"text,tag\n{ONE},x\n", encoding="utf-8")
    assert (
        "no column 'label'"
        in read(tmp_path / "a.csv", store, reading=ReadOptions(label_field="label")).failed[0].error
    )
    assert read(tmp_path / "a.csv", store, reading=ReadOptions(label_field="tag")).indexed == 1
    assert next(store.scan()).labels == ("x",)


def test_labels_are_single_values_or_fail(tmp_path, store):
    labels = [7, True, ["x", 1.5, None, ""], None, {"a": 1}, ["x", ["y"]]]
    (tmp_path / "a.jsonl").write_text(
        "".join(json.dumps({"text": f"{ONE} {value}", "l": value}) + "\n" for value in labels),
        encoding="utf-8",
    )
    account = read(tmp_path / "a.jsonl", store, reading=ReadOptions(label_field="l"))
    assert counted(account) == (6, 4, 0, 2)
    assert all("'l' holds more than labels" in value.error for value in account.failed)
    assert {row.path.rpartition("/")[2]: row.labels for row in store.scan()} == {
        "1": ("7",),
        "2": ("true",),
        "3": ("x", "1.5"),
        "4": (),
    }


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_an_archive_in_an_archive_is_one_document_with_all_its_texts(kind, tmp_path, store):
    deepest = packed("zip", {"one.txt": ONE.encode()})
    inner = packed("tar.gz", {"deep/est.zip": deepest, "two.txt": TWO.encode()})
    place = tmp_path / f"a.{kind}"
    place.write_bytes(packed(kind, {"in/ner.tar.gz": inner, "b.txt": ONE.encode()}))
    account = index(
        [str(place)], store, IndexOptions(reading=ReadOptions(containers="all")), workers=1
    )
    assert counted(account) == (2, 2, 0, 0)
    texts = {row.path.removeprefix(f"{place}!/"): row.text for row in store.scan()}
    assert texts.keys() == {"in/ner.tar.gz", "b.txt"}
    assert ONE in texts["in/ner.tar.gz"] and TWO in texts["in/ner.tar.gz"]


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_members_of_one_name_are_told_apart_whatever_they_are_called(kind, tmp_path, store):
    names = ["a.txt", "a.txt", "a.txt#2", "a.txt", "a.txt#2"]
    place = tmp_path / f"a.{kind}"
    place.write_bytes(
        packed(kind, [(name, f"{ONE} {number}".encode()) for number, name in enumerate(names)])
    )
    assert counted(read(place, store)) == (5, 5, 0, 0)
    assert sorted(row.text for row in store.scan()) == [f"{ONE} {number}" for number in range(5)]
    assert counted(read(place, store, prune=True)) == (5, 0, 5, 0)


def packed(kind, members):
    """Return an archive of these members, as bytes."""
    members = list(members.items()) if isinstance(members, dict) else members
    data = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(data, "w") as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # names that are there already
            for name, content in members:
                archive.writestr(name, content)
        return data.getvalue()
    with tarfile.open(fileobj=data, mode=f"w:{kind.partition('.')[2]}") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return data.getvalue()


def test_messages_of_a_mailbox(tmp_path, store):
    place = tmp_path / "a.mbox"
    head = "From someone@example.org Thu Jan  1 00:00:00 1970\n"
    messages = [
        f"{head}Message-ID: <a/b@x>\nSubject: One\nMIME-Version: 1.0\n\n"
        f"{ONE}\nFrom here on: the body.\n\n>From it\n\n",
        f"{head}Message-ID: <a/b@x>\nSubject: One again\nMIME-Version: 1.0\n\n{ONE}\n\n",
        f"{head}Subject: No id\nMIME-Version: 1.0\n\n{TWO}\n",
    ]
    place.write_text("".join(messages), encoding="utf-8")
    account = index([str(place)], store, workers=1)
    assert counted(account) == (3, 3, 0, 0)
    rows = {row.path.removeprefix(f"{place}!/"): row for row in store.scan()}
    assert rows.keys() == {"a/b@x.eml", "a/b@x#2.eml", f"{len(messages[0]) + len(messages[1])}.eml"}
    assert "From here on: the body" in rows["a/b@x.eml"].text
    assert rows["a/b@x.eml"].title == "One"


@pytest.mark.parametrize(
    ("line", "messages"),
    [
        ("From my point of view the ferry was late.", 1),
        ("From 8:30 on we wait.", 1),
        ("From ann@x.org Thu Jan  1 00:00:00 1970", 2),
        ("From - Thu Jan 01 00:00:00 1970", 2),
        ("From ann\nSubject: Two", 2),
        ("From ann@x.org 5 May\nAnything: Two", 2),
        ("From the pier I saw nothing at 10:00 in 2024.", 1),
        ("From the meeting on Mon, 5 May 2024 10:00 nothing remains.", 1),
        ("From the office:\nNote: we pay nothing.", 1),
    ],
)
def test_a_sentence_that_begins_with_from_divides_no_mailbox(tmp_path, store, line, messages):
    place = tmp_path / "a.mbox"
    place.write_text(
        f"From ann@x.org Thu Jan  1 00:00:00 1970\nSubject: One\n\n{ONE}\n\n{line}\n\n{TWO}\n"
    )
    index([str(place)], store, workers=1)
    rows = list(store.scan())
    assert len(rows) == messages
    assert messages == 2 or line in rows[0].text


@pytest.mark.parametrize("name", ["a.mbox", "a.mbox.gz"])
def test_a_mailbox_without_empty_lines_between_messages(tmp_path, store, name):
    head = "From ann@x.org Thu Jan  1 00:00:00 1970\n"
    text = f"{head}Subject: One\n\n{ONE}\n{head}Subject: Two\n\n{TWO}\n{head}is quoted.\n"
    place = tmp_path / name
    place.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    index([str(place)], store, workers=1)
    assert sorted(row.title for row in store.scan()) == ["One", "Two"]
    assert [item.message.subject for item in threads([place]).mails] == ["One", "Two"]


def test_an_own_id_that_no_store_keeps_costs_itself_alone(tmp_path, store):
    lines = [
        {"id": id, "text": f"{ONE} {place}"}
        for place, id in enumerate(["a", "half \ud800", "x" * 600, "new\nline\0\u202e", "b"])
    ]
    (tmp_path / "a.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    account = read(tmp_path / "a.jsonl", store, reading=ReadOptions(id_field="id", own_ids=True))
    assert counted(account) == (5, 3, 0, 2)
    assert any("half a character" in blob.error for blob in account.failed)
    assert set(store.sources(["a", "new\nline\0\u202e", "b"])) == {"a", "new\nline\0\u202e", "b"}


def test_no_own_id_takes_the_place_of_a_part(tmp_path, store):
    text = f"1. Lease\n{ONE}\n2. Rent\n{TWO}"
    for lines in ({"7": text, "7#1": ONE}, {"7#1": ONE, "7": text}):
        (tmp_path / "a.jsonl").write_text(
            "".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in lines.items()),
            encoding="utf-8",
        )
        account = read(
            tmp_path / "a.jsonl",
            store,
            reading=ReadOptions(id_field="id", own_ids=True),
            parts="clauses",
        )
        assert len(account.failed) == 1 and "as those of parts do" in account.failed[0].error
        assert store.counts().documents == 1
        assert store.get(["7#1"])["7#1"].parent == "7"


def test_own_ids_are_distinct_in_all_files_of_a_run(tmp_path, store):
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(
            json.dumps({"id": "7", "text": f"{ONE} {name}"}) + "\n", encoding="utf-8"
        )
    reading = ReadOptions(id_field="id", own_ids=True, containers="all")
    account = read(tmp_path, store, reading=reading)
    assert counted(account) == (2, 1, 0, 1)
    assert "a.jsonl" in account.failed[0].error
    account = read(tmp_path, store, reading=ReadOptions(own_ids=True, containers="all"))
    assert counted(account) == (2, 0, 0, 2)
    assert "--id-field" in account.failed[0].error
