"""Gold sets: pairs or sets of documents that people have judged, named by id or path.

Duplicate types are by Conrad & Raymond (ICAIL 2007): `identical`, `near-identical`, `fuzzy`;
`duplicate` where the type is unknown. `different` and `contained` say that a pair is not a
duplicate.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import chain, combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any

from indexer.documents.sources import walk
from indexer.errors import ExtractionError, SourceNotFound, UsageError
from indexer.jobs.document_rows import documents_at
from indexer.lab.evaluation.judgements import (
    DIFFERENT,
    DUPLICATE,
    DUPLICATES,
    FUZZY,
    IDENTICAL,
    NEAR_IDENTICAL,
    TYPES,
    Gold,
    GoldDocument,
    GoldSet,
    LabelledPair,
)
from indexer.lab.evaluation.precision_recall import linked_sets, ordered_pair
from indexer.model import Blob, Row
from indexer.stores.base import Store
from indexer.wording import count_of

# Read csv and JSON Lines files as records that know their file and line.

MAX_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a file: its fields, path and line number."""

    path: str
    line: int
    fields: Mapping[str, Any]

    @property
    def location(self) -> str:
        """Return path and line, for error messages."""
        return f"{self.path}, line {self.line}"

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text field. Raises `UsageError` when it is missing or empty (unless there is a
        default), or not text.
        """
        value = self.fields.get(name)
        if value is None or value == "":
            if default is None:
                raise self.wrong(f"{name} is missing")
            return default
        if not isinstance(value, str):
            raise self.wrong(f"{name} is {json.dumps(value)}, not text")
        return value

    def wrong(self, what: str) -> UsageError:
        """Return the error to raise about this line."""
        return UsageError(f"{self.location}: {what}")


def records(path: str) -> Iterator[Record]:
    """Yield the lines of a `.csv` file with a header, or of a `.jsonl` file, without empty lines.

    The last line of a `.jsonl` file is left out when it has no line end and cannot be parsed: it
    was cut short while it was written. Raises `SourceNotFound`, and `UsageError` for another kind
    of file and for what cannot be read, with the line.
    """
    file = Path(path)
    if file.is_dir():
        raise UsageError(f"{path} is a folder; give a .csv file with a header, or a .jsonl file")
    if not file.exists():
        raise SourceNotFound(path=path)
    if not file.is_file():
        raise UsageError(f"{path} is not a regular file; give a .csv or a .jsonl file")
    suffix = file.suffix.lower()
    if suffix not in (".csv", ".jsonl", ".ndjson"):
        raise UsageError(f"{path}: give a .csv file with a header, or a .jsonl file")
    if file.stat().st_size > MAX_BYTES:
        raise UsageError(f"{path} has more than {MAX_BYTES >> 20} MB; split it")
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 at byte {error.start}; save it as UTF-8") from error
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}); check its permissions"
        ) from error
    yield from _rows(path, text) if suffix == ".csv" else _lines(path, text)


def _rows(path: str, text: str) -> Iterator[Record]:
    reader = csv.reader(StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        if len(set(header)) < len(header):
            raise UsageError(f"{path}, line 1: the header names a column twice; rename one of them")
        line = reader.line_num
        for row in reader:
            if any(row):
                if len(row) != len(header):
                    raise UsageError(
                        f"{path}, line {line + 1}: {count_of(len(row), 'field')} under "
                        f"{count_of(len(header), 'name')}; repair the line"
                    )
                yield Record(path, line + 1, dict(zip(header, row, strict=True)))
            line = reader.line_num
    except csv.Error as error:
        raise UsageError(f"{path}, line {reader.line_num}: {error}") from error


def _lines(path: str, text: str) -> Iterator[Record]:
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            if number == len(lines):
                return
            raise UsageError(
                f"{path}, line {number}: not JSON ({error}); repair the line"
            ) from error
        if not isinstance(value, dict):
            raise UsageError(
                f"{path}, line {number}: not a JSON object; "
                'write one such as {"a": "one", "b": "other"}'
            )
        yield Record(path, number, value)


SPELLINGS: Mapping[str, str] = MappingProxyType(
    {
        **{name: name for name in TYPES},
        **dict.fromkeys(("exact", "exact-duplicate"), IDENTICAL),
        **dict.fromkeys(("near", "near-identical-duplicate"), NEAR_IDENTICAL),
        "fuzzy-duplicate": FUZZY,
        **dict.fromkeys(("yes", "true", "1", "near-duplicate"), DUPLICATE),
        **dict.fromkeys(
            ("no", "none", "false", "0", "not-duplicate", "non-duplicate", "not-a-duplicate"),
            DIFFERENT,
        ),
    }
)


def type_named(spelling: str, record: Record) -> str:
    """Return the type that a spelling means, whatever its case, blanks and underscores. Raises
    `UsageError`.
    """
    name = "-".join(spelling.lower().replace("_", " ").replace("-", " ").split())
    if name not in SPELLINGS:
        raise record.wrong(f"{spelling!r} is not a type; choose one of: {', '.join(TYPES)}")
    return SPELLINGS[name]


def read_gold(path: str, closed: bool | None = None) -> Gold:
    """Read pairs (`a`, `b`, and if known `type`, `group` or `query`, `kind`) or sets.

    Sets are rows of `set` and `document` in csv, in JSON Lines objects with `documents`; `type` and
    `group` as for pairs. Unless `closed` says otherwise, unlisted pairs count as different, except
    where the file itself lists different pairs: then unlisted pairs are unknown. Raises
    `SourceNotFound`, and `UsageError` with the line.
    """
    lines = list(records(path))
    if not lines:
        raise UsageError(f"{path} holds no pairs and no sets; give another file")
    names = lines[0].fields.keys()
    folder = str(Path(path).resolve().parent)
    if "set" in names or "documents" in names:
        sets = tuple(_read_sets(lines))
        return Gold(_unique_pairs(_pairs_in(sets)), sets, closed is not False, folder)
    if not {"a", "b"} <= names:
        raise lines[0].wrong(
            "pairs have the columns a and b, sets the columns set and document; "
            f"found {', '.join(names)}"
        )
    pairs = _unique_pairs(_labelled_pair(record) for record in lines)
    listed = any(pair.type not in DUPLICATES for pair in pairs)
    return Gold(pairs, (), not listed if closed is None else closed, folder)


def gold_sets(gold: Gold) -> tuple[GoldSet, ...]:
    """Return the sets of the file, or those that duplicate pairs of a group link, with the loosest
    type of their pairs.
    """
    if gold.sets:
        return gold.sets
    groups: dict[str, dict[tuple[str, str], LabelledPair]] = {}
    for labelled in gold.pairs:
        if labelled.type in DUPLICATES:
            groups.setdefault(labelled.group, {})[labelled.pair] = labelled
    return tuple(
        _linked_set(group, pairs, members)
        for group, pairs in groups.items()
        for members in linked_sets(pairs)
    )


def _linked_set(
    group: str, pairs: Mapping[tuple[str, str], LabelledPair], members: tuple[str, ...]
) -> GoldSet:
    inside = [pairs[pair] for pair in combinations(members, 2) if pair in pairs]
    return GoldSet(
        members,
        max((labelled.type for labelled in inside), key=DUPLICATES.index),
        group,
        inside[0].location,
    )


def _labelled_pair(record: Record) -> LabelledPair:
    type = type_named(record.text("type", DUPLICATE), record)
    group = record.text("group", "") or record.text("query", "")
    labelled = LabelledPair(
        record.text("a"), record.text("b"), type, group, record.text("kind", ""), record.location
    )
    if labelled.a == labelled.b:
        raise record.wrong(f"{labelled.a} is paired with itself; remove the line")
    return labelled


def _read_sets(lines: Iterable[Record]) -> Iterator[GoldSet]:
    """Yield sets of JSON Lines, one for each line, or of csv, whose rows are joined by group and
    set.
    """
    rows: dict[tuple[str, str], list[tuple[Record, str]]] = {}
    for record in lines:
        group = record.text("group", "") or record.text("query", "")
        if "documents" in record.fields:
            yield _gold_set(record, _document_names(record), group)
        else:
            rows.setdefault((group, record.text("set")), []).append(
                (record, record.text("document"))
            )
    for (group, _), members in rows.items():
        if len({record.text("type", "") for record, _ in members}) > 1:
            raise members[-1][0].wrong(
                "the rows of one set have different types; choose one of them"
            )
        yield _gold_set(members[0][0], [name for _, name in members], group)


def _gold_set(record: Record, names: list[str], group: str) -> GoldSet:
    if len(set(names)) < max(2, len(names)):
        raise record.wrong("a set must name two or more documents, each once")
    type = type_named(record.text("type", DUPLICATE), record)
    if type not in DUPLICATES:
        raise record.wrong(
            f"a set of duplicates cannot have the type {type}; list its pairs instead"
        )
    return GoldSet(tuple(names), type, group, record.location)


def _document_names(record: Record) -> list[str]:
    names = record.fields["documents"]
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise record.wrong("documents must be a list of names")
    return names


def _pairs_in(sets: Iterable[GoldSet]) -> Iterator[LabelledPair]:
    return (
        LabelledPair(a, b, gold_set.type, gold_set.group, "", gold_set.location)
        for gold_set in sets
        for a, b in combinations(sorted(gold_set.documents), 2)
    )


def _unique_pairs(labelled: Iterable[LabelledPair]) -> tuple[LabelledPair, ...]:
    """Return each pair of a group once. Raises `UsageError` when a pair has two types."""
    unique: dict[tuple[str, tuple[str, str]], LabelledPair] = {}
    for pair in labelled:
        before = unique.setdefault((pair.group, pair.pair), pair)
        if before.type != pair.type:
            raise UsageError(
                f"{pair.location}: {pair.a} and {pair.b} are {pair.type} here, "
                f"but {before.type} in {before.location}; correct one of them"
            )
    return tuple(unique.values())


# The judged pairs of each group of a gold set, by keys of documents instead of names.

Pair = tuple[str, str]


@dataclass(frozen=True)
class Group:
    """One group: the keys of its documents, its judged pairs, and its sets.

    Pairs are ordered keys. `closed`: a pair that is not known is different.
    """

    name: str
    documents: frozenset[str]
    known: Mapping[Pair, LabelledPair]
    sets: tuple[GoldSet, ...]
    closed: bool

    @property
    def true(self) -> set[Pair]:
        """Return the pairs that are duplicates."""
        return {pair for pair, labelled in self.known.items() if labelled.type in DUPLICATES}

    @property
    def judged(self) -> int:
        """Return the number of pairs whose truth is known."""
        count = len(self.documents)
        return count * (count - 1) // 2 if self.closed else len(self.known)

    def among(self, found_pairs: Collection[Pair]) -> set[Pair]:
        """Return the found pairs whose truth is known in this group."""
        if not self.closed:
            return {pair for pair in found_pairs if pair in self.known}
        return {pair for pair in found_pairs if self.documents.issuperset(pair)}

    def type(self, pair: Pair) -> str:
        """Return the type of a judged pair."""
        return self.known[pair].type if pair in self.known else DIFFERENT

    def kind(self, pair: Pair) -> str:
        """Return the kind of change that made a judged pair; empty when unknown."""
        return self.known[pair].kind if pair in self.known else ""


def groups(gold: Gold, documents: Mapping[str, GoldDocument]) -> list[Group]:
    """Return the groups of a gold set, by name. Raises `UsageError` when two names of a pair are
    the same document.
    """
    keys = {name: labelled.key for name, labelled in documents.items()}
    judged: dict[str, dict[Pair, LabelledPair]] = {}
    for labelled in gold.pairs:
        if keys[labelled.a] == keys[labelled.b]:
            raise UsageError(
                f"{labelled.location}: {labelled.a} and {labelled.b} are the same document; "
                "remove the line"
            )
        earlier = judged.setdefault(labelled.group, {}).setdefault(
            ordered_pair(keys[labelled.a], keys[labelled.b]), labelled
        )
        if earlier.type != labelled.type:
            raise UsageError(
                f"{labelled.location} says {labelled.type}, {earlier.location} says "
                f"{earlier.type} for the same two documents; correct one of them"
            )
    sets: dict[str, list[GoldSet]] = {}
    for gold_set in gold_sets(gold):
        members = tuple(dict.fromkeys(keys[name] for name in gold_set.documents))
        sets.setdefault(gold_set.group, []).append(
            GoldSet(members, gold_set.type, gold_set.group, gold_set.location)
        )
    return [
        Group(
            name,
            frozenset(chain.from_iterable(pairs)),
            pairs,
            tuple(sets.get(name, ())),
            gold.closed,
        )
        for name, pairs in sorted(judged.items())
    ]


# The documents that a gold set names, by id or path, from a store or the disk.

BATCH = 256
MAX_NAMED = 5


def gold_documents(
    names: Iterable[str], folder: str, store: Store | None
) -> dict[str, GoldDocument]:
    """Return every document by name: an id of the store, a path from `folder`, or a path from the
    working directory.

    Stored documents are preferred; an empty store counts as no store. Raises `UsageError` with the
    first five names that do not exist, and for a file that cannot be read.
    """
    unique_names = list(dict.fromkeys(names))
    store = store if store is not None and store.stored_recipe() else None
    documents = {id: _row_document(row) for id, row in _rows_by_name(store, unique_names)}
    positions = {name: _real_path(name, folder) for name in unique_names if name not in documents}
    files = {name: position for name, position in positions.items() if position}
    documents |= _file_documents(files, store)
    missing = [name for name in unique_names if name not in documents]
    if missing and store is not None:
        documents |= _documents_by_path(missing, folder, store)
        missing = [name for name in missing if name not in documents]
    if missing:
        more = f", and {len(missing) - MAX_NAMED:,} more" if len(missing) > MAX_NAMED else ""
        first = ", ".join(map(repr, missing[:MAX_NAMED]))
        problem = "neither an id of the store nor a path" if store else "no path"
        remedy = "" if store else "; for ids give --store"
        raise UsageError(f"{first}{more}: {problem} from {folder} or from here{remedy}")
    return documents


def _rows_by_name(store: Store | None, ids: Sequence[str]) -> Iterator[tuple[str, Row]]:
    if store is not None:
        for start in range(0, len(ids), BATCH):
            yield from store.get(ids[start : start + BATCH]).items()


def _row_document(row: Row) -> GoldDocument:
    return GoldDocument(row.id, row.path, row.text, True)


def _real_path(name: str, folder: str) -> str | None:
    """Return the real path of the file that a name means; the folder of the gold set goes before
    the working directory.
    """
    positions = (os.path.join(folder, name), name)  # noqa: PTH118 (a name may be of any bytes)
    return next((os.path.realpath(position) for position in positions if _is_file(position)), None)


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def _file_documents(files: Mapping[str, str], store: Store | None) -> dict[str, GoldDocument]:
    """Return files by name, from the store where it has them. Raises `UsageError` when one cannot
    be read.
    """
    ids = {
        name: blob.id
        for name, position in files.items()
        for blob in walk([position])
        if isinstance(blob, Blob)
    }
    rows = dict(_rows_by_name(store, list(dict.fromkeys(ids.values()))))
    stored = {name: _row_document(rows[id]) for name, id in ids.items() if id in rows}
    paths = {position: name for name, position in files.items() if name not in stored}
    extracted: dict[str, GoldDocument] = {}
    for where, result in documents_at(list(paths)):
        if isinstance(result, ExtractionError):
            raise UsageError(f"{where} cannot be read: {result}")
        extracted[where] = GoldDocument(where, where, result.text, False)
    return stored | {
        name: extracted[position] for name, position in files.items() if name not in stored
    }


def _documents_by_path(names: Sequence[str], folder: str, store: Store) -> dict[str, GoldDocument]:
    """Return stored documents by the path that the store has for them, for files that are gone or
    were read elsewhere.
    """
    paths: dict[str, str] = {}
    for name in names:
        joined = os.path.join(folder, name)  # noqa: PTH118 (not normalised: a key, not a file)
        paths |= dict.fromkeys((joined, os.path.realpath(name), name), name)
    return {paths[row.path]: _row_document(row) for row in store.scan() if row.path in paths}
