"""The embedded store: one SQLite file, full text by FTS5, or nothing but memory (`:memory:`)."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from indexer.model import (
    Candidates,
    Prefilter,
    Query,
    Row,
    Scope,
    WordFrequencies,
    WordLookup,
)
from indexer.recipe import Recipe
from indexer.stores.abilities import Outline
from indexer.stores.address import MEMORY, StoreAddress
from indexer.stores.base import (
    FREQUENT_KEY_FLOOR,
    FREQUENT_KEY_FRACTION,
    Counts,
    Lookup,
    Ranking,
    Store,
)
from indexer.stores.fields import refusals, storable_ids, storable_labels, storable_rows
from indexer.stores.maintenance import ReindexOptions, ReindexResult
from indexer.stores.sqlite import keys
from indexer.stores.sqlite.candidates import document_frequencies, find_by_words, find_candidates
from indexer.stores.sqlite.families import SqliteFamilies, relabel
from indexer.stores.sqlite.file import TURN_SECONDS, File
from indexer.stores.sqlite.file_format import (
    ALL_ROWS,
    last_searchable,
    recipe_in_use,
    set_last_searchable,
)
from indexer.stores.sqlite.reads import read_outlines, rows_by_id, scan_rows, search_rows
from indexer.stores.sqlite.rows import (
    INSERT_WORDS,
    chosen_rows,
    divides_mails,
    every_key,
    full_text_words,
    known_count,
    parts_kind,
    parts_of,
    record_attachments,
    record_parts_kind,
    remove,
    replace,
    unpack_source,
    with_parts,
)
from indexer.wording import count_of

# Snapshots, labels, words and maintenance of rows in a SQLite file.


class SqliteSnapshots:
    """Reads of a file that keeps no snapshots: of the documents as they are."""

    def __init__(self, file: File, scope: Scope) -> None:
        self._file, self._scope = file, scope

    def search(self, query: Query, snapshot: str | None = None) -> Ranking:
        """Search as the store does; `Ranking.snapshot` is None."""
        return search_rows(self._file, self._scope, query)

    def get(self, ids: Sequence[str], snapshot: str) -> dict[str, Row]:
        """Return whole rows as they are."""
        return rows_by_id(self._file, storable_ids(ids))

    def release(self, snapshot: str) -> None:
        """Do nothing: no snapshot is kept."""


class SqliteLabels:
    """Labels of rows."""

    def __init__(self, file: File) -> None:
        self._file = file

    def relabel(self, labels: Mapping[str, Sequence[str]]) -> int:
        """Replace labels in one transaction."""
        storable = storable_labels(labels)
        with self._file.relabelling() as db:
            return relabel(db, storable)


class SqliteVocabulary:
    """Words of rows."""

    def __init__(self, file: File, scope: Scope) -> None:
        self._file, self._scope = file, scope

    def frequencies(self, words: Sequence[str]) -> WordFrequencies:
        """Count rows by one statement, in one consistent view."""
        with self._file.reader() as db:
            rows = known_count(db, self._scope)
            counts = document_frequencies(db, self._scope, words) if words else {}
            return WordFrequencies(rows, counts)

    def finds_every_word(self) -> bool:
        """Return True: nearfold itself indexes the texts."""
        return True

    def candidates(self, lookups: Sequence[WordLookup], limit: int) -> list[Candidates]:
        """Find candidates one look-up after the other, in one consistent view."""
        with self._file.reader() as db:
            return [find_by_words(db, self._scope, lookup, limit) for lookup in lookups]


class SqliteMaintenance:
    """Reindexable, copyable and repairable: the maintenance of a store in one file."""

    def __init__(self, file: File) -> None:
        self._file = file

    def reindex(self, options: ReindexOptions) -> ReindexResult:
        """Fingerprint all rows into a file next to the store, then replace them in one transaction.

        With `keep`, a copy of the old file stays.
        """
        from indexer.stores.sqlite.reindex import replace_recipe

        rows = scan_rows(self._file, "both", None)
        return replace_recipe(self._file, rows, options)

    def backup(self, path: str, *, replace: bool) -> None:
        """Copy by SQLite's own backup: one snapshot, whatever is written meanwhile."""
        self._file.copy(path, replace=replace)

    def restore(self, path: str) -> None:
        """Restore by SQLite's own backup: one transaction that an existing log takes part in."""
        self._file.replace(path)

    def inconsistencies(self) -> tuple[str, ...]:
        """Compare rows and indexes in one consistent view; nothing is written."""
        with self._file.writing() as db:
            return tuple(find_inconsistencies(db, recipe_in_use(db)))

    def unmatched_rows(self) -> tuple[str, ...]:
        """Compare the numbers of rows of the tables; texts and keys are not read."""
        with self._file.reader() as db:
            return tuple(unmatched_rows(db))

    def check_sound(self) -> None:
        """Run SQLite's own check of pages, columns and types."""
        self._file.check_sound()

    def rebuild(self) -> None:
        """Rebuild the indexes in one transaction."""
        with self._file.writing() as db:
            rebuild_index(db, recipe_in_use(db))


