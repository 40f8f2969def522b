"""Installation into an engine of the assets that `indexer.stores.engine.asset_bodies` defines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from indexer.errors import (
    MappingMismatch,
    PartialSource,
    StoreAccessDenied,
    StoreError,
    TextFieldMismatch,
    UsageError,
)
from indexer.recipe import Recipe
from indexer.stores.engine import asset_bodies, index_mapping, ingest_pipeline
from indexer.stores.engine.asset_bodies import Asset
from indexer.stores.engine.assets import (
    DEFAULT_PIPELINE,
    NO_PIPELINE,
    Assets,
    AssetUsers,
    Index,
    default_pipeline,
    remove_unused,
)
from indexer.stores.engine.create_index import require_whole_view, rivals
from indexer.stores.engine.foreign_documents import SAMPLE, foreign_fields
from indexer.stores.engine.index_facts import IndexAddress, require_whole_index
from indexer.stores.engine.index_mapping import (
    FIELD_LIMIT,
    blocks_of,
    field_limit,
    fields_left,
    is_adopted,
    is_shared_mapping,
    layout_of,
    leaf_fields,
    may_hold,
    near_field,
    text_field,
)
from indexer.stores.engine.ingest_pipeline import TEXT
from indexer.stores.engine.partial_updates import source_gap
from indexer.stores.engine.requests import Dialect, IndexMissing, Requests
from indexer.stores.engine.search_bodies import Body
from indexer.stores.maintenance import Change, Layout
from indexer.stores.requirements import require_same_recipe

# Checks before anything is written to an index or a cluster that other programs use.


def check_installation(
    assets: Assets,
    position: IndexAddress,
    recipe: Recipe,
    field: str,
    index: Index | None,
    template: Body | None,
    layout: Layout = "pipeline",
) -> int | None:
    """Raise the error of an installation that would harm another.

    It would mix recipes or fields, replace another pipeline, or undo a newer nearfold's. Returns
    what `check_index` does, None without an index.
    """
    require_same_recipe(asset_bodies.recipe_in(template) if template else None, recipe)
    if index is None:
        assets.check_alias(position, None)
        return None
    sample_size = check_index(assets, position, index, recipe, field, layout)
    if layout == "pipeline":
        _check_default_pipeline(assets, index, recipe, field)
    return sample_size


def check_index(
    assets: Assets,
    address: IndexAddress,
    index: Index,
    recipe: Recipe,
    field: str,
    layout: Layout = "pipeline",
) -> int | None:
    """Raise the error of an index that cannot have `near_*` fields, or not those of this recipe and
    field of texts.

    Returns the number of documents that were read for values of others; None where nearfold knows
    the index already.
    """
    name, description = index
    mapping = description.get("mappings", {})
    require_whole_index(address, index)
    require_same_recipe(recipe_of(mapping), recipe)
    if problems := asset_bodies.field_problems(mapping, layout):
        raise MappingMismatch(index=address.index, problems=problems)
    assets.check_alias(address, index)
    _check_blocks(index)
    if gap := source_gap(description):
        raise PartialSource(index=name, gap=gap)
    require_whole_view(assets.requests, (name,))
    _check_room(index, field, layout)
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
    """Raise `StoreError` for an index whose default pipeline neither fingerprints nor calls one
    that does; an owner who set none shall have none.
    """
    current, url = default_pipeline(index[1]), assets.requests.url
    if current in (None, NO_PIPELINE) or asset_bodies.fingerprints_by(recipe, current):
        return
    pipelines = asset_bodies.pipeline_names(recipe, field)
    if not assets.calls(current, pipelines):
        raise StoreError(
            f"index {index[0]} has the default pipeline {current}, which install would replace; "
            f"let it call {pipelines[1]} by a `pipeline` processor, which `nearfold install` for "
            f"an index of any other name puts there; or, if that leaves {field} as it is, make it "
            "the index.final_pipeline, which runs after the one that fingerprints, and clear "
            f"{DEFAULT_PIPELINE}; or keep it, and fingerprint by `nearfold index {url} --store "
            f"{url}` from time to time"
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


def _check_room(index: Index, field: str, layout: Layout) -> None:
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
    missing = asset_bodies.near_fields(field, layout).keys() - properties.keys()
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
    """Raise `TextFieldMismatch` for another field than the one that was fingerprinted, and
    `UsageError` for an alias of a field.

    A field of which nothing was fingerprinted yet may change.
    """
    mapping = index[1].get("mappings", {})
    definition = dict(leaf_fields(mapping)).get(field, {})
    if definition.get("type") == "alias":
        raise UsageError(
            f"{field} of index {index[0]} is an alias of its field {definition.get('path')}, "
            f"which holds the values; pass --text-field {definition.get('path')}"
        )
    stored = text_field(mapping)
    if stored is None or stored == field:
        return
    fingerprinted = assets.fingerprinted(index[0]) if is_shared_mapping(mapping) else None
    if fingerprinted != 0:
        raise TextFieldMismatch(
            index=index[0], stored=stored, requested=field, fingerprinted=fingerprinted
        )


_MAX_NAMED = 12
_MALFORMED = (
    "on this engine, a line that is not JSON makes its whole bulk request fail "
    "(docs/cluster.md, Malformed lines)"
)


def install(
    requests: Requests,
    address: IndexAddress,
    dialect: Dialect,
    recipe: Recipe,
    dry_run: bool,
    text_field: str | None = None,
    layout: Layout | None = None,
) -> list[Change]:
    """Install the assets, then the index template that names them, then an index that exists.

    Everything is checked before anything is written. `layout` None: that of the index, or of its
    template, else the pipeline's.
    """
    assets = Assets(requests, dry_run)
    index = assets.index(address)
    template = assets.template(address)
    present_field = _known_field(index, template)
    field = text_field or present_field or TEXT
    if _layout(address, index, template, layout) == "plugin":
        return _install_plugin(assets, address, dialect, recipe, field)
    for asset in asset_bodies.assets_of(recipe, address.index, field, dialect.search_pipelines):
        check_asset(assets, asset)
    sample_size = check_installation(assets, address, recipe, field, index, template)
    component = assets.put(asset_bodies.component_template(recipe, field))
    fingerprinting = assets.put_pipeline(asset_bodies.fingerprint_pipeline(recipe, field))
    has_pipeline = fingerprinting.action != "impossible"
    if has_pipeline and not dry_run and assets.fails_whole_bulks(address, fingerprinting.name):
        fingerprinting = replace(fingerprinting, detail=_MALFORMED)
    changes = [
        component,
        fingerprinting,
        assets.put_attachment_pipeline(
            asset_bodies.attachment_pipeline(recipe, field), fingerprinting
        ),
    ]
    changes += [
        assets.put_script(script, fingerprinting) for script in asset_bodies.score_scripts()
    ]
    if dialect.search_pipelines:
        changes.append(assets.put(asset_bodies.fold_pipeline()))
    if reason := _reason_against_template(requests, address, index):
        changes.append(assets.leave_template_out(address, reason, recipe, field))
    else:
        changes.append(assets.put_template(address, dialect, recipe, has_pipeline, field))
    if index is not None:
        changes.append(assets.adopt(address, recipe, index, has_pipeline, field, sample_size))
    if present_field is not None and present_field != field:
        changes += remove_unused(assets, address, recipe, present_field)
    if offer := _offer_of_plugin(requests, address, index):
        changes.append(offer)
    return changes


# The plugin's layout.

_PLUGIN = "nearfold"  # its name among the plugins of a node
_SAVED = "some 380 bytes a document instead of 1,000, and no ingest pipeline"


def plugin_versions(requests: Requests) -> dict[str, str | None]:
    """Return the version of the plugin on each node, by the node's name, with the engine's; None
    where a node lacks it. Raises `StoreAccessDenied` to whoever may not ask.
    """
    path = "nodes.*.name,nodes.*.version,nodes.*.plugins.name,nodes.*.plugins.version"
    response = requests.call("GET", "_nodes/plugins", params={"filter_path": path})
    versions: dict[str, str | None] = {}
    for node in response["nodes"].values():
        own = [plugin for plugin in node.get("plugins", ()) if plugin["name"] == _PLUGIN]
        version = f"{own[0]['version']} in {node['version']}" if own else None
        versions[node["name"]] = version
    return dict(sorted(versions.items()))


def _layout(
    address: IndexAddress, index: Index | None, template: Body | None, requested: Layout | None
) -> Layout:
    """Return the layout to install. Raises `UsageError` for an index that has the other one."""
    mapping = index[1].get("mappings", {}) if index else {}
    current = layout_of(mapping)
    if index is None or (
        current == "pipeline" and "near_bands" not in mapping.get("properties", {})
    ):
        return requested or (asset_bodies.layout_in(template) if template else "pipeline")
    is_open = current == "plugin" and recipe_of(mapping) is None
    if requested not in (None, current) and not is_open:
        raise UsageError(
            f"{address.index} has the layout {current}; "
            f"`nearfold reindex --layout {requested} --store {address.url}` changes it"
        )
    return requested or current


def require_plugin(requests: Requests) -> None:
    """Raise `UsageError` where a node lacks the plugin: it could not open the index."""
    lacking = [node for node, version in plugin_versions(requests).items() if version is None]
    if lacking:
        raise UsageError(
            f"the layout plugin needs the engine's plugin on every node, and {', '.join(lacking)} "
            "lacks it; install it there (docs/plugin.md) and restart, or leave --layout out"
        )


def _install_plugin(
    assets: Assets, address: IndexAddress, dialect: Dialect, recipe: Recipe, field: str
) -> list[Change]:
    """Install what an index with the plugin's layout needs: no pipeline and no script."""
    index, template = assets.index(address), assets.template(address)
    check_asset(assets, asset_bodies.index_template_asset(address.index))
    require_plugin(assets.requests)
    sample_size = check_installation(assets, address, recipe, field, index, template, "plugin")
    if index is not None:
        _check_near(index, recipe)
    changes = [assets.put(asset_bodies.fold_pipeline())] if dialect.search_pipelines else []
    if reason := _reason_against_template(assets.requests, address, index):
        changes.append(assets.leave_template_out(address, reason, recipe, field, "plugin"))
    else:
        changes.append(assets.put_template(address, dialect, recipe, False, field, "plugin"))
    if index is not None:
        changes.append(assets.adopt(address, recipe, index, False, field, sample_size, "plugin"))
    return changes


