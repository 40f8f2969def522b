"""Load files made elsewhere: Concordance (DAT), Opticon (OPT) and tables with text files, their
encodings and damaged rows, and a round trip with near-duplicate fields and labels.
"""

from __future__ import annotations

import csv

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import store_fixture  # noqa: F401

from indexer import GroupOptions, IndexOptions, export, group, index, open_store
from indexer.documents.base import ReadOptions
from indexer.errors import UsageError
from indexer.jobs.label_from import LabelFileOptions, label_from

TEXT = (
    "The harbour ferry leaves at {} in the morning and returns at six. Dogs travel free, café {}."
)
TEXTS = {
    "DOC1": TEXT.format("eight", "one"),
    "DOC2": TEXT.format("eight", "two"),
    "DOC3": "A quite different text about the price of bread and the people who pay it every day.",
}


def dat(*rows):
    return "".join("\x14".join(f"þ{value}þ" for value in row) + "\r\n" for row in rows)


def volume(folder, encoding="utf-8"):
    """Write the text files of a volume, and return the rows of its load file."""
    texts = folder / "VOL001" / "TEXT" / "001"
    texts.mkdir(parents=True, exist_ok=True)
    (folder / "VOL001" / "DATA").mkdir(exist_ok=True)
    for id, text in TEXTS.items():
        (texts / f"{id}.txt").write_bytes(text.encode(encoding))
    return [
        ("Control Number", "Email Subject", "Tags", "Extracted Text"),
        *((id, f"Title®of {id}", "hot; cold", f"\\vol001\\TEXT\\001\\{id}.TXT") for id in TEXTS),
    ]


def read(place, store, text_files=None, **reading):
    root = None if text_files is None else str(text_files)
    fields = ReadOptions(text_files=root, own_ids=True, **reading)
    return index(str(place), store, IndexOptions(extractor="plain", reading=fields), workers=1)


def texts_of(store):
    return {row.id: row.text for row in store.scan()}


ENCODED = {
    "utf-8": ("utf-8", b"", "utf-8"),
    "utf-8 with mark": ("utf-8", b"\xef\xbb\xbf", "cp1252"),
    "utf-16 little": ("utf-16-le", b"\xff\xfe", "utf-8"),
    "utf-16 big": ("utf-16-be", b"\xfe\xff", "utf-8"),
    "utf-16 without mark": ("utf-16-le", b"", "utf-8"),
    "windows": ("cp1252", b"", "windows-1252"),
}


@pytest.mark.parametrize("kind", ENCODED)
def test_a_concordance_file_is_read_with_its_text_files(kind, tmp_path, store):
    codec, mark, encoding = ENCODED[kind]
    place = tmp_path / "VOL001" / "DATA" / "vol.dat"
    rows = volume(tmp_path, "utf-8" if codec.startswith("utf-16") else codec)
    place.write_bytes(mark + dat(*rows).encode(codec))
    account = read(place, store, tmp_path / "VOL001", encoding=encoding, label_field="Tags")
    assert (account.seen, account.indexed, account.failed) == (3, 3, ())
    assert texts_of(store) == TEXTS
    row = store.get(["DOC1"])["DOC1"]
    assert (row.title, row.labels) == ("Title\nof DOC1", ("hot", "cold"))
    assert row.metadata == {"Control Number": "DOC1"}
    assert row.path == f"{place}!/DOC1"
    again = read(place, store, tmp_path / "VOL001", encoding=encoding, label_field="Tags")
    assert again.unchanged == 3


def test_a_windows_load_file_is_refused_with_the_way_out(tmp_path, store):
    place = tmp_path / "vol.dat"
    place.write_bytes(dat(("DOCID", "TEXT"), ("1", "a")).encode("cp1252"))
    account = read(place, store)
    assert (account.seen, len(account.failed)) == (1, 1)
    assert "--encoding" in account.failed[0].error
    with pytest.raises(UsageError, match="cp1252"):
        ReadOptions(encoding="base64")


def test_a_windows_text_file_beside_a_load_file_in_utf_8(tmp_path, store):
    rows = volume(tmp_path, "cp1252")
    place = tmp_path / "VOL001" / "vol.dat"
    place.write_text(dat(*rows), encoding="utf-8")
    account = read(place, store)
    assert [("--encoding" in blob.error) for blob in account.failed] == [True, True]
    assert texts_of(store) == {"DOC3": TEXTS["DOC3"]}
    assert read(place, store, encoding="cp1252").indexed == 2
    assert texts_of(store) == TEXTS


