"""Word and PowerPoint before 2007: what they mark or do not display, in files of LibreOffice."""

import random
from pathlib import Path

import pytest

from indexer.documents import marked_text
from indexer.documents.base import all_of, sha256
from indexer.documents.binary_office import slide_files, word_files, word_headers
from indexer.documents.embedded import embedded_files
from indexer.documents.embedded_parts import UNREADABLE
from indexer.documents.mail.outlook import compound_streams
from indexer.documents.tika import document
from indexer.model import EmbeddedFile, unpack_embedded
from indexer.wording import END_OF_HEADER

FILES = Path(__file__).parents[1] / "data" / "office"
DOCUMENT = (FILES / "marked.doc").read_bytes()
SLIDES = (FILES / "marked_slides.bin").read_bytes()
# "The rent \N{GRINNING FACE} is 12,000 pounds. [The fee is waived.] It is due [in June] in May[1].
# [White words.] See there. / Signed [and sealed] by the agent.": the lines of its .docx, too
MARKED = {
    "hidden and raised text": {
        "23": "hidden Thefeeiswaived.",
        "58": "hidden Whitewords.",
        "56": "raised 1",
    },
    "struck text": {"45": "struck inJune"},
    "deleted text": {"84": "deleted andsealed"},
    "fields and lists": {"69": 'HYPERLINK "https://example.org/a"'},
}


def listed(name: str, lines: dict[str, str]) -> EmbeddedFile:
    return all_of(name, [(anchor, line.encode()) for anchor, line in lines.items()])


def test_marks_and_links_of_a_word_document() -> None:
    found = {file.name: file for file in unpack_embedded(embedded_files(DOCUMENT, ""))}
    assert {name: found[name] for name in MARKED} == {
        name: listed(name, lines) for name, lines in MARKED.items()
    }


def test_headers_of_a_word_document_are_running_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a first page are of the text, such as a letterhead."""
    headers = [(text.strip(), is_first) for text, is_first in word_headers(DOCUMENT)]
    assert headers == [
        ("Draft of 3 May", False),
        ("Harbour Ferries Ltd", False),
        ("Letterhead", True),
    ]
    monkeypatch.setattr(marked_text, "_MIN_OF_PAGES", 0)
    text = "Letterhead\nDraft of 3 May\nThe rent is due.\nHarbour Ferries Ltd"
    found = document(text, {"Content-Type": ["application/msword"]}, DOCUMENT, 1_000, "").text
    assert found.replace(END_OF_HEADER, "*").split("\n") == [
        "Letterhead", "Draft of 3 May*", "The rent is due.", "Harbour Ferries Ltd*"
    ]  # fmt: skip


def test_hidden_slides_links_and_raised_text_of_a_presentation() -> None:
    hidden, links, raised = slide_files(SLIDES)
    assert hidden == EmbeddedFile("object", "hidden slides", sha256(b"2"))
    assert links.sha256 == sha256(b"\n".join([b"https://example.org/a"] * 2))  # text and target
    assert raised == listed("hidden and raised text", {"208": "raised Extrawords."})


@pytest.mark.parametrize("seed", range(3))
def test_damaged_files_raise_what_readers_expect(seed: int) -> None:
    chosen = random.Random(seed)
    streams = dict(compound_streams(DOCUMENT, ("WordDocument", "1Table")))
    for _ in range(300):
        damaged = bytearray(SLIDES[: chosen.randrange(len(SLIDES))])
        for _ in range(len(damaged) and 5):
            damaged[chosen.randrange(len(damaged))] = chosen.choice((0, 1, 0xFF, 0x80))
        try_to(slide_files, bytes(damaged))
        document = {name: bytearray(content) for name, content in streams.items()}
        for content in document.values():
            for _ in range(20):
                content[chosen.randrange(len(content))] = chosen.choice((0, 1, 0xFF, 0x80))
        try_to(word_files, {name: bytes(content) for name, content in document.items()})


def try_to(find, data) -> None:
    try:
        assert all(file.sha256 for file in find(data))
    except UNREADABLE:
        return
