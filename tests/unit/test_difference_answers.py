"""Facts that differ stay what they were, however they are found."""

import hashlib
import random
from collections.abc import Iterator

import pytest

from indexer.comparing import differences as module
from indexer.comparing.differences import has_differences
from indexer.comparing.facts import FactSource
from indexer.comparing.reasons import differences
from indexer.comparing.tiling import Tile
from indexer.comparing.unworded import _ADDRESS, addresses
from indexer.comparing.words import _FACT_SIGN, _matches, words

_PIECES = (
    "pay 5 $5 -5 (5.00) 1,000 1000 1.000,00 not Anna anna Ben BEN May May 6. 6 May 2024. "
    "< <= >= != x->y <b>or</b> > && ! ~5 ± mg milligrams million EUR euros five a@x.org "
    "a-b@x.org www.x.org http://x.org/a?b=c, WWW.X.ORG mailto:ann@x.org @me @ :// Groß "
    "GROSS GmbH O’Brien Smith-Jones don't cannot never nicht kein 2024-05-01 1/5/24 10 % "
    "3.5% 20 °C 5pm 5 p.m. £7 -$7 €42,000 v1.2.3 the lease ends. Then of and to tenant "
    "The - * • \n \n\n Zürich 東京 請不要支付 не платит ① x² ½ "
)
PIECES = _PIECES.split(" ")
LARGEST = 60  # pieces of a text
DIGEST = "7597df388d6f5ac7f4eec7d054ff2c6a8092d32ebadb1c3cf9ce7215eedf8a34"


def pairs(number: int) -> Iterator[tuple[str, str]]:
    """Yield texts and edited copies of them, the same ones each time."""
    chance = random.Random(11)
    for _ in range(number):
        pieces = [PIECES[chance.randrange(len(PIECES))] for _ in range(chance.randrange(LARGEST))]
        edited = list(pieces)
        for _ in range(chance.randrange(6)):
            place, end = sorted(chance.randrange(len(edited) + 1) for _ in range(2))
            others = [PIECES[chance.randrange(len(PIECES))] for _ in range(chance.randrange(3))]
            moved = edited[place : min(end, place + 4)]
            edited[place : place + len(moved)] = others
            if chance.randrange(2):
                place = chance.randrange(len(edited) + 1)
                edited[place:place] = moved
        yield " ".join(pieces), " ".join(edited)


def digest(answers: list[list[tuple[str, str | None, str | None]]]) -> str:
    return hashlib.sha256(repr(answers).encode()).hexdigest()


def answers(a: FactSource, b: FactSource) -> list[tuple[str, str | None, str | None]]:
    return [(difference.kind, difference.a, difference.b) for difference in differences(a, b)]


def source(text: str) -> FactSource:
    return FactSource(text, words(text))


@pytest.mark.long
def test_answers_stay_those_of_the_first_implementation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The digest was printed by differences of whole texts, without anything kept between pairs.

    It was printed again when numbers kept their sign where one text alone has them, when links
    were separated from addresses, and when "1.2.3" was no date any more. Since then a part of a
    date is reported with the whole of it, which is left out here.
    """
    monkeypatch.setattr(module, "_dated", lambda fact, _text: fact)
    found = [answers(source(a), source(b)) for a, b in pairs(400)]
    assert sum(map(len, found)) == 2059
    assert digest(found) == DIGEST


@pytest.mark.long
def test_facts_that_are_kept_give_the_same_answers_in_any_pair() -> None:
    texts = [source(text) for pair in pairs(12) for text in pair]
    for a in texts:
        for b in texts:
            found = answers(a, b)
            assert found == answers(source(a.text), source(b.text))
            assert has_differences(a, b) == bool(found)


def test_signs_and_addresses_are_those_of_a_search_of_the_whole_text() -> None:
    for text, other in pairs(400):
        whole = f"{text}{other.replace(' ', '')} {text[: len(text) // 2]}"
        starts = [found.start() for found in _ADDRESS.finditer(whole)]
        assert [start for start, _ in addresses(whole)] == starts
        spans = [found.span() for found in _FACT_SIGN.finditer(whole)]
        assert [found.span() for found in _matches(whole)] == spans


@pytest.mark.long
def test_numbers_within_what_is_written_alike_need_no_comparison(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    possible, left_out = module._unequal_numbers, 0

    def every_number(a: FactSource, b: FactSource, run: Tile) -> list[int]:
        nonlocal left_out
        numbers = module._within(a.numbers, run.a, run.words)
        left_out += len(numbers) - len(possible(a, b, run))
        return numbers

    texts = [(source(a), source(b)) for a, b in pairs(400)]
    found = [answers(a, b) for a, b in texts]
    monkeypatch.setattr(module, "_unequal_numbers", every_number)
    assert [answers(a, b) for a, b in texts] == found
    assert left_out > 100
