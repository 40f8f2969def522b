"""Installation into an engine of the assets that `indexer.stores.engine.installation` defines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from indexer.errors import StoreAccessDenied, UsageError
from indexer.recipe import Recipe
from indexer.stores.engine import index_body, painless
from indexer.stores.engine import installation as installed
from indexer.stores.engine.asset_users import AssetUsers, remove_unused
from indexer.stores.engine.assets import DEFAULT_PIPELINE, Assets, Index, default_pipeline
from indexer.stores.engine.bodies import Body
from indexer.stores.engine.foreign_templates import rivals
from indexer.stores.engine.index_facts import IndexPlace, require_whole_index
from indexer.stores.engine.index_requests import Dialect, Requests
from indexer.stores.engine.install_checks import (
    check_asset,
    check_index,
    check_installation,
    recipe_of,
)
from indexer.stores.engine.link import IndexMissing
from indexer.stores.engine.mapping_facts import is_adopted, is_shared, may_hold, text_field
from indexer.stores.engine.painless import TEXT
from indexer.stores.maintenance import Change

_SHOWN = 12
_MALFORMED = (
    "on this engine, a line that is not JSON makes its whole bulk request fail "
    "(docs/cluster.md, Malformed lines)"
)


def install(
    requests: Requests,
    place: IndexPlace,
    dialect: Dialect,
    recipe: Recipe,
    dry_run: bool,
    text_field: str | None = None,
) -> list[Change]:
    """Install the assets, then the index template that names them, then an index that exists.

    Everything is checked before anything is written.
    """
    assets = Assets(requests, dry_run)
    index = assets.index(place)
    template = assets.template(place)
    present_field = _known_field(index, template)
    field = text_field or present_field or TEXT
    for asset in installed.assets_of(recipe, place.index, field, dialect.search_pipelines):
        check_asset(assets, asset)
    sample_size = check_installation(assets, place, recipe, field, index, template)
    component = assets.put(installed.component_template(recipe, field))
    signing = assets.put_pipeline(installed.signing_pipeline(recipe, field))
    signs = signing.action != "impossible"
    if signs and not dry_run and assets.fails_whole_bulks(place, signing.name):
        signing = replace(signing, detail=_MALFORMED)
    changes = [
        component,
        signing,
        assets.put_attachment_pipeline(installed.attachment_pipeline(recipe, field), signing),
    ]
    changes += [assets.put_script(script, signing) for script in installed.score_scripts()]
    if dialect.search_pipelines:
        changes.append(assets.put(installed.fold_pipeline()))
    if reason := _reason_against_template(requests, place, index):
        changes.append(assets.leave_template_out(place, reason, recipe, field))
    else:
        changes.append(assets.put_template(place, dialect, recipe, signs, field))
    if index is not None:
        changes.append(assets.adopt(place, recipe, index, signs, field, sample_size))
    if present_field is not None and present_field != field:
        changes += remove_unused(assets, place, recipe, present_field)
    return changes


def _reason_against_template(requests: Requests, place: IndexPlace, index: Index | None) -> str:
    """Return why an index gets no index template of nearfold's, in words; empty where it gets one.

    An engine makes an index by one template alone: that of others would count for nothing, and
    their documents would meet fields of ours.
    """
    if templates := rivals(requests, place):
        return (
            f"index template {', '.join(templates)} takes {place.index} too, and an index is made "
            "by one alone"
        )
    if index is not None and is_adopted(index[1].get("mappings", {})):
        return f"another program made {place.index}, and is to make it again as it was"
    return ""


def installation_problems(requests: Requests, place: IndexPlace) -> list[str]:
    """Return what an index, or the next one of its name, lacks to be signed, a sentence each.

    Empty where nothing is installed, and to whoever may not read index templates.
    """
    assets = Assets(requests, dry_run=True)
    index = assets.index(place)
    try:
        template = assets.template(place)
        is_ours = template is not None and installed.recipe_in(template) is not None
        reason = _reason_against_template(requests, place, index) if is_ours else ""
    except StoreAccessDenied:
        reason = ""
    problems = [f"index template nearfold-{place.index} has to go: {reason}"] if reason else []
    mapping = index[1].get("mappings", {}) if index else {}
    if index is not None and is_shared(mapping):
        needed = installed.near_fields(text_field(mapping) or TEXT).keys() - set(index_body.LATER)
        missing = sorted(needed - mapping.get("properties", {}).keys())
        problems += [f"index {index[0]} lacks the fields {', '.join(missing)}"] if missing else []
    return problems


def installed_recipe(requests: Requests, place: IndexPlace) -> Recipe | None:
    """Return the recipe that the index has, or will have by its template; None without either."""
    assets = Assets(requests, dry_run=True)
    return _stored_recipe(assets.index(place), assets.template(place))


def uninstall(
    requests: Requests, place: IndexPlace, dialect: Dialect, recipe: Recipe, dry_run: bool
) -> list[Change]:
    """Remove the pipeline from the index, then its template, then assets that no index needs."""
    assets = Assets(requests, dry_run)
    index = assets.index(place)
    if index is not None:
        require_whole_index(place, index)
    template = assets.template(place)
    recipe = _stored_recipe(index, template) or recipe
    changes = [] if index is None else assets.release(place, recipe, index)
    changes += assets.remove(installed.index_template_asset(place.index), "")
    changes += remove_unused(assets, place, recipe, _known_field(index, template) or TEXT)
    users = AssetUsers(assets, place)
    others = users.of_scripts()
    for asset in installed.score_scripts():
        changes += assets.remove(asset, others)
    if dialect.search_pipelines:
        changes += assets.remove(installed.fold_pipeline(), others or users.of_search_pipeline())
    return changes


def _known_field(index: Index | None, template: Body | None) -> str | None:
    """Return the field whose texts are signed, by the index or by the template of a future one."""
    field = text_field(index[1].get("mappings", {})) if index else None
    if field or not template:
        return field
    return text_field(template.get("template", {}).get("mappings", {}))


def _stored_recipe(index: Index | None, template: Body | None) -> Recipe | None:
    """Return the recipe of the template, or else that of the index."""
    planned = installed.recipe_in(template) if template else None
    return planned or (recipe_of(index[1].get("mappings", {})) if index else None)


def put_next_pipeline(
    assets: Assets, place: IndexPlace, old: Mapping[str, Any], before: Recipe, after: Recipe
) -> tuple[str | None, list[Change]]:
    """Put the pipelines of the next recipe of an index that signs on arrival; return the name, and
    what changes.

    The name is None where the index itself does not sign. Raises `UsageError` when no pipeline
    computes that recipe.
    """
    name = default_pipeline(old)
    is_signed = installed.signs_by(before, name)
    _check_caller(assets, place, old, before, after)
    if not is_signed and not installed.signs_by(before, _pipeline_in(assets.template(place))):
        return None, []
    if unsupported := painless.unsupported_settings(after):
        raise UsageError(
            f"{place.index} signs what clients send, and no ingest pipeline can compute recipe "
            f"{after.name} ({unsupported}); run `nearfold uninstall --store {place.url}` first, "
            "and send documents by `nearfold index` from then on"
        )
    field = text_field(old["mappings"]) or TEXT
    for asset in installed.recipe_assets(after, field):
        check_asset(assets, asset)
    if is_signed and name:
        check_asset(assets, installed.Asset("ingest pipeline", name, {}))
    component = assets.put(installed.component_template(after, field))
    signing = assets.put_pipeline(installed.signing_pipeline(after, field))
    attachment = installed.attachment_pipeline(after, field)
    changes = [component, signing, assets.put_attachment_pipeline(attachment, signing)]
    if not is_signed:
        return None, changes
    for_files, for_texts = installed.pipeline_names(after, field)
    is_of_files = name == installed.pipeline_names(before, field)[0]
    return (for_files if is_of_files else for_texts), changes


def _check_caller(
    assets: Assets, place: IndexPlace, old: Mapping[str, Any], before: Recipe, after: Recipe
) -> None:
    """Raise `UsageError` where the owner's default pipeline calls one that signs by the old recipe,
    as it would in the next version of the index.
    """
    name, field = default_pipeline(old), text_field(old["mappings"]) or TEXT
    pipelines = installed.pipeline_names(before, field)
    if before.id == after.id or installed.signs_by(before, name):
        return
    if assets.calls(name, pipelines):
        raise UsageError(
            f"the default pipeline {name} of {place.index} calls {pipelines[1]}, which signs by "
            f"recipe {before.name}; clear {DEFAULT_PIPELINE}, run reindex and `nearfold install`, "
            f"let {name} call {installed.shared_name(after, field)}, and set it again"
        )


def _pipeline_in(template: Body | None) -> str | None:
    """Return the pipeline that an index template names."""
    return default_pipeline((template or {}).get("template", {}))


def update_template(
    assets: Assets, place: IndexPlace, dialect: Dialect, before: Recipe, after: Recipe
) -> list[Change]:
    """Update the template of an index whose recipe changes, and remove assets without a user.

    Return what changes.
    """
    template, index = assets.template(place), assets.index(place)
    pipeline = default_pipeline(index[1]) if index else None
    is_signed = any(installed.signs_by(recipe, pipeline) for recipe in (before, after))
    if template is None and not is_signed:
        return []
    field = _known_field(index, template) or TEXT
    changes = []
    if template is not None and (reason := _reason_against_template(assets.requests, place, index)):
        changes.append(assets.leave_template_out(place, reason, after, field))
    elif template is not None:
        signs = installed.signs_by(before, _pipeline_in(template))
        if not signs and not is_signed:  # else it was put with the pipelines
            changes.append(assets.put(installed.component_template(after, field)))
        changes.append(assets.put_template(place, dialect, after, signs, field))
    return [*changes, *remove_unused(assets, place, before, field)]


def index_at(requests: Requests, place: IndexPlace) -> Index | None:
    """Return the own name and the description of the index of a URL; None where there is none."""
    return Assets(requests, dry_run=True).index(place)


def adopt(
    requests: Requests, place: IndexPlace, dialect: Dialect, recipe: Recipe, field: str
) -> None:
    """Add the `near_*` fields, recipe, field of texts and write alias to another program's index.

    It gets no pipeline; one of ours that signs another field is replaced by that for this field.
    Raises `IndexMissing`, `RecipeMismatch`, `UsageError` for a field that is not there,
    `TextFieldMismatch` where texts of another one were signed, `MappingMismatch` where `near_*`
    fields are mapped in another way, and `PartialSource`.
    """
    assets = Assets(requests, dry_run=False)
    index = assets.index(place)
    if index is None:
        raise IndexMissing(place.url)
    mapping = index[1].get("mappings", {})
    sample_size = check_index(assets, place, index, recipe, field)
    if not may_hold(mapping, field):
        names = [name for name in sorted(mapping["properties"]) if not name.startswith("near_")]
        if len(names) > _SHOWN:
            names[_SHOWN:] = ["..."]
        shown = ", ".join(names)
        raise UsageError(
            f"index {place.index} has no field {field} (it has: {shown}); "
            "name the field by --text-field"
        )
    pipeline = default_pipeline(index[1])
    names_for_field = installed.pipeline_names(recipe, field)
    if installed.signs_by(recipe, pipeline) and pipeline not in names_for_field:
        install(requests, place, dialect, recipe, dry_run=False, text_field=field)
    else:
        assets.adopt(place, recipe, index, False, field, sample_size)
