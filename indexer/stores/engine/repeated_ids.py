"""Ids that several documents of an index have: a routing of their own puts them into other shards.

nearfold tells documents apart by their ids, so such documents are not changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from indexer.errors import UsageError
from indexer.stores.engine.mapping_facts import is_shared
from indexer.stores.engine.queries import MAX_WINDOW, PAGE, WHOLE

if TYPE_CHECKING:
    from indexer.stores.engine.open_index import OpenIndex

REPEATED = (
    "another document has the same id, in another shard by its routing, and nearfold tells "
    "documents apart by their ids"
)
_ROUTED = {"query": {"exists": {"field": "_routing"}}}


def repeated_ids(index: OpenIndex, ids: Sequence[str]) -> list[str]:
    """Return those of these ids that several documents have, as far as refreshed, in their order.

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
        answer = index.requests.call("POST", f"{index.name()}/_search", body, WHOLE)
        counts.update(hit["_id"] for hit in answer["hits"]["hits"])
    return [id for id in dict.fromkeys(ids) if counts[id] > 1]


def _shards_with_routing(index: OpenIndex) -> int:
    """Return the number of shards of an index that others share, 1 if no document has a routing."""
    index.stored_recipe()
    facts = index.facts
    if facts is None or facts.members or not is_shared(facts.mapping):
        return 1
    settings = facts.description.get("settings", {}).get("index", {})
    shards = int(settings.get("number_of_shards", 1))
    if shards == 1:
        return 1
    body = {**_ROUTED, "size": 0, "terminate_after": 1, "track_total_hits": True}
    answer = index.requests.call("POST", f"{index.name()}/_search", body, WHOLE)
    return shards if answer["hits"]["total"]["value"] else 1


def require_distinct(index: OpenIndex, ids: Sequence[str]) -> None:
    """Raise `UsageError` where several documents have one of these ids."""
    if repeated := repeated_ids(index, ids):
        raise UsageError(
            f"document {repeated[0]}: {REPEATED}; nothing was changed: leave it out, or change it "
            "by requests to the engine that name its routing"
        )
