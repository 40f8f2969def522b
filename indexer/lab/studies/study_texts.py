"""The texts of a study while it lasts: each distinct one once, in an order that depends on nothing
but what it says.
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
_UNSIGNED = replace(FEATURES, simhash=None)  # tells the status of a text, and makes no signature
_SCHEMA = """
create table text (digest blob primary key, status text not null, text blob not null) without rowid;
create table account (name text primary key, value) without rowid;
"""


class Texts:
    """Texts in a file. They come in the order of the SHA-256 of what they say, so the first n are n
    drawn at random.
    """

    def __init__(self, place: Path) -> None:
        self.place = place

    def account(self) -> Account:
        """What was read."""
        with closing(sqlite3.connect(self.place)) as base:
            return Account(
                **dict(base.execute("select name, value from account where name != 'source'"))
            )

    def source(self) -> str:
        """The folder or the store that they came from."""
        with closing(sqlite3.connect(self.place)) as base:
            return str(
                base.execute("select value from account where name = 'source'").fetchone()[0]
            )

    def digest(self) -> str:
        """16 hexadecimal digits that name the studied texts."""
        made = hashlib.sha256()
        with closing(sqlite3.connect(self.place)) as base:
            for (one,) in base.execute(
                "select digest from text where status = 'complete' order by digest"
            ):
                made.update(one)
        return made.hexdigest()[:16]

    def __iter__(self) -> Iterator[str]:
        with closing(sqlite3.connect(self.place)) as base:
            for (packed,) in base.execute(
                "select text from text where status = 'complete' order by digest"
            ):
                yield zlib.decompress(packed).decode("utf-8", "surrogatepass")


def texts_of(source: Path | Store, folder: Path, progress: Progress) -> Texts:
    """Read a folder or a store into a file of `folder`; what an earlier call read whole is not read
    again.

    `folder` lies in that of the report. Nothing there is a document, should it lie in the folder to
    read.

    Raises `SourceNotFound`, and `UsageError` when there is no text to sign or the report lies in
    the folder to read itself.
    """
    place, report = folder / "texts.db", folder.parent.resolve()
    if isinstance(source, Path) and source.resolve() == report:
        raise UsageError(
            f"{source} is to be read; write the report to another folder, which may lie in it"
        )
    named = str(source.resolve()) if isinstance(source, Path) else source.url
    if not _read_before(place, named):
        with write_whole(place) as part:
            _read(part, _found(source, report), named, progress)
    made = Texts(place)
    if not made.account().studied:
        place.unlink()
        raise UsageError(f"{named} has no text to sign")
    return made


def _read_before(place: Path, named: str) -> bool:
    if not place.exists():
        return False
    with closing(sqlite3.connect(place)) as base:
        return (
            base.execute(
                "select 1 from account where name = 'source' and value = ?", (named,)
            ).fetchone()
            is not None
        )


def _found(source: Path | Store, report: Path) -> Iterator[str | None]:
    """The text of every document, None for one that cannot be read."""
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


def _read(place: Path, found: Iterable[str | None], named: str, progress: Progress) -> None:
    counts = {one.name: 0 for one in fields(Account)}
    for left in (place, Path(f"{place}-journal")):  # by a run that was killed while it read
        left.unlink(missing_ok=True)
    with closing(sqlite3.connect(place)) as base:
        base.executescript(_SCHEMA)
        for text in found:
            counts["documents"] += 1
            if counts["documents"] % EVERY == 0:
                progress("reading documents", counts["documents"], 0)
            if text is None:
                counts["failed"] += 1
                continue
            octets = text.encode("utf-8", "surrogatepass")
            status = fingerprint_by(_UNSIGNED, text).status
            row = (hashlib.sha256(octets).digest(), status, zlib.compress(octets, 1))
            fresh = (
                status != "empty"
                and base.execute("insert or ignore into text values (?, ?, ?)", row).rowcount
            )
            kind = (
                "empty"
                if status == "empty"
                else ("studied" if status == "complete" else status)
                if fresh
                else "copies"
            )
            counts[kind] += 1
            counts["octets"] += len(octets) if kind == "studied" else 0
        account = asdict(Account(**counts))
        base.executemany("insert into account values (?, ?)", [*account.items(), ("source", named)])
        base.commit()
