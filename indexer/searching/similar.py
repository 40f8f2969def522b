"""Look-ups: which stored documents a text resembles, and why.

Candidates share keys with the query; their sketches rule out those that cannot reach the threshold;
the texts decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from indexer.defaults import MEASURE, REVIEW
from indexer.errors import DocumentNotFound, UsageError
from indexer.joins.slot_bounds import fewest_equal
from indexer.model import Candidate, Candidates, Fingerprint, Match, Row, Scope, Status
from indexer.recipe import Recipe
from indexer.similarity.criteria import NO_CRITERIA, Criteria, RuleValues
from indexer.similarity.new_words import Rarity
from indexer.similarity.rescore import promising, rearranged, rescore
from indexer.similarity.sameness import sameness
from indexer.similarity.sides import Side, candidate_side
from indexer.sketch.fingerprint import fingerprint
from indexer.sketch.plan import stored_recall
from indexer.stores.abilities import FullStore
from indexer.stores.requirements import require_recipe, scope_view
from indexer.text.clauses.segmentation import clauses
from indexer.text.visible import visible
from indexer.text.wording import count_of, percent

WINDOW = 1000  # candidates that are looked at
BATCH = 50  # documents that are looked up at once
USUAL_RECALL = 0.99  # below it a note names the share that is found


@dataclass(frozen=True, slots=True)
class SimilarOptions:
    """The options of `similar` and `similar_many`.

    `threshold`: least similarity of a match, 0 to 1.
    `measure`: name of the similarity.
    `limit`: most matches a document.
    `of`: which rows are looked up. None: parts for the id of a part, else documents. Among parts, a
    text that is one clause is looked up without its number and heading, as they are stored.
    `criteria`: what a match meets beside the threshold.
    """

    threshold: float = REVIEW
    measure: str = MEASURE
    limit: int = 20
    of: Scope | None = None
    criteria: Criteria = NO_CRITERIA


@dataclass(frozen=True, slots=True)
class SimilarResult:
    """The answer to a look-up. `query` names what was looked up: a path, `-`, or an id.

    `status` is the query's own: anything but `complete` and `truncated` has no keys and so copies
    as its only matches. `notes` says what may be missing, in sentences. Passages point into `text`,
    which is what was looked up.
    """

    query: str
    text: str
    recipe: str
    status: Status
    matches: tuple[Match, ...]
    capped_keys: tuple[str, ...]
    notes: tuple[str, ...]


_TEXT_ALONE = Row("", "", "complete", "", "", "", "", None, 0, "", "", "", "", 0, 0, "")


@dataclass(frozen=True, slots=True)
class _Lookup:
    """A text to look up, and which document it is, where it is one. `row`: its fields."""

    text: str
    id: str | None = None
    path: str | None = None
    is_part: bool = False
    row: Row | None = None

    def is_itself(self, candidate: Candidate) -> bool:
        """Return whether a candidate is the document that is looked up."""
        return candidate.id == self.id or candidate.path == self.path

    def as_row(self, own: Fingerprint) -> Row:
        """Return the document as a row with the figures of its fingerprint."""
        row = self.row or _TEXT_ALONE
        return replace(
            row,
            text=self.text,
            status="truncated" if row.status == "truncated" else own.status,
            exact=own.exact,
            words=own.words,
            chars=own.chars,
        )


def similar(
    store: FullStore,
    text: str | None = None,
    options: SimilarOptions = SimilarOptions(),
    *,
    id: str | None = None,
    path: str | None = None,
    row: Row | None = None,
) -> SimilarResult:
    """Find the stored near duplicates of a text, or of the stored document `id`.

    `path` is where the text came from: a stored row of that path is the document itself, which is
    never a match. `row` has the fields of the text, for criteria on fields. Matches have the
    measure at the threshold or above, most similar first, ties by path and id.

    Raises `DocumentNotFound`, `UnknownMeasure`, `UsageError` for criteria on fields of a text
    without fields, and `StoreError` when nothing was indexed yet.
    """
    recipe = require_recipe(store)
    options.criteria.check_sketches(recipe, options.measure)
    if id is None:
        lookup = _Lookup(without_heading(text or "", options.of), path=path, row=row)
    else:
        lookup = _stored_lookups(store, [id])[0]
    scope = options.of or ("parts" if lookup.is_part else "documents")
    return next(_results(scope_view(store, scope), recipe, [lookup], options))


def similar_many(
    store: FullStore,
    texts: Sequence[str] = (),
    options: SimilarOptions = SimilarOptions(),
    *,
    ids: Sequence[str] = (),
) -> Iterator[SimilarResult]:
    """Yield the near duplicates of many texts, then of many stored documents, in the order given.

    Each result is that of `similar`; without `options.of` documents are looked up. A store in a
    search engine takes the candidates of many documents in one request. Raises as `similar` does,
    for a document that is not found when its turn comes.
    """
    recipe = require_recipe(store)
    options.criteria.check_sketches(recipe, options.measure)
    view = store if options.of is None else scope_view(store, options.of)
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        lookups = [_Lookup(without_heading(text, options.of)) for text in batch]
        yield from _results(view, recipe, lookups, options)
    for start in range(0, len(ids), BATCH):
        lookups = _stored_lookups(store, ids[start : start + BATCH])
        yield from _results(view, recipe, lookups, options)


def without_heading(text: str, of: Scope | None) -> str:
    """Return the text to look up.

    Among parts, a single clause goes without its number and heading, as stored ones do.
    """
    if of != "parts":
        return text
    parts = clauses(text)
    if len(parts) != 1 or parts[0].body >= parts[0].end:
        return text
    return text[parts[0].body : parts[0].end]


def _stored_lookups(store: FullStore, ids: Sequence[str]) -> list[_Lookup]:
    rows = store.get(ids)
    for id in ids:
        if id not in rows:
            raise DocumentNotFound(id=id)
    return [_stored_lookup(rows[id]) for id in ids]


def _stored_lookup(row: Row) -> _Lookup:
    """Return the look-up of a stored row.

    A document is itself wherever its path is, a part by its id alone; documents of other programs
    may have no path.
    """
    is_part = row.parent is not None
    path = None if is_part else row.path or None
    return _Lookup(row.text, row.id, path, is_part, row)


def _results(
    store: FullStore, recipe: Recipe, lookups: Sequence[_Lookup], options: SimilarOptions
) -> Iterator[SimilarResult]:
    """Yield one result each, in order; candidates are read together."""
    prints = [fingerprint(lookup.text, recipe) for lookup in lookups]
    answers = store.candidates([(own.bands, own.blocks) for own in prints], WINDOW)
    if not all(answer.found for answer in answers):
        current = require_recipe(store)
        if current.id != recipe.id:  # the store was given another recipe meanwhile
            yield from _results(store, current, lookups, options)
            return
    rarity = Rarity(store.vocabulary.frequencies)
    for lookup, own, answer in zip(lookups, prints, answers, strict=True):
        yield _result(store, recipe, lookup, own, answer, options, rarity)


def _result(
    store: FullStore,
    recipe: Recipe,
    lookup: _Lookup,
    own: Fingerprint,
    answer: Candidates,
    options: SimilarOptions,
    rarity: Rarity,
) -> SimilarResult:
    """Return the result of one look-up, whose fingerprint is `own`."""
    rows_found = answer.found if own.bands or own.blocks else _copies(store, lookup, own, options)
    candidates = [row for row in rows_found if not lookup.is_itself(row)]
    query = Side(lookup.text, recipe, own.minhash, own.simhash)
    values = _rule_values(lookup, own, options.criteria)
    rows = _promising_rows(store, recipe, values, own, candidates, options)
    sides = [
        (candidate, candidate_side(candidate, rows[candidate.id].text, recipe))
        for candidate in candidates
        if candidate.id in rows
    ]
    query_row = lookup.as_row(own)
    key = options.criteria.content_key(query_row)
    copies = {
        id: sameness(query_row, row)
        for id, row in rows.items()
        if options.criteria.content_key(row) == key
    }
    threshold, measure = options.threshold, options.measure
    matches = rescore(
        query, sides, threshold, measure, options.limit, options.criteria, copies, rarity
    )
    notes = [*_notes(own, answer, options, recipe)]
    if None in values:
        missing = options.criteria.fields[values.index(None)]
        notes.append(f"the document has no value of {missing}, which near duplicates need here")
    if measure == "lcs":
        notes += _rearranged_notes(query, sides, threshold)
    return SimilarResult(
        query=lookup.id or lookup.path or "-",
        text=lookup.text,
        recipe=recipe.name,
        status=own.status,
        matches=tuple(matches),
        capped_keys=answer.capped_keys,
        notes=tuple(notes),
    )


def _copies(
    store: FullStore, lookup: _Lookup, own: Fingerprint, options: SimilarOptions
) -> list[Candidate]:
    """Return the copies of a document without keys, whether their fields agree or not."""
    row = lookup.as_row(own)
    if row.chars:
        members = store.families.members("exact", [row.exact])
    elif row.raw:
        members = store.families.members("raw", [row.raw])
    else:
        return []
    rows = store.get(list(islice((id for id, _ in members), WINDOW)))
    of_parts = lookup.is_part or options.of == "parts"
    key = options.criteria.content_key(row)
    return [
        Candidate(id, copy.path, 0, None, None)
        for id, copy in rows.items()
        if options.criteria.content_key(copy) == key
        and (options.of == "both" or (copy.parent is not None) == of_parts)
    ]


def _promising_rows(
    store: FullStore,
    recipe: Recipe,
    values: RuleValues,
    own: Fingerprint,
    candidates: list[Candidate],
    options: SimilarOptions,
) -> dict[str, Row]:
    """Return the rows of the candidates whose fields the rules allow beside these values, by id.

    Those whose sketches rule out that they reach the threshold are not read.
    """
    least = fewest_equal(options.measure, options.threshold, recipe)
    candidates = promising(own, candidates, least)
    rows = store.get([candidate.id for candidate in candidates]) if candidates else {}
    criteria = options.criteria
    return {id: row for id, row in rows.items() if criteria.allows(values, criteria.values(row))}


def _rule_values(lookup: _Lookup, own: Fingerprint, criteria: Criteria) -> RuleValues:
    """Return what the rules compare of the document that is looked up.

    Raises `UsageError` if it has no fields.
    """
    if not criteria.fields:
        return ()
    if lookup.row is None:
        raise UsageError(
            "a text alone has no fields for --same, --differ and --window; "
            "give a PATH, or --id of a stored document"
        )
    return criteria.values(lookup.as_row(own))


def _rearranged_notes(
    query: Side, sides: Sequence[tuple[Candidate, Side]], threshold: float
) -> Iterator[str]:
    """Yield a sentence for each document that has the same passages in another order."""
    for candidate, overlap, in_order in rearranged(query, sides, threshold):
        yield (
            f"{visible(candidate.path or candidate.id)} is rearranged: {percent(overlap)} of the "
            f"words are in shared passages, but only {percent(in_order)} in the same order"
        )


def _notes(
    own: Fingerprint, answer: Candidates, options: SimilarOptions, recipe: Recipe
) -> Iterator[str]:
    """Yield what may be missing, in sentences."""
    if not (own.bands or own.blocks):
        status = own.status.replace("_", " ")
        yield f"the document is {status}: it has no keys, and matches copies only"
    if answer.capped_keys:
        keys = count_of(len(answer.capped_keys), "key")
        yield f"{keys} left out, as too many documents carry the same"
    if answer.cut:
        yield f"more than {WINDOW:,} documents share keys; those that share most were compared"
    recall = stored_recall(recipe, options.measure, options.threshold)
    if recall is not None and recall < USUAL_RECALL:
        yield (
            f"the keys of the index ({recipe.name}) are expected to find {percent(recall, 1)} of "
            f"the pairs at {options.measure} {options.threshold:g}, and more of those above"
        )
