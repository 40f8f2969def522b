"""Consistency of labels: the stored families whose documents do not all carry the same ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from indexer.coding import CodingField
from indexer.model import CONFLICT, Query
from indexer.stores.base import Store
from indexer.stores.requirements import require_recipe

BATCH = 256  # documents that are read together


@dataclass(frozen=True, slots=True)
class Member:
    """A document of a family with its labels; `principal` is None before it was ever grouped."""

    id: str
    path: str
    labels: tuple[str, ...]
    principal: bool | None
    similarity: float | None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A family whose documents do not all carry the same labels, with all of them, by id."""

    family: str
    members: tuple[Member, ...]

    @property
    def labels(self) -> dict[str, int]:
        """Number of documents that carry each label, by label."""
        counts = Counter(label for member in self.members for label in set(member.labels))
        return dict(sorted(counts.items()))

    @property
    def unlabelled(self) -> int:
        """Number of documents that carry no label."""
        return sum(not member.labels for member in self.members)


def consistency(store: Store, field: str = "") -> tuple[Disagreement, ...]:
    """Return the stored families whose documents carry different labels, the largest first.

    `field`: that differ in this field of the coding, with its labels alone. Groups and writes
    nothing. Raises `StoreError` when nothing was indexed yet.
    """
    require_recipe(store)
    store.refresh()
    coded = CodingField(field, ())
    families: dict[str, list[Member]] = {}
    for member, family in _members(store):
        of_field = replace(member, labels=coded.of(member.labels))
        families.setdefault(family, []).append(of_field)
    return tuple(
        Disagreement(family, tuple(sorted(members, key=lambda member: member.id)))
        for family, members in sorted(families.items(), key=lambda item: (-len(item[1]), item[0]))
        if _are_different(members)
    )


def _are_different(members: Iterable[Member]) -> bool:
    return len({frozenset(member.labels) for member in members}) > 1


def _members(store: Store) -> Iterator[tuple[Member, str]]:
    ids = [hit.id for hit in store.search(Query("", ((CONFLICT, "true"),))).hits]
    for start in range(0, len(ids), BATCH):
        for row in store.get(ids[start : start + BATCH]).values():
            yield Member(row.id, row.path, row.labels, row.principal, row.similarity), row.family
