"""Pairs of documents whose truth is known by construction, from texts that other people wrote and
that are installed on this machine, for `measures.py`.

A corpus holds documents that are distinct by construction: pages of different commands, different
entries of a changelog, docstrings of different functions, different code pages. Duplicates of them
are versions that their authors published (a release track, a version of an API, a licence as two
projects ship it), or variants made here. Different are the pairs that look most alike: of each
document the three others with the most slots, and the three with the most words in common.
"""

from __future__ import annotations

import gettext
import gzip
import importlib
import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path
from zlib import crc32

import harness  # noqa: F401 (makes `corpus` of the tests importable)
import numpy as np

import nearfold
from indexer import SynthOptions, fingerprints, synth
from indexer.comparing.words import normal_words, words
from indexer.defaults import FOLD
from indexer.lab.synthesis import changes
from indexer.lab.synthesis.changes import RandomSource, add_ocr_noise
from indexer.lab.tuning.tune import cases_of
from indexer.recipe import DEFAULT

MAN = Path("/usr/share/man/man1")
DOC = Path("/usr/share/doc")
LOCALE = Path("/usr/share/locale")
SITE = Path(np.__file__).parent.parent
DOCUMENTS = 600  # documents of a corpus at most
VARIED = 80  # documents of a corpus that variants are made of
NEIGHBOURS = 3
MESSAGE_WORDS, MIN_PAIRS = 12, 15  # of a message, and of a language
MIN_WORDS, MAX_WORDS = 10, 3_000
BUCKETS = 2_048  # of words, where neighbours are looked for
Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two texts; `similar` is None where one contains the other, which is not judged."""

    corpus: str
    kind: str
    a: str
    b: str
    similar: bool | None
    names: tuple[str, str]


def seen_corpora(work: Path) -> dict[str, list[LabelledPair]]:
    """Return the corpora on which the rule is chosen."""
    return {
        "synthetic: documentation": synthetic(work / "documentation", DOC),
        "synthetic: 15 languages": synthetic(work / "languages", language_files(work)),
        "manual pages of commands": command_pages(is_seen=True),
        "changelog entries": pairs_of("changelog entries", sample(changelog_entries())),
        "licences": licences(),
    }


def unseen_corpora() -> dict[str, list[LabelledPair]]:
    """Return the corpora that are looked at once the rule is written down."""

    def function_of(name: str) -> str:
        return name.rsplit(".", maxsplit=1)[-1]

    return {
        "other manual pages": command_pages(is_seen=False),
        "API operations in versions": api_operations(),
        "docstrings": pairs_of("docstrings", sample(docstrings()), function_of),
        "code pages": pairs_of("code pages", code_pages()),
    }


def sample(texts: Texts, limit: int = DOCUMENTS) -> dict[str, str]:
    """Return a random sample of texts, without those of the same words or of unsuitable length."""
    distinct: dict[str, str] = {}
    for name in RandomSource(1, "sample").shuffled(sorted(texts)):
        folded = words(texts[name])
        if MIN_WORDS <= len(folded) <= MAX_WORDS:
            distinct.setdefault(" ".join(folded.folded), name)
        if len(distinct) == limit:
            break
    return {name: texts[name] for name in distinct.values()}


def pairs_of(corpus: str, texts: Texts, of: Callable[[str], str] = str) -> list[LabelledPair]:
    """Return variants of documents as duplicates, and neighbours as different."""
    return [*variants(corpus, texts), *different(corpus, texts, of)]


def versions(corpus: str, kind: str, texts: Texts, of: Callable[[str], str]) -> list[LabelledPair]:
    """Return neighbours by name for which `of` gives one name: versions of one document."""
    by_document: dict[str, list[str]] = {}
    for name in sorted(texts):
        by_document.setdefault(of(name), []).append(name)
    return [
        LabelledPair(corpus, kind, texts[a], texts[b], True, (a, b))
        for members in by_document.values()
        for a, b in pairwise(members)
    ]


def variants(corpus: str, texts: Texts) -> Iterator[LabelledPair]:
    donor = changes.word_list(" ".join(list(texts.values())[-50:]))

    def edit(fraction: float, text: str, chance: RandomSource) -> str | None:
        return changes.edit_words(text, fraction, donor, chance)

    makers: dict[str, Callable[[str, RandomSource], str | None]] = {
        **{f"edit-{percent:02}": partial(edit, percent / 100) for percent in (1, 5, 10, 20)},
        "ocr-01": lambda text, chance: add_ocr_noise(text, 0.01, chance),
        "quoted": lambda text, _: "\n".join("> " + line for line in text.splitlines()),
        "one line": lambda text, _: " ".join(text.split()),
        "moved": changes.move_paragraphs,
    }
    for name in list(texts)[:VARIED]:
        for kind, make in makers.items():
            changed = make(texts[name], RandomSource(1, kind, name))
            if changed is not None:
                yield LabelledPair(corpus, kind, texts[name], changed, True, (name, kind))


def different(corpus: str, texts: Texts, of: Callable[[str], str] = str) -> Iterator[LabelledPair]:
    """Yield neighbours that are different documents: for which `of` gives different names."""
    names = list(texts)
    slots = fingerprints(list(texts.values()), DEFAULT).minhash
    counts = np.zeros((len(names), BUCKETS), np.int16)
    for number, text in enumerate(texts.values()):
        folded = words(text)
        buckets = [crc32(word.encode()) % BUCKETS for word in folded.vocabulary]
        np.add.at(counts[number], np.array(buckets, np.int64)[folded.numbers], 1)
    sizes = counts.sum(axis=1, dtype=np.int64)
    pairs: set[tuple[int, int]] = set()
    for number in range(len(names)):
        by_slots = (slots == slots[number]).mean(axis=1)
        common = np.minimum(counts, counts[number]).sum(axis=1, dtype=np.int64)
        by_words = common / np.maximum(sizes, sizes[number])
        others = np.array([of(name) != of(names[number]) for name in names])
        for similarity in (by_slots, by_words):
            nearest = np.argsort(-np.where(others, similarity, -1.0), kind="stable")
            pairs.update(tuple(sorted((number, int(near)))) for near in nearest[:NEIGHBOURS])
    for a, b in ((names[a], names[b]) for a, b in sorted(pairs)):
        yield LabelledPair(corpus, "different", texts[a], texts[b], False, (a, b))


def synthetic(work: Path, source: Path) -> list[LabelledPair]:
    """Return all kinds of `nearfold synth`."""
    if not (work / "gold.csv").exists():
        synth(source, work, SynthOptions(seed=1, documents=12, programs=False))
    cases = cases_of([str(work / "gold.csv")])
    texts = cases.texts
    return [
        LabelledPair(work.name, c.kind, texts[c.a], texts[c.b], c.similar, (str(c.a), str(c.b)))
        for c in cases.pairs
    ]


def language_files(work: Path) -> Path:
    """Return a folder of the tests' texts in fifteen languages."""
    from corpus.documents import fifty
    from corpus.formats import txt

    folder = work / "texts"
    folder.mkdir(parents=True, exist_ok=True)
    for document in fifty():
        (folder / f"{document.name}.txt").write_text(txt.text(document), encoding="utf-8")
    return folder


