"""The assets of an installation, as bodies that a cluster stores; pure.

They are a component template with the `near_*` fields, an ingest pipeline that fingerprints and one
that first extracts files, stored scripts that score by sketch, a search pipeline that folds where
the engine has search pipelines, and an index template that applies them to one index. A name
contains the versioned recipe, and the field of texts unless it is `text`; an asset that no recipe
changes has a version of its own.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import Template
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from indexer import mappings
from indexer.recipe import DEFAULT, Recipe
from indexer.stores.engine import index_mapping, ingest_pipeline
from indexer.stores.engine.index_mapping import WRITE_ALIAS, write_alias_of
from indexer.stores.engine.ingest_pipeline import TEXT, TEXT_FIELD
from indexer.stores.engine.search_bodies import Body
from indexer.stores.maintenance import Layout

# The ingest pipeline for files: the attachment processor extracts the text, then it is
# fingerprinted.

VERSION = 7
FIELD = "data"
_READ = "near_attachment"


def pipeline(
    fingerprinting: str, recipe: Recipe = DEFAULT, field: str = ingest_pipeline.TEXT
) -> Body:
    """Return the body of the pipeline that extracts the base64 file in `data`.

    It then passes the document to the pipeline `fingerprinting`.

    The first `MAX_UNITS` UTF-16 units of the text become `field`, and one that is longer
    `truncated`; to know it, one unit more is read. A file that the processor refuses is marked
    `unsigned`. `data` is removed last, so that two documents without text and without ids are
    distinguished by it.
    """
    read = {
        "field": FIELD,
        "target_field": _READ,
        "indexed_chars": ingest_pipeline.MAX_UNITS + 1,
        "properties": ["content", "title", "content_type", "content_length"],
        "ignore_missing": True,
    }
    take = Template(mappings.read("attachment.painless")).substitute(
        limit=ingest_pipeline.MAX_UNITS
    )
    clean = {"remove": {"field": [FIELD, _READ], "ignore_missing": True}}
    return {
        "description": (
            f"nearfold {recipe.name} ({recipe.id}), version {VERSION}: "
            f"text and keys of the file in `{FIELD}`"
        ),
        "version": VERSION,
        "processors": [
            {"attachment": read},
            ingest_pipeline.script(take, {"field": field}),
            {"pipeline": {"name": fingerprinting}},
            clean,
        ],
        "on_failure": [*ingest_pipeline.mark_unsigned(recipe, field), clean],
    }


# Changes of others to the pipelines that nearfold put into an engine.

FILES = "nearfold-attachment-"
_DIGEST = re.compile(r" \(digest ([0-9a-f]{16})\)$")
# the types of the processors of each pipeline, the one for files among ingest pipelines
_TYPES: Mapping[str, tuple[str, ...]] = {
    "ingest pipeline": ("script",),
    "files": ("attachment", "script", "pipeline", "remove"),
    "search pipeline": ("oversample", "rename_field", "collapse", "truncate_hits"),
}


def with_digest(pipeline: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of a pipeline whose description ends with the digest of the rest."""
    description = f"{pipeline['description']} (digest {_pipeline_changes_digest(pipeline)})"
    return {**pipeline, "description": description}


def is_changed(stored: Mapping[str, Any]) -> bool:
    """Return whether somebody changed a pipeline since nearfold put it there; False for one of an
    earlier nearfold, which wrote no digest.

    >>> ours = with_digest({"description": "nearfold", "processors": [{"script": {}}]})
    >>> is_changed(ours), is_changed({**ours, "processors": []})
    (False, True)
    """
    digest = _DIGEST.search(str(stored.get("description", "")))
    return digest is not None and digest[1] != _pipeline_changes_digest(stored)


