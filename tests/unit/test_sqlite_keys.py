"""Keys in sorted runs: what is found is what was added and not removed, however it was merged."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from indexer import mappings
from indexer.model import WordLookup
from indexer.stores.sqlite import candidates, keys

KEYS = st.sets(st.integers(0, 6) | st.integers(0, (1 << 35) - 1), max_size=4)
STEPS = st.lists(st.dictionaries(st.integers(1, 9), KEYS, min_size=1), max_size=12)


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as opened:
        yield opened


def clean(db: sqlite3.Connection) -> None:
    db.executescript("DROP TABLE IF EXISTS key_runs; DROP TABLE IF EXISTS key_pages;")
    for statement in mappings.read("sqlite-0005.sql").split(";"):
        if "CREATE TABLE" in statement:
            db.execute(statement)


def entries(rows: dict[int, set[int]]) -> keys.Entries:
    pairs = sorted((key, number) for number, of_row in rows.items() for key in of_row)
    columns = np.array(pairs, dtype=np.uint64).reshape(-1, 2)
    return keys.pack(columns[:, 0], columns[:, 1])


@pytest.mark.long
@given(STEPS)
@pytest.mark.parametrize(("page", "at_once", "looked_up"), [(2, 3, 2), (128, 9, 99)])
def test_keys_are_found_until_they_are_removed(
    page: int, at_once: int, looked_up: int, steps: list[dict[int, set[int]]]
) -> None:
    with closing(sqlite3.connect(":memory:")) as db, pytest.MonkeyPatch.context() as patch:
        clean(db)
        for name, value in (("_PAGE", page), ("_AT_ONCE", at_once), ("_KEYS", looked_up)):
            patch.setattr(keys, name, value)
        rows: dict[int, set[int]] = {}
        for changed in steps:
            before = {number: rows[number] for number in changed if number in rows}
            keys.change(db, entries(changed), entries(before))
            rows |= changed
            every_key = sorted({key for of_row in rows.values() for key in of_row} | {3})
            expected = [
                [number for number in sorted(rows) if key in rows[number]] for key in every_key
            ]
            for limit in (2, 99):
                found = [numbers.tolist() for numbers in keys.carriers(db, every_key, limit)]
                assert found == [numbers[:limit] for numbers in expected]
            assert keys.stored_digest(db) == keys.digest_of(entries(rows))
        keys.change(db, entries({}), entries(rows))
        assert keys.stored_digest(db) == 0


def test_many_transactions_make_few_runs(db: sqlite3.Connection) -> None:
    clean(db)
    for number in range(1, 300):
        keys.change(db, entries({number: {number, number % 7, 1 << 34 | number}}), entries({}))
    assert db.execute("SELECT count(*) FROM key_runs").fetchone()[0] <= 9
    assert keys.carriers(db, [5], 3)[0].tolist() == [5, 12, 19]


def test_a_page_that_is_missing_or_cut_is_an_error(db: sqlite3.Connection) -> None:
    cuts = ("x'00'", "entries || x'00'", "substr(entries, 1, length(entries) - 1)")
    for damage in ("DELETE FROM key_pages", *(f"UPDATE key_pages SET entries = {c}" for c in cuts)):
        clean(db)
        keys.change(db, entries({1: {1, 2, 3}}), entries({}))
        db.execute(damage)
        with pytest.raises(sqlite3.DatabaseError, match="malformed"):
            keys.carriers(db, [2], 9)


def test_keys_of_different_kinds_are_different_numbers() -> None:
    spelled = ["0a", "a", "00a", "0123456789abcdef01", "no key", ""]
    numbers = [
        number
        for is_part in (False, True)
        for number in keys.posted(spelled, spelled, is_part).tolist()
    ]
    assert len(set(numbers)) == 4 * len(spelled)
    assert max(numbers) < 1 << 35


@given(st.lists(st.text("0av", min_size=2, max_size=2) | st.text("0vwA_é ", max_size=7)))
def test_keys_read_together_have_the_numbers_of_single_ones(spelled: list[str]) -> None:
    single = [number for key in spelled for number in keys.numbers_of([key]).tolist()]
    assert keys.numbers_of(spelled).tolist() == single


@pytest.mark.parametrize("rare", [0, 2, 9])
def test_a_copy_is_found_by_frequent_words_of_a_text_with_typos(
    rare: int, db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A typo that another row has, too, does not stand for the words that a copy has."""
    last = 100_000
    db.execute("CREATE TABLE documents (number INTEGER PRIMARY KEY)")
    db.execute("INSERT INTO documents VALUES (?)", (last,))
    chance = np.random.default_rng(1)
    rows = {f'text : ("typo{place}")': np.array([place + 1], np.int32) for place in range(rare)}
    for place in range(10):
        has_word = chance.random(last + 1) < 0.35
        has_word[0], has_word[last] = False, True
        rows[f'text : ("word{place}")'] = np.flatnonzero(has_word).astype(np.int32)

    def rows_of(_: object, words: list[str], limit: int) -> list[NDArray[np.int32]]:
        return [rows[word][: limit if limit > 0 else None] for word in words]

    monkeypatch.setattr(candidates, "_rows_of", rows_of)
    monkeypatch.setattr(candidates, "_MAX_SAMPLED", 25_000)
    monkeypatch.setattr(candidates, "_with_words", lambda *arguments: arguments[3])
    words = tuple((key.split('"')[1],) for key in rows)
    lookup = WordLookup(words, -(-len(words) // 3), 1, 99, sampled=True)
    numbers, _ = candidates.find_by_words(db, "both", lookup, 10)
    assert last in numbers.tolist()