def plain_page(path: Path) -> str:
    """Return a manual page without the commands of troff."""
    source = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
    source = re.sub(r'^[.\']\\".*\n', "", source, flags=re.MULTILINE)
    source = re.sub(r"^[.'][A-Za-z]{1,3}\b *", "", source, flags=re.MULTILINE)
    source = re.sub(r"\\f(\[\w*\]|\(..|.)|\\[&|/,]", "", source)
    return re.sub(r"\\e", r"\\", re.sub(r"\\([- ])", r"\1", source))


def command_pages(is_seen: bool) -> list[LabelledPair]:
    """Return pages of one generator, divided by the first letter of their service: the page of a
    command in two release tracks is one document, pages of different commands are different.
    """
    corpus = "manual pages of commands" if is_seen else "other manual pages"
    paths = {path.name.split(".")[0]: path for path in MAN.glob("gcloud_*_*.1.gz")}
    commands = sorted({track_free(name) for name in paths})
    of_half = [
        name for name in commands if (crc32(name.split("_")[1].encode()) % 2 == 0) == is_seen
    ]
    chosen = set(RandomSource(1, "commands").shuffled(of_half)[: DOCUMENTS // 2])
    names = [name for name in paths if track_free(name) in chosen]
    texts = sample({name: plain_page(paths[name]) for name in names})
    tracks = versions(corpus, "release track", texts, track_free)
    return [*tracks, *pairs_of(corpus, texts, track_free)]


def track_free(name: str) -> str:
    return re.sub(r"_(alpha|beta|preview)_", "_", name, count=1)


def changelog_entries() -> dict[str, str]:
    """Return the ten latest entries of each package of the distribution."""
    entries = {}
    for path in sorted(DOC.glob("*/changelog.Debian.gz")):
        text = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
        parts = re.split(r"\n(?=\S+ \([^)]+\) )", text)
        entries |= {f"{path.parent.name} {number}": part for number, part in enumerate(parts[:10])}
    return entries


def licences() -> list[LabelledPair]:
    """Return licences as projects ship them: duplicates have one SPDX identifier, others differ.

    Families of licences ("BSD", "GPL") do not say which one is meant, and are left out.
    """
    texts, spdx = {}, {}
    for folder in sorted(SITE.glob("*.dist-info")):
        metadata = (folder / "METADATA").read_text("utf-8", "replace")
        named = re.search(r"^License(?:-Expression)?: ([A-Za-z0-9.+-]+)$", metadata, re.MULTILINE)
        files = [p for p in sorted(folder.rglob("*")) if p.name.upper().startswith("LICEN")]
        files = [path for path in files if path.is_file()]
        if named and len(files) == 1 and named.group(1) not in ("BSD", "GPL"):
            texts[folder.name] = files[0].read_text("utf-8", "replace")
            spdx[folder.name] = named.group(1)
    for path in sorted(Path("/usr/share/common-licenses").iterdir()):
        if not path.is_symlink():
            texts[path.name] = path.read_text("utf-8", "replace")
            spdx[path.name] = path.name
    texts = {name: text for name, text in texts.items() if len(words(text)) >= MIN_WORDS}
    pairs = [
        LabelledPair("licences", "one licence", texts[a], texts[b], True, (a, b))
        for a, b in combinations(sorted(texts), 2)
        if spdx[a] == spdx[b] and words(texts[a]).folded != words(texts[b]).folded
    ]
    same = RandomSource(1, "licences").shuffled(pairs)[:DOCUMENTS]
    return [*same, *different("licences", texts, spdx.__getitem__)]


def api_operations() -> list[LabelledPair]:
    """Return descriptions of operations: duplicates are one operation in successive versions."""
    corpus = "API operations in versions"
    texts: dict[str, str] = {}
    for service in ("cloudfront", "ec2", "rds", "elasticache", "elb", "elbv2"):
        for folder in sorted((SITE / "botocore" / "data" / service).iterdir()):
            model = json.loads(gzip.decompress((folder / "service-2.json.gz").read_bytes()))
            for name, operation in model["operations"].items():
                operation_name = re.sub(r"\d{4}_\d{2}_\d{2}$", "", name)
                plain = re.sub(r"<[^>]*>", " ", operation.get("documentation", ""))
                texts[f"{service}.{operation_name} {folder.name}"] = plain
    chosen = sample(texts, 3 * DOCUMENTS)

    def operation_of(name: str) -> str:
        return name.split(" ", maxsplit=1)[0]

    latest = {operation_of(name): name for name in sorted(chosen)}
    texts = {name: chosen[name] for name in latest.values()}
    pairs = versions(corpus, "version", chosen, operation_of)
    return [*pairs, *pairs_of(corpus, texts, operation_of)]


def messages() -> dict[str, list[LabelledPair]]:
    """Return the similar pairs of one half of the translated messages of programs, by language.

    The half is chosen by the message. Duplicates translate one message, as other packages or in
    other words; others translate messages that differ, if in the words of the program alone.
    """
    corpora = {}
    for folder in sorted(LOCALE.glob("*/LC_MESSAGES")):
        sources: dict[str, set[str]] = {}
        for path in sorted(folder.glob("*.mo")):
            with suppress(ValueError, IndexError), path.open("rb") as file:
                for key, text in vars(gettext.GNUTranslations(file))["_catalog"].items():
                    message = key[0] if isinstance(key, tuple) else key
                    if crc32(message.encode()) % 2 and len(normal_words(text)) >= MESSAGE_WORDS:
                        sources.setdefault(text, set()).add(" ".join(words(message).folded))
        corpus, texts = f"messages: {folder.parent.name}", sorted(sources)
        corpora[corpus] = [
            LabelledPair(corpus, "message", a, b, not sources[a].isdisjoint(sources[b]), (a, b))
            for pair in nearfold.pairs(texts, threshold=FOLD)
            for a, b in [(texts[pair.a], texts[pair.b])]
        ]
    return {corpus: pairs for corpus, pairs in corpora.items() if len(pairs) >= MIN_PAIRS}


def docstrings() -> dict[str, str]:
    """Return the docstrings of functions and methods of numpy, scipy.stats and pandas."""
    texts = {}
    for name in ("numpy", "numpy.linalg", "scipy.stats", "scipy.special", "pandas"):
        module = importlib.import_module(name)
        holders = [module, *(getattr(module, frame, None) for frame in ("DataFrame", "Series"))]
        for holder in (holder for holder in holders if holder is not None):
            for key, value in vars(holder).items():
                text = inspect.getdoc(value) if not key.startswith("_") else None
                texts[f"{getattr(holder, '__name__', name)}.{key}"] = text or ""
    return texts


def code_pages() -> dict[str, str]:
    folder = Path(gzip.__file__).parent / "encodings"
    paths = [path for kind in ("cp*", "iso8859*", "mac_*") for path in folder.glob(f"{kind}.py")]
    return {path.name: path.read_text("utf-8") for path in sorted(paths)}
