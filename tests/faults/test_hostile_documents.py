"""Hostile documents: each ends within the limits, a cut one is marked, none reaches a file or the
network.
"""

import contextlib
import gzip
import io
import socket
import struct
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from quines import gzip_quine, zip_quine
from samples import PARAGRAPHS, html, zip_bomb, zipped

from indexer.documents import worker_main
from indexer.documents.base import Limits, Task
from indexer.documents.native import NativeExtractor
from indexer.documents.workers import Pool
from indexer.errors import ExtractionError, ExtractionMemory
from indexer.model import Document

SECONDS = 20
MEGABYTES = 300
CHARS = 1_000_000
BASE_MEGABYTES = 200
WORKER = worker_main.__name__
CANARY = "the bird that must not sing"
OFFICE = "http://schemas.openxmlformats.org"
RELATION = f"{OFFICE}/officeDocument/2006/relationships"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
SHEETS = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    limits = Limits(seconds=SECONDS, megabytes=MEGABYTES, chars=CHARS)
    with Pool(NativeExtractor, 1, limits) as workers:
        yield workers


@pytest.fixture
def peak() -> Iterator[Callable[[], int]]:
    """Return the highest resident memory of any worker so far, in megabytes.

    Other children of this process, such as the JVM of Spark, do not count.
    """
    most = [0]
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(0.02):
            for child in psutil.Process().children():
                with contextlib.suppress(psutil.Error):  # ended meanwhile, or a zombie
                    if WORKER in " ".join(child.cmdline()):
                        most[0] = max(most[0], child.memory_info().rss >> 20)

    watcher = threading.Thread(target=watch)
    watcher.start()
    yield lambda: most[0]
    stop.set()
    watcher.join()


def read(pool: Pool, data: bytes, name: str) -> Document | ExtractionError:
    [(_, result)] = pool.extract_all([Task(name, data, name)])
    return result


def nested(depth: int) -> bytes:
    data = html()
    for level in range(depth):
        data = zipped({f"{level}.zip" if level else "a.html": data})
    return data


def billion_laughs(start: str = "<r>", end: str = "</r>") -> bytes:
    """Return an entity of a billion words, in ten lines."""
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    return (
        f'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY l0 "ha">{entities}]>{start}&l9;{end}'.encode()
    )


def blow_up() -> bytes:
    """Return one long entity many times: quadratic, without nested entities."""
    return b'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "%s">]><r>%s</r>' % (
        b"a" * 2_000,
        b"&a;" * 100_000,
    )


