"""docs/threads.md: its commands; and the outcomes of `threads`."""

import shlex
from pathlib import Path

import pytest
from command import outcome, run, run_json
from page_blocks import FIRST, blocks, mails

from indexer import threads


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    mails(tmp_path)
    return tmp_path / "mails"


def test_search_of_the_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mails of one thread fold under the best; what is no mail, and another thread, do not."""
    (folder / "notes.txt").write_text("The ferry leaves at noon.")
    (folder / "other.eml").write_text(
        FIRST.replace("CALckR-a8UDkRjO4xJyjd_s0GPxQWw@mail.gmail.com", "3@x").replace(
            "Mary", "Paul"
        )
    )
    (folder / "Inbox").rename(folder / "inbox.mbox")
    monkeypatch.chdir(folder.parent)
    _, block = blocks("docs/threads.md")
    index, search = (shlex.split(line)[1:] for line in block.splitlines())
    store = "sqlite:///threads.db"
    run(*index, "--containers", "all", store=store)
    page = run_json(*search, store=store)
    groups = {
        Path(hit["path"]).name: [one["path"] for one in hit["folded"]] for hit in page["hits"]
    }
    assert (page["families"]["value"], page["threshold"]) == (3, None)
    assert set(groups) >= {"notes.txt", "other.eml"}
    assert [
        len(folded) for name, folded in groups.items() if name in ("notes.txt", "other.eml")
    ] == [
        0,
        0,
    ]
    [thread] = [folded for name, folded in groups.items() if name not in ("notes.txt", "other.eml")]
    assert len(thread) == 1
    first = run_json(*search, "--limit", "1", store=store)
    seen = [first["hits"][0]["path"]]
    while first["next"]:
        first = run_json(*search, "--limit", "1", "--after", first["next"], store=store)
        seen.append(first["hits"][0]["path"])
    assert len(seen) == 3
    run(*search, "--threshold", "0.9", store=store, code=2)
    run(*search, "--measure", "lcs", store=store, code=2)


def test_ids_are_those_of_index(folder: Path, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    run("index", folder, store=store)
    exported = run("export", "--out", "-", store=store)
    [first, _] = threads([str(folder)]).threads[0].mails
    assert first.message.id in exported


def test_damaged_outlook_files_fail_and_the_others_are_read(folder: Path) -> None:
    (folder / "a.msg").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    done = outcome("threads", folder)
    assert done.returncode == 1
    assert (
        "2 mails in 1 thread" in done.stdout
        and "no message of Outlook, or a damaged one" in " ".join(done.stderr.split())
    )


@pytest.mark.parametrize(
    "words", [["--format", "csv"], ["--out", "a.csv"], ["--format", "dat", "--out", "no/a.dat"]]
)
def test_a_file_goes_with_its_format(folder: Path, words: list[str]) -> None:
    run("threads", folder, *words, code=2)


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    run("threads", tmp_path / "none", code=2)
