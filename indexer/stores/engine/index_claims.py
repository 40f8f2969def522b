"""Claims in an index of an engine: rows that are stored before it is decided what they are.

`near_check` holds `?` and the note of a row that is not decided, else the outcome. What depends on
the state of a row names the version (`_seq_no`) that was read, and the engine refuses it if the row
has changed since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from indexer.errors import StoreError
from indexer.model import Row
from indexer.stores.abilities import Claim
from indexer.stores.engine import rows as documents
from indexer.stores.engine.document_queries import documents_now
from indexer.stores.engine.index_writes import refresh, write_parts
from indexer.stores.engine.queries import MAX_WINDOW, PAGE
from indexer.stores.engine.sender import Operation
from indexer.stores.row_limits import refusal, storable

if TYPE_CHECKING:
    from indexer.stores.engine.open_index import OpenIndex

FIELD = "near_check"
_OPEN = "?"
_CONFLICT = 409


class EngineClaims:
    """Rows of an index that are stored before it is decided what they are."""

    def __init__(self, index: OpenIndex) -> None:
        self._index = index

    def create(self, row: Row, note: str) -> bool:
        """Store a row by `create`, of which an engine lets one succeed for each id."""
        return self._store("create", row, note, {})

    def replace(self, row: Row, note: str, claim: Claim) -> bool:
        """Store a row in place of the version that was read."""
        return self._store("index", row, note, claim.state)

    def get(self, id: str) -> Claim | None:
        """Return the claim of a row as it was written last, refreshed or not."""
        hits = documents_now(self._index.queries("both"), [id], PAGE, {"_source_includes": FIELD})
        return next((_claim(hit) for hit in hits), None)

    def undecided(self) -> Sequence[Claim]:
        """Refresh the index, and return the claims that are not decided.

        Raises `StoreError` for 10,000 of them or more.
        """
        refresh(self._index)
        body = {
            "size": MAX_WINDOW,
            "_source": [FIELD],
            "seq_no_primary_term": True,
            "query": {"prefix": {FIELD: {"value": _OPEN}}},
        }
        hits = self._index.queries("both").search(body)["hits"]["hits"]
        if len(hits) == MAX_WINDOW:
            raise StoreError(
                f"{self._index.address.url} has {MAX_WINDOW:,} checks or more that were not "
                "finished; delete these documents, or write them again by `nearfold index`"
            )
        return [_claim(hit) for hit in hits]

    def touch(self, claim: Claim) -> bool:
        """Write the same mark again, as a new version."""
        return self._update(claim, f"{_OPEN}{claim.note}")

    def decide(self, claim: Claim, outcome: str) -> bool:
        """Write the outcome over the mark."""
        return self._update(claim, outcome)

    def remove(self, claim: Claim) -> bool:
        """Delete the row with its parts."""
        done = self._send(Operation("delete", claim.id, head=claim.state))
        if done:
            write_parts(self._index, {claim.id: ()})
        return done

    def _store(self, action: Any, row: Row, note: str, state: Mapping[str, int]) -> bool:
        recipe_id = self._index.require_recipe().id
        row = storable(row)
        reason = refusal(row, recipe_id)
        if reason is None and row.parts is not None:
            reason = write_parts(self._index, {row.id: row.parts}).get(row.id)
        if reason is not None:
            raise _refused(self._index, reason)
        source = documents.source(row, self._index.has_field("near_file"))
        return self._send(Operation(action, row.id, {**source, FIELD: f"{_OPEN}{note}"}, state))

    def _update(self, claim: Claim, mark: str) -> bool:
        self._index.check_updatable()
        body = {"doc": {FIELD: mark}, "detect_noop": False}
        return self._send(Operation("update", claim.id, body, claim.state))

    def _send(self, operation: Operation) -> bool:
        """Send one operation; return False if the row has changed since, or is gone."""
        sender = replace(self._index.sender, conflicts=True)
        reply = sender.send([operation])[operation.id]
        if reply.refused is not None and reply.status != _CONFLICT:
            raise _refused(self._index, reply.refused)
        return reply.status < 300


def _refused(index: OpenIndex, reason: str) -> StoreError:
    return StoreError(f"{index.address.url} refused the document: {reason}")


def _claim(hit: Mapping[str, Any]) -> Claim:
    mark = hit["_source"].get(FIELD) or ""
    state = {"if_seq_no": hit["_seq_no"], "if_primary_term": hit["_primary_term"]}
    if mark.startswith(_OPEN):
        return Claim(hit["_id"], mark[len(_OPEN) :], "", state)
    return Claim(hit["_id"], "", mark, state)
