"""Make a corpus with planted truth: `documents/`, `gold.csv` with every pair, its type and
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

from indexer.errors import UnknownName, UsageError
from indexer.lab.synthesis import changes
from indexer.lab.synthesis.base_texts import ChosenTexts, Source, choose_texts, script
from indexer.lab.synthesis.file_writers import txt
from indexer.lab.synthesis.kinds import BROUGHT, KINDS, File, Material, Plant
from indexer.lab.synthesis.random_draws import RandomSource
from indexer.recipe import DEFAULT
from indexer.similarity.alignment import align
from indexer.similarity.measures import containment, jaccard, resemblance, terminology
from indexer.similarity.sides import Side
from indexer.system.progress_callback import Progress, no_progress
from indexer.system.release import release

DOCUMENTS = 100
COLUMNS = (
    "a", "b", "type", "similarity", "kind", "group", "resemblance", "jaccard_words", "overlap", "containment", "terminology",
)  # fmt: skip
_DONORS = 8
_ANSWER = (6, 30)  # words of a sentence in an answer


@dataclass(frozen=True, slots=True)
class SynthResult:
    """A corpus that was made.

    `kinds`: planted pairs by kind; `absent`: kinds whose program is not there; `passed`: files read
    and not taken, by reason.
    """

    out: str
    gold: str
    seed: int
    originals: int
    files: int
    kinds: dict[str, int]
    absent: tuple[str, ...]
    passed: dict[str, int]


def synth(
    folder: str | Path,
    out: str | Path,
    *,
    seed: int = 0,
    kinds: Sequence[str] = (),
    documents: int = DOCUMENTS,
    programs: bool = True,
    progress: Progress = no_progress,
) -> SynthResult:
    """Plant truth of every kind (or of `kinds`) in up to `documents` texts of a folder, and write
    it to a new folder.

    The same folder and seed give the same bytes on every platform, whatever other kinds are made;
    not so `office` and `scan`, which LibreOffice and Tesseract make where they are installed,
    unless `programs` is False. Similarities are those of the planted texts, `similarity` being
    `jaccard` of the default recipe.

    Raises `UsageError` for a folder with fewer than three texts, and when `out` is not empty or
    cannot be made; `UnknownName` for a kind.
    """
    wanted = _wanted(kinds)
    place = Path(out)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise UsageError(f"{place} is there and not an empty folder; give --out a new one")
    absent = tuple(
        name for name in wanted if (program := KINDS[name].program) and not (programs and program())
    )
    texts = choose_texts(
        Path(folder), documents, RandomSource(seed, "originals"), "translation" in wanted, progress
    )
    groups = list(_groups(texts))
    plants = [
        *_planted(groups, texts, seed, [one for one in wanted if one not in absent], progress),
        *_found(texts),
    ]
    files = {material.file.name: material.file for material in groups}
    files |= {file.name: file for plant, _ in plants for file in (plant.a, plant.b)}
    _write(place / "documents", files.values())
    (place / "gold.csv").write_bytes(_gold(plants, progress))
    counted = Counter(plant.kind for plant, _ in plants)
    made = SynthResult(
        out=str(place),
        gold=str(place / "gold.csv"),
        seed=seed,
        originals=len(texts.originals),
        files=len(files),
        kinds={kind: counted[kind] for kind in KINDS if kind in wanted and kind not in absent},
        absent=absent,
        passed=dict(sorted(texts.passed.items())),
    )
    (place / "corpus.json").write_bytes(_account(made, texts))
    return made


def _write(folder: Path, files: Iterable[File]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot make {folder}: {error.strerror or error}; give --out another place"
        ) from error
    for file in files:
        (folder / file.name).write_bytes(file.data)


def _wanted(kinds: Sequence[str]) -> list[str]:
    """The kinds asked for, and those that come with them. Raises `UnknownName`."""
    for kind in kinds:
        if kind not in KINDS:
            raise UnknownName("kind", kind, tuple(KINDS))
    asked = {*kinds, *(BROUGHT[kind] for kind in kinds if kind in BROUGHT)} if kinds else set(KINDS)
    return [kind for kind in KINDS if kind in asked or BROUGHT.get(kind) in asked]


def _groups(texts: ChosenTexts) -> Iterator[Material]:
    """Each original with what its variants are made with; the first and second, third and fourth
    ... are partners.
    """
    files = [
        File(f"{place:04}.txt", one.text, txt(one.text))
        for place, one in enumerate(texts.originals, 1)
    ]
    everyone = [*texts.originals, *texts.reserve]
    scripts = [script(one.text) for one in everyone]
    vocabularies = [set(changes.spelled(one.text)) for one in everyone]
    for place, file in enumerate(files):
        others = [
            at for at in range(len(everyone)) if at != place and scripts[at] == scripts[place]
        ]
        drawn = RandomSource(len(everyone), file.name).shuffled(others)[:_DONORS]
        drawn.sort(
            key=lambda at: -len(vocabularies[at] & vocabularies[place])
        )  # first who writes the same language
        donors = [everyone[at].text for at in drawn[:3]]
        yield Material(
            file=file,
            words=changes.spelled(donors[0] if donors else file.text),
            names=list(dict.fromkeys(name for text in donors for name in changes.names(text))),
            sentences=[one for text in donors for one in changes.sentences(text, *_ANSWER)],
            forms=[
                one.text
                for at, one in enumerate(texts.reserve, len(files))
                if scripts[at] == scripts[place]
            ],
            partner=files[place ^ 1] if place ^ 1 < len(files) else None,
            place=place,
        )


def _planted(
    groups: Sequence[Material],
    texts: ChosenTexts,
    seed: int,
    wanted: Sequence[str],
    progress: Progress,
) -> Iterator[tuple[Plant, str]]:
    """Every plant with its group: a stream of chance for each original and kind, so that no kind
    changes another.
    """
    for material in groups:
        progress("planting", material.place + 1, len(groups))
        for kind in wanted:
            source = texts.originals[material.place].name
            for plant in KINDS[kind].make(material, RandomSource(seed, kind, source)):
                yield plant, f"{material.place // 2 + 1:04}"


def _found(texts: ChosenTexts) -> Iterator[tuple[Plant, str]]:
    """Translations, each pair a group of its own."""
    for place, (one, other) in enumerate(texts.translations, 1):
        a, b = (_as_found(source, place, letter) for source, letter in ((one, "a"), (other, "b")))
        yield Plant("translation", a, b), f"t{place:03}"


def _as_found(source: Source, place: int, letter: str) -> File:
    return File(f"t{place:03}.translation-{letter}.txt", source.text, txt(source.text))


def _gold(plants: Sequence[tuple[Plant, str]], progress: Progress) -> bytes:
    """The pairs as csv, paths relative to it; measured on the planted texts, to six digits."""
    sheet = StringIO()
    writer = csv.writer(sheet, lineterminator="\n")
    writer.writerow(COLUMNS)
    sides: dict[str, Side] = {}
    for place, (plant, group) in enumerate(plants, 1):
        progress("measuring pairs", place, len(plants))
        a, b = (
            sides.setdefault(file.name, Side(file.text, DEFAULT)) for file in (plant.a, plant.b)
        )
        aligned = align(a.words, b.words)
        values = (
            jaccard(a.features, b.features),
            resemblance(a.words, b.words),
            aligned.jaccard,
            aligned.overlap,
            max(containment(a.features, b.features)),
            terminology(a.words, b.words),
        )
        similarity, *others = (f"{value:.6f}" for value in values)
        names = (f"documents/{plant.a.name}", f"documents/{plant.b.name}")
        writer.writerow([*names, KINDS[plant.kind].type, similarity, plant.kind, group, *others])
    return sheet.getvalue().encode()


def _account(made: SynthResult, texts: ChosenTexts) -> bytes:
    """What the corpus is made of, without anything of this machine."""
    told = {name: value for name, value in asdict(made).items() if name not in ("out", "gold")}
    sources = {
        f"documents/{place:04}.txt": one.name for place, one in enumerate(texts.originals, 1)
    }
    told |= {
        "nearfold": release(),
        "sources": sources,
        "forms": [one.name for one in texts.reserve],
    }
    told["translations"] = [[one.name, other.name] for one, other in texts.translations]
    told["types"] = {name: KINDS[name].type for name in made.kinds}
    return (json.dumps(told, indent=1, ensure_ascii=True) + "\n").encode()
