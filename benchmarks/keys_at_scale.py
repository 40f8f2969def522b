"""Check the keys of `default_v2` at 10^4 to 10^6 documents: near duplicates found, random pairs.

    python benchmarks/keys_at_scale.py FOLDER ... [--documents 10000,100000,1000000] [--layouts]

Documents are stretches of 60 to 400 words of the English texts below the folders (`.gz` too; of
Python files the strings in triple quotes, of HTML and manual pages the text without tags and
requests), cut at the ends of paragraphs, neighbours included, exact copies left out. A stretch is
English when 4 % of its words are among the commonest. With `--cuts`, for a machine with too few
texts, files are cut again at other places: such stretches overlap others of their file, and are
counted apart.

Near duplicates are edited copies of a random sample, an equal number by kind of edit, `lcs` about
even between .79 and .99; counted are those with .8 <= `lcs` < 1. Random pairs are all pairs of a
random sample of documents with all documents; `different files` leaves out pairs of one file, which
overlapping cuts need; `unlike` are those whose slots estimate a Jaccard similarity below .3. `read`
are the documents in the lists of a look-up's keys, once for each. Hot keys are those that look-ups
leave out. A collision is a candidate that shares fewer bands of slots than keys are asked for.
`--layouts` prints which layouts would reach .998 for the pairs of the first size.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from edited_copies import EDITS, EditedCopies, edited_copies_of
from key_layouts import (
    FEATURES,
    best_layouts,
    described,
    incidence,
    jaccard_of_all,
    jaccard_of_pairs,
)
from numpy.typing import NDArray
from stretches import Stretch, stretches

from indexer.recipe import DEFAULT_V1, DEFAULT_V2
from indexer.sketch.fingerprint import fingerprints
from indexer.sketch.keys import band_hashes, short_keys
from indexer.sketch.wilson import wilson

SEED = 20
BATCH = 2000
HOT_FLOOR, HOT_SHARE = 1000, 0.05
SIMILAR = 0.3  # Jaccard similarity of word pairs; `lcs` of .8 gives .43 or more, edits of blocks .6
TENTHS = (0.8, 0.85, 0.9, 0.95, 1.0)
LENGTHS = (0, 100, 200, 1000)
LAYOUT_FEATURES = ("word pair occurrences", "word occurrences", "words", "word pairs", "6-grams")
LAYOUT_DOCUMENTS = 3000

V2, V1 = (dataclasses.replace(recipe, bands=0, blocks=None) for recipe in (DEFAULT_V2, DEFAULT_V1))
BANDS, ROWS, SHARED = DEFAULT_V2.bands or 0, DEFAULT_V2.rows or 0, DEFAULT_V2.shared or 1
SLOTS, DIGITS = DEFAULT_V2.slots or 0, DEFAULT_V2.key_digits or 0
BANDS_V1, ROWS_V1, BLOCKS = DEFAULT_V1.bands or 0, DEFAULT_V1.rows or 0, DEFAULT_V1.blocks or 0


Keys = NDArray[Any]


@dataclass(slots=True)
class Keyed:
    """The slots of documents, one row each, and their keys as numbers, one row a band."""

    slots: NDArray[np.uint8]
    keys: NDArray[np.uint32]
    keys_v1: NDArray[np.uint64]

    def fill(self, start: int, texts: list[str]) -> None:
        """Sign texts as the documents from `start` on."""
        part = slice(start, start + len(texts))
        signed = fingerprints(texts, V2).minhash
        self.slots[part] = signed
        self.keys[:, part] = short_keys(signed, BANDS, ROWS, DIGITS).T
        first = fingerprints(texts, V1)
        self.keys_v1[:BANDS_V1, part] = band_hashes(first.minhash, BANDS_V1, ROWS_V1).T
        for block in range(BLOCKS):
            bits = first.simhash >> np.uint64(64 // BLOCKS * block)
            self.keys_v1[BANDS_V1 + block, part] = bits & np.uint64((1 << 64 // BLOCKS) - 1)


def keyed(count: int) -> Keyed:
    return Keyed(
        np.zeros((count, SLOTS), np.uint8),
        np.zeros((BANDS, count), np.uint32),
        np.zeros((BANDS_V1 + BLOCKS, count), np.uint64),
    )


@dataclass(slots=True)
class Documents:
    """`count` documents and the texts of a random sample of them, by place."""

    keyed: Keyed
    file: NDArray[np.int32]
    folder: NDArray[np.int8]
    cut: NDArray[np.int8]
    texts: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.file)

    def first(self, count: int) -> Documents:
        parts = (self.keyed.keys, self.keyed.keys_v1)
        texts = {place: text for place, text in self.texts.items() if place < count}
        return Documents(
            Keyed(self.keyed.slots[:count], *(part[:, :count] for part in parts)),
            *(part[:count] for part in (self.file, self.folder, self.cut)),
            texts,
        )


def collect(source: Iterator[Stretch], count: int, sampled: set[int]) -> Documents:
    """Return the first `count` stretches, or all if there are fewer."""
    result = Documents(
        keyed(count),
        np.zeros(count, np.int32),
        np.zeros(count, np.int8),
        np.zeros(count, np.int8),
    )
    start = 0
    while batch := list(itertools.islice(source, min(BATCH, count - start))):
        result.keyed.fill(start, [stretch.text for stretch in batch])
        for place, stretch in enumerate(batch, start):
            result.file[place], result.folder[place] = stretch.file, stretch.folder
            result.cut[place] = stretch.cut
            if place in sampled:
                result.texts[place] = stretch.text
        start += len(batch)
    return result.first(start)


def hot_keys(keys: Keys) -> list[Keys]:
    """Return the hot keys of each band."""
    hot = []
    cap = max(HOT_FLOOR, int(HOT_SHARE * keys.shape[1]))
    for band in keys:
        values, carriers = np.unique(band, return_counts=True)
        hot.append(values[carriers > cap])
    return hot


def _groups(edited: EditedCopies) -> list[tuple[str, NDArray[np.bool_]]]:
    """Return the pairs of edited copies to be counted together, with a name."""
    scores, lengths = np.array(edited.scores), np.array(edited.lengths)
    groups = [("all", np.ones(len(scores), np.bool_))]
    groups += [
        (f"lcs {low:.2f} to {high:.2f}", (low <= scores) & (scores < high))
        for low, high in itertools.pairwise(TENTHS)
    ]
    groups += [
        (f"{low} to {high} words", (low <= lengths) & (lengths < high))
        for low, high in itertools.pairwise(LENGTHS)
    ]
    kinds = np.array(edited.kinds)
    groups += [(edit.__name__, kinds == kind) for kind, (edit, _) in enumerate(EDITS)]
    groups += [
        (f"{edit.__name__}, {name}", (kinds == kind) & chosen)
        for kind, (edit, _) in enumerate(EDITS[:2])
        for name, chosen in groups[1 : len(TENTHS)]
    ]
    return groups


def report_recall(documents: Documents, edited: EditedCopies, hot: list[Keys]) -> None:
    copies = keyed(len(edited.copies))
    for start in range(0, len(edited.copies), BATCH):
        copies.fill(start, edited.copies[start : start + BATCH])
    same = documents.keyed.keys[:, edited.places] == copies.keys
    is_hot = np.array([np.isin(*each) for each in zip(copies.keys, hot, strict=True)])
    same_v1 = documents.keyed.keys_v1[:, edited.places] == copies.keys_v1
    found = [is_candidate(same, np.zeros_like(is_hot)), is_candidate(same, is_hot)]
    found += [same_v1.any(axis=0), same_v1[:BANDS_V1].any(axis=0)]
    print(
        "  near duplicates | pairs | default_v2 | 95 % | without hot keys | default_v1 | its bands"
    )
    for name, chosen in _groups(edited):
        count = int(chosen.sum())
        v2, cold, v1, bands = (float(each[chosen].mean()) if count else 0.0 for each in found)
        low, high = wilson(v2 * count, count)
        interval = f"{low:.4f} to {high:.4f}"
        print(f"  {name} | {count:,} | {v2:.4f} | {interval} | {cold:.4f} | {v1:.4f} | {bands:.4f}")


def is_candidate(same: NDArray[np.bool_], is_hot: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Flag the columns that share enough bands: hot ones count for all that share another one."""
    cold = (same & ~is_hot).sum(axis=0)
    least: NDArray[np.intp] = np.maximum(1, SHARED - is_hot.sum(axis=0))
    return cold >= least