def overlapping(name: str = "a.txt", files: int = 2000) -> bytes:
    """Return an archive whose entries are all the same bytes: two gigabytes of text in a hundred
    kilobytes.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    unit = b"all work and no play " * 50_000
    packed = packer.compress(unit) + packer.flush()
    label = name.encode()
    sizes = struct.pack("<IIIHH", zlib.crc32(unit), len(packed), len(unit), len(label), 0)
    local = b"PK\x03\x04" + struct.pack("<HHHHH", 20, 0, 8, 0, 33) + sizes + label + packed
    entry = (
        b"PK\x01\x02"
        + struct.pack("<HHHHHH", 20, 20, 0, 8, 0, 33)
        + sizes
        + struct.pack("<HHHII", 0, 0, 0, 0, 0)
        + label
    )
    central = entry * files
    return (
        local
        + central
        + b"PK\x05\x06"
        + struct.pack("<HHHHIIH", 0, 0, files, files, len(central), len(local), 0)
    )


def many_files(files: int = 60_000) -> bytes:
    """Return an archive of `files` small files."""
    return zipped({f"{number}.txt": b"one of very many" for number in range(files)})


TEN_GIGABYTES = 10 << 30
BOMBS = {
    "zeros.zip": lambda: zip_bomb("a.txt", bytes(1 << 20), TEN_GIGABYTES >> 20),
    "text.zip": lambda: zip_bomb(
        "a.txt", b"all work and no play " * 50_000, TEN_GIGABYTES // 1_050_000
    ),
    "word.docx": lambda: zip_bomb(
        "word/document.xml", b"<w:p><w:t>a</w:t></w:p>" * 40_000, TEN_GIGABYTES // 920_000
    ),
    "matryoshka.zip": lambda: nested(50),
    "laughs.xml": billion_laughs,
    "laughs.svg": lambda: billion_laughs(
        '<svg xmlns="http://www.w3.org/2000/svg"><text>', "</text></svg>"
    ),
    "laughs.odt": lambda: zipped(
        {"mimetype": b"application/vnd.oasis.opendocument.text", "content.xml": billion_laughs()}
    ),
    "blow-up.xml": blow_up,
    "overlapping.zip": overlapping,
    "quine.zip": zip_quine,
    "quine.gz": gzip_quine,
    "quines.zip": lambda: zipped(
        {"a.zip": zip_quine(), "b.gz": gzip_quine(), "c.zip": zip_quine()}
    ),
}


@pytest.mark.parametrize("name", sorted(BOMBS))
def test_bomb_ends_cut_or_refused_within_its_limits(
    name: str, pool: Pool, peak: Callable[[], int]
) -> None:
    started = time.monotonic()
    result = read(pool, BOMBS[name](), name)
    assert time.monotonic() - started < SECONDS + 5
    assert peak() < MEGABYTES + BASE_MEGABYTES
    assert isinstance(result, ExtractionError) or (result.truncated and len(result.text) <= CHARS)


def test_quines_hold_nothing_but_themselves(record_property: Callable[[str, object], None]) -> None:
    """The archives really contain themselves."""
    record_property("faults", 0)
    assert gzip.decompress(gzip_quine()) == gzip_quine()
    with zipfile.ZipFile(io.BytesIO(zip_quine())) as archive:
        assert [archive.read(name) for name in archive.namelist()] == [zip_quine()]


def test_archive_of_60_000_files_is_stopped_at_its_time_limit() -> None:
    with Pool(
        NativeExtractor, 1, Limits(seconds=2, megabytes=MEGABYTES, chars=CHARS)
    ) as quick_pool:
        assert isinstance(read(quick_pool, many_files(), "crowd.zip"), ExtractionError)
        assert isinstance(read(quick_pool, html(), "a.html"), Document)


def test_bomb_of_markup_is_stopped_by_the_memory_limit_and_the_next_document_is_read(
    pool: Pool, peak: Callable[[], int]
) -> None:
    bomb = zip_bomb("a.html", b"<p>all work and no play " * 40_000, TEN_GIGABYTES // 960_000)
    assert isinstance(read(pool, bomb, "a.zip"), ExtractionMemory)
    assert MEGABYTES < peak() < MEGABYTES + BASE_MEGABYTES + 200
    after = read(pool, html(), "a.html")
    assert isinstance(after, Document)
    assert PARAGRAPHS[0] in after.text


def test_warnings_are_the_same_in_every_run(pool: Pool) -> None:
    data = nested(50)  # the zips carry the time
    first, second = (read(pool, data, "a.zip") for _ in range(2))
    assert isinstance(first, Document)
    assert first == second


@pytest.fixture
def listener() -> Iterator[tuple[str, list[bytes]]]:
    """Yield an address on this machine, and the connections to it."""
    calls: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        stop = threading.Event()

        def listen() -> None:
            while not stop.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with connection:
                    calls.append(b"a connection")

        thread = threading.Thread(target=listen)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", calls
        stop.set()
        thread.join()


def referring_documents(canary: Path, url: str) -> dict[str, bytes]:
    """Return documents that refer to a file of this machine and to addresses on the network."""
    file = canary.as_uri()
    return {
        **_office_documents(url, _entities(file, url)),
        **_markup_documents(file, url, _entities(file, url)),
        "a.rtf": rb'{\rtf1{\*\template %s/t}{\field{\*\fldinst INCLUDETEXT "%s"}}hello}'
        % (url.encode(), bytes(canary)),
    }


def _entities(file: str, url: str) -> str:
    """Return the beginning of an XML document whose entities `f` and `n` are outside of it."""
    return (
        '<?xml version="1.0"?>'
        f'<!DOCTYPE r [<!ENTITY f SYSTEM "{file}"><!ENTITY n SYSTEM "{url}/n">'
        f'<!ENTITY % p SYSTEM "{url}/p"> %p;]>'
    )


def _office_documents(url: str, xml: str) -> dict[str, bytes]:
    sheet = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    word = f"{OFFICE}/wordprocessingml/2006/main"
    open_document = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
    relations = "application/vnd.openxmlformats-package.relationships+xml"
    types = (
        f'<?xml version="1.0"?><Types xmlns="{OFFICE}/package/2006/content-types">'
        f'<Override PartName="/word/document.xml" ContentType="{WORD}"/>'
        f'<Default Extension="rels" ContentType="{relations}"/></Types>'
    )
    sheet_types = types.replace("/word/document.xml", "/xl/workbook.xml").replace(WORD, SHEETS)
    workbook = f'{xml}<workbook xmlns="{sheet}"><sheet name="&f;&n;"/></workbook>'
    strings = f'{xml}<sst xmlns="{sheet}"><si><t>&f;&n;</t></si></sst>'
    document = f'{xml}<w:document xmlns:w="{word}"><w:t>&f;&n;</w:t></w:document>'
    content = f'{xml}<office:text xmlns:office="{open_document}">&f;&n;</office:text>'
    return {
        "a.xlsx": zipped(
            {
                "[Content_Types].xml": sheet_types.encode(),
                "_rels/.rels": relationship("officeDocument", "xl/workbook.xml"),
                "xl/workbook.xml": workbook.encode(),
                "xl/sharedStrings.xml": strings.encode(),
                "xl/_rels/workbook.xml.rels": relationship("externalLink", f"{url}/x", "External"),
            }
        ),
        "a.docx": zipped(
            {
                "[Content_Types].xml": types.encode(),
                "_rels/.rels": relationship("officeDocument", "word/document.xml"),
                "word/document.xml": document.encode(),
                "word/_rels/document.xml.rels": relationship(
                    "attachedTemplate", f"{url}/t", "External"
                ),
            }
        ),
        "a.odt": zipped(
            {
                "mimetype": b"application/vnd.oasis.opendocument.text",
                "content.xml": content.encode(),
            }
        ),
    }


def _markup_documents(file: str, url: str, xml: str) -> dict[str, bytes]:
    instance = "http://www.w3.org/2001/XMLSchema-instance"
    include = "http://www.w3.org/2001/XInclude"
    svg = "http://www.w3.org/2000/svg"
    xhtml = "http://www.w3.org/1999/xhtml"
    links = (
        f'<link rel="stylesheet" href="{url}/c"><iframe src="{file}"></iframe><img src="{url}/i">'
    )
    texts = {
        "styled.xml": '<?xml version="1.0"?>'
        f'<?xml-stylesheet href="{url}/s" type="text/xsl"?><r>here</r>',
        "schema.xml": f'<r xmlns:i="{instance}" i:schemaLocation="a {url}/d"/>',
        "included.xml": f'<r xmlns:i="{include}"><i:include href="{file}"/></r>',
        "doctype.html": f'<!DOCTYPE html SYSTEM "{url}/dtd">'
        f'<object data="{file}"></object><p>hello',
        "a.eml": f'Content-Type: text/html\n\n<img src="{url}/m"><iframe src="{file}"></iframe>',
        "a.xml": f"{xml}<r>here &f; &n;</r>",
        "a.svg": f'{xml}<svg xmlns="{svg}"><text>&f;</text><image href="{url}/g"/></svg>',
        "a.xhtml": f'{xml}<html xmlns="{xhtml}"><body>&f;&n;</body></html>',
        "a.html": f"<html><head>{links}</head><body>hello</body></html>",
    }
    return {name: text.encode() for name, text in texts.items()}


def relationship(kind: str, target: str, mode: str = "Internal") -> bytes:
    element = (
        f'<Relationship Id="r" Type="{RELATION}/{kind}" Target="{target}" TargetMode="{mode}"/>'
    )
    return (
        f'<?xml version="1.0"?><Relationships xmlns="{OFFICE}/package/2006/relationships">'
        f"{element}</Relationships>"
    ).encode()


def test_no_document_reaches_a_file_or_the_network(
    tmp_path: Path, pool: Pool, listener: tuple[str, list[bytes]]
) -> None:
    canary = tmp_path / "canary.txt"
    canary.write_text(CANARY, encoding="utf-8")
    url, calls = listener
    for name, data in referring_documents(canary, url).items():
        result = read(pool, data, name)
        assert CANARY not in (result.text if isinstance(result, Document) else str(result))
    assert calls == []
    with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))):
        time.sleep(0.3)
    assert calls == [b"a connection"], "the listener sees connections"
