"""Tokens of simhash-doc: categories, letters, identifiers, versions, languages."""

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import UsageError
from indexer.fingerprinting.normalise import (
    LETTER,
    PUNCTUATION,
    SPACING_MARK,
    WORD,
    categories,
    ranges,
)
from indexer.fingerprinting.tokens import (
    RULES,
    letter_pairs,
    tokens,
    unicode_words,
    without_identifiers,
)

ROOT = Path(__file__).parent.parent
GOLDEN = json.loads((ROOT / "golden/tokens.json").read_text())
DECLARATION = json.loads((ROOT / "data/declaration.json").read_text())
PUBLISHED = ("Ll", "Lu", "Lt", "Lo", "Lm", "Mn", "Nd", "Pc")


@pytest.mark.parametrize("vector", GOLDEN, ids=lambda vector: vector["name"])
def test_golden(vector: dict) -> None:
    assert {version: tokens(vector["text"], version) for version in RULES} == vector["tokens"]


@pytest.mark.parametrize(
    ("bits", "names"),
    [
        (WORD, PUBLISHED),
        (SPACING_MARK, ("Mc",)),
        (LETTER, ("L",)),
        (PUNCTUATION, ("P",)),
    ],
)
def test_tables_agree_with_any_later_unicode_on_the_basic_blocks(
    bits: int, names: tuple[str, ...]
) -> None:
    """Categories of Latin, Greek, Cyrillic, Devanagari, Thai and Han have not changed since
    13.0.
    """
    blocks = "20-24F 370-377 400-52F 905-939 E01-E30 4E00-9FFC"
    for first, last in ranges(blocks):
        for code in range(first, last + 1):
            assert bool(categories()[code] & bits) == unicodedata.category(chr(code)).startswith(
                names
            ), hex(code)


@pytest.mark.parametrize("version", RULES)
@given(st.text())
def test_every_token_is_word_characters_with_a_letter(version: str, text: str) -> None:
    rules = RULES[version]
    allowed = categories()
    for token in tokens(text, version):
        codes = [ord(character) for character in token]
        assert all(allowed[code] & (WORD | rules.added) for code in codes)
        assert any(allowed[code] & LETTER for code in codes)
        assert not any(allowed[code] & rules.removed for code in codes)


@given(
    st.text(alphabet=st.characters(max_codepoint=0x17F)),
    st.sampled_from(["\u200b", "\u200d", "\u00ad", "\ufe0f", "\u202e", "\u2060"]),
)
def test_characters_without_width_change_nothing(text: str, invisible: str) -> None:
    assert tokens(invisible.join(text)) == tokens(text)


@given(st.text(alphabet="abcàéîõü ñçś"))
def test_composed_and_decomposed_text_have_the_same_tokens(text: str) -> None:
    assert tokens(unicodedata.normalize("NFD", text), "v1") == tokens(text, "v1")


@pytest.mark.parametrize(
    "bare", ["42", "3.14", "1,000,000", "٤٢", "४२", "__", "12_34", "½", "\u0301"]
)
def test_bare_numbers_and_marks_are_no_tokens(bare: str) -> None:
    assert tokens(f"before {bare} after") == ["before", "after"]


def test_digits_inside_a_word_stay_but_in_v3() -> None:
    assert tokens("B2B COVID19 2nd", "v2") == ["b2b", "covid19", "2nd"]
    assert tokens("B2B COVID19 2nd 5", "v3") == ["bb", "covid", "nd"]


@pytest.mark.parametrize(
    "identifier",
    [
        "https://example.org/a/b?c=d#e", "ftp://host", "www.example.com/x", "mailto:me@example.org",
        "me.too+tag@mail.example.co.uk", "doi:10.1145/3331184.3331311", "10.1145/3331184.3331311",
        "arXiv:1501.00001v2",
        "urn:isbn:0451450523", "ISBN:978-0-13-110362-7", "123e4567-e89b-12d3-a456-426614174000",
        "d41d8cd98f00b204e9800998ecf8427e",
    ],
)  # fmt: skip
def test_identifiers_give_no_tokens(identifier: str) -> None:
    assert tokens(f"before {identifier} after") == ["before", "after"]
    assert tokens(f"見{identifier}。") == tokens("見。")


