"""By what families are kept between two runs of `group`: the options of the last one."""

import contextlib
import sqlite3
from contextlib import closing

import pytest
from sample_library import edited, rows, sentence

from indexer.comparing.criteria import Criteria, parse_windows
from indexer.errors import StoreBusy
from indexer.grouping.delete import delete
from indexer.grouping.group import group
from indexer.grouping.group_options import (
    DEFAULT_FAMILIES,
    FamilyOptions,
    GroupOptions,
    last_options,
)
from indexer.jobs.index import IndexOptions, index
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.stores.journal import KEPT, Journal, journal_path, record_job

TEXT = sentence(1, 40)
LOOSE = edited(TEXT, 7)  # .825 of the words in order
BY_TEXT = GroupOptions(0.8, "lcs", "first")


def recorded(options):
    """Return options as the journal has them: with the criteria that hold by default."""
    return GroupOptions.from_settings(options.settings())


@contextlib.contextmanager
def filled(tmp_path, stored):
    """Yield a store in a file that holds these rows."""
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    store.prepare(DEFAULT)
    store.write(stored)
    with closing(store):
        yield store


def same_family(store, *names):
    found = {row.family for row in store.scan() if row.path.rsplit("/", 1)[-1][0] in names}
    return len(found) == 1


def test_a_family_that_loses_its_principal_is_kept_to_the_last_group(tmp_path):
    texts = {"a": TEXT, "b": edited(TEXT, 3), "c": edited(TEXT, 6, "y")}
    with filled(tmp_path, rows(texts)) as store:
        group(store, BY_TEXT)
        assert same_family(store, *"abc")
        delete(store, ["a"])
        assert same_family(store, *"bc")


def test_an_option_that_is_given_wins(tmp_path):
    with filled(tmp_path, rows({"a": TEXT, "b": LOOSE, "c": edited(LOOSE, 5, "y")})) as store:
        group(store, BY_TEXT)
        delete(store, ["a"], threshold=0.9)
        assert not same_family(store, *"bc")


@pytest.mark.parametrize("before", [BY_TEXT, None])
def test_a_document_joins_a_family_on_arrival_as_the_last_group_would(tmp_path, before):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    with closing(open_store(f"sqlite:///{tmp_path}/x.db")) as store:
        index([str(folder)], store)
        if before:
            group(store, before)
        (folder / "b.txt").write_text(LOOSE)
        index([str(folder)], store)
        assert same_family(store, *"ab") == (before is not None)


def test_the_threshold_of_index_wins_over_that_of_the_last_group(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    with closing(open_store(f"sqlite:///{tmp_path}/x.db")) as store:
        index([str(folder)], store)
        group(store, BY_TEXT)
        (folder / "b.txt").write_text(LOOSE)
        index([str(folder)], store, IndexOptions(family_threshold=0.9))
        assert not same_family(store, *"ab")


@pytest.mark.parametrize(
    "options",
    [
        GroupOptions(criteria=Criteria(numbers="distinguish")),
        GroupOptions(criteria=Criteria(differ=("content_type",))),
        GroupOptions(criteria=Criteria(require=(("lcs", 1.0),))),
        GroupOptions(criteria=Criteria(novelty=0.0)),
        GroupOptions(criteria=Criteria(window=parse_windows(["size=1"]))),
    ],
)
def test_criteria_hold_on_arrival(tmp_path, options):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.txt").write_text(f"{TEXT} 7")
    (folder / "z.txt").write_text(sentence(2))
    with closing(open_store(f"sqlite:///{tmp_path}/x.db")) as store:
        index([str(folder)], store)
        record(store, options)
        (folder / "b.txt").write_text(f"{TEXT} 8 000")
        index([str(folder)], store)
        assert not same_family(store, *"ab")


def record(store, options):
    """Note a `group` with these options."""
    with Journal(journal_path(store.address)) as journal, record_job(journal, "group") as job:
        job.settings.update(options.settings())


def test_criteria_hold_when_a_principal_goes(tmp_path):
    texts = {"a": f"{TEXT} 7 more", "b": f"{TEXT} 7", "c": f"{TEXT} 8"}
    with filled(tmp_path, rows(texts)) as store:
        group(store, GroupOptions(principal="path"))
        record(store, GroupOptions(criteria=Criteria(numbers="distinguish")))
        delete(store, ["a"])
        assert not same_family(store, *"bc")


def test_families_within_labels_stay_within_them(tmp_path):
    labels = {"a": ("x",), "b": ("x",), "c": ("x",), "d": ("y",)}
    texts = {"a": f"{TEXT} end", "b": TEXT, "c": TEXT, "d": TEXT}
    with filled(tmp_path, rows(texts, labels=labels)) as store:
        group(store, GroupOptions(principal="path", within="labels"))
        store.labels.relabel({"c": ("y",)})
        delete(store, ["a"])
        assert not same_family(store, *"bc")


def test_options_are_remembered_for_as_long_as_the_journal(tmp_path):
    parts = GroupOptions(0.7, of="parts")
    with filled(tmp_path, rows({"a": TEXT})) as store:
        assert last_options(store) == DEFAULT_FAMILIES
        for options in (GroupOptions(0.5), parts, BY_TEXT):
            record(store, options)
        with Journal(journal_path(store.address)) as journal:
            for _ in range(KEPT + 5):
                with record_job(journal, "index"):
                    pass
            with pytest.raises(StoreBusy):
                last_options(store)
        last = last_options(store)
        assert last == FamilyOptions(*map(recorded, (BY_TEXT, parts)))
        assert last.documents.folding == BY_TEXT.folding
        with closing(sqlite3.connect(journal_path(store.address))) as db:
            assert db.execute("SELECT count(*) FROM job").fetchone() == (KEPT + 2,)
