"""The alias by which nearfold writes to an index, and checks that it stands for that index."""

from __future__ import annotations

from dataclasses import replace

from indexer.errors import StoreStopped, UsageError
from indexer.stores.engine.index_facts import (
    ALIAS_LIMITS,
    FIRST_SECONDS,
    IndexFacts,
    IndexPlace,
    require_one_index,
)
from indexer.stores.engine.index_requests import Requests
from indexer.stores.engine.link import Answer, Link
from indexer.stores.engine.mapping_facts import WRITE_ALIAS, changed_meta, is_shared

_FREE_ALIAS = "remove or rename it there, or use an index of another name"
_NAMES_AND_ALIASES = {"filter_path": "*.settings.index.uuid,*.aliases"}  # of an index's answer


def require_own_alias(requests: Requests, alias: str, index: str) -> None:
    """Raise `UsageError` where an alias for writes does not stand for just this whole index.

    It may stand for another index, be the name of one, or have a filter or routing. Documents would
    be written, and deleted, there, or be looked for in a wrong shard.
    """
    answer = requests.send("GET", alias, params=_NAMES_AND_ALIASES, seconds=FIRST_SECONDS)
    if problem := _alias_problem(answer, alias, index):
        raise UsageError(f"{problem}; {_FREE_ALIAS}")


def check_write_target(link: Link, alias: str, index: str) -> None:
    """Raise `StoreStopped` where an alias for writes is not what `require_own_alias` accepts.

    One request, which may raise `StoreUnreachable`; what it refuses, a write refuses as well.
    """
    answer = link.request("GET", alias, None, _NAMES_AND_ALIASES, FIRST_SECONDS)
    if problem := _alias_problem(answer, alias, index):
        raise StoreStopped(reason=problem, remedy=_FREE_ALIAS)


def _alias_problem(answer: Answer, alias: str, index: str) -> str:
    """Return why documents of an index cannot be written by an alias; empty where they can."""
    if answer.status != 200 or not isinstance(answer.body, dict):
        return ""
    if others := sorted(name for name in answer.body if name != index):
        return (
            f"{alias} stands for {', '.join(others)}, and nearfold writes to {index} by an alias "
            "of this name"
        )
    aliases = answer.body.get(index, {}).get("aliases", {})
    if limits := sorted(aliases.get(alias, {}).keys() & ALIAS_LIMITS):
        return (
            f"{alias} has {', '.join(limits)}, and nearfold writes to every document of {index} "
            "by an alias of this name"
        )
    return ""


def give_alias(requests: Requests, place: IndexPlace, facts: IndexFacts) -> IndexFacts:
    """Give an index an alias for writes where it has none, and return its facts then.

    An index that other programs share names the alias in its `_meta`.
    """
    require_one_index(place, facts)
    require_own_alias(requests, place.write_alias, facts.index)
    if facts.writes is not None:
        return facts
    if is_shared(facts.mapping):
        meta = changed_meta(facts.mapping, {WRITE_ALIAS: place.write_alias})
        requests.call("PUT", f"{facts.index}/_mapping", {"_meta": meta})
    requests.call("PUT", f"{facts.index}/_alias/{place.write_alias}")
    return replace(facts, writes=place.write_alias)
