"""Similarities that `group` keeps for its next run: they change how long it takes, nothing else."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from family_oracle import families_of
from sample_library import rows, sentence

from indexer.comparing.criteria import RULES_VERSION, Criteria
from indexer.grouping import measured_pairs
from indexer.grouping.delete import delete
from indexer.grouping.group import group
from indexer.grouping.group_options import GroupOptions
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.stores.journal import journal_path


class Reading:
    """A store that records the ids of the rows which are read by id, and may change their texts."""

    def __init__(self, store: Any, changed: str | None = None) -> None:
        self._store, self._changed = store, changed
        self.ids: set[str] = set()
        self.parts = self

    def view(self, _of):
        return self

    def get(self, ids):
        self.ids |= set(ids)
        found = self._store.get(ids)
        if self._changed is None:
            return found
        return {id: replace(row, text=self._changed) for id, row in found.items()}

    def __getattr__(self, name):
        return getattr(self._store, name)


def pairs_file(store) -> Path:
    return Path(f"{journal_path(store.address)}.pairs")


def filled(folder: Path, texts: dict[str, str]):
    store = open_store(f"sqlite:///{folder}/library.db")
    store.prepare(DEFAULT)
    store.write(rows(texts))
    return store


def near_copies(families: int, members: int, seed: int) -> dict[str, str]:
    chance = random.Random(seed)
    texts = {}
    for family in range(families):
        words = sentence(100 * seed + family, 60).split()
        for member in range(members):
            edited = [word if chance.random() > 0.06 else "changed" for word in words]
            texts[f"{chance.randrange(10**6):06}-{family}-{member}"] = " ".join(edited)
    return texts


@pytest.mark.long
def test_families_after_changes_are_those_of_a_run_that_remembers_nothing(store):
    chance = random.Random(7)
    texts = near_copies(6, 5, 1)
    store.write(rows(texts))
    for turn in range(3):
        group(store)
        families = families_of(store)
        if pairs_file(store).exists():
            pairs_file(store).unlink()
        assert group(store).changed == 0
        assert families_of(store) == families
        delete(store, chance.sample(sorted(texts), 3))
        store.write(rows(near_copies(4, 3, 2 + turn)))
        known = sorted(families_of(store))
        store.write(
            rows({id: texts[id] + " more" for id in chance.sample(known, 4) if id in texts})
        )


def test_only_texts_of_new_pairs_are_read_again(tmp_path):
    texts = near_copies(5, 4, 1)
    store = filled(tmp_path, texts)
    group(store)
    again = Reading(store)
    assert group(again).changed == 0
    assert again.ids == set()
    changed = min(texts)
    store.write(rows({changed: texts[changed] + " and a few words more"}))
    after = Reading(store)
    group(after)
    family = {id for id in texts if id.split("-")[1] == changed.split("-")[1]}
    assert changed in after.ids
    assert after.ids <= family


def test_a_run_of_other_settings_measures_again(tmp_path):
    store = filled(tmp_path, near_copies(5, 4, 1))
    group(store)
    for options in (
        GroupOptions(threshold=0.5),
        GroupOptions(measure="resemblance", threshold=0.5),
        GroupOptions(threshold=0.5, criteria=Criteria(numbers="distinguish")),
    ):
        reading = Reading(store)
        group(reading, options)
        assert reading.ids
        families = families_of(store)
        pairs_file(store).unlink()
        group(store, options)
        assert families_of(store) == families


def test_other_rules_in_the_code_measure_again(tmp_path, monkeypatch):
    """Pairs that an earlier release found similar may be refused by a rule of this one."""
    store = filled(tmp_path, near_copies(5, 4, 1))
    group(store)
    assert len(set(families_of(store).values())) < 20
    monkeypatch.setattr(measured_pairs, "RULES_VERSION", RULES_VERSION + 1)
    monkeypatch.setattr(Criteria, "accepts_by_words", lambda *_: False)
    reading = Reading(store)
    group(reading)
    assert reading.ids
    assert len(set(families_of(store).values())) == 20


@pytest.mark.parametrize("damage", ["torn", "other", "empty"])
def test_a_damaged_file_costs_time_only(tmp_path, damage):
    store = filled(tmp_path, near_copies(5, 4, 1))
    group(store)
    whole = pairs_file(store).read_bytes()
    damaged = {"torn": whole[: len(whole) // 2], "other": b"not an archive", "empty": b""}[damage]
    pairs_file(store).write_bytes(damaged)
    reading = Reading(store)
    assert group(reading).changed == 0
    assert reading.ids
    assert group(Reading(store)).changed == 0
    assert pairs_file(store).stat().st_size == len(whole)


def test_the_file_is_as_private_as_the_journal(tmp_path):
    store = filled(tmp_path, near_copies(2, 3, 1))
    group(store)
    journal = journal_path(store.address)
    journal.chmod(0o600)
    group(store)
    assert pairs_file(store).stat().st_mode & 0o777 == 0o600


def test_a_text_that_changes_while_it_is_compared_is_not_remembered(tmp_path):
    store = filled(tmp_path, near_copies(5, 4, 1))
    group(Reading(store, changed="another text"))
    group(store)
    families = families_of(store)
    pairs_file(store).unlink()
    assert group(store).changed == 0
    assert families_of(store) == families
