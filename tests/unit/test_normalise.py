"""Normalisation `default_v1`: each rule, Python's own tables as an oracle, hostile text."""

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from indexer.fingerprinting.normalise import (
    BLANK,
    IGNORABLE,
    UNASSIGNED,
    codepoint_classes,
    count_words,
    encode,
    has_letters,
    normalise,
)

CLASSES = codepoint_classes()
ASSIGNED = st.characters(exclude_categories=["Cs"]).filter(
    lambda c: not CLASSES[ord(c)] & UNASSIGNED
)
BROADLY = st.text(
    st.one_of(
        ASSIGNED,
        st.sampled_from("e\u0301\u0323\u0308\uac00\u1100\u1161\u11a8-\n \u00ad\u03a3\u0130ﬁ"),
    ),
    max_size=28,
)


def plainly(text: str) -> str:
    """Normalise with the running Python's tables.

    Right for what 13.0 assigns, with short runs of marks.
    """
    text = "".join(c for c in text if not CLASSES[ord(c)] & IGNORABLE)
    text = re.sub("[-\u2010](?=[ \t]*[\r\n])", "", text)
    text = unicodedata.normalize("NFKC", text)
    text = "".join({"\u0130": "i", "\u03c2": "\u03c3"}.get(c, c.lower()) for c in text)
    return "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Zs", "Zl", "Zp"))


@given(BROADLY)
@example("Ｎear-\n Dupli\u00adcates  ﬁnd \u03a3\u03c2")
def test_as_the_running_python_does_for_what_13_assigns(text: str) -> None:
    assert normalise(text) == plainly(text)


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


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_taken(text: str) -> None:
    normal = normalise(text)
    normal.encode()
    assert not any(CLASSES[ord(c)] & BLANK for c in normal)


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