def _check_near(index: Index, recipe: Recipe) -> None:
    """Raise `UsageError` where the sub-field of an index has another recipe."""
    name, description = index
    mapping = description.get("mappings", {})
    field = near_field(mapping)
    if field is None:
        return
    parent, _, subfield = field.rpartition(".")
    definition = dict(leaf_fields(mapping))[parent]["fields"][subfield]
    if definition.get("recipe_id") != recipe.id:
        raise UsageError(
            f"{field} of index {name} has recipe {definition.get('recipe')}; "
            f"pass --recipe {definition.get('recipe')}"
        )


def _offer_of_plugin(
    requests: Requests, address: IndexAddress, index: Index | None
) -> Change | None:
    """Return what the plugin would save, where every node has it; None else."""
    try:
        versions = plugin_versions(requests)
    except StoreAccessDenied:
        return None
    if not versions or None in versions.values():
        return None
    command = "install" if index is None else "reindex"
    detail = (
        f"every node has it; `nearfold {command} --layout plugin --store {address.url}` takes "
        f"{_SAVED}"
    )
    return Change("plugin", _PLUGIN, "left out", detail)


def _reason_against_template(requests: Requests, address: IndexAddress, index: Index | None) -> str:
    """Return why an index gets no index template of nearfold's, in words; empty where it gets one.

    An engine makes an index by one template alone: that of others would count for nothing, and
    their documents would meet fields of ours.
    """
    if templates := rivals(requests, address):
        return (
            f"index template {', '.join(templates)} takes {address.index} too, and an index is "
            "made by one alone"
        )
    if index is not None and is_adopted(index[1].get("mappings", {})):
        return f"another program made {address.index}, and is to make it again as it was"
    return ""


