"""Sketches of hits without their ids and paths, and the rows of some of them.

To look up the id and the path of a thousand hits takes an engine longer than the search itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from indexer.model import Row
from indexer.stores.base import SketchedHit
from indexer.stores.engine.bodies import Body, has_ids, read_ids
from indexer.stores.engine.queries import PAGE, IndexQueries
from indexer.stores.engine.rows import row, stored_bytes
from indexer.stores.engine.sort_keys import BEST

_COLUMNS = ["near_minhash", "near_status", "near_words"]
_NO_FIELDS: Body = {}
_NONE, _COMPLETE = (None,), ("complete",)
_COPIES = 10  # shards with a document of one number, at most

_Name: TypeAlias = tuple[int, str | None]
"""The sequence number of a document in its shard, and its sketch in Base64, which tell hits apart.
"""


class SketchReads:
    """Sketches of the best `window` hits of a search, read together with the first page of it."""

    def __init__(self, queries: IndexQueries, window: int, text_field: str) -> None:
        self._queries, self._window, self._text_field = queries, window, text_field
        self._snapshot = ""
        self._first: list[Body] = []
        self._best: list[Body] = []
        self._names: list[_Name] = []

    @property
    def first(self) -> int:
        """The hits of the first page."""
        return len(self._first)

    @property
    def has_others(self) -> bool:
        """True if the search has more hits than those of the first page."""
        return len(self._best) > self.first > 0

    def first_page(self, body: Body, snapshot: str) -> Body:
        """Return the first page of a search at a snapshot, and keep the sketches of its hits."""
        self._snapshot = snapshot
        best = _best(body, self._window)
        page, sketches = self._queries.all_at_snapshot([body, best], snapshot)
        if not has_ids(body, page["hits"]):
            page = self._queries.at_snapshot(read_ids(body), snapshot)
        self._first, self._best = page["hits"]["hits"], sketches["hits"]["hits"]
        return page

    def best(self, window: int) -> list[SketchedHit]:
        """Return the best hits after the first page, `window` with these."""
        unread = Counter(_name(hit["_seq_no"], _fields(hit)) for hit in self._first)
        sketched: list[SketchedHit] = []
        self._names = []
        for hit in self._best:
            fields = _fields(hit)
            name = _name(hit["sort"][1], fields)
            if unread.get(name):
                unread[name] -= 1
            elif len(sketched) < window - self.first:
                (words,) = fields.get("near_words", _NONE)
                (status,) = fields.get("near_status", _COMPLETE)
                self._names.append(name)
                sketched.append(SketchedHit(hit["_score"], status, stored_bytes(name[1]), words))
        return sketched

    def rows(self, places: Sequence[int]) -> list[Row] | None:
        """Return the rows of hits; None where documents of several shards have the same name."""
        names = [self._names[place] for place in places]
        rows: dict[_Name, Row] = {}
        for start in range(0, len(names), PAGE):
            numbers = [number for number, _ in names[start : start + PAGE]]
            hits = self._numbered(numbers)
            if len(hits) == _COPIES * len(numbers):
                return None
            for hit in hits:
                document = row(hit["_id"], hit["_source"], self._text_field)
                name = hit["_seq_no"], _unpadded(hit["_source"].get("near_minhash"))
                if name in rows:
                    return None
                rows[name] = document
        is_clear = len(set(names)) == len(names) == len(rows.keys() & set(names))
        return [rows[name] for name in names] if is_clear else None

    def _numbered(self, numbers: list[int]) -> list[Body]:
        """Return the documents with these sequence numbers, of which each shard has one."""
        body = {
            "size": _COPIES * len(numbers),
            "track_total_hits": False,
            "seq_no_primary_term": True,
            "query": {"bool": {"filter": [{"terms": {"_seq_no": numbers}}]}},
        }
        hits: list[Body] = self._queries.at_snapshot(body, self._snapshot)["hits"]["hits"]
        return hits


def _best(search: Body, size: int) -> Body:
    """Return a search by relevance for the sketches of its best hits, ties in any order."""
    return {
        "size": size,
        "track_total_hits": False,
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": _COLUMNS,
        "query": search["query"],
        "sort": [BEST, {"_seq_no": "asc"}],
    }


def _fields(hit: Body) -> Body:
    fields: Body = hit.get("fields", _NO_FIELDS)
    return fields


def _name(number: int, fields: Body) -> _Name:
    (packed,) = fields.get("near_minhash", _NONE)
    return number, _unpadded(packed)


def _unpadded(packed: str | None) -> str | None:
    """Return Base64 without the padding, which only Elasticsearch's doc values have."""
    return packed and packed.rstrip("=")
