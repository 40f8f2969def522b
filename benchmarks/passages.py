"""Repeated passages that are inserted into real texts, found again by `nearfold passages`.

    python benchmarks/passages.py FOLDER --from FOLDER [--documents 10000] [--passages 50]

The passages are stretches of 25 to 80 words of the second folder's files. Each is inserted into 5
to 400 files of the first one, at most one in a file: at the top, in the middle or at the foot,
drawn with a fixed seed. Printed is the share of the files in which it is found: they are listed for
passages that hold nine tenths of its words. `more` are files listed for them that it was not
inserted into; they may have had it before.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from quality_tables import head, row

from indexer.indexing.documents import documents_at
from indexer.indexing.make_rows import ExtractedBlob, row_of
from indexer.matching.passages import PassagesOptions, RepeatedPassage, passages
from indexer.model import Blob, Document
from indexer.recipe import DEFAULT
from indexer.similarity.lcs import lcs_length
from indexer.sketch.fingerprint import fingerprints
from indexer.stores import open_store
from indexer.stores.abilities import FullStore
from indexer.text.normal_words import normal_words

SEED = 20
PLACES = ("top", "middle", "foot")
PART = 500


def read_texts(folder: str, number: int) -> Iterator[str]:
    """Texts of 100 to 5,000 words of so many files, drawn with a fixed seed."""
    paths = sorted(str(path) for path in Path(folder).rglob("*") if path.is_file())
    random.Random(SEED).shuffle(paths)
    count = 0
    for start in range(0, len(paths), PART):
        for _, document in documents_at(paths[start : start + PART]):
            if isinstance(document, Document) and 100 <= len(document.text.split()) <= 5_000:
                yield document.text
                count += 1
                if count == number:
                    return


def insert(
    texts: list[str], inserted: Sequence[str], draw: random.Random
) -> dict[int, tuple[int, str]]:
    """Insert the passages into texts; return the passage and the place by text."""
    free = list(range(len(texts)))
    draw.shuffle(free)
    where = {}
    for number, passage in enumerate(inserted):
        for _ in range(draw.randint(5, 400)):
            if not free:
                break
            text, place = free.pop(), draw.choice(PLACES)
            words = texts[text].splitlines(keepends=True)
            line = {"top": 0, "middle": len(words) // 2, "foot": len(words)}[place]
            words.insert(line, f"\n{passage}\n")
            texts[text] = "".join(words)
            where[text] = number, place
    return where


def draw_passages(folder: str, number: int, draw: random.Random) -> list[str]:
    """Return stretches of 25 to 80 words of so many files."""
    drawn = []
    for text in read_texts(folder, number):
        words = text.split()
        size = min(len(words), draw.randint(25, 80))
        start = draw.randrange(len(words) - size + 1)
        drawn.append(" ".join(words[start : start + size]))
    return drawn


def write_store(url: str, texts: list[str]) -> FullStore:
    """Return a new store of texts, whose ids are their numbers."""
    store = open_store(url)
    store.prepare(DEFAULT)
    signed = fingerprints(texts)
    rows = []
    for number, text in enumerate(texts):
        name = f"{number:06}"
        blob = Blob(name, name.encode(), f"/{name}", b"", len(text), 0)
        extracted = ExtractedBlob(blob, name, "", Document(text))
        rows.append(row_of(extracted, signed[number], DEFAULT.id))
    store.write(rows)
    return store


def passages_of(
    found: Sequence[RepeatedPassage], inserted: Sequence[str]
) -> dict[int, list[RepeatedPassage]]:
    """Return the passages that hold nine tenths of the words of each inserted one."""
    wanted = [normal_words(passage) for passage in inserted]
    of: dict[int, list[RepeatedPassage]] = defaultdict(list)
    for passage in found:
        words = normal_words(passage.text)
        for number, other in enumerate(wanted):
            if len(words) >= 0.9 * len(other) and lcs_length(words, other) >= 0.9 * len(other):
                of[number].append(passage)
    return of


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--from", dest="source", required=True)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--passages", type=int, default=50)
    options = parser.parse_args()
    draw = random.Random(SEED)
    inserted = draw_passages(options.source, options.passages, draw)
    texts = list(read_texts(options.folder, options.documents))
    where = insert(texts, inserted, draw)
    with tempfile.TemporaryDirectory() as folder:
        store = write_store(f"sqlite:///{folder}/x.db", texts)
        began = time.process_time()
        found = list(passages(store, PassagesOptions()))
        seconds = time.process_time() - began
    listed = {
        number: {int(place.id) for passage in parts for place in passage.places}
        for number, parts in passages_of(found, inserted).items()
    }
    hits: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    for text, (number, place) in where.items():
        totals[place] += 1
        hits[place] += text in listed.get(number, ())
    more = sum(where.get(text, (-1,))[0] != number for number in listed for text in listed[number])
    print(f"{len(texts)} files, {len(where)} insertions, {len(found)} passages, {seconds:.0f} s")
    print(*head(["inserted", "files", "found"]), sep="\n")
    for place in PLACES:
        print(row([place, str(totals[place]), f"{hits[place] / totals[place]:.4f}"]))
    print(f"more: {more}")


if __name__ == "__main__":
    main()
