"""The embedded store: one SQLite file, full text by FTS5, or nothing but memory (`:memory:`)."""

from __future__ import annotations

import copy
import json
import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from indexer.model import (
    Assignment,
    Candidate,
    Candidates,
    PrincipalRow,
    Query,
    RankedRow,
    Row,
    Scope,
)
from indexer.recipe import Recipe
from indexer.sketch.codec import unsigned64
from indexer.stores.address import MEMORY, StoreAddress
from indexer.stores.base import (
    CONFLICT,
    HOT_KEY_FLOOR,
    HOT_KEY_SHARE,
    Counts,
    Ranking,
    conflict_asked,
    metadata_name,
)
from indexer.stores.renewal import OnProgress, ReindexResult, SignRows
from indexer.stores.row_limits import refusal, storable, storable_ids, storable_labels
from indexer.stores.sqlite import columns as packed
from indexer.stores.sqlite import families_sql as families
from indexer.stores.sqlite import index_repair as _sqlite_repair
from indexer.stores.sqlite import parts_sql as parts
from indexer.stores.sqlite import replacement as _sqlite_reindex
from indexer.stores.sqlite.counts import counted
from indexer.stores.sqlite.file import File
from indexer.stores.sqlite.full_text import PAGE, FullTextMatches, full_text_matches
from indexer.stores.sqlite.postings import carriers, either
from indexer.stores.sqlite.tables import chosen_rows, remove, replace
from indexer.text.phrases import phrases, separate_letters, well_formed

_ROW = f"SELECT t.text, {', '.join(f'd.{name}' for name in packed.COLUMNS)} FROM documents d JOIN texts t USING (number)"
_BEST = (
    "SELECT d.id, d.path, j.value, d.minhash, d.simhash FROM json_each(?) j "
    "JOIN documents d ON d.number = CAST(j.key AS INTEGER) ORDER BY j.value DESC, d.path, d.id LIMIT ?"
)
_SHOWN = "SELECT number, id, path, family, status, minhash FROM documents WHERE number IN"


