"""Example of a store: rows in a dictionary, `memory://NAME`.

Copy this module into a folder of `indexer/stores/`, parse its URLs in `indexer/stores/address.py`,
open them in `indexer/stores/__init__.py`, and add the store to `tests/contract/conftest.py`. What
else a store can do is declared next to it, by the small protocols of `indexer/stores/abilities.py`:
`indexer/stores/sqlite/families.py` stores groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from indexer.errors import IndexMissing
from indexer.model import Candidate, Candidates, Prefilter, Query, RankedRow, Row
from indexer.recipe import Recipe
from indexer.stores.address import StoreAddress
from indexer.stores.base import Counts, Lookup, Ranking
from indexer.stores.fields import refusals, storable_ids, storable_rows
from indexer.stores.requirements import require_same_recipe

Key: TypeAlias = tuple[str, str]  # its kind and itself


class MemoryStore:
    """A store whose rows are gone with the process."""

    writers = 0
    shared = False
    frequent_key_floor = 1_000
    frequent_key_fraction = 0.01

    def __init__(self, url: str) -> None:
        self.address = StoreAddress("sqlite", url, url, file=":memory:")
        self.url = url
        self._recipe: Recipe | None = None
        self._rows: dict[str, Row] = {}

    def stored_recipe(self) -> Recipe | None:
        """Return the recipe; None before `prepare`."""
        return self._recipe

    def prepare(self, recipe: Recipe) -> None:
        """Create the store; another recipe than the one it has is refused with the difference."""
        require_same_recipe(self._recipe, recipe)
        self._recipe = recipe

    def write(self, rows: Sequence[Row]) -> list[str | None]:
        """Insert or replace rows, once they are storable: 1. one refused row stops no other."""
        refused = refusals(rows, self._required().id)
        accepted = [row for row, why in zip(rows, refused, strict=True) if why is None]
        self._rows.update((row.id, row) for row in storable_rows(accepted))
        return refused

    def delete(self, ids: Sequence[str]) -> int:
        """Remove rows: 2. an id that does not exist is no error."""
        known = self._known(ids)
        for id in known:
            del self._rows[id]
        return len(known)

    def refresh(self) -> None:
        """Do nothing: what is written is visible at once."""

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """Return whole rows by id."""
        return {id: self._rows[id] for id in self._known(ids)}

    def sources(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the `source` of rows by id."""
        return {id: self._rows[id].source for id in self._known(ids)}

    def candidates(
        self,
        lookups: Sequence[Lookup],
        limit: int,
        shared: int = 1,
        prefilters: Sequence[Prefilter | None] = (),
    ) -> list[Candidates]:
        """Return the rows that share keys: 3. without prefilters a store is slower, since each
        candidate is compared anyway.
        """
        self._required()
        counts = Counter(key for row in self._rows.values() for key in _keys(row.bands, row.blocks))
        cap = max(self.frequent_key_floor, int(self.frequent_key_fraction * len(self._rows)))
        frequent = {key for key, count in counts.items() if count > cap}
        return [self._candidates(_keys(*keys), frequent, limit, shared) for keys in lookups]

    def _candidates(
        self, wanted: dict[Key, None], frequent: set[Key], limit: int, shared: int
    ) -> Candidates:
        capped = [key for key in wanted if key in frequent]  # 4. they find no row, and count for
        rare = wanted.keys() - frequent  # each row that another key finds
        shares = ((row, len(rare & _keys(row.bands, row.blocks).keys())) for row in self.scan())
        found = [
            (row, number) for row, number in shares if number and number + len(capped) >= shared
        ]
        found.sort(key=lambda pair: (-pair[1], *_order(pair[0])))  # 5. ties go by path, then id
        return Candidates(
            tuple(
                Candidate(row.id, row.path, number, row.minhash, row.simhash)
                for row, number in found[:limit]
            ),
            tuple(key for _, key in capped),
            cut=len(found) > limit,
        )

    def search(self, query: Query) -> Ranking:
        """Return the rows that have a word of the query: 6. a store that understands the syntax
        parses it by `indexer.stores.query_syntax`.
        """
        wanted = set(query.text.lower().split())
        scores = {row.id: len(wanted & set(row.text.lower().split())) for row in self.scan()}
        rows = [row for row in self.scan() if scores[row.id] or not wanted]
        rows.sort(key=lambda row: (-scores[row.id], *_order(row)))
        return Ranking(
            len(rows),
            (
                RankedRow(row.id, row.path, scores[row.id], row.family, row.status, row.minhash)
                for row in rows
            ),
        )

    def scan(self, under: str | None = None) -> Iterator[Row]:
        """Yield rows by id, in the order of their bytes in UTF-8."""
        self._required()
        for row in sorted(self._rows.values(), key=lambda row: row.id.encode()):
            if under is None or f"{row.path}/".startswith(f"{under.rstrip('/')}/"):
                yield row

    def counts(self) -> Counts:
        """Return the contents in numbers."""
        self._required()
        rows = self._rows.values()
        return Counts(
            len(rows),
            dict(Counter(row.status for row in rows)),
            dict(Counter(row.content_type for row in rows)),
            dict(Counter(row.recipe for row in rows)),
            families=len({row.family for row in rows}),
        )

    def close(self) -> None:
        """Do nothing: there is no connection."""

    def _known(self, ids: Sequence[str]) -> list[str]:
        self._required()
        return [id for id in storable_ids(ids) if id in self._rows]

    def _required(self) -> Recipe:
        if self._recipe is None:
            raise IndexMissing(url=self.url)  # 7. an unprepared store names the way forward
        return self._recipe


def _keys(bands: Sequence[str], blocks: Sequence[str]) -> dict[Key, None]:
    """Return keys with their kind, bands first, each once."""
    kinds = {"band": bands, "block": blocks}
    return dict.fromkeys((kind, key) for kind, keys in kinds.items() for key in keys)


def _order(row: Row) -> tuple[bytes, bytes]:
    return row.path.encode(), row.id.encode()
