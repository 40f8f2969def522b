"""The words of a full-text query."""

import re
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_library import library, rows

from indexer.errors import QueryError, UsageError
from indexer.searching.search import search
from indexer.stores.query_syntax import (
    And,
    FieldValue,
    Near,
    Not,
    Or,
    SearchWords,
    Term,
    TitleTerm,
    highlighted_terms,
    lower_case_operators,
    parse_query,
)


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
    with pytest.raises(UsageError, match="401 words and values of fields"):
        parse_query(" OR ".join(f"from:{number}" for number in range(401)), "all")


@given(st.text(alphabet='ab +-|*"“ 模ที่½\0\ud800', max_size=60))
def test_any_text_is_a_query_and_its_canonical_spelling_is_the_same_query(text):
    words = parse_query(text)
    assert parse_query(written(words)) == words


def test_a_search_says_what_syntax_it_ignores():
    with closing(library(rows({"a": "the ferry to the harbour"}))) as store:
        note = "not operators in this search, so searched for as words: "
        for query, ignored in (
            ('"ferry harbour"~3', "~3"),
            ("*bour ferry", "*bour"),
            ("(ferry AND harbour)", "(ferry, AND, harbour)"),
            ("ferry~ harbour^2", "ferry~, harbour^2"),
            ("+ferry -quay harb* C++ a~b and 50% snake_case", None),
        ):
            notes = [text for text in search(store, query).notes if text.startswith(note)]
            assert notes == ([note + ignored] if ignored else [])


def test_words_that_must_all_match():
    a, b, c, d = map(Term, "abcd")
    start = Term("a", is_prefix=True)
    senders = FieldValue("from", "x"), FieldValue("from", "y z")
    path = FieldValue("path", "C:\\x")
    for query, expected in (
        ("a b", SearchWords(((a,), (b,)))),
        ("a AND b", SearchWords(((a,), (b,)))),
        ("a|b c", SearchWords(((a, b), (c,)))),
        ("(a OR b) c", SearchWords(((a, b), (c,)))),
        ("+a -b NOT c", SearchWords((), (a,), (b, c))),
        ("a & b .", SearchWords(((a,), (b,)))),
        ("subject:a*", SearchWords(conditions=(TitleTerm(start),), ranking=(start,))),
        ("a|b w/5 c", SearchWords(conditions=(Near((a, b), (c,), 5),), ranking=(a, b, c))),
        ("(a b) OR NOT c", SearchWords(conditions=(Or((And((a, b)), Not(c))),), ranking=(a, b))),
        ('from:(x OR "y z")', SearchWords(conditions=(Or(senders),))),
        ("path:C:\\x Re: d", SearchWords(((Term("Re"),), (d,)), conditions=(path,))),
        ("http://a", SearchWords((), (Term("http://a"),))),
        ("“a b”", SearchWords((), (Term("a b"),))),
        ("NOT NOT a", SearchWords((), (a,))),
        ("NOT -a", SearchWords((), (a,))),
        ("NOT " * 5_001 + "a", SearchWords(excluded=(a,))),
        ('"a from:x d"', SearchWords((), (Term("a from:x d"),))),
        (" ", SearchWords()),
    ):  # fmt: skip
        assert parse_query(query, "all") == expected, query


@pytest.mark.parametrize(
    ("query", "column", "fault"),
    [
        ("a AND b OR c", 8, "need parentheses"),
        ("a (b", 2, "not closed"),
        ("a) b", 1, "unmatched closing parenthesis"),
        ('a "b', 2, "quote is not closed"),
        ("a AND", 5, "ends too early"),
        ("OR a", 0, "not OR"),
        ("a ()", 3, "not )"),
        ("a w/5 (b AND c)", 6, "a distance is between words"),
        ("from:a w/5 b", 0, "a distance is between words"),
        ("a w/0 b", 2, "1 to 1000"),
        ("a w/2 b w/3 c", 8, "between two words"),
        ("a sender:b", 2, "no field is called sender"),
        ("a from: b", 7, "without a blank"),
        ("type:film", 5, "'film' is no type"),
        ("sent:2020-02-30", 5, "sent: is a day such as 2020-01-31"),
        ("date:..", 5, "date: is a day"),
        ("*bour", 0, "a star follows"),
        ("a wom?n", 5, "stands for no letter"),
        ("a w/x b", 2, "a number of words follows w/"),
        ("(" * 51 + "a" + ")" * 51, 50, "more than 50 parentheses"),
        ("a OR " + "(a AND (a OR " * 6 + "a" + "))" * 6, 12, "more than 10 conditions"),
        ("a w/" + "9" * 5_000 + " b", 2, "1 to 1000"),
        ("date:2020-03..2020-01", 5, "not after its last"),
        ("from:" + "x" * 201, 5, "up to 200"),
    ],
)
def test_an_error_says_where_the_query_is_wrong(query, column, fault):
    with pytest.raises(QueryError, match=re.escape(fault)) as raised:
        parse_query(query, "all")
    assert raised.value.column == column
    assert str(raised.value).endswith(f"\n  {query}\n  {' ' * column}^")


def test_fields_limit_ranked_words():
    words = parse_query('ferry boat -label:"not hot" from:ann* AND')
    conditions = Not(FieldValue("label", "not hot")), FieldValue("from", "ann", is_prefix=True)
    assert words.conditions == conditions
    assert [term.text for term in words.optional] == ["ferry", "boat", "AND"]
    assert parse_query('"mail from:ann" boat') == SearchWords(
        optional=(Term("mail from:ann"), Term("boat"))
    )
    with pytest.raises(QueryError, match="'film' is no type"):
        parse_query("ferry type:film")


def test_words_to_highlight_and_operators_in_lower_case():
    query = "from:ann ((ferry w/5 boat*) OR NOT quay)"
    assert highlighted_terms(query) == (Term("ferry"), Term("boat", is_prefix=True))
    assert highlighted_terms("ferry OR") == (Term("ferry"), Term("OR"))
    assert lower_case_operators('a and "b or c" OR not') == ("and", "not")


@given(st.text(alphabet='ab +-|*"()ANDORw/5:fromtype 模½', max_size=40))
def test_any_text_is_a_query_or_an_error_in_it(text):
    try:
        parse_query(text, "all")
    except QueryError as error:
        assert 0 <= error.column <= len(text)
