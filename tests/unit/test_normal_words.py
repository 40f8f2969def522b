"""The words that measures compare: equal exactly where normalised texts are, with their places."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from indexer.comparing import words
from indexer.comparing.measures import ComparedText, measure_pair
from indexer.comparing.words import folded_words, normal_words
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.fingerprinting.normalise import (
    UNASSIGNED,
    UNSPACED,
    codepoint_classes,
    encode,
    normalise_v2,
)
from indexer.grouping.words_in_common import SequenceCache
from indexer.recipe import DEFAULT

TRICKY = (
    "aAsßẞﬁf½1٠０.,:-\u2010\u2011'’_ \t\n\r\u00a0\u00ad\u200b\u0301\u0323é…㏂\u0378"
    "近がカﾊﾞｽ한\u1100\u1161\u11a8ที่\u09c7\u09be"
)
JOINING = "aB12-'._,:/ %\n\r\té"
texts = st.text(st.sampled_from(TRICKY) | st.characters(exclude_categories=()), max_size=24)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("... --- !?", []),
        ("1,000 or 1.000", ["1", "000", "or", "1", "000"]),
        ("STRASSE Straße", ["strasse", "strasse"]),
        ("e-mail, re-\n  plies don’t", ["e", "mail", "replies", "don", "t"]),
        ("ﬁle Ｆｉｌｅ", ["file", "file"]),
        ("近似重複 x 2020年", ["近", "似", "重", "複", "x", "2020", "年"]),
        ("ที่นี่", list("ที่นี่")),
        ("1½ m", ["11", "2", "m"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert normal_words(text).folded == folded_words(text) == expected


@given(texts)
@example("re-\n\u00adplies -\n- \ud800近a似")
def test_words_alone_are_those_that_have_places(text: str) -> None:
    assert folded_words(text) == normal_words(text).folded
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "_kernel", None)
        assert folded_words(text) == normal_words(text).folded


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from([*"aB12-'._,:/ %\n\r\té", "-\n", "- \r\n "]), max_size=14).map("".join)
)
def test_the_kernel_reads_words_as_the_definition(text: str) -> None:
    read = normal_words(text), words.words(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "_kernel", None)
        defined = normal_words(text), words.words(text)
    for of_kernel, expected in zip(read, defined, strict=True):
        assert of_kernel.vocabulary == expected.vocabulary
        for name in ("numbers", "starts", "ends"):
            assert np.array_equal(getattr(of_kernel, name), getattr(expected, name))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("“Dupli\u00adcate”, re-\n peat", ["Dupli\u00adcate", "re-\n peat"]),
        ("the cafe\u0301 (Straße)", ["the", "cafe\u0301", "Straße"]),
        ("a½ b\u00a0ﬁle", ["a½", "½", "b", "ﬁle"]),
        ("\ufeff（全）ﾊﾞｽ\u200bx", ["全", "ﾊﾞ", "ｽ", "x"]),
        ("\u1112\u1161\u11ab글", ["\u1112\u1161\u11ab글"]),
    ],
)
def test_places_are_those_of_the_text_as_it_is_written(text: str, written: list[str]) -> None:
    words = normal_words(text)
    spans = zip(words.starts.tolist(), words.ends.tolist(), strict=True)
    assert [text[start:end] for start, end in spans] == written


@given(texts)
@example("\u0301" * 70 + "e" + "\u0301" * 40)
@example("x\u0378\u0301 y")
@example("\ud800a ½\ud800")
def test_the_words_put_together_are_the_normalised_text(text: str) -> None:
    words = normal_words(text).folded
    joined = "".join(words[:1])
    for before, word in pairwise(words):
        joined += word if is_unspaced(before[-1]) or is_unspaced(word[0]) else f" {word}"
    assert joined == normalise_v2(text)
    assert len(words) == fingerprint(text, DEFAULT).words


def is_unspaced(char: str) -> bool:
    return bool(codepoint_classes()[ord(char)] & UNSPACED)


@given(texts)
def test_places_rise_and_hold_their_words(text: str) -> None:
    words = normal_words(text)
    before = (0, 0)
    for word, start, end in zip(words.folded, words.starts, words.ends, strict=True):
        assert before[0] <= start < end <= len(text)
        assert before[1] <= end
        before = (start, end)
        if not any(codepoint_classes()[encode(word)] & UNASSIGNED):
            assert word in normal_words(text[start:end]).folded


def rewritten(text: str) -> str:
    """Return a text with the same normalised text, spelled otherwise."""
    return text.replace(" ", " \n").replace("ss", "ß").replace(",", ".").upper()


@given(texts, texts)
@example("近 x", "近x")
@example("a b", "ab")
def test_lcs_is_1_exactly_where_the_normalised_texts_are_equal(first: str, second: str) -> None:
    for other in (second, rewritten(first), first.replace(" ", "")):
        a, b = ComparedText(first, DEFAULT), ComparedText(other, DEFAULT)
        is_same = normalise_v2(first) == normalise_v2(other) != ""
        assert (measure_pair("lcs", a, b).similarity == 1) == is_same
        contents = [first, other]
        cache = SequenceCache(lambda numbers: [contents[number] for number in numbers], 1 << 20)  # noqa: B023
        assert (cache.measure_pairs([(0, 1)], 0.5)[0] == 1) == is_same


@given(st.text(st.characters(max_codepoint=0x7F), max_size=40))
@example("a-\n b_c\x00d-\r\n\te")
def test_words_of_ascii_are_those_of_the_same_text_beside_other_characters(text: str) -> None:
    alone, beside = normal_words(text), normal_words(text + " …")
    assert alone.vocabulary == beside.vocabulary
    for name in ("numbers", "starts", "ends"):
        assert getattr(alone, name).tolist() == getattr(beside, name).tolist()
