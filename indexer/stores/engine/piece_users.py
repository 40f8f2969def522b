"""Users of nearfold's pieces in an engine: other indices, index templates and pipelines."""

from __future__ import annotations

import json
import re
from collections.abc import Collection

from indexer.recipe import Recipe
from indexer.stores.engine import installation as installed
from indexer.stores.engine.index_requests import IndexPlace
from indexer.stores.engine.pieces import DEFAULT_PIPELINE, Pieces
from indexer.stores.maintenance import Change

_SEARCH_PIPELINE = "index.search.default_pipeline"
# what an engine keeps for itself begins with a dot, and so do the indices behind a data stream
_VISIBLE = "*,-.*,.ds-*"
_EVERY_INDEX = {"expand_wildcards": "all", "flat_settings": "true"}
_BLOCKED = re.compile(r"index \[([^\]]+)\] blocked by")


class PieceUsers:
    """The users of nearfold's pieces but for one index and its template, whoever made them.

    Their names are joined by commas; the text is empty when there are none. An index whose owner
    lets nobody read its settings (`index.blocks.metadata`) may use any piece, and counts.
    """

    def __init__(self, pieces: Pieces, place: IndexPlace) -> None:
        self._pieces = pieces
        self._template = f"nearfold-{place.index}"
        own = pieces.index(place)
        self._own = own and own[0]

    def of_recipe(self, recipe: Recipe, field: str) -> str:
        """Return the users of the pipelines of a recipe, or of its component template."""
        pipelines = installed.pipeline_names(recipe, field)
        values, hidden = self._everywhere(DEFAULT_PIPELINE)
        indices = [name for name, value in values.items() if value in pipelines]
        templates = self._templates_with(installed.shared_name(recipe, field), pipelines)
        return ", ".join([*templates, *self._callers(pipelines), *indices, *hidden])

    def of_scripts(self) -> str:
        """Return the other index templates of nearfold's and the other indices that sign."""
        answer = self._pieces.read("_index_template/nearfold-*") or {}
        names = [template["name"] for template in answer.get("index_templates", [])]
        values, hidden = self._everywhere(DEFAULT_PIPELINE)
        indices = [name for name, value in values.items() if installed.is_ours(value)]
        return ", ".join([*(name for name in names if name != self._template), *indices, *hidden])

    def of_search_pipeline(self) -> str:
        """Return the indices whose searches our search pipeline folds by default.

        Without the pipeline, an engine would refuse to search them.
        """
        values, hidden = self._everywhere(_SEARCH_PIPELINE, own=True)
        return ", ".join(
            [*(name for name, value in values.items() if value == installed.FOLD), *hidden]
        )

    def _everywhere(
        self, setting: str, own: bool = False
    ) -> tuple[dict[str, str | None], list[str]]:
        """Return a setting of each index by name, and those whose settings nobody may read."""
        hidden: list[str] = []
        while True:
            indices = ",".join([_VISIBLE, *(f"-{name}" for name in hidden)])
            path = f"{indices}/_settings/{setting}"
            answer = self._pieces.requests.send("GET", path, params=_EVERY_INDEX)
            blocked = set(_BLOCKED.findall(answer.reason)) - {*hidden}
            if not blocked:
                break
            hidden = sorted({*hidden, *blocked})
        self._pieces.check("GET", path, answer)
        return {
            name: answer.body[name]["settings"].get(setting)
            for name in sorted(answer.body)
            if own or name != self._own
        }, [f"{name} (nobody may read its settings)" for name in hidden]

    def _templates_with(self, component: str, pipelines: Collection[str]) -> list[str]:
        """Return the index templates, but for ours of this index, that have one of these pieces."""
        answer = self._pieces.read("_index_template") or {}
        names = []
        for template in answer.get("index_templates", []):
            body = template["index_template"]
            written = json.dumps(body.get("template", {}).get("settings", {}))
            is_user = component in body.get("composed_of", []) or _names_any(written, pipelines)
            if is_user and template["name"] != self._template:
                names.append(template["name"])
        return sorted(names)

    def _callers(self, pipelines: Collection[str]) -> list[str]:
        """Return the ingest pipelines that call one of these, which may call each other."""
        stored = self._pieces.read("_ingest/pipeline") or {}
        return sorted(
            name
            for name, body in stored.items()
            if name not in pipelines and _names_any(json.dumps(body), pipelines)
        )


def remove_unused(pieces: Pieces, place: IndexPlace, recipe: Recipe, field: str) -> list[Change]:
    """Remove what signs this field by this recipe, unless others use it."""
    users = PieceUsers(pieces, place).of_recipe(recipe, field)
    changes: list[Change] = []
    for piece in installed.recipe_pieces(recipe, field):
        changes += pieces.remove(piece, users)
    return changes


def _names_any(written: str, pipelines: Collection[str]) -> bool:
    """Return whether a JSON text has one of these names as a string."""
    return any(json.dumps(pipeline) in written for pipeline in pipelines)
