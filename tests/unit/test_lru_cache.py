"""A cache discards the entries that were used longest ago beyond its bounds."""

import pytest

from indexer.system.external_memory import LruCache


def test_a_look_up_is_a_use_and_a_peek_is_none():
    cache = LruCache[str, int](2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert (cache["a"], cache.peek("b")) == (1, 2)
    cache.put("c", 3)
    assert list(cache) == ["a", "c"]
    assert cache.get("b") is None
    with pytest.raises(KeyError):
        cache["b"]


def test_entries_are_bounded_by_number_and_weight():
    cache = LruCache[str, str](6, len, max_entries=2)
    for key, value in [("a", "1"), ("b", "22"), ("c", "333")]:
        cache.put(key, value)
    assert (list(cache), cache.weight) == (["b", "c"], 5)
    cache.put("c", "55555")
    assert (list(cache), cache.weight) == (["c"], 5)
    cache.put("d", "7777777", min_entries=1)
    assert (list(cache), cache.weight) == (["d"], 7)


def test_added_entries_stay_until_the_cache_is_trimmed():
    cache = LruCache[int, None](2)
    for key in range(4):
        cache.add(key, None)
    cache.use([1, 9])
    assert list(cache) == [0, 2, 3, 1]
    cache.trim()
    assert (list(cache), cache.weight) == ([3, 1], 2)
    cache.discard(3)
    cache.discard(3)
    assert (list(cache), cache.weight) == ([1], 1)
