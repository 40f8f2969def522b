"""Scans among other documents in one index of the default recipe: which look-ups find their copies.

    python benchmarks/scans.py FOLDER ... [--scans 120] [--others 3000] [--rate 0.05]

A scan is a PDF whose producer is a program that recognises characters, of a text of the folders
with a fraction of its characters misread; the others are indexed as they are. `similar` looks up
the scans, the texts that were scanned, and as many others: by `lcs`, and by the default, where
scans are compared by `lcs_misread`. Printed are the copies found, other matches, the texts that are
compared for one look-up, and its milliseconds of processor time; then what `match` finds, and its
seconds.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from candidates import pdf
from corpora import drawn_texts
from harness import arguments, head, row

from indexer import IndexOptions, MatchOptions, SimilarOptions, index, match, open_store
from indexer.lab.synthesis.changes import RandomSource, add_ocr_noise
from indexer.searching import similar
from indexer.stores.abilities import FullStore

PRODUCER = "Adobe Acrobat 9.0 Paper Capture Plug-in"
WORDS = 100, 2_000  # of a text
DEFAULT = MatchOptions()


def cells(store: FullStore, names: list[str], options: SimilarOptions) -> list[str]:
    """Return what the look-ups of these documents find, and what they cost."""
    ids = {Path(stored.path).name: stored.id for stored in store.scan()}
    of_id = {id: name for name, id in ids.items()}
    compared, rescore = [], similar.rescore
    similar.rescore = lambda *given: compared.append(len(given[1])) or rescore(*given)
    started = time.process_time()
    results = list(similar.similar_many(store, (), options, ids=[ids[name] for name in names]))
    seconds = time.process_time() - started
    similar.rescore = rescore
    stems = [
        (Path(of_id[result.query]).stem, Path(of_id[hit.id]).stem)
        for result in results
        for hit in result.matches
    ]
    right = sum(a == b for a, b in stems)
    costs = f"{sum(compared) / len(names):.1f}", f"{1000 * seconds / len(names):.1f}"
    return [f"{right} of {len(names)}", str(len(stems) - right), *costs]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--scans", type=int, default=120)
    parser.add_argument("--others", type=int, default=3000)
    parser.add_argument("--rate", type=float, default=0.05)
    options = parser.parse_args()
    texts = sorted(set(drawn_texts(options.folders, options.scans + options.others, WORDS, seed=1)))
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(texts):
            Path(folder, f"{number}.txt").write_text(text)
            if number < options.scans:
                misread = add_ocr_noise(text, options.rate, RandomSource(7, str(number)))
                Path(folder, f"{number}.pdf").write_bytes(pdf(misread, PRODUCER))
        with closing(open_store(f"sqlite:///{folder}/scans.db")) as store:
            index(folder, store, IndexOptions(family_threshold=None))
            numbers = range(options.scans)
            kinds = {
                "scans": [f"{number}.pdf" for number in numbers],
                "scanned texts": [f"{number}.txt" for number in numbers],
                "others": [f"{number + options.scans}.txt" for number in numbers],
            }
            print(f"{len(texts)} texts and {options.scans} scans\n")
            titles = "copies", "other matches", "compared", "ms"
            print(
                *head(
                    [
                        "look-ups of",
                        *(f"{way}: {name}" for way in ("`lcs`", "default") for name in titles),
                    ]
                ),
                sep="\n",
            )
            for kind, names in kinds.items():
                by_lcs = cells(store, names, SimilarOptions(measure="lcs"))
                print(row([kind, *by_lcs, *cells(store, names, SimilarOptions())]), flush=True)
            print("", *head(["match", "copies", "other pairs", "candidates", "s"]), sep="\n")
            for measure in (DEFAULT.measure, "lcs", "lcs_misread"):
                started = time.process_time()
                pairs = match(store, replace(DEFAULT, measure=measure))
                seconds = time.process_time() - started
                stems = [
                    (Path(pairs.names[a]).stem, Path(pairs.names[b]).stem)
                    for a, b in zip(pairs.left, pairs.right, strict=True)
                ]
                right = sum(a == b for a, b in stems)
                kind = "default" if measure is DEFAULT.measure else f"`{measure}`"
                found = right, len(stems) - right, pairs.candidates, f"{seconds:.1f}"
                print(row([kind, *map(str, found)]), flush=True)


if __name__ == "__main__":
    main()
