"""Facts about the documents of a comparison besides their texts."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from sample_library import library, rows, sentence

from indexer.cli.compare import print_comparison
from indexer.comparing.compare import compare
from indexer.errors import DocumentNotFound
from indexer.model import EmbeddedFile, pack_embedded
from indexer.review.compared_documents import Original, original, stored_original
from indexer.wording import CUT, EMPTY

TEXT = sentence(3, 30)


def test_a_file_has_size_time_and_type(tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_text(TEXT)
    document = original(str(file), library([]))
    assert (document.path, document.text, document.size) == (str(file.resolve()), TEXT, len(TEXT))
    assert list(document.facts) == ["content type", "size", "file modified", "extractor"]
    assert document.warnings == ()


def test_a_file_without_text_has_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "blank.txt"
    file.write_text(" \n")
    assert original(str(file), library([])).warnings == (EMPTY,)


def test_text_on_stdin_has_neither_size_nor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    document = original("-", library([]))
    assert (document.path, document.text.strip(), document.size, document.modified) == (
        "-",
        TEXT.strip(),
        None,
        None,
    )


def test_a_stored_document_has_labels_metadata_and_status() -> None:
    store = library(rows({"m1": TEXT}, cut=frozenset({"m1"}), labels={"m1": ("hot", "privileged")}))
    document = original("m1", store)
    assert document.warnings == (CUT,)
    assert document.facts["labels"] == "hot, privileged"


def test_an_argument_that_is_neither_path_nor_id_is_reported() -> None:
    store = library(rows({"m1": TEXT}))
    for name in ("m2", "m2.txt"):
        with pytest.raises(DocumentNotFound):
            original(name, store)


def test_metadata_of_the_same_name_hide_nothing() -> None:
    [row] = rows({"m1": TEXT})
    document = stored_original(
        replace(row, title="Ours", metadata={"title": "Theirs", "author": ""}, modified=10**18)
    )
    assert (document.facts["title"], document.facts["title (metadata)"]) == ("Ours", "Theirs")
    assert not {"author", "file modified"} & set(document.facts)


def test_files_in_documents_are_facts(capsys: pytest.CaptureFixture[str]) -> None:
    """Documents with the same text and another picture differ in more than their size."""
    [row] = rows({"m1": TEXT})
    packed = [pack_embedded([EmbeddedFile("picture", "image1.png", raw)]) for raw in ("0f", "1e")]
    pair = tuple(stored_original(replace(row, embedded=files)) for files in packed)
    print_comparison(compare(TEXT, TEXT), pair, False)
    out = " ".join(capsys.readouterr().out.split())
    assert pair[0].facts["files in the document"] == f"SHA-256 {packed[0][:12]}: image1.png"
    assert packed[0][:12] in out and packed[1][:12] in out


@pytest.mark.parametrize("words", [{}, {"json": True}, {"measure": "overlap"}])
def test_warnings_are_always_shown_and_metadata_to_people_only(
    words: dict, capsys: pytest.CaptureFixture[str]
) -> None:
    document = Original(
        "a", TEXT, metadata={"author": "Ann\x1b[31m", "pages": "3"}, warnings=("cut\x1b[2J short",)
    )
    print_comparison(
        compare(TEXT, TEXT),
        (document, Original("b", TEXT, metadata={"pages": "3"})),
        **{"json": False, **words},
    )
    out, err = capsys.readouterr()
    assert "warning: A: cut␛[2J short" in (err if words else out)
    assert ("Ann␛[31m" in out) == (not words)
    assert "pages" not in out
    assert "\x1b" not in out + err