class SqliteStore:
    """A store in one SQLite file. It may be shared by threads; other processes may read while one
    writes.
    """

    def __init__(self, address: StoreAddress) -> None:
        self.address, self.url = address, address.url
        self.writers, self.shared = 1, False
        self.hot_key_floor, self.hot_key_share = HOT_KEY_FLOOR, HOT_KEY_SHARE
        self._file = File(address.file or MEMORY)
        self._scope: Scope = "documents"

    def of(self, scope: Scope) -> SqliteStore:
        """The same file and connection."""
        view = copy.copy(self)
        view._scope = scope
        return view

    def stored_recipe(self) -> Recipe | None:
        """None, too, for an empty file; `StoreDamaged` or `MappingMismatch` for one that is not a
        store.
        """
        return self._file.recipe()

    def stored_parts(self) -> str | None:
        """Read from the file."""
        if self._file.recipe() is None:
            return None
        with self._file.reading() as db:
            return parts.kind(db)

    def keep_parts(self, kind: str) -> None:
        """One transaction."""
        with self._file.writing() as db:
            parts.keep(db, kind)

    def prepare(self, recipe: Recipe) -> None:
        """Makes the file, never its folder."""
        self._file.create(recipe)

    def write(self, rows: Sequence[Row]) -> list[str | None]:
        """One transaction, so a call that raises has written nothing."""
        mended = [storable(row) for row in rows]
        with self._file.writing() as db:
            recipe = self._file.recipe()
            refusals = [refusal(row, recipe.id if recipe else "") for row in mended]
            taken = {
                row.id: row
                for row, refused in zip(mended, refusals, strict=True)
                if refused is None
            }
            written, stale = parts.replaced(db, taken.values())
            remove(db, stale)
            replace(db, written)
        return refusals

    def delete(self, ids: Sequence[str]) -> int:
        """One transaction."""
        with self._file.writing() as db:
            names = storable_ids(ids)
            gone = remove(db, [*names, *parts.parts_of(db, names)])
        return sum(name in gone for name in names)

    def refresh(self) -> None:
        """Nothing to do: a committed row is visible at once."""
        with self._file.reading():
            pass

    def get(self, ids: Sequence[str], snapshot: str | None = None) -> dict[str, Row]:
        """One consistent view of all of them; a file keeps no moments."""
        with self._file.reading() as db:
            found = chosen_rows(db, f"{_ROW} WHERE d.id IN", storable_ids(ids))
        return {row.id: row for row in map(_unpacked, found)}

    def sources(self, ids: Sequence[str]) -> dict[str, str]:
        """Texts lie in a table of their own, so this stays cheap."""
        with self._file.reading() as db:
            return dict(
                chosen_rows(db, "SELECT id, source FROM documents WHERE id IN", storable_ids(ids))
            )

    def candidates(self, bands: Sequence[str], blocks: Sequence[str], limit: int) -> Candidates:
        """One look into the postings a key; a hot one costs no more than its cap."""
        prefixes = parts.PREFIXES[self._scope]
        spelled = zip(*(packed.posted(bands, blocks, prefix) for prefix in prefixes), strict=True)
        keys = dict(zip(map(either, spelled), (*bands, *blocks), strict=True))
        shared: Counter[int] = Counter()
        capped = []
        with self._file.reading() as db:
            for key, numbers in zip(keys.values(), self._carriers(db, list(keys)), strict=True):
                if numbers is None:
                    capped.append(key)
                else:
                    shared.update(numbers)
            found = db.execute(_BEST, (json.dumps(shared), limit))
            best = tuple(
                Candidate(name, path, keys, minhash, None if bits is None else unsigned64(bits))
                for name, path, keys, minhash, bits in found
            )
        return Candidates(best, tuple(capped), cut=len(shared) > len(best))

    def candidates_of(
        self, asked: Sequence[tuple[Sequence[str], Sequence[str]]], limit: int
    ) -> list[Candidates]:
        """One after the other: nothing is gained by asking at once."""
        return [self.candidates(bands, blocks, limit) for bands, blocks in asked]

    def _carriers(
        self, db: sqlite3.Connection, matching: Sequence[str]
    ) -> Iterator[list[int] | None]:
        """The rows that carry each key; None for one that is hot."""
        cap = self.hot_key_floor
        for key, numbers in zip(matching, carriers(db, matching, cap + 1), strict=True):
            if len(numbers) <= cap:
                yield numbers
                continue
            raised = max(cap, int(self.hot_key_share * parts.count(db, self._scope)))
            (every,) = carriers(db, [key], raised + 1)
            yield every if len(every) <= raised else None

    def search(
        self, query: Query, snapshot: str | None = None, keep_alive: bool = False
    ) -> Ranking:
        """The matches and their scores are fixed when the search begins; a row deleted since then
        is passed over.

        A file keeps no moments: `keep_alive` changes nothing.
        """
        asked = phrases(query.text)
        conditions, values = _conditions(query)
        if query.text.strip() and not asked:
            return Ranking(0, iter(()), 0, dict.fromkeys(query.facets, ()))
        with self._file.reading() as db:
            if within := parts.within(db, self._scope):
                conditions = [within, *conditions]
            found = full_text_matches(
                db, query, _expression(asked) if asked else None, conditions, values
            )
        return Ranking(len(found.numbers), self._ranked(found), found.families, found.facets)

    def release(self, snapshot: str) -> None:
        """Nothing is held."""

    def _ranked(self, found: FullTextMatches) -> Iterator[RankedRow]:
        for page in found.pages(self._file):
            with self._file.reading() as db:
                rows = {
                    number: shown
                    for number, *shown in chosen_rows(db, _SHOWN, [number for number, _ in page])
                }
            for number, score in page:
                if number in rows:
                    name, path, *rest = rows[number]
                    yield RankedRow(name, path, score, *rest)

    def scan(self, under: str | None = None) -> Iterator[Row]:
        """The set and its order are fixed when the first row is read; a row deleted since then is
        passed over.
        """
        condition, values = ("1", ()) if under is None else _inside(well_formed(under))
        with self._file.reading() as db:
            within = parts.WITHIN[self._scope]
            found = db.execute(
                f"SELECT number FROM documents d WHERE ({condition}) AND {within} ORDER BY id",
                values,
            )
            numbers = array("q", (number for (number,) in found))
        for start in range(0, len(numbers), PAGE):
            with self._file.reading() as db:
                page = chosen_rows(
                    db, f"{_ROW} WHERE d.number IN", numbers[start : start + PAGE].tolist()
                )
            yield from sorted(map(_unpacked, page), key=lambda row: row.id)

    def assign(self, assignments: Iterable[Assignment]) -> int:
        """One transaction."""
        last = {well_formed(one.id): one for one in assignments}
        values = [
            (one.family, one.principal, one.similarity, one.cluster, one.provisional, name)
            for name, one in last.items()
        ]
        with self._file.writing() as db:
            return db.executemany(
                "UPDATE documents SET family = ?, principal = ?, similarity = ?, cluster = ?, provisional = ? WHERE id = ?",
                values,
            ).rowcount

    def relabel(self, labels: Mapping[str, Sequence[str]]) -> int:
        """One transaction."""
        given = storable_labels(labels)
        with self._file.writing() as db:
            return families.relabel(db, given)

    def principals(self, asked: Sequence[Sequence[str]] | None, limit: int) -> list[PrincipalRow]:
        """Also the principals of members that share a band; of a hot band, those of its oldest
        carriers.
        """
        with self._file.reading() as db:
            if asked is None:
                return families.all_principals(db, self._scope, limit)
            prefixes = parts.PREFIXES[self._scope]
            return families.principals(
                db, [packed.posted(one, (), prefix) for one in asked for prefix in prefixes], limit
            )

    def members(
        self, field: Literal["family", "cluster", "parent"], names: Sequence[str]
    ) -> Iterator[tuple[str, str]]:
        """Fixed when the first is read."""
        with self._file.reading() as db:
            found = list(families.members(db, field, list(map(well_formed, names))))
        yield from found

    def counts(self) -> Counts:
        """Exact; bytes are those of the file's pages, the write-ahead log left out."""
        with self._file.reading() as db:
            return counted(db, self._scope)

    def reindex(
        self, recipe: Recipe, renewing: SignRows, keep: bool, told: OnProgress
    ) -> ReindexResult:
        """One transaction in the file itself, after all signatures were made in a file beside it; a
        copy of the old is kept.
        """
        return _sqlite_reindex.reindex(
            self._file, self.of("both").scan(), recipe, renewing, keep, told
        )

    def backup(self, path: str) -> None:
        """By SQLite's own backup: one moment, whatever is written meanwhile."""
        self._file.copy(path)

    def restore(self, path: str) -> None:
        """By SQLite's own backup: one transaction, and a log that is there takes part in it."""
        self._file.replace(path)

    def out_of_step(self) -> tuple[str, ...]:
        """One consistent view of rows and indexes; nothing is written."""
        with self._file.writing() as db:
            return tuple(_sqlite_repair.out_of_step(db))

    def check_sound(self) -> None:
        """SQLite's own check of pages, columns and types."""
        self._file.check_sound()

    def rebuild(self) -> None:
        """One transaction."""
        with self._file.writing() as db:
            _sqlite_repair.rebuild(db)

    def close(self) -> None:
        """Ends the connection; the last one folds the write-ahead log into the file. A store in
        memory is gone.
        """
        self._file.close()