def installation_problems(requests: Requests, address: IndexAddress) -> list[str]:
    """Return what an index, or the next one of its name, lacks to be fingerprinted, a sentence
    each.

    Empty where nothing is installed, and to whoever may not read index templates.
    """
    assets = Assets(requests, dry_run=True)
    index = assets.index(address)
    try:
        template = assets.template(address)
        is_ours = template is not None and asset_bodies.recipe_in(template) is not None
        reason = _reason_against_template(requests, address, index) if is_ours else ""
    except StoreAccessDenied:
        reason = ""
    problems = [f"index template nearfold-{address.index} has to go: {reason}"] if reason else []
    mapping = index[1].get("mappings", {}) if index else {}
    if index is not None and is_shared_mapping(mapping):
        fields = asset_bodies.near_fields(text_field(mapping) or TEXT, layout_of(mapping))
        needed = fields.keys() - set(index_mapping.LATER)
        missing = sorted(needed - mapping.get("properties", {}).keys())
        problems += [f"index {index[0]} lacks the fields {', '.join(missing)}"] if missing else []
    return problems


def installed_recipe(requests: Requests, position: IndexAddress) -> Recipe | None:
    """Return the recipe that the index has, or will have by its template; None without either."""
    assets = Assets(requests, dry_run=True)
    return _stored_recipe(assets.index(position), assets.template(position))


