"""Which files `index` reads, and what it counts of them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from indexer import IndexOptions, index, open_store
from indexer.cli.index import index_command
from indexer.documents.base import Limits

TEXT = "The harbour ferry leaves at eight in the morning and returns at six in the evening."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "texts"
    for name in ("a.txt", "b.md", "drafts/c.txt", "drafts/old/d.txt"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(f"{TEXT} {name}")
    return place


def names(folder: Path, **options: tuple[str, ...]) -> list[str]:
    with closing(open_store("sqlite://:memory:")) as store:
        account = index([str(folder)], store, IndexOptions(extractor="plain", **options))
        assert account.seen == 4 == account.indexed + sum(account.skipped.values())
        return sorted(str(Path(row.path).relative_to(folder)) for row in store.scan())


def test_patterns_select_files_by_name_and_by_path(folder: Path) -> None:
    assert names(folder, include=("*.md", "a.*")) == ["a.txt", "b.md"]
    assert names(folder, include=("drafts/*",)) == ["drafts/c.txt", "drafts/old/d.txt"]
    assert names(folder, exclude=("drafts/*", "*.md")) == ["a.txt"]
    assert names(folder, include=("*.txt",), exclude=("drafts/old/*",)) == ["a.txt", "drafts/c.txt"]
    assert names(folder, include=("*.TXT",)) == []


def test_what_is_excluded_later_is_not_pruned(folder: Path) -> None:
    with closing(open_store("sqlite://:memory:")) as store:
        index([str(folder)], store, IndexOptions(extractor="plain"))
        account = index(
            [str(folder)], store, IndexOptions(extractor="plain", exclude=("*.md",), prune=True)
        )
        assert (account.skipped["excluded"], account.removed) == (1, 0)
        assert len(list(store.scan())) == 4


def test_a_file_above_max_bytes_fails(folder: Path) -> None:
    with closing(open_store("sqlite://:memory:")) as store:
        (folder / "b.md").write_text(TEXT * 100)
        options = IndexOptions(extractor="plain", limits=Limits(bytes=200))
        [failure] = index([str(folder)], store, options).failed
        assert failure.path.endswith("b.md")
        assert "bytes, more than the limit of 200 bytes; split it, or allow more" in failure.error
    assert {"max_bytes", "include", "exclude"} <= {option.name for option in index_command.params}


def test_the_account_counts_documents_that_are_not_complete(folder: Path) -> None:
    (folder / "a.txt").write_text("")
    (folder / "b.md").write_text("ferry")
    limits = Limits(chars=40)
    with closing(open_store("sqlite://:memory:")) as store:
        account = index([str(folder)], store, IndexOptions(extractor="plain", limits=limits))
    assert (account.indexed, account.statuses) == (4, {"empty": 1, "too_short": 1, "truncated": 2})
