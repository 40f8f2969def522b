"""Writes of rows to an index of an engine, by bulk requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from indexer.model import Row, is_part_id
from indexer.stores.engine.bulk import Operation
from indexer.stores.engine.families import members
from indexer.stores.engine.foreign_documents import require_distinct
from indexer.stores.engine.index_mapping import GROUPED, is_shared_mapping
from indexer.stores.engine.queries import PAGE, documents_now
from indexer.stores.engine.rows import (
    KEYS,
    fingerprint_fields,
    text_in,
    without_columns,
)
from indexer.stores.fields import OF_GROUPS, refusals, storable_ids, storable_rows
from indexer.wording import well_formed

if TYPE_CHECKING:
    from indexer.stores.engine.index import OpenIndex


def write_rows(index: OpenIndex, rows: Sequence[Row]) -> list[str | None]:
    """Write rows, each after its parts; return for each why it was refused, None when it was not.

    A row that the engine itself refuses is refused in the engine's words.
    """
    recipe_id = index.require_recipe().id
    cleaned = storable_rows(rows)
    for name in ("embedded", "date", "custodian", "ocr"):
        if any(getattr(row, name) for row in cleaned):
            index.require_field(f"near_{name}")
    reasons = refusals(cleaned, recipe_id)
    checked = zip(cleaned, reasons, strict=True)
    last = {row.id: row for row, reason in checked if reason is None}
    parts = {row.id: row.parts for row in last.values() if row.parts is not None}
    part_refusals = write_parts(index, parts)
    operations = [
        Operation("index", name, index.document(row))
        for name, row in last.items()
        if name not in part_refusals
    ]
    replies = index.send(operations)
    return [
        reason or part_refusals.get(row.id) or replies[row.id].refused
        for row, reason in zip(cleaned, reasons, strict=True)
    ]


def write_parts(index: OpenIndex, documents_parts: Mapping[str, Sequence[Row]]) -> dict[str, str]:
    """Write the parts of these documents, by id, and delete those that they no longer have.

    Returns why parts were refused, by document.
    """
    if not documents_parts:
        return {}
    stale = set(parts_of(index, list(documents_parts)))
    parts = {part.id: part for row_parts in documents_parts.values() for part in row_parts}
    operations = [Operation("index", name, index.document(part)) for name, part in parts.items()]
    operations += [Operation("delete", name) for name in sorted(stale - parts.keys())]
    replies = index.send(operations)
    refusals = {}
    for name, part in parts.items():
        reason = replies[name].refused
        if reason:
            refusals[part.parent or ""] = reason
    return refusals


def fingerprint_again(index: OpenIndex, rows: Sequence[Row]) -> None:
    """Replace the keys and the family fields of stored documents, if their text is still that of
    their row.

    A document that changes meanwhile, or is gone, is left as it is.
    """
    index.check_updatable()
    field = index.text_field()
    fingerprinted = {row.id: row for row in rows}
    columns = index.facts and index.facts.columns
    operations = []
    for hit in documents_now(index.queries("both"), list(fingerprinted), PAGE):
        row = fingerprinted[hit["_id"]]
        if text_in(hit["_source"], field) == row.text:
            keys = fingerprint_fields(row, field)
            keys = without_columns(keys, row) if columns else keys
            names = (*KEYS, *OF_GROUPS, GROUPED)
            body = {"doc": {name: keys[name] for name in names if name in keys}}
            operations.append(Operation("update", row.id, body, index.version_of(hit)))
    index.send_conditional(operations)


def parts_of(index: OpenIndex, ids: Sequence[str]) -> dict[str, str]:
    """Return the parts of these documents, each with its document.

    Refreshes the index first, so that parts written just before are included. Where other programs
    write too, a row with another id than those of parts is theirs.
    """
    if not ids or index.parts_kind() is None:
        return {}
    refresh(index)
    rows = dict(members(index.queries("both"), "parent", list(map(well_formed, ids))))
    if index.facts and is_shared_mapping(index.facts.mapping):
        return {id: parent for id, parent in rows.items() if is_part_id(id, parent)}
    return rows


def refresh(index: OpenIndex) -> None:
    """Wait until every shard shows what was written."""
    index.requests.call("POST", f"{index.name()}/_refresh")


def delete_rows(index: OpenIndex, ids: Sequence[str]) -> int:
    """Delete rows and their parts; return how many rows existed.

    A row is counted when a reply says that it existed; after a lost reply it may go uncounted.
    Raises `UsageError` for an id that several documents have.
    """
    index.require_recipe()
    names = storable_ids(ids)
    require_distinct(index, names)
    parts = [name for name in parts_of(index, names) if name not in names]
    if parts:
        index.send([Operation("delete", name) for name in parts])
    replies = index.send_routed([Operation("delete", name) for name in names])
    return sum(reply.status == 200 for reply in replies.values())
