"""The corpora of benchmarks/defaults.py: synthetic ones with their gold, and real files."""

from __future__ import annotations

import csv
import json
import re
import shutil
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from corpora import files_under
from synthetic_mail import corpus

from indexer import SynthOptions, open_store, synth
from indexer.comparing.words import words
from indexer.lab.evaluation.judgements import DIFFERENT, DUPLICATES
from indexer.stores.abilities import FullStore

LANGUAGE_PAGES = 6  # of each language in the synthetic corpus
MIN_PAGES = 20  # of a language that is taken
MAX_BYTES = 30_000  # of a file, mostly compressed

Pair = tuple[str, str]


@dataclass
class Corpus:
    """Files, and what is known of their pairs; documents are called by names relative to it."""

    name: str
    folder: Path
    duplicates: dict[Pair, tuple[str, str]] = field(default_factory=dict)  # kind, language
    is_different: Callable[[str, str], bool] | None = None

    @cached_property
    def texts(self) -> dict[str, str]:
        """Texts by name, as the store of one version holds them; those of the other are equal."""
        store = self.store("v1")
        rows = {stored.id: self.relative(stored.path) for stored in store.scan()}
        return {rows[id]: stored.text for id, stored in store.get(list(rows)).items()}

    @cached_property
    def same_words(self) -> dict[str, str]:
        return {name: " ".join(words(text).folded) for name, text in self.texts.items()}

    def file(self, version: str) -> Path:
        """Return the file of the store of one version."""
        return self.folder.parent / f"{self.folder.name}-{version}.db"

    def store(self, version: str) -> FullStore:
        return open_store(f"sqlite:///{self.file(version)}")

    def relative(self, path: str) -> str:
        return str(Path(path).relative_to(self.folder.resolve()))

    def is_wrong(self, a: str, b: str) -> bool:
        """Return whether two documents are different, and not by their names alone."""
        assert self.is_different is not None
        return self.is_different(a, b) and self.same_words[a] != self.same_words[b]


def copy_files(paths: Iterable[Path], root: Path, out: Path) -> Path:
    for path in paths:
        copy = out / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return out


def real_corpora(work: Path, docs: Path, manuals: Path, limit: int) -> list[Corpus]:
    pages = files_under(manuals, max_bytes=MAX_BYTES)
    english = [path for path in pages if is_english(path, manuals)]
    products = Counter(product_of(path) for path in english)
    largest = products.most_common(1)[0][0]
    of_product = [path for path in english if product_of(path) == largest]
    others = [path for path in english if product_of(path) != largest]
    translated = [path for path in pages if not is_english(path, manuals)]
    choices = {
        "English manual pages": (others, manuals, is_other_command),
        f"manual pages of {largest}": (of_product, manuals, is_other_command),
        "translated manual pages": (translated, manuals, is_other_page),
        "documentation": (files_under(docs, max_bytes=MAX_BYTES), docs, None),
    }
    library = Path(sysconfig.get_path("stdlib"))
    modules = [path for path in files_under(library, max_bytes=MAX_BYTES) if path.suffix == ".py"]
    choices["modules of Python"] = (modules, library, lambda a, b: a != b)
    corpora = []
    for name, (paths, root, is_different) in choices.items():
        folder = work / "real" / name.replace(" ", "-")
        if not folder.exists():
            copy_files(paths[:limit], root, folder)
        corpora.append(Corpus(name, folder, {}, is_different))
    return [*corpora, mail_threads(work / "real" / "mails", limit)]


def mail_threads(folder: Path, limit: int) -> Corpus:
    """Return synthetic mails with their quotations: two are different if their own texts are."""
    mails = corpus(limit)[:limit]
    own_texts = {
        f"{mail.key}.eml": [part.text for part in mail.parts if part.depth == 0] for mail in mails
    }
    if not folder.exists():
        folder.mkdir(parents=True)
        for mail in mails:
            (folder / f"{mail.key}.eml").write_bytes(mail.bytes())
    return Corpus("mails", folder, {}, lambda a, b: own_texts[a] != own_texts[b])


