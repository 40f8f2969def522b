"""Random libraries of short texts in families, with all that makes grouping hard, and an embedded
store of them.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, replace
from pathlib import Path

from indexer.fingerprinting.fingerprint import content_digest, fingerprints
from indexer.jobs.document_rows import ExtractedBlob, row_of
from indexer.model import Blob, Document, EmbeddedFile, pack_embedded
from indexer.recipe import DEFAULT, Recipe
from indexer.stores import open_store
from indexer.stores.base import Store


@dataclass(frozen=True)
class Record:
    id: str
    text: str
    modified: int | None
    truncated: bool
    labels: tuple[str, ...]


def library(seed: int, size: int) -> list[Record]:
    """Return families of edited texts, and texts without keys.

    The families hold copies, copies that only normalise alike, cut texts and ties of time. Two
    tables of numbers differ in one.
    """
    chance = random.Random(seed)
    words = ["".join(chance.choices("etaoinshrdlucm", k=chance.randint(2, 8))) for _ in range(600)]
    texts: list[str] = []
    while len(texts) < size:
        family = [chance.choices(words, k=chance.randint(15, 60))]
        for _ in range(chance.choice([0, 0, 1, 2, 5, 12])):
            share = chance.choice([0, 0.02, 0.05, 0.1])
            edited = [
                chance.choice(words) if chance.random() < share else word
                for word in chance.choice(family)
            ]
            family.append(edited[: -chance.randint(1, 3)] if chance.random() < 0.3 else edited)
        texts += [_vary(" ".join(text), chance) for text in family]
    texts += ["", "", "ab", "12345 6789", "12345 6789", "x y", "0000000000000000", " \n"]
    texts += [" ".join(str(line * line + (line == odd)) for line in range(30)) for odd in (0, 9)]
    return [
        Record(
            id=f"{chance.getrandbits(40):010x}",
            text=text,
            modified=chance.choice([None, 1000, 2000, 3000]),
            truncated=chance.random() < 0.15,
            labels=chance.choice([(), ("p",), ("p", "q")]),
        )
        for text in texts
    ]


def short_library(seed: int, size: int) -> list[Record]:
    """Return texts of 4 to 24 words of which many differ in one or two."""
    chance = random.Random(seed)
    words = [f"w{number}" for number in range(40)]
    texts = [chance.choices(words, k=chance.randint(4, 24)) for _ in range(size // 4)]
    while len(texts) < size:
        edited = list(chance.choice(texts))
        edited[chance.randrange(len(edited))] = chance.choice(words)
        texts.append(edited)
    return [
        Record(f"short{place:04}", " ".join(text), 1000, False, ("p",) if place % 2 else ())
        for place, text in enumerate(texts)
    ]


def illustrated() -> list[Record]:
    """Return two texts that `add_pictures` puts around pictures."""
    texts = [" ".join(f"{name}{number}" for number in range(40)) for name in "ab"]
    return [Record(f"text{number}", text, 1000, False, ()) for number, text in enumerate(texts)]


def add_pictures(store: Store, records: list[Record]) -> None:
    """Store each record thrice, around one picture, the same picture, and another."""
    pictures = [pack_embedded([EmbeddedFile("picture", name, name * 64)]) for name in "xxy"]
    for row in store.get([record.id for record in records]).values():
        digests = [content_digest(row.exact, picture) for picture in pictures]
        ids = [row.id, f"{row.id}-copy", f"{row.id}-other"]
        store.write(
            [
                replace(row, id=id, family=id, embedded=picture, exact=digest)
                for id, picture, digest in zip(ids, pictures, digests, strict=True)
            ]
        )


def _vary(text: str, chance: random.Random) -> str:
    """Sometimes change case or add words that normalise away: the same text, another document."""
    if chance.random() < 0.1:
        text = text.upper()
    return f"{text} ." if chance.random() < 0.1 else text


def store_of(records: list[Record], url: str, recipe: Recipe = DEFAULT) -> Store:
    """Return a store of the records, signed by one machine."""
    store = open_store(url)
    store.prepare(recipe)
    for start in range(0, len(records), 1000):
        part = records[start : start + 1000]
        signed = fingerprints([record.text for record in part], recipe)
        rows = [
            row_of(_document_of(record), signed[place], recipe.id)
            for place, record in enumerate(part)
        ]
        assert not any(store.write(rows))
    return store


def _document_of(record: Record) -> ExtractedBlob:
    modified = None if record.modified is None else record.modified * 1_000_000
    document = Document(record.text, truncated=record.truncated, labels=record.labels)
    blob = Blob(record.id, b"", f"/{record.id}", b"", 0, modified)
    return ExtractedBlob(blob, f"raw of {record.text}", "", document)


def as_json(records: list[Record], folder: Path, files: int) -> Path:
    """Write the records as JSON lines, spread over so many files."""
    folder.mkdir(parents=True)
    for place in range(files):
        lines = (json.dumps(vars(record)) for record in records[place::files])
        (folder / f"{place}.jsonl").write_text("\n".join(lines))
    return folder