def _pipeline_changes_digest(pipeline: Mapping[str, Any]) -> str:
    """Return a digest of what a pipeline does; engines add fields of their own, such as dates."""
    parts = {
        name: value
        for name, value in pipeline.items()
        if name.endswith("processors") or name in ("on_failure", "version")
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def added_processors(kind: str, name: str, stored: Mapping[str, Any]) -> list[str]:
    """Return the types of processors that somebody added to a stored pipeline, sorted; empty for
    another asset.

    Every version of nearfold put processors of the same types; those that run after a failure are
    not distinguished.

    >>> stored = {"processors": [{"set": {}}, {"script": {}}, {"script": {}}]}
    >>> added_processors("ingest pipeline", "nearfold-default_v2", stored)
    ['script', 'set']
    """
    types = _TYPES.get("files" if name.startswith(FILES) else kind)
    if types is None:
        return []
    processors = [
        processor
        for part, value in stored.items()
        if part.endswith("processors")
        for processor in value
    ]
    added = Counter(type for processor in processors for type in processor) - Counter(types)
    return sorted(added.elements())


Kind: TypeAlias = Literal[
    "component template", "ingest pipeline", "search pipeline", "stored script", "index template"
]
PATHS: dict[Kind, str] = {
    "component template": "_component_template",
    "ingest pipeline": "_ingest/pipeline",
    "search pipeline": "_search/pipeline",
    "stored script": "_scripts",
    "index template": "_index_template",
}
FOLD = "nearfold-fold-v1"
MINHASH_SCORE = "nearfold-minhash-v1"
MINHASH8_SCORE = "nearfold-minhash8-v1"  # slots of one byte
SIMHASH_SCORE = "nearfold-simhash-v1"
BITS_SCORE = "nearfold-bits-v1"  # more than 64 bits
_SCORES = {
    MINHASH_SCORE: "score-minhash.painless",
    MINHASH8_SCORE: "score-minhash8.painless",
    SIMHASH_SCORE: "score-simhash.painless",
    BITS_SCORE: "score-bits.painless",
}
PRIORITY = 0  # below any other: a template of others counts, and nearfold says that it does
_SAFE = re.compile("[a-z0-9._-]{1,60}")
_TEXT_MAPPING = {TEXT_FIELD: {"type": "keyword", "index": False, "doc_values": False}}
OVERSAMPLE = 3


@dataclass(frozen=True, slots=True)
class Asset:
    """One object that a cluster stores under a name of nearfold's."""

    kind: Kind
    name: str
    body: Body

    @property
    def path(self) -> str:
        """Return the path of the asset in the engine's API."""
        return f"{PATHS[self.kind]}/{self.name}"


def shared_name(recipe: Recipe, field: str = TEXT) -> str:
    """Return the name of a recipe's component template and ingest pipeline for a field of texts.

    >>> from indexer.recipe import DEFAULT
    >>> shared_name(DEFAULT), shared_name(DEFAULT, "body"), shared_name(DEFAULT, "pageBody")
    ('nearfold-default_v3', 'nearfold-default_v3-body', 'nearfold-default_v3-pagebody-ccdc9278')
    """
    return f"nearfold-{recipe.name}{_suffix(field)}"


def _suffix(field: str) -> str:
    """Return the part of a name for a field of texts; some engine names must be in lower case."""
    if field == TEXT:
        return ""
    if _SAFE.fullmatch(field):
        return f"-{field}"
    plain = re.sub("[^a-z0-9._-]", "-", field.lower())[:40]
    digest = hashlib.sha256(field.encode()).hexdigest()[:8]
    return f"-{plain}-{digest}"


def component_template(recipe: Recipe, field: str = TEXT) -> Asset:
    """Return the component template with the `near_*` fields and the `_meta` of a mapping."""
    mapping = {"_meta": meta(recipe, field), "properties": near_fields(field)}
    body = {"template": {"mappings": mapping}, "version": index_mapping.FORMAT}
    return Asset("component template", shared_name(recipe, field), _with_digest(body, recipe))


def fingerprint_pipeline(recipe: Recipe, field: str = TEXT) -> Asset:
    """Return the ingest pipeline. Raises `UsageError` for a recipe that no pipeline computes."""
    body = with_digest(ingest_pipeline.pipeline(recipe, field))
    return Asset("ingest pipeline", shared_name(recipe, field), body)


def attachment_pipeline(recipe: Recipe, field: str = TEXT) -> Asset:
    """Return the ingest pipeline that extracts a file, then fingerprints its text.

    The engine needs an attachment processor.
    """
    body = with_digest(pipeline(shared_name(recipe, field), recipe, field))
    return Asset("ingest pipeline", _attachment_name(recipe, field), body)


def _attachment_name(recipe: Recipe, field: str) -> str:
    return f"{FILES}{recipe.name}{_suffix(field)}"


def assets_of(recipe: Recipe, index: str, field: str, search_pipelines: bool) -> list[Asset]:
    """Return all assets of an installation, the index template without a body."""
    return [
        component_template(recipe, field),
        attachment_pipeline(recipe, field),
        fingerprint_pipeline(recipe, field),
        *score_scripts(),
        *([fold_pipeline()] if search_pipelines else []),
        index_template_asset(index),
    ]


def index_template_asset(index: str) -> Asset:
    """Return the index template of one index, without a body."""
    return Asset("index template", f"nearfold-{index}", {})


def recipe_assets(recipe: Recipe, field: str = TEXT) -> tuple[Asset, ...]:
    """Return the assets of a recipe without bodies, in the order in which they may be removed."""
    shared = shared_name(recipe, field)
    return (
        Asset("ingest pipeline", _attachment_name(recipe, field), {}),
        Asset("ingest pipeline", shared, {}),
        Asset("component template", shared, {}),
    )


def pipeline_names(recipe: Recipe, field: str = TEXT) -> tuple[str, str]:
    """Return the names of the pipeline for files and of the one that fingerprints texts."""
    return _attachment_name(recipe, field), shared_name(recipe, field)


def fingerprints_by(recipe: Recipe, pipeline: str | None) -> bool:
    """Return whether a pipeline of this name fingerprints any field by the recipe."""
    if pipeline is None:
        return False
    names = pipeline_names(recipe)
    return pipeline in names or pipeline.startswith(tuple(f"{name}-" for name in names))


def is_ours(pipeline: str | None) -> bool:
    """Return whether an ingest pipeline of this name is one of nearfold's, of any recipe."""
    return pipeline is not None and pipeline.startswith("nearfold-")


def fold_pipeline() -> Asset:
    """Return the search pipeline that folds hits.

    It requests `OVERSAMPLE` times as many hits, keeps the best of each family, and cuts the result
    to the number requested. The engine's processor makes one family of all hits whose family it
    cannot see, so a request that leaves the field out is refused: only `rename_field` looks for it.
    Hits that are collapsed already, or one of which has no family in its doc values, stay as they
    are.
    """
    present = {"field": "near_family", "target_field": "near_family"}
    body: Body = {
        "description": "nearfold: one hit a family",
        "request_processors": [{"oversample": {"sample_factor": OVERSAMPLE}}],
        "response_processors": [
            {"rename_field": present},
            {"collapse": {"field": "near_family", "ignore_failure": True}},
            {"truncate_hits": {}},
        ],
    }
    return Asset("search pipeline", FOLD, with_digest(body))


def score_scripts() -> list[Asset]:
    """Return scripts that score by the fraction of equal slots, and by 1 - distance / bits."""
    assets = []
    for name, file in _SCORES.items():
        script = {"lang": "painless", "source": mappings.read(file)}
        assets.append(Asset("stored script", name, {"script": script}))
    return assets


def index_template(
    recipe: Recipe,
    index: str,
    own: Body,
    has_pipeline: bool,
    field: str = TEXT,
    layout: Layout = "pipeline",
) -> Asset:
    """Return the index template of one index; with the plugin's layout it is made of no other.

    `own` is the body with which nearfold itself would create it (`index_body.new_index`). Other
    programs may send fields of their own. Without `has_pipeline` the template names no pipeline,
    since an engine refuses documents for a pipeline that it lacks.
    """
    settings = {**own["settings"], "index": dict(own["settings"]["index"])}
    if has_pipeline:
        settings["index"]["default_pipeline"] = shared_name(recipe, field)
    properties = own["mappings"]["properties"]
    is_whole = layout == "plugin"
    plain = {
        name: properties[name] for name in properties if is_whole or not name.startswith("near_")
    }
    plain[field] = plain[TEXT]
    metadata = own["mappings"]["_meta"]["nearfold"]
    alias = write_alias_of(index)
    ours = {**metadata, "shared": True, WRITE_ALIAS: alias, **_text_setting(field)}
    meta = {"nearfold": ours}
    body = {
        "index_patterns": [index],
        "composed_of": [] if is_whole else [shared_name(recipe, field)],
        "priority": PRIORITY,
        "version": index_mapping.FORMAT,
        "template": {
            "settings": settings,
            "mappings": {"dynamic": True, "_meta": meta, "properties": plain},
            "aliases": {alias: {}},
        },
    }
    marked = _with_digest(body, recipe)
    if is_whole:
        marked["_meta"]["nearfold"]["layout"] = layout
    return replace(index_template_asset(index), body=marked)


def near_fields(field: str = TEXT, layout: Layout = "pipeline") -> Body:
    """Return the mapping of every `near_*` field in an index whose texts are in `field`."""
    near_properties = {
        name: mapping
        for name, mapping in index_mapping.fields_of(layout).items()
        if name.startswith("near_")
    }
    is_named = field == TEXT or layout == "plugin"
    return near_properties if is_named else {**near_properties, **_TEXT_MAPPING}


def meta(
    recipe: Recipe,
    field: str = TEXT,
    present: Mapping[str, Any] = MappingProxyType({}),
    alias: str | None = None,
) -> Body:
    """Return the `_meta` of a mapping that other programs share.

    Fields in `present`, the present one, stay but for the field of texts. `alias`: the one for
    writes, where nearfold makes it now.
    """
    default = {
        "format": index_mapping.FORMAT,
        "recipe_id": recipe.id,
        "recipe": recipe.settings,
        "shared": True,
    }
    ours = {**present.get("nearfold", default), index_mapping.CLIENTS: True}
    ours.pop("text_field", None)
    own_alias = {} if alias is None else {WRITE_ALIAS: alias}
    return {**present, "nearfold": {**ours, **_text_setting(field), **own_alias}}


def _text_setting(field: str) -> Body:
    return {} if field == TEXT else {"text_field": field}


def _with_digest(body: Body, recipe: Recipe) -> Body:
    """Return the body with `_meta`: its recipe and a digest.

    An engine returns templates in another form, so that only the digest can be compared.
    """
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]
    return {**body, "_meta": {"nearfold": {"recipe": recipe.settings, "digest": digest}}}


