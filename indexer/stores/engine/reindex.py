"""A change of recipe or of fields for an index in service: fill a new version, then switch the name
in one step.

The old index is read as a feed: an engine numbers the operations of each shard, so documents that
change during the copy have a higher number. The progress of the copy is stored in the new index,
and a second run continues from there.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from indexer.errors import ReindexInProgress, StoreError, UsageError
from indexer.model import Row
from indexer.recipe import Recipe
from indexer.stores.engine import index_mapping
from indexer.stores.engine.asset_bodies import is_ours, near_fields
from indexer.stores.engine.assets import Assets
from indexer.stores.engine.bulk import Operation, Sender
from indexer.stores.engine.create_index import require_no_difference
from indexer.stores.engine.foreign_documents import objection
from indexer.stores.engine.index_facts import (
    IndexAddress,
    IndexFacts,
    check_same_indices,
    check_write_target,
    current_index,
    identity_of,
    read_facts,
    require_one_index,
    require_own_alias,
    require_whole_indices,
    version_name,
)
from indexer.stores.engine.index_mapping import (
    GROUPED,
    WRITE_ALIAS,
    blocks_of,
    changed_meta,
    given_aliases,
    is_shared_mapping,
    layout_of,
    properties_of_next,
    text_field,
    write_alias_of,
)
from indexer.stores.engine.ingest_pipeline import TEXT
from indexer.stores.engine.install import put_next_pipeline, require_plugin, update_template
from indexer.stores.engine.operation_feed import (
    PAGE,
    count_documents,
    document_ids,
    last_operations,
    read_feed,
    routing_of,
)
from indexer.stores.engine.requests import (
    EXISTS,
    Dialect,
    IndexMissing,
    Requests,
    Response,
    error_of,
)
from indexer.stores.engine.rows import (
    KEYS,
    fingerprint_fields,
    fingerprinted_rows,
    row_of_hit,
    without_columns,
)
from indexer.stores.engine.search_bodies import Body
from indexer.stores.fields import OF_GROUPS
from indexer.stores.maintenance import (
    Change,
    FingerprintRows,
    Layout,
    OnProgress,
    ReindexOptions,
    ReindexResult,
)

# The next version of an index: created, filled from the one in service, and put in its place.

PAGES_A_CHECKPOINT = 10
COPY_SECONDS = 300.0
_PRIVATE = (
    "uuid",
    "creation_date",
    "version",
    "provided_name",
    "resize",
    "blocks",
    "history",
    "routing_path",
    "shrink",
    "verified_before_close",
)
_FIRST = ("near_id", "near_family", "near_text_field")
# what changes with the recipe, and digests, which an earlier nearfold stored in other fields
_REPLACED = (*KEYS, "near_source", "near_raw", "near_file")


@dataclass(slots=True)
class Successor:
    """The next version of the index `old`, called `name`, with another recipe or layout.

    `columns_of`: the recipe of an old one with the plugin's layout. `identity`: the identity of the
    index that is copied, as `identity_of` has it.
    """

    requests: Requests
    location: IndexAddress
    old: str
    name: str
    recipe: Recipe
    text_field: str
    layout: Layout
    columns_of: Recipe | None
    identity: list[Any]

    def create(self, old: Mapping[str, Any], pipeline: str | None) -> None:
        """Create it like the old one but for the recipe, or continue a former run.

        One with other corpus statistics is filled anew: documents came since that run began. So is
        one that was filled from an index that was restored or made again since.
        Raises `ReindexInProgress` when the index of that name has another recipe or origin.
        """
        response = self.requests.send("GET", self.name)
        if response.status == 404:
            body = self._body(old, pipeline)
            response = self.requests.send("PUT", self.name, body)
            if 200 <= response.status < 300:
                return
            if response.kind != EXISTS:
                raise error_of(self.requests.url, response, f"PUT {self.name}")
            response = self.requests.send("GET", self.name)  # made by a response that was lost
        if not self._can_continue(response):
            self._begin_again()

    def _can_continue(self, response: Response) -> bool:
        """Return whether the version that a former run began has the same recipe and origin; False
        where its corpus statistics are others, or the origin was restored.

        Raises `UsageError` for an alias of its name, and `ReindexInProgress` for an index of
        another recipe or origin.
        """
        if response.status == 200 and self.name not in response.body:
            raise UsageError(
                f"{self.name}, the next version of {self.location.index}, is an alias of "
                f"{', '.join(sorted(response.body))}; remove or rename it there, and run again"
            )
        index = response.body[self.name] if response.status == 200 else {}
        metadata = nearfold_metadata(index)
        begun = Recipe(**metadata["recipe"]) if "recipe" in metadata else None
        is_like = layout_of(index.get("mappings", {})) == self.layout
        origin = metadata.get("reindexing", {})
        if begun is not None and is_like and origin.get("from") == self.old:
            if metadata.get("recipe_id") == self.recipe.id:
                return origin.get("identity") in (None, self.identity)
            if begun.is_same_but_for_statistics(self.recipe):
                return False
        raise ReindexInProgress(index=self.name, recipe=begun.name if begun else "")

    def _begin_again(self) -> None:
        """Name the statistics that rows are fingerprinted with from now on, and copy all of them
        again.
        """
        current = current_index(self.requests, self.location)
        if current is None or current[0] != self.old:
            raise ReindexInProgress(index=self.name, recipe=self.recipe.name)
        mapping = self.requests.index(self.name)["mappings"]
        self.requests.call("PUT", f"{self.name}/_mapping", {"_meta": self._meta(mapping)})

    def check(self, old: Mapping[str, Any]) -> None:
        """Raise `UsageError` where a new version would not be like the old one, before anything is
        written: the old one has a block, or others have a template or an alias for the new one.

        A run that was interrupted may have left a block, which the next run is to pass. Raises as
        `create` does where something has the name of the new one.
        """
        response = self.requests.send("GET", self.name)
        if response.status != 404:
            self._can_continue(response)
            return
        if blocks := blocks_of(old):
            raise UsageError(
                f"{self.old} has {', '.join(blocks)}, which its next version would not have; set "
                f"it to null, run again, and set it for {self.location.index} afterwards"
            )
        require_own_alias(self.requests, self._write_alias, self.name)
        require_no_difference(self.requests, self.name, self._body(old, None))

    def _body(self, old: Mapping[str, Any], pipeline: str | None) -> Body:
        return {
            "settings": _settings(old, pipeline, self.layout),
            "mappings": self._mappings(old),
            "aliases": {self._write_alias: {}},
        }

    @property
    def _write_alias(self) -> str:
        return write_alias_of(self.name)

    def _meta(self, mapping: Mapping[str, Any]) -> Body:
        """Return the metadata of a new version of which nothing is copied yet."""
        changes = {
            "recipe_id": self.recipe.id,
            "recipe": self.recipe.settings,
            "reindexing": self._origin({}),
        }
        if is_shared_mapping(mapping):
            changes[WRITE_ALIAS] = self._write_alias
        return changed_meta(mapping, changes)

    def _mappings(self, old: Mapping[str, Any]) -> Body:
        kept = properties_of_next(old["mappings"], self.text_field, self.recipe, self.layout)
        return {
            **old["mappings"],
            "_meta": self._meta(old["mappings"]),
            "properties": {**kept, **near_fields(self.text_field, self.layout)},
        }

    def follow(
        self, fingerprint_rows: FingerprintRows, on_progress: OnProgress, until_idle: bool
    ) -> int:
        """Copy what changed since the last checkpoint; return how many documents were written.

        With `until_idle`, copy again until at most `PAGE` documents changed meanwhile.
        """
        copied = 0
        checkpoint = self._checkpoint()
        while True:
            marks = last_operations(self.requests, self.old)
            self.requests.call("POST", f"{self.old}/_refresh")
            before = copied
            for shard, mark in marks.items():
                for page in read_feed(
                    self.requests, self.old, shard, checkpoint.get(shard, -1), mark
                ):
                    self._write(page, fingerprint_rows)
                    copied += len(page)
                    checkpoint[shard] = page[-1]["_seq_no"]
                    on_progress(copied)
                    if copied // PAGE % PAGES_A_CHECKPOINT == 0:
                        self._store_checkpoint(checkpoint)
                checkpoint[shard] = mark
            self._store_checkpoint(checkpoint)
            if not until_idle or copied - before <= PAGE:
                return copied

    def _write(self, hits: list[Body], fingerprint_rows: FingerprintRows) -> None:
        """Write documents with new signatures, in the versions that they have; raise `StoreError`
        when one is refused, or holds what a copy would replace.
        """
        for hit in hits:
            if reason := objection(hit["_id"], hit["_source"]):
                raise StoreError(
                    f"document {hit['_id']} of {self.old}: {reason}; the index in service is as it "
                    "was: change or delete the document, and run again"
                )
        stored = self._rows(hits)
        operations = {}
        for hit, before, row in zip(hits, stored, fingerprint_rows(stored), strict=True):
            is_kept = row.family == before.family and self.columns_of is None
            replaced = _REPLACED if is_kept else (*_REPLACED, *OF_GROUPS, GROUPED)
            body = _replace_fingerprint(
                hit["_source"], fingerprint_fields(row, self.text_field), replaced
            )
            if self.layout == "plugin":
                body = without_columns(body, row)
                body = {name: value for name, value in body.items() if value is not None}
            metadata = {
                **routing_of(hit),
                "version": hit["_version"],
                "version_type": "external_gte",
            }
            operations[hit["_id"]] = Operation("index", hit["_id"], body, metadata)
        replies = Sender(self._post, conflicts=True).send([*operations.values()])
        # a document that was deleted and created again counts from 1
        again = [
            replace(operations[hit["_id"]], metadata=routing_of(hit))
            for hit in hits
            if replies[hit["_id"]].status == 409
        ]
        replies |= Sender(self._post).send(again)
        for id, reply in replies.items():
            if reply.refused:
                raise StoreError(
                    f"{self.name} refused {id}: {reply.refused}; "
                    "the index in service is as it was; run `nearfold doctor`"
                )

    def _rows(self, hits: list[Body]) -> list[Row]:
        """Return the rows of documents of the old version."""
        if self.columns_of is not None:
            return fingerprinted_rows(hits, self.text_field, self.columns_of)
        return [row_of_hit(hit["_id"], hit["_source"], self.text_field) for hit in hits]

    def _post(self, body: bytes) -> Response:
        params = {"require_alias": "true", "pipeline": "_none"}
        link = self.requests.link
        check_write_target(link, self._write_alias, self.name)
        return link.request("POST", f"{self._write_alias}/_bulk", body, params, COPY_SECONDS)

    def _checkpoint(self) -> dict[str, int]:
        """Return the number of the last operation copied of each shard."""
        index = self.requests.index(self.name)
        return dict(nearfold_metadata(index).get("reindexing", {}).get("done", {}))

    def _store_checkpoint(self, checkpoint: Mapping[str, int]) -> None:
        mapping = self.requests.index(self.name)["mappings"]
        meta = changed_meta(mapping, {"reindexing": self._origin(checkpoint)})
        self.requests.call("PUT", f"{self.name}/_mapping", {"_meta": meta})

    def _origin(self, checkpoint: Mapping[str, int]) -> Body:
        return {"from": self.old, "identity": self.identity, "done": checkpoint}

    def delete_missing(self) -> None:
        """Delete documents that are no longer in the old index.

        Ids are compared only when this index has more documents.
        """
        self.requests.call("POST", f"{self.old},{self.name}/_refresh")
        if count_documents(self.requests, self.name) <= count_documents(self.requests, self.old):
            return
        missing = dict.fromkeys(document_ids(self.requests, self.name))
        for position in document_ids(self.requests, self.old):
            missing.pop(position, None)
        while missing:
            # a sender distinguishes documents by id, and documents of two shards may share one
            positions = {id: (id, routing) for id, routing in missing}
            deletions = [
                Operation("delete", id, metadata={"routing": routing} if routing else {})
                for id, routing in positions.values()
            ]
            Sender(self._post).send(deletions)
            for position in positions.values():
                del missing[position]
        self.requests.call("POST", f"{self.name}/_refresh")

    def take_over(self, old: Mapping[str, Any]) -> None:
        """Move the name and every alias of the old index but the one that nearfold made for writes,
        in one request. The final pipeline runs from then on.
        """
        if final := old["settings"]["index"].get("final_pipeline"):
            self.requests.call("PUT", f"{self.name}/_settings", {"index.final_pipeline": final})
        aliases = given_aliases(self.old, old)
        moved = {**aliases, self.location.index: aliases.get(self.location.index, {})}
        actions: list[Body] = [
            {"add": {"index": self.name, "alias": name, **body}} for name, body in moved.items()
        ]
        if self.old == self.location.index:
            actions = [{"remove_index": {"index": self.old}}, *actions]
        else:
            actions += [{"remove": {"index": self.old, "alias": name}} for name in aliases]
        try:
            self.requests.call("POST", "_aliases", {"actions": actions})
        except StoreError:
            # done by a request whose response was lost, if the name is of the new index
            now = current_index(self.requests, self.location)
            if now is None or now[0] != self.name:
                raise

    def lift_block(self) -> None:
        """Let the old version accept writes again unless the new one has its name, and so an index
        that another client gave the name of the old one; raise nothing.
        """
        requests = replace(self.requests, retry_policy=None)
        with contextlib.suppress(StoreError):
            now = current_index(requests, self.location)
            if now is None or now[0] != self.name:
                requests.send("PUT", f"{self.old}/_settings", {"index.blocks.write": None})

    def changes(self, old: Mapping[str, Any]) -> list[Change]:
        """Return what the new version is and takes over."""
        moved = [name for name in given_aliases(self.old, old) if name != self.location.index]
        return [
            Change("index", self.name, "created", f"like {self.old}, with its documents"),
            Change("alias", self._write_alias, "created"),
            Change("alias", self.location.index, "updated", f"stands for {self.name}"),
            *(Change("alias", name, "updated", f"stands for {self.name}") for name in moved),
        ]


def _settings(old: Mapping[str, Any], pipeline: str | None, layout: Layout) -> Body:
    """Return the settings of an index that another may be created with.

    No final pipeline runs, since it has run on the documents that are copied. With the plugin's
    layout none of nearfold's pipelines does.
    """
    settings = {
        name: value for name, value in old["settings"]["index"].items() if name not in _PRIVATE
    }
    routing = settings.get("routing", {})
    if "initial_recovery" in routing.get("allocation", {}):  # of a clone, split or shrunk index
        allocation = routing["allocation"].items()
        others = {name: value for name, value in allocation if name != "initial_recovery"}
        settings["routing"] = {**routing, "allocation": others}
    if layout == "plugin" and is_ours(settings.get("default_pipeline")):
        del settings["default_pipeline"]
    if pipeline:
        settings["default_pipeline"] = pipeline
    if "final_pipeline" in settings:
        settings["final_pipeline"] = "_none"
    return {"index": settings}


def nearfold_metadata(index: Mapping[str, Any]) -> Body:
    """Return what nearfold stores about an index in its mapping; empty when there is nothing."""
    metadata: Body = index.get("mappings", {}).get("_meta", {}).get("nearfold", {})
    return metadata


def _replace_fingerprint(
    source: Mapping[str, Any], signature: Mapping[str, Any], replaced: Sequence[str]
) -> Body:
    """Return a document with the `replaced` fields of the new recipe and everything else unchanged.

    A document that was never fingerprinted gets a family, too. The text comes last, as in
    `rows.source`.
    """
    document = {name: value for name, value in source.items() if name not in replaced}
    if not source.get("near_recipe"):
        document |= {name: signature[name] for name in _FIRST if name in signature}
    for name in replaced:
        if signature.get(name) not in (None, "", ()):
            document[name] = signature[name]
    ours = {name: value for name, value in document.items() if name.startswith("near_")}
    return {**ours, **document}


_DRAIN_SECONDS = 0.5
_DRAIN_CHECKS = 20
_VERSION = re.compile(r"(?P<base>.+)-(?P<number>\d{6})")


def replace_index(
    requests: Requests,
    address: IndexAddress,
    dialect: Dialect,
    options: ReindexOptions,
) -> ReindexResult:
    """Fill the next version of the index, then give it the name.

    Only the last step changes the index in service.
    """
    recipe, keep, on_progress = options.recipe, options.keep, options.on_progress
    fingerprint_rows = options.fingerprint_rows
    facts = _replaceable(requests, address, keep)
    old = requests.index(facts.index)
    _require_finished(requests, address, facts.index, old)
    if facts.recipe.id == recipe.id:
        if _is_current(old["mappings"], options.layout):
            return _clean_up(requests, address, facts.index, old, keep)
        fingerprint_rows = _fingerprint_unchanged(fingerprint_rows)
    successor = _successor(requests, address, facts, recipe, options.layout)
    if successor.layout == "plugin":
        require_plugin(requests)
    successor.check(old)
    assets = Assets(requests, dry_run=False)
    pipeline, _ = put_next_pipeline(assets, address, old, facts.recipe, recipe, successor.layout)
    successor.create(old, pipeline)
    copied = _copy(successor, fingerprint_rows, on_progress, until_idle=True)
    clone = version_name(address.index, 1) if keep and facts.index == address.index else None
    copied += _switch(successor, old, clone, fingerprint_rows, on_progress)
    update_template(assets, address, dialect, facts.recipe, recipe, successor.layout)
    current = requests.index(successor.name)
    _clean_up(requests, address, successor.name, current, keep)
    return ReindexResult(successor.name, copied, _old_version(address, facts.index, keep))


def _is_current(mapping: Mapping[str, Any], layout: Layout | None) -> bool:
    """Return whether an index of the same recipe has this layout, and fields as they are today."""
    return layout in (None, layout_of(mapping)) and not index_mapping.is_outdated(mapping)


def plan_replacement(
    requests: Requests,
    position: IndexAddress,
    dialect: Dialect,
    recipe: Recipe,
    keep: bool,
    layout: Layout | None = None,
) -> list[Change]:
    """Return what `replace_index` would change, in order; raise what it would raise before its
    first change.
    """
    facts = _replaceable(requests, position, keep)
    old = requests.index(facts.index)
    _require_finished(requests, position, facts.index, old)
    if facts.recipe.id == recipe.id and _is_current(old["mappings"], layout):
        return [Change("index", facts.index, "unchanged", f"it has recipe {recipe.name}")]
    successor = _successor(requests, position, facts, recipe, layout)
    if successor.layout == "plugin":
        require_plugin(requests)
    successor.check(old)
    assets = Assets(requests, dry_run=True)
    _, pipelines = put_next_pipeline(assets, position, old, facts.recipe, recipe, successor.layout)
    kept = _old_version(position, facts.index, keep)
    detail = "its writes are blocked while the last changes are copied"
    old_version = Change("index", facts.index, "removed", detail)
    if kept:
        old_version = Change("index", facts.index, "kept", f"as {kept}, write-blocked")
    template = update_template(assets, position, dialect, facts.recipe, recipe, successor.layout)
    return [*pipelines, *successor.changes(old), old_version, *template]


def _replaceable(requests: Requests, address: IndexAddress, keep: bool) -> IndexFacts:
    """Return the facts of an index that may be replaced."""
    facts = read_facts(requests, address)
    if facts is None:
        raise IndexMissing(address.url)
    require_one_index(address, facts)
    require_whole_indices(address, facts)
    facts.check_updatable()
    if is_shared_mapping(facts.mapping) and not _is_version(address.index, facts.index):
        raise UsageError(
            f"{address.index} is an alias of {facts.index}, an index that other programs write to; "
            f"its name would be gone, so give --store the index {facts.index} itself"
        )
    if keep and facts.index == address.index:
        _is_kept(requests, facts.index, version_name(address.index, 1))
    return facts


def _require_finished(
    requests: Requests, address: IndexAddress, name: str, index: Mapping[str, Any]
) -> None:
    """Raise `UsageError` for a new version that is named itself, and not yet filled."""
    origin = nearfold_metadata(index).get("reindexing", {}).get("from")
    if origin is None or name != address.index or requests.send("GET", origin).status == 404:
        return
    raise UsageError(
        f"{name} is a new version of {origin} that an interrupted reindex was filling; run the "
        f"reindex of {origin} again. If {name} is a copy that you want to keep as it is, delete "
        "`reindexing` from `_meta.nearfold` of its mapping"
    )


def _successor(
    requests: Requests,
    address: IndexAddress,
    facts: IndexFacts,
    recipe: Recipe,
    layout: Layout | None,
) -> Successor:
    name = next_version(address.index, facts.index)
    field = text_field(facts.mapping) or TEXT
    columns_of = facts.recipe if facts.columns else None
    layout = layout or layout_of(facts.mapping)
    identity = identity_of(facts.description)
    return Successor(
        requests, address, facts.index, name, recipe, field, layout, columns_of, identity
    )


def _fingerprint_unchanged(fingerprint_rows: FingerprintRows) -> FingerprintRows:
    """Return a function that fingerprints rows by the recipe that they have; families stay decided
    but of rows that leave theirs.
    """

    def fingerprint_batch(rows: Sequence[Row]) -> list[Row]:
        return [
            replace(new, provisional=old.provisional or new.family != old.family)
            for old, new in zip(rows, fingerprint_rows(rows), strict=True)
        ]

    return fingerprint_batch


def _copy(
    successor: Successor,
    fingerprint_rows: FingerprintRows,
    on_progress: OnProgress,
    until_idle: bool,
) -> int:
    """Copy and fingerprint what the new version lacks; return the number of documents."""
    copied = successor.follow(fingerprint_rows, on_progress, until_idle)
    successor.delete_missing()
    return copied


def _switch(
    successor: Successor,
    old: Mapping[str, Any],
    clone: str | None,
    fingerprint_rows: FingerprintRows,
    on_progress: OnProgress,
) -> int:
    """Copy the last changes while the old version refuses writes, then give the new one the name.

    Where that fails, the old version accepts writes again. `clone`: the name to keep it under, too.
    """
    requests = successor.requests
    try:
        requests.call("PUT", f"{successor.old}/_block/write")
        copied = _copy(successor, fingerprint_rows, on_progress, until_idle=False)
        check_same_indices(requests.send, {successor.old: old})
        if clone is not None:
            _clone(requests, successor.old, clone)
        successor.take_over(old)
    except BaseException:
        successor.lift_block()
        raise
    return copied


def next_version(index: str, current: str) -> str:
    """Return the name of the version after this one; an index without a version is the first.

    >>> next_version("papers", "papers"), next_version("papers", "papers-000009")
    ('papers-000002', 'papers-000010')
    >>> next_version("papers", "papers-old")
    'papers-000002'
    """
    match = _VERSION.fullmatch(current)
    if match and match["base"] == index:
        return version_name(index, int(match["number"]) + 1)
    return version_name(index, 2)


def _is_version(index: str, current: str) -> bool:
    """Return whether an index has this name itself, or is a version of it."""
    match = _VERSION.fullmatch(current)
    return current == index or (match is not None and match["base"] == index)


def _is_kept(requests: Requests, old: str, name: str) -> bool:
    """Return whether an index is kept under this name, as by a run that was interrupted.

    Raises `UsageError` where the name belongs to something else.
    """
    response = requests.send("GET", name)
    if response.status == 404:
        return False
    indices = response.body if response.status == 200 else {}
    settings = indices.get(name, {}).get("settings", {}).get("index", {})
    if settings.get("resize", {}).get("source", {}).get("name") != old:
        raise UsageError(
            f"--keep keeps the old version as {name}, and there is another index of this name; "
            "rename that, or leave --keep out"
        )
    return True


def _clone(requests: Requests, old: str, name: str) -> None:
    """Keep an index under another name, unless it is; the engine links its files."""
    if _is_kept(requests, old, name):
        return
    path, params = f"{old}/_clone/{name}", {"wait_for_active_shards": "1"}
    response = requests.send("PUT", path, params=params, seconds=COPY_SECONDS)
    if not 200 <= response.status < 300 and response.kind != EXISTS:
        raise error_of(requests.url, response, f"PUT {path}")


def _clean_up(
    requests: Requests, position: IndexAddress, name: str, index: Mapping[str, Any], keep: bool
) -> ReindexResult:
    """Delete the checkpoint of a version in service, and the old version unless it is kept.

    The old version is the one before in the numbering of this name, which has its names now.
    """
    metadata = nearfold_metadata(index)
    origin = metadata.get("reindexing")
    if origin is None:
        return ReindexResult(name, 0, None)
    if not keep and _is_superseded(requests, position, origin["from"], name):
        _drain(requests, origin["from"])
        requests.send("DELETE", origin["from"])
    meta = changed_meta(index["mappings"], {"reindexing": None})
    requests.call("PUT", f"{name}/_mapping", {"_meta": meta})
    return ReindexResult(name, 0, _old_version(position, origin["from"], keep))


def _is_superseded(requests: Requests, address: IndexAddress, old: str, name: str) -> bool:
    """Return whether a version is the one before the version that has its names now, and has none
    but that for its own writes.
    """
    is_before = old != address.index and _is_version(address.index, old)
    if not is_before or next_version(address.index, old) != name:
        return False
    response = requests.send("GET", old)
    return response.status == 200 and not given_aliases(old, response.body[old])


def _drain(requests: Requests, index: str) -> None:
    """Wait until nobody reads an index any more, for a bounded time."""
    for _ in range(_DRAIN_CHECKS):
        time.sleep(_DRAIN_SECONDS)  # requests that began before the name moved finish first
        stats = requests.send("GET", f"{index}/_stats/search").body or {}
        if not stats.get("_all", {}).get("total", {}).get("search", {}).get("open_contexts"):
            return


def _old_version(address: IndexAddress, old: str, keep: bool) -> str | None:
    """Return the name under which the old version is kept; None when it is not."""
    if not keep:
        return None
    return version_name(address.index, 1) if old == address.index else old
