"""Maintenance of a SQLite file: another recipe, copies, and repairs of its indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.recipe import Recipe
from indexer.stores.maintenance import OnProgress, ReindexResult, SignRows
from indexer.stores.sqlite.file_format import recipe_in_use
from indexer.stores.sqlite.file_reads import scan_rows

if TYPE_CHECKING:
    from indexer.stores.sqlite.file import File


class SqliteMaintenance:
    """Reindexable, copyable and repairable: the maintenance of a store in one file."""

    def __init__(self, file: File) -> None:
        self._file = file

    def reindex(
        self, recipe: Recipe, sign_rows: SignRows, keep: bool, on_progress: OnProgress
    ) -> ReindexResult:
        """Sign all rows into a file beside the store, then replace them in one transaction.

        `keep` leaves a copy of the old store.
        """
        from indexer.stores.sqlite.replacement import replace_recipe

        rows = scan_rows(self._file, "both", None)
        return replace_recipe(self._file, rows, recipe, sign_rows, keep, on_progress)

    def backup(self, path: str, *, replace: bool) -> None:
        """Copy by SQLite's own backup: one snapshot, whatever is written meanwhile."""
        self._file.copy(path, replace=replace)

    def restore(self, path: str) -> None:
        """Restore by SQLite's own backup: one transaction that an existing log takes part in."""
        self._file.replace(path)

    def inconsistencies(self) -> tuple[str, ...]:
        """Compare rows and indexes in one consistent view; nothing is written."""
        from indexer.stores.sqlite import index_repair

        with self._file.writing() as db:
            return tuple(index_repair.inconsistencies(db, recipe_in_use(db)))

    def check_sound(self) -> None:
        """Run SQLite's own check of pages, columns and types."""
        self._file.check_sound()

    def rebuild(self) -> None:
        """Rebuild the indexes in one transaction."""
        from indexer.stores.sqlite import index_repair

        with self._file.writing() as db:
            index_repair.rebuild(db, recipe_in_use(db))