def uninstall(
    requests: Requests, address: IndexAddress, dialect: Dialect, recipe: Recipe, dry_run: bool
) -> list[Change]:
    """Remove the pipeline from the index, then its template, then assets that no index needs."""
    assets = Assets(requests, dry_run)
    index = assets.index(address)
    if index is not None:
        require_whole_index(address, index)
    template = assets.template(address)
    recipe = _stored_recipe(index, template) or recipe
    changes = [] if index is None else assets.release(address, recipe, index)
    changes += assets.remove(asset_bodies.index_template_asset(address.index), "")
    changes += remove_unused(assets, address, recipe, _known_field(index, template) or TEXT)
    users = AssetUsers(assets, address)
    others = users.of_scripts()
    for asset in asset_bodies.score_scripts():
        changes += assets.remove(asset, others)
    if dialect.search_pipelines:
        changes += assets.remove(asset_bodies.fold_pipeline(), others or users.of_search_pipeline())
    return changes


def _known_field(index: Index | None, template: Body | None) -> str | None:
    """Return the field whose texts are fingerprinted, by the index or by the template of a future
    one.
    """
    field = text_field(index[1].get("mappings", {})) if index else None
    if field or not template:
        return field
    return text_field(template.get("template", {}).get("mappings", {}))


def _stored_recipe(index: Index | None, template: Body | None) -> Recipe | None:
    """Return the recipe of the template, or else of the index."""
    planned = asset_bodies.recipe_in(template) if template else None
    return planned or (recipe_of(index[1].get("mappings", {})) if index else None)


def put_next_pipeline(
    assets: Assets,
    address: IndexAddress,
    old: Mapping[str, Any],
    before: Recipe,
    after: Recipe,
    layout: Layout = "pipeline",
) -> tuple[str | None, list[Change]]:
    """Put the pipelines of the next recipe of an index that fingerprints on arrival; return the
    name, and what changes.

    The name is None where the index itself does not fingerprint, and with the plugin's layout.
    Raises `UsageError` when no pipeline computes that recipe.
    """
    name = default_pipeline(old)
    loses_plugin = near_field(old["mappings"]) is not None and layout == "pipeline"
    is_fingerprinted = asset_bodies.fingerprints_by(before, name) or loses_plugin
    _check_caller(assets, address, old, before, after, layout)
    if layout == "plugin":
        return None, []
    if loses_plugin:
        owned = (address.index, old)
        _check_default_pipeline(assets, owned, after, text_field(old["mappings"]) or TEXT)
    if not is_fingerprinted and not asset_bodies.fingerprints_by(
        before, _pipeline_in(assets.template(address))
    ):
        return None, []
    if unsupported := ingest_pipeline.unsupported_settings(after):
        raise UsageError(
            f"{address.index} fingerprints what clients send, and no ingest pipeline can compute "
            f"recipe {after.name} ({unsupported}); run `nearfold uninstall --store {address.url}` "
            "first, and send documents by `nearfold index` from then on"
        )
    field = text_field(old["mappings"]) or TEXT
    for asset in asset_bodies.recipe_assets(after, field):
        check_asset(assets, asset)
    if is_fingerprinted and name:
        check_asset(assets, asset_bodies.Asset("ingest pipeline", name, {}))
    component = assets.put(asset_bodies.component_template(after, field))
    fingerprinting = assets.put_pipeline(asset_bodies.fingerprint_pipeline(after, field))
    attachment = asset_bodies.attachment_pipeline(after, field)
    changes = [
        component,
        fingerprinting,
        assets.put_attachment_pipeline(attachment, fingerprinting),
    ]
    if not is_fingerprinted:
        return None, changes
    for_files, for_texts = asset_bodies.pipeline_names(after, field)
    if loses_plugin and name is not None:
        return None, changes
    is_of_files = name == asset_bodies.pipeline_names(before, field)[0]
    return (for_files if is_of_files else for_texts), changes


