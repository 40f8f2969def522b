"""Of results that take long, the last one that was asked for is computed next."""

import threading

import pytest

from indexer.errors import UsageError
from indexer.review.caches import LatestReader


def test_only_the_last_wanted_result_waits() -> None:
    first, go_on, read = threading.Event(), threading.Event(), []

    def square(number: int) -> int:
        read.append(number)
        first.set()
        assert go_on.wait(10)
        return number * number

    reader = LatestReader(square, 2)
    assert reader.get(1, 0) is None
    assert first.wait(10)
    assert [reader.get(number, 0) for number in (2, 3, 4)] == [None] * 3
    go_on.set()
    assert reader.get(4, 10) == 16
    assert reader.get(1, 10) == 1
    assert read == [1, 4]
    assert reader.get(5, 10) == 25
    assert reader.get(1, 10) == 1
    assert read == [1, 4, 5, 1]  # two are kept


@pytest.mark.parametrize("error", [UsageError("too low"), KeyError("too low")])
def test_an_error_is_raised_once(error: Exception) -> None:
    read = []

    def fail(key: str) -> str:
        read.append(key)
        if len(read) == 1:
            raise error
        return key

    reader = LatestReader(fail, 2)
    with pytest.raises(type(error), match="too low"):
        reader.get("a", 10)
    assert reader.get("a", 10) == "a"
