"""An index of other programs' documents, which are read and fingerprinted in place.

Their own fields do not change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from indexer.errors import UsageError
from indexer.fingerprinting.fingerprint import lengthen
from indexer.model import Row
from indexer.recipe import Recipe
from indexer.stores.base import Store
from indexer.stores.engine import install, rows
from indexer.stores.engine.bulk import Operation
from indexer.stores.engine.create_index import record_statistics
from indexer.stores.engine.foreign_documents import REPEATED, objection, repeated_ids
from indexer.stores.engine.index import OpenIndex
from indexer.stores.engine.index_facts import read_facts
from indexer.stores.engine.operation_feed import routing_of, state_of
from indexer.stores.engine.queries import PAGE, IndexQueries
from indexer.stores.engine.requests import IndexMissing
from indexer.stores.engine.search_bodies import IN_PLACE
from indexer.stores.engine.store import EngineStore
from indexer.stores.fields import refusal, storable

_TRIES = 4
_CHANGED = "somebody changed the document while it was fingerprinted; run again"
_NOT_FINGERPRINTED = "its text is not a text any more, or was changed while it was fingerprinted"
_GONE = "somebody deleted the document while it was fingerprinted"
_NO_TEXT = "the text is not a string"


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document in an engine, with the state for a conditional write.

    `state` holds sequence number, term, and routing.
    """

    id: str
    fields: Mapping[str, Any]
    state: Mapping[str, Any]


