"""Consistency of a SQLite file: its indexes compared with its rows, and rebuilt from them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

from indexer.recipe import Recipe
from indexer.stores.sqlite import keys
from indexer.stores.sqlite.file_format import (
    ALL_ROWS,
    last_searchable,
    set_last_searchable,
)
from indexer.stores.sqlite.rows import (
    INSERT_WORDS,
    every_key,
    full_text_words,
)
from indexer.wording import count_of

# one token whatever the tokeniser thinks of scripts: letters between blanks or ASCII punctuation
_SEPARATORS = r"\s!-/:-@\[-^`{-~"
_WORD = re.compile(rf"(?<![^{_SEPARATORS}])[A-Za-z]{{4,20}}(?![^{_SEPARATORS}])")
_TEXTS = "SELECT d.number, d.title, t.text FROM documents d JOIN texts t USING (number)"

_SEARCHABLE = "(SELECT id FROM fulltext_docsize)"
_DOCUMENTS = "(SELECT number FROM documents)"
# counted rows, their noun, and what they lack
_UNMATCHED = (
    ("documents WHERE number NOT IN (SELECT number FROM texts)", "document", "without a text"),
    (f"texts WHERE number NOT IN {_DOCUMENTS}", "text", "without a document"),
    (
        f"documents JOIN texts USING (number) WHERE number NOT IN {_SEARCHABLE}",
        "document",
        "without words in the full-text index",
    ),
    (
        f"fulltext_docsize WHERE id NOT IN {_DOCUMENTS}",
        "entry",
        "of the full-text index without a document",
    ),
)


def unmatched_rows(db: sqlite3.Connection) -> Iterator[str]:
    """Yield a sentence on documents, texts and entries of the full-text index without each other;
    row numbers are compared, nothing is read of a text.
    """
    for rows, noun, what in _UNMATCHED:
        if number := db.execute(f"SELECT count(*) FROM {rows}").fetchone()[0]:
            yield f"{count_of(number, noun)} {what}"


def find_inconsistencies(db: sqlite3.Connection, recipe: Recipe) -> Iterator[str]:
    """Yield what does not agree with the rows, one sentence each.

    Needs a transaction that may write, and writes nothing.
    """
    yield from unmatched_rows(db)
    try:
        db.execute("INSERT INTO fulltext (fulltext) VALUES ('integrity-check')")
    except sqlite3.DatabaseError:
        yield "the index fulltext is damaged"
        return
    if other := _count_other_words(db):
        yield f"the full-text index has other words for {count_of(other, 'document')}"
    if not _has_keys_of_rows(db, recipe):
        yield "the keys that are looked up are not those of the documents"


def rebuild_index(db: sqlite3.Connection, recipe: Recipe) -> None:
    """Rebuild the full-text index and the keys from the rows, inside the caller's transaction.

    Documents without a text, and texts without a document, are deleted.
    """
    db.execute("DELETE FROM documents WHERE number NOT IN (SELECT number FROM texts)")
    db.execute("DELETE FROM texts WHERE number NOT IN (SELECT number FROM documents)")
    db.execute("INSERT INTO fulltext (fulltext) VALUES ('delete-all')")
    for number, title, text in db.execute(_TEXTS):
        db.execute(INSERT_WORDS, (number, *full_text_words(True, title, text)))
    set_last_searchable(db, ALL_ROWS)
    keys.clear(db)
    for entries in every_key(db, recipe):
        keys.change(db, entries, entries[:0])


def _count_other_words(db: sqlite3.Connection) -> int:
    """Count documents whose first or last word the full-text index does not find in them."""
    wrong = set()
    last = last_searchable(db)
    for number, _, text in db.execute(f"{_TEXTS} WHERE number IN {_SEARCHABLE}"):
        words = _WORD.findall(full_text_words(number <= last, "", text)[1])
        for word in {*words[:1], *words[-1:]}:
            if not db.execute(
                "SELECT 1 FROM fulltext WHERE fulltext MATCH ? AND rowid = ?", (f'"{word}"', number)
            ).fetchone():
                wrong.add(number)
    return len(wrong)


def _has_keys_of_rows(db: sqlite3.Connection, recipe: Recipe) -> bool:
    """Return whether the keys that are looked up belong to the rows, by a digest of both."""
    expected = sum(keys.digest_of(entries) for entries in every_key(db, recipe))
    try:
        return keys.stored_digest(db) == expected & ((1 << 64) - 1)
    except sqlite3.DatabaseError:
        return False
