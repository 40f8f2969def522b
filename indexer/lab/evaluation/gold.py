"""Gold sets: pairs or sets of documents that people have judged, named by id or path.

Duplicate types are those of Conrad & Raymond (ICAIL 2007): `identical`, `near-identical`, `fuzzy`;
`duplicate` where the type is unknown. `different` and `contained` say that a pair is not a
duplicate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from types import MappingProxyType

from indexer.errors import UsageError
from indexer.lab.evaluation.csv_records import Record, records
from indexer.lab.evaluation.judgements import (
    DIFFERENT,
    DUPLICATE,
    DUPLICATES,
    FUZZY,
    IDENTICAL,
    NEAR_IDENTICAL,
    TYPES,
    Gold,
    GoldSet,
    LabelledPair,
)
from indexer.statistics.precision_recall import linked_sets

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
        inside[0].place,
    )


def _labelled_pair(record: Record) -> LabelledPair:
    type = type_named(record.text("type", DUPLICATE), record)
    group = record.text("group", "") or record.text("query", "")
    labelled = LabelledPair(
        record.text("a"), record.text("b"), type, group, record.text("kind", ""), record.place
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
    return GoldSet(tuple(names), type, group, record.place)


def _document_names(record: Record) -> list[str]:
    names = record.fields["documents"]
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise record.wrong("documents must be a list of names")
    return names


def _pairs_in(sets: Iterable[GoldSet]) -> Iterator[LabelledPair]:
    return (
        LabelledPair(a, b, gold_set.type, gold_set.group, "", gold_set.place)
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
                f"{pair.place}: {pair.a} and {pair.b} are {pair.type} here, "
                f"but {before.type} in {before.place}; correct one of them"
            )
    return tuple(unique.values())
