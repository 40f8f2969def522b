"""Installing into an engine, by what is there already. What the pieces are:
`indexer.stores.engine.installation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indexer.errors import (
    MappingMismatch,
    RecipeMismatch,
    StoreError,
    TextFieldMismatch,
    UsageError,
)
from indexer.recipe import Recipe
from indexer.stores.engine import installation as installed
from indexer.stores.engine import painless
from indexer.stores.engine.bodies import Body
from indexer.stores.engine.index import Dialect, IndexPlace, Requests
from indexer.stores.engine.installation import Piece
from indexer.stores.engine.link import IndexMissing
from indexer.stores.engine.mapping_facts import is_shared, may_hold, text_field
from indexer.stores.engine.painless import TEXT
from indexer.stores.engine.pieces import DEFAULT_PIPELINE, Index, Pieces, default_pipeline
from indexer.stores.maintenance import Change

_SHOWN = 12


def install(
    requests: Requests,
    place: IndexPlace,
    dialect: Dialect,
    recipe: Recipe,
    dry_run: bool,
    text_field: str | None = None,
) -> list[Change]:
    """The template comes after what it names, and the index that exists last. Nothing is written
    before all is checked.
    """
    pieces = Pieces(requests, dry_run)
    index, template = pieces.index(place), pieces.template(place)
    known = _known_field(index, template)
    field = text_field or known or TEXT
    _check(pieces, requests.url, place, recipe, field, index, template)
    component = pieces.put(installed.component_template(recipe, field))
    signing = pieces.put_pipeline(installed.signing_pipeline(recipe, field))
    signs = signing.action != "impossible"
    changes = [
        component,
        signing,
        pieces.put_attaching(installed.attachment_pipeline(recipe, field), signing),
    ]
    changes += [pieces.put_script(script, signing) for script in installed.score_scripts()]
    if dialect.search_pipelines:
        changes.append(pieces.put(installed.fold_pipeline()))
    changes.append(pieces.put_template(place, dialect, recipe, signs, field))
    if index is not None:
        changes.append(pieces.adopt(place, recipe, index, signs, field))
    if known is not None and known != field:
        changes += pieces.remove_unused(place, recipe, known)
    return changes


def uninstall(
    requests: Requests, place: IndexPlace, dialect: Dialect, recipe: Recipe, dry_run: bool
) -> list[Change]:
    """First the index lets go of the pipeline, then its template goes, then what no other index
    needs.
    """
    pieces = Pieces(requests, dry_run)
    index, template = pieces.index(place), pieces.template(place)
    recipe = (template and installed.recipe_in(template)) or recipe
    changes = [] if index is None else pieces.release(place, recipe, index)
    changes += pieces.remove(Piece("index template", f"nearfold-{place.index}", {}), "")
    changes += pieces.remove_unused(place, recipe, _known_field(index, template) or TEXT)
    for piece in installed.score_scripts() + (
        [installed.fold_pipeline()] if dialect.search_pipelines else []
    ):
        changes += pieces.remove(piece, pieces.templates(place))
    return changes


def _known_field(index: Index | None, template: Body | None) -> str | None:
    """The field whose texts are signed so far, as the index tells, or the template of one that is
    still to come.
    """
    if index and (field := text_field(index[1].get("mappings", {}))):
        return field
    return text_field(template.get("template", {}).get("mappings", {})) if template else None


def _check(
    pieces: Pieces,
    url: str,
    place: IndexPlace,
    recipe: Recipe,
    field: str,
    index: Index | None,
    template: Body | None,
) -> None:
    """Refuse what would mix recipes or fields, take the place of another pipeline, or undo what a
    newer nearfold installed.
    """
    known = installed.recipe_in(template) if template else None
    mapping = index[1].get("mappings", {}) if index else {}
    for stored in (known, _recipe(mapping)):
        if stored and stored.id != recipe.id:
            raise RecipeMismatch(
                stored=stored.name, requested=recipe.name, difference=stored.difference(recipe)
            )
    for pipeline in installed.pipelines(recipe, field):
        there = pieces.found(pipeline)
        if there and there.get("version", 0) > pipeline.body["version"]:
            raise StoreError(
                f"a newer nearfold installed {pipeline.name} at {url}; "
                "upgrade nearfold, or uninstall with it first"
            )
    if problems := installed.field_problems(mapping):
        raise MappingMismatch(index=place.index, problems=problems)
    if rivals := pieces.rivals(place):
        raise StoreError(
            f"index template {', '.join(rivals)} takes {place.index} too, at the same priority "
            f"{installed.PRIORITY}, which an engine refuses; "
            "give it another priority or other patterns, then install again"
        )
    if (
        index
        and (other := default_pipeline(index[1])) not in (None, "_none")
        and not installed.signs_by(recipe, other)
    ):
        raise StoreError(
            f"index {place.index} has the default pipeline {other}; let that pipeline call "
            f"{installed.shared_name(recipe, field)} by a `pipeline` processor and clear "
            f"{DEFAULT_PIPELINE}, or give --store another index"
        )
    if index:
        _check_field(pieces, index, field)


def _check_field(pieces: Pieces, index: Index, field: str) -> None:
    """Refuse another field of texts than the one that was signed; one that was only named so far
    may change.
    """
    mapping = index[1].get("mappings", {})
    stored = text_field(mapping)
    if stored is None or stored == field:
        return
    signed = pieces.signed(index[0]) if is_shared(mapping) else None
    if signed != 0:
        raise TextFieldMismatch(index=index[0], stored=stored, requested=field, signed=signed)


def _recipe(mapping: Mapping[str, Any]) -> Recipe | None:
    about = mapping.get("_meta", {}).get("nearfold")
    return Recipe(**about["recipe"]) if about else None


def put_next_pipeline(
    requests: Requests, place: IndexPlace, old: Mapping[str, Any], before: Recipe, after: Recipe
) -> str | None:
    """Where an index signs on arrival: put what signs by its next recipe, and return the name; None
    where it does not sign.

    Raises `UsageError` when no pipeline computes that recipe.
    """
    pieces = Pieces(requests, dry_run=False)
    name = default_pipeline(old)
    if not installed.signs_by(before, name) and not installed.signs_by(
        before, _of_template(pieces.template(place))
    ):
        return None
    if strange := painless.unsupported_settings(after):
        raise UsageError(
            f"{place.index} signs what clients send, and no ingest pipeline can compute recipe "
            f"{after.name} ({strange}); run `nearfold uninstall --store {place.url}` first, "
            "and send documents by `nearfold index` from then on"
        )
    field = text_field(old["mappings"]) or TEXT
    pieces.put(installed.component_template(after, field))
    signing = pieces.put_pipeline(installed.signing_pipeline(after, field))
    pieces.put_attaching(installed.attachment_pipeline(after, field), signing)
    reads_files = name == installed.pipeline_names(before, field)[0]
    return (
        installed.pipeline_names(after, field)[0 if reads_files else 1]
        if installed.signs_by(before, name)
        else None
    )


def _of_template(template: Body | None) -> str | None:
    """The pipeline that an index template names."""
    return default_pipeline((template or {}).get("template", {}))


def update_template(
    requests: Requests, place: IndexPlace, dialect: Dialect, before: Recipe, after: Recipe
) -> None:
    """After an index changed its recipe: its template follows, and what nobody uses any more
    goes.
    """
    pieces = Pieces(requests, dry_run=False)
    template = pieces.template(place)
    if template is None:
        return
    field = _known_field(pieces.index(place), template) or TEXT
    pieces.put_template(
        place, dialect, after, installed.signs_by(before, _of_template(template)), field
    )
    pieces.remove_unused(place, before, field)


def index_at(requests: Requests, place: IndexPlace) -> Index | None:
    """The index of a URL by its own name, and what it is, whoever made it; None where there is
    none.
    """
    return Pieces(requests, dry_run=True).index(place)


def adopt(
    requests: Requests, place: IndexPlace, dialect: Dialect, recipe: Recipe, field: str
) -> None:
    """Give an index of somebody else the `near_*` fields, the recipe, where texts are, and the
    alias for writes.

    It gets no pipeline; one of ours that signs another field gives way to the one for this field.
    Raises `IndexMissing`, `RecipeMismatch`, `UsageError` for a field that is not there,
    `TextFieldMismatch` where texts of another one were signed, and `MappingMismatch` where `near_*`
    fields are mapped in another way.
    """
    pieces = Pieces(requests, dry_run=False)
    index = pieces.index(place)
    if index is None:
        raise IndexMissing(place.url)
    mapping = index[1].get("mappings", {})
    if (stored := _recipe(mapping)) and stored.id != recipe.id:
        raise RecipeMismatch(
            stored=stored.name, requested=recipe.name, difference=stored.difference(recipe)
        )
    if problems := installed.field_problems(mapping):
        raise MappingMismatch(index=place.index, problems=problems)
    _check_field(pieces, index, field)
    if not may_hold(mapping, field):
        there = [name for name in sorted(mapping["properties"]) if not name.startswith("near_")]
        shown = ", ".join([*there[:_SHOWN], *(["..."] if len(there) > _SHOWN else [])])
        raise UsageError(
            f"index {place.index} has no field {field} (it has: {shown}); "
            "name the field by --text-field"
        )
    pipeline = default_pipeline(index[1])
    if installed.signs_by(recipe, pipeline) and pipeline not in installed.pipeline_names(
        recipe, field
    ):
        install(requests, place, dialect, recipe, dry_run=False, text_field=field)
    else:
        pieces.adopt(place, recipe, index, signs=False, field=field)