@dataclass(slots=True)
class LookUps:
    """Candidates of each look-up of a sample, one number each."""

    folder: list[int] = field(default_factory=list)
    candidates: list[int] = field(default_factory=list)
    without_hot: list[int] = field(default_factory=list)
    other_files: list[int] = field(default_factory=list)
    own_folder: list[int] = field(default_factory=list)
    collisions: list[int] = field(default_factory=list)
    similar: list[int] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    v1: list[int] = field(default_factory=list)
    v1_bands: list[int] = field(default_factory=list)


def sharing(keys: Keys, place: int, bands: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Flag the other documents that share a key of one of the bands."""
    shared = np.zeros(keys.shape[1], np.bool_)
    for band in bands:
        shared |= keys[band] == keys[band, place]
    shared[place] = False
    return shared


def counts(
    keys: Keys, place: int, is_cold: NDArray[np.bool_]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Count the keys that each other document shares: all, and those that are cold."""
    every, cold = np.zeros((2, keys.shape[1]), np.uint8)
    for band, own in enumerate(keys):
        same = own == own[place]
        every += same
        if is_cold[band]:
            cold += same
    every[place] = cold[place] = 0
    return every, cold


def look_up(documents: Documents, hot: list[Keys], sample: NDArray[np.intp]) -> LookUps:
    result = LookUps()
    every_v1 = np.arange(BANDS_V1 + BLOCKS)
    slots, keys = documents.keyed.slots, documents.keyed.keys
    for place in sample.tolist():
        is_hot = np.array([keys[band, place] in hot[band] for band in range(BANDS)])
        shared, cold = counts(keys, place, ~is_hot)
        found = np.flatnonzero(shared >= SHARED)
        without = cold >= max(1, SHARED - int(is_hot.sum()))
        equal = slots[found] == slots[place]
        bands = equal[:, : BANDS * ROWS].reshape(len(found), BANDS, ROWS).all(axis=2)
        agree = equal.mean(axis=1)
        bands_v1 = sharing(documents.keyed.keys_v1, place, every_v1[:BANDS_V1])
        blocks_v1 = sharing(documents.keyed.keys_v1, place, every_v1[BANDS_V1:])
        folder = documents.folder[place]
        result.folder.append(int(folder))
        result.candidates.append(len(found))
        result.without_hot.append(int(without.sum()))
        result.other_files.append(int((documents.file[found] != documents.file[place]).sum()))
        result.own_folder.append(int((documents.folder[found] == folder).sum()))
        result.collisions.append(int((bands.sum(axis=1) < SHARED).sum()))
        result.read.append(int(shared.sum()))
        result.similar.append(int((agree >= SIMILAR + (1 - SIMILAR) / 256).sum()))
        result.v1_bands.append(int(bands_v1.sum()))
        result.v1.append(int((bands_v1 | blocks_v1).sum()))
    return result


def report_look_ups(documents: Documents, folders: list[Path], found: LookUps) -> None:
    others = len(documents) - 1
    named = {
        "default_v2": found.candidates,
        "without hot keys": found.without_hot,
        "different files": found.other_files,
        "unlike": [a - b for a, b in zip(found.candidates, found.similar, strict=True)],
        "collisions": found.collisions,
        "read": found.read,
        "default_v1": found.v1,
        "its bands": found.v1_bands,
    }
    print("  candidates | % of pairs | standard error | mean | median | p99 | most")
    for name, values in named.items():
        error = np.std(values) / np.sqrt(len(values)) / others
        middle, last = np.percentile(values, (50, 99))
        print(
            f"  {name} | {100 * np.mean(values) / others:.4f} | {100 * error:.4f} "
            f"| {np.mean(values):,.1f} | {middle:,.0f} | {last:,.0f} | {max(values):,}"
        )
    folder, own = np.array(found.folder), np.array(found.own_folder)
    for number, path in enumerate(folders):
        size = int((documents.folder == number).sum())
        share = own[folder == number].mean() / max(1, size - 1) if (folder == number).any() else 0
        print(f"  inside {path.name}: {size:,} documents, {100 * share:.4f} % of pairs")


def report_layouts(documents: Documents, edited: EditedCopies) -> None:
    """Print the layouts that reach .998 of a sample of edited copies, by features."""
    count = min(LAYOUT_DOCUMENTS, len(edited.places))
    chosen = np.random.default_rng(SEED).choice(len(edited.places), count, replace=False)
    originals = [documents.texts[edited.places[place]] for place in chosen]
    copies = [edited.copies[place] for place in chosen]
    pairs = np.arange(2 * count).reshape(2, -1).T
    is_scattered = np.array(edited.kinds)[chosen] == 0
    for name in LAYOUT_FEATURES:
        rows = incidence([FEATURES[name](text) for text in [*originals, *copies]])
        near = jaccard_of_pairs(rows, pairs)
        random = jaccard_of_all(rows[:count])
        for edits, values in (("all edits", near), ("scattered edits", near[is_scattered])):
            print(f"  {name}, {edits}: mean J of near duplicates {values.mean():.3f}")
            print("\n".join(best_layouts([values], random)))
            now = described([values], random, BANDS, ROWS, SHARED)
            print(f"  as default_v2: {now}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--documents", default="10000,100000,1000000")
    parser.add_argument("--edited", type=int, default=30_000)
    parser.add_argument("--look-ups", type=int, default=1000)
    parser.add_argument("--cuts", type=int, default=1)
    parser.add_argument("--layouts", action="store_true")
    options = parser.parse_args()
    for count in sorted(map(int, options.documents.split(","))):
        start = time.process_time()
        rng = np.random.default_rng(SEED)
        sampled = rng.choice(count, min(count, options.edited), replace=False)
        documents = collect(stretches(options.folders, options.cuts), count, set(sampled.tolist()))
        overlapping = int((documents.cut > 0).sum())
        print(
            f"{len(documents):,} documents of {len(np.unique(documents.file)):,} files, "
            f"{len(documents) - overlapping:,} without overlap",
            flush=True,
        )
        hot = hot_keys(documents.keyed.keys)
        edited = edited_copies_of(documents.texts)
        report_recall(documents, edited, hot)
        sample = rng.choice(len(documents), min(len(documents), options.look_ups), replace=False)
        report_look_ups(documents, options.folders, look_up(documents, hot, sample))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"  hot keys {sum(map(len, hot))}")
        print(f"  key bytes: {BANDS * DIGITS}, default_v1 {BANDS_V1 * 18 + BLOCKS * 6}")
        print(f"  {time.process_time() - start:.0f} s, peak {peak:.2f} GB", flush=True)
        if options.layouts:
            report_layouts(documents, edited)
            options.layouts = False


if __name__ == "__main__":
    main()
