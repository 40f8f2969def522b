"""The bytes that nearfold takes in SQLite, table by table.

    python benchmarks/store_bytes.py FOLDER ... [--documents 3000] [--length 5000]
    python benchmarks/store_bytes.py --records 200000 [--words 12]

Texts of the folders are cut into files of `length` characters, which `nearfold index` writes and
`nearfold group` puts into families; or short records, of words that are as frequent as those of a
language, are indexed as lines of JSON. Prints the bytes a document of every table and index by
SQLite's own account (`dbstat`), the fraction of its pages that is empty, and their sum without
texts and full text. The file is measured as it was written, and again after `VACUUM`.
"""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from corpora import short_records, write_files, write_lines
from harness import arguments

from indexer.grouping.group import group
from indexer.jobs.index import IndexOptions, index
from indexer.stores import open_store

TABLES = """
SELECT name, SUM(pgsize), SUM(unused), SUM(payload) FROM dbstat
GROUP BY name ORDER BY SUM(pgsize) DESC
"""


def print_tables(path: Path, label: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        count = db.execute("SELECT count(*) FROM documents").fetchone()[0]
        print(f"\n{count:,} documents, {label}: {path.stat().st_size / count:,.1f} bytes each")
        print(f"{'table or index':<40}{'bytes':>10}{'content':>10}{'empty':>8}")
        without_texts = 0.0
        for name, size, unused, payload in db.execute(TABLES):
            print(f"{name:<40}{size / count:>10.1f}{payload / count:>10.1f}{unused / size:>8.1%}")
            without_texts += 0 if name.startswith(("texts", "fulltext")) else size / count
        print(f"{'all but texts and full text':<40}{without_texts:>10.1f}", flush=True)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--documents", type=int, default=3_000)
    parser.add_argument("--length", type=int, default=5_000)
    parser.add_argument("--records", type=int, help="short records instead of files")
    parser.add_argument("--words", type=int, default=12, help="words of a record, 12 by default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source, path = Path(folder, "source"), Path(folder, "bytes.db")
        if options.records:
            texts = short_records(options.records, options.words)
            source = write_lines(source.with_suffix(".jsonl"), texts)
        else:
            write_files(source, options.folders, options.documents, options.length)
        with closing(open_store(f"sqlite:///{path}")) as store:
            index(source, store, IndexOptions(extractor="plain"), workers=1)
            group(store)
        print_tables(path, "as written")
        with closing(sqlite3.connect(path)) as db:
            db.execute("VACUUM")
        print_tables(path, "after VACUUM")


if __name__ == "__main__":
    main()
