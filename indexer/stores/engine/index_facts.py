"""The facts of an index of an engine: what its name stands for, its recipe, its mapping."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from indexer.errors import (
    MappingMismatch,
    PartialSource,
    RestoredIndex,
    StoreError,
    StoreStopped,
    UsageError,
)
from indexer.recipe import Recipe
from indexer.stores.engine import index_mapping
from indexer.stores.engine.field_substitutes import PluginColumns
from indexer.stores.engine.index_mapping import (
    WRITE_ALIAS,
    blocks_of,
    changed_meta,
    fields_of_others,
    is_shared_mapping,
    mapping_problems,
    near_field,
    write_alias_of,
)
from indexer.stores.engine.ingest_pipeline import TEXT
from indexer.stores.engine.partial_updates import source_gap
from indexer.stores.engine.requests import IndexMissing, Link, Requests, Response, error_of
from indexer.stores.requirements import fingerprint_command
from indexer.system.recipe_inputs import with_key

FIRST_SECONDS = 5.0
ALIAS_LIMITS = {"filter", "index_routing", "search_routing"}  # of what an alias shows
_NAMES_AND_BLOCKS = {"filter_path": "*.settings.index.uuid,*.settings.index.blocks"}
_CLUSTER_BLOCKS = {"filter_path": "*.cluster.blocks"}


@dataclass(frozen=True, slots=True)
class IndexAddress:
    """An index, and the settings to create it with; None leaves a number to the engine."""

    url: str
    index: str
    shards: int | None = None
    replicas: int | None = None

    @property
    def write_alias(self) -> str:
        """Return the alias for writes, which an engine, unlike an index, never creates itself."""
        return write_alias_of(self.index)


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """The facts of an index that exists; `index` is its own name where the URL has an alias."""

    index: str
    recipe: Recipe
    description: Mapping[str, Any]  # its mappings, settings and aliases
    writes: str | None  # the alias through which this very index is written; None when it has none
    parts: str | None = None  # how its documents are divided
    attachments: bool = False  # attachments of mails are documents of their own
    # the indices behind the name, where it stands for several
    members: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def mapping(self) -> Mapping[str, Any]:
        """The mapping of the index."""
        mapping: Mapping[str, Any] = self.description.get("mappings", {})
        return mapping

    @property
    def columns(self) -> PluginColumns | None:
        """The columns of an index with the plugin's layout; None for one with the pipeline's."""
        field = near_field(self.mapping)
        text = index_mapping.text_field(self.mapping) or TEXT
        return None if field is None else PluginColumns(field, text, self.recipe)

    def check_updatable(self) -> None:
        """Raise `PartialSource` where a partial update of a document would lose something."""
        for name, description in (self.members or {self.index: self.description}).items():
            if gap := source_gap(description):
                raise PartialSource(index=name, gap=gap)


def version_name(index: str, number: int) -> str:
    """Return the name of one version of an index; the index's name is an alias of one version.

    >>> version_name("papers", 2)
    'papers-000002'
    """
    return f"{index}-{number:06}"


def read_facts(requests: Requests, address: IndexAddress) -> IndexFacts | None:
    """Return the facts of an index, or of all behind a name; None when there is none.

    Raises `MappingMismatch` for an index that nearfold did not create, and for several that differ
    in recipe, field of texts or parts; `StoreError` for one of a newer nearfold.
    """
    try:
        response = requests.call("GET", address.index, seconds=FIRST_SECONDS)
    except IndexMissing:
        return None
    facts = [_facts_of(address, name, index) for name, index in sorted(response.items())]
    if len(facts) == 1 and "data_stream" not in facts[0].description:
        return facts[0]
    return _facts_of_several(address, facts)


def _facts_of_several(address: IndexAddress, facts: Sequence[IndexFacts]) -> IndexFacts:
    """Return what indices have in common: the fields of all, and the rest of the last."""
    if not facts:
        raise IndexMissing(address.url)
    last = facts[-1]
    for other in facts:
        layouts = [near_field(index.mapping) or "near_* fields" for index in (other, last)]
        if layouts[0] != layouts[1]:
            problem = f"{other.index} and {last.index} differ in layout: {', '.join(layouts)}"
            raise MappingMismatch(index=address.index, problems=(problem,), can_install=False)
        for name in ("recipe_id", "text_field", "parts"):
            values = [index.mapping["_meta"]["nearfold"].get(name) for index in (other, last)]
            if values[0] != values[1]:
                problem = (
                    f"{other.index} and {last.index} differ in `{name}`: {values[0]}, {values[1]}"
                )
                raise MappingMismatch(index=address.index, problems=(problem,), can_install=False)
    properties: list[Mapping[str, Any]] = [index.mapping.get("properties", {}) for index in facts]
    common = set.intersection(*map(set, properties))
    fields = {name: body for name, body in properties[-1].items() if name in common}
    description = {**last.description, "mappings": {**last.mapping, "properties": fields}}
    members = {index.index: index.description for index in facts}
    return replace(last, description=description, members=members)


def _facts_of(address: IndexAddress, name: str, index: Mapping[str, Any]) -> IndexFacts:
    """Return the facts of one index from its description. Raises as `read_facts`."""
    mapping = index.get("mappings", {})
    metadata = mapping.get("_meta", {}).get("nearfold")
    if metadata is None:
        raise _foreign_index_error(address, name, index)
    if not isinstance(metadata.get("format"), int) or not isinstance(metadata.get("recipe"), dict):
        problems = ("`_meta.nearfold` has no format or recipe",)
        raise MappingMismatch(index=address.index, problems=problems)
    if metadata["format"] > index_mapping.FORMAT:
        raise StoreError(
            f"{address.url} was written by a newer nearfold "
            f"(format {metadata['format']}, this one knows {index_mapping.FORMAT}); "
            "upgrade nearfold, or give --store another index"
        )
    aliases = index.get("aliases", {})
    writes = next((alias for alias in write_aliases(address, name) if alias in aliases), None)
    recipe = with_key(Recipe(**metadata["recipe"]))
    divided = metadata.get("parts"), bool(metadata.get("attachments"))
    return IndexFacts(name, recipe, index, writes, *divided)


def _foreign_index_error(
    address: IndexAddress, name: str, index: Mapping[str, Any]
) -> MappingMismatch:
    """Return the error of an index, or of a data stream's, that another program created."""
    url, wanted = address.url, address.index
    if "data_stream" in index:
        problem = (
            f"{name} is of a data stream whose template is not composed of nearfold's component "
            "template"
        )
        remedy = (
            "change its template and its indices as docs/index-life.md (Data streams) says, or "
        )
        return MappingMismatch(index=wanted, problems=(problem,), remedy=remedy, can_install=False)
    problems = mapping_problems(index.get("mappings", {}), "")
    if name != wanted:  # an alias, perhaps of several
        problems = (f"{name}, which it stands for, was not made by nearfold",)
        url = f"{url.rpartition('/')[0]}/{name}"
    gaps = fields_of_others(index.get("mappings", {}))
    if gap := source_gap(index):
        gaps = (*gaps, f"it {gap}")
    if gaps:  # fingerprinting it would be refused
        problems = (*problems, *gaps)
        return MappingMismatch(index=wanted, problems=problems, can_install=False)
    remedy = f"`{fingerprint_command(url)}` fingerprints what another program keeps there; or "
    if near_field(index.get("mappings", {})):
        remedy = f"`nearfold install --layout plugin --store {url}` adds what it lacks; or "
    return MappingMismatch(
        index=wanted, problems=problems, remedy=remedy, can_install=not alias_limits(address, index)
    )


