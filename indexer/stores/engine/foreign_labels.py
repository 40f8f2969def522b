"""Labels in documents of other programs that nearfold's labels would replace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from indexer.errors import UsageError
from indexer.stores.engine.document_queries import documents_now
from indexer.stores.engine.foreign_values import objections
from indexer.stores.engine.mapping_facts import fields_left, is_shared
from indexer.stores.engine.queries import PAGE

if TYPE_CHECKING:
    from indexer.stores.engine.open_index import OpenIndex

_FIELD = "labels"
# types of fields that take any text
_TEXTS = ("keyword", "text", "wildcard", "match_only_text", "annotated_text", "search_as_you_type")
_NEW_FIELDS = 2  # that an engine adds for texts without a mapping: a text, and a keyword in it


def check_labels(index: OpenIndex, ids: Sequence[str]) -> None:
    """Raise `UsageError` where `labels` of an index cannot be any texts, or those of one of these
    documents are not strings, and where a change of one would harm what others keep there.

    An index of nearfold's own has texts there. Numbers count as no texts: they would become texts.
    """
    index.require_recipe()
    if index.facts is None or not is_shared(index.facts.mapping):
        return
    members = index.facts.members or {index.facts.index: index.facts.description}
    for name, description in members.items():
        _check_type(name, description)
    hits = documents_now(index.queries("both"), ids, PAGE, {"_source_includes": _FIELD})
    for hit in hits:
        stored = hit["_source"].get(_FIELD)
        values = stored if isinstance(stored, list) else [stored]
        if not all(value is None or isinstance(value, str) for value in values):
            raise _foreign_labels(
                f"`{_FIELD}` of document {hit['_id']} holds values that are not strings"
            )
    for name, description in members.items():
        _check_room(name, description)
    if first := next(objections(index, ids), None):
        id, reason = first
        raise UsageError(f"document {id}: {reason}; nothing was changed: leave it out")


def _check_type(index: str, description: Mapping[str, Any]) -> None:
    """Raise `UsageError` for an index whose field of labels is not of texts."""
    definition = _definition(description)
    kind = "keyword" if definition is None else definition.get("type", "object")
    if kind not in _TEXTS:
        raise _foreign_labels(f"index {index} has a field `{_FIELD}` of type {kind}")


def _definition(description: Mapping[str, Any]) -> Mapping[str, Any] | None:
    field: Mapping[str, Any] | None
    field = description.get("mappings", {}).get("properties", {}).get(_FIELD)
    return field


def _check_room(index: str, description: Mapping[str, Any]) -> None:
    """Raise `UsageError` for an index that has no field of labels, and gets none by writing them:
    no search would find them.
    """
    if _definition(description) is not None:
        return
    mapping = description.get("mappings", {})
    dynamic = str(mapping.get("dynamic", True)).lower()
    is_full = dynamic == "true" and fields_left(description, _NEW_FIELDS) < 0
    if dynamic in ("strict", "false") or is_full:
        reason = "its limit of fields is reached" if is_full else f"`dynamic` is {dynamic}"
        raise UsageError(
            f"index {index} has no field `{_FIELD}`, and none can be added ({reason}); nothing was "
            f"changed: add `{_FIELD}` as a keyword to its mapping, and run again"
        )


def _foreign_labels(problem: str) -> UsageError:
    return UsageError(
        f"{problem}, and nearfold's labels would replace what another program keeps there; "
        "nothing was changed: keep labels elsewhere, such as in a table of ids"
    )
