"""The store in a search engine, for OpenSearch and Elasticsearch by their dialects."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from indexer.errors import StoreError
from indexer.fingerprinting.minhash import filter_candidates
from indexer.model import Candidates, Prefilter, Query, Row, Scope
from indexer.recipe import Recipe
from indexer.stores.abilities import Claim
from indexer.stores.base import FREQUENT_KEY_FLOOR, FREQUENT_KEY_FRACTION, Counts, Lookup, Ranking
from indexer.stores.engine import candidates, families, index_mapping, reads, search_bodies, writes
from indexer.stores.engine.bulk import Operation, first_refusal
from indexer.stores.engine.index import WRITERS, OpenIndex
from indexer.stores.engine.index_mapping import changed_meta
from indexer.stores.engine.maintenance import EngineMaintenance
from indexer.stores.engine.operation_feed import state_of
from indexer.stores.engine.queries import MAX_WINDOW, PAGE, documents_now
from indexer.stores.engine.requests import Requests
from indexer.stores.engine.writes import parts_of, refresh, write_parts
from indexer.stores.fields import refusal, storable, storable_labels

# Claims in an index of an engine: rows that are stored before it is decided what they are.

FIELD = "near_check"
_OPEN = "?"
_CONFLICT = 409


class EngineClaims:
    """Rows of an index that are stored before it is decided what they are."""

    def __init__(self, index: OpenIndex) -> None:
        self._index = index

    def create(self, row: Row, note: str) -> bool:
        """Store a row by `create`, of which an engine lets one succeed for each id."""
        return self._store("create", row, note, {})

    def replace(self, row: Row, note: str, claim: Claim) -> bool:
        """Store a row instead of the version that was read."""
        return self._store("index", row, note, claim.state)

    def get(self, id: str) -> Claim | None:
        """Return the claim of a row as it was written last, refreshed or not."""
        hits = documents_now(self._index.queries("both"), [id], PAGE, {"_source_includes": FIELD})
        return next((_claim(hit) for hit in hits), None)

    def undecided(self) -> Sequence[Claim]:
        """Refresh the index, and return the claims that are not decided.

        Raises `StoreError` for 10,000 of them or more.
        """
        refresh(self._index)
        body = {
            "size": MAX_WINDOW,
            "_source": [FIELD],
            "seq_no_primary_term": True,
            "query": {"prefix": {FIELD: {"value": _OPEN}}},
        }
        hits = self._index.queries("both").search(body)["hits"]["hits"]
        if len(hits) == MAX_WINDOW:
            raise StoreError(
                f"{self._index.address.url} has {MAX_WINDOW:,} checks or more that were not "
                "finished; delete these documents, or write them again by `nearfold index`"
            )
        return [_claim(hit) for hit in hits]

    def touch(self, claim: Claim) -> bool:
        """Write the same mark again, as a new version."""
        return self._update(claim, f"{_OPEN}{claim.note}")

    def decide(self, claim: Claim, outcome: str) -> bool:
        """Write the outcome over the mark."""
        return self._update(claim, outcome)

    def remove(self, claim: Claim) -> bool:
        """Delete the row with its parts."""
        done = self._send(Operation("delete", claim.id, metadata=claim.state))
        if done:
            write_parts(self._index, {claim.id: ()})
        return done

    def _store(self, action: Any, row: Row, note: str, state: Mapping[str, int]) -> bool:
        recipe_id = self._index.require_recipe().id
        row = storable(row)
        reason = refusal(row, recipe_id)
        if reason is None and row.parts is not None:
            reason = write_parts(self._index, {row.id: row.parts}).get(row.id)
        if reason is not None:
            raise _refused(self._index, reason)
        document = {**self._index.document(row), FIELD: f"{_OPEN}{note}"}
        return self._send(Operation(action, row.id, document, state))

    def _update(self, claim: Claim, mark: str) -> bool:
        self._index.check_updatable()
        body = {"doc": {FIELD: mark}, "detect_noop": False}
        return self._send(Operation("update", claim.id, body, claim.state))

    def _send(self, operation: Operation) -> bool:
        """Send one operation; return False if the row has changed since, or is gone."""
        sender = replace(self._index.sender, conflicts=True)
        reply = sender.send([operation])[operation.id]
        if reply.refused is not None and reply.status != _CONFLICT:
            raise _refused(self._index, reply.refused)
        return reply.status < 300


def _refused(index: OpenIndex, reason: str) -> StoreError:
    return StoreError(f"{index.address.url} refused the document: {reason}")


def _claim(hit: Mapping[str, Any]) -> Claim:
    mark = hit["_source"].get(FIELD) or ""
    if mark.startswith(_OPEN):
        return Claim(hit["_id"], mark[len(_OPEN) :], "", state_of(hit))
    return Claim(hit["_id"], "", mark, state_of(hit))


# Labels of rows in an index of an engine.


class EngineLabels:
    """Labels of rows."""

    def __init__(self, index: OpenIndex) -> None:
        self._index = index

    def relabel(self, labels: Mapping[str, Sequence[str]]) -> int:
        """Replace labels by partial updates, in requests of bounded size."""
        self._index.require_recipe()
        of_documents = storable_labels(labels)
        parts = parts_of(self._index, list(of_documents))
        of_parts = {id: of_documents[parent] for id, parent in parts.items()}
        updates = {**of_parts, **of_documents}
        operations = [
            Operation("update", id, {"doc": {"labels": values}}) for id, values in updates.items()
        ]
        replies = self._index.send_routed(operations)
        reason = first_refusal(replies)
        if reason:
            raise StoreError(f"{self._index.address.url} refused a label: {reason}")
        return sum(replies[id].status != 404 for id in of_documents)


# Parts of documents: the fields that they need, and `_meta`, which has how documents are divided.


def record_parts(requests: Requests, index: str, kind: str) -> None:
    """Record how the documents of an index are divided; the rest of `_meta` stays."""
    properties = search_bodies.index_body()["mappings"]["properties"]
    fields = {field: properties[field] for field in index_mapping.OF_PARTS}
    record_meta(requests, index, {"parts": kind}, fields)


def record_meta(
    requests: Requests,
    index: str,
    changes: Mapping[str, Any],
    fields: Mapping[str, Any] | None = None,
) -> None:
    """Record changes of `_meta`, whose rest stays, and add fields to an index."""
    ((name, settings),) = requests.call("GET", index).items()
    meta = changed_meta(settings["mappings"], changes)
    requests.call("PUT", f"{name}/_mapping", {"_meta": meta, "properties": fields or {}})


class EngineStore:
    """A store in one index of a search engine. It may be shared by threads."""

    def __init__(self, index: OpenIndex, scope: Scope = "documents") -> None:
        self.address, self.url = index.address, index.address.url
        self.writers, self.shared = WRITERS, True
        self.frequent_key_floor = FREQUENT_KEY_FLOOR
        self.frequent_key_fraction = FREQUENT_KEY_FRACTION
        self.index = index
        self._scope = scope
        self.snapshots = reads.EngineSnapshots(index, scope)
        self.labels = EngineLabels(index)
        self.families = families.EngineFamilies(index, scope)
        self.maintenance = EngineMaintenance(index)
        self.vocabulary = reads.EngineVocabulary(index, scope)
        self.claims = EngineClaims(index)

    @property
    def parts(self) -> EngineParts:
        """Return the parts of the store, with the limits of frequent keys that it has now."""
        return EngineParts(self)

    def stored_recipe(self) -> Recipe | None:
        """Return the recipe in the index's `_meta`.

        An online recipe is read again, since others may have recorded later statistics.
        Raises `MappingMismatch` for an index that nearfold did not make.
        """
        recipe = self.index.stored_recipe()
        if recipe is None or not recipe.is_online:
            return recipe
        self.index.check_replaced()
        return self.index.stored_recipe()

    def prepare(self, recipe: Recipe) -> None:
        """Create the index with a strict mapping, and an alias for writes.

        An engine never creates an alias by itself, as it would an index. From then on every request
        is retried as requests of a job are.
        """
        self.index.prepare(recipe)

    def write(self, rows: Sequence[Row]) -> list[str | None]:
        """Write rows, each after its parts.

        A row that the engine itself refuses is refused in the engine's words.
        """
        return writes.write_rows(self.index, rows)

    def delete(self, ids: Sequence[str]) -> int:
        """Delete rows; after a lost reply one may go uncounted."""
        return writes.delete_rows(self.index, ids)

    def refresh(self) -> None:
        """Wait until every shard shows what was written."""
        writes.refresh(self.index)

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """Return rows as they are now, refreshed or not."""
        return reads.rows_by_id(self.index, self._scope, ids)

    def sources(self, ids: Sequence[str]) -> dict[str, str]:
        """Return digests as they are now, refreshed or not."""
        return reads.source_digests(self.index, ids)

    def candidates(
        self,
        lookups: Sequence[Lookup],
        limit: int,
        shared: int = 1,
        prefilters: Sequence[Prefilter | None] = (),
    ) -> list[Candidates]:
        """Send two requests for about ten look-ups with a limit of 1,000, or a hundred with fewer.

        The first counts how many rows carry any key of a look-up, the second finds the rows that
        share them. Where many do, others between them count the rows of each key, and frequent keys
        are left out.
        """
        recipes = [recipe.id for recipe in self.index.require_recipe().by_statistics()]
        facts = self.index.facts
        keys = [search_bodies.keys(*lookup) for lookup in lookups]
        queries = self.index.queries(self._scope)
        screened = prefilters or [None] * len(keys)
        if any(prefilter and prefilter.ocr for prefilter in screened) and not self._has_scans():
            keys = [
                [] if prefilter and prefilter.ocr else of_lookup
                for of_lookup, prefilter in zip(keys, screened, strict=True)
            ]
        found = candidates.candidates(queries, keys, screened, recipes, limit, shared, self._cap)
        if not all(entry.found for entry in found) and self.index.is_replaced(facts):
            return self.candidates(lookups, limit, shared, prefilters)
        if not prefilters:
            return found
        return [
            filter_candidates(entry, prefilter) if prefilter else entry
            for entry, prefilter in zip(found, prefilters, strict=True)
        ]

    def _has_scans(self) -> bool:
        if not self.index.has_field("near_ocr"):
            return False
        found = self.index.queries(self._scope).search(search_bodies.scans())
        return bool(found["hits"]["hits"])

    def _cap(self, rows: int) -> int:
        return max(self.frequent_key_floor, int(self.frequent_key_fraction * rows))

    def search(self, query: Query) -> Ranking:
        """Search the full text; the matches and their order are fixed when the search begins."""
        return reads.search_rows(self.index, self._scope, query)

    def scan(self, under: str | None = None) -> Iterator[Row]:
        """Yield rows; the set and its order are fixed when the first row is read."""
        return reads.scan_rows(self.index, self._scope, under)

    def counts(self) -> Counts:
        """Count rows; bytes are of the primary shards, None where the engine does not say."""
        return reads.count_rows(self.index, self._scope)

    def version(self) -> Hashable | None:
        """Return the operations and refreshes of each copy of a shard; None without access."""
        return reads.read_version(self.index)

    def close(self) -> None:
        """Close the connections."""
        self.index.link.close()


class EngineParts:
    """Parts of documents in an index: documents of their own next to them."""

    def __init__(self, store: EngineStore) -> None:
        self._store = store

    def view(self, scope: Scope) -> EngineStore:
        """Return a store with the same connections and the same bulk requests in flight."""
        view = EngineStore(self._store.index, scope)
        view.frequent_key_floor = self._store.frequent_key_floor
        view.frequent_key_fraction = self._store.frequent_key_fraction
        return view

    def kind(self) -> str | None:
        """Read the kind from the index's `_meta`."""
        return self._store.index.parts_kind()

    def record(self, kind: str) -> None:
        """Record the kind in `_meta`, and add the fields that parts have in addition to the fields
        of
        documents.
        """
        index = self._store.index
        record_parts(index.requests, index.name(), kind)
        index.facts = None

    def attachments(self) -> bool:
        """Read from the index's `_meta` whether attachments are documents."""
        return self._store.index.divides_mails()

    def record_attachments(self, are_documents: bool) -> None:
        """Record in `_meta` whether attachments are documents."""
        index = self._store.index
        record_meta(index.requests, index.name(), {"attachments": are_documents})
        index.facts = None
