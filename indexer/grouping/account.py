"""Account of a grouping: families, copies inside them, documents that moved, label conflicts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from indexer.joins.bands import CapReport
from indexer.matching.entries import Entry
from indexer.model import Assignment, Status
from indexer.similarity.criteria import KEYED
from indexer.similarity.omissions import OmissionSummary


@dataclass(frozen=True, slots=True)
class Copies:
    """Documents with the same bytes, or the same normalised text: (id, path) each, by id."""

    digest: str
    documents: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class FamilyMove:
    """Documents that were in the family `before` and are in `after` now, by id.

    Both families are named by their principals. `paths`: where the documents lie; `before_path`
    and `after_path`: where the principals do, empty for one that is not in the store.
    """

    before: str
    after: str
    documents: tuple[str, ...]
    paths: tuple[str, ...]
    before_path: str
    after_path: str


@dataclass(frozen=True, slots=True)
class LabelConflict:
    """A family whose members do not all carry the same labels.

    `labels`: how many documents carry each; `unlabelled`: how many carry none.
    """

    family: str
    documents: int
    labels: dict[str, int]
    unlabelled: int


@dataclass(frozen=True, slots=True)
class GroupResult:
    """The result of `group` in figures.

    `families`, `clusters`: those of two documents or more.
    `largest`: documents of the largest family, 0 in an empty store.
    `singletons`: documents in no family.
    `changed`: rows whose family fields are new; on a dry run, those that would be.
    `left_alone`: documents of other programs that keep their family fields, since a change would
    harm values of theirs; 0 on a dry run, which does not read these values.
    `provisional`: documents whose family was provisional and is final now.
    `provisional_families`: families of two documents or more that one of these is in.
    `excluded`: documents without keys and without a copy, which no family takes, by status.
    `moved`: the documents that changed family, provisional ones left out.
    `same_bytes`, `same_text`: copies of any status; empty texts are no copies of a text.
    `inconsistent`: families whose labels differ.
    `capped`: the pairs that caps left out.
    `left_out`: what approved passages took out of the texts; None without such a list.
    `never_signed`: documents of other programs without any signature; each is on its own.
    """

    documents: int
    families: int
    largest: int
    singletons: int
    clusters: int
    changed: int
    provisional: int
    provisional_families: int
    excluded: dict[Status, int]
    moved: tuple[FamilyMove, ...]
    same_bytes: tuple[Copies, ...]
    same_text: tuple[Copies, ...]
    inconsistent: tuple[LabelConflict, ...]
    capped: CapReport
    left_out: OmissionSummary | None = None
    never_signed: int = 0
    left_alone: int = 0


def account(pairs: list[tuple[Entry, Assignment]], changed: int, capped: CapReport) -> GroupResult:
    """Return the account of an assignment of family fields, of which `changed` are written."""
    entries = [entry for entry, _ in pairs]
    sizes = Counter(after.family for _, after in pairs)
    clusters = {after.cluster for _, after in pairs} - {None}
    filled = [entry for entry in entries if entry.status != "empty"]
    excluded = Counter(
        before.status
        for before, after in pairs
        if before.status not in KEYED and sizes[after.family] == 1
    )
    return GroupResult(
        documents=len(pairs),
        families=sum(size > 1 for size in sizes.values()),
        largest=max(sizes.values(), default=0),
        singletons=sum(size == 1 for size in sizes.values()),
        clusters=len(clusters),
        changed=changed,
        provisional=sum(entry.provisional for entry in entries),
        provisional_families=_count_provisional(pairs, sizes),
        excluded=dict(sorted(excluded.items())),
        moved=tuple(_moves(pairs)),
        same_bytes=_copies((entry.raw, entry) for entry in entries),
        same_text=_copies((entry.exact, entry) for entry in filled),
        inconsistent=tuple(_label_conflicts(pairs)),
        capped=capped,
    )


def _count_provisional(pairs: list[tuple[Entry, Assignment]], sizes: Counter[str]) -> int:
    """Return the families of two documents or more with one whose family was provisional."""
    families = {after.family for before, after in pairs if before.provisional}
    return sum(sizes[family] > 1 for family in families)


def _moves(pairs: list[tuple[Entry, Assignment]]) -> Iterator[FamilyMove]:
    """Yield the documents that left a family for another, by family.

    One that was provisional was only expected to be in its family.
    """
    moves: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for entry, after in pairs:
        if entry.family != after.family and not entry.provisional:
            moves[entry.family, after.family].append(entry)
    principals = {family for families in moves for family in families}
    paths = {entry.id: entry.path for entry, _ in pairs if entry.id in principals}
    for (old, new), entries in sorted(moves.items()):
        yield FamilyMove(
            before=old,
            after=new,
            documents=tuple(entry.id for entry in entries),
            paths=tuple(entry.path for entry in entries),
            before_path=paths.get(old, ""),
            after_path=paths.get(new, ""),
        )


def _copies(digested: Iterable[tuple[str, Entry]]) -> tuple[Copies, ...]:
    """Return the digests that several documents share, ordered by the first of them."""
    carriers: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for digest, entry in digested:
        carriers[digest].append((entry.id, entry.path))
    return tuple(
        Copies(digest, tuple(documents))
        for digest, documents in carriers.items()
        if digest and len(documents) > 1
    )


def _label_conflicts(pairs: list[tuple[Entry, Assignment]]) -> Iterator[LabelConflict]:
    """Yield the families whose members carry different sets of labels, by family."""
    members: dict[str, list[frozenset[str]]] = defaultdict(list)
    for entry, after in pairs:
        members[after.family].append(frozenset(entry.labels))
    for family, label_sets in sorted(members.items()):
        if len(set(label_sets)) > 1:
            carried = Counter(label for labels in label_sets for label in labels)
            unlabelled = label_sets.count(frozenset())
            yield LabelConflict(family, len(label_sets), dict(sorted(carried.items())), unlabelled)
