"""Candidates: the same set in the same order from every store."""

import random
from collections import Counter

import pytest
from sample_rows import band, block, row

from indexer.model import Candidate, Candidates, Prefilter


def expected(rows, bands, blocks, limit):
    """Return the candidates that the store interface promises, by counting."""
    shared = Counter(
        {row: len({*row.bands} & {*bands}) + len({*row.blocks} & {*blocks}) for row in rows}
    )
    ranked = sorted(
        (row for row in rows if shared[row]),
        key=lambda row: (-shared[row], row.path.encode(), row.id.encode()),
    )
    return [(row.id, shared[row]) for row in ranked[:limit]], len(ranked) > limit


def test_order_and_set_are_those_of_counting(store):
    chance = random.Random(8)
    rows = [
        row(
            f"{place}",
            path=chance.choice(["/a", "/b", "/Ä", "/\U0001f600", "/\uffff", "/a/b", "/B"]),
            bands=tuple(band(column, chance.randrange(4)) for column in range(6)),
            blocks=tuple(block(column, chance.randrange(3)) for column in range(2)),
            metadata={},
        )
        for place in range(90)
    ]
    rows = [Hashable(item) for item in rows]
    store.write([item.row for item in rows])
    store.refresh()
    for limit in (0, 1, 7, 40, 1_000):
        bands, blocks = (
            [band(column, 1) for column in range(6)],
            [block(column, 2) for column in range(2)],
        )
        result = store.candidates([(bands, blocks)], limit)[0]
        assert ([(item.id, item.keys_shared) for item in result.found], result.cut) == expected(
            rows, bands, blocks, limit
        )
        assert result.capped_keys == ()


class Hashable:
    """Row that can be counted, by identity."""

    def __init__(self, row):
        self.row = row

    def __getattr__(self, name):
        return getattr(self.row, name)


def test_candidates_carry_their_sketches(store):
    store.write(
        [
            row("1", bands=(band(0, 1),), minhash=b"\x00\xff" * 256, simhash=2**63 + 5),
            row("2", bands=(band(0, 1),)),
        ]
    )
    store.refresh()
    first, second = store.candidates([([band(0, 1)], [])], 10)[0].found
    assert first == Candidate("1", "/library/1.txt", 1, b"\x00\xff" * 256, 2**63 + 5)
    assert second == Candidate("2", "/library/2.txt", 1, None, None)


def test_candidates_share_as_many_keys_as_asked_for_and_hot_keys_count_as_shared(store):
    keys = [band(column, 1) for column in range(4)]
    rows = [row(f"{count}", bands=tuple(keys[:count]), metadata={}) for count in range(1, 5)]
    store.write([*rows, *(row(f"x{place}", bands=(keys[0],), metadata={}) for place in range(3))])
    store.refresh()

    def found(shared):
        (answer,) = store.candidates([(keys, [])], 10, shared)
        return [item.id for item in answer.found], answer.capped_keys

    assert found(3) == (["4", "3"], ())
    store.frequent_key_floor, store.frequent_key_fraction = 5, 0.5
    assert found(3) == (["4", "3"], (keys[0],))
    assert found(1) == (["4", "3", "2"], (keys[0],))
    assert found(4) == (["4"], (keys[0],)) and found(5) == ([], (keys[0],))


def test_a_screen_leaves_out_rows_whose_sketches_have_too_few_equal_slots(store):
    """It does so among the candidates within the limit, and not rows without a sketch."""
    sketches = {"1": bytes(128), "2": b"\x01" * 128, "3": bytes(100) + b"\x02" * 28, "4": None}
    keys = (band(0, 1), band(1, 1))
    rows = [row(id, bands=keys, minhash=sketch, metadata={}) for id, sketch in sketches.items()]
    store.write([*rows, row("0", bands=(*keys, band(2, 1)), minhash=bytes(128), metadata={})])
    store.refresh()

    def found(least, limit=10):
        lookups = [(keys, []), (keys, [])]
        screened, every = store.candidates(
            lookups, limit, 2, [Prefilter(bytes(128), 1, least), None]
        )
        assert len(every.found) == len(screened.found) + screened.filtered
        assert every.cut == screened.cut == (limit < 5)
        return [item.id for item in screened.found]

    assert found(128) == ["0", "1", "4"]
    assert found(100) == ["0", "1", "3", "4"]
    assert found(0) == ["0", "1", "2", "3", "4"]
    assert found(128, limit=3) == ["0", "1"]


