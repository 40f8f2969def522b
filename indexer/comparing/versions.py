"""The versions of a document: which one of a family probably came from which, and what changed on
the way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import islice
from typing import Literal, TypeAlias

import numpy as np

from indexer.comparing.compare import compare
from indexer.comparing.redline import Stretch, redline
from indexer.errors import DocumentNotFound
from indexer.model import Query, Row
from indexer.recipe import Recipe
from indexer.similarity.lineage import Numbers64, lineage
from indexer.similarity.measures import common
from indexer.similarity.sides import feature_set
from indexer.stores.base import Store
from indexer.stores.requirements import require_recipe

MOST = 200
Source: TypeAlias = Literal["document", "file"]


@dataclass(frozen=True, slots=True)
class Step:
    """How a version came from another. `similarity` by `jaccard`; `added` and `removed` words;
    `redline` spells them out.

    `dated`: the origin is older by its date. Otherwise which of the two came first is not known.
    """

    origin: str
    dated: bool
    similarity: float
    added: int
    removed: int
    redline: tuple[Stretch, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Version:
    """A text of a family: the document that stands for it, the others that carry it as (id, path),
    and where it came from.

    `date` in milliseconds since 1970 UTC: the earliest of its documents, told by the document
    itself (last saved, or sent) or by its file. `step` is None for the first version. `depth`:
    steps from the first version.
    """

    id: str
    path: str
    words: int
    date: int | None
    source: Source | None
    copies: tuple[tuple[str, str], ...]
    depth: int
    step: Step | None


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of a family, each after the one it came from. `documents` counts the copies too;
    `notes` are sentences.
    """

    family: str
    documents: int
    versions: tuple[Version, ...]
    notes: tuple[str, ...]


def versions(store: Store, id: str, *, dates: bool = True) -> Versions:
    """Order the versions in the family of a document, given by the id of any of its members.

    The tree has the fewest differing features (`indexer.similarity.lineage`). Dates give the
    direction; with `dates` False, or where they are missing or the same, the tree begins with the
    shortest text, for drafts tend to grow. Of a family with more than 200 texts the 200 most
    similar to the principal are ordered.

    Raises `DocumentNotFound`, and `StoreError` when nothing was indexed yet.
    """
    recipe = require_recipe(store)
    name, rows = _members(store, id)
    texts = _texts(rows)
    left_out, texts = len(texts) - MOST, texts[:MOST]
    dated = [_earliest(copies) if dates else (None, None) for copies in texts]
    heads = [copies[0] for copies in texts]
    order = sorted(
        range(len(heads)), key=lambda place: _likely_first(dated[place][0], heads[place])
    )
    parents = lineage(_differences(heads, recipe), [moment for moment, _ in dated], order)
    made = tuple(_told(texts, dated, parents, order, recipe))
    return Versions(name, len(rows), made, tuple(_notes(made, dates, left_out)))


def _members(store: Store, id: str) -> tuple[str, list[Row]]:
    """The name of the family and its documents, the most similar to the principal first."""
    asked = store.get([id]).get(id)
    if asked is None:
        raise DocumentNotFound(id=id)
    ids = [
        hit.id
        for hit in islice(
            store.search(Query("", (("family", asked.family),), "path")).hits, 10 * MOST
        )
    ]
    rows = store.get(list(dict.fromkeys([id, *ids])))
    found = [row for row in rows.values() if row.family == asked.family]
    return asked.family, sorted(
        found, key=lambda row: (row.id != asked.family, -(row.similarity or 0.0), row.id)
    )


def _texts(rows: Sequence[Row]) -> list[list[Row]]:
    """Documents with the same normalised text together, in the order given."""
    same: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        same[row.exact or row.id].append(row)
    return list(same.values())


def _earliest(copies: Sequence[Row]) -> tuple[int | None, Source | None]:
    known = [_dated(row) for row in copies]
    return min((one for one in known if one[0] is not None), default=(None, None))


def _dated(row: Row) -> tuple[int | None, Source | None]:
    """When a document was last saved or sent by its own account, else when its file was changed."""
    for name in ("modified", "created"):
        try:
            told = datetime.fromisoformat(row.metadata.get(name, "").replace("Z", "+00:00"))
        except ValueError:
            continue
        told = told if told.tzinfo else told.replace(tzinfo=timezone.utc)
        return int(told.timestamp() * 1000), "document"
    return row.modified, None if row.modified is None else "file"


def _likely_first(date: int | None, row: Row) -> tuple[bool, int, int, str]:
    return date is None, date or 0, row.words, row.id


def _differences(heads: Sequence[Row], recipe: Recipe) -> Numbers64:
    """How many features two versions do not share."""
    sets = [feature_set(row.text, recipe) for row in heads]
    made = np.zeros((len(sets), len(sets)), dtype=np.int64)
    for place, one in enumerate(sets):
        for other in range(place):
            made[place, other] = made[other, place] = (
                len(one) + len(sets[other]) - 2 * common(one, sets[other])
            )
    return made


def _told(
    texts: Sequence[Sequence[Row]],
    dated: Sequence[tuple[int | None, Source | None]],
    parents: Sequence[int | None],
    order: Sequence[int],
    recipe: Recipe,
) -> Iterator[Version]:
    """The versions, each branch to its end before the next begins."""
    waiting = [(place, 0) for place in order if parents[place] is None]
    while waiting:
        place, depth = waiting.pop()
        row, parent = texts[place][0], parents[place]
        step = None
        if parent is not None:
            step = _step(texts[parent][0], row, _before(dated[parent][0], dated[place][0]), recipe)
        copies = tuple((other.id, other.path) for other in texts[place][1:])
        yield Version(row.id, row.path, row.words, *dated[place], copies, depth, step)
        waiting.extend((child, depth + 1) for child in reversed(order) if parents[child] == place)


def _before(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and one < other


def _step(origin: Row, row: Row, dated: bool, recipe: Recipe) -> Step:
    compared = compare(origin.text, row.text, recipe)
    stretches = tuple(redline(compared))
    added, removed = (
        sum(one.words for one in stretches if one.change == change)
        for change in ("added", "removed")
    )
    return Step(origin.id, dated, compared.measures.jaccard, added, removed, stretches)


def _notes(made: Sequence[Version], dates: bool, left_out: int) -> Iterator[str]:
    """How far the order can be trusted."""
    steps = [one.step for one in made if one.step]
    if steps:
        yield "an order that explains the versions by the fewest differences; it is probable, not proven"
    if guessed := sum(not step.dated for step in steps):
        reason = "their dates are the same or missing" if dates else "dates were left out"
        yield f"which came first is not known for {guessed:,} of {len(steps):,} steps ({reason}); the shortest stands first"
    if any(one.source == "file" for one in made):
        yield "some dates are those of files, which copying may change: an order by the texts alone may be the better one"
    if left_out > 0:
        yield f"{left_out:,} more texts of the family are not ordered"
