"""Checks before an installation, or before an index of other programs is signed: nothing is written
where something of theirs would be harmed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indexer.errors import (
    MappingMismatch,
    PartialSource,
    StoreError,
    TextFieldMismatch,
    UsageError,
)
from indexer.recipe import Recipe
from indexer.stores.engine import installation as installed
from indexer.stores.engine.assets import (
    DEFAULT_PIPELINE,
    NO_PIPELINE,
    Assets,
    Index,
    default_pipeline,
)
from indexer.stores.engine.bodies import Body
from indexer.stores.engine.foreign_values import SAMPLE, foreign_fields
from indexer.stores.engine.index_facts import IndexPlace, require_whole_index
from indexer.stores.engine.installation import Asset
from indexer.stores.engine.limited_view import require_whole_view
from indexer.stores.engine.mapping_facts import (
    FIELD_LIMIT,
    blocks_of,
    field_limit,
    fields_left,
    is_shared,
    text_field,
)
from indexer.stores.engine.source_gaps import leaf_fields, source_gap
from indexer.stores.requirements import require_same_recipe


def check_installation(
    assets: Assets,
    place: IndexPlace,
    recipe: Recipe,
    field: str,
    index: Index | None,
    template: Body | None,
) -> int | None:
    """Raise the error of an installation that would harm another.

    It would mix recipes or fields, replace another pipeline, or undo a newer nearfold's. Returns
    what `check_index` does, None without an index.
    """
    require_same_recipe(installed.recipe_in(template) if template else None, recipe)
    if index is None:
        assets.check_alias(place, None)
        return None
    sample_size = check_index(assets, place, index, recipe, field)
    _check_default_pipeline(assets, index, recipe, field)
    return sample_size


def check_index(
    assets: Assets, place: IndexPlace, index: Index, recipe: Recipe, field: str
) -> int | None:
    """Raise the error of an index that cannot have `near_*` fields, or not those of this recipe and
    field of texts.

    Returns the number of documents that were read for values of others; None where nearfold knows
    the index already.
    """
    name, description = index
    mapping = description.get("mappings", {})
    require_whole_index(place, index)
    require_same_recipe(recipe_of(mapping), recipe)
    if problems := installed.field_problems(mapping):
        raise MappingMismatch(index=place.index, problems=problems)
    assets.check_alias(place, index)
    _check_blocks(index)
    if gap := source_gap(description):
        raise PartialSource(index=name, gap=gap)
    require_whole_view(assets.requests, (name,))
    _check_room(index, field)
    sample_size = _check_values(assets, index)
    _check_field(assets, index, field)
    return sample_size


def recipe_of(mapping: Mapping[str, Any]) -> Recipe | None:
    """Return the recipe in the `_meta` of a mapping; None where nearfold wrote none."""
    about = mapping.get("_meta", {}).get("nearfold")
    return Recipe(**about["recipe"]) if about else None


def check_asset(assets: Assets, asset: Asset) -> None:
    """Raise `StoreError` for an asset that another program, or a newer nearfold, stored there."""
    stored = assets.own(asset)
    if stored and stored.get("version", 0) > asset.body.get("version", stored.get("version", 0)):
        raise StoreError(
            f"a newer nearfold installed {asset.name} at {assets.requests.url}; "
            "upgrade nearfold, or uninstall with it first"
        )


def _check_default_pipeline(assets: Assets, index: Index, recipe: Recipe, field: str) -> None:
    """Raise `StoreError` for an index whose default pipeline neither signs nor calls one that does;
    an owner who set none shall have none.
    """
    current, url = default_pipeline(index[1]), assets.requests.url
    if current in (None, NO_PIPELINE) or installed.signs_by(recipe, current):
        return
    pipelines = installed.pipeline_names(recipe, field)
    if not assets.calls(current, pipelines):
        raise StoreError(
            f"index {index[0]} has the default pipeline {current}, which install would replace; "
            f"let it call {pipelines[1]} by a `pipeline` processor, which `nearfold install` for "
            f"an index of any other name puts there; or, if that leaves {field} as it is, make it "
            f"the index.final_pipeline, which runs after the one that signs, and clear "
            f"{DEFAULT_PIPELINE}; or keep it, and sign by `nearfold index {url} --store {url}` "
            "from time to time"
        )


def _check_blocks(index: Index) -> None:
    """Raise `UsageError` for an index that accepts no changes: those after the first ones that the
    engine refuses would be missing.
    """
    name, description = index
    if blocks := blocks_of(description):
        raise UsageError(
            f"index {name} has {', '.join(blocks)}, so that it accepts no change; nothing was "
            "changed: set it to null, run again, and set it again afterwards"
        )


def _check_room(index: Index, field: str) -> None:
    """Raise `UsageError` for an index that may not have as many fields as nearfold adds, or none of
    their kind.
    """
    name, description = index
    if description.get("mappings", {}).get("subobjects") in (False, "false"):
        raise UsageError(
            f"index {name} has `subobjects: false` in its mapping, which takes no object such as "
            "near_unsearchable; send the documents to an index without that, and give "
            "it to --store"
        )
    properties = description.get("mappings", {}).get("properties", {})
    missing = installed.near_fields(field).keys() - properties.keys()
    lacking = -fields_left(description, len(missing))
    if missing and lacking > 0:
        limit = field_limit(description)
        raise UsageError(
            f"index {name} may have {limit} fields ({FIELD_LIMIT}), and needs {limit + lacking} "
            f"with the {len(missing)} that nearfold adds; raise that setting of the index, then "
            "run again"
        )


def _check_values(assets: Assets, index: Index) -> int | None:
    """Raise `UsageError` where documents of an index that nearfold does not know yet hold `near_*`
    values of another program, as far as the first `SAMPLE` documents tell.

    Such values may be in `_source` alone, where no search finds them. Returns the number of
    documents that were read; None where nearfold knows the index, and none is read.
    """
    name, description = index
    if recipe_of(description.get("mappings", {})) is not None:
        return None
    body = {"size": SAMPLE, "_source": ["near_*"], "track_total_hits": False}
    hits = assets.requests.call("POST", f"{name}/_search", body)["hits"]["hits"]
    for hit in hits:
        if fields := foreign_fields(hit["_id"], hit.get("_source", {})):
            raise UsageError(
                f"document {hit['_id']} of {name} has {', '.join(fields)} of another program, "
                "which nearfold would replace; nothing was changed: rename these fields, or copy "
                "the documents without them to another index"
            )
    return len(hits)


def _check_field(assets: Assets, index: Index, field: str) -> None:
    """Raise `TextFieldMismatch` for another field than the one that was signed, and `UsageError`
    for an alias of a field.

    A field of which nothing was signed yet may change.
    """
    mapping = index[1].get("mappings", {})
    definition = dict(leaf_fields(mapping)).get(field, {})
    if definition.get("type") == "alias":
        raise UsageError(
            f"{field} of index {index[0]} is another name of its field {definition.get('path')}, "
            f"which documents have in its place; pass --text-field {definition.get('path')}"
        )
    stored = text_field(mapping)
    if stored is None or stored == field:
        return
    signed = assets.signed(index[0]) if is_shared(mapping) else None
    if signed != 0:
        raise TextFieldMismatch(index=index[0], stored=stored, requested=field, signed=signed)
