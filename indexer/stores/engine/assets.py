"""The assets of an installation in one engine: read, compare, put and remove them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any, TypeAlias

from indexer.errors import StoreError
from indexer.recipe import Recipe
from indexer.stores.engine import asset_bodies, index_mapping, search_bodies
from indexer.stores.engine.asset_bodies import Asset, added_processors, is_changed
from indexer.stores.engine.index_facts import (
    IndexAddress,
    only_index,
    require_own_alias,
    version_name,
    write_aliases,
)
from indexer.stores.engine.index_mapping import (
    FIELD_LIMIT,
    WRITE_ALIAS,
    changed_meta,
    fields_left,
    has_clients,
    is_shared_mapping,
    may_hold,
    near_field,
    own_write_alias,
    text_field,
    with_near,
)
from indexer.stores.engine.requests import SECONDS, Dialect, Requests, Response, error_of
from indexer.stores.maintenance import Change, Layout
from indexer.wording import count_of

Index: TypeAlias = tuple[str, Mapping[str, Any]]  # an index: its own name and its description
DEFAULT_PIPELINE = "index.default_pipeline"
NO_PIPELINE = "_none"  # the value with which an owner says that none shall run
_FEW_FIELDS = 100
_SIMULATE = "_ingest/pipeline/_simulate"
_MALFORMED_BULK = b'{"index": {}}\n{}\n{"index": {}}\n{"text"\n'


_IS_STRICT = (
    "it refuses documents with fields that it lacks (dynamic: strict): add these to its mapping, "
    "or set dynamic to false or true"
)


class Assets:
    """The assets that one engine stores; with `dry_run` they are only read."""

    def __init__(self, requests: Requests, dry_run: bool) -> None:
        self.requests = requests
        self._dry_run = dry_run

    def stored(self, asset: Asset) -> search_bodies.Body | None:
        """Return the body that the engine stores under this name; None where there is none."""
        response = self.read(asset.path)
        return None if response is None else asset_bodies.body_in(asset, response)

    def own(self, asset: Asset) -> search_bodies.Body | None:
        """Return what `stored` does. Raises `StoreError` for a body that another program put, or a
        pipeline that it changed.
        """
        stored = self.stored(asset)
        if stored is not None and not asset_bodies.is_marked(asset, stored):
            raise StoreError(
                f"{asset.kind} {asset.name} at {self.requests.url} is not nearfold's, which would "
                "replace it; nothing of it was changed: rename it there, and run again"
            )
        if added := added_processors(asset.kind, asset.name, stored or {}):
            raise StoreError(
                f"{asset.kind} {asset.name} at {self.requests.url} has processors that nearfold "
                f"did not put there ({', '.join(added)}), and would lose them; put them into a "
                f"pipeline of your own, take them out of {asset.name}, and run again"
            )
        if is_changed(stored or {}):
            raise StoreError(
                f"{asset.kind} {asset.name} at {self.requests.url} was changed by somebody since "
                "nearfold put it there, and would be replaced; keep it under a name of your own if "
                f"you need it, delete {asset.name} (an index that names it as its "
                "default_pipeline has to let go first), and run again"
            )
        return stored

    def template(self, address: IndexAddress) -> search_bodies.Body | None:
        """Return the index template of the index that a URL names."""
        return self.stored(asset_bodies.index_template_asset(address.index))

    def index(self, address: IndexAddress) -> Index | None:
        """Return the own name and description of the URL's index; None where there is none."""
        response = self.read(address.index)
        return None if response is None else only_index(address, response)

    def put(self, asset: Asset) -> Change:
        """Put an asset unless the same one is stored. Raises `StoreError` as `own` does."""
        stored = self.own(asset)
        if stored is not None and asset_bodies.is_same(asset, stored):
            return Change(asset.kind, asset.name, "unchanged")
        if not self._dry_run:
            self._send("PUT", asset.path, asset.body)
        return Change(asset.kind, asset.name, "created" if stored is None else "updated")

    def put_pipeline(self, asset: Asset) -> Change:
        """Put the ingest pipeline; impossible where the engine has no painless.

        A dry run has the engine simulate it on an empty document. Raises as `own` does.
        """
        stored = self.own(asset)
        if stored is not None and asset_bodies.is_same(asset, stored):
            return Change(asset.kind, asset.name, "unchanged")
        if self._dry_run:
            trial = {"pipeline": asset.body, "docs": [{"_source": {}}]}
            response = self.requests.send("POST", _SIMULATE, trial)
        else:
            response = self.requests.send("PUT", asset.path, asset.body)
        if response.status == 400:
            return Change(asset.kind, asset.name, "impossible", response.reason)
        self.check("PUT", asset.path, response)
        return Change(asset.kind, asset.name, "created" if stored is None else "updated")

    def put_attachment_pipeline(self, asset: Asset, pipeline: Change) -> Change:
        """Put the pipeline for files, which calls the one that fingerprints.

        It is left out where the engine has no attachment processor.
        """
        if pipeline.action == "impossible":
            return Change(asset.kind, asset.name, "impossible", pipeline.detail)
        change = self.put_pipeline(asset)
        is_absent = change.action == "impossible" and "[attachment]" in change.detail
        return replace(change, action="left out") if is_absent else change

    def put_script(self, asset: Asset, pipeline: Change) -> Change:
        """Put a stored script; impossible when the pipeline is, since both need painless."""
        if pipeline.action == "impossible":
            return Change(asset.kind, asset.name, "impossible", pipeline.detail)
        return self.put(asset)

    def put_template(
        self,
        address: IndexAddress,
        dialect: Dialect,
        recipe: Recipe,
        has_pipeline: bool,
        field: str,
        layout: Layout = "pipeline",
    ) -> Change:
        """Put the index template, with the analysis that the engine supports."""
        templates = []
        for core in (False, True):
            body = index_mapping.new_index(
                recipe, dialect.metadata_type, core, address.shards, address.replicas, layout
            )
            templates.append(
                asset_bodies.index_template(
                    recipe, address.index, body, has_pipeline, field, layout
                )
            )
        full, core_only = templates
        stored = self.own(full)
        if stored is not None and any(asset_bodies.is_same(asset, stored) for asset in templates):
            return Change(full.kind, full.name, "unchanged")
        if not self._dry_run:
            response = self.requests.send("PUT", full.path, full.body)
            if response.status == 400 and "nearfold_" in str(response.body):
                response = self.requests.send("PUT", core_only.path, core_only.body)
            self.check("PUT", full.path, response)
        return Change(full.kind, full.name, "created" if stored is None else "updated")

    def adopt(
        self,
        address: IndexAddress,
        recipe: Recipe,
        index: Index,
        has_pipeline: bool,
        field: str,
        sample_size: int | None,
        layout: Layout = "pipeline",
    ) -> Change:
        """Add what an index lacks: `near_*` fields, recipe, field of texts, alias, pipeline.

        The alias is the one for writes; the pipeline is added only with `has_pipeline`, the
        sub-field of the texts with the plugin's layout.
        `sample_size` is what `install_checks.check_index` returns, for the detail.
        """
        name, facts = index
        mapping = facts.get("mappings", {})
        present = mapping.get("properties", {})
        required = asset_bodies.near_fields(field, layout)
        missing = {name: body for name, body in required.items() if name not in present}
        is_unfilled = layout == "plugin" and near_field(mapping) is None
        if is_unfilled:
            missing |= with_near(mapping, field, recipe)
        puts: dict[str, search_bodies.Body | None] = {}
        alias = address.write_alias
        is_writable = facts.get("aliases", {}).keys() & set(write_aliases(address, name))
        new_alias = None if is_writable else alias
        is_new = not (is_shared_mapping(mapping) or has_clients({"mappings": mapping}))
        if missing or text_field(mapping) != field or new_alias or is_new:
            meta = asset_bodies.meta(recipe, field, mapping.get("_meta", {}), new_alias)
            puts[f"{name}/_mapping"] = {"_meta": meta, "properties": missing}
        if new_alias:
            puts[f"{name}/_alias/{alias}"] = None
        pipelines = asset_bodies.pipeline_names(recipe, field)
        current = default_pipeline(facts)
        is_kept = has_pipeline and (current == NO_PIPELINE or self.calls(current, pipelines))
        if has_pipeline and current not in pipelines and not is_kept:
            puts[f"{name}/_settings"] = {DEFAULT_PIPELINE: asset_bodies.shared_name(recipe, field)}
        if not self._dry_run:
            for path, body in puts.items():
                self._send("PUT", path, body)
        details = []
        if puts:
            if sample_size is not None:
                sample = f"a sample of {count_of(sample_size, 'document')}"
                details.append(f"it is not nearfold's (no near_* values of others in {sample})")
            details += [f"{len(missing)} fields near_*"] if missing else []
            details += [_to_be_written(name)] if is_unfilled and facts.get("mappings") else []
            details += [f"alias {alias}"] if new_alias else []
            details += [DEFAULT_PIPELINE] if f"{name}/_settings" in puts else []
            left = fields_left(facts, len(missing))
            is_tight = bool(missing) and left < _FEW_FIELDS
            details += [f"room for {left} more fields by its {FIELD_LIMIT}"] if is_tight else []
        details += [_kept_pipeline(current, pipelines)] if is_kept else []
        if mapping.get("dynamic") == "strict":
            details.append(_IS_STRICT)
        if not may_hold(mapping, field) and not is_unfilled:
            details.append(f"its mapping has no field {field}; --text-field names another")
        return Change("index", name, "updated" if puts else "unchanged", ", ".join(details))

    def release(self, position: IndexAddress, recipe: Recipe, index: Index) -> list[Change]:
        """Remove the pipeline from an index, unless it has none or one of its owner.

        An index that other programs write to also loses the write alias that nearfold made, which
        nearfold's next write gives back. One that nearfold did not make is kept.
        """
        name, facts = index
        changes = []
        if asset_bodies.fingerprints_by(recipe, default_pipeline(facts)):
            if not self._dry_run:
                self._send("PUT", f"{name}/_settings", {DEFAULT_PIPELINE: None})
            changes = [Change("index", name, "updated", f"without {DEFAULT_PIPELINE}")]
        mapping = facts.get("mappings", {})
        if is_shared_mapping(mapping):
            own_alias = own_write_alias(name, mapping)
            aliases = set(write_aliases(position, name)) & set(facts.get("aliases", {}))
            changes += [
                self._remove_alias(name, mapping, alias, alias == own_alias)
                for alias in sorted(aliases)
            ]
        return changes

    def _remove_alias(
        self, index: str, mapping: Mapping[str, Any], alias: str, is_own: bool
    ) -> Change:
        """Remove an alias that nearfold made, and what `_meta` says of it."""
        if not is_own:
            return Change("alias", alias, "kept", "nearfold did not make it, as far as it knows")
        if not self._dry_run:
            self._send("DELETE", f"{index}/_alias/{alias}")
            meta = changed_meta(mapping, {WRITE_ALIAS: None})
            self._send("PUT", f"{index}/_mapping", {"_meta": meta})
        return Change("alias", alias, "removed")

    def calls(self, name: str | None, pipelines: Collection[str]) -> bool:
        """Return whether an ingest pipeline calls one of these, itself or by others."""
        seen: set[str] = set()
        waiting = {name} if name else set()
        while waiting:
            seen |= waiting
            responses = [self.read(f"_ingest/pipeline/{caller}") or {} for caller in waiting]
            called = {name for response in responses for name in _called(response)}
            if called & set(pipelines):
                return True
            waiting = called - seen
        return False

    def check_alias(self, address: IndexAddress, index: Index | None) -> None:
        """Raise `UsageError` where the alias for writes stands for an index of others."""
        name = index[0] if index else address.index
        require_own_alias(self.requests, address.write_alias, name)

    def remove(self, asset: Asset, users: str) -> list[Change]:
        """Remove an asset that is stored, unless it has users or is another program's."""
        stored = self.stored(asset)
        if stored is None:
            return []
        if not asset_bodies.is_marked(asset, stored):
            return [Change(asset.kind, asset.name, "kept", "it is another program's")]
        if added := added_processors(asset.kind, asset.name, stored):
            detail = f"another program added processors to it ({', '.join(added)})"
            return [Change(asset.kind, asset.name, "kept", detail)]
        if is_changed(stored):
            return [Change(asset.kind, asset.name, "kept", "another program changed it")]
        if users:
            return [Change(asset.kind, asset.name, "kept", f"used by {users}")]
        if not self._dry_run:
            self._send("DELETE", asset.path)
        return [Change(asset.kind, asset.name, "removed")]

    def fails_whole_bulks(self, address: IndexAddress, pipeline: str) -> bool:
        """Return whether the engine refuses a whole bulk request for one line that is not JSON.

        OpenSearch does under any pipeline, and so did Elasticsearch until its issue
        138445. Asked of a version that no index has, and only of an alias, so that nothing
        can be written. False where the right to ask is missing.
        """
        params = {"pipeline": pipeline, "require_alias": "true"}
        path = f"{version_name(address.index, 0)}/_bulk"
        response = self.requests.link.request("POST", path, _MALFORMED_BULK, params, SECONDS)
        items = response.body.get("items", []) if response.status == 200 else []
        statuses = [next(iter(item.values()))["status"] for item in items]
        return statuses == [400, 400]

    def leave_template_out(
        self,
        address: IndexAddress,
        reason: str,
        recipe: Recipe,
        field: str,
        layout: Layout = "pipeline",
    ) -> Change:
        """Put no index template, for this reason, and remove one that is there."""
        name = asset_bodies.shared_name(recipe, field)
        remedy = (
            f"let the template of its owner be composed of {name} and set {DEFAULT_PIPELINE} to "
            f"{name}, or run install again once it is there"
        )
        if layout == "plugin":
            remedy = "run install again once it is there"
        detail = f"{reason}; for a new index to be fingerprinted, {remedy}"
        asset = asset_bodies.index_template_asset(address.index)
        removed = self.remove(asset, "")
        change = removed[0] if removed else Change(asset.kind, asset.name, "left out")
        return replace(change, detail=detail)

    def fingerprinted(self, index: str) -> int:
        """Return the number of documents of an index with a fingerprint, after a refresh."""
        self._send("POST", f"{index}/_refresh")
        without = [{"terms": {"near_status": ["empty", "unsigned"]}}]
        query = {"bool": {"filter": [{"exists": {"field": "near_status"}}], "must_not": without}}
        body = {"size": 0, "track_total_hits": True, "query": query}
        return int(self.requests.call("POST", f"{index}/_search", body)["hits"]["total"]["value"])

    def read(self, path: str, params: Mapping[str, str] | None = None) -> search_bodies.Body | None:
        """Return the response at a path; None where there is nothing."""
        response = self.requests.send("GET", path, params=params or {})
        if response.status == 404:
            return None
        self.check("GET", path, response)
        body: search_bodies.Body = response.body
        return body

    def _send(self, method: str, path: str, body: search_bodies.Body | None = None) -> None:
        self.check(method, path, self.requests.send(method, path, body))

    def check(self, method: str, path: str, response: Response) -> None:
        """Raise the error of a response that is not a success, with its request."""
        if not 200 <= response.status < 300:
            raise error_of(self.requests.url, response, f"{method} {path}")


