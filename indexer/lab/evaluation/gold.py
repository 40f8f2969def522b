"""Gold sets: pairs of documents, or sets of them, that people have judged; names are ids of a
store, or paths.

Duplicate types are those of Conrad & Raymond (ICAIL 2007): `identical`, `near-identical`, `fuzzy`;
`duplicate` where nobody has said which. `different` and `contained` say that a pair is no
duplicate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from types import MappingProxyType

from indexer.errors import UsageError
from indexer.lab.evaluation.csv_records import Record, records
from indexer.statistics.precision_recall import linked_sets, ordered

IDENTICAL, NEAR_IDENTICAL, FUZZY, DUPLICATE, DIFFERENT = (
    "identical",
    "near-identical",
    "fuzzy",
    "duplicate",
    "different",
)
DUPLICATES = (IDENTICAL, NEAR_IDENTICAL, FUZZY, DUPLICATE)
TYPES = (*DUPLICATES, "contained", DIFFERENT)
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


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """One judged pair, as it is written. `group` is the query or the result set that it belongs to,
    `kind` how it was made.
    """

    a: str
    b: str
    type: str
    group: str
    kind: str
    place: str

    @property
    def pair(self) -> tuple[str, str]:
        """Both names, the same whichever comes first."""
        return ordered(self.a, self.b)


@dataclass(frozen=True, slots=True)
class GoldSet:
    """Documents that are duplicates of one another, as somebody has put them together."""

    documents: tuple[str, ...]
    type: str
    group: str
    place: str


@dataclass(frozen=True, slots=True)
class Gold:
    """The truth about some documents, each pair once.

    `closed`: pairs that are not listed, of documents of the same group, are no duplicates; else
    nothing is known of them. `folder`: where paths begin that are not absolute.
    """

    pairs: tuple[LabelledPair, ...]
    sets: tuple[GoldSet, ...]
    closed: bool
    folder: str

    @property
    def documents(self) -> tuple[str, ...]:
        """Every name, in order of spelling."""
        return tuple(
            sorted(
                {name for one in self.pairs for name in one.pair}
                | {n for one in self.sets for n in one.documents}
            )
        )


def type_named(spelling: str, record: Record) -> str:
    """The type that a spelling means; case, blanks and underscores do not count. Raises
    `UsageError`.
    """
    name = "-".join(spelling.lower().replace("_", " ").replace("-", " ").split())
    if name not in SPELLINGS:
        raise record.wrong(f"{spelling!r} is no type; choose one of: {', '.join(TYPES)}")
    return SPELLINGS[name]


def read_gold(path: str, closed: bool | None = None) -> Gold:
    """Read pairs (`a`, `b`, and if known `type`, `group` or `query`, `kind`) or sets.

    Sets are rows of `set` and `document` in csv, in JSON Lines objects with `documents`; `type` and
    `group` as for pairs. Unless `closed` says otherwise, pairs that are not listed are taken for
    different, except where the file itself lists such pairs: then nothing is concluded of what it
    does not list. Raises `SourceNotFound`, and `UsageError` with the line.
    """
    found = list(records(path))
    if not found:
        raise UsageError(f"{path} holds no pairs and no sets")
    names = found[0].fields.keys()
    folder = str(Path(path).resolve().parent)
    if "set" in names or "documents" in names:
        sets = tuple(_sets(found))
        return Gold(_unique(_pairs_of(sets)), sets, closed is not False, folder)
    if not {"a", "b"} <= names:
        raise found[0].wrong(
            f"pairs have the columns a and b, sets the columns set and document; found {', '.join(names)}"
        )
    pairs = _unique(_labelled(record) for record in found)
    listed = any(one.type not in DUPLICATES for one in pairs)
    return Gold(pairs, (), not listed if closed is None else closed, folder)


def gold_sets(gold: Gold) -> tuple[GoldSet, ...]:
    """The sets as they were given, or those that duplicate pairs of a group link, of the loosest
    type of their pairs.
    """
    if gold.sets:
        return gold.sets
    groups: dict[str, dict[tuple[str, str], LabelledPair]] = {}
    for one in gold.pairs:
        if one.type in DUPLICATES:
            groups.setdefault(one.group, {})[one.pair] = one
    return tuple(
        _linked(group, pairs, members)
        for group, pairs in groups.items()
        for members in linked_sets(pairs)
    )


def _linked(
    group: str, pairs: Mapping[tuple[str, str], LabelledPair], members: tuple[str, ...]
) -> GoldSet:
    inside = [pairs[pair] for pair in combinations(members, 2) if pair in pairs]
    return GoldSet(
        members, max((one.type for one in inside), key=DUPLICATES.index), group, inside[0].place
    )


def _labelled(record: Record) -> LabelledPair:
    type = type_named(record.text("type", DUPLICATE), record)
    group = record.text("group", "") or record.text("query", "")
    made = LabelledPair(
        record.text("a"), record.text("b"), type, group, record.text("kind", ""), record.place
    )
    if made.a == made.b:
        raise record.wrong(f"{made.a} is paired with itself")
    return made


def _sets(found: Iterable[Record]) -> Iterator[GoldSet]:
    """Sets of JSON Lines, one a line, or of csv, whose rows are gathered by group and set."""
    rows: dict[tuple[str, str], list[tuple[Record, str]]] = {}
    for record in found:
        group = record.text("group", "") or record.text("query", "")
        if "documents" in record.fields:
            yield _set(record, _names(record), group)
        else:
            rows.setdefault((group, record.text("set")), []).append(
                (record, record.text("document"))
            )
    for (group, _), members in rows.items():
        if len({record.text("type", "") for record, _ in members}) > 1:
            raise members[-1][0].wrong("the rows of one set have different types")
        yield _set(members[0][0], [name for _, name in members], group)


def _set(record: Record, names: list[str], group: str) -> GoldSet:
    if len(set(names)) < max(2, len(names)):
        raise record.wrong("a set has two or more documents, each once")
    type = type_named(record.text("type", DUPLICATE), record)
    if type not in DUPLICATES:
        raise record.wrong(f"a set of duplicates has no type {type}")
    return GoldSet(tuple(names), type, group, record.place)


def _names(record: Record) -> list[str]:
    names = record.fields["documents"]
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise record.wrong("documents is a list of names")
    return names


def _pairs_of(sets: Iterable[GoldSet]) -> Iterator[LabelledPair]:
    return (
        LabelledPair(a, b, one.type, one.group, "", one.place)
        for one in sets
        for a, b in combinations(sorted(one.documents), 2)
    )


def _unique(labelled: Iterable[LabelledPair]) -> tuple[LabelledPair, ...]:
    """Each pair of a group once. Raises `UsageError` when it is given two types."""
    known: dict[tuple[str, tuple[str, str]], LabelledPair] = {}
    for one in labelled:
        before = known.setdefault((one.group, one.pair), one)
        if before.type != one.type:
            raise UsageError(
                f"{one.place}: {one.a} and {one.b} are {one.type} here, but {before.type} in {before.place}"
            )
    return tuple(known.values())
