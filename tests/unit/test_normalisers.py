"""Normalisers: equality with copietje's, and their effect on many languages."""

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import MissingExtra
from indexer.fingerprinting.normalise import NORMALISERS, none, norm, norm_anyascii, norm_html

ROOT = Path(__file__).parent.parent
GOLDEN = json.loads((ROOT / "golden/norms.json").read_text())["vectors"]
DECLARATION = json.loads((ROOT / "data/declaration.json").read_text())


@pytest.mark.parametrize("vector", GOLDEN, ids=lambda vector: ascii(vector["text"])[:40])
def test_norm_gives_what_copietje_gives(vector: dict) -> None:
    assert norm(vector["text"]) == vector["norm"]
    assert norm_html(vector["text"]) == vector["norm-html"]


@pytest.mark.parametrize("name", NORMALISERS)
@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_taken_and_can_be_written_as_utf8(name: str, text: str) -> None:
    normalised = NORMALISERS[name](text)
    assert normalised.encode().decode() == normalised


@given(st.text())
def test_none_leaves_every_well_formed_text_alone(text: str) -> None:
    assert none(text) == text


@pytest.mark.parametrize("language", DECLARATION)
@pytest.mark.parametrize("name", NORMALISERS)
def test_no_language_collapses(name: str, language: str) -> None:
    left, right = (NORMALISERS[name](text) for text in DECLARATION[language])
    assert left != right
    assert min(len(left), len(right)) > 20


@pytest.mark.parametrize("sign", list("$£¥฿₡₦₩₪₫€₱₲₴₹"))
def test_currency_signs_go(sign: str) -> None:
    assert norm(f"{sign}5 {sign}{sign}6") == norm_anyascii(f"{sign}5 {sign}{sign}6") == "5 6"


def test_malformed_escapes_are_left_alone() -> None:
    assert norm("C:\\Users\\x") == "cusersx"


@pytest.mark.parametrize(
    ("module", "name", "extra"),
    [
        ("ftfy", "norm", "text"), ("unidecode", "norm", "copietje"), ("emoji", "norm", "copietje"),
        ("bs4", "norm-html", "text"), ("anyascii", "norm-anyascii", "text"),
    ],
)  # fmt: skip
def test_a_missing_library_is_named(
    module: str, name: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"nearfold\[{extra}\]"):
        NORMALISERS[name]("text")


@pytest.mark.parametrize(
    "malformed", ["<![0", "<![x]>", "<!--a-->kept<![", "<!x<!--", "<!doctype html><![if 1"]
)
def test_malformed_declarations_lose_no_text(malformed: str) -> None:
    assert "before" in norm_html(f"before <b>{malformed} after")


def test_tags_still_go_where_a_declaration_is_malformed() -> None:
    assert norm_html("<p>one</p><![0 <p>two</p>").startswith("one")
