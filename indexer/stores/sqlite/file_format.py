"""The format of a SQLite file: its owner, its version, its migrations, its recipe; and copies of a
file in use, by SQLite's own backup.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from indexer import mappings
from indexer.errors import MappingMismatch, StoreDamaged, StoreError, UsageError
from indexer.recipe import Recipe
from indexer.stores.address import MEMORY
from indexer.stores.fields import FIELDS, Kind, StoredField
from indexer.stores.sqlite.connections import Connection
from indexer.system.failpoints import reached
from indexer.system.files import make_private, rename_durably
from indexer.system.logs import event
from indexer.system.recipe_inputs import with_key

APPLICATION_ID = 0x6E666F6C  # "nfol", in bytes 68 to 71 of the file
_PAGES = 4096  # copied at once; writers wait for no more than that
# 9: the last format that changes more than columns of fields, by `mappings/sqlite-NNNN.sql`
FORMAT = max(9, *(field.sqlite_format for field in FIELDS))
_TYPES: dict[Kind, str] = {
    "time": "INTEGER",
    "size": "INTEGER",
    "count": "INTEGER",
    "flag": "INTEGER",
    "bits": "INTEGER",
    "fraction": "REAL",
    "bytes": "BLOB",
}
# in one statement, as another process may create the tables meanwhile
_STATE = """
    SELECT (SELECT application_id FROM pragma_application_id),
           (SELECT user_version FROM pragma_user_version),
           EXISTS (SELECT 1 FROM sqlite_master)
