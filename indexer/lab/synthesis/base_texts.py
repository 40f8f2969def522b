"""Choose the original texts of a synthetic corpus: long enough, and each unlike all others."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from indexer.errors import ExtractionError, UsageError
from indexer.indexing.documents import documents_at
from indexer.lab.synthesis.random_draws import RandomSource
from indexer.model import Blob
from indexer.similarity.measures import resemblance
from indexer.sources.folder import walk
from indexer.system.progress_callback import Progress, no_progress
from indexer.text.word_numbers import Words
from indexer.text.words import words

LEAST_WORDS, MOST_WORDS = 100, 2000
MOST_SHARED = 0.2  # of the five-word shingles of the text that has fewer
MOST_ALIKE = 0.5  # resemblance of translations: above it, one of them is not a translation
_SHINGLE = 5
_LEAST_LETTERS = 0.6
_BATCH = 64
_CODES = (
    "ar|bg|ca|cs|da|de|el|en|eo|es|et|eu|fa|fi|fr|ga|gl|he|hi|hr|hu|id|it|ja|ko|lt|lv|nb|nl|nn|"
    "pl|pt|ro|ru|sk|sl|sq|sr|sv|th|tr|uk|vi|zh"
)
_TAG = re.compile(rf"(?:^|(?<=[./_-]))(?:{_CODES})(?:_[A-Z]{{2}})?(?:@\w+)?(?=[./]|$)")


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the folder: its path below the folder, with `/`, and the text taken from it."""

    name: str
    text: str


@dataclass(slots=True)
class ChosenTexts:
    """The texts chosen for a corpus.

    `reserve` provides words, answers and forms for the others; `passed` counts texts that were not
    taken, by reason.
    """

    originals: list[Source] = field(default_factory=list)
    reserve: list[Source] = field(default_factory=list)
    translations: list[tuple[Source, Source]] = field(default_factory=list)
    passed: Counter[str] = field(default_factory=Counter)


def choose_texts(
    folder: Path,
    documents: int,
    chance: RandomSource,
    translations: bool = True,
    progress: Progress = no_progress,
) -> ChosenTexts:
    """Choose random originals from a folder of files of any format, a tenth as many for the
    reserve, and pairs of translations.

    A text needs 100 words, is cut after 2,000, and shares less than a fifth of its five-word
    shingles with every text taken before. Raises `SourceNotFound`,
    and `UsageError` when fewer than three texts are found.
    """
    paths = {_name(blob): blob.path for blob in walk([folder]) if isinstance(blob, Blob)}
    names = chance.shuffled(sorted(paths))
    chosen = ChosenTexts()
    needed = documents + max(2, documents // 10)
    selected = _select(names, paths, needed, chosen.passed, progress)
    if len(selected) < 3:
        raise UsageError(
            f"{folder} holds {len(selected)} texts of {LEAST_WORDS} words that differ; "
            "at least 3 are needed"
        )
    originals = min(documents, max(2, len(selected) - max(1, len(selected) // 11)))
    chosen.originals, chosen.reserve = selected[:originals], selected[originals:]
    if translations:
        selected_names = {text.name for text in selected}
        pairs = _translation_pairs(names, paths, selected_names, max(2, documents // 5))
        chosen.translations = list(pairs)
    return chosen


def _select(
    names: Sequence[str],
    paths: dict[str, str],
    needed: int,
    passed: Counter[str],
    progress: Progress,
) -> list[Source]:
    """Return the first texts that are fit to be originals; count the reasons of others."""
    taken_texts = _TakenTexts()
    selected: list[Source] = []
    for start in range(0, len(names), _BATCH):
        for source in _read(names[start : start + _BATCH], paths, passed):
            reason = taken_texts.refusal(source.text)
            if reason:
                passed[reason] += 1
            elif len(selected) < needed:
                selected.append(source)
        progress("reading texts", len(selected), needed)
        if len(selected) >= needed:
            break
    return selected


def _name(blob: Blob) -> str:
    return blob.key.decode("utf-8", "backslashreplace")


def _read(names: Sequence[str], paths: dict[str, str], passed: Counter[str]) -> Iterator[Source]:
    """Yield the texts of files in the order of `names`, whatever order they are read in."""
    order = {str(Path(paths[name]).resolve()): name for name in names}
    texts: dict[str, str] = {}
    for where, result in documents_at([paths[name] for name in names]):
        if isinstance(result, ExtractionError):
            passed["could not be read"] += 1
        else:
            texts[order.get(where, "")] = result.text
    for name in names:
        if name in texts:
            yield Source(name, _opening(texts[name]))


def _opening(text: str) -> str:
    text_words = words(text)
    return text if len(text_words) <= MOST_WORDS else text[: int(text_words.ends[MOST_WORDS - 1])]


class _TakenTexts:
    """The shingles of the texts taken so far."""

    def __init__(self) -> None:
        self._holders: dict[str, list[int]] = defaultdict(list)
        self._sizes: list[int] = []

    def refusal(self, text: str) -> str:
        """Return why a text is not taken; empty when it is, and then it counts for later texts."""
        text_words = words(text)
        if len(text_words) < LEAST_WORDS:
            return "too short"
        visible = [letter for letter in text if not letter.isspace()]
        if sum(map(str.isalpha, visible)) < _LEAST_LETTERS * len(visible):
            return "not prose"
        shingles = set(_shingles(text_words))
        shared = Counter(
            holder for shingle in shingles for holder in self._holders.get(shingle, ())
        )
        if any(
            common >= MOST_SHARED * min(len(shingles), self._sizes[holder])
            for holder, common in shared.items()
        ):
            return "like another"
        for shingle in shingles:
            self._holders[shingle].append(len(self._sizes))
        self._sizes.append(len(shingles))
        return ""


def _shingles(text_words: Words) -> Iterable[str]:
    folded = text_words.folded
    return (" ".join(folded[at : at + _SHINGLE]) for at in range(len(folded) - _SHINGLE + 1))


def _translation_pairs(
    names: Sequence[str], paths: dict[str, str], used: set[str], most: int
) -> Iterator[tuple[Source, Source]]:
    """Yield pairs of files whose paths differ only in a language code, such as `de/intro.txt` and
    `fr/intro.txt`.
    """
    alike: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if name not in used:
            alike[re.sub(r"[./_-]{2,}|^/", "/", _TAG.sub("", name, count=1))].append(name)
    left = most
    for group in alike.values():
        if len(group) > 1 and left:
            both = list(_read(group[:2], paths, Counter()))
            if len(both) == 2 and _are_translations(*(source.text for source in both)):
                left -= 1
                yield both[0], both[1]


def _are_translations(a: str, b: str) -> bool:
    left, right = words(a), words(b)
    return min(len(left), len(right)) >= LEAST_WORDS and resemblance(left, right) < MOST_ALIKE


def script(text: str) -> str:
    """Return the script of most of a text's first 300 letters, by their Unicode names; empty for a
    text without letters.
    """
    letters = [letter for letter in text[:2000] if letter.isalpha()][:300]
    counted = Counter(unicodedata.name(letter, "").split(" ")[0] for letter in letters)
    return max(sorted(counted), key=counted.__getitem__, default="")
