"""Tokenisers: copietje's rules, sentences, n-grams of characters and bytes, stop lists."""

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import MissingExtra, UsageError
from indexer.fingerprinting.tokens import (
    TOKENISERS,
    byte_grams,
    character_grams,
    digest,
    sentences,
    stop_list,
    tokens,
    white_space_grams,
)

ROOT = Path(__file__).parent.parent
DECLARATION = json.loads((ROOT / "data/declaration.json").read_text())
EXAMPLE = "ABC, sing with me!"  # the sentence of copietje's own tests, with what they expect
EXPECTED = {
    "ws": ["ABC,", "sing", "with", "me!"],
    "white-space-2-grams": ["ABC, sing", "sing with", "with me!"],
    "white-space-3-grams": ["ABC, sing with", "sing with me!"],
    "white-space-4-grams": ["ABC, sing with me!"],
    "white-space-5-grams": ["ABC, sing with me!"],
    "2-grams": [
        "AB",
        "BC",
        "C,",
        ", ",
        " s",
        "si",
        "in",
        "ng",
        "g ",
        " w",
        "wi",
        "it",
        "th",
        "h ",
        " m",
        "me",
        "e!",
    ],
    "words": ["ABC", ",", "sing", "with", "me", "!"],
    "sents": ["ABC, sing with me!"],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_tokenisers_give_what_copietje_expects(name: str) -> None:
    assert list(TOKENISERS[name](EXAMPLE)) == EXPECTED[name]


def test_every_name_of_copietje_is_there() -> None:
    grams = {
        f"{prefix}{n}-grams"
        for prefix, low in (("", 1), ("white-space-", 2))
        for n in range(low, 7)
    }
    assert set(TOKENISERS) == grams | {
        "ws",
        "white-space",
        "words",
        "split-words",
        "sents",
        "split-sents",
    }


@pytest.mark.parametrize("name", TOKENISERS)
@given(st.text())
def test_every_text_is_taken_and_blank_text_has_no_features_but_characters(
    name: str, text: str
) -> None:
    tokens = list(TOKENISERS[name](text))
    if not text.strip() and not name[0].isdigit():
        assert tokens == []
    assert all(tokens)


@given(st.text(), st.integers(1, 6))
def test_grams_are_windows(text: str, width: int) -> None:
    assert character_grams(text, width) == [
        text[i : i + width] for i in range(max(0, len(text) - width + 1))
    ]
    octets = text.encode()
    assert list(byte_grams(text, width)) == [
        octets[i : i + width] for i in range(max(0, len(octets) - width + 1))
    ]


def test_byte_grams_take_lone_surrogates() -> None:
    assert b"".join(byte_grams("a\ud800\udc00\udfff", 1)) == "a\U00010000\ufffd".encode()


@given(st.lists(st.text("ab", min_size=1), max_size=8), st.integers(2, 6))
def test_short_text_is_one_gram(words: list[str], width: int) -> None:
    features = white_space_grams(" ".join(words), width)
    assert len(features) == (0 if not words else max(1, len(words) - width + 1))


@pytest.mark.parametrize("language", DECLARATION)
@pytest.mark.parametrize("name", ["words", "2-grams", "4-grams"])
def test_no_language_collapses(name: str, language: str) -> None:
    left, right = (set(TOKENISERS[name](text)) for text in DECLARATION[language])
    assert min(len(left), len(right)) >= 8
    assert len(left & right) / len(left | right) < 0.6


@pytest.mark.parametrize(
    ("language", "count"),
    [("en", 2), ("zh", 2), ("ja", 2), ("hi", 2), ("ar", 2), ("el", 2), ("ko", 2), ("th", 1)],
)
def test_sentences_end_in_every_script(language: str, count: int) -> None:
    assert len(sentences(DECLARATION[language][0])) == count


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four… Five", ["One.", "Two!", "Three?", "Four…", "Five"]),
        ('He said: "Go." She went.', ['He said: "Go."', "She went."]),
        ("Version 3.14 is out. Yes", ["Version 3.14 is out.", "Yes"]),
        ("J. R. R. Tolkien wrote it.", ["J. R. R. Tolkien wrote it."]),
        ("approx. five", ["approx. five"]),
        ("A line\nbroken here.\n\nNew paragraph", ["A line\nbroken here.", "New paragraph"]),
        ("Really?! Yes.", ["Really?!", "Yes."]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_sentences_by_rule(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text())
def test_sentences_lose_nothing_but_white_space(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("hostile", "count"),
    [
        ("." * 200_000 + "x", 1),
        (". " * 100_000, 100_000),
        ("\n" * 200_000, 0),
        (". " + " " * 200_000 + "x", 1),
    ],
)
def test_hostile_text_takes_linear_time(hostile: str, count: int) -> None:
    """A quadratic pattern would need minutes."""
    assert len(sentences(hostile)) == count


def test_stop_lists() -> None:
    assert tokens("the house of cards", stop_words=stop_list("en")) == ["house", "cards"]
    assert "ve" in stop_list("tr")
    assert digest(stop_list("en")) != digest(stop_list("nl"))
    with pytest.raises(UsageError, match="nl"):
        stop_list("xx")


def test_a_missing_stop_word_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stopwordsiso", None)
    with pytest.raises(MissingExtra, match="stopwordsiso"):
        stop_list("en")