def test_every_bad_row_is_an_outcome_and_the_others_are_kept(tmp_path, store):
    volume(tmp_path)
    (tmp_path / "secret.txt").write_text("nobody should read this by a load file")
    (tmp_path / "VOL001" / "TEXT" / "link.txt").symlink_to(tmp_path / "secret.txt")
    place = tmp_path / "VOL001" / "vol.dat"
    lines = dat(
        ("DOCID", "TEXTPATH"),
        ("DOC1", "TEXT/001/DOC1.txt"),
        ("up", "..\\secret.txt"),
        ("absolute", str(tmp_path / "secret.txt")),
        ("drive", "C:\\secret.txt"),
        ("link", "TEXT\\link.txt"),
        ("missing", "TEXT\\001\\DOC9.txt"),
        ("short",),
        ("", "TEXT\\001\\DOC2.txt"),
        ("DOC1", "TEXT\\001\\DOC2.txt"),
        ("inline", f"It stands in the row itself:®{TEXTS['DOC3']}"),
        ("empty", ""),
    )
    place.write_text(lines + "þnever closed\x14þ\r\n" + dat(("DOC3", "TEXT\\001\\DOC3.txt")))
    account = read(place, store)
    assert account.seen == 13 == account.indexed + len(account.failed)
    assert texts_of(store) == {
        "DOC1": TEXTS["DOC1"],
        "DOC3": TEXTS["DOC3"],
        "inline": f"It stands in the row itself:\n{TEXTS['DOC3']}",
        "empty": "",
    }
    assert account.statuses == {"empty": 1}


def test_a_text_file_that_appears_later_is_read_and_one_that_goes_removes_the_row(tmp_path, store):
    place = tmp_path / "VOL001" / "vol.dat"
    place.parent.mkdir()
    rows = volume(tmp_path)
    place.write_text(dat(*rows))
    text = tmp_path / "VOL001" / "TEXT" / "001" / "DOC1.txt"
    text.unlink()
    assert (read(place, store).indexed, len(texts_of(store))) == (2, 2)
    text.write_text(TEXTS["DOC1"])
    assert (read(place, store).indexed, texts_of(store)) == (1, TEXTS)
    text.unlink()
    assert (len(read(place, store).failed), len(texts_of(store))) == (1, 2)


def test_a_dat_or_opt_file_that_is_no_load_file_stays_a_file(tmp_path, store):
    for name in ("notes.dat", "notes.opt"):
        (tmp_path / name).write_text(TEXTS["DOC3"])
    index(str(tmp_path), store, IndexOptions(reading=ReadOptions(containers="all")), workers=1)
    assert {row.path for row in store.scan()} == {
        f"{tmp_path}/notes.dat",
        f"{tmp_path}/notes.opt",
    }


def test_a_load_file_without_fields_of_usual_names_asks_for_them(tmp_path, store):
    place = tmp_path / "a.dat"
    place.write_text(dat(("Number", "Body"), ("1", TEXTS["DOC3"])))
    (failure,) = read(place, store).failed
    assert "--id-field" in failure.error
    (failure,) = read(place, store, id_field="Number").failed
    assert "--text-field" in failure.error
    assert read(place, store, id_field="Number", text_field="Body").indexed == 1


def test_a_table_names_text_files(tmp_path, store):
    volume(tmp_path)
    place = tmp_path / "a.csv"
    place.write_text("id,file\n" + "".join(f"{id},TEXT/001/{id}.txt\n" for id in TEXTS))
    account = read(place, store, tmp_path / "VOL001", id_field="id", text_field="file")
    assert (account.indexed, texts_of(store)) == (3, TEXTS)


def test_a_table_in_another_encoding(tmp_path, store):
    place = tmp_path / "a.csv"
    place.write_bytes(f"id,text\n1,{TEXTS['DOC1'].replace(',', ';')}\n".encode("cp1252"))
    (failure,) = read(place, store, id_field="id").failed
    assert "--encoding" in failure.error
    assert read(place, store, id_field="id", encoding="cp1252").indexed == 1


def page(key, first):
    return f"{key},VOL001,IMAGES\\001\\{key}.tif,{'Y' if first else ''},,,\r\n"


