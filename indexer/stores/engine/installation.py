"""What an installation consists of: the pieces that a cluster keeps, as bodies that need no server.

A component template with the `near_*` fields, an ingest pipeline that signs and one that reads
files before, stored scripts that score by sketch, a search pipeline that folds where the engine has
search pipelines, and an index template that applies them to one index. Names carry the versioned
recipe, and the field of texts where that is not `text`, or a version of their own where no recipe
matters.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from indexer import mappings
from indexer.recipe import Recipe
from indexer.stores.engine import attachments, bodies, painless
from indexer.stores.engine.bodies import Body
from indexer.stores.engine.painless import TEXT, TEXT_FIELD

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
MINHASH_SCORE, SIMHASH_SCORE = "nearfold-minhash-v1", "nearfold-simhash-v1"
_SCORES = {MINHASH_SCORE: "score-minhash.painless", SIMHASH_SCORE: "score-simhash.painless"}
PRIORITY = 500
_SAFE = re.compile("[a-z0-9._-]{1,60}")
_TEXT_MAPPING = {TEXT_FIELD: {"type": "keyword", "index": False, "doc_values": False}}
OVERSAMPLE = 3


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing that a cluster keeps under a name of ours."""

    kind: Kind
    name: str
    body: Body

    @property
    def path(self) -> str:
        """Where an engine keeps it."""
        return f"{PATHS[self.kind]}/{self.name}"


def shared_name(recipe: Recipe, field: str = TEXT) -> str:
    """The name of the component template and of the ingest pipeline of a recipe, for texts in this
    field.

    >>> from indexer.recipe import DEFAULT
    >>> shared_name(DEFAULT), shared_name(DEFAULT, "body"), shared_name(DEFAULT, "pageBody")
    ('nearfold-default_v1', 'nearfold-default_v1-body', 'nearfold-default_v1-pagebody-ccdc9278')
    """
    return f"nearfold-{recipe.name}{_suffix(field)}"


def _suffix(field: str) -> str:
    """What tells the pieces of one field of texts from those of another; engines want lower case in
    some names.
    """
    if field == TEXT:
        return ""
    plain = re.sub("[^a-z0-9._-]", "-", field.lower())[:40]
    return (
        f"-{field}"
        if _SAFE.fullmatch(field)
        else f"-{plain}-{hashlib.sha256(field.encode()).hexdigest()[:8]}"
    )


def component_template(recipe: Recipe, field: str = TEXT) -> Piece:
    """The `near_*` fields and nothing else, and `_meta` that says what is in them."""
    mapping = {"_meta": meta(recipe, field), "properties": near_fields(field)}
    body = {"template": {"mappings": mapping}, "version": bodies.FORMAT}
    return Piece("component template", shared_name(recipe, field), _named(body, recipe))


def signing_pipeline(recipe: Recipe, field: str = TEXT) -> Piece:
    """The ingest pipeline. Raises `UsageError` for a recipe that no pipeline computes."""
    return Piece("ingest pipeline", shared_name(recipe, field), painless.pipeline(recipe, field))


def attachment_pipeline(recipe: Recipe, field: str = TEXT) -> Piece:
    """The ingest pipeline that reads files before it signs, for engines with an attachment
    processor.
    """
    name, calls = _attaching_name(recipe, field), shared_name(recipe, field)
    return Piece("ingest pipeline", name, attachments.pipeline(calls, recipe, field))


def _attaching_name(recipe: Recipe, field: str) -> str:
    return f"nearfold-attachment-{recipe.name}{_suffix(field)}"


def pipelines(recipe: Recipe, field: str = TEXT) -> tuple[Piece, Piece]:
    """The one for files first: it calls the other."""
    return attachment_pipeline(recipe, field), signing_pipeline(recipe, field)


def recipe_pieces(recipe: Recipe, field: str = TEXT) -> tuple[Piece, ...]:
    """The pieces that carry the recipe, in the order in which they may be removed, by name
    alone.
    """
    shared = shared_name(recipe, field)
    return (
        Piece("ingest pipeline", _attaching_name(recipe, field), {}),
        Piece("ingest pipeline", shared, {}),
        Piece("component template", shared, {}),
    )


def pipeline_names(recipe: Recipe, field: str = TEXT) -> tuple[str, str]:
    """The pipelines that an index may have as its default: the one for files, and the one that
    signs.
    """
    return _attaching_name(recipe, field), shared_name(recipe, field)


def signs_by(recipe: Recipe, pipeline: str | None) -> bool:
    """Whether a pipeline of this name is ours for the recipe, whatever field it signs."""
    names = pipeline_names(recipe)
    return pipeline is not None and (
        pipeline in names or pipeline.startswith(tuple(f"{name}-" for name in names))
    )


