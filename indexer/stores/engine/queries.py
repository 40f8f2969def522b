"""Questions to an index of an engine: many at once, or page by page at one point in time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from indexer.errors import SnapshotExpired
from indexer.model import Candidates, Scope
from indexer.stores.engine import bodies
from indexer.stores.engine import rows as documents
from indexer.stores.engine.bodies import Body, Key
from indexer.stores.engine.field_substitutes import substitute_fields
from indexer.stores.engine.link import Answer, error_of, is_missing
from indexer.stores.engine.sort_keys import BY_ID, IN_PLACE

if TYPE_CHECKING:
    from indexer.stores.engine.index import Dialect, Requests

PAGE, COLUMNS_PAGE = 100, 1_000
MAX_WINDOW = 10_000  # hits that an engine returns at once
WHOLE = {"allow_partial_search_results": "false"}
_ALL_SHARDS = {"allow_partial_search_results": False}
_MOST_SEARCHES, _MOST_HITS = 100, 10_000  # in one request
_MEMBERS = 1_000
_KEEP_ALIVE = "5m"
_OVER = "search_context_missing_exception"
_LOST = (
    "no node found for id"  # how OpenSearch says that the node which kept the point in time is gone
)
_RENEWALS = 3


@dataclass(frozen=True, slots=True)
class IndexQueries:
    """Searches of one index, of its documents or of their parts. `names`: fields that are asked in
    place of others.
    """

    requests: Requests
    dialect: Dialect
    index: str
    names: Mapping[str, str] = field(default_factory=dict)
    scope: Scope = "documents"

    def ask(self, body: Body) -> Body:
        """The answer to one search."""
        return self.requests.get("POST", f"{self.index}/_search", self._spelled(body), WHOLE)

    def _spelled(self, body: Body) -> Body:
        return substitute_fields(bodies.scoped(body, self.scope), self.names)

    def together(self, asked: Sequence[Body]) -> list[Body]:
        """The answers to many searches, in order, by few requests; one that fails among others is
        asked again alone.
        """
        answers: list[Body] = []
        while batch := _batch(asked[len(answers) :]):
            if len(batch) == 1:
                answers.append(self.ask(batch[0]))
                continue
            lines = [line for body in batch for line in (_ALL_SHARDS, self._spelled(body))]
            found = self.requests.get("POST", f"{self.index}/_msearch", lines)["responses"]
            answers += [
                one if "hits" in one else self.ask(body)
                for one, body in zip(found, batch, strict=True)
            ]
        return answers

    def hits(self, asked: Sequence[Body]) -> list[Body]:
        """The `hits` of many searches; ids that doc values do not tell are read from the
        documents.
        """
        found = [answer["hits"] for answer in self.together(asked)]
        nameless = [
            place for place, body in enumerate(asked) if not bodies.named(body, found[place])
        ]
        named = self.together([bodies.reading_ids(asked[place]) for place in nameless])
        for place, answer in zip(nameless, named, strict=True):
            found[place] = answer["hits"]
        return found

    def pages(
        self, body: Body, snapshot: str | None = None, keep_alive: bool = False
    ) -> Iterator[Body]:
        """One answer after the other at one point in time; later pages hold `PAGE` documents, or
        `COLUMNS_PAGE` hits without.

        `pit_id` in an answer is the point in time, `snapshot` where one is given. It is closed at the
        end unless `keep_alive`. When the engine loses it, with a node for one, the rest is read at a new
        one; with `snapshot` or `keep_alive` `SnapshotExpired` is raised.
        """
        size = COLUMNS_PAGE if "stored_fields" in body else PAGE
        pit, renewals = (
            snapshot or self._open_snapshot(),
            0 if snapshot or keep_alive else _RENEWALS,
        )
        try:
            while True:
                try:
                    answer = self._page({**body, "pit": {"id": pit, "keep_alive": _KEEP_ALIVE}})
                except SnapshotExpired:
                    if not renewals:
                        raise
                    pit, renewals = self._open_snapshot(), renewals - 1
                    continue
                pit, hits = answer.setdefault("pit_id", pit), answer["hits"]["hits"]
                yield answer
                if len(hits) < body["size"]:
                    return
                body = {**bodies.later(body), "size": size, "search_after": hits[-1]["sort"]}
        finally:
            if not keep_alive:
                self.release(pit)

    def _page(self, body: Body) -> Body:
        answer = self._at_snapshot(body)
        return (
            answer
            if bodies.named(body, answer["hits"])
            else self._at_snapshot(bodies.reading_ids(body))
        )

    def _open_snapshot(self) -> str:
        opened = self.requests.get(
            "POST", f"{self.index}/{self.dialect.open_pit}", params={"keep_alive": _KEEP_ALIVE}
        )
        snapshot: str = opened[self.dialect.pit_field]
        return snapshot

    def _at_snapshot(self, body: Body) -> Body:
        answer = self.requests.ask("POST", "_search", self._spelled(body), WHOLE)
        if not 200 <= answer.status < 300:
            raise (
                SnapshotExpired(url=self.requests.url)
                if _over(answer)
                else error_of(self.requests.url, answer)
            )
        found: Body = answer.body
        return found

    def documents_now(
        self, ids: Sequence[str], size: int, params: Mapping[str, str]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Id and `_source` of documents fresh from the engine, refreshed or not, `size` a
        request.
        """
        for start in range(0, len(ids), size):
            found = self.requests.get(
                "POST", f"{self.index}/_mget", {"ids": ids[start : start + size]}, params
            )
            if failed := next((one for one in found["docs"] if "error" in one), None):
                raise error_of(self.requests.url, Answer(404, failed))
            yield from ((one["_id"], one["_source"]) for one in found["docs"] if one["found"])

    def documents_at(
        self, snapshot: str, ids: Sequence[str]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Id and `_source` of documents as they were at a point in time."""
        for start in range(0, len(ids), PAGE):
            chunk = ids[start : start + PAGE]
            body = {
                "size": len(chunk),
                "query": {"ids": {"values": chunk}},
                "track_total_hits": False,
            }
            answer = self._at_snapshot({**body, "pit": {"id": snapshot, "keep_alive": _KEEP_ALIVE}})
            yield from ((hit["_id"], hit["_source"]) for hit in answer["hits"]["hits"])

    def members(self, field: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield ids with the value of a field, for rows with one of these values.

        Page by page at one point in time.
        """
        column = f"near_{field}"
        for start in range(0, len(names), _MEMBERS):
            chunk = list(names[start : start + _MEMBERS])
            body: Body = {
                "size": _MEMBERS,
                "track_total_hits": False,
                "_source": False,
                "docvalue_fields": [column],
                "query": {"bool": {"filter": [{"terms": {column: chunk}}]}},
                "sort": [BY_ID, IN_PLACE],
            }
            for answer in self.pages(body):
                for hit in answer["hits"]["hits"]:
                    yield hit["_id"], hit["fields"][column][0]

    def release(self, snapshot: str) -> None:
        """Close a point in time; one that is closed already is no error."""
        self.requests.ask("DELETE", self.dialect.close_pit, self.dialect.close_body(snapshot))

    def candidates(
        self, asked: Sequence[list[Key]], recipe: str, limit: int, cap: Callable[[int], int]
    ) -> list[Candidates]:
        """Few requests for many look-ups: how many rows carry each key, and the rows that share
        those that are asked.

        `cap`: how many rows may carry a key before it is hot, by how many rows there are.
        """
        hot = self._hot(asked, cap)
        cold = [[key for key in keys if key not in hot] for keys in asked]
        searched = {
            place: bodies.candidates(keys, recipe, min(limit, MAX_WINDOW))
            for place, keys in enumerate(cold)
            if keys
        }
        found = dict(zip(searched, self._best(list(searched.values()), limit), strict=True))
        return [
            _candidates(found.get(place), tuple(key for field, key in keys if (field, key) in hot))
            for place, keys in enumerate(asked)
        ]

    def _hot(self, asked: Sequence[list[Key]], cap: Callable[[int], int]) -> set[Key]:
        """The keys that too many rows carry."""
        counted = [keys for keys in asked if keys]
        carried: dict[Key, int] = {}
        for keys, answer in zip(
            counted, self.together([bodies.carriers(keys) for keys in counted]), strict=True
        ):
            buckets = answer["aggregations"]["keys"]["buckets"]
            carried |= {key: buckets[str(place)]["doc_count"] for place, key in enumerate(keys)}
        if max(carried.values(), default=0) <= cap(0):
            return set()
        most = cap(self.ask(bodies.total())["hits"]["total"]["value"])
        return {key for key, count in carried.items() if count > most}

    def _best(self, asked: list[Body], limit: int) -> list[Body]:
        """The `hits` of each search; page by page where an engine does not return them at once."""
        if limit <= MAX_WINDOW:
            return self.hits(asked)
        return [self._paged(body, limit) for body in asked]

    def _paged(self, body: Body, limit: int) -> Body:
        pages = self.pages(body)
        first = next(pages)["hits"]
        rest = chain.from_iterable(page["hits"]["hits"] for page in pages)
        return {**first, "hits": [*first["hits"], *islice(rest, limit - len(first["hits"]))]}


def _batch(asked: Sequence[Body]) -> list[Body]:
    """The first of these searches that go into one request; one at least."""
    hits, batch = 0, list(asked[:1])
    for body in asked[1:_MOST_SEARCHES]:
        hits += batch[-1]["size"]
        if hits + body["size"] > _MOST_HITS:
            break
        batch.append(body)
    return batch


def _candidates(hits: Body | None, capped: tuple[str, ...]) -> Candidates:
    if hits is None:
        return Candidates((), capped)
    found = tuple(map(documents.candidate, hits["hits"]))
    return Candidates(found, capped, cut=hits["total"]["value"] > len(found))


def _over(answer: Answer) -> bool:
    """Whether an engine no longer keeps the point in time that it was asked about."""
    if is_missing(answer):
        return True
    error = answer.body.get("error") if isinstance(answer.body, dict) else None
    causes = error.get("root_cause", []) if isinstance(error, dict) else []
    return any(
        cause.get("type") == _OVER or str(cause.get("reason", "")).startswith(_LOST)
        for cause in causes
    )