@pytest.mark.parametrize(
    "text", ["and/or", "either - or", "10.5/12", "a@b", "deadbeef", "e.g.", "C:\\Users"]
)
def test_ordinary_text_is_no_identifier(text: str) -> None:
    assert without_identifiers(text) == text


@pytest.mark.parametrize(
    ("hostile", "left"),
    [
        ("a" * 300_000, " "),
        ("g" * 300_000, "g" * 300_000),
        ("a." * 150_000, "a." * 150_000),
        ("deadbeef" * 40_000, " "),
        ("a@" * 150_000, "a@" * 150_000),
        ("1" * 300_000, " "),
    ],
    ids=lambda value: f"{value[:8]} {len(value)}",
)
def test_hostile_text_takes_linear_time(hostile: str, left: str) -> None:
    """A quadratic pattern would need minutes."""
    assert without_identifiers(hostile) == left


@pytest.mark.parametrize("language", DECLARATION)
@pytest.mark.parametrize("version", RULES)
def test_no_language_collapses(language: str, version: str) -> None:
    """Two unrelated texts of a language have many tokens each and share few of them; a small edit
    keeps most.
    """
    original, translated = (set(tokens(text, version)) for text in DECLARATION[language])
    edited = set(tokens(DECLARATION[language][0][:-4], version))
    assert min(len(original), len(translated)) >= 5
    assert len(original & translated) / min(len(original), len(translated)) < 0.65
    assert len(original & edited) / len(original | edited) > 0.8


def test_hindi_words_are_whole_from_v2_on() -> None:
    first = DECLARATION["hi"][0]
    assert tokens(first, "v2") == [word.strip("।") for word in first.split() if word.strip("।")]
    assert len(tokens(first, "v1")) > len(tokens(first, "v2"))


def test_stop_words_and_segmenter() -> None:
    assert tokens("The cat of the house", stop_words={"the", "of"}) == ["cat", "house"]
    assert tokens("東京都 Tokyo", segmenter=lambda run: [run[:2], run[2:]]) == [
        "東京",
        "都",
        "tokyo",
    ]


def test_thai_vowels_stay_with_their_letter() -> None:
    assert unicode_words("กี่") == ["กี่"]
    assert letter_pairs("กี่ดี") == ["กี่ดี"]


def test_unknown_version_is_refused_with_the_valid_ones() -> None:
    with pytest.raises(UsageError, match="v1, v2, v3, v4, v5, v6"):
        tokens("text", "v9")


def test_lone_surrogates_separate() -> None:
    assert tokens("a\ud800b") == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("see http://пример.рф/путь?ключ=да now", ["see", "now"]),
        ("auf https://de.wikipedia.org/wiki/Fähre, dann weiter", ["auf", "dann", "weiter"]),
        ("https://ja.wikipedia.org/wiki/東京 です", ["で", "す"]),
        ("http://例え.jp/道 end", ["end"]),
        ("詳しくはhttps://example.com/a、東京", ["詳", "し", "く", "は", "東", "京"]),
        ("write to jörg@müller.example today", ["write", "to", "today"]),
        ("Straße www.straße.example/hof Hof", ["straße", "hof"]),
    ],
)
def test_v6_has_no_token_of_an_international_url(text: str, words: list[str]) -> None:
    assert tokens(text, "v6") == words
    assert tokens(text, "v2") != words or "example.com/a、" in text


@given(st.text(st.characters(max_codepoint=127)))
def test_v6_is_v2_of_ascii(text: str) -> None:
    assert tokens(text, "v6") == tokens(text, "v2")
