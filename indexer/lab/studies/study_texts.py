"""The texts of a study while it lasts: each distinct one once, in an order that depends on the
texts alone, with the number of documents that have it.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, fields, replace
from pathlib import Path

from indexer.errors import ExtractionError, SourceNotFound, UsageError
from indexer.indexing.documents import documents_under
from indexer.lab.studies.methods import FEATURES
from indexer.lab.studies.study_results import Account
from indexer.sketch.schemes import fingerprint_by
from indexer.stores.base import Store
from indexer.system.progress_callback import Progress
from indexer.system.whole_file import write_whole

EVERY = 200
_UNSIGNED = replace(FEATURES, simhash=None)  # computes the status of a text only
_SCHEMA = """
create table text (
    digest blob primary key, signed text not null, octets integer not null, text blob not null,
    documents integer not null
) without rowid;
create table account (name text primary key, value) without rowid;
"""


class Texts:
    """Texts in a file, in the order of their SHA-256, so that the first n are a random sample.

    With `numeric`, texts of numbers alone are among them, as the published study has them.
    """

    def __init__(self, place: Path, *, numeric: bool) -> None:
        self.place = place
        signed = "'always', 'numeric'" if numeric else "'always'"
        self._where = f"where signed in ({signed})"

    def account(self) -> Account:
        """Return the number of documents of each outcome."""
        with closing(sqlite3.connect(self.place)) as base:
            counts = dict(base.execute("select name, value from account where name != 'source'"))
            [(studied, octets)] = base.execute(
                f"select count(*), coalesce(sum(octets), 0) from text {self._where}"
            )
        counts["numbers_only"] -= studied - counts["studied"]
        return Account(**{**counts, "studied": studied, "octets": octets})

    def source(self) -> str:
        """Return the folder or the store that they came from."""
        with closing(sqlite3.connect(self.place)) as base:
            return str(
                base.execute("select value from account where name = 'source'").fetchone()[0]
            )

    def digest(self) -> str:
        """Return 16 hexadecimal digits that identify the studied texts."""
        digest = hashlib.sha256()
        with closing(sqlite3.connect(self.place)) as base:
            for (octets,) in base.execute(f"select digest from text {self._where} order by digest"):
                digest.update(octets)
        return digest.hexdigest()[:16]

    def documents(self) -> list[int]:
        """Return the number of documents that have each text, in order."""
        with closing(sqlite3.connect(self.place)) as base:
            query = f"select documents from text {self._where} order by digest"
            return [documents for (documents,) in base.execute(query)]

    def __iter__(self) -> Iterator[str]:
        with closing(sqlite3.connect(self.place)) as base:
            for (packed,) in base.execute(f"select text from text {self._where} order by digest"):
                yield zlib.decompress(packed).decode("utf-8", "surrogatepass")


def texts_of(
    source: Path | Store, folder: Path, progress: Progress, *, numeric: bool = True
) -> Texts:
    """Read a folder or a store into a file of `folder`, unless an earlier call has read it whole.

    `folder` lies in that of the report. Nothing there is a document, should it lie in the folder to
    read.

    Raises `SourceNotFound`, and `UsageError` when there is no text to sign or the report lies in
    the folder to read itself.
    """
    place, report = folder / "counted-texts.db", folder.parent.resolve()
    if isinstance(source, Path) and source.resolve() == report:
        raise UsageError(
            f"{source} is to be read; write the report to another folder, which may lie in it"
        )
    named = str(source.resolve()) if isinstance(source, Path) else source.url
    if not _is_read(place, named):
        with write_whole(place) as part:
            _read(part, _texts_under(source, report), named, progress)
    texts = Texts(place, numeric=numeric)
    if not texts.account().studied:
        place.unlink()
        raise UsageError(f"{named} has no text to sign")
    return texts


def _is_read(place: Path, named: str) -> bool:
    if not place.exists():
        return False
    with closing(sqlite3.connect(place)) as base:
        return (
            base.execute(
                "select 1 from account where name = 'source' and value = ?", (named,)
            ).fetchone()
            is not None
        )


def _texts_under(source: Path | Store, report: Path) -> Iterator[str | None]:
    """Yield the text of every document, None for one that cannot be read."""
    if isinstance(source, Path):
        if not source.is_dir():
            raise SourceNotFound(path=str(source))
        for _, result in documents_under(
            str(source), without=report if report.is_relative_to(source.resolve()) else None
        ):
            yield None if isinstance(result, ExtractionError) else result.text
    else:
        source.refresh()
        yield from (row.text for row in source.scan())


def _read(place: Path, texts: Iterable[str | None], named: str, progress: Progress) -> None:
    counts = {field.name: 0 for field in fields(Account)}
    for left in (place, Path(f"{place}-journal")):  # by a run that was killed while it read
        left.unlink(missing_ok=True)
    with closing(sqlite3.connect(place)) as base:
        base.executescript(_SCHEMA)
        for text in texts:
            counts["documents"] += 1
            if counts["documents"] % EVERY == 0:
                progress("reading documents", counts["documents"], 0)
            if text is None:
                counts["failed"] += 1
                continue
            kind = _store_text(base, text)
            counts[kind] += 1
        account = asdict(Account(**counts))
        base.executemany("insert into account values (?, ?)", [*account.items(), ("source", named)])
        base.commit()


def _store_text(base: sqlite3.Connection, text: str) -> str:
    """Store a text unless it is empty, and count a copy; return the field of `Account` for it."""
    octets = text.encode("utf-8", "surrogatepass")
    status = fingerprint_by(_UNSIGNED, text).status
    if status == "empty":
        return "empty"
    digest = hashlib.sha256(octets).digest()
    more = "update text set documents = documents + 1 where digest = ?"
    if base.execute(more, (digest,)).rowcount:
        return "copies"
    is_numeric = status == "numbers_only" and len(text) >= (FEATURES.width or 1)
    signed = "numeric" if is_numeric else "never"
    if status == "complete":
        signed = "always"
    row = (digest, signed, len(octets), zlib.compress(octets, 1))
    base.execute("insert into text values (?, ?, ?, ?, 1)", row)
    return "studied" if status == "complete" else status
