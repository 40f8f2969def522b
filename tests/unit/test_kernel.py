"""The compiled kernel compared with the definition, bit for bit, on arbitrary strings."""

import dataclasses
import os
import re
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.fingerprinting.fingerprint import (
    SYMBOL_IN_NUMBER,
    Fingerprints,
    define,
    fingerprints,
    kernel_name,
    number_symbols,
)
from indexer.fingerprinting.hashing import gram_hashes
from indexer.fingerprinting.normalise import encode
from indexer.recipe import DEFAULT_V1, DEFAULT_V2, DEFAULT_V3, Recipe

pytestmark = pytest.mark.skipif(
    kernel_name() != "rust" and os.environ.get("NEARFOLD_REQUIRE_KERNEL", "") in {"", "0"},
    reason="the kernel is not built; with a Rust toolchain, pip install -e . builds it",
)

SEPARATED = dataclasses.replace(DEFAULT_V1, normaliser="default_v2")
MARKS = "\u0301\u0323\u0345\u05b0\u064b\u0f71\u0f72\u0f73\u0344\u3099\u0338\u1ac1"
PIECES = [
    "abc -\n\r\t .,12", "éÀß ﬁΣς\u0130K", MARKS, "가각\u1100\u1161\u11a8ㅎ", "近似、ｶﾞ\u3099〇",
    "\u200b\u00ad\ufeff\u2060\ufe0f",
    "\ud800\udbff\udc00\udfff", "\x00\x01\x7f\x85\u2028\u3000",
    "\U0001d400\U0001f600\U0002f800\U000e0100\U00010400",
    "\u0378\u1c89\U0001df00\uffff\U0010ffff\ue000",
    "-\u2013\u2212+<=>#%$€\u20bf°× a5\n\r\u0338\u200b近é",
]  # fmt: skip
ANY = st.characters(exclude_categories=())
RUNS = st.builds(
    lambda c, times: c * times, st.sampled_from(MARKS + "a-\u2010 \u200b\ud800"), st.integers(1, 70)
)
TEXTS = st.lists(
    st.one_of(st.text(ANY, max_size=20), RUNS, *(st.text(piece, max_size=12) for piece in PIECES)),
    max_size=12,
).map("".join)

RUN = st.sampled_from(["", "e", "B7", "over the quick brown foxe", "and 3 lazy dogs, all day e"])
HYPHEN = st.sampled_from(["-", "--", "\u2010", "\u00ad", "-\u200b"])
BREAK = st.sampled_from(["\n", "\r\n", "\n ", " \n", "\n\u200b", ""])
NEXT = st.sampled_from(["\u0301", "\u0301\u0323", "x", "é", "近", "\u200b\u0301", "-", " "])
BREAKS = st.lists(st.tuples(RUN, HYPHEN, BREAK, NEXT).map("".join), max_size=5).map("".join)


def differences(texts: list[str], recipe: Recipe = DEFAULT_V1, threads: int = 1) -> list[str]:
    """Return the fields in which kernel and definition differ."""
    compiled, defined = fingerprints(texts, recipe, threads), define(texts, recipe)
    return [
        f.name
        for f in dataclasses.fields(Fingerprints)
        if not _equal(getattr(compiled, f.name), getattr(defined, f.name))
    ]


def differences_by_both(texts: list[str]) -> list[str]:
    """Return the fields in which kernel and definition differ by a default recipe, and by the
    features of the first with the normaliser of the others.
    """
    recipes = (DEFAULT_V1, SEPARATED, DEFAULT_V2, DEFAULT_V3)
    return [name for recipe in recipes for name in differences(texts, recipe)]


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(left, right)
    return bool(left == right)


def recipe(width: int, slots: int, bands: int, blocks: int, least: int) -> Recipe:
    bands = min(bands, slots)
    return dataclasses.replace(
        DEFAULT_V1,
        width=width,
        slots=slots,
        bands=bands,
        rows=slots // bands,
        blocks=blocks,
        min_features=least,
    )


def test_the_kernel_is_there() -> None:
    assert kernel_name() == "rust"


@pytest.mark.long
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TEXTS, max_size=4))
def test_any_text(texts: list[str]) -> None:
    assert differences_by_both(texts) == []


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(st.lists(BREAKS, min_size=1, max_size=4))
def test_words_that_are_divided_at_line_ends(texts: list[str]) -> None:
    assert differences_by_both(texts) == []


@pytest.mark.long
@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from([*"1234 /:-.,a_é", "\u2044", " / ", "12", "\ud800"])).map("".join))
def test_number_symbols_by_kernel_and_by_hand(text: str) -> None:
    found = (match.group() for match in re.finditer(SYMBOL_IN_NUMBER, text, re.ASCII))
    expected = " ".join(number.replace(" ", "").replace("\u2044", "/") for number in found)
    assert number_symbols(text) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("indexer.fingerprinting.fingerprint._kernel", None)
        assert number_symbols(text) == expected


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(TEXTS, max_size=3),
    st.builds(
        recipe,
        st.integers(1, 6),
        st.integers(2, 1024),
        st.integers(1, 300),
        st.integers(0, 64),
        st.integers(0, 40),
    ),
)
def test_any_recipe(texts: list[str], any_recipe: Recipe) -> None:
    assert differences(texts, any_recipe) == []


