"""Words and sentences of Dutch as copietje cuts them: by spaCy and its Dutch model, through the one
file that imports it.

Names and slots are others than those of our own rules, so that what an index holds never depends on
what is installed.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from indexer.errors import MissingExtra, UsageError

MODEL = "nl_core_news_md"


def dutch_words(text: str) -> list[str]:
    """The tokens that the model finds, white space between lines included. Raises `MissingExtra`,
    `UsageError`.
    """
    return [token.text for token in _model()(text)]


def dutch_sentences(text: str) -> list[str]:
    """The sentences that the model finds. Raises `MissingExtra` without spaCy, `UsageError` without
    the model.
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