"""


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Commit one durable transaction, or roll back after any exception."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        reached("before_commit", sqlite3.OperationalError)
        db.execute("COMMIT")
        reached("after_commit", sqlite3.OperationalError)
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        if isinstance(db, Connection):
            db.cached = None  # it may have read what was rolled back
        raise


def check_format(db: sqlite3.Connection, path: str) -> None:
    """Raise an error for a file of another program, of a newer nearfold, or that is torn."""
    owner, version, has_tables = db.execute(_STATE).fetchone()
    is_empty = owner == version == 0 and not has_tables
    if owner != APPLICATION_ID and not is_empty:
        raise MappingMismatch(index=path, problems=("it is the SQLite file of another program",))
    if path != MEMORY and _has_torn_page(db, path) and not _has_log(path):
        raise sqlite3.DatabaseError("malformed: the last page is torn")
    if version > FORMAT:
        raise StoreError(
            f"{path} was written by a newer nearfold (format {version}, this one knows {FORMAT}); "
            "upgrade nearfold, or give --store another file"
        )


def _has_torn_page(db: sqlite3.Connection, path: str) -> bool:
    """Return whether the last page is incomplete; SQLite would read the missing part as zeros."""
    return bool(Path(path).stat().st_size % pragma_number(db, "page_size"))


def _has_log(path: str) -> bool:
    """Return whether the write-ahead log holds pages that replace pages of the file."""
    log = Path(f"{path}-wal")
    return log.exists() and log.stat().st_size > 0


def upgrade(db: sqlite3.Connection) -> None:
    """Bring a file of an earlier nearfold to this format."""
    version = pragma_number(db, "user_version")
    if 0 < version < FORMAT:
        with transaction(db):
            migrate(db)
        event("store_upgraded", counts={"from": version, "to": FORMAT})


def migrate(db: sqlite3.Connection) -> None:
    """Bring the file to this format by numbered steps, inside the caller's transaction.

    A step adds the columns of the fields that are declared for it, and does what its file says.
    """
    version = pragma_number(db, "user_version")
    is_new = version == 0
    for step in range(version + 1, FORMAT + 1):
        for statement in statements_of(step):
            db.execute(statement)
    values = [
        f"{field.name} = {field.filled_by}"
        for field in FIELDS
        if field.filled_by and field.sqlite_format > version
    ]
    if values and not is_new:
        db.execute(f"UPDATE documents SET {', '.join(values)}")
    if is_new:
        set_last_searchable(db, ALL_ROWS)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {FORMAT}")


def statements_of(step: int) -> Iterator[str]:
    """Yield the statements that bring a file to a format from the one before.

    The table of format 1 is in its file, with the columns that the first fields have.
    """
    if step > 1:
        yield from map(_added_column, (field for field in FIELDS if field.sqlite_format == step))
    script = mappings.folder() / f"sqlite-{step:04}.sql"
    statement = ""
    for line in script.read_text(encoding="utf-8").splitlines() if script.exists() else ():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _added_column(field: StoredField) -> str:
    """Return the statement that adds the column of a field.

    >>> _added_column(StoredField("ocr", "keyword", default=""))
    "ALTER TABLE documents ADD COLUMN ocr TEXT NOT NULL DEFAULT ''"
    """
    default = "" if field.default is None else f" NOT NULL DEFAULT {field.default!r}"
    return f"ALTER TABLE documents ADD COLUMN {field.name} {column_type(field)}{default}"


def column_type(field: StoredField) -> str:
    """Return the type of the column of a field."""
    return _TYPES.get(field.kind, "TEXT")


def pragma_number(db: sqlite3.Connection, pragma: str) -> int:
    """Return the value of a pragma."""
    return int(db.execute(f"PRAGMA {pragma}").fetchone()[0])


def recipe_in_use(db: sqlite3.Connection) -> Recipe:
    """Return the recipe of a store that was prepared."""
    recipe = stored_recipe(db)
    if recipe is None:
        raise sqlite3.DatabaseError("malformed: the store has no recipe")
    return recipe


def stored_recipe(db: sqlite3.Connection) -> Recipe | None:
    """Return the recipe of the store, None when it has none yet."""
    row = db.execute("SELECT value FROM store WHERE name = 'recipe'").fetchone()
    return with_key(Recipe(**json.loads(row[0]))) if row else None


# The words of rows up to this number are `searchable`; of those after it, in a file that an earlier
# nearfold made, as they are written, until `reindex` has gone over them.
LAST_SEARCHABLE = "full_text"
ALL_ROWS = 2**63 - 1


def last_searchable(db: sqlite3.Connection) -> int:
    """Return the number of the last row whose words are `searchable`."""
    stored = db.execute("SELECT value FROM store WHERE name = ?", (LAST_SEARCHABLE,)).fetchone()
    return int(stored[0]) if stored else 0


def set_last_searchable(db: sqlite3.Connection, number: int) -> None:
    """Remember the number of the last row whose words are `searchable`."""
    db.execute("INSERT OR REPLACE INTO store VALUES (?, ?)", (LAST_SEARCHABLE, str(number)))


# Backup and restore of a file in use: one consistent snapshot.


def copy_out(file: str, target: str, *, replace: bool) -> None:
    """Copy the database of a file into `target`, one file without a log.

    With `replace`, a store that lies there is replaced once this copy is whole. The copy has the
    permissions of the file. Raises `UsageError` for a target that exists, unless it may be replaced
    and is a store that nobody uses, `StoreDamaged` when the copy is corrupt, and errors of SQLite
    and of the operating system.
    """
    _check_target(Path(target), replace=replace)
    half = f"{target}.half"
    Path(half).unlink(missing_ok=True)
    try:
        make_private(Path(half), Path(file))
        with (
            closing(_open_to_read(file)) as source,
            closing(sqlite3.connect(half, isolation_level=None)) as copy,
        ):
            source.backup(copy, pages=_PAGES)
            copy.execute("PRAGMA journal_mode = DELETE").fetchone()
            check_sound(copy, file)
        rename_durably(half, target)
    finally:
        Path(half).unlink(missing_ok=True)


def copy_in(source: str, db: sqlite3.Connection) -> None:
    """Replace the database of a connection by that of a file: everything or, after any error,
    nothing.

    Raises `MappingMismatch` when the connection is to the database of another program.
    """
    if not _is_ours(db) and db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        (_, _, path) = db.execute("PRAGMA database_list").fetchone()
        raise MappingMismatch(index=path, problems=("it is the SQLite file of another program",))
    with closing(_open_to_read(source)) as copy:
        copy.backup(db)


def check_copy(source: str) -> None:
    """Raise `StoreDamaged` for a file that is not a sound copy of a store."""
    with closing(_open_to_read(source)) as copy:
        if not _is_ours(copy):
            raise StoreDamaged(path=source, reason="it is not a copy of a store")
        check_sound(copy, source)


def _open_to_read(file: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{Path(file).absolute().as_uri()}?mode=ro", uri=True)


def _is_ours(db: sqlite3.Connection) -> bool:
    return bool(db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID)


def _check_target(target: Path, *, replace: bool) -> None:
    """Raise `UsageError` unless the target is missing, empty, or a store that may be replaced.

    A log next to it belongs to a store in use, and would be applied to the copy.
    """
    if not target.exists() or (target.is_file() and not target.stat().st_size):
        return
    if not _is_store(target):
        raise UsageError(
            f"{target} exists, and is not a copy of a store; name another file, or remove it"
        )
    if not replace:
        raise UsageError(f"{target} is a store already; --replace replaces it by the copy")
    log = Path(f"{target}-wal")
    if log.exists() and log.stat().st_size:
        raise UsageError(f"{target} is in use; name another file, or end what uses it")


def _is_store(file: Path) -> bool:
    try:
        with closing(_open_to_read(str(file))) as db:
            return _is_ours(db)
    except sqlite3.DatabaseError:
        return False


def check_sound(db: sqlite3.Connection, path: str) -> None:
    """Raise `StoreDamaged` when SQLite's own check of pages, columns and types fails."""
    (result,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if result != "ok":
        raise StoreDamaged(path=path, reason=str(result))
