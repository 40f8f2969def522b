"""Texts that look alike and differ, or are alike and look different: the equivalences, and the cost
of long texts.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from indexer.comparing.measures import feature_set, jaccard
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.recipe import DEFAULT_V1, DEFAULT_V2, Recipe

ROOT = Path(__file__).parent.parent.parent
PLAIN = (
    "The ferry to Vega leaves from the northern quay every evening, and the cafe in Zurich is open."
)
EQUIVALENT = {
    "NFC and NFD": (
        "Café Zürich naïve Ångström",
        "Cafe\u0301 Zu\u0308rich nai\u0308ve A\u030angstro\u0308m",
    ),
    "ligatures": ("the final offer of the office", "the \ufb01nal o\ufb00er of the o\ufb03ce"),
    "full width": ("contract number twelve", "ｃｏｎｔｒａｃｔ ｎｕｍｂｅｒ ｔｗｅｌｖｅ"),
    "case": ("The Ferry To Vega", "THE FERRY TO VEGA"),
    "zero-width characters": (
        "the ferry to vega",
        "t\u200bh\u200ce f\u200de\u2060rry\ufeff to vega",
    ),
    "soft hyphens": ("northern quay", "north\u00adern qu\u00aday"),
    "white space": ("the ferry to vega", "the\u00a0ferry\t to\r\n\u2003vega"),
}
LOOKALIKE = {
    "Cyrillic homoglyphs": PLAIN.translate(str.maketrans("aeopc", "аеорс")),
    "Greek homoglyphs": PLAIN.translate(str.maketrans("ovT", "ονΤ")),
    "one letter in four replaced by NUL": "".join(
        "\x00" if place % 4 == 0 else c for place, c in enumerate(PLAIN)
    ),
}
BOTH = pytest.mark.parametrize("recipe", [DEFAULT_V1, DEFAULT_V2], ids=["default_v1", "default_v2"])


def similarity(left: str, right: str, recipe: Recipe) -> float:
    return jaccard(feature_set(left, recipe), feature_set(right, recipe))


@BOTH
@pytest.mark.parametrize("name", EQUIVALENT)
def test_documented_equivalences_have_equal_features(name: str, recipe: Recipe) -> None:
    left, right = (f"{PLAIN} {text} {PLAIN[::-1]}" for text in EQUIVALENT[name])
    assert fingerprint(left, recipe).bands == fingerprint(right, recipe).bands
    assert similarity(left, right, recipe) == 1


@BOTH
@pytest.mark.parametrize("name", LOOKALIKE)
def test_lookalike_characters_lower_the_similarity(name: str, recipe: Recipe) -> None:
    assert similarity(PLAIN, LOOKALIKE[name], recipe) < 0.8


def test_lone_surrogates_separate_words_by_default_v2_and_are_letters_by_default_v1() -> None:
    text = PLAIN.replace(" ", "\ud800 ")
    assert similarity(PLAIN, text, DEFAULT_V2) == 1
    assert similarity(PLAIN, text, DEFAULT_V1) < 0.8


@BOTH
@pytest.mark.parametrize("control", ["\u202e", "\u2066", "\u200f", "\u061c"])
def test_direction_controls_do_not_change_the_features(control: str, recipe: Recipe) -> None:
    turned = PLAIN.replace(" ", f" {control}")
    assert similarity(PLAIN, turned, recipe) == 1


@BOTH
@pytest.mark.parametrize(
    "text", ["\x00", "\ud800", "\u200b", "\u202e", "\ufffe\uffff", "\u0301"], ids=ascii
)
def test_texts_of_such_characters_alone_have_no_bands(text: str, recipe: Recipe) -> None:
    assert fingerprint(text * 500, recipe).bands == ()


def test_surrogates_and_nul_leave_a_fingerprint_complete() -> None:
    signed = fingerprint(f"{PLAIN}\ud83d \udc00 \x00")
    assert signed.status == "complete" and len(signed.exact) == 64


def test_long_texts_take_bounded_memory() -> None:
    """The whole size: `python tests/faults/long_texts.py`, which takes some seconds."""
    command = [sys.executable, str(ROOT / "tests/faults/long_texts.py"), "300000"]
    completed = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert (completed.stdout.count(" complete "), completed.stdout.count(" too_short ")) == (4, 0)