class SqliteStore:
    """A store in one SQLite file. It may be shared by threads; other processes may read while one
    writes.
    """

    def __init__(
        self, address: StoreAddress, file: File | None = None, scope: Scope = "documents"
    ) -> None:
        self.address, self.url = address, address.url
        self.writers, self.shared = int(address.file != MEMORY), False
        self.frequent_key_floor = FREQUENT_KEY_FLOOR
        self.frequent_key_fraction = FREQUENT_KEY_FRACTION
        self._file = file or File(address.file or MEMORY)
        self._scope = scope
        self.snapshots = SqliteSnapshots(self._file, scope)
        self.labels = SqliteLabels(self._file)
        self.vocabulary = SqliteVocabulary(self._file, scope)

    @cached_property
    def families(self) -> SqliteFamilies:
        """Return the families and clusters of rows."""
        return SqliteFamilies(self._file, self._scope)

    @cached_property
    def maintenance(self) -> SqliteMaintenance:
        """Return the maintenance of the file."""
        return SqliteMaintenance(self._file)

    @property
    def parts(self) -> SqliteParts:
        """Return the parts of the store, with the limits of frequent keys that it has now."""
        return SqliteParts(self, self._file)

    def stored_recipe(self) -> Recipe | None:
        """Return None for an empty file too.

        Raises `StoreDamaged` or `MappingMismatch` for a file that is not a store.
        """
        return self._file.recipe()

    def prepare(self, recipe: Recipe) -> None:
        """Create the file, but never its folder."""
        self._file.create(recipe)

    def write(self, rows: Sequence[Row]) -> list[str | None]:
        """Write all rows in one transaction: a call that raises has written nothing."""
        cleaned = storable_rows(rows)
        with self._file.writing() as db:
            recipe = recipe_in_use(db)
            recipe_id = recipe.id  # computed by each access
            reasons = refusals(cleaned, recipe_id)
            checked = zip(cleaned, reasons, strict=True)
            accepted = {row.id: row for row, reason in checked if reason is None}
            stored_rows, stale = with_parts(db, accepted.values())
            remove(db, stale, recipe)
            replace(db, stored_rows, recipe)
        return reasons

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Run the reads and writes of this thread as one transaction that no other write divides.

        Raises `StoreBusy` when others write for 30 seconds.
        """
        with self._file.writing(TURN_SECONDS):
            yield

    def delete(self, ids: Sequence[str]) -> int:
        """Delete rows in one transaction."""
        names = storable_ids(ids)
        with self._file.writing() as db:
            ids_with_parts = [*names, *parts_of(db, names)]
            removed = remove(db, ids_with_parts, recipe_in_use(db))
        return sum(name in removed for name in names)

    def refresh(self) -> None:
        """Do nothing but check the store: a committed row is visible at once."""
        with self._file.reader():
            pass

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """Return rows in one consistent view."""
        return rows_by_id(self._file, storable_ids(ids))

    def sources(self, ids: Sequence[str]) -> dict[str, str]:
        """Return digests without reading texts, which lie in a table of their own."""
        select = "SELECT id, source, size, raw FROM documents WHERE id IN"
        with self._file.reader() as db:
            rows = chosen_rows(db, select, storable_ids(ids))
        return {name: unpack_source(*values) for name, *values in rows}

    def candidates(
        self,
        lookups: Sequence[Lookup],
        limit: int,
        shared: int = 1,
        prefilters: Sequence[Prefilter | None] = (),
    ) -> list[Candidates]:
        """Find candidates one look-up after the other, in one consistent view."""
        settings = limit, shared, self.frequent_key_floor, self.frequent_key_fraction
        screened = zip(lookups, prefilters or [None] * len(lookups), strict=True)
        with self._file.reader() as db:
            return [
                find_candidates(db, self._scope, lookup, *settings, prefilter)
                for lookup, prefilter in screened
            ]

    def search(self, query: Query) -> Ranking:
        """Search the full text; matches and scores are fixed when the search begins."""
        return search_rows(self._file, self._scope, query)

    def scan(self, under: str | None = None) -> Iterator[Row]:
        """Yield rows; the set and its order are fixed when the first row is read."""
        return scan_rows(self._file, self._scope, under)

    def outlines(self) -> Iterator[Outline]:
        """Yield outlines, without a look at texts."""
        return read_outlines(self._file, self._scope)

    def counts(self) -> Counts:
        """Return exact counts; bytes are of the file's pages, without the write-ahead log."""
        return self._file.counts(self._scope)

    def forget_reads(self) -> None:
        """Discard what connections keep of the file, except those in use."""
        self._file.forget_reads()

    def version(self) -> int | None:
        """Return a number that each commit to the file makes another one; None in memory."""
        return self._file.version()

    def close(self) -> None:
        """Close the connection; the last one merges the write-ahead log into the file.

        A store in memory is lost.
        """
        self._file.close()


