"""Families, clusters and labels of rows in an index of an engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from indexer.errors import StoreError
from indexer.model import Assignment, PrincipalRow, Scope
from indexer.stores.abilities import AssignmentResult, MemberField
from indexer.stores.engine import family_queries, mapping_facts
from indexer.stores.engine import rows as documents
from indexer.stores.engine.foreign_values import objections
from indexer.stores.engine.index_writes import parts_of
from indexer.stores.engine.sender import Operation, Reply
from indexer.stores.row_limits import storable_labels
from indexer.system.logs import event
from indexer.text.phrases import well_formed

if TYPE_CHECKING:
    from indexer.stores.engine.open_index import OpenIndex

_CHUNK = 1_000


class EngineFamilies:
    """Families and clusters of rows."""

    def __init__(self, index: OpenIndex, scope: Scope) -> None:
        self._index, self._scope = index, scope

    def assign(self, assignments: Iterable[Assignment]) -> AssignmentResult:
        """Write family fields by partial updates, in requests of bounded size.

        Documents of other programs that such an update would harm are left alone.
        """
        self._index.require_recipe()
        is_shared = bool(self._index.facts and mapping_facts.is_shared(self._index.facts.mapping))
        written = left_alone = 0
        remaining = iter(assignments)
        while chunk := list(islice(remaining, _CHUNK)):
            last = {
                well_formed(entry.id): {"doc": documents.assignment_fields(entry)}
                for entry in chunk
            }
            refused_ids = dict(objections(self._index, list(last))) if is_shared else {}
            if refused_ids:
                event("documents_left_alone", "warning", counts={"documents": len(refused_ids)})
            updates = [
                Operation("update", id, body) for id, body in last.items() if id not in refused_ids
            ]
            replies = self._index.send_routed(updates)
            left_alone += sum(well_formed(entry.id) in refused_ids for entry in chunk)
            written += sum(reply.status != 404 for reply in replies.values())
            reason = _refusal(replies)
            if reason:
                raise StoreError(
                    f"{self._index.address.url} refused a family: {reason}; run `nearfold doctor`"
                )
        return AssignmentResult(written, left_alone)

    def principals(self, bands: Sequence[Sequence[str]] | None, limit: int) -> list[PrincipalRow]:
        """Return principals by one request, or by one more of many searches when `limit` is
        reached.
        """
        queries = self._index.queries(self._scope)
        return family_queries.principals(queries, bands, self._index.require_recipe().id, limit)

    def members(self, field: MemberField, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield members as they are when the first is read."""
        queries = self._index.queries("both")
        return family_queries.members(queries, field, list(map(well_formed, names)))


class EngineLabels:
    """Labels of rows."""

    def __init__(self, index: OpenIndex) -> None:
        self._index = index

    def relabel(self, labels: Mapping[str, Sequence[str]]) -> int:
        """Replace labels by partial updates, in requests of bounded size."""
        self._index.require_recipe()
        of_documents = storable_labels(labels)
        parts = parts_of(self._index, list(of_documents))
        of_parts = {id: of_documents[parent] for id, parent in parts.items()}
        updates = {**of_parts, **of_documents}
        operations = [
            Operation("update", id, {"doc": {"labels": values}}) for id, values in updates.items()
        ]
        replies = self._index.send_routed(operations)
        reason = _refusal(replies)
        if reason:
            raise StoreError(f"{self._index.address.url} refused a label: {reason}")
        return sum(replies[id].status != 404 for id in of_documents)


def _refusal(replies: Mapping[str, Reply]) -> str | None:
    """Return the first reason for which the engine refused an operation."""
    return next((reply.refused for reply in replies.values() if reply.refused), None)
