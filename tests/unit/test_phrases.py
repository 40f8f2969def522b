"""Text split for a full-text index."""

import sys
import unicodedata

import pytest

from indexer.fingerprinting.normalise import END, UNASSIGNED, UNSPACED, codepoint_classes, ranges
from indexer.stores import query_syntax
from indexer.wording import well_formed

PINNED = unicodedata.unidata_version


@pytest.mark.skipif(PINNED < "13.0.0", reason="needs Unicode 13.0 or newer")
def test_marks_are_those_of_unicode():
    bits = codepoint_classes()
    unspaced = [
        code for code in range(END) if bits[code] & UNSPACED and not bits[code] & UNASSIGNED
    ]
    marks = [code for code in unspaced if unicodedata.category(chr(code))[0] == "M"]
    ranges_of_marks = [
        code for first, last in ranges(query_syntax._MARKS) for code in range(first, last + 1)
    ]
    assert ranges_of_marks == marks


def test_the_quick_test_misses_no_unspaced_letter():
    bits = codepoint_classes()
    for code in range(0x80, sys.maxunicode + 1):
        if bits[code] & UNSPACED:
            assert query_syntax.separate_characters(f"é{chr(code)}") != f"é{chr(code)}", hex(code)


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("", ""),
        ("plain ascii", "plain ascii"),
        ("žluťoučký “kůň” — ½", "žluťoučký “kůň” — ½"),
        ("我们 GPT", " 我 们  GPT"),
        ("ที่นี่", " ที่ นี่ "),
        ("ひらカナ", " ひ ら カ ナ "),
        ("a\u0e34b", "a \u0e34 b"),
        ("한국어", "한국어"),
    ],
)
def test_letters_are_set_apart_with_their_marks(text, apart):
    assert query_syntax.separate_characters(text) == apart


def test_well_formed():
    assert well_formed("\ud83d\ude00 é") == "\ufffd\ufffd é"
    text = "é 模 \U0001f600"
    assert well_formed(text) is text
