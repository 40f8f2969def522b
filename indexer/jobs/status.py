"""Counts of a store and the failures of its last jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from indexer.grouping.group_options import has_other_rules
from indexer.model import Query, guessed_encoding
from indexer.recipe import Recipe
from indexer.stores.abilities import MaintainedStore
from indexer.stores.base import Counts
from indexer.stores.journal import Failure, journal_path, known_group_settings, stored_failures
from indexer.stores.maintenance import Shareable
from indexer.stores.requirements import is_shared, require_recipe


@dataclass(frozen=True, slots=True)
class Overview:
    """The counts of a store, its recipe, and the files that could not be read or stored (by path).

    `running`: a job is working on the store, so its failures are not known yet.
    `without_principal`: the groups whose principal another program deleted or changed.
    `waiting`: documents that clients sent to an engine and that nobody put into groups yet.
    `guessed_encodings`: the documents of plain text that are not UTF-8, by the encoding in which
    they were read. `other_rules`: the last `group` was made by the rules of another version.
    """

    store: str
    recipe: Recipe
    counts: Counts
    failed: tuple[Failure, ...]
    running: bool = False
    without_principal: int = 0
    waiting: int = 0
    guessed_encodings: Mapping[str, int] = field(default_factory=dict)
    other_rules: bool = False

    @property
    def signed_earlier(self) -> int:
        """The number of documents that `reindex` would fingerprint by later statistics of the
        recipe.
        """
        return count_fingerprinted_earlier(self.recipe, self.counts)


def count_fingerprinted_earlier(recipe: Recipe, counts: Counts) -> int:
    """Count the documents that earlier statistics of an online recipe fingerprinted."""
    return sum(count for id, count in counts.by_recipe.items() if recipe.has_other_statistics(id))


def status(store: MaintainedStore) -> Overview:
    """Count the documents of the store, also while a job is running. Raises `StoreError` when
    nothing was indexed yet.
    """
    recipe = require_recipe(store)
    failures = stored_failures(journal_path(store.address))
    maintenance, headless, waiting = store.maintenance, 0, 0
    if isinstance(maintenance, Shareable) and is_shared(store):
        headless, waiting = len(maintenance.headless_families()), maintenance.waiting()
    return Overview(
        store.url,
        recipe,
        store.counts(),
        failures or (),
        running=failures is None,
        without_principal=headless,
        waiting=waiting,
        guessed_encodings=_guessed_encodings(store),
        other_rules=has_other_rules(known_group_settings(store.address)),
    )


def _guessed_encodings(store: MaintainedStore) -> Mapping[str, int]:
    counts: Counter[str] = Counter()
    for facet in store.search(Query("", facets=("extractor",))).facets["extractor"]:
        if encoding := guessed_encoding(facet.value):
            counts[encoding] += facet.documents
    return counts
