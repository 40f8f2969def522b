"""The texts that truth is planted in: drawn from a folder, long enough, and each unlike all
others.
"""

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
MOST_ALIKE = 0.5  # resemblance of translations: above it, one was not translated
_SHINGLE = 5
_LEAST_LETTERS = 0.6
_BATCH = 64
_CODES = (
    "ar|bg|ca|cs|da|de|el|en|eo|es|et|eu|fa|fi|fr|ga|gl|he|hi|hr|hu|id|it|ja|ko|lt|lv|nb|nl|nn|pl|pt|ro|ru|sk|sl|sq|sr|sv|th|tr|"
    "uk|vi|zh"
)
_TAG = re.compile(rf"(?:^|(?<=[./_-]))(?:{_CODES})(?:_[A-Z]{{2}})?(?:@\w+)?(?=[./]|$)")


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the folder: its path below it, with `/`, and the text that was taken of it."""

    name: str
    text: str


@dataclass(slots=True)
class ChosenTexts:
    """What was drawn.

    `reserve` lends words, answers and forms to the others; `passed` counts what was read and not
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
    """Draw originals from a folder of files of any format, a tenth as many for the reserve, and
    pairs of translations.

    A text is taken from 100 words on, its first 2,000 when it is longer, and when it shares less
    than a fifth of its five-word shingles with every text taken before. Raises `SourceNotFound`,
    and `UsageError` when fewer than three texts are found.
    """
    paths = {_name(blob): blob.path for blob in walk([folder]) if isinstance(blob, Blob)}
    names = chance.shuffled(sorted(paths))
    made, apart = ChosenTexts(), _Apart()
    wanted = documents + max(2, documents // 10)
    taken: list[Source] = []
    for start in range(0, len(names), _BATCH):
        batch = names[start : start + _BATCH]
        for source in _read(batch, paths, made.passed):
            reason = apart.refusal(source.text)
            if reason:
                made.passed[reason] += 1
            elif len(taken) < wanted:
                taken.append(source)
        progress("reading texts", len(taken), wanted)
        if len(taken) >= wanted:
            break
    if len(taken) < 3:
        raise UsageError(
            f"{folder} holds {len(taken)} texts of {LEAST_WORDS} words that differ; at least 3 are needed"
        )
    kept = min(documents, max(2, len(taken) - max(1, len(taken) // 11)))
    made.originals, made.reserve = taken[:kept], taken[kept:]
    if translations:
        made.translations = list(
            _translated(names, paths, {one.name for one in taken}, max(2, documents // 5))
        )
    return made


def _name(blob: Blob) -> str:
    return blob.key.decode("utf-8", "backslashreplace")


def _read(names: Sequence[str], paths: dict[str, str], passed: Counter[str]) -> Iterator[Source]:
    """The texts of files, in the order given, whatever order they are read in."""
    order = {str(Path(paths[name]).resolve()): name for name in names}
    found: dict[str, str] = {}
    for where, result in documents_at([paths[name] for name in names]):
        if isinstance(result, ExtractionError):
            passed["could not be read"] += 1
        else:
            found[order.get(where, "")] = result.text
    for name in names:
        if name in found:
            yield Source(name, _opening(found[name]))


def _opening(text: str) -> str:
    found = words(text)
    return text if len(found) <= MOST_WORDS else text[: int(found.ends[MOST_WORDS - 1])]


class _Apart:
    """The shingles of the texts taken so far."""

    def __init__(self) -> None:
        self._holders: dict[str, list[int]] = defaultdict(list)
        self._sizes: list[int] = []

    def refusal(self, text: str) -> str:
        """Why a text is not taken; nothing when it is, and then it counts for the next ones."""
        found = words(text)
        if len(found) < LEAST_WORDS:
            return "too short"
        visible = [one for one in text if not one.isspace()]
        if sum(map(str.isalpha, visible)) < _LEAST_LETTERS * len(visible):
            return "not prose"
        shingles = set(_shingles(found))
        shared = Counter(holder for one in shingles for holder in self._holders.get(one, ()))
        if any(
            common >= MOST_SHARED * min(len(shingles), self._sizes[holder])
            for holder, common in shared.items()
        ):
            return "like another"
        for one in shingles:
            self._holders[one].append(len(self._sizes))
        self._sizes.append(len(shingles))
        return ""


def _shingles(found: Words) -> Iterable[str]:
    folded = found.folded
    return (" ".join(folded[at : at + _SHINGLE]) for at in range(len(folded) - _SHINGLE + 1))


def _translated(
    names: Sequence[str], paths: dict[str, str], used: set[str], most: int
) -> Iterator[tuple[Source, Source]]:
    """Pairs of files whose paths differ in the name of a language alone, such as `de/intro.txt` and
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
            if len(both) == 2 and _different(*(one.text for one in both)):
                left -= 1
                yield both[0], both[1]


def _different(a: str, b: str) -> bool:
    one, other = words(a), words(b)
    return min(len(one), len(other)) >= LEAST_WORDS and resemblance(one, other) < MOST_ALIKE


def script(text: str) -> str:
    """The script of most of a text's first letters, by their names in Unicode; empty for a text
    without letters.
    """
    letters = [one for one in text[:2000] if one.isalpha()][:300]
    counted = Counter(unicodedata.name(one, "").split(" ")[0] for one in letters)
    return max(sorted(counted), key=counted.__getitem__, default="")
