"""Users of nearfold's assets in an engine: other indices, index templates and pipelines."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from operator import itemgetter
from typing import Any

from indexer.recipe import Recipe
from indexer.stores.engine import installation as installed
from indexer.stores.engine.assets import DEFAULT_PIPELINE, Assets
from indexer.stores.engine.index_facts import IndexPlace
from indexer.stores.maintenance import Change

_NAMING = (DEFAULT_PIPELINE, "index.final_pipeline", "index.search.default_pipeline")
_EVERY_INDEX = {"expand_wildcards": "all", "flat_settings": "true"}
_BLOCKED = re.compile(r"index \[([^\]]+)\] blocked by")
# the engines' own indices: a user may be forbidden to read them, or is warned
_SYSTEM = (
    "-.opendistro*,-.opensearch*,-.plugins*,-.security*,-.kibana*,-.tasks*,-.fleet*,-.ml-*,-.apm*,"
    "-.async-search*,-.watches*,-.triggered_watches*,-.transform*,-.logstash*,-.enrich*,"
    "-.geoip_databases*,-.synonyms*,-.connector*,-.inference*"
)


class AssetUsers:
    """The users of nearfold's assets but for one index and its template, whoever made them.

    Their names are joined by commas; the text is empty when there are none. Hidden indices count,
    and an index whose owner lets nobody read its settings (`index.blocks.metadata`), which may use
    any asset.
    """

    def __init__(self, assets: Assets, place: IndexPlace) -> None:
        self._assets = assets
        self._template = f"nearfold-{place.index}"
        own = assets.index(place)
        self._own = own and own[0]

    def of_recipe(self, recipe: Recipe, field: str) -> str:
        """Return the users of the pipelines of a recipe, or of its component template."""
        pipelines = installed.pipeline_names(recipe, field)
        composed = self._composed_of(installed.shared_name(recipe, field))
        named = [name for name in self._naming(pipelines) if name not in composed]
        return ", ".join([*composed, *self._callers(pipelines), *named])

    def of_scripts(self) -> str:
        """Return the other index templates of nearfold's, and all that have documents signed."""
        answer = self._assets.read("_index_template/nearfold-*") or {}
        names = [template["name"] for template in answer.get("index_templates", [])]
        others = [name for name in names if name != self._template]
        return ", ".join([*others, *(name for name in self._naming([]) if name not in others)])

    def of_search_pipeline(self) -> str:
        """Return the indices whose searches our search pipeline folds by default, and templates of
        such indices.

        Without the pipeline, an engine would refuse to search them.
        """
        return ", ".join(self._naming([installed.FOLD]))

    def _naming(self, pipelines: Collection[str]) -> list[str]:
        """Return whose settings name one of these pipelines, or any ingest pipeline of nearfold's
        where there are none, and the indices whose settings nobody may read.
        """
        users = []
        for name, settings in self._settings():
            values = {value for value in _pipelines_in(settings) if installed.is_ours(value)}
            is_user = values & {*pipelines} if pipelines else values - {installed.FOLD}
            if settings is None or is_user:
                users.append(name)
        return users

    def _settings(self) -> Iterator[tuple[str, Mapping[str, Any] | None]]:
        """Yield the settings of every template and index, by its name; None for an index whose
        settings cannot be read.

        Our own template is left out, and so is the default pipeline of the index itself: both go
        before any asset.
        """
        for name, template in self._index_templates():
            yield name, template.get("template", {}).get("settings", {})
        answer = self._assets.read("_component_template") or {}
        for entry in answer.get("component_templates", []):
            settings = entry["component_template"]["template"].get("settings", {})
            yield f"{entry['name']} (component template)", settings
        for name, legacy in (self._assets.read("_template") or {}).items():
            yield f"{name} (legacy template)", legacy.get("settings", {})
        stored, unread = self._index_settings()
        for name in sorted(stored):
            settings = stored[name]["settings"]
            kept = {key: value for key, value in settings.items() if key != DEFAULT_PIPELINE}
            yield name, kept if name == self._own else settings
        yield from ((name, None) for name in unread)

    def _index_settings(self) -> tuple[Mapping[str, Any], list[str]]:
        """Return the settings of all indices that name pipelines, and what cannot be read."""
        blocked: list[str] = []
        while True:
            indices = ",".join(["*", _SYSTEM, *(f"-{name}" for name in blocked)])
            path = f"{indices}/_settings/{','.join(_NAMING)}"
            answer = self._assets.requests.send("GET", path, params=_EVERY_INDEX)
            new = set(_BLOCKED.findall(answer.reason)) - {*blocked}
            if not new:
                break
            blocked = sorted({*blocked, *new})
        self._assets.check("GET", path, answer)
        return answer.body, [f"{name} (nobody may read its settings)" for name in blocked]

    def _index_templates(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Return the name and body of every index template but for ours of this index, sorted."""
        answer = self._assets.read("_index_template") or {}
        entries = sorted(answer.get("index_templates", []), key=itemgetter("name"))
        return [
            (entry["name"], entry["index_template"])
            for entry in entries
            if entry["name"] != self._template
        ]

    def _composed_of(self, component: str) -> list[str]:
        """Return the index templates, but for ours of this index, that have a component."""
        templates = self._index_templates()
        return [name for name, body in templates if component in body.get("composed_of", [])]

    def _callers(self, pipelines: Collection[str]) -> list[str]:
        """Return the ingest pipelines that call one of these, which may call each other."""
        stored = self._assets.read("_ingest/pipeline") or {}
        return sorted(
            name
            for name, body in stored.items()
            if name not in pipelines and _names_any(json.dumps(body), pipelines)
        )


def remove_unused(assets: Assets, place: IndexPlace, recipe: Recipe, field: str) -> list[Change]:
    """Remove what signs this field by this recipe, unless others use it."""
    users = AssetUsers(assets, place).of_recipe(recipe, field)
    changes: list[Change] = []
    for asset in installed.recipe_assets(recipe, field):
        changes += assets.remove(asset, users)
    return changes


def _pipelines_in(settings: Any, name: str = "") -> Iterator[str]:
    """Yield the pipelines that settings name, nested or flat; none of settings that are None."""
    if isinstance(settings, Mapping):
        for key, value in settings.items():
            yield from _pipelines_in(value, f"{name}.{key}" if name else key)
    elif name in _NAMING and settings is not None:
        yield settings


def _names_any(written: str, pipelines: Collection[str]) -> bool:
    """Return whether a JSON text has one of these names as a string."""
    return any(json.dumps(pipeline) in written for pipeline in pipelines)