def fold_pipeline() -> Piece:
    """The search pipeline: asks for three times as many hits, keeps the best of each family, and
    cuts to what was asked.
    """
    return Piece(
        "search pipeline",
        FOLD,
        {
            "description": "nearfold: one hit a family",
            "request_processors": [{"oversample": {"sample_factor": OVERSAMPLE}}],
            "response_processors": [{"collapse": {"field": "near_family"}}, {"truncate_hits": {}}],
        },
    )


def score_scripts() -> list[Piece]:
    """The scripts that score documents by their sketches: the share of equal slots, and 1 -
    distance / bits.
    """
    sources = {
        name: {"lang": "painless", "source": mappings.read(file)} for name, file in _SCORES.items()
    }
    return [Piece("stored script", name, {"script": script}) for name, script in sources.items()]


def index_template(recipe: Recipe, index: str, made: Body, signs: bool, field: str = TEXT) -> Piece:
    """The index template of one index. `made` is the body that nearfold itself would create it with
    (`bodies.index`).

    Other programs may send fields of their own. Without `signs` no pipeline is named: an engine
    refuses documents for a pipeline that it lacks.
    """
    settings = {**made["settings"], "index": dict(made["settings"]["index"])}
    if signs:
        settings["index"]["default_pipeline"] = shared_name(recipe, field)
    plain = {
        name: field
        for name, field in made["mappings"]["properties"].items()
        if not name.startswith("near_")
    }
    plain = {**plain, field: plain[TEXT]}
    about = {"nearfold": {**made["mappings"]["_meta"]["nearfold"], "shared": True, **_texts(field)}}
    body = {
        "index_patterns": [index],
        "composed_of": [shared_name(recipe, field)],
        "priority": PRIORITY,
        "version": bodies.FORMAT,
        "template": {
            "settings": settings,
            "mappings": {"dynamic": True, "_meta": about, "properties": plain},
            "aliases": {f"{index}-write": {}},
        },
    }
    return Piece("index template", f"nearfold-{index}", _named(body, recipe))


def near_fields(field: str = TEXT) -> Body:
    """The mapping of every `near_*` field in an index whose texts are in `field`."""
    properties: Body = mappings.load("index.json")["mappings"]["properties"]
    near = {name: mapping for name, mapping in properties.items() if name.startswith("near_")}
    return near if field == TEXT else {**near, **_TEXT_MAPPING}


def meta(
    recipe: Recipe, field: str = TEXT, known: Mapping[str, Any] = MappingProxyType({})
) -> Body:
    """The `_meta` of a mapping that other programs share; what is `known` there stays, but for the
    field of texts.
    """
    about = {
        "format": bodies.FORMAT,
        "recipe_id": recipe.id,
        "recipe": recipe.settings,
        "shared": True,
    }
    kept = {
        name: value for name, value in known.get("nearfold", about).items() if name != "text_field"
    }
    return {**known, "nearfold": {**kept, **_texts(field)}}


def _texts(field: str) -> Body:
    return {} if field == TEXT else {"text_field": field}


def _named(body: Body, recipe: Recipe) -> Body:
    """The body with `_meta`: its recipe, and a digest, because an engine gives templates back in
    another spelling.
    """
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]
    return {**body, "_meta": {"nearfold": {"recipe": recipe.settings, "digest": digest}}}


def body_in(piece: Piece, answer: Mapping[str, Any]) -> Body | None:
    """The body inside an engine's answer about this piece; None when the piece is not in it."""
    if piece.kind == "stored script":
        return {"script": answer["script"]} if answer.get("_id") == piece.name else None
    if "template" not in piece.kind:
        return answer.get(piece.name)
    field = piece.kind.replace(" ", "_")
    for template in answer.get(f"{field}s", []):
        if template["name"] == piece.name:
            body: Body = template[field]
            return body
    return None


def is_same(piece: Piece, found: Mapping[str, Any]) -> bool:
    """Whether an engine keeps this very piece; fields that the engine adds do not count."""
    if "template" in piece.kind:
        return _digest(piece.body) == _digest(found)
    return all(found.get(name) == value for name, value in piece.body.items())


def _digest(body: Mapping[str, Any]) -> str | None:
    known: str | None = body.get("_meta", {}).get("nearfold", {}).get("digest")
    return known


def recipe_in(found: Mapping[str, Any]) -> Recipe | None:
    """The recipe that a template of ours was installed with."""
    known = found.get("_meta", {}).get("nearfold", {}).get("recipe")
    return Recipe(**known) if known else None


def field_problems(mapping: Mapping[str, Any]) -> tuple[str, ...]:
    """Return one sentence for each `near_*` field that an index maps otherwise."""
    return tuple(bodies.field_differences(mapping.get("properties", {}), near_fields()))