def body_in(asset: Asset, response: Mapping[str, Any]) -> Body | None:
    """Return the body of an asset in an engine's response; None when the asset is not in it."""
    if asset.kind == "stored script":
        return {"script": response["script"]} if response.get("_id") == asset.name else None
    if "template" not in asset.kind:
        return response.get(asset.name)
    field = asset.kind.replace(" ", "_")
    for template in response.get(f"{field}s", []):
        if template["name"] == asset.name:
            body: Body = template[field]
            return body
    return None


def is_marked(asset: Asset, stored: Mapping[str, Any]) -> bool:
    """Return whether a stored body is one of nearfold's, of any version: templates say so in
    `_meta`, pipelines in their description; a script, whose name has its version, is the same.
    """
    if "template" in asset.kind:
        return bool(_meta_of(stored))
    if asset.kind == "stored script":
        return is_same(asset, stored)
    return str(stored.get("description", "")).startswith("nearfold")


def is_same(asset: Asset, stored: Mapping[str, Any]) -> bool:
    """Return whether a stored body equals the asset, apart from fields that the engine adds."""
    if "template" in asset.kind:
        return _digest(asset.body) == _digest(stored)
    return all(stored.get(name) == value for name, value in asset.body.items())


def _digest(body: Mapping[str, Any]) -> str | None:
    digest: str | None = _meta_of(body).get("digest")
    return digest


def _meta_of(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what nearfold wrote into the `_meta` of a template; empty in templates of others."""
    meta = body.get("_meta")
    own = meta.get("nearfold") if isinstance(meta, Mapping) else None
    return own if isinstance(own, Mapping) else {}


def recipe_in(template: Mapping[str, Any]) -> Recipe | None:
    """Return the recipe in the `_meta` of one of our templates."""
    settings = _meta_of(template).get("recipe")
    return Recipe(**settings) if settings else None


def layout_in(template: Mapping[str, Any]) -> Layout:
    """Return the layout of the indices that one of our templates makes."""
    layout: Layout = _meta_of(template).get("layout", "pipeline")
    return layout


def field_problems(mapping: Mapping[str, Any], layout: Layout = "pipeline") -> tuple[str, ...]:
    """Return one sentence for each `near_*` field that an index maps otherwise."""
    expected = near_fields(layout=layout)
    return tuple(index_mapping.field_differences(mapping.get("properties", {}), expected))