def product_of(path: Path) -> str:
    return re.split(r"[-_.]", path.name)[0]


def is_english(path: Path, manuals: Path) -> bool:
    return re.fullmatch(r"man\d", path.relative_to(manuals).parts[0]) is not None


def command_of(name: str) -> str:
    """Return the command of a page, without section, release track and version.

    >>> [command_of(name) for name in ("man1/llvm-ar-14.1.gz", "man1/gcloud_beta_run_jobs.1.gz")]
    ['llvm-ar', 'gcloud_run_jobs']
    """
    stem = re.sub(r"\.\d\w*(\.gz)?$", "", Path(name).name)
    stem = re.sub(r"_(alpha|beta|preview)_", "_", stem, count=1)
    return re.sub(r"[-.]?\d+(\.\d+)*$", "", stem)


def is_other_command(a: str, b: str) -> bool:
    return command_of(a) != command_of(b)


def is_other_page(a: str, b: str) -> bool:
    """Return whether two pages are of different commands or languages; `pt` and `pt_BR` are one."""
    languages = {Path(name).parts[0].split("_")[0] for name in (a, b)}
    return len(languages) > 1 or is_other_command(a, b)


def synthetic_corpora(work: Path, manuals: Path, originals: int) -> list[Corpus]:
    real = work / "real"
    languages = work / "languages"
    if not languages.exists():
        english = [
            path for path in files_under(manuals, max_bytes=MAX_BYTES) if is_english(path, manuals)
        ]
        for folder in sorted(path for path in manuals.iterdir() if path.is_dir()):
            paths = files_under(folder, manuals, MAX_BYTES)
            if len(paths) >= MIN_PAGES and not is_english(paths[0], manuals):
                copy_files(paths[:LANGUAGE_PAGES], manuals, languages)
        copy_files(english[:LANGUAGE_PAGES], manuals, languages)
    sources = {
        "documentation": real / "documentation",
        "English manual pages": real / "English-manual-pages",
        "many languages": languages,
    }
    corpora = []
    for name, source in sources.items():
        out = work / "synthetic" / name.replace(" ", "-")
        if not (out / "gold.csv").exists():
            number = originals * 2 if source == languages else originals
            synth(source, out, SynthOptions(seed=1, documents=number, programs=False))
        corpora.append(synthetic_corpus(f"synthetic: {name}", out))
    return corpora


def synthetic_corpus(name: str, out: Path) -> Corpus:
    """Return a corpus of `synth` with its gold: other pairs of one group are not judged."""
    sources = json.loads((out / "corpus.json").read_text(encoding="utf-8"))["sources"]
    languages = {Path(path).name[:4]: language_of(source) for path, source in sources.items()}
    duplicates: dict[Pair, tuple[str, str]] = {}
    different: set[Pair] = set()
    with (out / "gold.csv").open(encoding="utf-8", newline="") as opened:
        for record in csv.DictReader(opened):
            pair = pair_of(Path(record["a"]).name, Path(record["b"]).name)
            if record["type"] in DUPLICATES:
                duplicates[pair] = record["kind"], languages[pair[0][:4]]
            elif record["type"] == DIFFERENT:
                different.add(pair)

    def is_different(a: str, b: str) -> bool:
        if pair_of(a, b) in different:
            return True
        return not (a + b).count("translation") and group_of(a) != group_of(b)

    return Corpus(name, out / "documents", duplicates, is_different)


def language_of(source: str) -> str:
    first = Path(source).parts[0]
    return "en" if re.fullmatch(r"man\d", first) else first


def group_of(name: str) -> int:
    """Return the number of the originals that a variant was made from: two share a boilerplate."""
    return (int(name[:4]) - 1) // 2


def pair_of(a: str, b: str) -> Pair:
    return (a, b) if a < b else (b, a)
