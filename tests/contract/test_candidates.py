"""Candidates: the same set in the same order from every store."""

import random
from collections import Counter

from sample_rows import band, block, row

from indexer.model import Candidate, Candidates


def expected(rows, bands, blocks, limit):
    """What the seam promises, by counting."""
    shared = Counter(
        {one: len({*one.bands} & {*bands}) + len({*one.blocks} & {*blocks}) for one in rows}
    )
    ranked = sorted(
        (one for one in rows if shared[one]),
        key=lambda one: (-shared[one], one.path.encode(), one.id.encode()),
    )
    return [(one.id, shared[one]) for one in ranked[:limit]], len(ranked) > limit


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
    rows = [Hashable(one) for one in rows]
    store.write([one.row for one in rows])
    store.refresh()
    for limit in (0, 1, 7, 40, 1_000):
        bands, blocks = (
            [band(column, 1) for column in range(6)],
            [block(column, 2) for column in range(2)],
        )
        found = store.candidates([(bands, blocks)], limit)[0]
        assert ([(one.id, one.keys_shared) for one in found.found], found.cut) == expected(
            rows, bands, blocks, limit
        )
        assert found.capped_keys == ()


class Hashable:
    """A row that can be counted, by identity."""

    def __init__(self, one):
        self.row = one

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


def test_no_keys_no_candidates(store):
    store.write([row("1")])
    store.refresh()
    assert (
        store.candidates([([], [])], 10)[0]
        == Candidates((), (), False)
        == store.candidates([([band(0, 1)], [])], 10)[0]
    )


def test_a_key_asked_twice_counts_once(store):
    store.write([row("1", bands=(band(0, 1), band(1, 1)))])
    store.refresh()
    assert store.candidates([([band(0, 1), band(0, 1)], [])], 10)[0].found[0].keys_shared == 1


def test_bands_and_blocks_of_one_spelling_are_different_keys(store):
    store.write([row("1", bands=("00ab",)), row("2", blocks=("00ab",))])
    store.refresh()
    assert [one.id for one in store.candidates([(["00ab"], [])], 10)[0].found] == ["1"]
    assert [one.id for one in store.candidates([([], ["00ab"])], 10)[0].found] == ["2"]
    assert [one.id for one in store.candidates([(["00ab"], ["00ab"])], 10)[0].found] == ["1", "2"]


def test_a_key_that_too_many_rows_carry_is_not_asked_but_named(store):
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
    found = store.candidates([([hot, warm, rare], [hot_block, block(1, 1)])], 5)[0]
    assert found.capped_keys == (hot, hot_block)
    assert [(one.id, one.keys_shared) for one in found.found] == [
        ("0000", 2),
        ("0001", 2),
        ("0002", 1),
        ("0003", 1),
        ("0004", 1),
    ]
    assert found.cut
    assert store.candidates([([hot], [])], 5)[0] == Candidates((), (hot,), False)


def test_a_share_of_the_rows_decides_above_the_floor(store):
    store.hot_key_floor, store.hot_key_share = 10, 0.25
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
    assert [one.id for one in store.candidates([([band(0, 1)], [block(0, 1)])], 10)[0].found] == [
        "2"
    ]


def test_many_look_ups_at_once_find_what_each_finds_alone(store):
    chance = random.Random(4)
    store.hot_key_floor, store.hot_key_share = 20, 0.1
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
    asked = [
        (
            [band(column, chance.randrange(40)) for column in range(5)],
            [block(0, chance.randrange(50))],
        )
        for _ in range(23)
    ]
    asked += [([], []), ([band(0, 1)], []), ([band(7, 7)], [block(0, 7)]), asked[0]]
    for limit in (3, 1_000):
        together = store.candidates(asked, limit)
        assert together == [
            store.candidates([(bands, blocks)], limit)[0] for bands, blocks in asked
        ]
    assert together[24] == Candidates((), (band(0, 1),), False)
    assert sum(len(one.found) for one in together) > 100
    assert store.candidates([], 5) == []
