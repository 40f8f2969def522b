"""Words with their offsets: what counts as a word, and which words are equal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.comparing.facts import FactSource
from indexer.comparing.words import (
    _SEPARATOR,
    _fold,
    _fold_joined,
    number_runs,
    shared_numbers,
    words,
)

ANY_TEXT = st.text(
    st.characters(codec=None)
    | st.sampled_from("ab1é中ที่-‐.,'’ \n\t\u00ad\u200b\u0301\ud800\U0010ffff")
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("... --- !?", []),
        ("(Hello, World!)", ["hello", "world"]),
        ("1,000 of 3.5 at 12:30", ["1,000", "of", "3.5", "at", "12:30"]),
        ("one,two;three/four—five…six", ["one", "two", "three", "four", "five", "six"]),
        ("don't DON’T", ["don't", "don't"]),
        ("e-mail email E‑Mail", ["email", "email", "email"]),
        ("a dupli-\n  cate, a dupli\u00ad\r\ncate, a dupli\u00adcate", ["a", "duplicate"] * 3),
        ("pages 5-\n7, item -\nnext", ["pages", "5", "7", "item", "next"]),
        ("ﬁle Ｆｉｌｅ", ["file", "file"]),
        ("nai\u0308ve naïve", ["naïve", "naïve"]),
        (
            "近似重複 abcの文書、2020年",
            ["近", "似", "重", "複", "abc", "の", "文", "書", "2020", "年"],
        ),
        ("ที่นี่", ["ที่", "นี่"]),
        ("版本v2发布", ["版", "本", "v2", "发", "布"]),
        ("中-文 a-中 x-\n中", ["中", "文", "a", "中", "x", "中"]),
        ("ﾊﾞｽ", ["バ", "ス"]),
        ("a\ud800b\U0010ffffc", ["a", "b", "c"]),
        ("ze\u200bro", ["zero"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text).folded == expected


def test_offsets_point_into_the_original() -> None:
    text = "\ufeff“Dupli\u00ad\ncates”, naïve 近似!"
    result = words(text)
    assert [text[start:end] for start, end in zip(result.starts, result.ends, strict=True)] == [
        "Dupli\u00ad\ncates",
        "naïve",
        "近",
        "似",
    ]


@given(ANY_TEXT)
def test_any_text_has_words_in_order_that_stand_on_their_own(text: str) -> None:
    result = words(text)
    ends = [0, *result.ends.tolist()]
    for word, end_before, start, end in zip(
        result.folded, ends, result.starts.tolist(), result.ends.tolist(), strict=False
    ):
        assert end_before <= start < end <= len(text)
        assert words(text[start:end]).folded == [word]


@given(
    st.lists(st.from_regex(r"[A-Za-z]{1,8}|[0-9]{1,4}", fullmatch=True)),
    st.sampled_from([" ", "\n", ", ", " — ", ".  ", "\u3000"]),
)
def test_separators_and_case_change_nothing(runs: list[str], separator: str) -> None:
    assert words(separator.join(runs)).folded == [word.lower() for word in runs]


@given(st.lists(st.sampled_from("abcd")), st.lists(st.sampled_from("abcd")), st.integers(1, 6))
def test_grams_are_equal_exactly_where_the_words_are(
    first: list[str], second: list[str], width: int
) -> None:
    texts = (words(" ".join(first)), words(" ".join(second)))
    numbers = [
        number for runs in number_runs(*shared_numbers(*texts), width) for number in runs.tolist()
    ]
    folded = [
        tuple(text[place : place + width])
        for text in (first, second)
        for place in range(len(text) - width + 1)
    ]
    assert len(set(zip(numbers, folded, strict=True))) == len(set(numbers)) == len(set(folded))


def test_grams_of_a_large_vocabulary_do_not_overflow() -> None:
    first, second = (
        np.array([number, 0, 0, 0, 2**16 - 1]) for number in (1, 2)
    )  # 2**16 words: five make 80 bits
    assert len(set(np.concatenate(number_runs(first, second, 5)).tolist())) == 2
    text = words(" ".join(f"w{place}" for place in range(5000)))
    runs, again = number_runs(*shared_numbers(text, text), 12)
    assert runs.tolist() == again.tolist()
    assert len(set(runs.tolist())) == 5000 - 11


@given(ANY_TEXT)
def test_words_of_ascii_are_folded_apart_from_others_as_all_together(text):
    found = words(text)
    spans = zip(found.starts.tolist(), found.ends.tolist(), strict=True)
    spellings = list(dict.fromkeys(text[start:end] for start, end in spans))
    assert _fold(spellings) == _fold_joined(spellings, _SEPARATOR)


@given(
    st.lists(
        st.sampled_from(
            ["http://a.b/c", "www.", "a@b.co", "@", "](c.md)", 'href="', '"', "://", *"\n\r xA.-"]
        ),
        max_size=14,
    ).map("".join)
)
def test_no_address_goes_on_in_the_next_line(text: str) -> None:
    source = FactSource(text, words(text))
    for position in range(len(source.starts)):
        of_line = source._line_of(position).addresses
        assert of_line.get(position) == source.addresses.get(position)
