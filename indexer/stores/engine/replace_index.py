"""A change of recipe or of fields for an index in service: fill a new version, then switch the name
in one step.

The old index is read as a feed: an engine numbers the operations of each shard, so documents that
change during the copy have a higher number. The progress of the copy is stored in the new index,
and a second run continues from there.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from indexer.errors import UsageError
from indexer.model import Row
from indexer.recipe import Recipe
from indexer.stores.engine import index_body
from indexer.stores.engine.assets import Assets
from indexer.stores.engine.index_facts import (
    IndexFacts,
    IndexPlace,
    read_facts,
    require_one_index,
    require_whole_indices,
    version_name,
)
from indexer.stores.engine.index_requests import EXISTS, Dialect, Requests
from indexer.stores.engine.installer import put_next_pipeline, update_template
from indexer.stores.engine.link import IndexMissing, error_of
from indexer.stores.engine.mapping_facts import (
    changed_meta,
    given_aliases,
    is_shared,
    text_field,
)
from indexer.stores.engine.painless import TEXT
from indexer.stores.engine.successor import COPY_SECONDS, Successor, nearfold_metadata
from indexer.stores.maintenance import Change, OnProgress, ReindexResult, SignRows

_DRAIN_SECONDS = 0.5
_DRAIN_CHECKS = 20
_VERSION = re.compile(r"(?P<base>.+)-(?P<number>\d{6})")


def replace_index(
    requests: Requests,
    place: IndexPlace,
    dialect: Dialect,
    recipe: Recipe,
    sign_rows: SignRows,
    keep: bool,
    on_progress: OnProgress,
) -> ReindexResult:
    """Fill the next version of the index, then give it the name.

    Only the last step changes the index in service.
    """
    facts = _replaceable(requests, place, keep)
    old = requests.call("GET", facts.index)[facts.index]
    _require_finished(requests, place, facts.index, old)
    if facts.recipe.id == recipe.id:
        if not index_body.is_outdated(old["mappings"]):
            return _clean_up(requests, place, facts.index, old, keep)
        sign_rows = _sign_unchanged(sign_rows)
    successor = _successor(requests, place, facts, recipe)
    successor.check(old)
    assets = Assets(requests, dry_run=False)
    pipeline, _ = put_next_pipeline(assets, place, old, facts.recipe, recipe)
    successor.create(old, pipeline)
    copied = _copy(successor, sign_rows, on_progress, until_idle=True)
    clone = version_name(place.index, 1) if keep and facts.index == place.index else None
    copied += _switch(successor, old, clone, sign_rows, on_progress)
    update_template(assets, place, dialect, facts.recipe, recipe)
    current = requests.call("GET", successor.name)[successor.name]
    _clean_up(requests, place, successor.name, current, keep)
    return ReindexResult(successor.name, copied, _old_version(place, facts.index, keep))


def plan_replacement(
    requests: Requests, place: IndexPlace, dialect: Dialect, recipe: Recipe, keep: bool
) -> list[Change]:
    """Return what `replace_index` would change, in order; raise what it would raise before its
    first change.
    """
    facts = _replaceable(requests, place, keep)
    old = requests.call("GET", facts.index)[facts.index]
    _require_finished(requests, place, facts.index, old)
    if facts.recipe.id == recipe.id and not index_body.is_outdated(old["mappings"]):
        return [Change("index", facts.index, "unchanged", f"it has recipe {recipe.name}")]
    successor = _successor(requests, place, facts, recipe)
    successor.check(old)
    assets = Assets(requests, dry_run=True)
    _, pipelines = put_next_pipeline(assets, place, old, facts.recipe, recipe)
    kept = _old_version(place, facts.index, keep)
    detail = "its writes are blocked while the last changes are copied"
    old_version = Change("index", facts.index, "removed", detail)
    if kept:
        old_version = Change("index", facts.index, "kept", f"as {kept}, write-blocked")
    template = update_template(assets, place, dialect, facts.recipe, recipe)
    return [*pipelines, *successor.changes(old), old_version, *template]


def _replaceable(requests: Requests, place: IndexPlace, keep: bool) -> IndexFacts:
    """Return the facts of an index that may be replaced."""
    facts = read_facts(requests, place)
    if facts is None:
        raise IndexMissing(place.url)
    require_one_index(place, facts)
    require_whole_indices(place, facts)
    facts.check_updatable()
    if is_shared(facts.mapping) and not _is_version(place.index, facts.index):
        raise UsageError(
            f"{place.index} is an alias of {facts.index}, an index that other programs write to; "
            f"its name would be gone, so give --store the index {facts.index} itself"
        )
    if keep and facts.index == place.index:
        _is_kept(requests, facts.index, version_name(place.index, 1))
    return facts


def _require_finished(
    requests: Requests, place: IndexPlace, name: str, index: Mapping[str, Any]
) -> None:
    """Raise `UsageError` for a new version that is named itself, and not yet filled."""
    origin = nearfold_metadata(index).get("reindexing", {}).get("from")
    if origin is None or name != place.index or requests.send("GET", origin).status == 404:
        return
    raise UsageError(
        f"{name} is a new version of {origin} that an interrupted reindex was filling; run the "
        f"reindex of {origin} again. If {name} is a copy that you want to keep as it is, delete "
        "`reindexing` from `_meta.nearfold` of its mapping"
    )


def _successor(
    requests: Requests, place: IndexPlace, facts: IndexFacts, recipe: Recipe
) -> Successor:
    name = next_version(place.index, facts.index)
    field = text_field(facts.mapping) or TEXT
    return Successor(requests, place, facts.index, name, recipe, field)


def _sign_unchanged(sign_rows: SignRows) -> SignRows:
    """Return a function that signs rows by the recipe that they have; families stay decided."""

    def sign(rows: Sequence[Row]) -> list[Row]:
        signed = zip(rows, sign_rows(rows), strict=True)
        return [replace(new, provisional=old.provisional) for old, new in signed]

    return sign


def _copy(
    successor: Successor, sign_rows: SignRows, on_progress: OnProgress, until_idle: bool
) -> int:
    """Copy and sign what the new version lacks; return the number of documents."""
    copied = successor.follow(sign_rows, on_progress, until_idle)
    successor.delete_missing()
    return copied


def _switch(
    successor: Successor,
    old: Mapping[str, Any],
    clone: str | None,
    sign_rows: SignRows,
    on_progress: OnProgress,
) -> int:
    """Copy the last changes while the old version refuses writes, then give the new one the name.

    Where that fails, the old version accepts writes again. `clone`: the name to keep it under, too.
    """
    requests = successor.requests
    try:
        requests.call("PUT", f"{successor.old}/_block/write")
        copied = _copy(successor, sign_rows, on_progress, until_idle=False)
        if clone is not None:
            _clone(requests, successor.old, clone)
        successor.take_over(old)
    except BaseException:
        successor.lift_block()
        raise
    return copied


def next_version(index: str, current: str) -> str:
    """Return the name of the version after this one; an index without a version is the first.

    >>> next_version("papers", "papers"), next_version("papers", "papers-000009")
    ('papers-000002', 'papers-000010')
    >>> next_version("papers", "papers-old")
    'papers-000002'
    """
    match = _VERSION.fullmatch(current)
    if match and match["base"] == index:
        return version_name(index, int(match["number"]) + 1)
    return version_name(index, 2)


def _is_version(index: str, current: str) -> bool:
    """Return whether an index has this name itself, or is a version of it."""
    match = _VERSION.fullmatch(current)
    return current == index or (match is not None and match["base"] == index)


def _is_kept(requests: Requests, old: str, name: str) -> bool:
    """Return whether an index is kept under this name, as by a run that was interrupted.

    Raises `UsageError` where the name is that of something else.
    """
    answer = requests.send("GET", name)
    if answer.status == 404:
        return False
    indices = answer.body if answer.status == 200 else {}
    settings = indices.get(name, {}).get("settings", {}).get("index", {})
    if settings.get("resize", {}).get("source", {}).get("name") != old:
        raise UsageError(
            f"--keep keeps the old version as {name}, and there is another index of this name; "
            "rename that, or leave --keep out"
        )
    return True


def _clone(requests: Requests, old: str, name: str) -> None:
    """Keep an index under another name, unless it is; the engine links its files."""
    if _is_kept(requests, old, name):
        return
    path, params = f"{old}/_clone/{name}", {"wait_for_active_shards": "1"}
    answer = requests.send("PUT", path, params=params, seconds=COPY_SECONDS)
    if not 200 <= answer.status < 300 and answer.kind != EXISTS:
        raise error_of(requests.url, answer, f"PUT {path}")


def _clean_up(
    requests: Requests, place: IndexPlace, name: str, index: Mapping[str, Any], keep: bool
) -> ReindexResult:
    """Delete the checkpoint of a version in service, and the old version unless it is kept.

    The old version is the one before in the numbering of this name, which has its names now.
    """
    metadata = nearfold_metadata(index)
    origin = metadata.get("reindexing")
    if origin is None:
        return ReindexResult(name, 0, None)
    if not keep and _is_superseded(requests, place, origin["from"], name):
        _drain(requests, origin["from"])
        requests.send("DELETE", origin["from"])
    meta = changed_meta(index["mappings"], {"reindexing": None})
    requests.call("PUT", f"{name}/_mapping", {"_meta": meta})
    return ReindexResult(name, 0, _old_version(place, origin["from"], keep))


def _is_superseded(requests: Requests, place: IndexPlace, old: str, name: str) -> bool:
    """Return whether a version is the one before the version that has its names now, and has none
    but that for its own writes.
    """
    is_before = old != place.index and _is_version(place.index, old)
    if not is_before or next_version(place.index, old) != name:
        return False
    answer = requests.send("GET", old)
    return answer.status == 200 and not given_aliases(old, answer.body[old])


def _drain(requests: Requests, index: str) -> None:
    """Wait until nobody reads an index any more, for a bounded time."""
    for _ in range(_DRAIN_CHECKS):
        time.sleep(_DRAIN_SECONDS)  # requests that began before the name moved finish first
        stats = requests.send("GET", f"{index}/_stats/search").body or {}
        if not stats.get("_all", {}).get("total", {}).get("search", {}).get("open_contexts"):
            return


def _old_version(place: IndexPlace, old: str, keep: bool) -> str | None:
    """Return the name under which the old version is kept; None when it is not."""
    if not keep:
        return None
    return version_name(place.index, 1) if old == place.index else old
