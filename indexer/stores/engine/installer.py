"""Installation into an engine of the pieces that `indexer.stores.engine.installation` defines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from indexer.errors import (
    MappingMismatch,
    PartialSource,
    RecipeMismatch,
    StoreError,
    TextFieldMismatch,
    UsageError,
)
from indexer.recipe import Recipe
from indexer.stores.engine import installation as installed
from indexer.stores.engine import painless
from indexer.stores.engine.bodies import Body
from indexer.stores.engine.foreign_templates import rivals
from indexer.stores.engine.index_requests import Dialect, IndexPlace, Requests
from indexer.stores.engine.installation import Piece
from indexer.stores.engine.link import IndexMissing
from indexer.stores.engine.mapping_facts import count_fields, is_shared, may_hold, text_field
from indexer.stores.engine.painless import TEXT
from indexer.stores.engine.pieces import DEFAULT_PIPELINE, Index, Pieces, default_pipeline
from indexer.stores.engine.source_gaps import source_gap
from indexer.stores.maintenance import Change

_SHOWN = 12
_FIELDS = 1_000  # that an index may have where it does not say
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
    """Install the pieces, then the index template that names them, then an index that exists.

    Everything is checked before anything is written.
    """
    pieces = Pieces(requests, dry_run)
    index = pieces.index(place)
    template = pieces.template(place)
    present_field = _known_field(index, template)
    field = text_field or present_field or TEXT
    _check(pieces, requests.url, place, recipe, field, index, template)
    component = pieces.put(installed.component_template(recipe, field))
    signing = pieces.put_pipeline(installed.signing_pipeline(recipe, field))
    signs = signing.action != "impossible"
    if signs and not dry_run and pieces.fails_whole_bulks(place, signing.name):
        signing = replace(signing, detail=_MALFORMED)
    changes = [
        component,
        signing,
        pieces.put_attachment_pipeline(installed.attachment_pipeline(recipe, field), signing),
    ]
    changes += [pieces.put_script(script, signing) for script in installed.score_scripts()]
    if dialect.search_pipelines:
        changes.append(pieces.put(installed.fold_pipeline()))
    if templates := rivals(requests, place):
        changes.append(pieces.leave_template_out(place, templates, recipe, field))
    else:
        changes.append(pieces.put_template(place, dialect, recipe, signs, field))
    if index is not None:
        changes.append(pieces.adopt(place, recipe, index, signs, field))
    if present_field is not None and present_field != field:
        changes += pieces.remove_unused(place, recipe, present_field)
    return changes


def installed_recipe(requests: Requests, place: IndexPlace) -> Recipe | None:
    """Return the recipe that the index has, or will have by its template; None without either."""
    pieces = Pieces(requests, dry_run=True)
    return _stored_recipe(pieces.index(place), pieces.template(place))


def uninstall(
    requests: Requests, place: IndexPlace, dialect: Dialect, recipe: Recipe, dry_run: bool
) -> list[Change]:
    """Remove the pipeline from the index, then its template, then pieces that no index needs."""
    pieces = Pieces(requests, dry_run)
    index = pieces.index(place)
    template = pieces.template(place)
    recipe = _stored_recipe(index, template) or recipe
    changes = [] if index is None else pieces.release(place, recipe, index)
    changes += pieces.remove(Piece("index template", f"nearfold-{place.index}", {}), "")
    changes += pieces.remove_unused(place, recipe, _known_field(index, template) or TEXT)
    others = pieces.templates(place)
    for piece in installed.score_scripts():
        changes += pieces.remove(piece, others)
    if dialect.search_pipelines:
        changes += pieces.remove(installed.fold_pipeline(), others or pieces.searched())
    return changes


def _known_field(index: Index | None, template: Body | None) -> str | None:
    """Return the field whose texts are signed, by the index or by the template of a future one."""
    field = text_field(index[1].get("mappings", {})) if index else None
    if field or not template:
        return field
    return text_field(template.get("template", {}).get("mappings", {}))


def _check(
    pieces: Pieces,
    url: str,
    place: IndexPlace,
    recipe: Recipe,
    field: str,
    index: Index | None,
    template: Body | None,
) -> None:
    """Raise the error of an installation that would harm another.

    It would mix recipes or fields, replace another pipeline, or undo a newer nearfold's.
    """
    planned = installed.recipe_in(template) if template else None
    mapping = index[1].get("mappings", {}) if index else {}
    for stored_recipe in (planned, _recipe(mapping)):
        _check_recipe(stored_recipe, recipe)
    _check_pipelines(pieces, url, recipe, field)
    if problems := installed.field_problems(mapping):
        raise MappingMismatch(index=place.index, problems=problems)
    pieces.check_alias(place, index)
    if not index:
        return
    _check_source(index)
    _check_room(index, field)
    current = default_pipeline(index[1])
    if current not in (None, "_none") and not installed.signs_by(recipe, current):
        raise StoreError(
            f"index {place.index} has the default pipeline {current}, which install would replace; "
            f"if that leaves {field} as it is, make it the index.final_pipeline, which runs after "
            f"the one that signs, and clear {DEFAULT_PIPELINE}; else keep it, and sign by "
            f"`nearfold index {place.url} --store {place.url}` from time to time"
        )
    _check_field(pieces, index, field)


def _check_pipelines(pieces: Pieces, url: str, recipe: Recipe, field: str) -> None:
    """Raise `StoreError` for a pipeline that a newer nearfold installed."""
    for pipeline in installed.pipelines(recipe, field):
        stored = pieces.stored(pipeline)
        if stored and stored.get("version", 0) > pipeline.body["version"]:
            raise StoreError(
                f"a newer nearfold installed {pipeline.name} at {url}; "
                "upgrade nearfold, or uninstall with it first"
            )


def _check_recipe(stored: Recipe | None, requested: Recipe) -> None:
    """Raise `RecipeMismatch` when another recipe is stored; numbered statistics may be others."""
    if stored and stored.settings_id != requested.settings_id:
        raise RecipeMismatch(
            stored=stored.name,
            requested=requested.name,
            difference=stored.difference(requested),
        )


def _check_source(index: Index) -> None:
    """Raise `PartialSource` for an index that keeps a part of its documents outside `_source`."""
    name, description = index
    if gap := source_gap(description):
        raise PartialSource(index=name, gap=gap)


def _check_room(index: Index, field: str) -> None:
    """Raise `UsageError` for an index that may not have as many fields as nearfold adds."""
    name, description = index
    mapping = description.get("mappings", {})
    settings = description.get("settings", {}).get("index", {}).get("mapping", {})
    limit = int(settings.get("total_fields", {}).get("limit", _FIELDS))
    missing = installed.near_fields(field).keys() - mapping.get("properties", {}).keys()
    needed = count_fields(mapping) + len(missing)
    if missing and needed > limit:
        raise UsageError(
            f"index {name} may have {limit} fields (index.mapping.total_fields.limit), and needs "
            f"{needed} with the {len(missing)} that nearfold adds; raise that setting of the "
            "index, then run again"
        )


def _check_field(pieces: Pieces, index: Index, field: str) -> None:
    """Raise `TextFieldMismatch` for another field than the one that was signed.

    A field of which nothing was signed yet may change.
    """
    mapping = index[1].get("mappings", {})
    stored = text_field(mapping)
    if stored is None or stored == field:
        return
    signed = pieces.signed(index[0]) if is_shared(mapping) else None
    if signed != 0:
        raise TextFieldMismatch(index=index[0], stored=stored, requested=field, signed=signed)


def _stored_recipe(index: Index | None, template: Body | None) -> Recipe | None:
    """Return the recipe of the template, or else that of the index."""
    planned = installed.recipe_in(template) if template else None
    return planned or (_recipe(index[1].get("mappings", {})) if index else None)


def _recipe(mapping: Mapping[str, Any]) -> Recipe | None:
    about = mapping.get("_meta", {}).get("nearfold")
    return Recipe(**about["recipe"]) if about else None


def put_next_pipeline(
    pieces: Pieces, place: IndexPlace, old: Mapping[str, Any], before: Recipe, after: Recipe
) -> tuple[str | None, list[Change]]:
    """Put the pipelines of the next recipe of an index that signs on arrival; return the name, and
    what changes.

    The name is None where the index itself does not sign. Raises `UsageError` when no pipeline
    computes that recipe.
    """
    name = default_pipeline(old)
    is_signed = installed.signs_by(before, name)
    if not is_signed and not installed.signs_by(before, _pipeline_in(pieces.template(place))):
        return None, []
    if unsupported := painless.unsupported_settings(after):
        raise UsageError(
            f"{place.index} signs what clients send, and no ingest pipeline can compute recipe "
            f"{after.name} ({unsupported}); run `nearfold uninstall --store {place.url}` first, "
            "and send documents by `nearfold index` from then on"
        )
    field = text_field(old["mappings"]) or TEXT
    component = pieces.put(installed.component_template(after, field))
    signing = pieces.put_pipeline(installed.signing_pipeline(after, field))
    attachment = installed.attachment_pipeline(after, field)
    changes = [component, signing, pieces.put_attachment_pipeline(attachment, signing)]
    if not is_signed:
        return None, changes
    for_files, for_texts = installed.pipeline_names(after, field)
    is_of_files = name == installed.pipeline_names(before, field)[0]
    return (for_files if is_of_files else for_texts), changes


def _pipeline_in(template: Body | None) -> str | None:
    """Return the pipeline that an index template names."""
    return default_pipeline((template or {}).get("template", {}))


def update_template(
    pieces: Pieces, place: IndexPlace, dialect: Dialect, before: Recipe, after: Recipe
) -> list[Change]:
    """Update the template of an index whose recipe changes, and remove pieces without a user.

    Return what changes.
    """
    template, index = pieces.template(place), pieces.index(place)
    pipeline = default_pipeline(index[1]) if index else None
    is_signed = any(installed.signs_by(recipe, pipeline) for recipe in (before, after))
    if template is None and not is_signed:
        return []
    field = _known_field(index, template) or TEXT
    changes = []
    if template is not None:
        signs = installed.signs_by(before, _pipeline_in(template))
        changes.append(pieces.put_template(place, dialect, after, signs, field))
    return [*changes, *pieces.remove_unused(place, before, field)]


def index_at(requests: Requests, place: IndexPlace) -> Index | None:
    """Return the own name and the description of the index of a URL; None where there is none."""
    return Pieces(requests, dry_run=True).index(place)


def adopt(
    requests: Requests, place: IndexPlace, dialect: Dialect, recipe: Recipe, field: str
) -> None:
    """Add the `near_*` fields, recipe, field of texts and write alias to another program's index.

    It gets no pipeline; one of ours that signs another field is replaced by that for this field.
    Raises `IndexMissing`, `RecipeMismatch`, `UsageError` for a field that is not there,
    `TextFieldMismatch` where texts of another one were signed, `MappingMismatch` where `near_*`
    fields are mapped in another way, and `PartialSource`.
    """
    pieces = Pieces(requests, dry_run=False)
    index = pieces.index(place)
    if index is None:
        raise IndexMissing(place.url)
    mapping = index[1].get("mappings", {})
    _check_recipe(_recipe(mapping), recipe)
    if problems := installed.field_problems(mapping):
        raise MappingMismatch(index=place.index, problems=problems)
    pieces.check_alias(place, index)
    _check_source(index)
    _check_room(index, field)
    _check_field(pieces, index, field)
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
        pieces.adopt(place, recipe, index, signs=False, field=field)
