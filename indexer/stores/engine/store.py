"""The store in a search engine, for OpenSearch and Elasticsearch by their dialects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexer.joins.near_sketches import filter_candidates
from indexer.model import Candidates, Query, Row, Scope, Screen
from indexer.recipe import Recipe
from indexer.stores.base import HOT_KEY_FLOOR, HOT_KEY_SHARE, Counts, Lookup, Ranking
from indexer.stores.engine import bodies, candidate_queries, index_reads, index_writes
from indexer.stores.engine.engine_maintenance import EngineMaintenance
from indexer.stores.engine.index_claims import EngineClaims
from indexer.stores.engine.index_families import EngineFamilies, EngineLabels
from indexer.stores.engine.index_parts import record_parts
from indexer.stores.engine.open_index import WRITERS, OpenIndex


class EngineStore:
    """A store in one index of a search engine. It may be shared by threads."""

    def __init__(self, index: OpenIndex, scope: Scope = "documents") -> None:
        self.address, self.url = index.address, index.address.url
        self.writers, self.shared = WRITERS, True
        self.hot_key_floor, self.hot_key_share = HOT_KEY_FLOOR, HOT_KEY_SHARE
        self.index = index
        self._scope = scope
        self.snapshots = index_reads.EngineSnapshots(index, scope)
        self.labels = EngineLabels(index)
        self.families = EngineFamilies(index, scope)
        self.maintenance = EngineMaintenance(index)
        self.vocabulary = index_reads.EngineVocabulary(index, scope)
        self.claims = EngineClaims(index)

    @property
    def parts(self) -> EngineParts:
        """Return the parts of the store, with the limits of hot keys that it has now."""
        return EngineParts(self)

    def stored_recipe(self) -> Recipe | None:
        """Return the recipe in the index's `_meta`.

        That of an online recipe is read anew, since others may have recorded later statistics.
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
        is retried as those of a job.
        """
        self.index.prepare(recipe)

    def write(self, rows: Sequence[Row]) -> list[str | None]:
        """Write rows, each after its parts.

        A row that the engine itself refuses is refused in the engine's words.
        """
        return index_writes.write_rows(self.index, rows)

    def delete(self, ids: Sequence[str]) -> int:
        """Delete rows; after a lost reply one may go uncounted."""
        return index_writes.delete_rows(self.index, ids)

    def refresh(self) -> None:
        """Wait until every shard shows what was written."""
        index_writes.refresh(self.index)

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """Return rows as they are now, refreshed or not."""
        return index_reads.rows_by_id(self.index, self._scope, ids)

    def sources(self, ids: Sequence[str]) -> dict[str, str]:
        """Return digests as they are now, refreshed or not."""
        return index_reads.source_digests(self.index, ids)

    def candidates(
        self,
        lookups: Sequence[Lookup],
        limit: int,
        shared: int = 1,
        screens: Sequence[Screen | None] = (),
    ) -> list[Candidates]:
        """Send two requests for about ten look-ups with a limit of 1,000, or a hundred with fewer.

        The first counts how many rows carry any key of a look-up, the second finds the rows that
        share them. Where many do, others between them count the rows of each key, and hot keys are
        left out.
        """
        recipes = [recipe.id for recipe in self.index.require_recipe().by_statistics()]
        keys = [bodies.keys(*lookup) for lookup in lookups]
        queries = self.index.queries(self._scope)
        screened = screens or [None] * len(keys)
        lengths = [screen.lengths if screen else None for screen in screened]
        candidates = candidate_queries.candidates(
            queries, keys, lengths, recipes, limit, shared, self._cap
        )
        if not all(entry.found for entry in candidates):
            self.index.check_replaced()
        if not screens:
            return candidates
        return [
            filter_candidates(entry, screen) if screen else entry
            for entry, screen in zip(candidates, screens, strict=True)
        ]

    def _cap(self, rows: int) -> int:
        return max(self.hot_key_floor, int(self.hot_key_share * rows))

    def search(self, query: Query) -> Ranking:
        """Search the full text; the matches and their order are fixed when the search begins."""
        return index_reads.search_rows(self.index, self._scope, query)

    def scan(self, under: str | None = None) -> Iterator[Row]:
        """Yield rows; the set and its order are fixed when the first row is read."""
        return index_reads.scan_rows(self.index, self._scope, under)

    def counts(self) -> Counts:
        """Count rows; bytes are those of the primary shards, None where the engine does not say."""
        return index_reads.count_rows(self.index, self._scope)

    def close(self) -> None:
        """Close the connections."""
        self.index.link.close()


class EngineParts:
    """Parts of documents in an index: documents of their own beside them."""

    def __init__(self, store: EngineStore) -> None:
        self._store = store

    def view(self, scope: Scope) -> EngineStore:
        """Return a store with the same connections and the same bulk requests in flight."""
        view = EngineStore(self._store.index, scope)
        view.hot_key_floor = self._store.hot_key_floor
        view.hot_key_share = self._store.hot_key_share
        return view

    def kind(self) -> str | None:
        """Read the kind from the index's `_meta`."""
        return self._store.index.parts_kind()

    def record(self, kind: str) -> None:
        """Record the kind in `_meta`, and add the fields that parts have beside those of
        documents.
        """
        index = self._store.index
        record_parts(index.requests, index.name(), kind)
        index.facts = None