@pytest.mark.parametrize("limit", [2, 10])
def test_rows_of_other_lengths_are_no_candidates_whatever_the_limit(store, limit):
    """Those of no use do not take the places of others that share fewer keys."""
    keys = (band(0, 1), band(1, 1))
    lengths = {"1": 7, "2": 8, "3": 10, "4": 11, "5": 12}
    rows = [
        row(id, bands=keys[: 1 if 8 <= words <= 10 else 2], words=words, metadata={})
        for id, words in lengths.items()
    ]
    store.write(rows)
    store.refresh()
    screens = [Prefilter(bytes(128), 1, 0, (8, 10)), Prefilter(bytes(128), 1, 0), None]
    within, *every = store.candidates([(keys, [])] * 3, limit, 1, screens)
    assert [(item.id, item.keys_shared) for item in within.found] == [("2", 1), ("3", 1)]
    assert not within.cut
    for answer in every:
        assert [item.id for item in answer.found] == ["1", "4", "5", "2", "3"][:limit]


def test_no_keys_no_candidates(store):
    store.write([row("1")])
    store.refresh()
    assert (
        store.candidates([([], [])], 10)[0]
        == Candidates((), (), False)
        == store.candidates([([band(0, 1)], [])], 10)[0]
    )


def test_a_key_given_twice_counts_once(store):
    store.write([row("1", bands=(band(0, 1), band(1, 1)))])
    store.refresh()
    assert store.candidates([([band(0, 1), band(0, 1)], [])], 10)[0].found[0].keys_shared == 1


def test_bands_and_blocks_of_one_spelling_are_different_keys(store):
    store.write([row("1", bands=("00ab",)), row("2", blocks=("00ab",))])
    store.refresh()
    assert [candidate.id for candidate in store.candidates([(["00ab"], [])], 10)[0].found] == ["1"]
    assert [candidate.id for candidate in store.candidates([([], ["00ab"])], 10)[0].found] == ["2"]
    assert [
        candidate.id for candidate in store.candidates([(["00ab"], ["00ab"])], 10)[0].found
    ] == ["1", "2"]


def test_a_hot_key_is_not_searched_but_reported(store):
    hot, warm, rare = band(0, 7), band(1, 7), band(2, 7)
    hot_block = block(0, 7)
    rows = [
        row(
            f"{place:04}",
            text="",
            bands=(hot, *[warm] * (place < 1_000), *[rare] * (place < 2)),
            blocks=(hot_block,) if place else (),
        )
        for place in range(1_002)
    ]
    store.write(rows)
    store.refresh()
    result = store.candidates([([hot, warm, rare], [hot_block, block(1, 1)])], 5)[0]
    assert result.capped_keys == (hot, hot_block)
    assert [(candidate.id, candidate.keys_shared) for candidate in result.found] == [
        ("0000", 2),
        ("0001", 2),
        ("0002", 1),
        ("0003", 1),
        ("0004", 1),
    ]
    assert result.cut
    assert store.candidates([([hot], [])], 5)[0] == Candidates((), (hot,), False)


def test_a_share_of_the_rows_decides_above_the_floor(store):
    store.frequent_key_floor, store.frequent_key_fraction = 10, 0.25
    common, rarer = band(0, 1), band(1, 1)
    store.write(
        [
            row(f"{place:03}", bands=(*[common] * (place < 26), *[rarer] * (place < 25)))
            for place in range(100)
        ]
    )
    store.refresh()
    assert store.candidates([([common, rarer], [])], 100)[0].capped_keys == (common,)
    assert len(store.candidates([([common, rarer], [])], 100)[0].found) == 25


def test_rows_without_keys_are_never_candidates(store):
    store.write([row("1", status="empty", text=""), row("2", bands=(band(0, 1),))])
    store.refresh()
    assert [
        candidate.id for candidate in store.candidates([([band(0, 1)], [block(0, 1)])], 10)[0].found
    ] == ["2"]


def test_many_lookups_at_once_find_the_same_as_each_alone(store):
    chance = random.Random(4)
    store.frequent_key_floor, store.frequent_key_fraction = 20, 0.1
    store.write(
        [
            row(
                f"{place:03}",
                path=f"/p/{chance.randrange(9)}",
                bands=tuple(
                    band(column, chance.randrange(3) if column == 0 else chance.randrange(40))
                    for column in range(5)
                ),
                blocks=(block(0, chance.randrange(50)),),
                minhash=chance.randbytes(512) if place % 3 else None,
            )
            for place in range(150)
        ]
    )
    store.refresh()
    queries = [
        (
            [band(column, chance.randrange(40)) for column in range(5)],
            [block(0, chance.randrange(50))],
        )
        for _ in range(23)
    ]
    queries += [([], []), ([band(0, 1)], []), ([band(7, 7)], [block(0, 7)]), queries[0]]
    for limit in (3, 1_000):
        together = store.candidates(queries, limit)
        assert together == [
            store.candidates([(bands, blocks)], limit)[0] for bands, blocks in queries
        ]
    assert together[24] == Candidates((), (band(0, 1),), False)
    assert sum(len(result.found) for result in together) > 100
    assert store.candidates([], 5) == []
