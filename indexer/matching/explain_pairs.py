"""The differences between the documents of many pairs, whose texts are read in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexer.similarity.new_words import Rarity, measure_new_words
from indexer.similarity.reasons import Reasons, reasons_of
from indexer.similarity.sides import Side
from indexer.stores.abilities import FullStore
from indexer.stores.requirements import require_recipe

AT_ONCE = 50  # pairs that are read together


def explain_pairs(store: FullStore, pairs: Sequence[tuple[str, str]]) -> Iterator[Reasons | None]:
    """Yield what differs between the documents of each pair of ids; None if one is gone.

    Raises `StoreError` when nothing was indexed yet.
    """
    recipe = require_recipe(store)
    rarity = Rarity(store.vocabulary.frequencies)
    for start in range(0, len(pairs), AT_ONCE):
        batch = pairs[start : start + AT_ONCE]
        rows = store.get(list(dict.fromkeys(id for pair in batch for id in pair)))
        sides = {id: Side(row.text, recipe) for id, row in rows.items()}
        known = [(a, b) for a, b in batch if a in rows and b in rows]
        new_words = measure_new_words([(sides[a], sides[b]) for a, b in known], rarity)
        reasons = {
            (a, b): reasons_of((rows[a], rows[b]), (sides[a], sides[b]), new)
            for (a, b), new in zip(known, new_words, strict=True)
        }
        yield from map(reasons.get, batch)
