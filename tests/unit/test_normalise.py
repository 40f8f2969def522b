"""Normalisation of `default_v1` and `default_v2`: each rule, Python's own tables as an oracle,
hostile text.
"""

import re
import unicodedata
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from indexer.fingerprinting import unicode13
from indexer.fingerprinting.normalise import (
    BLANK,
    IGNORABLE,
    SEPARATOR,
    UNASSIGNED,
    codepoint_classes,
    composed_codes,
    count_words,
    decode,
    encode,
    has_letters,
    normalise,
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
TRICKY = "e\u0301\u0323\u0308\uac00\u1100\u1161\u11a8-\n\r\t ,x \u00ad\u03a3\u0130ﬁßẞ近が。ไ"
BROADLY = st.text(st.one_of(ASSIGNED, st.sampled_from(TRICKY)), max_size=28)
ANYTHING = st.text(st.characters(exclude_categories=()))


def _composed(text: str) -> str:
    """Compose and lower with the running Python's tables.

    Right for what 13.0 assigns, with short runs of marks.
    """
    text = unicodedata.normalize("NFKC", text)
    return "".join({"\u0130": "i", "\u03c2": "\u03c3"}.get(c, c.lower()) for c in text)


def plainly(text: str) -> str:
    """Normalise by `default_v1`: blanks are dropped, punctuation stays."""
    text = "".join(c for c in text if not CLASSES[ord(c)] & IGNORABLE)
    text = _composed(re.sub("[-\u2010](?=[ \t]*[\r\n])", "", text))
    return "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Zs", "Zl", "Zp"))


def plainly_v2(text: str) -> str:
    """Normalise by `default_v2`: separators become one blank, none beside unspaced scripts."""
    text = "".join(c for c in text if not CLASSES[ord(c)] & IGNORABLE)
    text = _composed(re.sub("[-\u2010][ \t]*(\r\n|\r|\n)[ \t]*", "", text)).replace("ß", "ss")
    text = "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in text)
    return re.sub(f" ?({UNSPACED}) ?", r"\1", " ".join(text.split()))


@pytest.mark.parametrize(
    ("actual", "expected"), [(normalise, plainly), (normalise_v2, plainly_v2)], ids=["v1", "v2"]
)
@given(text=BROADLY)
@example(text="Ｎear-\n Dupli\u00adcates;  ﬁnd \u03a3\u03c2: Straße 近 似")
def test_as_the_running_python_does_for_what_13_assigns(
    actual: Callable[[str], str], expected: Callable[[str], str], text: str
) -> None:
    assert actual(text) == expected(text)


@given(
    BROADLY,
    st.characters(exclude_categories=()).filter(lambda c: CLASSES[ord(c)] & UNASSIGNED),
    BROADLY,
)
def test_what_13_does_not_assign_separates_and_stays(left: str, middle: str, right: str) -> None:
    if IGNORABLE & CLASSES[ord(middle)]:
        return
    assert normalise(left + middle + right) == normalise(left + middle) + normalise(right)
    assert normalise(middle) == middle


@given(ANYTHING)
def test_any_text_is_taken(text: str) -> None:
    normal = normalise(text)
    normal.encode()
    assert not any(CLASSES[ord(c)] & BLANK for c in normal)
    normal = normalise_v2(text)
    normal.encode()
    assert normal == normal.strip()
    separators = [c for c in normal if CLASSES[ord(c)] & SEPARATOR]
    assert set(separators) <= {" "}
    assert "  " not in normal


@given(ANYTHING)
def test_words_are_what_blanks_and_scripts_without_spaces_bound(text: str) -> None:
    codes = normalised_codes_v2(text)
    starts = word_starts(codes)
    spaced = re.sub(UNSPACED, r" \g<0> ", decode(codes))
    assert len(starts) == len(spaced.split())
    assert np.all(codes[starts] != 0x20)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Near Duplicates", "nearduplicates"), ("dupli-\ncates", "duplicates"),
        ("dupli- \t\r\ncates", "duplicates"),
        ("dupli\u2010\rcates", "duplicates"), ("dupli\u2011\ncates", "dupli\u2010cates"),
        ("a-b - c-", "a-b-c-"),
        ("a--\nb", "a-b"), ("-\u200b\u00ad \u2060\nx", "x"), ("soft\u00adhyphen", "softhyphen"),
        ("a\u202eb\u2069", "ab"), ("ﬁ ﬀ Ĳ", "fiffij"),
        ("２０２４　Ａ", "2024a"), ("ｶﾞ", "ガ"), ("\u1112\u1161\u11ab", "한"), ("é", "e\u0301"),
        ("ΣΊΣΥΦΟΣ Σίσυφος", "σίσυφοσσίσυφοσ"), ("İIıi", "iiıi"), ("ẞß", "ßß"), ("\u212b\u212a",
        "åk"),
        ("a\x00b\x7fc\x85d", "abcd"), ("a\ud800b", "a\ufffdb"),
        ("\U00010400", "\U00010428"), ("Ⅷ ²", "viii2"),
    ],
)  # fmt: skip
def test_rule(text: str, normal: str) -> None:
    assert normalise(text) == unicodedata.normalize("NFC", normal)


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
def test_rule_of_v2(text: str, normal: str) -> None:
    assert normalise_v2(text) == unicodedata.normalize("NFC", normal)


@pytest.mark.parametrize("marks", [29, 30, 31, 59, 60, 61])
def test_a_barrier_stands_after_every_thirtieth_mark(marks: int) -> None:
    text = "e" + "\u0301" * marks + "\u0323"
    barriers, rest = divmod(marks + 1, 30)
    pieces = (
        [
            "e" + text[1:31],
            *(text[1 + 30 * n : 31 + 30 * n] for n in range(1, barriers)),
            text[len(text) - rest :],
        ]
        if barriers
        else [text]
    )
    assert normalise(text) == "".join(unicodedata.normalize("NFKC", piece) for piece in pieces)


@pytest.mark.parametrize(
    ("run", "each"),
    [
        ("\u0301\u0323", 2), ("\u0f73\u0301", 3), ("e\u0323\u0301", 2), ("\u0378", 1),
        ("\u0378\u0301", 2),
        ("-", 1), ("- ", 1), ("-\u200b", 1),
    ],
)  # fmt: skip
def test_hostile_runs_end(run: str, each: int) -> None:
    """Each run leaves as many code points as it has without its blanks; the hyphen before the line
    end goes.
    """
    times = 200_000 // len(run)
    assert len(normalise("é" + run * times + "\n")) == 1 + each * times - run.startswith("-")


@pytest.mark.parametrize("run", ["\u0301\u0323", "e\u0323\u0301", "- ", "-\n", "-\u200b", "\u0378"])
def test_hostile_runs_end_in_v2(run: str) -> None:
    assert len(normalise_v2("é" + run * (100_000 // len(run)) + "\nx")) < 200_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0), (" \n", 0), ("one", 1), (" one\ttwo\x00three\u00a0four\u2028five ", 5),
        ("near-\nduplicates", 2),
        ("soft\u00adhyphen", 1), ("zero\u200bwidth", 1), ("近似重複", 4), ("近似 x重y", 5),
        ("ไทย", 3),
        ("カタ カナ", 4), ("한국어 단어", 2),
        ("... !", 2), ("\ud800 \udc00", 2),
    ],
)  # fmt: skip
def test_words(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("text", "letters"),
    [("", False), ("12+3=€", False), ("½٣", False), ("x1", True), ("近", True), ("\u0301", True)],
)
def test_letters(text: str, letters: bool) -> None:
    assert has_letters(encode(text)) is letters


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
