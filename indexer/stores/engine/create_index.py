"""Creation of an index of nearfold's own, and the checks of one that exists."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from indexer.errors import LimitedView, MappingMismatch, StoreAccessDenied, StoreError, UsageError
from indexer.recipe import Recipe
from indexer.stores.engine import index_mapping
from indexer.stores.engine.index_facts import (
    IndexAddress,
    IndexFacts,
    give_alias,
    read_facts,
    require_one_index,
    require_own_alias,
)
from indexer.stores.engine.index_mapping import changed_meta, is_shared_mapping, leaf_fields
from indexer.stores.engine.requests import EXISTS, Dialect, Requests, Response, error_of
from indexer.stores.engine.search_bodies import Body
from indexer.stores.maintenance import Layout
from indexer.stores.requirements import require_same_recipe
from indexer.system.logs import event

# Index templates of other programs that an engine applies to an index of nearfold's.

# settings that change the stored values, or who may find them
_BINDING = ("default_pipeline", "final_pipeline", "lifecycle", "mode", "search", "sort")
_RULES = ("_source", "_routing")
# set by an engine itself, for where it keeps a new index
_PLACEMENT = "index.routing.allocation.include._tier_preference"


def rivals(requests: Requests, address: IndexAddress) -> list[str]:
    """Return the names of other programs' templates for the same index, of any priority.

    Legacy templates count: an engine passes them over where there is a newer one.
    """
    response = requests.call("GET", "_index_template")
    names = [
        template["name"]
        for template in response.get("index_templates", [])
        if template["name"] != f"nearfold-{address.index}"
        and _is_among(address.index, template["index_template"]["index_patterns"])
    ]
    legacy = [f"{name} (legacy)" for name, _ in _legacy_templates(requests, address.index)]
    return sorted([*names, *legacy])


def require_no_additions(requests: Requests, index: str, body: Mapping[str, Any]) -> None:
    """Raise `UsageError` where templates would add something to a new index next to its body.

    Only what has consequences for documents counts: aliases, pipelines and the like, rules of the
    mapping, and fields in an index of nearfold's own. `body` has settings, mappings and aliases.
    """
    templates = _templates_of(requests, index)
    _refuse(index, [name for template, _ in templates for name in _additions(template, body)])


def require_no_difference(requests: Requests, index: str, body: Mapping[str, Any]) -> None:
    """Raise `UsageError` where templates would add anything to a new index next to its body, which
    is that of another index: any alias, setting, rule of the mapping or field.
    """
    templates = _templates_of(requests, index)
    _refuse(index, [name for template in templates for name in _differences(*template, body)])


def _refuse(index: str, additions: Sequence[str]) -> None:
    if additions:
        raise UsageError(
            f"an index template of another program would add {', '.join(sorted(set(additions)))} "
            f"to {index}; give it patterns that do not match {index}, or take these out of it, and "
            "run again"
        )


def _templates_of(requests: Requests, index: str) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """Yield the template of a new index and False, or else its legacy templates and True.

    A legacy template also completes the definitions of fields. None to whoever may not ask.
    """
    response = requests.send("POST", f"_index_template/_simulate_index/{index}")
    template = (response.body or {}).get("template") if response.status == 200 else None
    if template:
        yield template, False
    else:
        yield from ((body, True) for _, body in _legacy_templates(requests, index))


def _legacy_templates(requests: Requests, index: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield name and body of the legacy templates that match; none to whoever may not ask."""
    response = requests.send("GET", "_template")
    if response.status == 200 and isinstance(response.body, dict):
        for name, body in response.body.items():
            if _is_among(index, body.get("index_patterns", [])):
                yield name, body


