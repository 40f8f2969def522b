"""Make a corpus with synthetic ground truth: `documents/`, `gold.csv` with every pair, its type and
similarities, and `corpus.json`.
"""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from io import StringIO
from pathlib import Path

from indexer.comparing.measures import (
    ComparedText,
    align,
    containment,
    measure_pair,
    resemblance,
    terminology,
)
from indexer.comparing.words import Words, words
from indexer.defaults import MEASURE, SYNTH_DOCUMENTS
from indexer.documents.sources import walk
from indexer.errors import ExtractionError, UnknownName, UsageError
from indexer.jobs.document_rows import documents_at
from indexer.lab.synthesis import changes
from indexer.lab.synthesis.changes import RandomSource
from indexer.lab.synthesis.formats import txt
from indexer.lab.synthesis.kinds import KINDS, MADE_WITH, File, Kind, Material, SyntheticPair
from indexer.model import Blob, Progress, no_progress
from indexer.recipe import DEFAULT
from indexer.system.release import release

# Choose the original texts of a synthetic corpus: long enough, and each unlike all others.

MIN_WORDS, MAX_WORDS = 100, 2000
MAX_SHARED = 0.2  # of the five-word shingles of the text that has fewer
MAX_ALIKE = 0.5  # resemblance of translations: above it, one of them is not a translation
_SHINGLE = 5
_MIN_CHARACTERS = 0.6
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

    `reserve` provides words, replies and forms for the others; `passed` counts texts that were not
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
            f"{folder} holds {len(selected)} texts of {MIN_WORDS} words that differ; "
            "at least 3 are needed"
        )
    originals = min(documents, max(2, len(selected) - max(1, len(selected) // 11)))
    chosen.originals, chosen.reserve = selected[:originals], selected[originals:]
    if translations:
        selected_names = {text.name for text in selected}
        pairs = _select_translation_pairs(names, paths, selected_names, max(2, documents // 5))
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
    return text if len(text_words) <= MAX_WORDS else text[: int(text_words.ends[MAX_WORDS - 1])]


class _TakenTexts:
    """The shingles of the texts taken so far."""

    def __init__(self) -> None:
        self._holders: dict[str, list[int]] = defaultdict(list)
        self._sizes: list[int] = []

    def refusal(self, text: str) -> str:
        """Return why a text is not taken; empty when it is, and then it counts for later texts."""
        text_words = words(text)
        if len(text_words) < MIN_WORDS:
            return "too short"
        visible = [letter for letter in text if not letter.isspace()]
        if sum(map(str.isalpha, visible)) < _MIN_CHARACTERS * len(visible):
            return "not prose"
        shingles = set(_shingles(text_words))
        shared = Counter(
            holder for shingle in shingles for holder in self._holders.get(shingle, ())
        )
        if any(
            common >= MAX_SHARED * min(len(shingles), self._sizes[holder])
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


def _select_translation_pairs(
    names: Sequence[str], paths: dict[str, str], used: set[str], limit: int
) -> Iterator[tuple[Source, Source]]:
    """Yield pairs of files whose paths differ only in a language code, such as `de/intro.txt` and
    `fr/intro.txt`.
    """
    alike: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if name not in used:
            alike[re.sub(r"[./_-]{2,}|^/", "/", _TAG.sub("", name, count=1))].append(name)
    left = limit
    for group in alike.values():
        if len(group) > 1 and left:
            both = list(_read(group[:2], paths, Counter()))
            if len(both) == 2 and _are_translations(*(source.text for source in both)):
                left -= 1
                yield both[0], both[1]


def _are_translations(a: str, b: str) -> bool:
    left, right = words(a), words(b)
    return min(len(left), len(right)) >= MIN_WORDS and resemblance(left, right) < MAX_ALIKE


def script(text: str) -> str:
    """Return the script of most of a text's first 300 letters, by their Unicode names; empty for a
    text without letters.
    """
    characters = [letter for letter in text[:2000] if letter.isalpha()][:300]
    counted = Counter(unicodedata.name(letter, "").split(" ")[0] for letter in characters)
    return max(sorted(counted), key=counted.__getitem__, default="")


COLUMNS = (
    "a",
    "b",
    "type",
    "similarity",
    "kind",
    "group",
    "resemblance",
    "jaccard_words",
    "overlap",
    "containment",
    "terminology",
)
_DONORS = 8
_REPLY = (6, 30)  # words of a sentence in a reply


@dataclass(frozen=True, slots=True)
class SynthResult:
    """A synthetic corpus.

    `kinds`: number of pairs by kind; `absent`: kinds whose program is not installed; `passed`:
    number of files read and not taken, by reason.
    """

    out: str
    gold: str
    seed: int
    originals: int
    files: int
    kinds: dict[str, int]
    absent: tuple[str, ...]
    passed: dict[str, int]


@dataclass(frozen=True, slots=True)
class SynthOptions:
    """Options of `synth`.

    `seed`: the seed of all random samples. `kinds`: the kinds to make; all when empty. `documents`:
    the most originals to take. `programs`: also make the kinds `office` and `scan` where
    LibreOffice and Tesseract are installed.
    """

    seed: int = 0
    kinds: Sequence[str] = ()
    documents: int = SYNTH_DOCUMENTS
    programs: bool = True


def synth(
    folder: str | Path,
    out: str | Path,
    options: SynthOptions = SynthOptions(),
    *,
    progress: Progress = no_progress,
) -> SynthResult:
    """Make pairs of every kind from the texts of a folder, and write the corpus and its ground
    truth to a new folder.

    The same folder and seed give the same bytes on every platform, whatever other kinds are made,
    except for `office` and `scan`, which other programs make. Similarities are computed from the
    texts before they are written in a format, `similarity` being the default measure.

    Raises `UsageError` for a folder with fewer than three texts, and when `out` is not empty or
    cannot be made; `UnknownName` for a kind.
    """
    kind_names = _kinds_to_make(options.kinds)
    folder_out = _empty_folder(Path(out))
    absent = tuple(name for name in kind_names if _is_absent(KINDS[name], options.programs))
    present = [name for name in kind_names if name not in absent]
    random = RandomSource(options.seed, "originals")
    with_translations = "translation" in kind_names
    texts = choose_texts(Path(folder), options.documents, random, with_translations, progress)
    groups = list(_groups(texts))
    pairs = list(_make_pairs(groups, texts, options.seed, present, progress))
    pairs += _translation_pairs(texts)
    files = {material.file.name: material.file for material in groups}
    files |= {file.name: file for pair, _ in pairs for file in (pair.a, pair.b)}
    _write(folder_out / "documents", files.values())
    (folder_out / "gold.csv").write_bytes(_gold_csv(pairs, progress))
    counts = Counter(pair.kind for pair, _ in pairs)
    result = SynthResult(
        out=str(folder_out),
        gold=str(folder_out / "gold.csv"),
        seed=options.seed,
        originals=len(texts.originals),
        files=len(files),
        kinds={kind: counts[kind] for kind in KINDS if kind in present},
        absent=absent,
        passed=dict(sorted(texts.passed.items())),
    )
    (folder_out / "corpus.json").write_bytes(_corpus_json(result, texts))
    return result


def _is_absent(kind: Kind, programs: bool) -> bool:
    """Return whether a kind needs a program that is not installed or not wanted."""
    return kind.program is not None and not (programs and kind.program())


def _empty_folder(out: Path) -> Path:
    """Return a folder that is empty or does not exist; raise `UsageError` for any other."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} exists and is not an empty folder; give --out a new one")
    return out


def _write(folder: Path, files: Iterable[File]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot make {folder}: {error.strerror or error}; choose another path for --out"
        ) from error
    for file in files:
        (folder / file.name).write_bytes(file.data)


def _kinds_to_make(kinds: Sequence[str]) -> list[str]:
    """Return the requested kinds, and those that are made with them. Raises `UnknownName`."""
    for kind in kinds:
        if kind not in KINDS:
            raise UnknownName("kind", kind, tuple(KINDS))
    requested = (
        {*kinds, *(MADE_WITH[kind] for kind in kinds if kind in MADE_WITH)} if kinds else set(KINDS)
    )
    return [kind for kind in KINDS if kind in requested or MADE_WITH.get(kind) in requested]


def _groups(texts: ChosenTexts) -> Iterator[Material]:
    """Yield each original with the material for its variants; the first and second, third and
    fourth ... are partners.
    """
    files = [
        File(f"{index:04}.txt", source.text, txt(source.text))
        for index, source in enumerate(texts.originals, 1)
    ]
    sources = [*texts.originals, *texts.reserve]
    scripts = [script(source.text) for source in sources]
    vocabularies = [set(changes.word_list(source.text)) for source in sources]
    for index, file in enumerate(files):
        others = [at for at in range(len(sources)) if at != index and scripts[at] == scripts[index]]
        donor_positions = RandomSource(len(sources), file.name).shuffled(others)[:_DONORS]
        # Texts in the same language share most words and come first.
        donor_positions.sort(key=lambda at: -len(vocabularies[at] & vocabularies[index]))
        donors = [sources[at].text for at in donor_positions[:3]]
        yield Material(
            file=file,
            words=changes.word_list(donors[0] if donors else file.text),
            names=list(dict.fromkeys(name for text in donors for name in changes.names(text))),
            sentences=[source for text in donors for source in changes.sentences(text, *_REPLY)],
            forms=[
                source.text
                for at, source in enumerate(texts.reserve, len(files))
                if scripts[at] == scripts[index]
            ],
            partner=files[index ^ 1] if index ^ 1 < len(files) else None,
            position=index,
        )


def _make_pairs(
    groups: Sequence[Material],
    texts: ChosenTexts,
    seed: int,
    kind_names: Sequence[str],
    progress: Progress,
) -> Iterator[tuple[SyntheticPair, str]]:
    """Yield every pair with its group; each original and kind has a random source of its own, so
    that no kind changes another.
    """
    for material in groups:
        progress("making pairs", material.position + 1, len(groups))
        for kind in kind_names:
            source = texts.originals[material.position].name
            for pair in KINDS[kind].make(material, RandomSource(seed, kind, source)):
                yield pair, f"{material.position // 2 + 1:04}"


def _translation_pairs(texts: ChosenTexts) -> Iterator[tuple[SyntheticPair, str]]:
    """Yield translations, each pair a group of its own."""
    for index, (left, right) in enumerate(texts.translations, 1):
        a, b = (
            _translation_file(source, index, letter)
            for source, letter in ((left, "a"), (right, "b"))
        )
        yield SyntheticPair("translation", a, b), f"t{index:03}"


def _translation_file(source: Source, position: int, letter: str) -> File:
    return File(f"t{position:03}.translation-{letter}.txt", source.text, txt(source.text))


def _gold_csv(pairs: Sequence[tuple[SyntheticPair, str]], progress: Progress) -> bytes:
    """Return the pairs as csv, with relative paths and similarities of the texts to six digits."""
    sheet = StringIO()
    writer = csv.writer(sheet, lineterminator="\n")
    writer.writerow(COLUMNS)
    compared: dict[str, ComparedText] = {}
    for index, (pair, group) in enumerate(pairs, 1):
        progress("measuring pairs", index, len(pairs))
        a, b = (
            compared.setdefault(file.name, ComparedText(file.text, DEFAULT))
            for file in (pair.a, pair.b)
        )
        aligned = align(a.words, b.words)
        values = (
            measure_pair(MEASURE, a, b).similarity,
            resemblance(a.words, b.words),
            aligned.jaccard,
            aligned.overlap,
            max(containment(a.features, b.features)),
            terminology(a.words, b.words),
        )
        similarity, *others = (f"{value:.6f}" for value in values)
        names = (f"documents/{pair.a.name}", f"documents/{pair.b.name}")
        writer.writerow([*names, KINDS[pair.kind].type, similarity, pair.kind, group, *others])
    return sheet.getvalue().encode()


def _corpus_json(result: SynthResult, texts: ChosenTexts) -> bytes:
    """Return a description of the corpus, without anything that depends on this machine."""
    summary = {name: value for name, value in asdict(result).items() if name not in ("out", "gold")}
    sources = {
        f"documents/{index:04}.txt": left.name for index, left in enumerate(texts.originals, 1)
    }
    summary |= {
        "nearfold": release(),
        "sources": sources,
        "forms": [left.name for left in texts.reserve],
    }
    summary["translations"] = [[left.name, right.name] for left, right in texts.translations]
    summary["types"] = {name: KINDS[name].type for name in result.kinds}
    return (json.dumps(summary, indent=1, ensure_ascii=True) + "\n").encode()