def _check_caller(
    assets: Assets,
    address: IndexAddress,
    old: Mapping[str, Any],
    before: Recipe,
    after: Recipe,
    layout: Layout,
) -> None:
    """Raise `UsageError` where the owner's default pipeline calls one that fingerprints by the old
    recipe, as it would in the next version of the index.
    """
    name, field = default_pipeline(old), text_field(old["mappings"]) or TEXT
    pipelines = asset_bodies.pipeline_names(before, field)
    is_same = before.id == after.id and layout == "pipeline"
    if is_same or asset_bodies.fingerprints_by(before, name):
        return
    if assets.calls(name, pipelines) and layout == "plugin":
        raise UsageError(
            f"the default pipeline {name} of {address.index} calls {pipelines[1]}, which an index "
            f"with the layout plugin does not use; remove that call from {name}, and run again"
        )
    if assets.calls(name, pipelines):
        raise UsageError(
            f"the default pipeline {name} of {address.index} calls {pipelines[1]}, which "
            f"fingerprints by recipe {before.name}; clear {DEFAULT_PIPELINE}, run reindex and "
            f"`nearfold install`, let {name} call {asset_bodies.shared_name(after, field)}, and "
            "set it again"
        )


def _pipeline_in(template: Body | None) -> str | None:
    """Return the pipeline that an index template names."""
    return default_pipeline((template or {}).get("template", {}))


def update_template(
    assets: Assets,
    position: IndexAddress,
    dialect: Dialect,
    before: Recipe,
    after: Recipe,
    layout: Layout = "pipeline",
) -> list[Change]:
    """Update the template of an index whose recipe changes, and remove assets without a user.

    Return what changes.
    """
    template, index = assets.template(position), assets.index(position)
    pipeline = default_pipeline(index[1]) if index else None
    is_fingerprinted = any(
        asset_bodies.fingerprints_by(recipe, pipeline) for recipe in (before, after)
    )
    if template is None and not is_fingerprinted:
        return []
    field = _known_field(index, template) or TEXT
    changes = []
    if template is not None and (
        reason := _reason_against_template(assets.requests, position, index)
    ):
        changes.append(assets.leave_template_out(position, reason, after, field, layout))
    elif template is not None and "plugin" in (layout, asset_bodies.layout_in(template)):
        has_pipeline = layout == "pipeline"
        changes.append(assets.put_template(position, dialect, after, has_pipeline, field, layout))
        if has_pipeline:
            return changes
    elif template is not None:
        has_pipeline = asset_bodies.fingerprints_by(before, _pipeline_in(template))
        if not has_pipeline and not is_fingerprinted:  # else it was put with the pipelines
            changes.append(assets.put(asset_bodies.component_template(after, field)))
        changes.append(assets.put_template(position, dialect, after, has_pipeline, field))
    return [*changes, *remove_unused(assets, position, before, field)]


def index_at(requests: Requests, position: IndexAddress) -> Index | None:
    """Return the own name and the description of the index of a URL; None where there is none."""
    return Assets(requests, dry_run=True).index(position)


def adopt(
    requests: Requests, address: IndexAddress, dialect: Dialect, recipe: Recipe, field: str
) -> None:
    """Add the `near_*` fields, recipe, field of texts and write alias to another program's index.

    It gets no pipeline; one of ours that fingerprints another field is replaced by that for this
    field. Raises `IndexMissing`, `RecipeMismatch`, `UsageError` for a field that is not there,
    `TextFieldMismatch` where texts of another one were fingerprinted, `MappingMismatch` where
    `near_*` fields are mapped in another way, and `PartialSource`.
    """
    assets = Assets(requests, dry_run=False)
    index = assets.index(address)
    if index is None:
        raise IndexMissing(address.url)
    mapping = index[1].get("mappings", {})
    if layout_of(mapping) == "plugin":
        raise UsageError(
            f"the engine itself fingerprints the texts of {address.index} ({near_field(mapping)}); "
            f"run `nearfold install --layout plugin --store {address.url}`, and for documents that "
            f"came before that field POST {address.index}/_update_by_query?conflicts=proceed"
        )
    sample_size = check_index(assets, address, index, recipe, field)
    if not may_hold(mapping, field):
        names = [name for name in sorted(mapping["properties"]) if not name.startswith("near_")]
        if len(names) > _MAX_NAMED:
            names[_MAX_NAMED:] = ["..."]
        listed = ", ".join(names)
        raise UsageError(
            f"index {address.index} has no field {field} (it has: {listed}); "
            "name the field by --text-field"
        )
    pipeline = default_pipeline(index[1])
    names_for_field = asset_bodies.pipeline_names(recipe, field)
    if asset_bodies.fingerprints_by(recipe, pipeline) and pipeline not in names_for_field:
        install(requests, address, dialect, recipe, dry_run=False, text_field=field)
    else:
        assets.adopt(address, recipe, index, False, field, sample_size)
