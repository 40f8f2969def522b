"""Creation of an index of nearfold's own, and the checks of one that exists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indexer.errors import MappingMismatch, StoreAccessDenied, StoreError
from indexer.recipe import Recipe
from indexer.stores.engine import index_body
from indexer.stores.engine.foreign_templates import require_no_additions, rivals
from indexer.stores.engine.index_facts import IndexFacts, IndexPlace, read_facts, require_one_index
from indexer.stores.engine.index_requests import EXISTS, Dialect, Requests
from indexer.stores.engine.limited_view import require_whole_view
from indexer.stores.engine.link import error_of
from indexer.stores.engine.mapping_facts import changed_meta
from indexer.stores.engine.write_alias import give_alias, require_own_alias
from indexer.stores.requirements import require_same_recipe
from indexer.system.logs import event


def prepare(requests: Requests, place: IndexPlace, dialect: Dialect, recipe: Recipe) -> None:
    """Create the index and its write alias where they are missing.

    Raises `MappingMismatch`, `RecipeMismatch` or `StoreError` for an index that does not fit.
    """
    facts = read_facts(requests, place) or _create(requests, place, dialect, recipe)
    if facts is None:
        return
    require_one_index(place, facts)
    if name := facts.mapping["_meta"]["nearfold"].get("text_field"):
        raise StoreError(
            f"index {place.index} has its texts in the field {name}; "
            f"`nearfold index {place.url} --text-field {name} --store {place.url}` signs them "
            "there; put other documents into another store"
        )
    facts.check_updatable()
    require_whole_view(requests, (facts.index,))
    mapping = _add_later_fields(requests, facts)
    if problems := index_body.mapping_problems(mapping, dialect.metadata_type):
        raise MappingMismatch(index=place.index, problems=problems)
    require_same_recipe(facts.recipe, recipe)
    record_statistics(requests, facts, recipe)
    give_alias(requests, place, facts)


def record_statistics(requests: Requests, facts: IndexFacts, recipe: Recipe) -> None:
    """Record later numbered statistics of an online recipe; what `_meta` says beside stays."""
    if recipe.statistics_number <= facts.recipe.statistics_number:
        return
    changes = {"recipe_id": recipe.id, "recipe": recipe.settings}
    body = {"_meta": changed_meta(facts.mapping, changes)}
    requests.call("PUT", f"{facts.index}/_mapping", body)


def _add_later_fields(requests: Requests, facts: IndexFacts) -> Mapping[str, Any]:
    """Add the fields that an earlier nearfold did not know; return the mapping with them."""
    properties: Mapping[str, Any] = facts.mapping.get("properties", {})
    later = index_body.later_fields(properties)
    if not later:
        return facts.mapping
    requests.call("PUT", f"{facts.index}/_mapping", {"properties": later})
    event("store_upgraded", counts={"fields": len(later)})
    return {**facts.mapping, "properties": {**properties, **later}}


def _create(
    requests: Requests, place: IndexPlace, dialect: Dialect, recipe: Recipe
) -> IndexFacts | None:
    """Create the index, or return the facts of one that another process has just created.

    An engine without its analysis-common module refuses our analysis; its index gets the analysis
    that every distribution has.
    """
    require_own_alias(requests, place.write_alias, place.index)
    if _has_rivals(requests, place):
        body = index_body.new_index(
            recipe, dialect.metadata_type, True, place.shards, place.replicas
        )
        require_no_additions(requests, place.index, {**body, "aliases": {place.write_alias: {}}})
    for core_analysis in (False, True):
        body = index_body.new_index(
            recipe, dialect.metadata_type, core_analysis, place.shards, place.replicas
        )
        answer = requests.send("PUT", place.index, {**body, "aliases": {place.write_alias: {}}})
        if 200 <= answer.status < 300:
            return None
        if answer.kind == EXISTS:
            return read_facts(requests, place)
        if answer.status != 400 or "nearfold_" not in answer.reason:
            break
    raise error_of(place.url, answer, f"PUT {place.index}")


def _has_rivals(requests: Requests, place: IndexPlace) -> bool:
    """Return whether other programs have templates for the index; False to whoever may not ask."""
    try:
        return bool(rivals(requests, place))
    except StoreAccessDenied:
        return False
