"""One family as a reviewer looks at it: its members by similarity, who resembles whom, labels, and
what is not in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from indexer.errors import DocumentNotFound
from indexer.model import Estimate, Query, Row
from indexer.similarity.measures import estimate
from indexer.sketch.codec import unpack_slots
from indexer.stores.base import Store
from indexer.stores.requirements import require_recipe

MOST, COMPARED = 500, 24


@dataclass(frozen=True, slots=True)
class Family:
    """A family. `members` are its documents by similarity to the principal, most similar first, the
    principal itself left out.

    `size` counts all documents, also those beyond the 500 that are read. `principal` is None when
    it is not in the store. `matrix[i][j]` is how much documents i and j of `compared` resemble each
    other, estimated from their slots; None where one has none. `labels`: how many documents carry
    each. `warnings` are sentences.
    """

    id: str
    size: int
    principal: Row | None
    members: tuple[Row, ...]
    compared: tuple[str, ...]
    matrix: tuple[tuple[Estimate | None, ...], ...]
    labels: dict[str, int]
    warnings: tuple[str, ...]


def family(store: Store, id: str) -> Family:
    """The family of a document, given by the id of any of its members.

    Raises `DocumentNotFound`, and `StoreError` when nothing was indexed yet.
    """
    require_recipe(store)
    asked = store.get([id]).get(id)
    name = asked.family if asked else id
    ranking = store.search(Query("", (("family", name),), "path"))
    ids = [hit.id for hit in islice(ranking.hits, MOST)]
    if not ids and asked is None:
        raise DocumentNotFound(id=id)
    rows = store.get(list(dict.fromkeys([name, *ids])))
    principal = rows.get(name)
    members = [row for row in rows.values() if row.id != name and row.family == name]
    members.sort(key=lambda row: (-(row.similarity or 0.0), row.path, row.id))
    listed = [*([principal] if principal else []), *members]
    labels = Counter(label for row in listed for label in row.labels)
    return Family(
        id=name,
        size=max(ranking.total, len(listed)),
        principal=principal,
        members=tuple(members),
        compared=tuple(row.id for row in listed[:COMPARED]),
        matrix=_matrix(listed[:COMPARED]),
        labels=dict(sorted(labels.items())),
        warnings=tuple(_warnings(name, principal, members, ranking.total)),
    )


def _matrix(rows: Sequence[Row]) -> tuple[tuple[Estimate | None, ...], ...]:
    slots = [unpack_slots(row.minhash) if row.minhash else None for row in rows]
    return tuple(tuple(estimate(a, b) for b in slots) for a in slots)


def _warnings(
    name: str, principal: Row | None, members: Sequence[Row], total: int
) -> Iterator[str]:
    """What is not in order, or not as it may look."""
    listed = [*([principal] if principal else []), *members]
    if principal is None:
        yield f"the principal {name} is not in the store; run group to make the family anew"
    if total > MOST:
        yield f"the family has {total:,} documents; the first {MOST:,} by path are shown"
    if len({frozenset(row.labels) for row in listed}) > 1:
        without = sum(not row.labels for row in listed)
        yield (
            f"labels do not agree: {without:,} of {len(listed):,} documents carry none"
            if without
            else "labels do not agree"
        )
    if arrived := sum(row.provisional for row in members):
        yield f"{arrived:,} of its documents came after the last group; their place is provisional"
    if cut := sum(row.status == "truncated" for row in listed):
        yield f"the text of {cut:,} {'document' if cut == 1 else 'documents'} is cut; similarity is that of what was read"
    if far := _least(listed):
        yield f"members are similar to the principal, not to each other: two of them share {far:.0%} only, by their sketches"


def _least(rows: Sequence[Row]) -> float | None:
    """The least similarity of two members, when it is clearly below that of any of them to the
    principal.
    """
    stored = [row.similarity for row in rows if row.similarity is not None]
    slots = [unpack_slots(row.minhash) for row in rows[:COMPARED] if row.minhash]
    values = [float(np.mean(a == b)) for place, a in enumerate(slots) for b in slots[:place]]
    far = min(values, default=1.0)
    return far if stored and far < min(stored) - 0.1 else None
