"""The words of a full-text query."""

from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_library import library, rows

from indexer.errors import UsageError
from indexer.searching.search import search
from indexer.stores.query_syntax import SearchWords, Term, parse_query


def written(words):
    """Return parsed words in a canonical spelling."""
    required = [f"+{'|'.join(map(str, group))}" for group in words.required]
    return " ".join([*required, *map(str, words.optional), *(f"-{t}" for t in words.excluded)])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ""),
        ("  \n", ""),
        ("one  two", '"one" "two"'),
        ('a"b c"d', '"a" "b c" "d"'),
        ('"" "-" x', '"x"'),
        ('"open words', '"open" "words"'),
        ('+"open words', '+"open" "words"'),
        ("x X x", '"x"'),
        ("½ ² ٣ 模", '"½" "²" "٣" "模"'),
        ("a\ud800", '"a"'),
        ("a\ud800b", '"a\ufffdb"'),
        ("+a b -c d*", '+"a" "b" d* -"c"'),
        ("re-open C++ 50% 'tis", '"re-open" "C" "50" "tis"'),
        ("a +b|c| d", '+"b"|"c"|"d" "a"'),
        ("+a | +b", '+"a"|"b"'),
        ("+a | -b", '+"a" -"b"'),
        ("-a|b", '-"a" -"b"'),
        ("| + - * a", '"a"'),
        ("a | | b", '"a" "b"'),
        ("+a a", '+"a"'),
        ("a* a", 'a* "a"'),
        ("+a|b b +a|b", '+"a"|"b"'),
        ("--a +-b -(c", '"a" "b" "c"'),
        ("a,* b*, c** *d", '"a" "b" c* "d"'),
        ('"a b"* "c*"', '"a b" "c"'),
        ("“a b” „c”", '"a b" "c"'),
        ("x+y x -y", '"x+y" "x" -"y"'),
        ("ที่*", "ที่*"),
    ],
)
def test_queries(query, expected):
    assert written(parse_query(query)) == expected


def test_one_word_is_one_word_of_the_index():
    assert [Term(text).is_one_word for text in ("ferry", "ที่", "模", "ภาษา", "é", "a1")] == [
        True, True, True, False, True, True,
    ]  # fmt: skip
    for text in ("re-open", "snake_case", "模型", "GPT模", "two words", "3.14"):
        assert not Term(text).is_one_word, text


def test_what_only_adds_to_the_rank_is_left_out():
    assert parse_query("+a b -c").without_rank() == parse_query("+a -c")
    assert parse_query("a b -c").without_rank() == parse_query("a b -c")
    assert parse_query("- |") == SearchWords()


def test_too_many_words():
    with pytest.raises(UsageError, match="400"):
        parse_query(" ".join(f"-w{place}" for place in range(401)))


@given(st.text(alphabet='ab +-|*"“ 模ที่½\0\ud800', max_size=60))
def test_any_text_is_a_query_and_its_canonical_spelling_is_the_same_query(text):
    words = parse_query(text)
    assert parse_query(written(words)) == words


def test_a_search_says_what_syntax_it_ignores():
    with closing(library(rows({"a": "the ferry to the harbour"}))) as store:
        note = "no operators in a search here, so that their words are searched for: "
        for query, ignored in (
            ('"ferry harbour"~3', "~3"),
            ("*bour ferry", "*bour"),
            ("(ferry AND harbour)", "(ferry, AND, harbour)"),
            ("ferry~ harbour^2", "ferry~, harbour^2"),
            ("+ferry -quay harb* C++ a~b and 50% snake_case", None),
        ):
            notes = [text for text in search(store, query).notes if text.startswith(note)]
            assert notes == ([note + ignored] if ignored else [])
