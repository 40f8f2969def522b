"""The pieces of an installation in one engine: read what is there, compare, put what differs,
remove what nobody uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from indexer.recipe import Recipe
from indexer.stores.engine import bodies
from indexer.stores.engine import installation as installed
from indexer.stores.engine.index import Dialect, IndexPlace, Requests, only_index, write_aliases
from indexer.stores.engine.installation import Piece
from indexer.stores.engine.link import Answer, error_of
from indexer.stores.engine.mapping_facts import is_shared, may_hold, text_field
from indexer.stores.maintenance import Change

Index: TypeAlias = tuple[str, Mapping[str, Any]]  # an index by its own name, and what it is
DEFAULT_PIPELINE = "index.default_pipeline"
_SIMULATE = "_ingest/pipeline/_simulate"
# what an engine keeps for itself begins with a dot, and so do the indices behind a data stream
_VISIBLE = "*,-.*,.ds-*"
_EVERY_INDEX = {"expand_wildcards": "all", "flat_settings": "true"}


class Pieces:
    """One run: `dry_run` reads and writes nothing."""

    def __init__(self, requests: Requests, dry_run: bool) -> None:
        self._requests, self._dry_run = requests, dry_run

    def stored(self, piece: Piece) -> bodies.Body | None:
        """Return the body that the engine stores under this name; None where there is none."""
        answer = self._read(piece.path)
        return None if answer is None else installed.body_in(piece, answer)

    def template(self, place: IndexPlace) -> bodies.Body | None:
        """The index template of the index that a URL names."""
        return self.stored(Piece("index template", f"nearfold-{place.index}", {}))

    def index(self, place: IndexPlace) -> Index | None:
        """The index of the URL by its own name, and what it is; None where there is none."""
        answer = self._read(place.index)
        return None if answer is None else only_index(place, answer)

    def put(self, piece: Piece) -> Change:
        """Put a piece unless it is there."""
        found = self.stored(piece)
        if found is not None and installed.is_same(piece, found):
            return Change(piece.kind, piece.name, "unchanged")
        if not self._dry_run:
            self._good("PUT", piece.path, piece.body)
        return Change(piece.kind, piece.name, "created" if found is None else "updated")

    def put_pipeline(self, piece: Piece) -> Change:
        """Put the ingest pipeline; impossible where the engine has no painless. A dry run lets the
        engine try it on a text.
        """
        found = self.stored(piece)
        if found is not None and installed.is_same(piece, found):
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
        """Put the pipeline for files, which calls the one that signs; left out where the engine has
        no attachment processor.
        """
        if signing.action == "impossible":
            return Change(piece.kind, piece.name, "impossible", signing.detail)
        change = self.put_pipeline(piece)
        absent = change.action == "impossible" and "[attachment]" in change.detail
        return replace(change, action="left out") if absent else change

    def put_script(self, piece: Piece, pipeline: Change) -> Change:
        """Put a stored script; impossible for the same reason as the pipeline, which is painless
        too.
        """
        if pipeline.action == "impossible":
            return Change(piece.kind, piece.name, "impossible", pipeline.detail)
        return self.put(piece)

    def put_template(
        self, place: IndexPlace, dialect: Dialect, recipe: Recipe, signs: bool, field: str
    ) -> Change:
        """Put the index template, with what analysis the engine has."""
        pieces = []
        for core in (False, True):
            made = bodies.index(recipe, dialect.metadata_type, core, place.shards, place.replicas)
            pieces.append(installed.index_template(recipe, place.index, made, signs, field))
        found = self.stored(pieces[0])
        if found is not None and any(installed.is_same(piece, found) for piece in pieces):
            return Change(pieces[0].kind, pieces[0].name, "unchanged")
        if not self._dry_run:
            answer = self._requests.ask("PUT", pieces[0].path, pieces[0].body)
            if answer.status == 400 and "nearfold_" in str(answer.body):
                answer = self._requests.ask("PUT", pieces[1].path, pieces[1].body)
            self._judge("PUT", pieces[0].path, answer)
        return Change(pieces[0].kind, pieces[0].name, "created" if found is None else "updated")

    def adopt(
        self, place: IndexPlace, recipe: Recipe, index: Index, signs: bool, field: str
    ) -> Change:
        """Give an index the `near_*` fields it lacks, the recipe, where texts are, the alias for
        writes and the pipeline.
        """
        name, there = index
        mapping = there.get("mappings", {})
        near = installed.near_fields(field)
        missing = {
            one: body for one, body in near.items() if one not in mapping.get("properties", {})
        }
        about = mapping.get("_meta", {})
        steps: list[tuple[str, str, bodies.Body | None]] = []
        if missing or text_field(mapping) != field:
            steps.append(
                (
                    "PUT",
                    f"{name}/_mapping",
                    {"_meta": installed.meta(recipe, field, about), "properties": missing},
                )
            )
        if place.write_alias not in there.get("aliases", {}):
            steps.append(("PUT", f"{name}/_alias/{place.write_alias}", None))
        if signs and default_pipeline(there) not in installed.pipeline_names(recipe, field):
            steps.append(
                (
                    "PUT",
                    f"{name}/_settings",
                    {DEFAULT_PIPELINE: installed.shared_name(recipe, field)},
                )
            )
        if not self._dry_run:
            for step in steps:
                self._good(*step)
        unmapped = (
            ""
            if may_hold(mapping, field)
            else f"its mapping has no field {field}; --text-field names another"
        )
        return Change("index", name, "updated" if steps else "unchanged", unmapped)

    def release(self, place: IndexPlace, recipe: Recipe, index: Index) -> list[Change]:
        """Let an index go without its pipeline; one that was never given it is not named.

        Where other programs write too it loses the alias for nearfold's own writes as well, which
        the next of them gives back.
        """
        name, there = index
        if not installed.signs_by(recipe, default_pipeline(there)):
            return []
        if not self._dry_run:
            self._good("PUT", f"{name}/_settings", {DEFAULT_PIPELINE: None})
            if is_shared(there.get("mappings", {})):
                for alias in set(write_aliases(place, name)) & set(there.get("aliases", {})):
                    self._good("DELETE", f"{name}/_alias/{alias}")
        return [Change("index", name, "updated")]

    def remove(self, piece: Piece, users: str) -> list[Change]:
        """Remove a piece that is there, unless somebody uses it."""
        if self.stored(piece) is None:
            return []
        if users:
            return [Change(piece.kind, piece.name, "kept", f"used by {users}")]
        if not self._dry_run:
            self._good("DELETE", piece.path)
        return [Change(piece.kind, piece.name, "removed")]

    def remove_unused(self, place: IndexPlace, recipe: Recipe, field: str) -> list[Change]:
        """Remove what signs this field by this recipe, unless others use it."""
        users = self.users(place, recipe, field)
        changes: list[Change] = []
        for piece in installed.recipe_pieces(recipe, field):
            changes += self.remove(piece, users)
        return changes

    def users(self, place: IndexPlace, recipe: Recipe, field: str) -> str:
        """Who else needs the pipelines of the recipe: index templates of ours and indices, empty
        when nobody does.
        """
        settings = self._read(f"{_VISIBLE}/_settings/{DEFAULT_PIPELINE}", _EVERY_INDEX) or {}
        own = self.index(place)
        indices = sorted(
            name
            for name, one in settings.items()
            if one["settings"].get(DEFAULT_PIPELINE) in installed.pipeline_names(recipe, field)
            and (own is None or name != own[0])
        )
        return ", ".join(
            [*filter(None, [self.templates(place, installed.shared_name(recipe, field))]), *indices]
        )

    def templates(self, place: IndexPlace, component: str | None = None) -> str:
        """Other index templates of ours, or those of them that use a component template."""
        answer = self._read("_index_template/nearfold-*") or {}
        return ", ".join(
            one["name"]
            for one in answer.get("index_templates", [])
            if one["name"] != f"nearfold-{place.index}"
            and (component is None or component in one["index_template"].get("composed_of", []))
        )

    def rivals(self, place: IndexPlace) -> list[str]:
        """Templates of other programs for the same index that an engine refuses beside ours: they
        have its priority.
        """
        answer = self._read("_index_template/*") or {}
        return sorted(
            one["name"]
            for one in answer.get("index_templates", [])
            if one["name"] != f"nearfold-{place.index}"
            and one["index_template"].get("priority", 0) == installed.PRIORITY
            and any(
                fnmatchcase(place.index, pattern)
                for pattern in one["index_template"]["index_patterns"]
            )
        )

    def signed(self, index: str) -> int:
        """How many documents of an index have a fingerprint of a text; all that were written by now
        are seen.
        """
        self._good("POST", f"{index}/_refresh")
        without = [{"terms": {"near_status": ["empty", "unsigned"]}}]
        query = {"bool": {"filter": [{"exists": {"field": "near_status"}}], "must_not": without}}
        body = {"size": 0, "track_total_hits": True, "query": query}
        return int(self._requests.get("POST", f"{index}/_search", body)["hits"]["total"]["value"])

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
        """Raise what an answer means when it is no success; a missing right is named by what was
        asked.
        """
        if not 200 <= answer.status < 300:
            raise error_of(self._requests.url, answer, f"{method} {path}")


def default_pipeline(index: Mapping[str, Any]) -> str | None:
    """The pipeline that signs on arrival, or whatever else is the default of an index."""
    name: str | None = index.get("settings", {}).get("index", {}).get("default_pipeline")
    return name