class SqliteParts:
    """Parts of documents in a SQLite file: rows of the same tables."""

    def __init__(self, store: SqliteStore, file: File) -> None:
        self._store, self._file = store, file

    def view(self, scope: Scope) -> SqliteStore:
        """Return a store with the same file and connection."""
        view = SqliteStore(self._store.address, self._file, scope)
        view.frequent_key_floor = self._store.frequent_key_floor
        view.frequent_key_fraction = self._store.frequent_key_fraction
        return view

    def kind(self) -> str | None:
        """Read the kind from the file."""
        if self._file.recipe() is None:
            return None
        with self._file.reader() as db:
            return parts_kind(db)

    def record(self, kind: str) -> None:
        """Record the kind in one transaction."""
        with self._file.writing() as db:
            record_parts_kind(db, kind)

    def attachments(self) -> bool:
        """Read from the file whether attachments are documents."""
        if self._file.recipe() is None:
            return True
        with self._file.reader() as db:
            return divides_mails(db)

    def record_attachments(self, are_documents: bool) -> None:
        """Record in one transaction whether attachments are documents."""
        with self._file.writing() as db:
            record_attachments(db, are_documents)


# Rows of the embedded store as documents that can be indexed into another store.


class StoredRows:
    """Rows as plain fields: text, title, path, content_type, labels, and metadata by name."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def documents(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield every row, ascending by id."""
        for row in self._store.scan():
            fields = {
                "text": row.text,
                "title": row.title,
                "path": row.path,
                "content_type": row.content_type,
            }
            yield row.id, {**row.metadata, **fields, "labels": list(row.labels)}

    def close(self) -> None:
        """Close the store."""
        self._store.close()


# Consistency of the file: its indexes compared with its rows, and rebuilt from them.

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
