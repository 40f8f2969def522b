"""Make a corpus with synthetic ground truth: `documents/`, `gold.csv` with every pair, its type and
similarities, and `corpus.json`.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path

from indexer.defaults import MEASURE
from indexer.errors import UnknownName, UsageError
from indexer.lab.synthesis import changes
from indexer.lab.synthesis.base_texts import ChosenTexts, Source, choose_texts, script
from indexer.lab.synthesis.file_writers import txt
from indexer.lab.synthesis.kinds import KINDS, MADE_WITH, File, Kind, Material, SyntheticPair
from indexer.lab.synthesis.random_draws import RandomSource
from indexer.recipe import DEFAULT
from indexer.similarity.alignment import align
from indexer.similarity.measures import containment, measure_pair, resemblance, terminology
from indexer.similarity.sides import Side
from indexer.system.progress_callback import Progress, no_progress
from indexer.system.release import release

DOCUMENTS = 100
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
_ANSWER = (6, 30)  # words of a sentence in an answer


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

    `seed`: that of all random samples. `kinds`: those to make; all when empty. `documents`: the
    most originals to take. `programs`: also make the kinds `office` and `scan` where LibreOffice
    and Tesseract are installed.
    """

    seed: int = 0
    kinds: Sequence[str] = ()
    documents: int = DOCUMENTS
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
    except for `office` and `scan`, which other programs make. Similarities are those of the texts
    before they are written in a format, `similarity` being the default measure.

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
            f"cannot make {folder}: {error.strerror or error}; give --out another place"
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
        File(f"{place:04}.txt", source.text, txt(source.text))
        for place, source in enumerate(texts.originals, 1)
    ]
    sources = [*texts.originals, *texts.reserve]
    scripts = [script(source.text) for source in sources]
    vocabularies = [set(changes.word_list(source.text)) for source in sources]
    for place, file in enumerate(files):
        others = [at for at in range(len(sources)) if at != place and scripts[at] == scripts[place]]
        donor_places = RandomSource(len(sources), file.name).shuffled(others)[:_DONORS]
        # Texts in the same language share most words and come first.
        donor_places.sort(key=lambda at: -len(vocabularies[at] & vocabularies[place]))
        donors = [sources[at].text for at in donor_places[:3]]
        yield Material(
            file=file,
            words=changes.word_list(donors[0] if donors else file.text),
            names=list(dict.fromkeys(name for text in donors for name in changes.names(text))),
            sentences=[source for text in donors for source in changes.sentences(text, *_ANSWER)],
            forms=[
                source.text
                for at, source in enumerate(texts.reserve, len(files))
                if scripts[at] == scripts[place]
            ],
            partner=files[place ^ 1] if place ^ 1 < len(files) else None,
            place=place,
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
        progress("making pairs", material.place + 1, len(groups))
        for kind in kind_names:
            source = texts.originals[material.place].name
            for pair in KINDS[kind].make(material, RandomSource(seed, kind, source)):
                yield pair, f"{material.place // 2 + 1:04}"


def _translation_pairs(texts: ChosenTexts) -> Iterator[tuple[SyntheticPair, str]]:
    """Yield translations, each pair a group of its own."""
    for place, (left, right) in enumerate(texts.translations, 1):
        a, b = (
            _translation_file(source, place, letter)
            for source, letter in ((left, "a"), (right, "b"))
        )
        yield SyntheticPair("translation", a, b), f"t{place:03}"


def _translation_file(source: Source, place: int, letter: str) -> File:
    return File(f"t{place:03}.translation-{letter}.txt", source.text, txt(source.text))


def _gold_csv(pairs: Sequence[tuple[SyntheticPair, str]], progress: Progress) -> bytes:
    """Return the pairs as csv, with relative paths and similarities of the texts to six digits."""
    sheet = StringIO()
    writer = csv.writer(sheet, lineterminator="\n")
    writer.writerow(COLUMNS)
    sides: dict[str, Side] = {}
    for place, (pair, group) in enumerate(pairs, 1):
        progress("measuring pairs", place, len(pairs))
        a, b = (sides.setdefault(file.name, Side(file.text, DEFAULT)) for file in (pair.a, pair.b))
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
        f"documents/{place:04}.txt": left.name for place, left in enumerate(texts.originals, 1)
    }
    summary |= {
        "nearfold": release(),
        "sources": sources,
        "forms": [left.name for left in texts.reserve],
    }
    summary["translations"] = [[left.name, right.name] for left, right in texts.translations]
    summary["types"] = {name: KINDS[name].type for name in result.kinds}
    return (json.dumps(summary, indent=1, ensure_ascii=True) + "\n").encode()
