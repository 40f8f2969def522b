"""The words by which segments of mails are compared, and runs of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest
from zlib import crc32

from indexer.text import unicode13_categories
from indexer.text.codepoints import ranges

RUN = 5
_MARKS = "".join(
    f"{chr(first)}-{chr(last)}"
    for first, last in ranges(unicode13_categories.MARK + unicode13_categories.SPACING_MARK)
)
_LETTERS = rf"[^\W\d_](?:[^\W\d_]|[{_MARKS}])*"
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff"
    "\U00020000-\U0003ffff"
)
_SIGNS = (
    "[!?%‰&@§|^°¬±×÷<>$¢£¤¥\u058f\u060b\u20a0-\u20cf\u2190-\u23ff\u25a0-\u27bf\u2800-\u2bff"
    "\ue000-\uf8ff\U0001f000-\U0001faff]"
)
_NEGATIVE = r"\((?=[^\d()]{0,5}\d[\d.,\s]*[^\d()]{0,5}\))"  # (500), as accountants write -500
_FACE = r"(?<!\S)[:;]'?-?[()|/](?=\s|[.,!?]|$)"
_WORD = re.compile(
    r"-?(?:(?<![\w.])\.)?\d+(?:[.,:/]\d+)*"
    rf"|[{_UNSPACED}]|{_LETTERS}(?:'{_LETTERS})*"
    rf"|{_SIGNS}|=+|\++|~+|\#+|(?<![\w)\]])-+(?=[^\W_]|>)|(?<=<)-+|(?<=\w)[*/\\](?=\w)"
    rf"|(?<=\d)['′\"]+|{_NEGATIVE}|{_FACE}"
)
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_SAME = str.maketrans("‐‑‒–−’”", "-----'\"")
_POWER = re.compile("(?<=[0-9])(?=[⁺⁻]?[⁰¹²³⁴-⁹])")
_FRACTION = re.compile("(?<=[0-9])(?=[¼-¾⅐-⅞])")
_BRACKETED = re.compile(r"<(?=[^\s<>]*(?:@|://|mailto:|www\.))([^\s<>]*)>")


def segment_words(text: str) -> list[str]:
    """Return the words of a text that a mail program keeps when it quotes it.

    Wrapping, blanks, punctuation, emphasis, case and compatibility forms (NFKC) make no difference.
    Signs do, each is a word: those of currencies and arithmetic, shapes such as `■`, Braille,
    characters for private use (ticks of Wingdings), `%`, `&`, `@`, `!`, `?` and the like, a minus
    before a number, word or `>`, `/` and `*` within one, `"` behind a number, the bracket of
    `(500)`, `^` before the power in `10²`, and faces such as `:-)`. The brackets of `<ann@x.org>`
    are none. In scripts written without spaces each character is a word.

    >>> segment_words("We do *not* pay\\n-5 %, “don’t” ask <ann@x>.")
    ['we', 'do', 'not', 'pay', '-5', '%', "don't", 'ask', 'ann', '@', 'x']
    """
    apart = _FRACTION.sub(" ", _POWER.sub("^", text))
    folded = unicodedata.normalize("NFKC", apart).casefold().translate(_SAME)
    return _WORD.findall(_BRACKETED.sub(r" \1 ", folded))


def without_signs(words: Iterable[str]) -> list[str]:
    """Return the words that have a letter or digit.

    >>> without_signs(["why", "?", "=="])
    ['why']
    """
    return [word for word in words if _LETTER_OR_DIGIT.search(word)]


def spelled(words: Iterable[str]) -> str:
    """Return words as one string that holds another such string where it holds its words in a row.

    >>> spelled(["to", "be"]) in spelled(["not", "to", "be"]), spelled(["o"]) in spelled(["to"])
    (True, False)
    """
    return f" {' '.join(words)} "


def runs(words: Sequence[str], width: int) -> Iterator[tuple[str, ...]]:
    """Yield every run of so many words.

    >>> list(runs(["a", "b", "c"], 2))
    [('a', 'b'), ('b', 'c')]
    """
    for start in range(len(words) - width + 1):
        yield tuple(words[start : start + width])


def key_runs(words: Sequence[str], most: int = 1) -> list[tuple[str, ...]]:
    """Return at most so many runs of `RUN` words, or of all where there are fewer, by which a text
    is looked up: whatever holds all words in a row holds them. None of no words.

    They are those of the least CRC-32, ties by the words: seldom common ones.
    """
    width = min(RUN, len(words))
    return nsmallest(most, set(runs(words, width)), key=_key_order) if width else []


def _key_order(run: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    return crc32(" ".join(run).encode("utf-8", "replace")), run


def key_run(words: Sequence[str]) -> tuple[str, ...]:
    """Return the first of `key_runs`; empty for no words."""
    return next(iter(key_runs(words)), ())