def _unpacked(values: tuple[Any, ...]) -> Row:
    return packed.row(values[1:], values[0])


def _expression(asked: tuple[str, ...]) -> str:
    """All phrases, each in FTS5's quotes, where only a quote and NUL mean anything; a phrase holds
    no quote.
    """
    return " AND ".join(f'"{separate_letters(phrase)}"' for phrase in asked).replace("\0", " ")


def _conditions(query: Query) -> tuple[list[str], list[str]]:
    """The filters as SQL conditions and the values they are compared with."""
    conditions, values = [], []
    for field, value in query.filters:
        if field == CONFLICT:
            conditions.append(
                families.CONFLICTING.format("IN" if conflict_asked(value) else "NOT IN")
            )
            continue
        if (name := metadata_name(field)) is not None:
            conditions.append("nearfold_holds(d.metadata, ?, ?)")
            values.append(well_formed(name))
        else:
            conditions.append(
                "nearfold_holds(d.labels, NULL, ?)" if field == "labels" else f"d.{field} = ?"
            )
        values.append(well_formed(value))
    return conditions, values


def _inside(folder: str) -> tuple[str, tuple[str, ...]]:
    """The condition for paths that are a folder or lie in it: `0` is the character after `/`."""
    stem = folder.rstrip("/")
    return "path = ? OR (path > ? AND path < ?)", (folder, f"{stem}/", f"{stem}0")
