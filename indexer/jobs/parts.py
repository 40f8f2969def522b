"""Parts of documents: the rows of their clauses, made and written with the document that they are
of.

Fingerprints are of a clause without its number and heading, which are its title, for searches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from indexer.comparing.clauses.segmentation import NEWEST, Heading, clauses
from indexer.errors import StoreError, UnsupportedOperation
from indexer.fingerprinting.fingerprint import fingerprints
from indexer.fingerprinting.keys import stored_bits, stored_sketch
from indexer.grouping.delete import repair_families
from indexer.grouping.group_options import DEFAULT_FAMILIES, GroupOptions
from indexer.jobs.arrival import Arrivals
from indexer.jobs.document_rows import Divide, Structure
from indexer.model import Row, part_id
from indexer.recipe import Recipe
from indexer.stores.abilities import FullStore

KINDS = {"clauses": NEWEST}
BATCH = 50
_BEGUN = " begun"
_NO_STRUCTURE: Structure = {}


def divide(
    rows: Sequence[Row],
    recipe: Recipe,
    structure: Structure = _NO_STRUCTURE,
    version: str = NEWEST,
) -> list[Row]:
    """Return documents with the rows of their parts: `#1`, `#2` and so on after the document's id,
    in the order of the text.

    `structure`: headings that extraction knows of, by document. A heading with nothing under it is
    no part. The last part of a text that was cut is `truncated`. `version`: the version of the
    clauses.
    """
    drafts = [list(_drafts(row, structure.get(row.id, ()), version)) for row in rows]
    parts = _fingerprint_parts([draft for document in drafts for draft in document], recipe)
    return [
        replace(row, parts=_cut_last(row, tuple(islice(parts, len(document)))))
        for row, document in zip(rows, drafts, strict=True)
    ]


def _drafts(row: Row, structure: Sequence[Heading], version: str) -> Iterator[Row]:
    """Yield the rows of a document's clauses, not fingerprinted yet."""
    divided = clauses(row.text, structure, version)
    filled = (clause for clause in divided if clause.body < clause.end)
    for number, clause in enumerate(filled, start=1):
        id = part_id(row.id, number)
        text = row.text[clause.body : clause.end]
        yield replace(
            row,
            id=id,
            title=" ".join(filter(None, (clause.label, clause.heading))),
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
            start=clause.body,
            stop=clause.end,
            parts=None,
        )


def _fingerprint_parts(rows: Sequence[Row], recipe: Recipe) -> Iterator[Row]:
    prints = fingerprints([row.text for row in rows], recipe)
    for index, row in enumerate(rows):
        fingerprint = prints[index]
        yield replace(
            row,
            status=fingerprint.status,
            exact=fingerprint.exact,
            words=fingerprint.words,
            chars=fingerprint.chars,
            bands=fingerprint.bands,
            blocks=fingerprint.blocks,
            minhash=stored_sketch(fingerprint),
            simhash=stored_bits(fingerprint),
            principal=fingerprint.status == "complete",
        )


def _cut_last(row: Row, parts: tuple[Row, ...]) -> tuple[Row, ...]:
    """Return the parts of a document; if its text was cut, the last one is `truncated`."""
    if row.status != "truncated" or not parts or parts[-1].status != "complete":
        return parts
    return (*parts[:-1], replace(parts[-1], status="truncated", principal=False))


@dataclass(slots=True)
class PartDivider:
    """A divider of the documents of one job. Parts whose text is the same keep their family; a
    family whose principal goes or changes is repaired.
    """

    store: FullStore
    recipe: Recipe
    families: GroupOptions = DEFAULT_FAMILIES.parts
    arrivals: Arrivals | None = None
    version: str = NEWEST

    def divide(
        self, rows: Sequence[Row], replaced: Collection[str], structure: Structure = _NO_STRUCTURE
    ) -> list[Row]:
        """Return the rows with their parts. `replaced`: ids of documents that the store holds
        already, with parts of their own.
        """
        divided = divide(rows, self.recipe, structure, self.version)
        before = self._stored_parts([row.id for row in rows if row.id in replaced])
        if not before:
            return divided
        self.arrivals = self.arrivals or Arrivals(
            self.store.parts.view("parts"), self.recipe, self.families, joins=False
        )
        parts = [part for row in divided for part in row.parts or ()]
        ids = {part.id for part in parts}
        leaving = {id: row for id, row in before.items() if id not in ids}
        repair_families(self.store, self.recipe, leaving, self.families)
        placed = iter(self.arrivals.assign(parts, before.keys() & ids))
        return [replace(row, parts=tuple(islice(placed, len(row.parts or ())))) for row in divided]

    def _stored_parts(self, ids: Sequence[str]) -> dict[str, Row]:
        """Return the stored parts of these documents."""
        if not ids:
            return {}
        self.store.refresh()
        return self.store.get([id for id, _ in self.store.families.members("parent", ids)])


def part_divider(
    store: FullStore,
    parts: str | None,
    recipe: Recipe,
    in_position: bool,
    families: GroupOptions = DEFAULT_FAMILIES.parts,
) -> Divide | None:
    """Return the function that divides the documents of a job: as `parts` says, else as those are
    that the store holds; None if they are not divided.

    What was indexed before without parts is divided now, from the stored texts. Cut short, it is
    begun anew. Raises `UnsupportedOperation` for parts of documents that are fingerprinted in
    place.
    """
    if in_position and parts:
        raise UnsupportedOperation(
            store=store.url,
            operation="keep parts of documents that are fingerprinted in place",
            alternative="read them into another store",
        )
    stored = None if in_position else store.parts.kind()
    kind = KINDS[parts] if parts else stored and stored.removesuffix(_BEGUN)
    if kind is None:
        return None
    divider = PartDivider(store, recipe, families, version=kind)
    if stored != kind:
        store.parts.record(kind + _BEGUN)
        _divide_stored(store, divider)
        store.parts.record(kind)
    return divider.divide


def _divide_stored(store: FullStore, divider: PartDivider) -> None:
    """Divide every document of the store. Raises `StoreError` for a part that it refuses."""
    rows = store.scan()
    while batch := list(islice(rows, BATCH)):
        refusals = store.write(divider.divide(batch, {row.id for row in batch}))
        refusal = next(filter(None, refusals), None)
        if refusal:
            raise StoreError(
                f"{store.url} refused a part of a document: {refusal}; run `nearfold doctor`"
            )
    store.refresh()