def only_index(address: IndexAddress, response: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return own name and description of the index in a response.

    Raises `MappingMismatch` for several indices, `UsageError` for a data stream.
    """
    if any("data_stream" in index for index in response.values()):
        raise UsageError(
            f"{address.index} is a data stream, and this takes an index; documents of a data "
            "stream are fingerprinted when its own template names the pipeline that `nearfold "
            "install` makes for any index"
        )
    if len(response) != 1:
        problems = (f"the name stands for {', '.join(sorted(response))}",)
        remedy = "give the own name of one of them, or "
        raise MappingMismatch(index=address.index, problems=problems, remedy=remedy)
    return next(iter(response.items()))


def require_one_index(address: IndexAddress, facts: IndexFacts | None) -> None:
    """Raise `UsageError` when the name stands for several indices, or for a data stream."""
    if facts and facts.members:
        raise UsageError(
            f"{address.index} stands for {', '.join(facts.members)}; index, install and reindex "
            "make, fill or replace one index: give its own name to --store"
        )


def alias_limits(address: IndexAddress, description: Mapping[str, Any]) -> list[str]:
    """Return what limits a name to a part of an index; empty where it stands for all of it."""
    return sorted(description.get("aliases", {}).get(address.index, {}).keys() & ALIAS_LIMITS)


def require_whole_indices(position: IndexAddress, facts: IndexFacts) -> None:
    """Raise `UsageError` when the name is an alias that shows a part of an index alone."""
    for index in (facts.members or {facts.index: facts.description}).items():
        require_whole_index(position, index)


def require_whole_index(address: IndexAddress, index: tuple[str, Mapping[str, Any]]) -> None:
    """Raise `UsageError` when the name is an alias that shows a part of this index alone.

    What it hides would be taken for missing: families would lose members.
    """
    name, description = index
    if limits := alias_limits(address, description):
        part = f"a part of {name} ({', '.join(limits)})"
        raise UsageError(
            f"{address.index} is an alias that shows {part}, so the rest would seem to be "
            f"missing; give --store the index {name} itself"
        )


def current_index(requests: Requests, address: IndexAddress) -> tuple[str, str] | None:
    """Return the index that the name now stands for and its recipe's id.

    None where the name stands for no index or for several. This is a small request for callers that
    have read the facts before.
    """
    path = "*.mappings._meta.nearfold.recipe_id,error"
    response = requests.send(
        "GET", address.index, params={"filter_path": path}, seconds=FIRST_SECONDS
    )
    if response.status not in (200, 404):
        raise error_of(requests.url, response, f"GET {address.index}")
    if not isinstance(response.body, dict) or len(response.body) != 1 or response.status == 404:
        return None
    ((name, index),) = response.body.items()
    return name, index["mappings"]["_meta"]["nearfold"]["recipe_id"]


def write_aliases(address: IndexAddress, name: str) -> tuple[str, str]:
    """Return the aliases that an index may be written by: its version's, then the URL's."""
    return write_alias_of(name), address.write_alias


def write_blocks(requests: Requests, address: IndexAddress) -> dict[str, list[str]]:
    """Return the settings by which indices refuse changes now, by index; empty where none does.

    The key `the cluster` has those for all indices, as far as this user may read them.
    """
    response = requests.call("GET", address.index, params=_NAMES_AND_BLOCKS, seconds=FIRST_SECONDS)
    by_index = {name: blocks_of(index) for name, index in sorted(response.items())}
    by_index["the cluster"] = _cluster_blocks(requests)
    return {name: blocks for name, blocks in by_index.items() if blocks}


def _cluster_blocks(requests: Requests) -> list[str]:
    response = requests.send("GET", "_cluster/settings", params=_CLUSTER_BLOCKS)
    if response.status != 200 or not isinstance(response.body, dict):
        return []
    blocks: dict[str, str] = {}
    for settings in response.body.values():  # persistent ones, and transient ones
        blocks |= settings["cluster"]["blocks"]
    return [f"cluster.blocks.{name}" for name, value in sorted(blocks.items()) if value == "true"]


# The alias by which nearfold writes to an index, and checks that it stands for that index.

_FREE_ALIAS = "remove or rename it there, or use an index of another name"
_IDENTITY = "*.settings.index.uuid,*.settings.index.history.uuid"
_NAMES_AND_ALIASES = {"filter_path": f"{_IDENTITY},*.aliases"}  # of an index's response


def require_own_alias(requests: Requests, alias: str, index: str) -> None:
    """Raise `UsageError` where an alias for writes does not stand for just this whole index.

    It may stand for another index, be the name of one, or have a filter or routing. Documents would
    be written, and deleted, there, or be looked for in a wrong shard.
    """
    response = requests.send("GET", alias, params=_NAMES_AND_ALIASES, seconds=FIRST_SECONDS)
    if problem := _alias_problem(response, alias, index):
        raise UsageError(f"{problem}; {_FREE_ALIAS}")


def check_write_target(
    link: Link, alias: str, index: str, known: Mapping[str, Any] | None = None
) -> None:
    """Raise `StoreStopped` where an alias for writes is not what `require_own_alias` accepts, and
    `RestoredIndex` where the index is not the one of the `known` description.

    One request, which may raise `StoreUnreachable`; what it refuses, a write refuses as well.
    """
    response = link.request("GET", alias, None, _NAMES_AND_ALIASES, FIRST_SECONDS)
    if problem := _alias_problem(response, alias, index):
        raise StoreStopped(reason=problem, remedy=_FREE_ALIAS)
    if known is not None:
        _check_identity(response, {index: known})


def check_same_indices(
    send: Callable[..., Response], known: Mapping[str, Mapping[str, Any]]
) -> None:
    """Raise `RestoredIndex` where an index is not the one that was described, by one request."""
    params = {"filter_path": _IDENTITY, "ignore_unavailable": "true"}
    response = send("GET", ",".join(known), None, params, FIRST_SECONDS)
    _check_identity(response, known)


def _check_identity(response: Response, known: Mapping[str, Mapping[str, Any]]) -> None:
    if response.status != 200 or not isinstance(response.body, dict):
        return
    for name, description in response.body.items():
        if name in known and identity_of(description) != identity_of(known[name]):
            raise RestoredIndex(index=name)


def identity_of(description: Mapping[str, Any]) -> list[Any]:
    """Return what an index gets when it is made, and when a snapshot is restored over it: that one
    keeps the rest where the index was closed.
    """
    settings = description.get("settings", {}).get("index", {})
    return [settings.get("uuid"), settings.get("history", {}).get("uuid")]


def _alias_problem(response: Response, alias: str, index: str) -> str:
    """Return why documents of an index cannot be written by an alias; empty where they can."""
    if response.status != 200 or not isinstance(response.body, dict):
        return ""
    if others := sorted(name for name in response.body if name != index):
        return (
            f"{alias} stands for {', '.join(others)}, and nearfold writes to {index} by an alias "
            "of this name"
        )
    aliases = response.body.get(index, {}).get("aliases", {})
    if limits := sorted(aliases.get(alias, {}).keys() & ALIAS_LIMITS):
        return (
            f"{alias} has {', '.join(limits)}, and nearfold writes to every document of {index} "
            "by an alias of this name"
        )
    return ""


def give_alias(requests: Requests, address: IndexAddress, facts: IndexFacts) -> IndexFacts:
    """Give an index an alias for writes where it has none, and return its facts then.

    An index that other programs share names the alias in its `_meta`.
    """
    require_one_index(address, facts)
    require_own_alias(requests, address.write_alias, facts.index)
    if facts.writes is not None:
        return facts
    if is_shared_mapping(facts.mapping):
        meta = changed_meta(facts.mapping, {WRITE_ALIAS: address.write_alias})
        requests.call("PUT", f"{facts.index}/_mapping", {"_meta": meta})
    requests.call("PUT", f"{facts.index}/_alias/{address.write_alias}")
    return replace(facts, writes=address.write_alias)
