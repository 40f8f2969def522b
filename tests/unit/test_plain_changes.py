"""Changes of plain words, which criteria accept without reading facts, as their definition does."""

import random

import pytest

from indexer.comparing.alignment import MIN_MESSAGE, _may_be_message, differ_in_plain_words
from indexer.comparing.criteria import Criteria
from indexer.comparing.measures import ComparedText
from indexer.recipe import DEFAULT

CRITERIA = [
    Criteria(policy="standard", numbers="changed", replaced=2),
    Criteria(policy="standard", replaced=2),
    Criteria(policy="standard", replaced=0),
    Criteria(numbers="changed"),
]
PLAIN = ["ferry", "harbour", "ship", "leaves", "quay", "old", "new", "tide", "berth", "crew"]
FUNCTION_WORDS = ["the", "of", "and", "der", "und", "die", "nicht", "mit", "le", "de", "is", "are"]
STATING = ["not", "never", "5", "10,000", "-5", "five", "million", "euros", "m", "may", "May"]
STATING += ["Oslo", "Bergen", "<=", "=", "!", "#", "www.x.org"]
SEPARATORS = (" ", " ", " ", " ", " ", " ", " ", "\n", "  ", "-\n", ", ", ". ", " > ", "\n\n")


def drawn(chance: random.Random, frequent: float) -> str:
    kinds = [PLAIN, FUNCTION_WORDS, STATING]
    return chance.choice(chance.choices(kinds, [0.9, 0.1, frequent])[0])


def edited(chance: random.Random, words: list[str], frequent: float) -> list[str]:
    result = list(words)
    for _ in range(chance.choice([1, 1, 2, 3, 6, 12])):
        start = chance.randrange(len(result) + 1)
        length = chance.choice([0, 1, 1, 2, 5])
        put = [drawn(chance, frequent) for _ in range(chance.choice([0, 1, 1, 2, 5]))]
        if chance.random() < 0.1:
            put = result[: chance.choice([1, 2, 6])]
        result[start : start + length] = put
    return result


def written(chance: random.Random, words: list[str], plain: bool) -> str:
    separators = SEPARATORS[:1] if plain else SEPARATORS
    return "".join(word + chance.choice(separators) for word in words)


def pair(seed: int) -> tuple[str, str]:
    """Return a text and an edited one; many differ in plain words only."""
    chance = random.Random(seed)
    frequent = chance.choice([0, 0, 0.02, 0.2])
    of_edits = chance.choice([0, 0, 0, 0.1])
    known = PLAIN[: chance.choice([2, 6, 10])] if chance.random() < 0.3 else None
    words = [drawn(chance, frequent) for _ in range(chance.choice([3, 20, 60, 200]))]
    if known:
        words = [chance.choice(known) for _ in words]
    elif chance.random() < 0.5:
        words = [f"{word}{chance.choice('abcdefgh')}" if word.isalpha() else word for word in words]
    plain, style = chance.random() < 0.5, chance.getrandbits(32)
    left = written(random.Random(style), words, plain)
    return left, written(random.Random(style), edited(chance, words, of_edits), plain)


def refused_in_error(a: str, b: str) -> list[Criteria]:
    left, right = ComparedText(a, DEFAULT), ComparedText(b, DEFAULT)
    return [
        criteria
        for criteria in CRITERIA
        if criteria.accepts_change(a, b) and not criteria._accepts_facts(left, right)
    ]


@pytest.mark.long
def test_what_is_accepted_for_its_plain_words_meets_the_conditions():
    accepted = 0
    for seed in range(600):
        a, b = pair(seed)
        assert refused_in_error(a, b) == [], (a, b)
        accepted += differ_in_plain_words(a, b, 2)
    assert accepted > 60


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("the ferry is here", "the ferry is not here"),
        ("it is five euros for a ferry", "it is six euros for a ferry"),
        ("pay 5 old euros", "pay 5 euros"),
        ("Oslo is far", "Bergen is far"),
        ("the tenant pays the landlord", "the landlord pays the tenant"),
        ("ask ann@x.org today", "ask bob@x.org today"),
        ('see <a href="my old page"> this', 'see <a href="my new page"> this'),
        ("if x < y it sails", "if x < z it sails"),
    ],
)
def test_facts_near_a_change_are_left_to_the_criteria(a: str, b: str):
    assert not differ_in_plain_words(a, b)


def test_halves_of_words_do_not_count_as_words_that_stay():
    changed = ["harbour"] * MIN_MESSAGE
    halves, words = ["the", "quay", "har-", "\n", "bour"], ["the", "quay", "\n", "bour"]
    assert _may_be_message([halves] * MIN_MESSAGE, changed, changed)
    assert not _may_be_message([words] * MIN_MESSAGE, changed, changed)