class ForeignIndex:
    """The documents of any index, including documents of other programs."""

    def __init__(self, index: OpenIndex) -> None:
        self._index = index

    def documents(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield documents in the order of the shards, as they are when the first is read."""
        for document in read_documents(self._index):
            yield document.id, document.fields

    def close(self) -> None:
        """Close the connections."""
        self._index.link.close()


def read_documents(index: OpenIndex) -> Iterator[StoredDocument]:
    """Yield every document at one point in time.

    Raises `SnapshotExpired` when the engine loses the point in time: the order of the shards is
    that of the point in time, so reading cannot continue at another.
    """
    queries = IndexQueries(index.requests, index.dialect, index.location.index)
    body = {
        "size": PAGE,
        "track_total_hits": False,
        "seq_no_primary_term": True,
        "sort": [IN_PLACE],
    }
    snapshot = None
    try:
        for response in queries.pages(body, keep_alive=True):
            snapshot = response["pit_id"]
            yield from map(_stored_document, response["hits"]["hits"])
    finally:
        if snapshot:
            queries.release(snapshot)


class AdoptedIndex(OpenIndex):
    """An index of other programs' documents, which nearfold adopts by `near_*` fields."""

    def stored_recipe(self) -> Recipe | None:
        """Return None for an index that was never fingerprinted. Raises `IndexMissing`."""
        index = install.index_at(self.requests, self.location)
        if index is None:
            raise IndexMissing(self.address.url)
        is_fingerprinted = "nearfold" in index[1].get("mappings", {}).get("_meta", {})
        return super().stored_recipe() if is_fingerprinted else None


class InPlaceStore(EngineStore):
    """An index of other programs' documents as a store; a write adds `near_*` fields only.

    A document is written only in the state in which it was read, so that no fingerprint is of an
    older text. The states are remembered until they are written, or known to be fingerprinted
    already.
    """

    def __init__(self, index: OpenIndex, text_field: str) -> None:
        super().__init__(AdoptedIndex(index.address, index.link, index.dialect))
        self._text_field = text_field
        self._read: dict[str, str | None] = {}
        self._states: dict[str, Mapping[str, Any]] = {}
        self._objections: dict[str, str] = {}
        self._conditional = replace(self.index.sender, conflicts=True)

    def prepare(self, recipe: Recipe) -> None:
        """Add the mapping of the `near_*` fields, the recipe in `_meta` and an alias for writes.

        Nothing of the other programs changes.
        """
        index = self.index
        install.adopt(index.requests, index.location, index.dialect, recipe, self._text_field)
        facts = read_facts(index.requests, index.location)
        if facts is not None:
            record_statistics(index.requests, facts, recipe)
        index.facts = None

    def documents(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield documents in the order of the shards, those that an earlier run fingerprinted
        included.

        What `write` needs to know of each is remembered, and why it is not to be changed. A
        document whose text is not a text, and that is not marked yet, is marked `unsigned` and a
        family of its own.
        """
        self.refresh()
        textless: list[StoredDocument] = []
        for document, reason in self._read_documents():
            fields = document.fields
            if reason:
                self._objections[document.id] = f"{reason}; it is not changed"
                self._read[document.id] = None
                yield document.id, fields
                continue
            if "near_status" not in fields and not rows.has_text(fields, self._text_field):
                textless.append(document)
            if len(textless) == PAGE:
                self._mark_unsigned(textless)
                textless = []
            fingerprinted = lengthen(fields.get("near_source") or "")
            self._read[document.id] = fingerprinted if "near_recipe" in fields else None
            if fingerprinted != self.digest(fields):
                self._states[document.id] = document.state
            yield document.id, fields
        self._mark_unsigned(textless)

    def _read_documents(self) -> Iterator[tuple[StoredDocument, str]]:
        """Yield documents, each with the reason why it is not to be changed, if any."""
        waiting = read_documents(self.index)
        while page := list(islice(waiting, PAGE)):
            repeated = set(repeated_ids(self.index, [document.id for document in page]))
            for document in page:
                reason = REPEATED if document.id in repeated else ""
                yield document, reason or objection(document.id, document.fields)

    def _mark_unsigned(self, textless: Sequence[StoredDocument]) -> None:
        """Mark documents in the state that was read; the next run looks at those that changed."""
        recipe_id = self.index.require_recipe().id
        operations = []
        for document in textless:
            mark = rows.unsigned_mark(document.id, recipe_id, _NO_TEXT)
            operations.append(Operation("update", document.id, {"doc": mark}, document.state))
        self._conditional.send(operations)

    def digest(self, fields: Mapping[str, Any]) -> str:
        """Return the SHA-256 of a document's whole text: the `source` of a row fingerprinted in
        place.
        """
        text = rows.text_of(fields, self._text_field)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def sources(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the digest that each fingerprint was made of, by id; empty if a pipeline made it.

        Documents that were just read are not read again.
        """
        digests = {id: self._read.pop(id) for id in ids if id in self._read}
        others = super().sources([id for id in ids if id not in digests])
        digests |= {id: digest or None for id, digest in others.items()}
        return {id: digest for id, digest in digests.items() if digest is not None}

    def write(self, rows: Sequence[Row]) -> list[str | None]:
        """Fingerprint documents in place.

        A document that another program changed meanwhile is fingerprinted if its text is still the
        same, and refused if not.
        """
        recipe_id = self.index.require_recipe().id
        cleaned = [storable(row) for row in rows]
        refusals = {
            row.id: self._objections.get(row.id) or refusal(row, recipe_id) for row in cleaned
        }
        waiting = {row.id: row for row in cleaned if refusals[row.id] is None}
        for _ in range(_TRIES):
            states = {id: self._states.pop(id, {}) for id in waiting}
            operations = [self._fingerprint_update(row, states[row.id]) for row in waiting.values()]
            replies = self._conditional.send(operations)
            for id, reply in replies.items():
                refusals[id] = _GONE if reply.status == 404 else reply.refused
            changed = {id: waiting[id] for id, reply in replies.items() if reply.status == 409}
            refusals |= dict.fromkeys(changed, _CHANGED)
            waiting = self._same_text(changed, states)
            if not waiting:
                break
        return [refusals[row.id] for row in cleaned]

    def _fingerprint_update(self, row: Row, state: Mapping[str, Any]) -> Operation:
        """Return the update that fingerprints a document; one without text is no copy of others."""
        if row.status == "empty":
            row = replace(row, raw="")  # the digest of no bytes, which all of them have
        return Operation(
            "update", row.id, {"doc": rows.fingerprint_fields(row, self._text_field)}, state
        )

    def _same_text(
        self, rows: Mapping[str, Row], states: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Row]:
        """Return rows whose document changed, but not in its text; remember the new states."""
        if not rows:
            return {}
        lookups = []
        for id in rows:
            routing = {name: value for name, value in states[id].items() if name == "routing"}
            lookups.append({"_id": id, **routing})
        path = f"{self.index.location.index}/_mget"
        response = self.index.requests.call("POST", path, {"docs": lookups})
        same = {}
        for document in (_stored_document(hit) for hit in response["docs"] if hit.get("found")):
            row = rows[document.id]
            is_same = self.digest(document.fields) == row.source
            if is_same and not objection(document.id, document.fields):
                same[document.id] = row
                self._states[document.id] = document.state
        return same

    def delete(self, ids: Sequence[str]) -> int:
        """Mark documents whose text cannot be fingerprinted as `unsigned`; the documents stay."""
        recipe_id = self.index.require_recipe().id
        operations = []
        for id in (id for id in ids if id not in self._objections):
            mark = rows.unsigned_mark(id, recipe_id, _NOT_FINGERPRINTED)
            operations.append(Operation("update", id, {"doc": mark}))
        replies = self.index.send(operations)
        return sum(reply.status == 200 for reply in replies.values())


def index_of(store: Store) -> OpenIndex:
    """Return the index of a store in an engine. Raises `UsageError` for another store."""
    if not isinstance(store, EngineStore):
        raise UsageError(
            f"{store.url} is not in a search engine; give a URL of OpenSearch or Elasticsearch"
        )
    return store.index


def _stored_document(hit: Mapping[str, Any]) -> StoredDocument:
    """Return the document of a search hit, or of a response by id."""
    return StoredDocument(hit["_id"], hit.get("_source", {}), {**state_of(hit), **routing_of(hit)})
