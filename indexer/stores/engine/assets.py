"""The assets of an installation in one engine: read, compare, put and remove them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from indexer.errors import StoreError
from indexer.recipe import Recipe
from indexer.stores.engine import bodies, index_body
from indexer.stores.engine import installation as installed
from indexer.stores.engine.index_facts import IndexPlace, only_index, version_name, write_aliases
from indexer.stores.engine.index_requests import SECONDS, Dialect, Requests
from indexer.stores.engine.installation import Asset
from indexer.stores.engine.link import Answer, error_of
from indexer.stores.engine.mapping_facts import (
    FIELD_LIMIT,
    WRITE_ALIAS,
    changed_meta,
    fields_left,
    is_shared,
    may_hold,
    own_write_alias,
    text_field,
)
from indexer.stores.engine.pipeline_changes import added_processors, is_changed
from indexer.stores.engine.write_alias import require_own_alias
from indexer.stores.maintenance import Change
from indexer.text.wording import count_of

Index: TypeAlias = tuple[str, Mapping[str, Any]]  # an index: its own name and its description
DEFAULT_PIPELINE = "index.default_pipeline"
NO_PIPELINE = "_none"  # the value with which an owner says that none shall run
_FEW_FIELDS = 100
_SIMULATE = "_ingest/pipeline/_simulate"
_MALFORMED_BULK = b'{"index": {}}\n{}\n{"index": {}}\n{"text"\n'


class Assets:
    """The assets that one engine stores; with `dry_run` they are only read."""

    def __init__(self, requests: Requests, dry_run: bool) -> None:
        self.requests = requests
        self._dry_run = dry_run

    def stored(self, asset: Asset) -> bodies.Body | None:
        """Return the body that the engine stores under this name; None where there is none."""
        answer = self.read(asset.path)
        return None if answer is None else installed.body_in(asset, answer)

    def own(self, asset: Asset) -> bodies.Body | None:
        """Return what `stored` does. Raises `StoreError` for a body that another program put, or a
        pipeline that it changed.
        """
        stored = self.stored(asset)
        if stored is not None and not installed.is_marked(asset, stored):
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

    def template(self, place: IndexPlace) -> bodies.Body | None:
        """Return the index template of the index that a URL names."""
        return self.stored(installed.index_template_asset(place.index))

    def index(self, place: IndexPlace) -> Index | None:
        """Return the own name and description of the URL's index; None where there is none."""
        answer = self.read(place.index)
        return None if answer is None else only_index(place, answer)

    def put(self, asset: Asset) -> Change:
        """Put an asset unless the same one is stored. Raises `StoreError` as `own` does."""
        stored = self.own(asset)
        if stored is not None and installed.is_same(asset, stored):
            return Change(asset.kind, asset.name, "unchanged")
        if not self._dry_run:
            self._send("PUT", asset.path, asset.body)
        return Change(asset.kind, asset.name, "created" if stored is None else "updated")

    def put_pipeline(self, asset: Asset) -> Change:
        """Put the ingest pipeline; impossible where the engine has no painless.

        A dry run has the engine simulate it on an empty document. Raises as `own` does.
        """
        stored = self.own(asset)
        if stored is not None and installed.is_same(asset, stored):
            return Change(asset.kind, asset.name, "unchanged")
        if self._dry_run:
            trial = {"pipeline": asset.body, "docs": [{"_source": {}}]}
            answer = self.requests.send("POST", _SIMULATE, trial)
        else:
            answer = self.requests.send("PUT", asset.path, asset.body)
        if answer.status == 400:
            return Change(asset.kind, asset.name, "impossible", answer.reason)
        self.check("PUT", asset.path, answer)
        return Change(asset.kind, asset.name, "created" if stored is None else "updated")

    def put_attachment_pipeline(self, asset: Asset, signing: Change) -> Change:
        """Put the pipeline for files, which calls the one that signs.

        It is left out where the engine has no attachment processor.
        """
        if signing.action == "impossible":
            return Change(asset.kind, asset.name, "impossible", signing.detail)
        change = self.put_pipeline(asset)
        is_absent = change.action == "impossible" and "[attachment]" in change.detail
        return replace(change, action="left out") if is_absent else change

    def put_script(self, asset: Asset, pipeline: Change) -> Change:
        """Put a stored script; impossible when the pipeline is, since both need painless."""
        if pipeline.action == "impossible":
            return Change(asset.kind, asset.name, "impossible", pipeline.detail)
        return self.put(asset)

    def put_template(
        self, place: IndexPlace, dialect: Dialect, recipe: Recipe, signs: bool, field: str
    ) -> Change:
        """Put the index template, with the analysis that the engine supports."""
        templates = []
        for core in (False, True):
            body = index_body.new_index(
                recipe, dialect.metadata_type, core, place.shards, place.replicas
            )
            templates.append(installed.index_template(recipe, place.index, body, signs, field))
        full, core_only = templates
        stored = self.own(full)
        if stored is not None and any(installed.is_same(asset, stored) for asset in templates):
            return Change(full.kind, full.name, "unchanged")
        if not self._dry_run:
            answer = self.requests.send("PUT", full.path, full.body)
            if answer.status == 400 and "nearfold_" in str(answer.body):
                answer = self.requests.send("PUT", core_only.path, core_only.body)
            self.check("PUT", full.path, answer)
        return Change(full.kind, full.name, "created" if stored is None else "updated")

    def adopt(
        self,
        place: IndexPlace,
        recipe: Recipe,
        index: Index,
        signs: bool,
        field: str,
        sample_size: int | None,
    ) -> Change:
        """Add what an index lacks: `near_*` fields, recipe, field of texts, alias, pipeline.

        The alias is the one for writes; the pipeline is added only with `signs`. `sample_size`: as
        `install_checks.check_index` returns it, for the detail.
        """
        name, facts = index
        mapping = facts.get("mappings", {})
        present = mapping.get("properties", {})
        required = installed.near_fields(field)
        missing = {name: body for name, body in required.items() if name not in present}
        puts: dict[str, bodies.Body | None] = {}
        alias = place.write_alias
        is_writable = facts.get("aliases", {}).keys() & set(write_aliases(place, name))
        new_alias = None if is_writable else alias
        if missing or text_field(mapping) != field or new_alias:
            meta = installed.meta(recipe, field, mapping.get("_meta", {}), new_alias)
            puts[f"{name}/_mapping"] = {"_meta": meta, "properties": missing}
        if new_alias:
            puts[f"{name}/_alias/{alias}"] = None
        pipelines = installed.pipeline_names(recipe, field)
        current = default_pipeline(facts)
        is_kept = signs and (current == NO_PIPELINE or self.calls(current, pipelines))
        if signs and current not in pipelines and not is_kept:
            puts[f"{name}/_settings"] = {DEFAULT_PIPELINE: installed.shared_name(recipe, field)}
        if not self._dry_run:
            for path, body in puts.items():
                self._send("PUT", path, body)
        details = []
        if puts:
            if sample_size is not None:
                sample = f"a sample of {count_of(sample_size, 'document')}"
                details.append(f"it is not nearfold's (no near_* values of others in {sample})")
            details += [f"{len(missing)} fields near_*"] if missing else []
            details += [f"alias {alias}"] if new_alias else []
            details += [DEFAULT_PIPELINE] if f"{name}/_settings" in puts else []
            left = fields_left(facts, len(missing))
            is_tight = bool(missing) and left < _FEW_FIELDS
            details += [f"room for {left} more fields by its {FIELD_LIMIT}"] if is_tight else []
        details += [_kept_pipeline(current, pipelines)] if is_kept else []
        if not may_hold(mapping, field):
            details.append(f"its mapping has no field {field}; --text-field names another")
        return Change("index", name, "updated" if puts else "unchanged", ", ".join(details))

    def release(self, place: IndexPlace, recipe: Recipe, index: Index) -> list[Change]:
        """Remove the pipeline from an index, unless it has none or one of its owner.

        An index that other programs write to also loses the write alias that nearfold made, which
        nearfold's next write gives back. One that nearfold did not make is kept.
        """
        name, facts = index
        changes = []
        if installed.signs_by(recipe, default_pipeline(facts)):
            if not self._dry_run:
                self._send("PUT", f"{name}/_settings", {DEFAULT_PIPELINE: None})
            changes = [Change("index", name, "updated", f"without {DEFAULT_PIPELINE}")]
        mapping = facts.get("mappings", {})
        if is_shared(mapping):
            own_alias = own_write_alias(name, mapping)
            aliases = set(write_aliases(place, name)) & set(facts.get("aliases", {}))
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
            answers = [self.read(f"_ingest/pipeline/{caller}") or {} for caller in waiting]
            called = {name for answer in answers for name in _called(answer)}
            if called & set(pipelines):
                return True
            waiting = called - seen
        return False

    def check_alias(self, place: IndexPlace, index: Index | None) -> None:
        """Raise `UsageError` where the alias for writes stands for an index of others."""
        name = index[0] if index else place.index
        require_own_alias(self.requests, place.write_alias, name)

    def remove(self, asset: Asset, users: str) -> list[Change]:
        """Remove an asset that is stored, unless it has users or is another program's."""
        stored = self.stored(asset)
        if stored is None:
            return []
        if not installed.is_marked(asset, stored):
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

    def fails_whole_bulks(self, place: IndexPlace, pipeline: str) -> bool:
        """Return whether the engine refuses a whole bulk request for one line that is not JSON.

        OpenSearch does under any pipeline, and so did Elasticsearch until its issue
        138445. Asked of a version that no index has, and only of an alias, so that nothing
        can be written. False where the right to ask is missing.
        """
        params = {"pipeline": pipeline, "require_alias": "true"}
        path = f"{version_name(place.index, 0)}/_bulk"
        answer = self.requests.link.request("POST", path, _MALFORMED_BULK, params, SECONDS)
        items = answer.body.get("items", []) if answer.status == 200 else []
        statuses = [next(iter(item.values()))["status"] for item in items]
        return statuses == [400, 400]

    def leave_template_out(
        self, place: IndexPlace, reason: str, recipe: Recipe, field: str
    ) -> Change:
        """Put no index template, for this reason, and remove one that is there."""
        name = installed.shared_name(recipe, field)
        detail = (
            f"{reason}; for a new index to be signed, let the template of its owner be composed of "
            f"{name} and set {DEFAULT_PIPELINE} to {name}, or run install again once it is there"
        )
        asset = installed.index_template_asset(place.index)
        removed = self.remove(asset, "")
        change = removed[0] if removed else Change(asset.kind, asset.name, "left out")
        return replace(change, detail=detail)

    def signed(self, index: str) -> int:
        """Return the number of documents of an index with a fingerprint, after a refresh."""
        self._send("POST", f"{index}/_refresh")
        without = [{"terms": {"near_status": ["empty", "unsigned"]}}]
        query = {"bool": {"filter": [{"exists": {"field": "near_status"}}], "must_not": without}}
        body = {"size": 0, "track_total_hits": True, "query": query}
        return int(self.requests.call("POST", f"{index}/_search", body)["hits"]["total"]["value"])

    def read(self, path: str, params: Mapping[str, str] | None = None) -> bodies.Body | None:
        """Return the answer at a path; None where there is nothing."""
        answer = self.requests.send("GET", path, params=params or {})
        if answer.status == 404:
            return None
        self.check("GET", path, answer)
        body: bodies.Body = answer.body
        return body

    def _send(self, method: str, path: str, body: bodies.Body | None = None) -> None:
        self.check(method, path, self.requests.send(method, path, body))

    def check(self, method: str, path: str, answer: Answer) -> None:
        """Raise the error of an answer that is not a success, with the request that it answers."""
        if not 200 <= answer.status < 300:
            raise error_of(self.requests.url, answer, f"{method} {path}")


def default_pipeline(index: Mapping[str, Any]) -> str | None:
    """Return the default ingest pipeline of an index, whether it signs or not."""
    name: str | None = index.get("settings", {}).get("index", {}).get("default_pipeline")
    return name


def _kept_pipeline(current: str | None, pipelines: tuple[str, str]) -> str:
    """Return what an index does that keeps the default pipeline of its owner, in words."""
    _, for_texts = pipelines
    if current == NO_PIPELINE:
        signed = f"only requests that name {for_texts} are signed"
        return f"{DEFAULT_PIPELINE} stays {NO_PIPELINE}: {signed}"
    return f"{DEFAULT_PIPELINE} stays {current}, which calls {for_texts}"


def _called(pipelines: Mapping[str, Any]) -> Iterator[str]:
    """Yield the pipelines that the processors of these call."""
    for body in pipelines.values():
        for processor in body.get("processors", []):
            if "pipeline" in processor:
                yield processor["pipeline"]["name"]
