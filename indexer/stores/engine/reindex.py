"""A change of recipe for an index in service: fill a new version, then switch the name in one step.

The old index is read as a feed: an engine numbers the operations of each shard, so documents that
change during the copy have a higher number. The progress of the copy is stored in the new index,
and a second run continues from there.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from indexer.errors import ReindexInProgress, StoreError
from indexer.recipe import Recipe
from indexer.stores.engine import bodies
from indexer.stores.engine import rows as documents
from indexer.stores.engine.index import Dialect, IndexPlace, Requests, read_facts, version_name
from indexer.stores.engine.install import put_next_pipeline, update_template
from indexer.stores.engine.link import Answer, IndexMissing
from indexer.stores.engine.mapping_facts import text_field
from indexer.stores.engine.painless import TEXT
from indexer.stores.engine.sender import Operation, Sender
from indexer.stores.maintenance import OnProgress, ReindexResult, SignRows

PAGE = 500
PAGES_A_CHECKPOINT = 10
_COPY_SECONDS = 300.0
_DRAIN_SECONDS = 0.5
_DRAIN_CHECKS = 20
_PRIVATE = (
    "uuid",
    "creation_date",
    "version",
    "provided_name",
    "resize",
    "blocks",
    "history",
    "routing_path",
)
_KEYS = (
    "near_recipe", "near_status", "near_exact", "near_words", "near_chars", "near_bands",
    "near_blocks", "near_minhash", "near_simhash", "near_terms", "near_rare", "near_provisional",
)  # fmt: skip
_FIRST = ("near_id", "near_family", "near_text_field")
_VERSION = re.compile(r"(?P<base>.+)-(?P<number>\d{6})")


def replace_index(
    requests: Requests,
    place: IndexPlace,
    dialect: Dialect,
    recipe: Recipe,
    sign_rows: SignRows,
    keep: bool,
    on_progress: OnProgress,
) -> ReindexResult:
    """Fill the next version of the index, then give it the name.

    Only the last step changes the index in service.
    """
    facts = read_facts(requests, place)
    if facts is None:
        raise IndexMissing(place.url)
    old = requests.get("GET", facts.index)[facts.index]
    if facts.recipe.id == recipe.id:
        return _clean_up(requests, place, facts.index, old, keep)
    successor = _Successor(
        requests,
        place,
        facts.index,
        next_version(place.index, facts.index),
        recipe,
        text_field(facts.mapping) or TEXT,
    )
    pipeline = put_next_pipeline(requests, place, old, facts.recipe, recipe)
    successor.create(old, pipeline)
    copied = 0
    for blocked in (False, True):
        if blocked:
            requests.get("PUT", f"{facts.index}/_block/write")
        copied += successor.follow(sign_rows, on_progress, until_idle=not blocked)
        successor.delete_missing()
    if keep and facts.index == place.index:
        _clone(requests, facts.index, version_name(place.index, 1))
    successor.take_over(old)
    update_template(requests, place, dialect, facts.recipe, recipe)
    current = requests.get("GET", successor.name)[successor.name]
    _clean_up(requests, place, successor.name, current, keep)
    return ReindexResult(successor.name, copied, _old_version(place, facts.index, keep))


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


@dataclass(slots=True)
class _Successor:
    """The version that the run fills."""

    requests: Requests
    place: IndexPlace
    old: str
    name: str
    recipe: Recipe
    text_field: str

    def create(self, old: Mapping[str, Any], pipeline: str | None) -> None:
        """Create it like the old one but for the recipe, or continue with that of a former run.

        Raises `ReindexInProgress` when the index of that name has another recipe or origin.
        """
        answer = self.requests.ask("GET", self.name)
        if answer.status == 404:
            body = {
                "settings": _settings(old, pipeline),
                "mappings": self._mappings(old),
                "aliases": {f"{self.name}-write": {}},
            }
            self.requests.get("PUT", self.name, body)
            return
        known = _about(answer.body[self.name]) if answer.status == 200 else {}
        is_same_recipe = known.get("recipe_id") == self.recipe.id
        if not is_same_recipe or known.get("reindexing", {}).get("from") != self.old:
            name = Recipe(**known["recipe"]).name if "recipe" in known else ""
            raise ReindexInProgress(index=self.name, recipe=name)

    def _mappings(self, old: Mapping[str, Any]) -> bodies.Body:
        meta = dict(old["mappings"]["_meta"])
        meta["nearfold"] = {
            **meta["nearfold"],
            "recipe_id": self.recipe.id,
            "recipe": self.recipe.settings,
            "reindexing": {"from": self.old, "done": {}},
        }
        return {**old["mappings"], "_meta": meta}

    def follow(self, sign_rows: SignRows, on_progress: OnProgress, until_idle: bool) -> int:
        """Copy what changed since the last checkpoint; return how many documents were written.

        With `until_idle`, copy again until at most `PAGE` documents changed meanwhile.
        """
        copied = 0
        done = self._checkpoint()
        while True:
            marks = _last_operations(self.requests, self.old)
            self.requests.get("POST", f"{self.old}/_refresh")
            before = copied
            for shard, mark in marks.items():
                for page in _feed(self.requests, self.old, shard, done.get(shard, -1), mark):
                    self._write(page, sign_rows)
                    copied += len(page)
                    done[shard] = page[-1]["_seq_no"]
                    on_progress(copied)
                    if copied // PAGE % PAGES_A_CHECKPOINT == 0:
                        self._store_checkpoint(done)
                done[shard] = mark
            self._store_checkpoint(done)
            if not until_idle or copied - before <= PAGE:
                return copied

    def _write(self, hits: list[bodies.Body], sign_rows: SignRows) -> None:
        """Write documents with new signatures; raise `StoreError` when one is refused."""
        rows = sign_rows(
            [documents.row(hit["_id"], hit["_source"], self.text_field) for hit in hits]
        )
        operations = []
        for hit, row in zip(hits, rows, strict=True):
            body = _replace_signature(hit["_source"], documents.signature(row, self.text_field))
            operations.append(Operation("index", hit["_id"], body))
        for id, reply in Sender(self._post).send(operations).items():
            if reply.refused:
                raise StoreError(
                    f"{self.name} refused {id}: {reply.refused}; "
                    "the index in service is as it was; run `nearfold doctor`"
                )

    def _post(self, body: bytes) -> Answer:
        params = {"require_alias": "true", "pipeline": "_none"}
        return self.requests.link.request(
            "POST", f"{self.name}-write/_bulk", body, params, _COPY_SECONDS
        )

    def _checkpoint(self) -> dict[str, int]:
        """Return the number of the last operation copied of each shard."""
        index = self.requests.get("GET", self.name)[self.name]
        return dict(_about(index).get("reindexing", {}).get("done", {}))

    def _store_checkpoint(self, done: Mapping[str, int]) -> None:
        meta = self.requests.get("GET", self.name)[self.name]["mappings"]["_meta"]
        ours = {**meta["nearfold"], "reindexing": {"from": self.old, "done": done}}
        self.requests.get("PUT", f"{self.name}/_mapping", {"_meta": {**meta, "nearfold": ours}})

    def delete_missing(self) -> None:
        """Delete documents that are no longer in the old index.

        Ids are compared only when this index has more documents.
        """
        self.requests.get("POST", f"{self.old},{self.name}/_refresh")
        if _count(self.requests, self.name) <= _count(self.requests, self.old):
            return
        missing = set(_ids(self.requests, self.name)) - set(_ids(self.requests, self.old))
        Sender(self._post).send([Operation("delete", id) for id in sorted(missing)])
        self.requests.get("POST", f"{self.name}/_refresh")

    def take_over(self, old: Mapping[str, Any]) -> None:
        """Move the name and every alias of the old index but its write alias, in one request."""
        aliases = {
            name: body
            for name, body in old.get("aliases", {}).items()
            if name != f"{self.old}-write"
        }
        moved = {**aliases, self.place.index: aliases.get(self.place.index, {})}
        actions: list[bodies.Body] = [
            {"add": {"index": self.name, "alias": name, **body}} for name, body in moved.items()
        ]
        if self.old == self.place.index:
            actions = [{"remove_index": {"index": self.old}}, *actions]
        else:
            actions += [{"remove": {"index": self.old, "alias": name}} for name in aliases]
        self.requests.get("POST", "_aliases", {"actions": actions})


def _settings(old: Mapping[str, Any], pipeline: str | None) -> bodies.Body:
    """Return the settings of an index that another may be created with."""
    settings = {
        name: value for name, value in old["settings"]["index"].items() if name not in _PRIVATE
    }
    if pipeline:
        settings["default_pipeline"] = pipeline
    return {"index": settings}


def _about(index: Mapping[str, Any]) -> bodies.Body:
    known: bodies.Body = index.get("mappings", {}).get("_meta", {}).get("nearfold", {})
    return known


def _replace_signature(source: Mapping[str, Any], signature: Mapping[str, Any]) -> bodies.Body:
    """Return a document with the keys of the new recipe and everything else in it unchanged.

    A document that was never signed gets a family, too.
    """
    document = {name: value for name, value in source.items() if name not in _KEYS}
    if not source.get("near_recipe"):
        document |= {name: signature[name] for name in _FIRST if name in signature}
    for name in _KEYS:
        if signature.get(name) not in (None, ()):
            document[name] = signature[name]
    return document


def _last_operations(requests: Requests, index: str) -> dict[str, int]:
    """Return the number of the last operation of each shard that every copy has."""
    stats = requests.get("GET", f"{index}/_stats/store", params={"level": "shards"})
    operations = {}
    for shard, copies in sorted(stats["indices"][index]["shards"].items()):
        primary = next(copy for copy in copies if copy["routing"]["primary"])
        operations[shard] = primary["seq_no"]["global_checkpoint"]
    return operations


def _feed(
    requests: Requests, index: str, shard: str, after: int, mark: int, whole: bool = True
) -> Iterator[list[bodies.Body]]:
    """Yield pages of the documents of a shard last written by operations in (`after`, `mark`].

    They come in the order of the operations; without `whole` they have no `_source`.
    """
    while after < mark:
        body = {
            "size": PAGE,
            "_source": whole,
            "track_total_hits": False,
            "seq_no_primary_term": True,
            "query": {"range": {"_seq_no": {"gt": after, "lte": mark}}},
            "sort": [{"_seq_no": "asc"}],
        }
        params = {"preference": f"_shards:{shard}", "allow_partial_search_results": "false"}
        hits = requests.get("POST", f"{index}/_search", body, params)["hits"]["hits"]
        if not hits:
            return
        yield hits
        after = hits[-1]["_seq_no"]


def _ids(requests: Requests, index: str) -> Iterator[str]:
    for shard, mark in _last_operations(requests, index).items():
        for page in _feed(requests, index, shard, -1, mark, whole=False):
            yield from (hit["_id"] for hit in page)


def _count(requests: Requests, index: str) -> int:
    body = {"size": 0, "track_total_hits": True}
    return int(requests.get("POST", f"{index}/_search", body)["hits"]["total"]["value"])


def _clone(requests: Requests, old: str, name: str) -> None:
    """Keep an index under another name, unless that exists; the engine links its files."""
    if requests.ask("GET", name).status == 404:
        requests.get(
            "PUT",
            f"{old}/_clone/{name}",
            params={"wait_for_active_shards": "1"},
            seconds=_COPY_SECONDS,
        )


def _clean_up(
    requests: Requests, place: IndexPlace, name: str, index: Mapping[str, Any], keep: bool
) -> ReindexResult:
    """Delete the checkpoint of a version in service, and the old version unless it is kept."""
    known = _about(index)
    origin = known.get("reindexing")
    if origin is None:
        return ReindexResult(name, 0, None)
    if not keep and origin["from"] != place.index:
        _drain(requests, origin["from"])
        requests.ask("DELETE", origin["from"])
    ours = {field: value for field, value in known.items() if field != "reindexing"}
    meta = {**index["mappings"]["_meta"], "nearfold": ours}
    requests.get("PUT", f"{name}/_mapping", {"_meta": meta})
    return ReindexResult(name, 0, _old_version(place, origin["from"], keep))


def _drain(requests: Requests, index: str) -> None:
    """Wait until nobody reads an index any more, for a bounded time."""
    for _ in range(_DRAIN_CHECKS):
        time.sleep(_DRAIN_SECONDS)  # requests that began before the name moved finish first
        stats = requests.ask("GET", f"{index}/_stats/search").body or {}
        if not stats.get("_all", {}).get("total", {}).get("search", {}).get("open_contexts"):
            return


def _old_version(place: IndexPlace, old: str, keep: bool) -> str | None:
    """Return the name under which the old version is kept; None when it is not."""
    if not keep:
        return None
    return version_name(place.index, 1) if old == place.index else old