def test_an_opticon_file_has_texts_by_page_or_by_document(tmp_path, store):
    texts = tmp_path / "TEXT" / "001"
    texts.mkdir(parents=True)
    for key in ("A1", "A2", "B1", "D1", "D2"):
        (texts / f"{key}.TXT").write_text(f"{TEXTS['DOC3']} {key}")
    pages = [("A1", True), ("A2", False), ("B1", True), ("B2", False), ("C1", True)]
    pages += [("D1", True), ("D2", False), ("D3", False)]
    lines = [page(*one) for one in pages]
    (tmp_path / "vol.opt").write_text("".join((*lines[:5], "not a page\r\n", *lines[5:])))
    account = read(tmp_path / "vol.opt", store)
    assert texts_of(store) == {
        "A1": f"{TEXTS['DOC3']} A1\n{TEXTS['DOC3']} A2",
        "B1": f"{TEXTS['DOC3']} B1",
    }
    assert (account.seen, account.indexed) == (5, 2)
    errors = {blob.path.rpartition("/")[2]: blob.error for blob in account.failed}
    assert "1 of 1 page" in errors["C1"]
    assert "1 of 3 pages" in errors["D1"]
    assert "record 6" in errors["vol.opt"]
    assert store.get(["A1"])["A1"].metadata["PageCount"] == "2"


field = st.text(st.characters(exclude_characters="þ®\x14\r\n\0", exclude_categories=["Cs"]))


@settings(max_examples=25)
@given(st.lists(field.filter(str.strip), min_size=1, max_size=5))
def test_any_text_of_a_load_file_comes_back(tmp_path_factory, texts):
    place = tmp_path_factory.mktemp("dat") / "a.dat"
    rows = [(str(number), f"{text} ") for number, text in enumerate(texts)]
    place.write_bytes(dat(("DOCID", "TEXT"), *rows).encode("utf-8"))
    opened = open_store("sqlite://:memory:")
    read(place, opened)
    assert texts_of(opened) == {id: text for id, text in rows if not text.endswith(".txt ")}
    opened.close()


def load_file(path):
    """Return the rows of a load file by DOCID."""
    lines = path.read_bytes().decode("utf-8-sig").split("\r\n")[:-1]
    names, *rows = [[value[1:-1] for value in line.split("\x14")] for line in lines]
    return {row[0]: dict(zip(names, row, strict=True)) for row in rows}


def test_fields_and_labels_go_out_and_come_back_equal(tmp_path, store):
    """Load file in, near-duplicate fields and labels out, joined to the load file and in again."""
    place = tmp_path / "VOL001" / "vol.dat"
    rows = volume(tmp_path)
    place.write_text(dat(*rows), encoding="utf-8")
    read(place, store)
    group(store, GroupOptions())
    labels = {"DOC1": ("hot",), "DOC2": ("=sum", "'tis", "cold")}
    store.labels.relabel(labels)
    store.refresh()
    export(store, tmp_path / "out.dat", "dat")
    export(store, tmp_path / "out.csv", "csv")
    out = load_file(tmp_path / "out.dat")
    assert out["DOC2"]["NearDupGroup"] == out["DOC1"]["NearDupGroup"] != ""

    names = [name for name in next(iter(out.values())) if name.startswith("NearDup")]
    joined = [(*rows[0], *names)]
    joined += [(*row, *(out[row[0]][name] for name in names)) for row in rows[1:]]
    again = open_store("sqlite://:memory:")
    (tmp_path / "VOL001" / "joined.dat").write_text(dat(*joined), encoding="utf-8")
    read(tmp_path / "VOL001" / "joined.dat", again)
    for row in again.scan():
        assert {name: row.metadata.get(name, "") for name in names} == {
            name: out[row.id][name] for name in names
        }
    group(again, GroupOptions())
    for file in ("out.dat", "out.csv"):
        back = label_from(again, tmp_path / file)
        assert (back.conflicts, back.failed, back.absent) == ((), (), ())
        assert {row.id: row.labels for row in again.scan() if row.labels} == labels
    assert len(back.changes) == 0 and back.unchanged == 3
    export(again, tmp_path / "again.dat", "dat")
    returned = load_file(tmp_path / "again.dat")
    places = {"FilePath": "", "AllPaths": ""}
    assert [row | places for row in returned.values()] == [row | places for row in out.values()]
    again.close()


def test_a_table_of_labels_with_semicolons_between_its_fields(tmp_path, store):
    place = tmp_path / "a.csv"
    with place.open("w", newline="", encoding="cp1252") as file:
        rows = csv.writer(file, delimiter=";")
        rows.writerows([("Beg Doc", "Coding"), ("DOC1", "café; hot"), ("DOC9", "hot")])
    (tmp_path / "b.dat").write_text(dat(("DOCID", "TEXT"), ("DOC1", TEXTS["DOC1"])))
    read(tmp_path / "b.dat", store)
    with pytest.raises(UsageError, match="--label-field"):
        label_from(store, place, LabelFileOptions(label_field="Tags", encoding="cp1252"))
    result = label_from(store, place, LabelFileOptions(encoding="cp1252"))
    assert result.absent == ("DOC9",)
    assert store.get(["DOC1"])["DOC1"].labels == ("café", "hot")
    result = label_from(store, place)
    assert "--encoding" in result.failed[0].error
