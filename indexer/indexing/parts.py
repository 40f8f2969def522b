"""Parts of documents: the rows of their clauses, made and written with the document that they are
of.

What is signed is a clause without its number and heading; both are its title, and can be searched.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeAlias

from indexer.errors import StoreError, UnsupportedOperation
from indexer.grouping.delete import repair_families
from indexer.indexing.arrival import Arrivals
from indexer.model import Row
from indexer.recipe import Recipe
from indexer.sketch.codec import pack_slots
from indexer.sketch.fingerprint import fingerprints
from indexer.stores.base import Store
from indexer.text.clauses.segmentation import Heading, clauses

KINDS = {"clauses": "clauses_v1"}
BATCH = 50
Structure: TypeAlias = Mapping[str, Sequence[Heading]]
_BEGUN = " begun"
_NONE: Structure = {}


def divide(rows: Sequence[Row], recipe: Recipe, structure: Structure = _NONE) -> list[Row]:
    """Documents with the rows of their parts: `#1`, `#2` and so on after the document's id, in the
    order of the text.

    `structure`: headings that extraction knows of, by document. A heading with nothing under it is
    no part. The last part of a text that was cut is `truncated`.
    """
    drafts = [list(_drafts(row, structure.get(row.id, ()))) for row in rows]
    signed = iter(_signed([draft for of_one in drafts for draft in of_one], recipe))
    return [
        replace(row, parts=_last_cut(row, tuple(islice(signed, len(of_one)))))
        for row, of_one in zip(rows, drafts, strict=True)
    ]


def _drafts(row: Row, structure: Sequence[Heading]) -> Iterator[Row]:
    bodies = (one for one in clauses(row.text, structure) if one.body < one.end)
    for number, one in enumerate(bodies, start=1):
        id, text = f"{row.id}#{number}", row.text[one.body : one.end]
        yield replace(
            row,
            id=id,
            title=" ".join(filter(None, (one.label, one.heading))),
            text=text,
            size=len(text.encode("utf-8", "replace")),
            raw="",
            metadata={},
            family=id,
            principal=None,
            similarity=None,
            cluster=None,
            provisional=True,
            parent=row.id,
            start=one.body,
            stop=one.end,
            parts=None,
        )


def _signed(rows: Sequence[Row], recipe: Recipe) -> Iterator[Row]:
    signed = fingerprints([row.text for row in rows], recipe)
    for place, row in enumerate(rows):
        made = signed[place]
        yield replace(
            row,
            status=made.status,
            exact=made.exact,
            words=made.words,
            chars=made.chars,
            bands=made.bands,
            blocks=made.blocks,
            minhash=None if made.minhash is None else pack_slots(made.minhash),
            simhash=made.simhash,
            principal=made.status == "complete",
        )


def _last_cut(row: Row, parts: tuple[Row, ...]) -> tuple[Row, ...]:
    if row.status != "truncated" or not parts or parts[-1].status != "complete":
        return parts
    return (*parts[:-1], replace(parts[-1], status="truncated", principal=False))


@dataclass(slots=True)
class PartDivider:
    """Divides the documents of one job. Parts whose text is the same keep their family; who was led
    by others is mended.
    """

    store: Store
    recipe: Recipe
    arrivals: Arrivals | None = None

    def divided(
        self, rows: Sequence[Row], replaced: Collection[str], structure: Structure = _NONE
    ) -> list[Row]:
        """The rows with their parts. `replaced`: ids of documents that the store holds already,
        with parts of their own.
        """
        made = divide(rows, self.recipe, structure)
        before = self._before([row.id for row in rows if row.id in replaced])
        if not before:
            return made
        self.arrivals = self.arrivals or Arrivals(self.store.of("parts"), self.recipe, None)
        parts = [part for row in made for part in row.parts or ()]
        coming = {part.id for part in parts}
        repair_families(
            self.store, self.recipe, {id: row for id, row in before.items() if id not in coming}
        )
        placed = iter(self.arrivals.placed(parts, before.keys() & coming))
        return [replace(row, parts=tuple(islice(placed, len(row.parts or ())))) for row in made]

    def _before(self, ids: Sequence[str]) -> dict[str, Row]:
        """The stored parts of these documents."""
        if not ids:
            return {}
        self.store.refresh()
        return self.store.get([id for id, _ in self.store.members("parent", ids)])


def part_divider(
    store: Store, parts: str | None, recipe: Recipe, in_place: bool
) -> PartDivider | None:
    """How the documents of a job are divided: as `parts` says, else as those are that the store
    holds; None for not at all.

    What was indexed before without parts is divided now, from the stored texts. Cut short, it is
    begun anew.
    """
    if in_place and parts:
        raise UnsupportedOperation(
            store=store.url,
            what="keep parts of documents that are signed in place",
            instead="another store",
        )
    stored = None if in_place else store.stored_parts()
    wanted = KINDS[parts] if parts else stored and stored.removesuffix(_BEGUN)
    if wanted is None:
        return None
    made = PartDivider(store, recipe)
    if stored != wanted:
        store.keep_parts(wanted + _BEGUN)
        _divide_stored(store, made)
        store.keep_parts(wanted)
    return made


def _divide_stored(store: Store, made: PartDivider) -> None:
    rows = store.scan()
    while batch := list(islice(rows, BATCH)):
        refusals = store.write(made.divided(batch, {row.id for row in batch}))
        if refused := next(filter(None, refusals), None):
            raise StoreError(
                f"{store.url} refused a part of a document: {refused}; run `nearfold doctor`"
            )
    store.refresh()
