"""Another recipe for an index that stays in service: a new version is filled beside it and takes
its name in one step.

The old index is read as a feed: an engine numbers the operations of each shard, so what changes
while the copy runs is what has a higher number. How far the copy came is kept in the new index
itself, and a second run goes on from there.
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
from indexer.stores.engine.index import Dialect, IndexPlace, Requests, about, version
from indexer.stores.engine.install import renew, renewed_pipeline
from indexer.stores.engine.link import Answer, IndexMissing
from indexer.stores.engine.mapping_facts import text_field
from indexer.stores.engine.painless import TEXT
from indexer.stores.engine.sender import Operation, Sender
from indexer.stores.maintenance import OnProgress, ReindexResult, SignRows

PAGE, NOTED_EVERY = 500, 10
_COPY_SECONDS = 300.0
_LOOK_EVERY, _DRAINING = 0.5, 20
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
    "near_recipe", "near_status", "near_exact", "near_words", "near_chars", "near_bands", "near_blocks", "near_minhash",
    "near_simhash", "near_terms", "near_rare", "near_provisional",
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
    """Fill the next version of the index and let it take the name; nothing but the last step
    changes what is in service.
    """
    known = about(requests, place)
    if known is None:
        raise IndexMissing(place.url)
    old = requests.get("GET", known.index)[known.index]
    if known.recipe.id == recipe.id:
        return _tidied(requests, place, known.index, old, keep)
    fresh = _Fresh(
        requests,
        place,
        known.index,
        successor(place.index, known.index),
        recipe,
        text_field(known.mapping) or TEXT,
    )
    pipeline = renewed_pipeline(requests, place, old, known.recipe, recipe)
    fresh.make(old, pipeline)
    copied = 0
    for blocked in (False, True):
        if blocked:
            requests.get("PUT", f"{known.index}/_block/write")
        copied += fresh.follow(sign_rows, on_progress, until_idle=not blocked)
        fresh.forget_deleted()
    if keep and known.index == place.index:
        _set_aside(requests, known.index, version(place.index, 1))
    fresh.take_over(old)
    renew(requests, place, dialect, known.recipe, recipe)
    now = requests.get("GET", fresh.name)[fresh.name]
    _tidied(requests, place, fresh.name, now, keep)
    return ReindexResult(fresh.name, copied, _kept(place, known.index, keep))


def successor(index: str, current: str) -> str:
    """The name of the version after this one; an index without a version counts as the first.

    >>> successor("papers", "papers"), successor("papers", "papers-000009"), successor("papers", "papers-old")
    ('papers-000002', 'papers-000010', 'papers-000002')
    """
    found = _VERSION.fullmatch(current)
    return version(index, int(found["number"]) + 1 if found and found["base"] == index else 2)


@dataclass(slots=True)
class _Fresh:
    """The version that is being filled."""

    requests: Requests
    place: IndexPlace
    old: str
    name: str
    recipe: Recipe
    text_field: str

    def make(self, old: Mapping[str, Any], pipeline: str | None) -> None:
        """Make it like the old one, but for the recipe; one that a former run made is taken up."""
        answer = self.requests.ask("GET", self.name)
        if answer.status == 404:
            body = {
                "settings": _settings(old, pipeline),
                "mappings": self._mappings(old),
                "aliases": {f"{self.name}-write": {}},
            }
            self.requests.get("PUT", self.name, body)
            return
        begun = _about(answer.body[self.name]) if answer.status == 200 else {}
        if (
            begun.get("recipe_id") != self.recipe.id
            or begun.get("reindexing", {}).get("from") != self.old
        ):
            raise ReindexInProgress(
                index=self.name, recipe=Recipe(**begun["recipe"]).name if "recipe" in begun else ""
            )

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
        """Copy what happened since the last look, and look again until little did; how many
        documents were written.
        """
        copied, done = 0, self._done()
        while True:
            marks = _marks(self.requests, self.old)
            self.requests.get("POST", f"{self.old}/_refresh")
            before = copied
            for shard, mark in marks.items():
                for page in _feed(self.requests, self.old, shard, done.get(shard, -1), mark):
                    self._write(page, sign_rows)
                    copied += len(page)
                    done[shard] = page[-1]["_seq_no"]
                    on_progress(copied)
                    if copied // PAGE % NOTED_EVERY == 0:
                        self._note(done)
                done[shard] = mark
            self._note(done)
            if not until_idle or copied - before <= PAGE:
                return copied

    def _write(self, hits: list[bodies.Body], sign_rows: SignRows) -> None:
        rows = sign_rows(
            [documents.row(hit["_id"], hit["_source"], self.text_field) for hit in hits]
        )
        operations = [
            Operation(
                "index",
                hit["_id"],
                _renewed(hit["_source"], documents.signature(row, self.text_field)),
            )
            for hit, row in zip(hits, rows, strict=True)
        ]
        replies = Sender(self._post).send(operations)
        if refused := next(
            (f"{name}: {reply.refused}" for name, reply in replies.items() if reply.refused), None
        ):
            raise StoreError(
                f"{self.name} refused {refused}; the index in service is as it was; run `nearfold doctor`"
            )

    def _post(self, body: bytes) -> Answer:
        params = {"require_alias": "true", "pipeline": "_none"}
        return self.requests.link.request(
            "POST", f"{self.name}-write/_bulk", body, params, _COPY_SECONDS
        )

    def _done(self) -> dict[str, int]:
        """How far each shard was copied, by the number of the operation."""
        found = self.requests.get("GET", self.name)[self.name]
        return dict(_about(found).get("reindexing", {}).get("done", {}))

    def _note(self, done: Mapping[str, int]) -> None:
        found = self.requests.get("GET", self.name)[self.name]["mappings"]["_meta"]
        ours = {**found["nearfold"], "reindexing": {"from": self.old, "done": done}}
        self.requests.get("PUT", f"{self.name}/_mapping", {"_meta": {**found, "nearfold": ours}})

    def forget_deleted(self) -> None:
        """Delete what is no longer in the old index. Ids are compared only when there are too many
        documents.
        """
        self.requests.get("POST", f"{self.old},{self.name}/_refresh")
        if _count(self.requests, self.name) <= _count(self.requests, self.old):
            return
        gone = set(_ids(self.requests, self.name)) - set(_ids(self.requests, self.old))
        Sender(self._post).send([Operation("delete", name) for name in sorted(gone)])
        self.requests.get("POST", f"{self.name}/_refresh")

    def take_over(self, old: Mapping[str, Any]) -> None:
        """One change of the cluster's state: every alias of the old index but its writers' own, and
        the name itself.
        """
        aliases = {
            name: body
            for name, body in old.get("aliases", {}).items()
            if name != f"{self.old}-write"
        }
        named = {**aliases, self.place.index: aliases.get(self.place.index, {})}
        actions: list[bodies.Body] = [
            {"add": {"index": self.name, "alias": name, **body}} for name, body in named.items()
        ]
        if self.old == self.place.index:
            actions = [{"remove_index": {"index": self.old}}, *actions]
        else:
            actions += [{"remove": {"index": self.old, "alias": name}} for name in aliases]
        self.requests.get("POST", "_aliases", {"actions": actions})


def _settings(old: Mapping[str, Any], pipeline: str | None) -> bodies.Body:
    """The settings of an index that another may be made with."""
    settings = {
        name: value for name, value in old["settings"]["index"].items() if name not in _PRIVATE
    }
    if pipeline:
        settings["default_pipeline"] = pipeline
    return {"index": settings}


def _about(index: Mapping[str, Any]) -> bodies.Body:
    known: bodies.Body = index.get("mappings", {}).get("_meta", {}).get("nearfold", {})
    return known


def _renewed(source: Mapping[str, Any], signed: Mapping[str, Any]) -> bodies.Body:
    """A document with the keys of the new recipe; everything else in it stays. One that was never
    signed gets a family.
    """
    others = {name: value for name, value in source.items() if name not in _KEYS}
    first = (
        {}
        if source.get("near_recipe")
        else {name: signed[name] for name in _FIRST if name in signed}
    )
    return {
        **others,
        **first,
        **{name: signed[name] for name in _KEYS if signed.get(name) not in (None, ())},
    }


def _marks(requests: Requests, index: str) -> dict[str, int]:
    """The last operation of each shard that every copy has."""
    found = requests.get("GET", f"{index}/_stats/store", params={"level": "shards"})["indices"][
        index
    ]["shards"]
    return {
        shard: next(
            copy["seq_no"]["global_checkpoint"] for copy in copies if copy["routing"]["primary"]
        )
        for shard, copies in sorted(found.items())
    }


def _feed(
    requests: Requests, index: str, shard: str, after: int, mark: int, whole: bool = True
) -> Iterator[list[bodies.Body]]:
    """The documents of a shard last written after one operation and up to another, page by page, in
    that order.
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
    for shard, mark in _marks(requests, index).items():
        for page in _feed(requests, index, shard, -1, mark, whole=False):
            yield from (hit["_id"] for hit in page)


