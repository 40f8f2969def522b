"""Looking up: what does this document resemble, and why.

Candidates share keys with the query; their sketches tell which may reach the threshold; the texts
decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexer.errors import DocumentNotFound
from indexer.model import Candidate, Fingerprint, Match, Row, Scope, Status
from indexer.recipe import Recipe
from indexer.similarity.rescore import promising, rescore
from indexer.similarity.sides import Side, candidate_side
from indexer.sketch.fingerprint import fingerprint
from indexer.sketch.plan import chance
from indexer.stores.base import Store
from indexer.stores.requirements import require_recipe, scope_view
from indexer.text.clauses.segmentation import clauses

WINDOW = 1000
BATCH = 50


@dataclass(frozen=True, slots=True)
class SimilarResult:
    """The answer to a look-up. `query` names what was asked: a path, `-`, or an id.

    `status` is the query's own: anything but `complete` and `truncated` has no keys and so no
    matches. `notes` says what may be missing, in sentences. Passages point into `text`, which is
    what was asked.
    """

    query: str
    text: str
    recipe: str
    status: Status
    matches: tuple[Match, ...]
    capped_keys: tuple[str, ...]
    notes: tuple[str, ...]


def similar(
    store: Store,
    text: str | None = None,
    *,
    id: str | None = None,
    path: str | None = None,
    threshold: float = 0.8,
    measure: str = "jaccard",
    limit: int = 20,
    of: Scope | None = None,
) -> SimilarResult:
    """Find the stored near duplicates of a text, or of the stored document `id`; never the document
    itself.

    `of`: which rows are looked up; None means parts for the id of a part, else documents. Among
    parts, a text that is one clause is asked without its number and heading, as they are stored.

    `path` is where the text came from: a stored row of that path is the document itself. Matches
    have `measure` >= `threshold`, most similar first, ties by path and id, at most `limit`.

    Raises `DocumentNotFound`, `UnknownMeasure`, and `StoreError` when nothing was indexed yet.
    """
    recipe = require_recipe(store)
    asked = (
        _stored(store, [id])[0]
        if id is not None
        else _Asked(without_heading(text or "", of), path=path)
    )
    scope = of or ("parts" if asked.part else "documents")
    return next(_answers(scope_view(store, scope), recipe, [asked], threshold, measure, limit))


def similar_many(
    store: Store,
    texts: Sequence[str] = (),
    *,
    ids: Sequence[str] = (),
    threshold: float = 0.8,
    measure: str = "jaccard",
    limit: int = 20,
) -> Iterator[SimilarResult]:
    """Find the near duplicates of many texts, then of many stored documents, in the order given;
    what `similar` finds for each.

    A store in a search engine is asked for the candidates of many documents at once. Raises as
    `similar` does, for a document that is not found when its turn comes.
    """
    recipe = require_recipe(store)
    for start in range(0, len(texts), BATCH):
        asked = [_Asked(text) for text in texts[start : start + BATCH]]
        yield from _answers(store, recipe, asked, threshold, measure, limit)
    for start in range(0, len(ids), BATCH):
        yield from _answers(
            store, recipe, _stored(store, ids[start : start + BATCH]), threshold, measure, limit
        )


@dataclass(frozen=True, slots=True)
class _Asked:
    """A text to look up, and what document it is, where it is one."""

    text: str
    id: str | None = None
    path: str | None = None
    part: bool = False


def without_heading(text: str, of: Scope | None) -> str:
    """What a text is looked up by: among parts, a single clause goes without its number and
    heading, as stored ones do.
    """
    found = clauses(text) if of == "parts" else []
    return (
        text[found[0].body : found[0].end]
        if len(found) == 1 and found[0].body < found[0].end
        else text
    )


def _stored(store: Store, ids: Sequence[str]) -> list[_Asked]:
    rows = store.get(ids)
    for id in ids:
        if id not in rows:
            raise DocumentNotFound(id=id)
    return [_asked(rows[id]) for id in ids]


def _asked(row: Row) -> _Asked:
    """A document is itself wherever its path is, a part by its id alone; documents of other
    programs may have no path.
    """
    part = row.parent is not None
    return _Asked(row.text, row.id, None if part else row.path or None, part)


def _answers(
    store: Store,
    recipe: Recipe,
    asked: Sequence[_Asked],
    threshold: float,
    measure: str,
    limit: int,
) -> Iterator[SimilarResult]:
    """One answer each, in order; candidates come together."""
    signed = [fingerprint(one.text, recipe) for one in asked]
    together = store.candidates_of([(one.bands, one.blocks) for one in signed], WINDOW)
    if (
        not all(found.found for found in together)
        and (now := require_recipe(store)).id != recipe.id
    ):
        yield from _answers(
            store, now, asked, threshold, measure, limit
        )  # the store was given another recipe meanwhile
        return
    for one, own, found in zip(asked, signed, together, strict=True):
        others = [other for other in found.found if other.id != one.id and other.path != one.path]
        yield SimilarResult(
            query=one.id or one.path or "-",
            text=one.text,
            recipe=recipe.name,
            status=own.status,
            matches=tuple(
                _matches(store, one.text, own, others, recipe, threshold, measure, limit)
            ),
            capped_keys=found.capped_keys,
            notes=tuple(_notes(own, found.capped_keys, found.cut, threshold, recipe)),
        )


def _matches(
    store: Store,
    text: str,
    asked: Fingerprint,
    candidates: list[Candidate],
    recipe: Recipe,
    threshold: float,
    measure: str,
    limit: int,
) -> list[Match]:
    """Candidates whose sketches may reach the threshold, judged on their texts."""
    if not candidates:
        return []
    kept = promising(asked, candidates, threshold) if measure == "jaccard" else candidates
    rows = store.get([candidate.id for candidate in kept])
    sides = [
        (candidate, candidate_side(candidate, rows[candidate.id].text, recipe))
        for candidate in kept
        if candidate.id in rows
    ]
    query = Side(text, recipe, asked.minhash, asked.simhash)
    return rescore(query, sides, threshold, measure, limit)


def _notes(
    asked: Fingerprint, capped: tuple[str, ...], cut: bool, threshold: float, recipe: Recipe
) -> Iterator[str]:
    """What an honest answer adds."""
    if not (asked.bands or asked.blocks):
        yield f"the document is {asked.status.replace('_', ' ')}: it has no keys and resembles nothing"
    if capped:
        yield f"{len(capped)} keys were not asked because too many documents carry them"
    if cut:
        yield f"more than {WINDOW:,} documents share keys; those that share most were judged"
    if recipe.bands and recipe.similarity is not None and threshold < recipe.similarity:
        found = chance(threshold, recipe.bands or 0, recipe.rows or 0)
        yield f"the index is planned for {recipe.similarity:g}; of pairs at {threshold:g} about {found:.0%} are found"
