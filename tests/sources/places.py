"""Sources for the contract: each kind of place, filled with the same documents."""

from __future__ import annotations

import csv
import io
import json
import mailbox
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import fsspec
import pyarrow
import pyarrow.parquet
import pytest

from indexer import IndexOptions, index, open_store
from indexer.documents.base import DEFAULT_LIMITS, Limits, ReadOptions
from indexer.jobs.index import Account
from indexer.stores.base import Store

Documents = Mapping[str, str | bytes]  # name and text; bytes are something that cannot be read
BY_ID = ReadOptions(id_field="id")


def fill_folder(place: Path, documents: Documents) -> str:
    place.mkdir(exist_ok=True)
    for old in place.iterdir():
        if old.stem not in documents:
            old.unlink()
    for name, text in documents.items():
        file, data = place / f"{name}.txt", text if isinstance(text, bytes) else text.encode()
        if not file.exists() or file.read_bytes() != data:
            file.write_bytes(data)
    return str(place)


def fill_zip(place: Path, documents: Documents) -> str:
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("folder") if hasattr(archive, "mkdir") else None
        for name, text in documents.items():
            archive.writestr(f"folder/{name}.txt", text)
    return str(place)


def fill_tar(place: Path, documents: Documents) -> str:
    suffix = place.name.rpartition(".")[2]
    with tarfile.open(place, f"w:{'' if suffix == 'tar' else suffix}") as archive:
        for name, text in documents.items():
            data = text if isinstance(text, bytes) else text.encode()
            info = tarfile.TarInfo(f"folder/{name}.txt")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return str(place)


def fill_mbox(place: Path, documents: Documents) -> str:
    place.unlink(missing_ok=True)
    box = mailbox.mbox(place)
    for name, text in documents.items():
        body = text if isinstance(text, bytes) else text.encode()
        box.add(
            b"Message-ID: <%s@example.org>\nMIME-Version: 1.0\nSubject: x\n\n%s\n"
            % (name.encode(), body)
        )
    box.close()
    return str(place)


def fill_jsonl(place: Path, documents: Documents) -> str:
    lines = (
        {"id": name} if isinstance(text, bytes) else {"id": name, "text": text}
        for name, text in documents.items()
    )
    place.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(place)


def fill_csv(place: Path, documents: Documents) -> str:
    with place.open("w", encoding="utf-8", newline="", errors="surrogateescape") as file:
        rows = csv.writer(file, delimiter="\t" if place.suffix == ".tsv" else ",")
        rows.writerow(("id", "text"))
        for name, text in documents.items():
            if isinstance(text, bytes):
                file.write(
                    f"{name}{rows.dialect.delimiter}{text.decode('utf-8', 'surrogateescape')}\r\n"
                )
            else:
                rows.writerow((name, text))
    return str(place)


def fill_parquet(place: Path, documents: Documents) -> str:
    texts = [None if isinstance(text, bytes) else text for text in documents.values()]
    pyarrow.parquet.write_table(
        pyarrow.table({"id": list(documents), "text": pyarrow.array(texts, pyarrow.string())}),
        place,
    )
    return str(place)


def _write_texts(place: Path, documents: Documents) -> None:
    """Write the text files that a load file names."""
    (place.parent / "TEXT").mkdir(exist_ok=True)
    for name, text in documents.items():
        data = text if isinstance(text, bytes) else text.encode()
        (place.parent / "TEXT" / f"{name}.txt").write_bytes(data)


def fill_dat(place: Path, documents: Documents) -> str:
    _write_texts(place, documents)
    rows = [("DOCID", "TextPath"), *((name, f"TEXT\\{name}.txt") for name in documents)]
    lines = ("\x14".join(f"\xfe{value}\xfe" for value in row) for row in rows)
    place.write_text("\n".join(lines), encoding="utf-8")
    return str(place)


def fill_opt(place: Path, documents: Documents) -> str:
    named = {f"page-{name}": text for name, text in documents.items()}
    _write_texts(place, named)
    lines = (f"{name},VOL1,IMAGES\\{name}.tif,Y,,,1" for name in named)
    place.write_text("\n".join(lines), encoding="utf-8")
    return str(place)


def fill_memory(place: Path, documents: Documents) -> str:
    system, root = fsspec.filesystem("memory"), f"{place}/library"
    if system.exists(root):
        system.rm(root, recursive=True)
    for name, text in documents.items():
        system.pipe(f"{root}/deep/{name}.txt", text if isinstance(text, bytes) else text.encode())
    return f"memory://{root}"


def fill_memory_zip(place: Path, documents: Documents) -> str:
    url = f"memory://{place}/library.zip"
    with fsspec.open(url, "wb") as target, zipfile.ZipFile(target, "w") as archive:
        for name, text in documents.items():
            archive.writestr(f"{name}.txt", text)
    return url


FILLS: dict[str, tuple[Callable[[Path, Documents], str], str, ReadOptions]] = {
    "folder": (fill_folder, "folder", ReadOptions()),
    "zip": (fill_zip, "a.zip", ReadOptions()),
    "tar": (fill_tar, "a.tar", ReadOptions()),
    "tar.gz": (fill_tar, "a.tar.gz", ReadOptions()),
    "tar.bz2": (fill_tar, "a.tar.bz2", ReadOptions()),
    "tar.xz": (fill_tar, "a.tar.xz", ReadOptions()),
    "mbox": (fill_mbox, "a.mbox", ReadOptions()),
    "jsonl": (fill_jsonl, "a.jsonl", BY_ID),
    "csv": (fill_csv, "a.csv", BY_ID),
    "tsv": (fill_csv, "a.tsv", BY_ID),
    "parquet": (fill_parquet, "a.parquet", BY_ID),
    "dat": (fill_dat, "a.dat", ReadOptions()),
    "opt": (fill_opt, "a.opt", ReadOptions()),
    "memory": (fill_memory, "", ReadOptions()),
    "memory zip": (fill_memory_zip, "", ReadOptions()),
}
CONTAINERS = set(FILLS) - {"folder", "memory"}


class Place:
    """A place that can be filled repeatedly, and a store that it is indexed into."""

    def __init__(self, kind: str, folder: Path, store: Store) -> None:
        self.kind, self.folder, self.store = kind, folder, store
        self._fill, name, self.reading = FILLS[kind]
        self._place = folder / name

    def fill(self, documents: Documents) -> str:
        return self._fill(self._place, documents)

    def index(
        self, documents: Documents, limits: Limits = DEFAULT_LIMITS, **options: object
    ) -> Account:
        url = self.fill(documents)
        extractor = "native" if self.kind == "mbox" else "plain"
        return index(
            [url],
            self.store,
            IndexOptions(extractor=extractor, limits=limits, reading=self.reading, **options),
            workers=1,
        )

    def texts(self) -> dict[str, str]:
        return {row.id: row.text for row in self.store.scan()}


@pytest.fixture(name="store")
def store_fixture() -> Iterator[Store]:
    opened = open_store("sqlite://:memory:")
    yield opened
    opened.close()


@pytest.fixture(params=FILLS, name="place")
def place_fixture(request: pytest.FixtureRequest, tmp_path: Path, store: Store) -> Place:
    return Place(request.param, tmp_path, store)
