"""The bytes that nearfold takes in SQLite, table by table.

    python benchmarks/store_bytes.py FOLDER ... [--documents 3000] [--length 5000]
    python benchmarks/store_bytes.py --records 200000 [--words 12]

Texts of the folders are cut into files of `length` characters, which `nearfold index` writes and
`nearfold group` puts into families; or short records, of words that are as frequent as those of a
language, are indexed as lines of JSON. Prints the bytes a document of every table and index by
SQLite's own account (`dbstat`), the share of its pages that is empty, and their sum without texts
and full text. The file is measured as it was written, and again after `VACUUM`.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import tempfile
from itertools import accumulate
from pathlib import Path

from engine_bytes import write_files

from indexer.grouping.group import group
from indexer.indexing.index import IndexOptions, index
from indexer.stores import open_store

_OF_TEXTS = ("texts", "fulltext")
_TABLES = """
SELECT name, SUM(pgsize), SUM(unused), SUM(payload) FROM dbstat
GROUP BY name ORDER BY SUM(pgsize) DESC
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--documents", type=int, default=3_000)
    parser.add_argument("--length", type=int, default=5_000)
    parser.add_argument("--records", type=int, help="short records instead of files")
    parser.add_argument("--words", type=int, default=12, help="words of a record, 12 by default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "source"
        if options.records:
            source = folder / "records.jsonl"
            _write_records(source, options.records, options.words)
        else:
            write_files(source, options.folders, options.documents, options.length)
        path = folder / "bytes.db"
        store = open_store(f"sqlite:///{path}")
        index(source, store, IndexOptions(extractor="plain"), workers=1)
        group(store)
        store.close()
        _print_tables(path, "as written")
        db = sqlite3.connect(path)
        db.execute("VACUUM")
        db.close()
        _print_tables(path, "after VACUUM")


def _write_records(path: Path, count: int, words: int) -> None:
    """Write short records; a tenth of them repeat another one with a word changed."""
    chance = random.Random(5)
    vocabulary = ["".join(chance.choices("abcdefghiklmnoprstuvwz", k=6)) for _ in range(40_000)]
    weights = list(accumulate(1 / (rank + 10) for rank in range(len(vocabulary))))
    with path.open("w", encoding="utf-8") as file:
        last: list[str] = []
        for number in range(count):
            if number % 10 == 9:
                record = [*last[:-1], chance.choice(vocabulary)]
            else:
                record = chance.choices(vocabulary, cum_weights=weights, k=words)
            last = record
            file.write(json.dumps({"id": number, "text": " ".join(record)}) + "\n")


def _print_tables(path: Path, label: str) -> None:
    db = sqlite3.connect(path)
    count = db.execute("SELECT count(*) FROM documents").fetchone()[0]
    print(f"\n{count:,} documents, {label}: {path.stat().st_size / count:,.1f} bytes each")
    print(f"{'table or index':<40}{'bytes':>10}{'content':>10}{'empty':>8}")
    beside = 0.0
    for name, size, unused, payload in db.execute(_TABLES):
        print(f"{name:<40}{size / count:>10.1f}{payload / count:>10.1f}{unused / size:>8.1%}")
        beside += 0 if name.startswith(_OF_TEXTS) else size / count
    print(f"{'all but texts and full text':<40}{beside:>10.1f}", flush=True)
    db.close()


if __name__ == "__main__":
    main()
