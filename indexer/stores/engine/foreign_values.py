"""Values in documents of other programs that a change by nearfold would replace."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from indexer.recipe import is_recipe_id
from indexer.stores.engine.document_queries import documents_now
from indexer.stores.engine.installation import near_fields
from indexer.stores.engine.queries import PAGE
from indexer.stores.engine.repeated_ids import REPEATED, repeated_ids

if TYPE_CHECKING:
    from indexer.stores.engine.open_index import OpenIndex

SAMPLE = 1_000  # documents of another program's index that are looked at first
# what `group` gives to documents that were never signed
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
    if is_recipe_id(str(source.get("near_recipe"))):
        return []
    family = str(source.get("near_family", id))
    grouped = _FAMILY_FIELDS if family == id or family.startswith("x:") else frozenset()
    names = source.keys() & near_fields().keys() - grouped
    return sorted(name for name in names if source[name] is not None)


def objections(index: OpenIndex, ids: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield id and objection of each of these documents that is not to be changed.

    Documents that nearfold signed were looked at then, and only their recipe is read.
    """
    queries = index.queries("both")
    yield from ((id, REPEATED) for id in repeated_ids(index, ids))
    recipes = documents_now(queries, ids, PAGE, {"_source_includes": "near_recipe"})
    unsigned = [
        hit["_id"]
        for hit in recipes
        if not is_recipe_id(str(hit.get("_source", {}).get("near_recipe")))
    ]
    for hit in documents_now(queries, unsigned, PAGE):
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
