"""Values in documents of other programs that a change by nearfold would replace."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from indexer.errors import UsageError
from indexer.fingerprinting.fingerprint import PROVISIONAL
from indexer.recipe import is_recipe_id
from indexer.stores.engine.asset_bodies import near_fields
from indexer.stores.engine.index_mapping import GROUPED, fields_left, is_shared_mapping
from indexer.stores.engine.queries import MAX_WINDOW, PAGE, WHOLE, documents_now

if TYPE_CHECKING:
    from indexer.stores.engine.index import OpenIndex


# Ids that several documents of an index have: a routing of their own puts them into other shards.

REPEATED = (
    "another document has the same id, in another shard by its routing, and nearfold tells "
    "documents apart by their ids"
)
_ROUTED = {"query": {"exists": {"field": "_routing"}}}


def repeated_ids(index: OpenIndex, ids: Sequence[str]) -> list[str]:
    """Return the ids that several documents have, as far as refreshed, in their order.

    Empty for an index of nearfold's own, and for an alias of several indices, whose look-ups refuse
    an id that two documents have.
    """
    shards = _shards_with_routing(index)
    if not ids or shards == 1:
        return []
    counts: Counter[str] = Counter()
    for start in range(0, len(ids), PAGE):
        chunk = list(ids[start : start + PAGE])
        size = min(shards * len(chunk), MAX_WINDOW)
        body = {"size": size, "_source": False, "query": {"ids": {"values": chunk}}}
        response = index.requests.call("POST", f"{index.name()}/_search", body, WHOLE)
        counts.update(hit["_id"] for hit in response["hits"]["hits"])
    return [id for id in dict.fromkeys(ids) if counts[id] > 1]


def _shards_with_routing(index: OpenIndex) -> int:
    """Return the number of shards of an index that others share, 1 if no document has a routing."""
    index.stored_recipe()
    facts = index.facts
    if facts is None or facts.members or not is_shared_mapping(facts.mapping):
        return 1
    settings = facts.description.get("settings", {}).get("index", {})
    shards = int(settings.get("number_of_shards", 1))
    if shards == 1:
        return 1
    body = {**_ROUTED, "size": 0, "terminate_after": 1, "track_total_hits": True}
    response = index.requests.call("POST", f"{index.name()}/_search", body, WHOLE)
    return shards if response["hits"]["total"]["value"] else 1


def require_distinct(index: OpenIndex, ids: Sequence[str]) -> None:
    """Raise `UsageError` where several documents have one of these ids."""
    if repeated := repeated_ids(index, ids):
        raise UsageError(
            f"document {repeated[0]}: {REPEATED}; nothing was changed: leave it out, or change it "
            "by requests to the engine that name its routing"
        )


SAMPLE = 1_000  # documents of another program's index that are looked at first
# what `group` gives to documents that were never fingerprinted
_FAMILY_FIELDS = frozenset(
    {"near_id", "near_family", "near_provisional", "near_principal", "near_cluster"}
)


def objection(id: str, source: Mapping[str, Any]) -> str:
    """Return why a document of another program is not to be changed, in words; empty where it may.

    An engine writes every value of a changed document anew, and a number that is too large for a
    double as a text.

    >>> objection("a", {"n": [1.0, {"m": float("inf")}], "near_family": "a"})
    'its field n.m holds a number too large for a double, which the engine would turn into a text'
    >>> objection("a", {"near_family": "theirs", "near_words": None})
    'its field near_family is of another program, and nearfold would replace it'
    >>> objection("a", {"n": 1.5, "near_family": "a"})
    ''
    """
    if field := next(_infinite(source, ""), None):
        return (
            f"its field {field} holds a number too large for a double, which the engine would turn "
            "into a text"
        )
    if field := next(iter(foreign_fields(id, source)), None):
        return f"its field {field} is of another program, and nearfold would replace it"
    return ""


def foreign_fields(id: str, source: Mapping[str, Any]) -> list[str]:
    """Return the fields of a document that have a name of nearfold's but not its values, sorted.

    >>> foreign_fields("a", {"near_family": "a", "near_words": 3, "near_by": "not nearfold's name"})
    ['near_words']
    """
    if _is_fingerprinted(source):
        return []
    family = str(source.get("near_family", id))
    grouped = _FAMILY_FIELDS if family == id or family.startswith(PROVISIONAL) else frozenset()
    names = source.keys() & near_fields().keys() - grouped
    return sorted(name for name in names if source[name] is not None)


def _is_fingerprinted(source: Mapping[str, Any]) -> bool:
    """Return whether nearfold, or its pipeline, wrote the `near_*` fields of a document."""
    return is_recipe_id(str(source.get("near_recipe"))) or isinstance(source.get(GROUPED), str)


OBJECTION_FIELDS = f"near_recipe,{GROUPED}"


def objections(index: OpenIndex, ids: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield id and objection of each of these documents that is not to be changed."""
    hits = documents_now(index.queries("both"), ids, PAGE, {"_source_includes": OBJECTION_FIELDS})
    return objections_to(index, list(hits), ids)


def objections_to(
    index: OpenIndex, hits: Sequence[Mapping[str, Any]], ids: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield id and objection of each document, read with `OBJECTION_FIELDS`, that is not to be
    changed, or has the id of another one.

    Documents that nearfold fingerprinted were looked at then.
    """
    yield from ((id, REPEATED) for id in repeated_ids(index, ids))
    unsigned = [hit["_id"] for hit in hits if not _is_fingerprinted(hit.get("_source", {}))]
    for hit in documents_now(index.queries("both"), unsigned, PAGE):
        if reason := objection(hit["_id"], hit["_source"]):
            yield hit["_id"], reason


def _infinite(value: Any, path: str) -> Iterator[str]:
    """Yield the paths of numbers that are too large for a double."""
    if isinstance(value, float):
        if not math.isfinite(value):
            yield path
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _infinite(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from _infinite(inner, path)


# Labels in documents of other programs that nearfold's labels would replace.

_FIELD = "labels"
# types of fields that take any text
_TEXTS = ("keyword", "text", "wildcard", "match_only_text", "annotated_text", "search_as_you_type")
_NEW_FIELDS = 2  # dynamic mapping adds a text field and its `.keyword`


def check_labels(index: OpenIndex, ids: Sequence[str]) -> None:
    """Raise `UsageError` where `labels` of an index cannot be any texts, or those of one of these
    documents are not strings, and where a change of one would harm what others keep there.

    An index of nearfold's own has texts there. Numbers count as no texts: they would become texts.
    """
    index.require_recipe()
    if index.facts is None or not is_shared_mapping(index.facts.mapping):
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
