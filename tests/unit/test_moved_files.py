"""`index --prune` after files were renamed or moved: reviewers' work goes along."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from indexer import IndexOptions, LabelOptions, index, label, open_store
from indexer.jobs.label import label_history, undo_labels
from indexer.jobs.review_file import ReviewFile, review_path
from indexer.stores.abilities import FullStore
from indexer.stores.journal import journal_path

TEXT = "The harbour ferry leaves at eight in the morning and returns at six in the evening."


@pytest.fixture
def store(tmp_path: Path):
    with closing(open_store(f"sqlite:///{tmp_path}/s.db")) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "texts"
    place.mkdir()
    for name in "abc":
        (place / f"{name}.txt").write_text(f"{TEXT} {name} {ord(name)}")
    return place


def read(folder: Path, store: FullStore, **options):
    return index([str(folder)], store, IndexOptions(extractor="plain", **options))


def ids(store: FullStore) -> dict[str, str]:
    return {Path(row.path).name: row.id for row in store.scan()}


def labels(store: FullStore) -> dict[str, tuple[str, ...]]:
    return {Path(row.path).name: row.labels for row in store.scan()}


def review_file(store: FullStore) -> ReviewFile:
    return ReviewFile(review_path(journal_path(store.address)))


def test_labels_notes_and_decisions_go_to_the_renamed_file(folder: Path, store) -> None:
    read(folder, store)
    old = ids(store)
    label(store, [old["a.txt"]], LabelOptions(add=("hot", "later")))
    review = review_file(store)
    review.add_notes([old["a.txt"]], "Ann", "read twice")
    review.join(old["b.txt"], old["a.txt"], "Ann")
    review.assign([old["a.txt"]], "Bo")
    (folder / "new").mkdir()
    (folder / "a.txt").rename(folder / "new" / "z.txt")
    (folder / "b.txt").rename(folder / "y.txt")
    account = read(folder, store, prune=True)
    assert (account.indexed, account.removed, account.moved, account.refused) == (2, 2, 2, ())
    assert labels(store) == {"c.txt": (), "y.txt": (), "z.txt": ("hot", "later")}
    new, review = ids(store), review_file(store)
    assert [note.text for note in review.notes(new["z.txt"])] == ["read twice"]
    assert review.joined() == {new["y.txt"]: new["z.txt"]}
    assert review.assignments() == {new["z.txt"]: "Bo"}
    [moved, _] = label_history(store)
    assert (moved.reviewer, moved.added, moved.documents) == ("index --prune", ("hot", "later"), 1)
    undo_labels(store, moved.number)
    assert labels(store)["z.txt"] == ()


def test_nothing_is_removed_where_labels_would_be_lost(folder: Path, store) -> None:
    read(folder, store)
    label(store, [ids(store)["a.txt"]], LabelOptions(add=("hot",)))
    (folder / "a.txt").write_text(f"{TEXT} changed")
    (folder / "a.txt").rename(folder / "z.txt")
    (folder / "b.txt").unlink()
    account = read(folder, store, prune=True)
    assert (account.removed, account.refused) == (0, (f"{folder}/a.txt",))
    assert set(labels(store)) == {"a.txt", "b.txt", "c.txt", "z.txt"}
    account = read(folder, store, prune=True, force=True)
    assert (account.removed, account.moved, account.refused) == (2, 0, ())
    assert set(labels(store)) == {"c.txt", "z.txt"}


def test_a_note_alone_is_not_lost_either(folder: Path, store) -> None:
    read(folder, store)
    review_file(store).add_notes([ids(store)["b.txt"]], "Ann", "ask the author")
    (folder / "b.txt").unlink()
    assert read(folder, store, prune=True).refused == (f"{folder}/b.txt",)


def test_labels_that_the_run_gives_hold_nothing_back(folder: Path, store) -> None:
    read(folder, store, labels=("inbox",))
    (folder / "b.txt").unlink()
    account = read(folder, store, labels=("inbox",), prune=True)
    assert (account.removed, account.refused) == (1, ())


def test_copies_that_move_keep_their_own_labels(folder: Path, store) -> None:
    (folder / "b.txt").write_bytes((folder / "a.txt").read_bytes())
    read(folder, store)
    for name in "ab":
        label(store, [ids(store)[f"{name}.txt"]], LabelOptions(add=(name,)))
    (folder / "new").mkdir()
    for name in "ab":
        (folder / f"{name}.txt").rename(folder / "new" / f"{name}.txt")
    assert read(folder, store, prune=True).moved == 2
    assert labels(store) == {"a.txt": ("a",), "b.txt": ("b",), "c.txt": ()}


def test_files_without_bytes_are_no_copies_of_each_other(folder: Path, store) -> None:
    for name in ("a.txt", "b.txt"):
        (folder / name).write_bytes(b"")
    read(folder, store)
    label(store, [ids(store)["a.txt"]], LabelOptions(add=("hot",)))
    (folder / "a.txt").unlink()
    assert read(folder, store, prune=True).refused == (f"{folder}/a.txt",)
