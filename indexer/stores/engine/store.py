"""The store in a search engine: what OpenSearch and Elasticsearch have in common, which is all but
a few words.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Literal

from indexer.errors import StoreError, StoreStopped
from indexer.model import Assignment, Candidates, PrincipalRow, Query, Row, Scope
from indexer.recipe import Recipe
from indexer.stores.address import StoreAddress
from indexer.stores.base import HOT_KEY_FLOOR, HOT_KEY_SHARE, Change, Counts, Ranking
from indexer.stores.engine import bodies
from indexer.stores.engine import family_queries as families
from indexer.stores.engine import install as _engine_install
from indexer.stores.engine import parts as _engine_parts
from indexer.stores.engine import reindex as _engine_reindex
from indexer.stores.engine import rows as documents
from indexer.stores.engine import security as _engine_roles
from indexer.stores.engine.concurrency import Window
from indexer.stores.engine.field_substitutes import substitutes
from indexer.stores.engine.index import (
    Dialect,
    IndexFacts,
    IndexPlace,
    Requests,
    about,
    give_alias,
    prepare,
    standing,
)
from indexer.stores.engine.installation import text_field
from indexer.stores.engine.link import Answer, IndexMissing, Link
from indexer.stores.engine.painless import TEXT
from indexer.stores.engine.queries import PAGE, IndexQueries
from indexer.stores.engine.roles import roles
from indexer.stores.engine.sender import Operation, Reply, RetryPolicy, Sender
from indexer.stores.renewal import OnProgress, ReindexResult, SignRows
from indexer.stores.row_limits import refusal, storable, storable_ids, storable_labels
from indexer.text.phrases import well_formed

FIRST_PAGE = 20
BULK_SECONDS = 120.0
WRITERS = 4  # bulk requests under way at once, when the engine keeps up
_CHUNK = 1_000


class EngineStore:
    """A store in one index of a search engine. It may be shared by threads."""

    def __init__(self, address: StoreAddress, link: Link, dialect: Dialect) -> None:
        self.address, self.url = address, address.url
        place = IndexPlace(address.url, address.index, address.shards, address.replicas)
        self.hot_key_floor, self.hot_key_share = HOT_KEY_FLOOR, HOT_KEY_SHARE
        self._place, self._link, self._dialect = place, link, dialect
        self._requests = Requests(link, place.url)
        self._known: IndexFacts | None = None
        self.writers, self.shared = WRITERS, True
        self._sender = Sender(self._post, window=Window(WRITERS))
        self._scope: Scope = "documents"

    def of(self, scope: Scope) -> EngineStore:
        """The same connections and the same window of requests under way; the store itself for the
        scope that it has.
        """
        if scope == self._scope:
            return self  # what is noticed of an index that another one replaced is noticed for all
        view = copy.copy(self)
        view._scope = scope
        return view

    def stored_parts(self) -> str | None:
        """Read from the index's `_meta`."""
        self.stored_recipe()
        return self._known.parts if self._known else None

    def keep_parts(self, kind: str) -> None:
        """Adds the fields that parts have beside those of documents."""
        _engine_parts.keep(self._requests, self._index(), kind)
        self._known = None

    def stored_recipe(self) -> Recipe | None:
        """Read from the index's `_meta`; `MappingMismatch` for an index that nearfold did not
        make.
        """
        self._known = self._known or about(self._requests, self._place)
        return self._known.recipe if self._known else None

    def prepare(self, recipe: Recipe) -> None:
        """Makes the index with a strict mapping, and an alias for writes: an engine never makes one
        of itself.

        From then on every request has the patience of a job.
        """
        prepare(self._requests, self._place, self._dialect, recipe)
        self._known = None
        self._requests = replace(self._requests, patience=RetryPolicy())

    def write(self, rows: Sequence[Row]) -> list[str | None]:
        """A row that the engine itself refuses is refused in the engine's words."""
        recipe = self._recipe().id
        mended = [storable(row) for row in rows]
        refusals = [refusal(row, recipe) for row in mended]
        last = {
            row.id: row for row, refused in zip(mended, refusals, strict=True) if refused is None
        }
        without = self._write_parts([row for row in last.values() if row.parts is not None])
        sent = [
            Operation("index", name, documents.source(row))
            for name, row in last.items()
            if name not in without
        ]
        replies = self._send(sent)
        return [
            refused or without.get(row.id) or replies[row.id].refused
            for row, refused in zip(mended, refusals, strict=True)
        ]

    def _write_parts(self, rows: Sequence[Row]) -> dict[str, str]:
        """Write the parts of these documents and delete those that they have no more; why parts
        were refused, by document.
        """
        if not rows:
            return {}
        stale = set(self._parts_of([row.id for row in rows]))
        parts = {part.id: part for row in rows for part in row.parts or ()}
        operations = [
            Operation("index", name, documents.source(part)) for name, part in parts.items()
        ]
        replies = self._send(
            [*operations, *(Operation("delete", name) for name in sorted(stale - parts.keys()))]
        )
        return {
            part.parent or "": said
            for name, part in parts.items()
            if (said := replies[name].refused)
        }

    def _parts_of(self, ids: Sequence[str]) -> dict[str, str]:
        """The parts of these documents, each with its document, those included that were written a
        moment ago.
        """
        if not ids or self.stored_parts() is None:
            return {}
        self.refresh()
        return dict(self.members("parent", ids))

    def delete(self, ids: Sequence[str]) -> int:
        """A row counts when an answer says that it was there; after a lost answer it may go
        uncounted.
        """
        self._recipe()
        names = storable_ids(ids)
        if divided := self._parts_of(names):
            self._send([Operation("delete", name) for name in divided if name not in names])
        replies = self._send([Operation("delete", name) for name in names])
        return sum(reply.status == 200 for reply in replies.values())

    def assign(self, assignments: Iterable[Assignment]) -> int:
        """Partial updates, in requests of bounded size."""
        self._recipe()
        written, waiting = 0, iter(assignments)
        while chunk := list(islice(waiting, _CHUNK)):
            last = {well_formed(one.id): {"doc": documents.assigned(one)} for one in chunk}
            replies = self._send([Operation("update", name, body) for name, body in last.items()])
            written += sum(reply.status != 404 for reply in replies.values())
            if refused := next(
                (reply.refused for reply in replies.values() if reply.refused), None
            ):
                raise StoreError(f"{self.url} refused a family: {refused}; run `nearfold doctor`")
        return written

    def relabel(self, labels: Mapping[str, Sequence[str]]) -> int:
        """Partial updates, in requests of bounded size."""
        self._recipe()
        given = storable_labels(labels)
        named = {
            **{id: given[parent] for id, parent in self._parts_of(list(given)).items()},
            **given,
        }
        replies = self._send(
            [Operation("update", id, {"doc": {"labels": values}}) for id, values in named.items()]
        )
        if refused := next((reply.refused for reply in replies.values() if reply.refused), None):
            raise StoreError(f"{self.url} refused a label: {refused}")
        return sum(replies[id].status != 404 for id in given)

    def principals(self, asked: Sequence[Sequence[str]] | None, limit: int) -> list[PrincipalRow]:
        """One request, or one more of many searches when `limit` is reached."""
        return families.principals(self._questions(), asked, self._recipe().id, limit)

    def members(
        self, field: Literal["family", "cluster", "parent"], names: Sequence[str]
    ) -> Iterator[tuple[str, str]]:
        """Those of the moment when the first is read."""
        return families.members(self.of("both")._questions(), field, list(map(well_formed, names)))

    def _send(self, operations: list[Operation]) -> dict[str, Reply]:
        try:
            return self._sender.send(operations)
        except StoreStopped:
            with contextlib.suppress(StoreError):
                self._look_again()
            raise

    def _look_again(self) -> None:
        """Forget what is known of the index when another one has taken its name."""
        known, now = self._known, standing(self._requests, self._place)
        if known and now and now != (known.index, known.recipe.id):
            self._known = None

    def _post(self, body: bytes) -> Answer:
        params = {"require_alias": "true", "pipeline": "_none"}
        return self._link.request("POST", f"{self._alias()}/_bulk", body, params, BULK_SECONDS)

    def _alias(self) -> str:
        """The alias through which the index is written, given back to one that an uninstallation
        let go without.
        """
        known = self._known
        if known and known.writes is None:
            self._known = known = give_alias(self._requests, self._place, known)
        return (known and known.writes) or self._place.write_alias

    def refresh(self) -> None:
        """Waits until every shard shows what was written."""
        self._requests.get("POST", f"{self._index()}/_refresh")

    def get(self, ids: Sequence[str], snapshot: str | None = None) -> dict[str, Row]:
        """Fresh from the engine, refreshed or not, unless a snapshot is given."""
        asked, field, names = self._questions(), self._field(), storable_ids(ids)
        found = (
            asked.documents_at(snapshot, names)
            if snapshot
            else asked.documents_now(names, PAGE, {})
        )
        return {name: documents.row(name, document, field) for name, document in found}

    def sources(self, ids: Sequence[str]) -> dict[str, str]:
        """Fresh from the engine, refreshed or not."""
        found = self._questions().documents_now(
            storable_ids(ids), _CHUNK, {"_source_includes": "near_source"}
        )
        return {name: document.get("near_source", "") for name, document in found}

    def candidates(self, bands: Sequence[str], blocks: Sequence[str], limit: int) -> Candidates:
        """Two requests: how many rows carry each key, and the rows that share those that are
        asked.
        """
        return self.candidates_of([(bands, blocks)], limit)[0]

    def candidates_of(
        self, asked: Sequence[tuple[Sequence[str], Sequence[str]]], limit: int
    ) -> list[Candidates]:
        """Two requests for about ten look-ups with a limit of 1,000, or a hundred with fewer."""
        recipe = self._recipe().id
        found = self._questions().candidates(
            [bodies.keys(*keys) for keys in asked], recipe, limit, self._cap
        )
        if not all(one.found for one in found):
            self._look_again()
        return found

    def _cap(self, rows: int) -> int:
        return max(self.hot_key_floor, int(self.hot_key_share * rows))

    def search(
        self, query: Query, snapshot: str | None = None, keep_alive: bool = False
    ) -> Ranking:
        """The matches and their order are those of the moment when the search begins, or of the one
        given.
        """
        plain, wanted = families.without_conflict(query)
        body = bodies.search(plain, FIRST_PAGE)
        questions = self._questions()
        if body is not None and wanted:
            body["query"]["bool"]["filter"] += families.conflict_filters(questions, wanted)
        if body is None:
            return Ranking(0, iter(()), 0, dict.fromkeys(query.facets, ()))
        pages = questions.pages(body, snapshot, keep_alive)
        first = next(pages)
        counted, scored = first.get("aggregations", {}), body["sort"][0] == bodies.BEST
        return Ranking(
            total=first["hits"]["total"]["value"],
            hits=(
                documents.ranked(hit, scored)
                for page in chain([first], pages)
                for hit in page["hits"]["hits"]
            ),
            families=documents.families(counted) if query.families else None,
            facets={
                name: tuple(map(documents.facet, counted[name]["buckets"])) for name in query.facets
            },
            snapshot=first["pit_id"] if keep_alive else None,
        )

    def release(self, snapshot: str) -> None:
        """Closes the point in time."""
        self._questions().release(snapshot)

    def scan(self, under: str | None = None) -> Iterator[Row]:
        """The set and its order are those of the moment when the first row is read."""
        body, field = (
            bodies.scan(None if under is None else well_formed(under), PAGE),
            self._field(),
        )
        for answer in self._questions().pages(body):
            yield from (
                documents.row(hit["_id"], hit["_source"], field) for hit in answer["hits"]["hits"]
            )

    def counts(self) -> Counts:
        """Families are counted exactly up to 40,000; bytes are those of the primary shards, None
        where that is not told.
        """
        answer = self._questions().ask(bodies.counts())
        stats = self._requests.ask("GET", f"{self._index()}/_stats/store").body
        size = stats.get("_all", {}).get("primaries", {}).get("store", {}).get("size_in_bytes")
        parts = self.of("parts")._questions().ask(bodies.total())["hits"]["total"]["value"]
        return documents.counts(answer, size, parts)

    def install(self, recipe: Recipe, dry_run: bool, text_field: str | None = None) -> list[Change]:
        """Templates and pipelines for this index, and the index itself where it exists."""
        self._known = None
        return _engine_install.install(
            self._requests, self._place, self._dialect, recipe, dry_run, text_field
        )

    def uninstall(self, recipe: Recipe, dry_run: bool) -> list[Change]:
        """The index stays as it is but for its default pipeline, and its write alias where other
        programs write too.
        """
        return _engine_install.uninstall(
            self._requests, self._place, self._dialect, recipe, dry_run
        )

    def put_roles(self, dry_run: bool) -> list[Change]:
        """By the security API of the engine."""
        return _engine_roles.put(self._requests, self._dialect, self.roles(), dry_run)

    def remove_roles(self, dry_run: bool) -> list[Change]:
        """By the security API of the engine."""
        return _engine_roles.remove(self._requests, self._dialect, self.roles(), dry_run)

    def reindex(
        self, recipe: Recipe, renewing: SignRows, keep: bool, told: OnProgress
    ) -> ReindexResult:
        """A new version of the index, which takes over its name; the old one refuses writes for the
        last step.
        """
        try:
            return _engine_reindex.reindex(
                self._requests, self._place, self._dialect, recipe, renewing, keep, told
            )
        finally:
            self._known = None

    def roles(self) -> dict[str, bodies.Body]:
        """In the form that the security API of this engine takes."""
        return roles(self.address.kind, self._place.index)

    def close(self) -> None:
        """Ends the connections."""
        self._link.close()

    def _questions(self) -> IndexQueries:
        index = self._index()
        names = substitutes(self._known.mapping) if self._known else {}
        return IndexQueries(self._requests, self._dialect, index, names, self._scope)

    def _recipe(self) -> Recipe:
        recipe = self.stored_recipe()
        if recipe is None:
            raise IndexMissing(self.url)
        return recipe

    def _field(self) -> str:
        """Where documents of other programs have their text."""
        self._recipe()
        return (self._known and text_field(self._known.mapping)) or TEXT

    def _index(self) -> str:
        """The index to read, known to exist when this store first looked."""
        self._recipe()
        return self._place.index