def _to_be_written(index: str) -> str:
    """Return what the documents of an index need that came before its sub-field, in words."""
    return (
        "documents that it has already get fingerprints when they are written again: "
        f"POST {index}/_update_by_query?conflicts=proceed"
    )


def default_pipeline(index: Mapping[str, Any]) -> str | None:
    """Return the default ingest pipeline of an index, whether it fingerprints or not."""
    name: str | None = index.get("settings", {}).get("index", {}).get("default_pipeline")
    return name


def _kept_pipeline(current: str | None, pipelines: tuple[str, str]) -> str:
    """Return what an index does that keeps the default pipeline of its owner, in words."""
    _, for_texts = pipelines
    if current == NO_PIPELINE:
        fingerprinted = f"only requests that name {for_texts} are fingerprinted"
        return f"{DEFAULT_PIPELINE} stays {NO_PIPELINE}: {fingerprinted}"
    return f"{DEFAULT_PIPELINE} stays {current}, which calls {for_texts}"


def _called(pipelines: Mapping[str, Any]) -> Iterator[str]:
    """Yield the pipelines that the processors of these call."""
    for body in pipelines.values():
        for processor in body.get("processors", []):
            if "pipeline" in processor:
                yield processor["pipeline"]["name"]


# Users of nearfold's assets in an engine: other indices, index templates and pipelines.

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

    def __init__(self, assets: Assets, address: IndexAddress) -> None:
        self._assets = assets
        self._template = f"nearfold-{address.index}"
        own = assets.index(address)
        self._own = own and own[0]

    def of_recipe(self, recipe: Recipe, field: str) -> str:
        """Return the users of the pipelines of a recipe, or of its component template."""
        pipelines = asset_bodies.pipeline_names(recipe, field)
        composed = self._composed_of(asset_bodies.shared_name(recipe, field))
        named = [name for name in self._naming(pipelines) if name not in composed]
        return ", ".join([*composed, *self._callers(pipelines), *named])

    def of_scripts(self) -> str:
        """Return the other index templates of nearfold's, and all that have documents
        fingerprinted.
        """
        response = self._assets.read("_index_template/nearfold-*") or {}
        names = [template["name"] for template in response.get("index_templates", [])]
        others = [name for name in names if name != self._template]
        return ", ".join([*others, *(name for name in self._naming([]) if name not in others)])

    def of_search_pipeline(self) -> str:
        """Return the indices whose searches our search pipeline folds by default, and templates of
        such indices.

        Without the pipeline, an engine would refuse to search them.
        """
        return ", ".join(self._naming([asset_bodies.FOLD]))

    def _naming(self, pipelines: Collection[str]) -> list[str]:
        """Return whose settings name one of these pipelines, or any ingest pipeline of nearfold's
        where there are none, and the indices whose settings nobody may read.
        """
        users = []
        for name, settings in self._settings():
            values = {value for value in _pipelines_in(settings) if asset_bodies.is_ours(value)}
            is_user = values & {*pipelines} if pipelines else values - {asset_bodies.FOLD}
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
        response = self._assets.read("_component_template") or {}
        for entry in response.get("component_templates", []):
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
            response = self._assets.requests.send("GET", path, params=_EVERY_INDEX)
            new = set(_BLOCKED.findall(response.reason)) - {*blocked}
            if not new:
                break
            blocked = sorted({*blocked, *new})
        self._assets.check("GET", path, response)
        return response.body, [f"{name} (nobody may read its settings)" for name in blocked]

    def _index_templates(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Return the name and body of every index template but for ours of this index, sorted."""
        response = self._assets.read("_index_template") or {}
        entries = sorted(response.get("index_templates", []), key=itemgetter("name"))
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


def remove_unused(
    assets: Assets, position: IndexAddress, recipe: Recipe, field: str
) -> list[Change]:
    """Remove what fingerprints this field by this recipe, unless others use it."""
    users = AssetUsers(assets, position).of_recipe(recipe, field)
    changes: list[Change] = []
    for asset in asset_bodies.recipe_assets(recipe, field):
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
