"""What an installation consists of: the pieces that a cluster keeps, as bodies that need no server.

A component template with the `near_*` fields, an ingest pipeline that signs and one that reads files before, stored scripts
that score by sketch, a search pipeline that folds where the engine has search pipelines, and an index template that applies
them to one index. Names carry the versioned recipe, or a version of their own where no recipe matters.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from indexer import mappings
from indexer.recipe import Recipe
from indexer.stores import attachments, bodies, painless
from indexer.stores.bodies import Body

Kind: TypeAlias = Literal["component template", "ingest pipeline", "search pipeline", "stored script", "index template"]
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


def shared_name(recipe: Recipe) -> str:
    """The name of the component template and of the ingest pipeline of a recipe."""
    return f"nearfold-{recipe.name}"


def component(recipe: Recipe) -> Piece:
    """The `near_*` fields and nothing else, and `_meta` that says what is in them."""
    body = {"template": {"mappings": {"_meta": meta(recipe), "properties": near_fields()}}, "version": bodies.FORMAT}
    return Piece("component template", shared_name(recipe), _named(body, recipe))


def signing(recipe: Recipe) -> Piece:
    """The ingest pipeline."""
    return Piece("ingest pipeline", shared_name(recipe), painless.pipeline(recipe))


def attaching(recipe: Recipe) -> Piece:
    """The ingest pipeline that reads files before it signs, for engines with an attachment processor."""
    return Piece("ingest pipeline", f"nearfold-attachment-{recipe.name}", attachments.pipeline(shared_name(recipe), recipe))


def pipelines(recipe: Recipe) -> tuple[Piece, Piece]:
    """The one for files first: it calls the other."""
    return attaching(recipe), signing(recipe)


def folding() -> Piece:
    """The search pipeline: asks for three times as many hits, keeps the best of each family, and cuts to what was asked."""
    return Piece(
        "search pipeline",
        FOLD,
        {
            "description": "nearfold: one hit a family",
            "request_processors": [{"oversample": {"sample_factor": OVERSAMPLE}}],
            "response_processors": [{"collapse": {"field": "near_family"}}, {"truncate_hits": {}}],
        },
    )


def scoring() -> list[Piece]:
    """The scripts that score documents by their sketches: the share of equal slots, and 1 - distance / bits."""
    sources = {name: {"lang": "painless", "source": mappings.read(file)} for name, file in _SCORES.items()}
    return [Piece("stored script", name, {"script": script}) for name, script in sources.items()]


def template(recipe: Recipe, index: str, made: Body, signs: bool) -> Piece:
    """The index template of one index. `made` is the body that nearfold itself would create it with (`bodies.index`).

    Other programs may send fields of their own. Without `signs` no pipeline is named: an engine refuses documents for a
    pipeline that it lacks.
    """
    settings = {**made["settings"], "index": dict(made["settings"]["index"])}
    if signs:
        settings["index"]["default_pipeline"] = shared_name(recipe)
    plain = {name: field for name, field in made["mappings"]["properties"].items() if not name.startswith("near_")}
    about = {"nearfold": {**made["mappings"]["_meta"]["nearfold"], "shared": True}}
    body = {
        "index_patterns": [index],
        "composed_of": [shared_name(recipe)],
        "priority": PRIORITY,
        "version": bodies.FORMAT,
        "template": {
            "settings": settings,
            "mappings": {"dynamic": True, "_meta": about, "properties": plain},
            "aliases": {f"{index}-write": {}},
        },
    }
    return Piece("index template", f"nearfold-{index}", _named(body, recipe))


def near_fields() -> Body:
    """The mapping of every `near_*` field."""
    properties: Body = mappings.load("index.json")["mappings"]["properties"]
    return {name: field for name, field in properties.items() if name.startswith("near_")}


def meta(recipe: Recipe) -> Body:
    """The `_meta` of a mapping that other programs share."""
    return {
        "nearfold": {"format": bodies.FORMAT, "recipe_id": recipe.id, "recipe": recipe.settings, "shared": True},
    }


def _named(body: Body, recipe: Recipe) -> Body:
    """The body with `_meta`: its recipe, and a digest, because an engine gives templates back in another spelling."""
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]
    return {**body, "_meta": {"nearfold": {"recipe": recipe.settings, "digest": digest}}}


def content(piece: Piece, answer: Mapping[str, Any]) -> Body | None:
    """The body inside an engine's answer about this piece; None when the piece is not in it."""
    if piece.kind == "stored script":
        return {"script": answer["script"]} if answer.get("_id") == piece.name else None
    if "template" not in piece.kind:
        return answer.get(piece.name)
    field = piece.kind.replace(" ", "_")
    return next((one[field] for one in answer.get(f"{field}s", []) if one["name"] == piece.name), None)


def same(piece: Piece, found: Mapping[str, Any]) -> bool:
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
    """`near_*` fields that an index maps in another way, one sentence each."""
    actual = mapping.get("properties", {})
    return tuple(
        f"field {name} is {bodies.spelled(actual[name])} instead of {bodies.spelled(wanted)}"
        for name, wanted in near_fields().items()
        if name in actual and actual[name] != wanted
    )
