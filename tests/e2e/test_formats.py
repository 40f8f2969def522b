"""Fifty documents in seven formats: each is a near duplicate of itself in another format.

Look-alikes with the same title, headings, boilerplate and vocabulary must stay apart. Each of them
has one of the formats, in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import combinations, islice
from pathlib import Path

import pytest
from corpus.documents import COUNT, fifty, lookalikes
from corpus.files import by_turns, write
from corpus.formats import FORMATS, formats_of
from corpus.language import CODES
from e2e.command import run_json

from indexer.searching import similar as lookup
from indexer.stores import open_store
from indexer.stores.base import Store

THRESHOLD = 0.8
MIN_FOUND = 0.99


@dataclass(frozen=True, slots=True)
class Lookups:
    """The results of looking up every file: ordered pairs of file names with their similarity."""

    names: frozenset[str]
    similar: dict[tuple[str, str], float]

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield every pair of files of one document, once."""
        yield from (
            pair
            for pair in combinations(sorted(self.names), 2)
            if document(pair[0]) == document(pair[1])
        )


def document(name: str) -> str:
    return name.rpartition(".")[0]


@pytest.fixture(
    scope="module",
    params=[len(CODES), pytest.param(COUNT, marks=pytest.mark.slow)],
    ids="{} documents".format,
)
def count(request: pytest.FixtureRequest) -> int:
    """Return how many documents are tried: one of each language, or all fifty."""
    return request.param


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, count: int) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("formats")
    files = [
        *write(islice(fifty(), count), folder / "fifty"),
        *by_turns(islice(lookalikes(), count), folder / "lookalikes"),
    ]
    url = f"sqlite:///{folder}/index.db"
    account = run_json("index", folder / "fifty", folder / "lookalikes", store=url)
    assert account["indexed"] == account["seen"] == len(files)
    with closing(open_store(url)) as store_on_disk:
        yield store_on_disk


@pytest.fixture(scope="module")
def lookups(store: Store) -> Lookups:
    rows = list(store.scan())
    similar: dict[tuple[str, str], float] = {}
    for row in rows:
        for match in lookup.similar(
            store, options=lookup.SimilarOptions(threshold=THRESHOLD, limit=100), id=row.id
        ).matches:
            similar[Path(row.path).name, Path(match.path).name] = match.similarity
    return Lookups(frozenset(Path(row.path).name for row in rows), similar)


def test_documents_in_two_formats_are_found(lookups, count):
    pairs = list(lookups.pairs())
    missed = [pair for pair in pairs if pair not in lookups.similar]
    few = sum(len(formats_of(document)) == 6 for document in islice(fifty(), count))
    assert len(pairs) == (count - few) * 21 + few * 15
    assert len(missed) <= (1 - MIN_FOUND) * len(pairs), missed


@pytest.mark.parametrize("kinds", list(combinations(sorted(FORMATS), 2)), ids=" ".join)
def test_no_two_formats_fail_each_other(lookups, count, kinds):
    pairs = [
        pair for pair in lookups.pairs() if tuple(name.rpartition(".")[2] for name in pair) == kinds
    ]
    similarities = [lookups.similar[pair] for pair in pairs if pair in lookups.similar]
    assert len(pairs) >= count - 3
    assert len(similarities) >= len(pairs) - 1


def test_distinct_documents_stay_apart(lookups):
    assert {pair for pair in lookups.similar if document(pair[0]) != document(pair[1])} == set()


def test_a_pair_is_found_from_both_sides(lookups):
    assert {(b, a) for a, b in lookups.similar} == set(lookups.similar)
