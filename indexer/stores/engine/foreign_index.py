"""An index of somebody else's documents: read as it is, and signed in place without a change to
anything that is theirs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from indexer.errors import UsageError
from indexer.model import Row
from indexer.recipe import Recipe
from indexer.stores.base import Store
from indexer.stores.engine import bodies
from indexer.stores.engine import install as _engine_install
from indexer.stores.engine import rows as documents
from indexer.stores.engine.index import about
from indexer.stores.engine.link import IndexMissing
from indexer.stores.engine.queries import PAGE, IndexQueries
from indexer.stores.engine.sender import Operation
from indexer.stores.engine.store import EngineStore
from indexer.stores.row_limits import refusal, storable

_TRIES = 4
_CHANGED = "somebody changed the document while it was signed; run again"
_NOT_SIGNED = "its text is no text any more, or was changed while it was signed"
_GONE = "somebody deleted the document while it was signed"
_NO_TEXT = "the text is no string"


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as an engine holds it. `state` is what a conditional write names: sequence number,
    term, and routing.
    """

    id: str
    fields: Mapping[str, Any]
    state: Mapping[str, Any]


class ForeignIndex(EngineStore):
    """Reads the documents of any index, whoever made it."""

    def __init__(self, store: EngineStore) -> None:
        super().__init__(store.address, store._link, store._dialect)

    def documents(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """In the order of the shards, as they are at the moment when the first is read."""
        yield from ((held.id, held.fields) for held in self._all())

    def _all(self) -> Iterator[StoredDocument]:
        """Raises `MomentGone` when the engine loses the point in time: the order is that of the
        moment, so it cannot go on.
        """
        questions = IndexQueries(self._requests, self._dialect, self._place.index)
        body = {
            "size": PAGE,
            "track_total_hits": False,
            "seq_no_primary_term": True,
            "sort": [bodies.IN_PLACE],
        }
        snapshot = None
        try:
            for answer in questions.pages(body, keep_alive=True):
                snapshot = answer["pit_id"]
                yield from map(_held, answer["hits"]["hits"])
        finally:
            if snapshot:
                questions.release(snapshot)


class InPlaceStore(ForeignIndex):
    """Such an index as a store: a row is written by adding its `near_*` fields to the document, and
    nothing else.

    Only a document in the state in which it was read is written to, so that no signature is ever of
    an older text. What was read is remembered until it is written, or known to be signed already.
    """

    def __init__(self, store: EngineStore, text_field: str) -> None:
        super().__init__(store)
        self._text_field = text_field
        self._read: dict[str, str] = {}
        self._states: dict[str, Mapping[str, Any]] = {}
        self._conditional = replace(self._sender, conflicts=True)

    def stored_recipe(self) -> Recipe | None:
        """None for an index that was never signed. Raises `IndexMissing`."""
        found = _engine_install.index_at(self._requests, self._place)
        if found is None:
            raise IndexMissing(self.url)
        known = "nearfold" in found[1].get("mappings", {}).get("_meta", {})
        return super().stored_recipe() if known else None

    def prepare(self, recipe: Recipe) -> None:
        """Adds the mapping of the `near_*` fields, the recipe in `_meta` and an alias for writes;
        nothing of theirs changes.
        """
        _engine_install.adopt(self._requests, self._place, self._dialect, recipe, self._text_field)
        self._known = about(self._requests, self._place)

    def documents(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """In the order of the shards, what an earlier run signed included; what has to be known of
        each is remembered.

        One whose text is no text, and that nobody marked yet, is marked `unsigned` and a family of
        its own.
        """
        self.refresh()
        strange: list[StoredDocument] = []
        for held in self._all():
            if "near_status" not in held.fields and not documents.has_text(
                held.fields, self._text_field
            ):
                strange.append(held)
            if len(strange) == PAGE:
                self._mark(strange)
                strange = []
            signed = held.fields.get("near_source") or ""
            self._read[held.id] = signed
            if signed != self.digest(held.fields):
                self._states[held.id] = held.state
            yield held.id, held.fields
        self._mark(strange)

    def _mark(self, strange: Sequence[StoredDocument]) -> None:
        """Only in the state that was read: what somebody changed meanwhile is looked at by the next
        run.
        """
        recipe = self._recipe().id
        marks = ((held, documents.unsigned(held.id, recipe, _NO_TEXT)) for held in strange)
        self._conditional.send(
            [Operation("update", held.id, {"doc": mark}, held.state) for held, mark in marks]
        )

    def digest(self, fields: Mapping[str, Any]) -> str:
        """The SHA-256 of a document's whole text: the `source` of a row that is signed in place."""
        return hashlib.sha256(
            documents.text_of(fields, self._text_field).encode("utf-8", "surrogatepass")
        ).hexdigest()

    def sources(self, ids: Sequence[str]) -> dict[str, str]:
        """What signatures were made of, by id, where there is one; what was read just now is not
        asked for again.
        """
        known = {id: self._read.pop(id) for id in ids if id in self._read}
        known |= super().sources([id for id in ids if id not in known])
        return {id: signed for id, signed in known.items() if signed}

    def write(self, rows: Sequence[Row]) -> list[str | None]:
        """A document that somebody changed meanwhile is signed if its text is still the same, and
        refused if not.
        """
        recipe = self._recipe().id
        mended = [storable(row) for row in rows]
        refusals = {row.id: refusal(row, recipe) for row in mended}
        waiting = {row.id: row for row in mended if refusals[row.id] is None}
        for _ in range(_TRIES):
            states = {id: self._states.pop(id, {}) for id in waiting}
            replies = self._conditional.send(
                [self._signing(row, states[row.id]) for row in waiting.values()]
            )
            refusals |= {
                id: _GONE if reply.status == 404 else reply.refused for id, reply in replies.items()
            }
            changed = {id: waiting[id] for id, reply in replies.items() if reply.status == 409}
            refusals |= dict.fromkeys(changed, _CHANGED)
            waiting = self._same(changed, states)
            if not waiting:
                break
        return [refusals[row.id] for row in mended]

    def _signing(self, row: Row, state: Mapping[str, Any]) -> Operation:
        return Operation(
            "update", row.id, {"doc": documents.signature(row, self._text_field)}, state
        )

    def _same(
        self, rows: Mapping[str, Row], states: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Row]:
        """Rows whose document was changed by somebody, but not in its text; the new states are
        remembered.
        """
        if not rows:
            return {}
        asked = [
            {"_id": id, **{name: value for name, value in states[id].items() if name == "routing"}}
            for id in rows
        ]
        found = self._requests.get("POST", f"{self._place.index}/_mget", {"docs": asked})
        same = {}
        for held in (_held(one) for one in found["docs"] if one.get("found")):
            if self.digest(held.fields) == rows[held.id].source:
                same[held.id], self._states[held.id] = rows[held.id], held.state
        return same

    def delete(self, ids: Sequence[str]) -> int:
        """Takes the signature from documents whose text cannot be signed; they themselves stay."""
        recipe = self._recipe().id
        replies = self._send(
            [
                Operation("update", id, {"doc": documents.unsigned(id, recipe, _NOT_SIGNED)})
                for id in ids
            ]
        )
        return sum(reply.status == 200 for reply in replies.values())


def engine_of(store: Store) -> EngineStore:
    """The store, known to be in an engine. Raises `UsageError` when it is not."""
    if not isinstance(store, EngineStore):
        raise UsageError(
            f"{store.url} is in no search engine; give a URL of OpenSearch or Elasticsearch"
        )
    return store


def _held(hit: Mapping[str, Any]) -> StoredDocument:
    """A hit of a search, or a document by its id."""
    state = {"if_seq_no": hit["_seq_no"], "if_primary_term": hit["_primary_term"]}
    routing = {"routing": hit["_routing"]} if "_routing" in hit else {}
    return StoredDocument(hit["_id"], hit.get("_source", {}), {**state, **routing})
