"""A real Tika server by URL reads what the native extractor reads, keeps to the limits, and says
what is wrong.
"""

import socket

import pytest
import samples

from indexer.documents.base import DEFAULT_LIMITS, Limits, Task
from indexer.documents.extractors import extractor_named
from indexer.documents.tika_server import tika_server
from indexer.documents.workers import Pool
from indexer.errors import ExtractionError, ExtractorUnavailable
from indexer.model import Document


@pytest.mark.parametrize("name", sorted(samples.formats()))
def test_every_format_has_the_words_the_native_extractor_finds(name: str, tika_url: str) -> None:
    data = samples.formats()[name]
    ours = samples.native_reader().extract(data, name)
    theirs = tika_server(tika_url)(DEFAULT_LIMITS).extract(data, name)
    assert set(samples.PARAGRAPHS[0].split()) <= set(theirs.text.split())
    assert theirs.text.split()[-5:] == ours.text.split()[-5:]
    assert theirs.content_type == ours.content_type
    assert theirs.extractor.startswith("tika-server/") and not theirs.truncated


def test_an_archive_has_the_text_that_the_native_extractor_finds(tika_url: str) -> None:
    inner = samples.zipped({"c.txt": b"The pilot boards.", "d.docx": samples.docx()})
    data = samples.zipped({"a.txt": b"The ferry leaves.", "b.zip": inner, "e.eml": samples.eml()})
    ours = samples.native_reader().extract(data, "a.zip")
    theirs = tika_server(tika_url)(DEFAULT_LIMITS).extract(data, "a.zip")
    assert theirs.text.split() == ours.text.split()


def test_text_beyond_the_limit_is_cut_and_said_so(tika_url: str) -> None:
    document = tika_server(tika_url)(Limits(chars=100)).extract(samples.docx(), "a.docx")
    assert document.truncated and 0 < len(document.text) <= 100


def test_bomb_ends_within_the_limits(tika_url: str) -> None:
    bomb = samples.zip_bomb("large.txt", b"all work and no play " * 50_000, 10_000)
    with Pool(tika_server(tika_url), 1, Limits(seconds=30, chars=100_000)) as pool:
        [(_, result)] = pool.extract_all([Task("bomb", bomb, "bomb.zip")])
    assert isinstance(result, ExtractionError) or (result.truncated and len(result.text) <= 100_000)
    alive = tika_server(tika_url)(DEFAULT_LIMITS).extract(samples.docx(), "a.docx")
    assert isinstance(alive, Document)


def test_encrypted_document_says_so(tika_url: str) -> None:
    with pytest.raises(ExtractionError, match="encrypted"):
        tika_server(tika_url)(DEFAULT_LIMITS).extract(samples.pdf(password="unguessable"), "a.pdf")


def test_server_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("NEARFOLD_TIKA", f"http://127.0.0.1:{port}")
    with pytest.raises(ExtractorUnavailable, match="NEARFOLD_TIKA"):
        extractor_named("server")
