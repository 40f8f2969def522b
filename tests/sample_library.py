"""A small store of texts for tests of matching and grouping, and their true similarities."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from typing import Any

from synthetic_marks import pairs_of_each_kind

from indexer.comparing.measures import ComparedText, measure_pair
from indexer.defaults import MEASURE
from indexer.fingerprinting.fingerprint import content_digest, fingerprints
from indexer.jobs.document_rows import ExtractedBlob, row_of
from indexer.model import Blob, Document, EmbeddedFile, Row, pack_embedded
from indexer.recipe import DEFAULT, Recipe
from indexer.stores import open_store

WORDS = (
    "harbour", "ferry", "vega", "night", "quay", "bridge", "letter", "court", "lease",
    "tenant", "river", "summer", "engine", "valve", "boiler", "coal", "signal",
)  # fmt: skip


def sentence(seed: int, words: int = 40) -> str:
    """Return words in an order that depends on the seed; no randomness."""
    return " ".join(
        f"{WORDS[(seed * 7 + place * (3 + seed % 5)) % len(WORDS)]}{(seed * place) % 11}"
        for place in range(words)
    )


def edited(text: str, edits: int, mark: str = "x") -> str:
    """Replace the last words of a text."""
    words = text.split()
    return " ".join([*words[: len(words) - edits], *(f"{mark}{place}" for place in range(edits))])


def rows(
    texts: dict[str, str],
    recipe: Recipe = DEFAULT,
    cut: frozenset[str] = frozenset(),
    **changes: Any,
) -> list[Row]:
    """Rows as indexing makes them, by id; those in `cut` are truncated, as clients write them
    that give no digest of the rest. `changes` map a field to a value by id.
    """
    signed = fingerprints(list(texts.values()), recipe)
    documents = []
    for place, (id, text) in enumerate(texts.items()):
        blob = Blob(id, id.encode(), f"/library/{id}.txt", b"", len(text), place * 1_000_000_000)
        labels = changes.get("labels", {}).get(id, ())
        row = row_of(
            ExtractedBlob(blob, f"raw of {text}", "source", Document(text)),
            signed[place],
            recipe.id,
            tuple(labels),
        )
        is_cut = id in cut and row.status == "complete"
        documents.append(replace(row, status="truncated") if is_cut else row)
    return documents


def marked_rows() -> list[Row]:
    """Return rows of a pair for each kind of mark, `KIND a` and `KIND b`."""
    marked = []
    for kind, pair in pairs_of_each_kind().items():
        pictures = [EmbeddedFile("attachment", name, name * 8) for name in pair.embedded]
        files = [pack_embedded([file] if file.name else []) for file in pictures]
        pair_rows = rows({f"{kind or 'none'} a": pair.a, f"{kind or 'none'} b": pair.b})
        for row, name, embedded in zip(pair_rows, pair.paths, files, strict=True):
            exact = content_digest(row.exact, embedded)
            path = f"/{kind}/{name or row.id}"
            marked.append(replace(row, path=path, embedded=embedded, exact=exact))
    return marked


def fill(store: Any, rows: list[Row]) -> Any:
    """Write rows that a store must take, and return the store."""
    assert store.write(rows) == [None] * len(rows)
    store.refresh()
    return store


def library(rows: list[Row], recipe: Recipe = DEFAULT) -> Any:
    """Return a store in memory that holds these rows."""
    store = open_store("sqlite://:memory:")
    store.prepare(recipe)
    return fill(store, rows)


@lru_cache(maxsize=1 << 14)
def similarity(a: str, b: str, measure: str = MEASURE, recipe: Recipe = DEFAULT) -> float:
    """Return the similarity of two texts by a measure."""
    return measure_pair(measure, ComparedText(a, recipe), ComparedText(b, recipe)).similarity


def true_pairs(
    texts: dict[str, str], threshold: float, recipe: Recipe = DEFAULT, measure: str = MEASURE
) -> dict[tuple[str, str], float]:
    """Return, by brute force, the pairs at the threshold or above by a measure."""
    sides = {id: ComparedText(text, recipe) for id, text in texts.items()}
    values = {
        (a, b): measure_pair(measure, sides[a], sides[b]).similarity
        for a, b in combinations(sorted(texts), 2)
    }
    return {pair: value for pair, value in values.items() if value >= threshold and value > 0}
