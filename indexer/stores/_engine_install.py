"""Installing into an engine: read what is there, compare, put what differs. What the pieces are: `indexer.stores.installed`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from indexer.errors import MappingMismatch, RecipeMismatch, StoreError
from indexer.recipe import Recipe
from indexer.stores import bodies, installed
from indexer.stores._engine_index import Dialect, Place, Requests
from indexer.stores._engine_link import Answer, IndexMissing, meaning
from indexer.stores.base import Change
from indexer.stores.installed import Piece

_TEXT_FIELD = {"near_text_field": {"type": "keyword", "index": False, "doc_values": False}}
_SIMULATE = "_ingest/pipeline/_simulate"
_EVERY_INDEX = {"expand_wildcards": "all", "flat_settings": "true"}
_DEFAULT_PIPELINE = "index.default_pipeline"


def install(requests: Requests, place: Place, dialect: Dialect, recipe: Recipe, dry_run: bool) -> list[Change]:
    """The template comes after what it names, and the index that exists last. Nothing is written before all is checked."""
    engine = _Engine(requests, dry_run)
    index = engine.index(place)
    engine.check(place, recipe, index)
    component = engine.put(installed.component(recipe))
    signing = engine.put_pipeline(installed.signing(recipe))
    signs = signing.action != "impossible"
    changes = [component, signing, engine.put_attaching(installed.attaching(recipe), signing)]
    changes += [engine.put_script(script, signing) for script in installed.scoring()]
    if dialect.search_pipelines:
        changes.append(engine.put(installed.folding()))
    changes.append(engine.put_template(place, dialect, recipe, signs))
    if index is not None:
        changes.append(engine.adopt(place, recipe, index, signs))
    return changes


def uninstall(requests: Requests, place: Place, dialect: Dialect, recipe: Recipe, dry_run: bool) -> list[Change]:
    """First the index lets go of the pipeline, then its template goes, then what no other index needs."""
    engine = _Engine(requests, dry_run)
    template = engine.found(Piece("index template", f"nearfold-{place.index}", {}))
    recipe = (template and installed.recipe_in(template)) or recipe
    index = engine.index(place)
    changes = [] if index is None else engine.release(recipe, index)
    changes += engine.remove(Piece("index template", f"nearfold-{place.index}", {}), "")
    users = engine.users(place, recipe)
    for piece in (*installed.pipelines(recipe), installed.component(recipe)):
        changes += engine.remove(piece, users)
    shared = installed.scoring() + ([installed.folding()] if dialect.search_pipelines else [])
    for piece in shared:
        changes += engine.remove(piece, engine.templates(place))
    return changes


def renewed_pipeline(requests: Requests, old: Mapping[str, Any], before: Recipe, after: Recipe) -> str | None:
    """Where an index signs on arrival: put what signs by its next recipe, and return the name; None where it does not sign."""
    if _default_pipeline(old) != installed.shared_name(before):
        return None
    engine = _Engine(requests, dry_run=False)
    engine.put(installed.component(after))
    engine.put_pipeline(installed.signing(after))
    return installed.shared_name(after)


def renew(requests: Requests, place: Place, dialect: Dialect, before: Recipe, after: Recipe) -> None:
    """After an index changed its recipe: its template follows, and what nobody uses any more goes."""
    engine = _Engine(requests, dry_run=False)
    if engine.found(Piece("index template", f"nearfold-{place.index}", {})) is None:
        return
    engine.put_template(place, dialect, after, engine.found(installed.signing(after)) is not None)
    users = engine.users(place, before)
    for piece in (installed.signing(before), installed.component(before)):
        engine.remove(piece, users)


def index_at(requests: Requests, place: Place) -> tuple[str, Mapping[str, Any]] | None:
    """The index of a URL by its own name, and what it is, whoever made it; None where there is none."""
    return _Engine(requests, dry_run=True).index(place)


def adopt(requests: Requests, place: Place, recipe: Recipe, text_field: str) -> None:
    """Give an index of somebody else the `near_*` fields, the recipe, where texts are, the alias for writes, and no pipeline.

    Raises `IndexMissing`, `RecipeMismatch`, and `MappingMismatch` where fields of these names are mapped in another way, or
    texts of another field were signed.
    """
    engine = _Engine(requests, dry_run=False)
    index = engine.index(place)
    if index is None:
        raise IndexMissing(place.url)
    mapping = index[1].get("mappings", {})
    about = mapping.get("_meta", {}).get("nearfold")
    if about and (stored := Recipe(**about["recipe"])).id != recipe.id:
        raise RecipeMismatch(stored=stored.name, wanted=recipe.name, difference=stored.difference(recipe))
    problems = installed.field_problems(mapping)
    if about and (known := about.get("text_field", "text")) != text_field:
        problems += (f"its field {known} was signed, not {text_field}",)
    if problems:
        raise MappingMismatch(index=place.index, problems=problems)
    if about is None:
        texts = {} if text_field == "text" else {"text_field": text_field}
        meta = {**mapping.get("_meta", {}), "nearfold": {**installed.meta(recipe)["nearfold"], **texts}}
        requests.get("PUT", f"{index[0]}/_mapping", {"_meta": meta, "properties": _TEXT_FIELD if texts else {}})
    engine.adopt(place, recipe, engine.index(place) or index, signs=False)


class _Engine:
    """One run: `dry_run` reads and writes nothing."""

    def __init__(self, requests: Requests, dry_run: bool) -> None:
        self._requests, self._dry_run = requests, dry_run

    def found(self, piece: Piece) -> bodies.Body | None:
        """The body that the engine keeps under this name."""
        answer = self._read(piece.path)
        return None if answer is None else installed.content(piece, answer)

    def index(self, place: Place) -> tuple[str, Mapping[str, Any]] | None:
        """The index of the URL by its own name, and what it is; None where there is none."""
        answer = self._read(place.index)
        if answer is None:
            return None
        if len(answer) != 1:
            raise MappingMismatch(index=place.index, problems=(f"the name stands for {len(answer)} indices",))
        ((name, index),) = answer.items()
        return name, index

    def check(self, place: Place, recipe: Recipe, index: tuple[str, Mapping[str, Any]] | None) -> None:
        """Refuse what would mix recipes, take the place of another pipeline, or undo what a newer nearfold installed."""
        url = self._requests.url
        template = self.found(Piece("index template", f"nearfold-{place.index}", {}))
        known = installed.recipe_in(template) if template else None
        mapping = index[1].get("mappings", {}) if index else {}
        about = mapping.get("_meta", {}).get("nearfold")
        for stored in (known, Recipe(**about["recipe"]) if about else None):
            if stored and stored.id != recipe.id:
                raise RecipeMismatch(stored=stored.name, wanted=recipe.name, difference=stored.difference(recipe))
        for pipeline in installed.pipelines(recipe):
            there = self.found(pipeline)
            if there and there.get("version", 0) > pipeline.body["version"]:
                raise StoreError(
                    f"a newer nearfold installed {pipeline.name} at {url}; upgrade nearfold, or uninstall with it first"
                )
        if problems := installed.field_problems(mapping):
            raise MappingMismatch(index=place.index, problems=problems)
        own = installed.shared_name(recipe)
        if index and (other := _default_pipeline(index[1])) not in (None, "_none", *_names(recipe)):
            raise StoreError(
                f"index {place.index} has the default pipeline {other}; let that pipeline call {own} by a `pipeline` "
                f"processor and clear {_DEFAULT_PIPELINE}, or give --store another index"
            )

    def put(self, piece: Piece) -> Change:
        """Put a piece unless it is there."""
        found = self.found(piece)
        if found is not None and installed.same(piece, found):
            return Change(piece.kind, piece.name, "unchanged")
        if not self._dry_run:
            self._good("PUT", piece.path, piece.body)
        return Change(piece.kind, piece.name, "created" if found is None else "updated")

    def put_pipeline(self, piece: Piece) -> Change:
        """Put the ingest pipeline; impossible where the engine has no painless. A dry run lets the engine try it on a text."""
        found = self.found(piece)
        if found is not None and installed.same(piece, found):
            return Change(piece.kind, piece.name, "unchanged")
        if self._dry_run:
            trial = {"pipeline": piece.body, "docs": [{"_source": {}}]}
            answer = self._requests.ask("POST", _SIMULATE, trial)
        else:
            answer = self._requests.ask("PUT", piece.path, piece.body)
        if answer.status == 400:
            return Change(piece.kind, piece.name, "impossible", answer.reason)
        self._judge("PUT", piece.path, answer)
        return Change(piece.kind, piece.name, "created" if found is None else "updated")

    def put_attaching(self, piece: Piece, signing: Change) -> Change:
        """Put the pipeline for files, which calls the one that signs; left out where the engine has no attachment processor."""
        if signing.action == "impossible":
            return Change(piece.kind, piece.name, "impossible", signing.detail)
        change = self.put_pipeline(piece)
        absent = change.action == "impossible" and "[attachment]" in change.detail
        return replace(change, action="left out") if absent else change

    def put_script(self, piece: Piece, pipeline: Change) -> Change:
        """Put a stored script; impossible for the same reason as the pipeline, which is painless too."""
        if pipeline.action == "impossible":
            return Change(piece.kind, piece.name, "impossible", pipeline.detail)
        return self.put(piece)

    def put_template(self, place: Place, dialect: Dialect, recipe: Recipe, signs: bool) -> Change:
        """Put the index template, with what analysis the engine has."""
        pieces = []
        for core in (False, True):
            made = bodies.index(recipe, dialect.metadata_type, core, place.shards, place.replicas)
            pieces.append(installed.template(recipe, place.index, made, signs))
        found = self.found(pieces[0])
        if found is not None and any(installed.same(piece, found) for piece in pieces):
            return Change(pieces[0].kind, pieces[0].name, "unchanged")
        if not self._dry_run:
            answer = self._requests.ask("PUT", pieces[0].path, pieces[0].body)
            if answer.status == 400 and "nearfold_" in str(answer.body):
                answer = self._requests.ask("PUT", pieces[1].path, pieces[1].body)
            self._judge("PUT", pieces[0].path, answer)
        return Change(pieces[0].kind, pieces[0].name, "created" if found is None else "updated")

    def adopt(self, place: Place, recipe: Recipe, index: tuple[str, Mapping[str, Any]], signs: bool) -> Change:
        """Give an index that exists the `near_*` fields it lacks, the recipe, the alias for writes and the pipeline."""
        name, there = index
        mapping = there.get("mappings", {})
        missing = {field: body for field, body in installed.near_fields().items() if field not in mapping.get("properties", {})}
        about = mapping.get("_meta", {})
        steps: list[tuple[str, str, bodies.Body | None]] = []
        if missing or "nearfold" not in about:
            steps.append(("PUT", f"{name}/_mapping", {"_meta": {**installed.meta(recipe), **about}, "properties": missing}))
        if place.write_alias not in there.get("aliases", {}):
            steps.append(("PUT", f"{name}/_alias/{place.write_alias}", None))
        if signs and _default_pipeline(there) not in _names(recipe):
            steps.append(("PUT", f"{name}/_settings", {_DEFAULT_PIPELINE: installed.shared_name(recipe)}))
        if not self._dry_run:
            for step in steps:
                self._good(*step)
        return Change("index", name, "updated" if steps else "unchanged")

    def release(self, recipe: Recipe, index: tuple[str, Mapping[str, Any]]) -> list[Change]:
        """Let an index go without its pipeline; one that was never given it is not named."""
        name, there = index
        if _default_pipeline(there) not in _names(recipe):
            return []
        if not self._dry_run:
            self._good("PUT", f"{name}/_settings", {_DEFAULT_PIPELINE: None})
        return [Change("index", name, "updated")]

    def remove(self, piece: Piece, users: str) -> list[Change]:
        """Remove a piece that is there, unless somebody uses it."""
        if self.found(piece) is None:
            return []
        if users:
            return [Change(piece.kind, piece.name, "kept", f"used by {users}")]
        if not self._dry_run:
            self._good("DELETE", piece.path)
        return [Change(piece.kind, piece.name, "removed")]

    def users(self, place: Place, recipe: Recipe) -> str:
        """Who else needs what belongs to the recipe: index templates of ours and indices, empty when nobody does."""
        settings = self._read(f"_all/_settings/{_DEFAULT_PIPELINE}", _EVERY_INDEX) or {}
        own = self.index(place)
        indices = sorted(
            name
            for name, one in settings.items()
            if one["settings"].get(_DEFAULT_PIPELINE) in _names(recipe) and (own is None or name != own[0])
        )
        return ", ".join([*filter(None, [self.templates(place, installed.shared_name(recipe))]), *indices])

    def templates(self, place: Place, component: str | None = None) -> str:
        """Other index templates of ours, or those of them that use a component template."""
        answer = self._read("_index_template/nearfold-*") or {}
        return ", ".join(
            one["name"]
            for one in answer.get("index_templates", [])
            if one["name"] != f"nearfold-{place.index}"
            and (component is None or component in one["index_template"].get("composed_of", []))
        )

    def _read(self, path: str, params: Mapping[str, str] | None = None) -> bodies.Body | None:
        """What is at a path; None where there is nothing."""
        answer = self._requests.ask("GET", path, params=params or {})
        if answer.status == 404:
            return None
        self._judge("GET", path, answer)
        body: bodies.Body = answer.body
        return body

    def _good(self, method: str, path: str, body: bodies.Body | None = None) -> None:
        self._judge(method, path, self._requests.ask(method, path, body))

    def _judge(self, method: str, path: str, answer: Answer) -> None:
        """Raise what an answer means when it is no success; a missing right is named by what was asked."""
        if not 200 <= answer.status < 300:
            raise meaning(self._requests.url, answer, f"{method} {path}")


def _names(recipe: Recipe) -> tuple[str, ...]:
    """The pipelines of ours that an index may have as its default."""
    return tuple(piece.name for piece in installed.pipelines(recipe))


def _default_pipeline(index: Mapping[str, Any]) -> str | None:
    name: str | None = index.get("settings", {}).get("index", {}).get("default_pipeline")
    return name
