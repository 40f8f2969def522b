"""Synthetic collections whose near duplicates are known, texts of this machine, and their rows."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, islice
from pathlib import Path

import harness  # noqa: F401 (makes `indexer` importable)
import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cdist

from indexer.comparing.words import normal_words
from indexer.fingerprinting.fingerprint import fingerprints
from indexer.jobs.document_rows import ExtractedBlob, documents_at, row_of
from indexer.model import Blob, Document, Row
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.stores.abilities import FullStore

SLOTS = 128
Codes = NDArray[np.uint64]
Numbers = NDArray[np.int64]
Random = np.random.Generator

# Slots of known similarity


@dataclass(frozen=True)
class KnownPairs:
    """Slots of documents in any order; the pairs as `pair_codes`, ascending, and the similarity of
    each.
    """

    slots: NDArray[np.uint32]
    pairs: Codes
    similarity: NDArray[np.float64]


def pair_codes(a: Numbers, b: Numbers) -> Codes:
    """Return each pair as one number, the lower document first."""
    return np.minimum(a, b).astype(np.uint64) << np.uint64(32) | np.maximum(a, b).astype(np.uint64)


def random_slots(documents: int, template: float, rng: Random, alike: float = 0.0) -> KnownPairs:
    """Return slots of documents of which half are in families: an original and copies, each of
    which keeps a slot of the original with its own probability.

    The similarity of two of a family is the product of both probabilities, from .3 to 1. Families
    have 2 to 40 documents, most of them few. With `template` a fraction of all documents carries 40
    slots in common, as forms do. `alike` is the similarity of two documents of different families:
    each slot holds the value that is frequent in its column with the root of it.
    """
    slots = rng.integers(0, 2**32, (documents, SLOTS), dtype=np.uint32)
    if alike:
        frequent = rng.integers(0, 2**32, SLOTS, dtype=np.uint32)
        for start in range(0, documents, 10_000):
            part = slots[start : start + 10_000]
            np.copyto(part, frequent, where=rng.random(part.shape) < alike**0.5)
    sizes = np.minimum(40, 2 + rng.pareto(1.5, documents // 4)).astype(np.int64)
    sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), documents // 2))]
    starts = np.cumsum(sizes) - sizes
    kept_fractions = rng.uniform(0.3, 1.0, sizes.sum()) ** 0.5
    kept_fractions[starts] = 1.0
    originals = np.repeat(starts, sizes)
    for start in range(0, len(originals), 10_000):
        of = slice(start, min(start + 10_000, len(originals)))
        mask = rng.random((of.stop - start, SLOTS)) < kept_fractions[of, None]
        slots[of] = np.where(mask, slots[originals[of]], slots[of])
    alone = rng.permutation(documents - documents // 2)
    forms = documents // 2 + alone[: int(template * documents)]
    slots[forms, :40] = slots[forms[:1], :40]
    a, b = pairs_within(starts, sizes)
    order = rng.permutation(documents)
    positions = np.empty(documents, dtype=np.int64)
    positions[order] = np.arange(documents)
    pairs = pair_codes(positions[a], positions[b])
    ascending = np.argsort(pairs)
    kept = (kept_fractions[a] * kept_fractions[b])[ascending]
    return KnownPairs(slots[order], pairs[ascending], kept + (1 - kept) * alike)


def pairs_within(starts: Numbers, sizes: Numbers) -> tuple[Numbers, Numbers]:
    """Return all pairs of positions inside each run of positions."""
    ends = np.repeat(starts + sizes, sizes)
    inside = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    positions = inside + np.repeat(starts, sizes)
    partners = ends - positions - 1
    first = np.repeat(positions, partners)
    ordinals = np.arange(len(first)) - np.repeat(np.cumsum(partners) - partners, partners)
    return first, first + 1 + ordinals


# Texts of made-up words


def vocabulary(rng: Random) -> NDArray[np.str_]:
    """Return 20,000 made-up words of two to eight letters."""
    letters = list("etaoinshrdlucm")
    lengths = rng.integers(2, 9, 20_000)
    return np.array(["".join(rng.choice(letters, length)) for length in lengths])


def random_texts(documents: int, words: int, rng: Random, alone: float = 0.5) -> list[str]:
    """Return texts of equally frequent words; all but a fraction of the originals have copies that
    are edited at random positions.
    """
    known = vocabulary(rng)
    texts: list[str] = []
    while len(texts) < documents:
        original = rng.choice(known, words)
        for _ in range(1 if rng.random() < alone else int(min(20, 2 + rng.pareto(1.5)))):
            edited = original.copy()
            is_other = rng.random(words) < rng.uniform(0, 0.15)
            edited[is_other] = rng.choice(known, is_other.sum())
            texts.append(" ".join(edited))
    return texts[:documents]


def revised_texts(count: int, seed: int) -> Iterator[str]:
    """Yield texts of 40 to 200 words whose frequencies fall as in a language; one in five is a
    revision of an earlier one.
    """
    chance = random.Random(seed)
    known = [
        f"{chance.choice('bdfgklmnprst')}{chance.choice('aeiou')}{number:x}"
        for number in range(20_000)
    ]
    recent: list[list[str]] = []
    for _ in range(count):
        if recent and chance.random() < 0.2:
            words = list(chance.choice(recent))
            words[chance.randrange(len(words))] = chance.choice(known)
        else:
            ranks = (int(chance.paretovariate(0.6)) for _ in range(chance.randint(40, 200)))
            words = [known[min(rank, len(known) - 1)] for rank in ranks]
        recent = [*recent[-999:], words]
        yield " ".join(words)


def short_records(count: int, words: int) -> Iterator[str]:
    """Yield short texts; a tenth of them repeat the one before with a word changed."""
    chance = random.Random(5)
    known = ["".join(chance.choices("abcdefghiklmnoprstuvwz", k=6)) for _ in range(40_000)]
    weights = list(accumulate(1 / (rank + 10) for rank in range(len(known))))
    last: list[str] = []
    for number in range(count):
        if number % 10 == 9:
            last = [*last[:-1], chance.choice(known)]
        else:
            last = chance.choices(known, cum_weights=weights, k=words)
        yield " ".join(last)


def scattered(text: list[str], other: list[str], fraction: float, rng: Random) -> list[str]:
    """Replace, delete and insert single words at random positions."""
    count = max(1, round(fraction * len(text)))
    chosen = set(rng.choice(len(text), count, replace=False).tolist())
    edited: list[str] = []
    for position, word in enumerate(text):
        kind = rng.integers(3) if position in chosen else 3
        drawn = other[int(rng.integers(len(other)))]
        edited += ([drawn], [], [word, drawn], [word])[kind]
    return edited


class FrequentWords:
    """Texts that are as alike as those of a language, with families, a template, and one text of
    which every hundredth document is a copy.
    """

    size, exponent, part = 1500, 1.15, 10_000

    def __init__(self, words: int, seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self.seed, self.words = seed, words
        self.vocabulary = np.array(self._syllables(rng))
        weights = 1 / np.arange(1, self.size + 1) ** self.exponent
        self.weights = weights / weights.sum()
        self.copied = self._draw(rng, words)
        self.template = self._draw(rng, words // 2)

    def write(self, folder: Path, count: int) -> None:
        """Write so many documents as JSON Lines."""
        folder.mkdir()
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(partial(self._write, folder, count), range(0, count, self.part)))

    def common_grams(self, width: int, sample: int = 200) -> float:
        """Return the median fraction of n-grams that two unrelated texts have in common."""
        texts = dict(self._kinds(np.random.default_rng([self.seed, 0]), self.part))
        unrelated = [self._text(words) for kind, words in texts.items() if kind[:6] == "family"]
        grams = [
            {text[start : start + width] for start in range(len(text) - width + 1)}
            for text in unrelated[:sample]
        ]
        pairs = ((a, b) for position, a in enumerate(grams) for b in grams[:position])
        return float(np.median([len(a & b) / len(a | b) for a, b in pairs]))

    def _write(self, folder: Path, count: int, start: int) -> None:
        rng = np.random.default_rng([self.seed, start])
        with (folder / f"{start:09}.jsonl").open("w", encoding="utf-8") as file:
            for _, words in list(self._kinds(rng, min(self.part, count - start))):
                name = f"{rng.integers(2**63):016x}"
                print(json.dumps({"id": name, "text": self._text(words), "modified": 0}), file=file)

    def _kinds(self, rng: Random, count: int) -> Iterator[tuple[str, Numbers]]:
        copies, forms = count // 100, count // 20
        for _ in range(copies):
            yield "copy", self._edited(rng, self.copied, 2 / self.words)
        for _ in range(forms):
            fields = self._draw(rng, self.words - len(self.template))
            yield "form", np.concatenate([self.template, fields])
        left = count - copies - forms
        while left > 0:
            original = self._draw(rng, self.words)
            size = 1 if rng.random() < 0.8 else int(min(20, 2 + rng.pareto(1.5)))
            for number in range(min(size, left)):
                fraction = rng.uniform(0, 0.15) if number else 0.0
                yield f"family {left}", self._edited(rng, original, fraction)
            left -= size

    def _syllables(self, rng: Random) -> list[str]:
        """Return made-up words of one to three syllables, shorter ones first."""
        syllables = [a + b for a in "tnsrldmcpb" for b in "eaoiu"]
        known: dict[str, None] = {}
        while len(known) < self.size:
            length = 1 + int(len(known) >= 40) + int(len(known) >= self.size // 2)
            known["".join(rng.choice(syllables, length))] = None
        return list(known)

    def _draw(self, rng: Random, count: int) -> Numbers:
        return rng.choice(self.size, count, p=self.weights)

    def _edited(self, rng: Random, words: Numbers, fraction: float) -> Numbers:
        is_other = rng.random(len(words)) < fraction
        return np.where(is_other, self._draw(rng, len(words)), words)

    def _text(self, words: Numbers) -> str:
        return " ".join(self.vocabulary[words])


def library(documents: int, rng: Random) -> list[str]:
    """Return texts of 150 to 300 words, 0.9 to 2.4 kB, in any order.

    The r-th most frequent word is as frequent as 1 / r. A third of the texts stand alone; two
    fifths are in families of copies with words replaced, passages gone or the layout changed; the
    rest are forms, which share a passage with others without being copies.
    """
    letters = [82, 15, 28, 43, 127, 22, 20, 61, 70, 2, 8, 40, 24, 67, 75, 19, 1, 60, 63, 91, 28, 10]
    english = np.array([*letters, 24, 2, 20, 1])  # frequencies of a to z
    alphabet, size = list("abcdefghijklmnopqrstuvwxyz"), 50_000
    drawn = rng.choice(alphabet, (size, 11), p=english / english.sum())
    lengths = rng.integers(2, 12, size)
    known = np.array(["".join(row[:end]) for row, end in zip(drawn, lengths, strict=True)])
    weights = np.cumsum(1 / np.arange(3, size + 3))

    def words(count: int) -> NDArray[np.str_]:
        return known[np.searchsorted(weights, rng.random(count) * weights[-1])]

    texts: list[str] = []
    while len(texts) < documents:
        kind, length = rng.random(), int(rng.integers(150, 301))
        if kind < 0.7:
            texts.append(_sentences(words(length)))
        elif kind < 0.94:
            original = words(length)
            copies = min(30, 2 + int(rng.pareto(1.5)))
            texts += [_changed_copy(original, words, rng) for _ in range(copies)]
        else:
            passage = words(int(length * rng.uniform(0.5, 0.9)))
            forms = range(rng.integers(3, 20))
            rests = (words(length - len(passage)) for _ in forms)
            texts += [_sentences(np.concatenate([passage, rest])) for rest in rests]
    rng.shuffle(texts)
    return texts[:documents]


def _changed_copy(original: NDArray[np.str_], words: Callable, rng: Random) -> str:
    edited, kind, length = original.copy(), rng.random(), len(original)
    is_other = rng.random(length) < (0 if kind < 0.2 else rng.uniform(0, 0.06))
    edited[is_other] = words(int(is_other.sum()))
    if kind > 0.8:
        start = int(rng.integers(0, length))
        edited = np.delete(edited, slice(start, start + int(rng.integers(5, length // 4))))
    text = _sentences(edited)
    return text.upper().replace(". ", ".\n\n") if rng.random() < 0.2 else text


def _sentences(words: NDArray[np.str_]) -> str:
    """Return sentences of twelve words."""
    starts = range(0, len(words), 12)
    return ". ".join(" ".join(words[start : start + 12].tolist()) for start in starts) + "."


# Exact similarities of all pairs


def word_strings(texts: Iterable[str]) -> list[str]:
    """Return each text as a string with a character for each of its words, as `lcs` reads them."""
    numbers: dict[str, int] = {}
    strings = []
    for text in texts:
        words = normal_words(text)
        codes = [numbers.setdefault(words.vocabulary[n], len(numbers)) for n in words.numbers]
        strings.append("".join(chr(n + 0x800 * (n >= 0xD800)) for n in codes))  # no surrogates
    return strings


def neighbours(texts: Sequence[str], queries: Sequence[int], threshold: float) -> list[set[int]]:
    """Return for each query, a position, the other texts whose `lcs` with it is high enough."""
    strings = word_strings(texts)
    near = cdist(
        [strings[query] for query in queries],
        strings,
        scorer=LCSseq.normalized_similarity,
        # lower: rapidfuzz 3.14 may give 0 for a pair whose similarity is exactly the cut-off
        score_cutoff=threshold - 0.01,
        dtype=np.float32,
    )
    found = zip(queries, near >= threshold - 1e-6, strict=True)
    return [{*np.flatnonzero(is_near).tolist()} - {query} for query, is_near in found]


# Texts of this machine


def files_under(folder: Path, root: Path | None = None, max_bytes: int = 10**9) -> list[Path]:
    """Return the files below a folder, but links and large ones, by a digest of their names."""
    root = root or folder
    paths = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    small = [path for path in paths if path.stat().st_size <= max_bytes]
    return sorted(small, key=lambda p: hashlib.sha256(str(p.relative_to(root)).encode()).digest())


def read_text(path: Path) -> str | None:
    """Return the text of a file, `.gz` too; None if it is not UTF-8."""
    try:
        content = path.read_bytes()
        return (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        return None


def drawn_texts(
    folders: Iterable[str | Path], count: int, lengths: tuple[int, int], seed: int
) -> list[str]:
    """Return the extracted texts of so many files, of a number of words within `lengths`."""
    paths = [str(path) for name in folders for path in Path(name).rglob("*") if path.is_file()]
    paths.sort()
    random.Random(seed).shuffle(paths)
    few, many = lengths
    texts: list[str] = []
    for start in range(0, len(paths), 500):
        documents = (item for _, item in documents_at(paths[start : start + 500]))
        found = (item.text for item in documents if isinstance(item, Document))
        texts += [text for text in found if few <= len(text.split()) <= many]
        if len(texts) >= count:
            break
    return texts[:count]


def write_files(folder: Path, folders: Iterable[Path], count: int, length: int) -> None:
    """Write files of `length` characters, cut from texts in an order without meaning."""
    folder.mkdir()
    numbers = iter(range(count))
    for path in (path for source in folders for path in files_under(source)):
        text = read_text(path) or ""
        for start in range(0, len(text) - length + 1, length):
            number = next(numbers, None)
            if number is None:
                return
            (folder / f"{number:06}.txt").write_text(text[start : start + length], "utf-8")


def write_lines(path: Path, texts: Iterable[str], prefix: str = "") -> Path:
    """Write texts as JSON Lines, with ids that count up."""
    with path.open("w", encoding="utf-8") as out:
        for number, text in enumerate(texts):
            id = f"{prefix}{number}" if prefix else number
            out.write(json.dumps({"id": id, "text": text}) + "\n")
    return path


# Rows and stores


def signed_rows(named: Sequence[tuple[str, str]], first: int = 0) -> list[Row]:
    """Return the rows of texts by name, signed together; each is a second newer than the last."""
    signed = fingerprints([text for _, text in named], DEFAULT)
    rows = []
    for number, (name, text) in enumerate(named):
        modified = (first + number) * 1_000_000_000
        blob = Blob(name, name.encode(), f"/synthetic/{name}.txt", b"", len(text), modified)
        extracted = ExtractedBlob(blob, name, name, Document(text, content_type="text/plain"))
        rows.append(row_of(extracted, signed[number], DEFAULT.id))
    return rows


def fill_store(url: str, named: Iterable[tuple[str, str]]) -> FullStore:
    """Return a new store of named texts, which are made and signed a thousand at a time."""
    store = open_store(url)
    store.prepare(DEFAULT)
    remaining = iter(named)
    while part := list(islice(remaining, 1000)):
        if any(store.write(signed_rows(part))):
            raise SystemExit("a document was refused")
    return store
