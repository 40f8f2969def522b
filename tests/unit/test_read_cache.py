"""What look-ups keep of a SQLite file: the same answers, bounded, and none older than the file."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_rows import band, row

from indexer.model import Prefilter
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.stores.sqlite import connections
from indexer.stores.sqlite.connections import NumberCache, ReadCache, SketchCache

WIDTH = 3
CHOICES = st.lists(st.sets(st.integers(1, 40), min_size=1, max_size=9), max_size=12)


@given(CHOICES)
def test_sketches_are_those_of_their_rows_whatever_was_read_before(choices: list[set[int]]) -> None:
    stored = {number: bytes([number, 7, number]) for number in range(1, 41) if number % 5}
    sketches = SketchCache()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connections, "MAX_SKETCHES", 8)
        for chosen in choices:
            numbers = np.array(sorted(chosen))
            packed, is_sketched = sketches.packed(
                numbers, WIDTH, lambda missing: {n: stored[n] for n in missing if n in stored}
            )
            for number, sketch, known in zip(numbers.tolist(), packed, is_sketched, strict=True):
                assert known == (number in stored)
                assert not known or sketch.tobytes() == stored[number]


@given(CHOICES)
def test_numbers_are_those_of_their_rows_whatever_was_read_before(choices: list[set[int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connections, "MAX_NUMBERS", 8)
        cache = NumberCache(np.int32)
        for chosen in choices:
            numbers = np.array(sorted(chosen))
            values = cache.of(numbers, lambda missing: missing * 3 - 4)
            assert values.tolist() == [number * 3 - 4 for number in sorted(chosen)]


@given(st.lists(st.sets(st.sampled_from("abcdef"), min_size=1), max_size=12))
def test_rows_are_those_of_their_keys_and_few_are_kept(choices: list[set[str]]) -> None:
    carriers = {key: np.arange(place * 30) for place, key in enumerate("abcdef")}
    read = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connections, "MAX_CARRIERS", 300)
        cache = ReadCache()
        for chosen in choices:
            keys = sorted(chosen)
            answer = cache.carriers(keys, 9, lambda keys: [carriers[key] for key in keys])
            read.append([numbers.tolist() for numbers in answer])
            assert read[-1] == [carriers[key].tolist() for key in keys]
            assert cache._carriers.weight <= 300


def test_candidates_follow_every_change_and_what_is_rolled_back(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/index.db"
    ours, theirs = open_store(url), open_store(url)
    ours.prepare(DEFAULT)
    near, far = bytes(DEFAULT.sketch_bytes), bytes([1]) * DEFAULT.sketch_bytes
    screen = Prefilter(near, DEFAULT.slot_bytes, DEFAULT.sketch_width)

    def found() -> list[str]:
        lookup = ([band(0, 1)], [])
        return [c.id for c in ours.candidates([lookup], 10, 1, [screen])[0].found]

    ours.write([row("a", bands=(band(0, 1),), minhash=near)])
    assert found() == found() == ["a"]
    theirs.write([row("a", bands=(band(0, 1),), minhash=far)])
    theirs.write([row("b", bands=(band(0, 1),), minhash=near)])
    assert found() == found() == ["b"]
    with pytest.raises(ZeroDivisionError), ours.exclusive():
        ours.write([row("c", bands=(band(0, 1),), minhash=near)])
        assert found() == ["b", "c"]
        raise ZeroDivisionError
    assert found() == ["b"]
    ours.close()
    theirs.close()