def _count(requests: Requests, index: str) -> int:
    body = {"size": 0, "track_total_hits": True}
    return int(requests.get("POST", f"{index}/_search", body)["hits"]["total"]["value"])


def _set_aside(requests: Requests, old: str, name: str) -> None:
    """Keep an index that holds the name itself under its first version's name; the engine links its
    files.
    """
    if requests.ask("GET", name).status == 404:
        requests.get(
            "PUT",
            f"{old}/_clone/{name}",
            params={"wait_for_active_shards": "1"},
            seconds=_COPY_SECONDS,
        )


def _tidied(
    requests: Requests, place: IndexPlace, name: str, index: Mapping[str, Any], keep: bool
) -> ReindexResult:
    """After the new version took over: forget how it was filled, and delete the old one unless it
    is kept.
    """
    known = _about(index)
    begun = known.get("reindexing")
    if begun is None:
        return ReindexResult(name, 0, None)
    if not keep and begun["from"] != place.index:
        _drain(requests, begun["from"])
        requests.ask("DELETE", begun["from"])
    ours = {field: value for field, value in known.items() if field != "reindexing"}
    requests.get(
        "PUT", f"{name}/_mapping", {"_meta": {**index["mappings"]["_meta"], "nearfold": ours}}
    )
    return ReindexResult(name, 0, _kept(place, begun["from"], keep))


def _drain(requests: Requests, index: str) -> None:
    """Wait until nobody reads an index any more, for a bounded time."""
    for _ in range(_DRAINING):
        time.sleep(_LOOK_EVERY)  # what was under way when the name moved is answered first
        found = requests.ask("GET", f"{index}/_stats/search").body or {}
        if not found.get("_all", {}).get("total", {}).get("search", {}).get("open_contexts"):
            return


def _kept(place: IndexPlace, old: str, keep: bool) -> str | None:
    if not keep:
        return None
    return version(place.index, 1) if old == place.index else old
