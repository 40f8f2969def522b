"""Words and sentences of Dutch by spaCy and its Dutch model, as copietje has them.

This is the one file that imports spaCy. These tokenisers have names of their own, apart from those
of our rules, so that an index never depends on the libraries installed.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from indexer.errors import MissingExtra, UsageError

MODEL = "nl_core_news_md"


def dutch_words(text: str) -> list[str]:
    """Return the tokens of the model, white space between lines included.

    Raises `MissingExtra` without spaCy, `UsageError` without the model.
    """
    return [token.text for token in _model()(text)]


def dutch_sentences(text: str) -> list[str]:
    """Return the sentences of the model.

    Raises `MissingExtra` without spaCy, `UsageError` without the model.
    """
    return [sentence.text for sentence in _model()(text).sents]


@cache
def _model() -> Any:
    try:
        import spacy
    except ImportError:
        raise MissingExtra(package="spacy", extra="spacy") from None
    try:
        return spacy.load(MODEL)
    except OSError as error:
        raise UsageError(
            f"spaCy's Dutch model is not installed; run: python -m spacy download {MODEL}"
        ) from error
