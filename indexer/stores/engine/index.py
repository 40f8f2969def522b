"""One index of an engine as a store uses it: the connection, and the known facts of the index."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import replace

from indexer.errors import (
    PartialSource,
    RestoredIndex,
    SnapshotExpired,
    StoreError,
    StoreStopped,
    UsageError,
)
from indexer.model import Row, Scope
from indexer.recipe import Recipe
from indexer.stores.address import StoreAddress
from indexer.stores.engine.bulk import Operation, Reply, Sender, Window
from indexer.stores.engine.candidates import FrequencyCache
from indexer.stores.engine.create_index import add_later_fields, prepare
from indexer.stores.engine.field_substitutes import ABSENT, substitutes
from indexer.stores.engine.index_facts import (
    IndexAddress,
    IndexFacts,
    alias_limits,
    check_same_indices,
    check_write_target,
    current_index,
    give_alias,
    read_facts,
    require_one_index,
    require_whole_indices,
)
from indexer.stores.engine.index_mapping import is_shared_mapping, text_field
from indexer.stores.engine.ingest_pipeline import TEXT
from indexer.stores.engine.operation_feed import routing_of, state_of
from indexer.stores.engine.partial_updates import is_sourced, source_gap
from indexer.stores.engine.queries import IndexQueries, located, routings
from indexer.stores.engine.requests import Dialect, IndexMissing, Link, Requests, Response
from indexer.stores.engine.rows import fingerprinted_rows, row_of_hit, source, without_columns
from indexer.stores.engine.search_bodies import Body

BULK_SECONDS = 120.0
WRITERS = 4  # bulk requests in flight at once, when the engine keeps up


class OpenIndex:
    """One index with the connection to it, shared by a store and its views, and by threads.

    `facts`: what was read of the index; None before it was read, and after it was changed.
    """

    def __init__(self, address: StoreAddress, link: Link, dialect: Dialect) -> None:
        self.address = address
        self.location = IndexAddress(address.url, address.index, address.shards, address.replicas)
        self.link, self.dialect = link, dialect
        self.requests = Requests(link, address.url)
        self.facts: IndexFacts | None = None
        self.frequencies = FrequencyCache()
        self.sender = Sender(self._post, window=Window(WRITERS))

    def stored_recipe(self) -> Recipe | None:
        """Return the recipe in the index's `_meta`; None when there is no index.

        Raises `MappingMismatch` for an index that nearfold did not make.
        """
        self.facts = self.facts or read_facts(self.requests, self.location)
        return self.facts.recipe if self.facts else None

    def require_recipe(self) -> Recipe:
        """Return the recipe; raise `IndexMissing` when there is no index."""
        recipe = self.stored_recipe()
        if recipe is None:
            raise IndexMissing(self.address.url)
        return recipe

    def prepare(self, recipe: Recipe) -> None:
        """Create the index with a strict mapping and an alias for writes.

        From then on every request is retried as requests of a job are.
        """
        prepare(self.requests, self.location, self.dialect, recipe)
        self.facts = None
        self.requests = self.requests.patient()

    def name(self) -> str:
        """Return the name to read from, of an index that existed when it was first read."""
        self.require_recipe()
        return self.location.index

    def has_field(self, name: str) -> bool:
        """Return whether the mapping has a field, which an earlier nearfold may not have added."""
        self.require_recipe()
        return bool(self.facts and name in self.facts.mapping.get("properties", {}))

    def require_field(self, name: str) -> None:
        """Add a field to the mapping of an index that an earlier nearfold made, if it lacks it."""
        if not self.has_field(name) and self.facts:
            add_later_fields(self.requests, self.facts)
            self.facts = None

    def text_field(self) -> str:
        """Return the field with the texts of documents.

        Raises `PartialSource` where they cannot be read, since `_source` lacks that field.
        """
        self.require_recipe()
        field = (self.facts and text_field(self.facts.mapping)) or TEXT
        if self.facts and not is_sourced(self.facts.description, field):
            gap = source_gap(self.facts.description) or f"leaves {field} out of `_source`"
            raise PartialSource(index=self.facts.index, gap=gap)
        return field

    def check_updatable(self) -> None:
        """Raise `PartialSource` where a partial update of a document would lose something, and
        `UsageError` for an alias that shows a part of an index.

        From then on every request is retried as requests of a job are.
        """
        self.require_recipe()
        self.requests = self.requests.patient()
        if self.facts:
            require_whole_indices(self.location, self.facts)
            self.facts.check_updatable()

    def parts_kind(self) -> str | None:
        """Return how documents are divided, as `_meta` says."""
        self.stored_recipe()
        return self.facts.parts if self.facts else None

    def divides_mails(self) -> bool:
        """Return whether attachments are documents, as `_meta` says; True without an index."""
        self.stored_recipe()
        return self.facts.attachments if self.facts else True

    def queries(self, scope: Scope) -> IndexQueries:
        """Return the queries of documents, of parts, or of both."""
        name = self.name()
        names = substitutes(self.facts.mapping) if self.facts else {}
        shared = bool(self.facts and is_shared_mapping(self.facts.mapping))
        by_search = bool(
            self.facts
            and (self.facts.members or alias_limits(self.location, self.facts.description))
        )
        columns = self.facts.columns if self.facts else None
        return IndexQueries(
            self.requests, self.dialect, name, names, scope, shared, by_search, columns
        )

    def rows(self, hits: Iterable[Body], as_stored: bool = False) -> list[Row]:
        """Return the rows of documents; with the plugin's layout, their texts give what the engine
        keeps in columns, and `as_stored` another digest marks groups of an earlier text.
        """
        field, recipe = self.text_field(), self.require_recipe()
        if self.facts and self.facts.columns:
            return fingerprinted_rows(list(hits), field, recipe, as_stored)
        return [row_of_hit(hit["_id"], hit["_source"], field) for hit in hits]

    def document(self, row: Row) -> Body:
        """Return a row as the document to store: without what the plugin makes of the text, if it
        does.
        """
        document = source(row, self.has_field("near_file"))
        if not (self.facts and self.facts.columns):
            return document
        stored = without_columns(document, row)
        return {name: stored[name] for name in stored if stored[name] is not None}

    def check_searchable(self, queries: IndexQueries) -> None:
        """Raise `UsageError` where the index keeps no words of its texts."""
        if self.facts and queries.names.get("text") == ABSENT:
            field = text_field(self.facts.mapping)
            raise UsageError(
                f"{self.facts.index} keeps whole values of its field {field}, or none, and no "
                f"words to search: add a subfield of type text to {field} in its mapping, and run "
                "`_update_by_query` on it; `similar`, `match` and `group` work without"
            )

    def send(self, operations: list[Operation]) -> dict[str, Reply]:
        """Send bulk operations; return the reply to each by id.

        Raises `PartialSource` before it sends an update that would lose something.
        """
        if any(operation.action == "update" for operation in operations):
            self.check_updatable()
        if self.facts and self.facts.members:
            operations = self._located(operations)
        return self._send(self.sender, operations)

    def send_conditional(self, operations: list[Operation]) -> dict[str, Reply]:
        """Send partial updates on the condition of a `version_of` their documents; return the reply
        to each by id, a conflict too.

        Raises `PartialSource` before it sends an update that would lose something.
        """
        self.check_updatable()
        return self._send(replace(self.sender, conflicts=True), operations)

    def version_of(self, hit: Body) -> Body:
        """Return where a document is, and the version of it that was read, as an operation that is
        conditional on it names them.
        """
        index = {"_index": hit["_index"]} if self.facts and self.facts.members else {}
        return {**state_of(hit), **routing_of(hit), **index}

    def _send(self, sender: Sender, operations: list[Operation]) -> dict[str, Reply]:
        try:
            return sender.send(operations)
        except StoreStopped:
            with contextlib.suppress(StoreError):
                self.check_replaced()
            raise

    def _located(self, operations: list[Operation]) -> list[Operation]:
        """Return the operations, each on the index of several that holds its document.

        What none holds is looked for in the last one. Raises `UsageError` for a new document.
        """
        if any(operation.action == "index" for operation in operations):
            require_one_index(self.location, self.facts)
        hits = located(self.queries("both"), [operation.id for operation in operations])
        positions = {hit["_id"]: {"_index": hit["_index"], **routing_of(hit)} for hit in hits}
        last = {"_index": self.facts.index if self.facts else ""}
        return [operation.at(positions.get(operation.id, last)) for operation in operations]

    def send_routed(self, operations: list[Operation]) -> dict[str, Reply]:
        """Send partial updates or deletions; return the reply to each by id.

        Requests for documents with a routing of their own are sent again with it.
        """
        replies = self.send(operations)
        lost = {op.id: op for op in operations if _is_lost(replies[op.id])}
        names = routings(self.queries("both"), list(lost)) if lost else {}
        if not names:
            return replies
        again = [lost[id].at({"routing": name}) for id, name in names.items()]
        return {**replies, **self.send(again)}

    def check_replaced(self, known: IndexFacts | None = None) -> bool:
        """Return whether another index has taken the name since these facts were read.

        Without `known`, since the last facts were; they are discarded then.
        """
        facts, now = known or self.facts, current_index(self.requests, self.location)
        if facts is None or now is None or now == (facts.index, facts.recipe.id):
            return False
        if self.facts is facts:
            self.facts = None
        return True

    def is_replaced(self, facts: IndexFacts | None) -> bool:
        """Return whether another index of the same recipe has taken the name since these facts.

        Raises `SnapshotExpired` for one of another recipe: keys of one recipe find nothing in an
        index of another, though it has what is looked for.
        """
        if facts is None or not self.check_replaced(facts):
            return False
        if self.require_recipe().id != facts.recipe.id:
            raise SnapshotExpired(url=self.address.url)
        return True

    def _post(self, body: bytes) -> Response:
        params = {"require_alias": "true", "pipeline": "_none"}
        if self.facts and self.facts.members:
            with self._forgetting():
                check_same_indices(self.link.request, self.facts.members)
            return self.link.request("POST", "_bulk", body, {"pipeline": "_none"}, BULK_SECONDS)
        alias = self._alias()
        if self.facts:
            with self._forgetting():
                check_write_target(self.link, alias, self.facts.index, self.facts.description)
        return self.link.request("POST", f"{alias}/_bulk", body, params, BULK_SECONDS)

    def check_same(self) -> None:
        """Raise `RestoredIndex` where an index is not the one whose facts were read; these are
        discarded then.
        """
        if self.facts:
            with self._forgetting():
                known = self.facts.members or {self.facts.index: self.facts.description}
                check_same_indices(self.requests.send, known)

    @contextlib.contextmanager
    def _forgetting(self) -> Iterator[None]:
        """Discard the facts of an index that is another one now."""
        try:
            yield
        except RestoredIndex:
            self.facts = None
            raise

    def _alias(self) -> str:
        """Return the alias for writes; create it again where `uninstall` removed it."""
        facts = self.facts
        if facts and facts.writes is None:
            self.facts = facts = give_alias(self.requests, self.location, facts)
        return (facts and facts.writes) or self.location.write_alias


def _is_lost(reply: Reply) -> bool:
    """Return whether a document was not found, perhaps for want of its routing."""
    return reply.status == 404 or "routing is required" in (reply.refused or "")
