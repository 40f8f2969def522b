"""One group for a reviewer: members, their similarity to each other, labels, and warnings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.differences import Rarity
from indexer.comparing.measures import ComparedText, estimate
from indexer.errors import DocumentNotFound
from indexer.fingerprinting.keys import unpack_slots
from indexer.fingerprinting.minhash import FULL, without_chance
from indexer.grouping.group_options import DEFAULT_OPTIONS, separation
from indexer.model import Estimate, Match, Query, Row, Scope
from indexer.recipe import Recipe
from indexer.review.store_figures import last_group_options
from indexer.stores.abilities import FullStore
from indexer.stores.base import Store
from indexer.stores.journal import known_group_settings
from indexer.stores.requirements import require_recipe
from indexer.wording import percent

MAX_DOCUMENTS = 500  # documents of a family that are read
COMPARED = 24  # documents that are compared with each other


@dataclass(frozen=True, slots=True)
class Family:
    """A group.

    `members` are its documents without the principal, most similar to it first. `size` counts all
    documents, also those beyond the 500 that are read. `principal` is None when it is not in the
    store. `matrix[i][j]` is how much documents i and j of `compared` resemble each other, estimated
    from their slots; None where one has none. `labels`: how many documents carry each. `warnings`
    are sentences. `measure`: that of the last `group` of such rows, None if it is not known here.
    """

    id: str
    size: int
    principal: Row | None
    members: tuple[Row, ...]
    compared: tuple[str, ...]
    matrix: tuple[tuple[Estimate | None, ...], ...]
    labels: dict[str, int]
    warnings: tuple[str, ...]
    measure: str | None = None


def family(store: Store, id: str) -> Family:
    """Return the group of a document, named by the id of any of its members.

    Raises `DocumentNotFound`, and `StoreError` when nothing was indexed yet.
    """
    recipe = require_recipe(store)
    row = store.get([id]).get(id)
    name = row.family if row else id
    of: Scope = "parts" if row and row.parent else "documents"
    ranking = store.search(Query("", (("family", name),), "path"))
    ids = [hit.id for hit in islice(ranking.hits, MAX_DOCUMENTS)]
    if not ids and row is None:
        raise DocumentNotFound(id=id)
    rows = store.get(list(dict.fromkeys([name, *ids])))
    principal = rows.get(name)
    members = [member for member in rows.values() if member.id != name and member.family == name]
    members.sort(key=lambda member: (-(member.similarity or 0.0), member.path, member.id))
    documents = [principal, *members] if principal else members
    labels = Counter(label for document in documents for label in document.labels)
    return Family(
        id=name,
        size=max(ranking.total, len(documents)),
        principal=principal,
        members=tuple(members),
        compared=tuple(document.id for document in documents[:COMPARED]),
        matrix=_matrix(documents[:COMPARED], recipe),
        labels=dict(sorted(labels.items())),
        warnings=tuple(_warnings(name, principal, members, ranking.total, recipe)),
        measure=known_group_settings(store.address, of).get("measure"),
    )


# Documents of other groups that are near a document, and what keeps them out of its group.


@dataclass(frozen=True, slots=True)
class NearCopy:
    """A document of another group, its similarity, and why it is not in the group."""

    id: str
    path: str
    similarity: float
    reason: str


def near_copies(store: FullStore, row: Row, matches: Sequence[Match]) -> Iterator[NearCopy]:
    """Yield the near duplicates of a document that are in other groups than it is.

    The reason compares each with the principal of the document's group.
    """
    recipe = require_recipe(store)
    options = last_group_options(store) or DEFAULT_OPTIONS
    rows = store.get([row.family, row.id, *(match.id for match in matches)])
    principal = rows.get(row.family, row)
    rarity = Rarity(store.vocabulary.frequencies)
    texts: dict[str, ComparedText] = {}

    def text(of: Row) -> ComparedText:
        return texts.setdefault(of.id, ComparedText(of.text, recipe))

    for match in matches:
        other = rows.get(match.id)
        if other is None or other.family == row.family:
            continue
        reason = separation(other, principal, options, text, rarity) or _other_reason(other)
        yield NearCopy(other.id, other.path, match.similarity, reason)


def _other_reason(row: Row) -> str:
    if row.provisional:
        return "it came after the last group"
    if row.family != row.id:
        return "it is in the group of a document that is more similar to it"
    return "no rule separates them: group would look at them again"


def _matrix(rows: Sequence[Row], recipe: Recipe) -> tuple[tuple[Estimate | None, ...], ...]:
    """Return the estimated similarity of each pair of rows."""
    size, bits = recipe.slot_bytes, recipe.packed or FULL
    kept = [row.minhash if recipe.minhash else None for row in rows]
    slots = [unpack_slots(sketch, size) if sketch else None for sketch in kept]

    def estimates(left: NDArray[Any] | None) -> tuple[Estimate | None, ...]:
        return tuple(estimate(left, right, bits) for right in slots)

    return tuple(map(estimates, slots))


def _warnings(
    name: str, principal: Row | None, members: Sequence[Row], total: int, recipe: Recipe
) -> Iterator[str]:
    """Yield a sentence for each thing that a reviewer should know or repair."""
    documents = [principal, *members] if principal else members
    if principal is None:
        yield f"the principal {name} is not in the store; run group to make its group anew"
    if total > MAX_DOCUMENTS:
        yield f"the group has {total:,} documents; the first {MAX_DOCUMENTS:,} by path are shown"
    if len({frozenset(row.labels) for row in documents}) > 1:
        unlabelled = sum(not row.labels for row in documents)
        if unlabelled:
            yield (
                f"labels do not agree: {unlabelled:,} of {len(documents):,} documents carry none"
            )
        else:
            yield "labels do not agree"
    provisional = sum(row.provisional for row in members)
    if provisional:
        yield (
            f"{provisional:,} of its documents came after the last group; "
            "their place is provisional"
        )
    cut = sum(row.status == "truncated" for row in documents)
    if cut:
        noun = "document" if cut == 1 else "documents"
        yield f"the text of {cut:,} {noun} is cut; similarity is that of what was read"
    minimum = _min_similarity(documents, recipe)
    if minimum:
        yield (
            "members are similar to the principal, not to each other: "
            f"two of them share {percent(minimum)} only, by their sketches"
        )


def _min_similarity(rows: Sequence[Row], recipe: Recipe) -> float | None:
    """Return the minimum similarity of two members; None unless it is clearly low.

    That is .1 or more below the minimum similarity to the principal.
    """
    if not recipe.minhash:
        return None
    stored = [row.similarity for row in rows if row.similarity is not None]
    size, bits = recipe.slot_bytes, recipe.packed or FULL
    slots = [unpack_slots(row.minhash, size) for row in rows[:COMPARED] if row.minhash]
    values = [np.mean(a == b) for index, a in enumerate(slots) for b in slots[:index]]
    minimum = float(without_chance(np.array([min(values, default=1.0)]), bits)[0])
    return minimum if stored and minimum < min(stored) - 0.1 else None