def _is_among(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _additions(template: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a template has and a body lacks, in words."""
    for name in template.get("aliases", {}):
        if name not in body["aliases"]:
            yield f"alias {name}"
    settings = template.get("settings", {}).get("index", {})
    for name in _BINDING:
        if name in settings and name not in body["settings"]["index"]:
            yield f"index.{name}"
    mapping = template.get("mappings", {})
    for name in _RULES:
        if name in mapping and name not in body["mappings"]:
            yield f"`{name}`"
    if is_shared_mapping(body["mappings"]):
        return
    fields = dict(leaf_fields(body["mappings"]))
    yield from (f"field {name}" for name, _ in leaf_fields(mapping) if name not in fields)


def _differences(
    template: Mapping[str, Any], is_legacy: bool, body: Mapping[str, Any]
) -> Iterator[str]:
    """Yield all that a template has and a body lacks, in words."""
    yield from (f"alias {name}" for name in template.get("aliases", {}).keys() - body["aliases"])
    settings = {_PLACEMENT, *_paths(body["settings"])}
    yield from (name for name in _paths(template.get("settings", {})) if name not in settings)
    known = set(_rules(body["mappings"], is_legacy))
    rules = _rules(template.get("mappings", {}), is_legacy)
    yield from (rule for rule in rules if rule not in known)


def _paths(value: Any, path: str = "") -> Iterator[str]:
    """Yield the dotted names of values, nested or not.

    >>> list(_paths({"index": {"blocks.write": "true", "sort": {"field": ["a", "b"]}}}))
    ['index.blocks.write', 'index.sort.field']
    """
    if not isinstance(value, Mapping):
        yield path
        return
    for name, inner in value.items():
        yield from _paths(inner, f"{path}.{name}" if path else name)


def _rules(mapping: Mapping[str, Any], is_whole: bool, prefix: str = "") -> Iterator[str]:
    """Yield fields and rules of a mapping, or of an object in it, in words; with `is_whole` also
    what the definitions of its fields say.

    >>> list(_rules({"dynamic": "strict", "properties": {"a": {"type": "long"}}}, is_whole=False))
    ['`dynamic`', 'field a']
    >>> list(_rules({"properties": {"a": {"type": "long", "coerce": False}}}, is_whole=True))
    ['field a', '`coerce` of a']
    """
    position = f" of {prefix[:-1]}" if prefix else ""
    for name in mapping.keys() - {"properties", "type", "_meta", "dynamic_templates", "runtime"}:
        yield f"`{name}`{position}"
    for entry in mapping.get("dynamic_templates", ()):
        yield from (f"dynamic template {name}" for name in entry)
    yield from (f"runtime field {name}" for name in mapping.get("runtime", ()))
    for name, definition in mapping.get("properties", {}).items():
        path = f"{prefix}{name}"
        if "properties" in definition:
            yield from _rules(definition, is_whole, f"{path}.")
            continue
        yield f"field {path}"
        if is_whole:
            yield from (f"`{name}` of {path}" for name in definition if name != "type")


# Users who see a part of an index: what they write back would be without the rest.

_SECURITY = "security_exception"
_NO_RIGHT = (401, 403)


def require_whole_view(requests: Requests, indices: Iterable[str]) -> None:
    """Raise `LimitedView` where security hides documents, fields or values of an index.

    No request says so to the user concerned. But both engines then refuse partial updates, by an
    error that is not of a missing right, also of a document that is not there, which this sends.
    """
    for index in indices:
        lines: list[Body] = [{"update": {"_id": secrets.token_hex(16)}}, {"doc": {}}]
        response = requests.send("POST", f"{index}/_bulk", lines)
        if any(_is_limit(part) for part in (response, *_items(response))):
            raise LimitedView(index=index)


def _is_limit(response: Response) -> bool:
    return response.kind == _SECURITY and response.status not in _NO_RIGHT


def _items(response: Response) -> list[Response]:
    body = response.body if isinstance(response.body, dict) else {}
    results = [item.get("update", {}) for item in body.get("items", ())]
    return [Response(result.get("status", 0), result) for result in results]


def prepare(requests: Requests, address: IndexAddress, dialect: Dialect, recipe: Recipe) -> None:
    """Create the index and its write alias where they are missing.

    Raises `MappingMismatch`, `RecipeMismatch` or `StoreError` for an index that does not fit.
    """
    facts = read_facts(requests, address) or _create(requests, address, dialect, recipe)
    if facts is None:
        return
    require_one_index(address, facts)
    if name := facts.mapping["_meta"]["nearfold"].get("text_field"):
        raise StoreError(
            f"index {address.index} has its texts in the field {name}; `nearfold index "
            f"{address.url} --text-field {name} --store {address.url}` fingerprints them there; "
            "put other documents into another store"
        )
    facts.check_updatable()
    require_whole_view(requests, (facts.index,))
    mapping = add_later_fields(requests, facts)
    if problems := index_mapping.mapping_problems(mapping, dialect.metadata_type):
        raise MappingMismatch(index=address.index, problems=problems)
    require_same_recipe(facts.recipe, recipe)
    record_statistics(requests, facts, recipe)
    give_alias(requests, address, facts)


def record_statistics(requests: Requests, facts: IndexFacts, recipe: Recipe) -> None:
    """Record later numbered statistics of an online recipe; other values of `_meta` stay."""
    if recipe.statistics_number <= facts.recipe.statistics_number:
        return
    changes = {"recipe_id": recipe.id, "recipe": recipe.settings}
    body = {"_meta": changed_meta(facts.mapping, changes)}
    requests.call("PUT", f"{facts.index}/_mapping", body)


def add_later_fields(requests: Requests, facts: IndexFacts) -> Mapping[str, Any]:
    """Add the fields that an earlier nearfold did not know; return the mapping with them."""
    properties: Mapping[str, Any] = facts.mapping.get("properties", {})
    later = index_mapping.later_fields(properties)
    if not later:
        return facts.mapping
    requests.call("PUT", f"{facts.index}/_mapping", {"properties": later})
    event("store_upgraded", counts={"fields": len(later)})
    return {**facts.mapping, "properties": {**properties, **later}}


def _create(
    requests: Requests, address: IndexAddress, dialect: Dialect, recipe: Recipe
) -> IndexFacts | None:
    """Create the index, or return the facts of one that another process has just created.

    An engine without its analysis-common module refuses our analysis; its index gets the analysis
    that every distribution has. Once `install` was run for it, the index takes fields of clients.
    """
    require_own_alias(requests, address.write_alias, address.index)
    installed = _installed_template(requests, address)
    layout = installed or "pipeline"
    if _has_rivals(requests, address):
        body = index_mapping.new_index(
            recipe, dialect.metadata_type, True, address.shards, address.replicas, layout
        )
        require_no_additions(
            requests, address.index, {**body, "aliases": {address.write_alias: {}}}
        )
    for core_analysis in (False, True):
        body = index_mapping.new_index(
            recipe, dialect.metadata_type, core_analysis, address.shards, address.replicas, layout
        )
        if installed:
            body["mappings"]["dynamic"] = True
        response = requests.send(
            "PUT", address.index, {**body, "aliases": {address.write_alias: {}}}
        )
        if 200 <= response.status < 300:
            return None
        if response.kind == EXISTS:
            return read_facts(requests, address)
        if response.status != 400 or "nearfold_" not in response.reason:
            break
    raise error_of(address.url, response, f"PUT {address.index}")


def _installed_template(requests: Requests, address: IndexAddress) -> Layout | None:
    """Return the layout of nearfold's template for the index; None without one, and to whoever may
    not ask.
    """
    response = requests.send("GET", f"_index_template/nearfold-{address.index}")
    templates = response.body["index_templates"] if response.status == 200 else []
    for template in templates:
        about = template["index_template"].get("_meta", {}).get("nearfold", {})
        return "plugin" if about.get("layout") == "plugin" else "pipeline"
    return None


def _has_rivals(requests: Requests, position: IndexAddress) -> bool:
    """Return whether other programs have templates for the index; False to whoever may not ask."""
    try:
        return bool(rivals(requests, position))
    except StoreAccessDenied:
        return False
