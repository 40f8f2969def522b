"""Sides that are kept between look-ups: the same ones for the same text, and not too many."""

from indexer.fingerprinting.fingerprint import fingerprint
from indexer.fingerprinting.keys import pack_slots
from indexer.recipe import DEFAULT, DEFAULT_V1
from indexer.searching.stored_texts import MIN_CHARS, TextCache

TEXT = "the lessee shall pay the rent on the first day of each month"


def test_the_side_of_a_text_is_kept() -> None:
    cache = TextCache()
    assert cache.compared(TEXT, DEFAULT) is cache.compared("".join(TEXT), DEFAULT)


def test_other_sketches_or_another_recipe_are_another_side() -> None:
    cache, minhash = TextCache(), fingerprint(TEXT, DEFAULT).minhash
    assert minhash is not None
    signed = cache.compared(TEXT, DEFAULT, pack_slots(minhash), 7)
    assert signed.minhash is not None
    assert (signed.minhash.tolist(), signed.simhash) == (minhash.tolist(), 7)
    sides = [signed, cache.compared(TEXT, DEFAULT), cache.compared(TEXT, DEFAULT_V1)]
    assert len({id(side) for side in sides}) == 3


def test_the_sides_that_were_not_asked_for_longest_are_forgotten() -> None:
    cache = TextCache(3 * MIN_CHARS)
    first, *_ = (cache.compared(f"{TEXT} {number}", DEFAULT) for number in range(3))
    assert cache.compared(f"{TEXT} 0", DEFAULT) is first
    second = cache.compared(f"{TEXT} 1", DEFAULT)
    cache.compared(f"{TEXT} 0", DEFAULT)
    cache.compared(f"{TEXT} 2", DEFAULT)
    cache.compared(f"{TEXT} 3", DEFAULT)
    assert cache.compared(f"{TEXT} 0", DEFAULT) is first
    assert cache.compared(f"{TEXT} 1", DEFAULT) is not second


def test_a_text_that_is_too_long_to_be_kept_has_a_side() -> None:
    assert TextCache(MIN_CHARS - 1).compared(TEXT, DEFAULT).text == TEXT
