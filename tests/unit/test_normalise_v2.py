"""Normalisation `default_v2`: each rule, Python's own tables as an oracle, hostile text."""

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from indexer.fingerprinting import unicode13
from indexer.fingerprinting.normalise import (
    IGNORABLE,
    SEPARATOR,
    UNASSIGNED,
    codepoint_classes,
    composed_codes,
    decode,
    normalise_v2,
    normalised_codes_v2,
    ranges,
    value_symbols,
    word_starts,
)

CLASSES = codepoint_classes()
RANGES = ranges(unicode13.UNSPACED)
UNSPACED = "[" + "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in RANGES) + "]"
ASSIGNED = st.characters(exclude_categories=["Cs"]).filter(
    lambda c: not CLASSES[ord(c)] & UNASSIGNED
)
BROADLY = st.text(
    st.one_of(
        ASSIGNED,
        st.sampled_from("e\u0301\u0323\uac00\u1100-\n\r\t ,x \u00ad\u03a3\u0130ﬁßẞ近が。ไ"),
    ),
    max_size=28,
)


def plainly(text: str) -> str:
    """Normalise with the running Python's tables.

    Right for what 13.0 assigns, with short runs of marks.
    """
    text = "".join(c for c in text if not CLASSES[ord(c)] & IGNORABLE)
    text = unicodedata.normalize("NFKC", re.sub("[-\u2010][ \t]*(\r\n|\r|\n)[ \t]*", "", text))
    text = "".join({"\u0130": "i", "\u03c2": "\u03c3"}.get(c, c.lower()) for c in text)
    text = text.replace("ß", "ss")
    text = "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in text)
    return re.sub(f" ?({UNSPACED}) ?", r"\1", " ".join(text.split()))


@given(BROADLY)
@example("Ｎear-\n Dupli\u00adcates;  ﬁnd \u03a3\u03c2: Straße 近 似")
def test_as_the_running_python_does_for_what_13_assigns(text: str) -> None:
    assert normalise_v2(text) == plainly(text)


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_taken(text: str) -> None:
    normal = normalise_v2(text)
    normal.encode()
    assert normal == normal.strip()
    separators = [c for c in normal if CLASSES[ord(c)] & SEPARATOR]
    assert set(separators) <= {" "}
    assert "  " not in normal


@given(st.text(st.characters(exclude_categories=())))
def test_words_are_what_blanks_and_scripts_without_spaces_bound(text: str) -> None:
    codes = normalised_codes_v2(text)
    starts = word_starts(codes)
    spaced = re.sub(UNSPACED, r" \g<0> ", decode(codes))
    assert len(starts) == len(spaced.split())
    assert np.all(codes[starts] != 0x20)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Near Duplicates", "near duplicates"), ("dupli-\ncates", "duplicates"),
        ("dupli\u2010 \t\r\n  cates", "duplicates"), ("dupli\u2011\ncates", "dupli cates"),
        ("a-b - c-", "a b c"), ("a-\n\nb", "a b"), ("-\n-\nx", "x"),
        ("Title\n-----\ntext", "title text"),
        ("> quoted\n> text", "quoted text"), ("| a | b |\n|---|---|", "a b"),
        ("soft\u00adhyphen", "softhyphen"), ("don't", "don t"), ("snake_case", "snake case"),
        ("STRASSE Straße ẞ", "strasse strasse ss"), ("3.5 -5 1,000", "3 5 5 1 000"),
        ("近似 重複、12 月 x y", "近似重複12月x y"), ("二〇二六年", "二〇二六年"),
        ("한국어 단어", "한국어 단어"),
        ("\u0378 x", "\u0378 x"), ("\ue000x\ud800y", "x y"), ("👍", ""), (" ", ""), ("", ""),
    ],
)  # fmt: skip
def test_rule(text: str, normal: str) -> None:
    assert normalise_v2(text) == unicodedata.normalize("NFC", normal)


@pytest.mark.parametrize("run", ["\u0301\u0323", "e\u0323\u0301", "- ", "-\n", "-\u200b", "\u0378"])
def test_hostile_runs_end(run: str) -> None:
    assert len(normalise_v2("é" + run * (100_000 // len(run)) + "\nx")) < 200_000


def signs_slowly(text: str) -> str:
    """Return the symbols of value of a text by regular expressions, line by line."""
    composed = decode(composed_codes(text))
    value = "[$¢£¤¥\u20a0-\u20bf]"
    word = "[^\\W_]"
    spaced = f"(?!{UNSPACED}){word}"
    found = {match.start(): match[0] for match in re.finditer(value, composed)}
    for match in re.finditer("[#%+<=>°±×÷‰≈≠≤≥]", composed):
        line = re.split("[\r\n]", composed[: match.start()])[-1]
        if re.search(word, line) or re.match("[0-9]", composed[match.end() :]):
            found[match.start()] = match[0]
    minus = f"(?<!{spaced})[-\u2013\u2212](?=[0-9]|{value})"
    found |= {match.start(): "-" for match in re.finditer(minus, composed)}
    return "".join(
        f"{found[start]}{len(word_starts(normalised_codes_v2(composed[:start])))}"
        for start in sorted(found)
    )


PARTS = ["-", "\u2212", "\u2013", "+", "<", ">", "=", "%", "$", "€", "5", "a", "近", " ", "\n", "é"]


@given(st.lists(st.sampled_from(PARTS), max_size=40).map("".join))
@example("> 7 < 8, -500 or 5-6 in C++; -$12 and \u2013€3\n=====\n+5 近-5")
def test_signs_as_regular_expressions_find_them(text: str) -> None:
    assert value_symbols(composed_codes(text)) == signs_slowly(text)


@pytest.mark.parametrize(
    ("a", "b"),
    [("a gain of 500", "a gain of -500"), ("a < b", "a > b"), ("made in C", "made in C++"),
     ("5 % of it", "5 of it"), ("costs €5", "costs $5"), ("-5 and 5", "5 and -5")],
)  # fmt: skip
def test_signs_tell_texts_of_the_same_words_apart(a: str, b: str) -> None:
    assert normalise_v2(a) == normalise_v2(b)
    assert value_symbols(composed_codes(a)) != value_symbols(composed_codes(b))


@pytest.mark.parametrize(
    "marked",
    ["> near duplicates", "+ near duplicates", "# near duplicates", "= near duplicates",
     "near-duplicates", "near - duplicates", "near\n====\nduplicates", "– near – duplicates"],
)  # fmt: skip
def test_marks_of_layout_are_no_signs(marked: str) -> None:
    assert value_symbols(composed_codes(marked)) == ""
