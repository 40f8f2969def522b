"""Words and sentences by spaCy's Dutch model, which a blank Dutch pipeline stands in for here."""

from __future__ import annotations

import sys

import pytest

from indexer.errors import UsageError
from indexer.fingerprinting import tokens
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.recipe import recipe_named

TEXT = "De veerboot vertrekt om acht uur. Honden gaan gratis mee, zegt 'm de kapitein."


@pytest.fixture(autouse=True)
def fresh():
    tokens._model.cache_clear()
    yield
    tokens._model.cache_clear()


@pytest.fixture
def model(tmp_path, monkeypatch):
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("nl")
    pipeline.add_pipe("sentencizer")
    pipeline.to_disk(tmp_path / "data")
    package, about = tmp_path / tokens.MODEL, tmp_path / f"{tokens.MODEL}-1.0.dist-info"
    package.mkdir()
    about.mkdir()
    (package / "__init__.py").write_text(
        f"import spacy\ndef load(**_):\n    return spacy.load({str(tmp_path / 'data')!r})\n"
    )
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {tokens.MODEL}\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop(tokens.MODEL, None)


@pytest.mark.long
def test_words_and_sentences(model) -> None:
    assert tokens.dutch_words("Honden, zei hij.") == ["Honden", ",", "zei", "hij", "."]
    assert tokens.dutch_sentences(TEXT) == [TEXT[:33], TEXT[34:]]


@pytest.mark.long
def test_recipes_have_slots_of_their_own(model) -> None:
    slots = {
        name: fingerprint(TEXT, recipe_named(f"{name}:none::")).minhash.tolist()
        for name in ("words", "words-nl", "sents-nl")
    }
    assert len({tuple(values) for values in slots.values()}) == 3
    assert recipe_named("words-nl:none::").id != recipe_named("words:none::").id


@pytest.mark.long
def test_a_missing_model_is_named_with_the_command_that_installs_it(monkeypatch) -> None:
    pytest.importorskip("spacy")
    with pytest.raises(UsageError, match="spacy download"):
        fingerprint(TEXT, recipe_named("sents-nl:none::"))


def test_without_spacy_the_extra_is_named(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(UsageError, match=r"nearfold\[spacy\]"):
        fingerprint(TEXT, recipe_named("sents-nl:none::"))
