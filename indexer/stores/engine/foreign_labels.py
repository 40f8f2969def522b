"""Labels in documents of other programs that nearfold's labels would replace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from indexer.errors import UsageError
from indexer.stores.engine.foreign_values import objections
from indexer.stores.engine.mapping_facts import OBJECT_TYPES, is_shared
from indexer.stores.engine.queries import PAGE

if TYPE_CHECKING:
    from indexer.stores.engine.open_index import OpenIndex

_FIELD = "labels"


def check_labels(index: OpenIndex, ids: Sequence[str]) -> None:
    """Raise `UsageError` where `labels` of an index, or of one of these documents, are not strings,
    and where a change of one of them would harm what others keep there.

    An index of nearfold's own has texts there. Numbers count as no texts: they would become texts.
    """
    index.require_recipe()
    mapping = index.facts.mapping if index.facts else {}
    if not is_shared(mapping):
        return
    definition = mapping.get("properties", {}).get(_FIELD, {"type": "keyword"})
    kind = definition.get("type", "object")
    if kind in OBJECT_TYPES:
        raise _foreign_labels(f"index {index.place.index} has a field `{_FIELD}` of type {kind}")
    hits = index.queries("both").documents_now(ids, PAGE, {"_source_includes": _FIELD})
    for hit in hits:
        stored = hit["_source"].get(_FIELD)
        values = stored if isinstance(stored, list) else [stored]
        if not all(value is None or isinstance(value, str) for value in values):
            raise _foreign_labels(
                f"`{_FIELD}` of document {hit['_id']} holds values that are not strings"
            )
    if first := next(objections(index, ids), None):
        id, reason = first
        raise UsageError(f"document {id}: {reason}; nothing was changed: leave it out")


def _foreign_labels(problem: str) -> UsageError:
    return UsageError(
        f"{problem}, and nearfold's labels would replace what another program keeps there; "
        "nothing was changed: keep labels elsewhere, such as in a table of ids"
    )