@settings(max_examples=25, deadline=None)
@given(st.lists(TEXTS, max_size=9), st.integers(0, 5))
def test_any_number_of_threads(texts: list[str], threads: int) -> None:
    assert differences(texts, threads=threads) == []


RARER_BEFORE = [
    pytest.param(text, marks=pytest.mark.slow) for text in ("e", " ", "\u0301", "\u1100", "-")
]


@pytest.mark.long
@pytest.mark.parametrize("before", ["", *RARER_BEFORE], ids=ascii)
def test_every_code_point(before: str) -> None:
    step = 1 << 12
    texts = [
        "".join(before + chr(code) for code in range(start, start + step))
        for start in range(0, 0x110000, step)
    ]
    assert differences_by_both(texts) == []


def test_every_code_point_around_a_line_end() -> None:
    texts = ["".join(f"-{chr(code)}\nab-\n{chr(code)}c" for code in range(0x3100))]
    assert differences_by_both(texts) == []


@pytest.mark.long
@pytest.mark.parametrize(
    "size", [0, 1, 3, 4, 5, 15, 16, 17, 63, 64, 65, 127, 128, 129, 1000, 4096, 70_000]
)
def test_ascii_of_every_size(size: int) -> None:
    rng = np.random.default_rng(size)
    signs = b"ab -\n+$<59>=-- "
    for alphabet in (bytes(range(128)), b"ab -\n", b"the quick brown fox-\r\n0123", signs):
        text = bytes(rng.choice(list(alphabet), size).tolist()).decode("ascii")
        assert differences_by_both([text, text + "é", "\u4e00" + text]) == []


@pytest.mark.parametrize("missing", ["minhash", "simhash"])
def test_either_sketch_alone(missing: str) -> None:
    without = {
        "minhash": {
            "minhash": None,
            "slots": None,
            "bands": None,
            "rows": None,
            "similarity": None,
        },
        "simhash": {"simhash": None, "bits": None, "blocks": None},
    }[missing]
    alone = dataclasses.replace(DEFAULT_V1, **without)
    texts = ["", "few", "Near duplicates are folded together. " * 3, "ein längerer Text, " * 200]
    assert differences(texts, alone) == []
    assert getattr(fingerprints(texts, alone)[2], missing) is None


def test_a_feature_whose_hash_is_zero() -> None:
    zero = "\u740b\U0002b06a\u5ace\u5860"
    assert gram_hashes(encode(zero), 4).tolist() == [0]
    texts = [
        f"{zero}{chr(0x4E00 + n)}" * 300 + "".join(map(chr, range(0x4E00, 0x4E00 + 40 * n))) + zero
        for n in range(40)
    ]
    assert differences(texts) == []


def test_long_texts_with_few_features() -> None:
    text = "abcdefghijk" * 20_000
    assert differences([text, text + "é"], dataclasses.replace(DEFAULT_V1, slots=1024)) == []


@pytest.mark.long
@pytest.mark.parametrize(
    "run",
    [
        "\u0301",
        "\u0301\u0323",
        "\u0344",
        "e\u0301\u0323\u0301",
        "\ufdfa",
        "\u0378\u0301",
        "-\u200b",
        "- ",
    ],
)
def test_hostile_runs_end(run: str) -> None:
    text = "start " + run * (50_000 // len(run)) + " and an end"
    assert differences_by_both([text]) == []


def test_the_lock_is_free_meanwhile() -> None:
    texts = ["".join(map(chr, range(0x4E00, 0x9000))) * 40] * 6
    turns, done = [0], threading.Event()

    def count() -> None:
        while not done.is_set():
            turns[0] += 1
            time.sleep(0.0005)

    counter = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)
    try:
        counter.start()
        before = turns[0]
        fingerprints(texts)
        during = turns[0] - before
    finally:
        done.set()
        sys.setswitchinterval(interval)
        counter.join()
    assert during > 5


def test_only_strings_are_taken() -> None:
    with pytest.raises(TypeError):
        fingerprints([b"bytes"])  # type: ignore[list-item]


def test_settings_out_of_range_are_refused_by_the_kernel_itself() -> None:
    from indexer import _kernel

    good: dict[str, Any] = {
        "width": 4,
        "slots": 8,
        "bands": 2,
        "rows": 4,
        "simhash": True,
        "blocks": 4,
        "min_features": 1,
    }
    for wrong in ({"width": 0}, {"width": 7}, {"slots": 1025}, {"bands": 3}, {"blocks": 65},
        {"digits": 17}, {"words": True}, {"normaliser": 3}, {"symbols": True},
    ):  # fmt: skip
        with pytest.raises(ValueError, match="beyond"):
            _kernel.sign(["text"], **(good | wrong))
