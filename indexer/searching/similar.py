"""The stored near duplicates of a text or of a stored document, with the reasons.

Candidates share keys with the query; their sketches rule out those that cannot reach the threshold;
the texts decide.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from indexer.comparing.band_plan import (
    HAMMING,
    has_bits_alone,
    min_equal,
    stored_recall,
    usual_threshold,
)
from indexer.comparing.criteria import NO_CRITERIA, Criteria, RuleValues
from indexer.comparing.measures import ComparedText
from indexer.comparing.reasons import REARRANGED, Rarity, have_same_symbols, sameness
from indexer.comparing.words import Words, normal_words
from indexer.defaults import MEASURE, MISREAD, REVIEW, DefaultName, DefaultNumber
from indexer.errors import DocumentNotFound, SnapshotExpired, UsageError
from indexer.fingerprinting.fingerprint import content_digest, fingerprint, with_pictographs
from indexer.fingerprinting.keys import DISTANCE, hamming, pack_slots, stored_sketch
from indexer.fingerprinting.normalise import first_accent, without_accents
from indexer.grouping.words_in_common import (
    FEW_WORDS,
    language_without_accents,
    max_words,
    min_in_common,
    words_without_positions,
)
from indexer.model import (
    Candidate,
    Candidates,
    Fingerprint,
    Match,
    Prefilter,
    Row,
    Sameness,
    Scope,
    Status,
    WordLookup,
)
from indexer.recipe import LONG_BITS, Recipe
from indexer.searching.rescore import Conditions, find_rearranged, rescore
from indexer.searching.stored_texts import comparable_rows, text_cache
from indexer.stores.abilities import FullStore, VocabularyStore
from indexer.stores.base import Store
from indexer.stores.requirements import require_recipe, scope_view
from indexer.system.approved_passages import OmissionLog
from indexer.system.recipe_inputs import with_corpus
from indexer.wording import count_of, percent, visible

# The subject of a look-up: a text, or a stored document.

_CLOSE = 1 - DISTANCE / LONG_BITS  # the similarity within which blocks find every document
_TEXT_ALONE = Row("", "", "complete", "", "", "", "", None, 0, "", "", "", "", 0, 0, "")


@dataclass(frozen=True, slots=True)
class Lookup:
    """A text to look up.

    `id` and `path` name the document that it is; None for a text alone. `row` has its fields.
    """

    text: str
    id: str | None = None
    path: str | None = None
    is_part: bool = False
    row: Row | None = None

    def is_itself(self, candidate: Candidate) -> bool:
        """Return whether a candidate is the document that is looked up."""
        return candidate.id == self.id or candidate.path == self.path

    @property
    def is_scan(self) -> bool:
        """True for a document whose characters a program recognised."""
        return bool(self.row and self.row.ocr)

    def as_row(self, own: Fingerprint) -> Row:
        """Return the document as a row with the statistics of its fingerprint."""
        row = self.row or replace(_TEXT_ALONE, embedded=with_pictographs("", self.text))
        return replace(
            row,
            text=self.text,
            status="truncated" if row.status == "truncated" else own.status,
            exact=content_digest(own.exact, row.embedded),
            words=own.words,
            chars=own.chars,
        )


def without_heading(text: str, of: Scope | None) -> str:
    """Return the text to look up.

    Among parts, a single clause goes without its number and heading, as stored ones do.
    """
    if of != "parts":
        return text
    from indexer.comparing.clauses.segmentation import clauses

    parts = clauses(text)
    if len(parts) != 1 or parts[0].body >= parts[0].end:
        return text
    return text[parts[0].body : parts[0].end]


def stored_lookups(store: Store, ids: Sequence[str]) -> list[Lookup]:
    """Return the look-ups of stored documents. Raises `DocumentNotFound`."""
    rows = store.get(ids)
    for id in ids:
        if id not in rows:
            raise DocumentNotFound(id=id)
    return [_stored_lookup(rows[id]) for id in ids]


def _stored_lookup(row: Row) -> Lookup:
    """Return the look-up of a stored row.

    A document is itself wherever its path is, a part by its id alone; documents of other programs
    may have no path.
    """
    is_part = row.parent is not None
    path = None if is_part else row.path or None
    return Lookup(row.text, row.id, path, is_part, row)


def rule_values(lookup: Lookup, own: Fingerprint, criteria: Criteria) -> RuleValues:
    """Return what the rules compare of the document that is looked up.

    Raises `UsageError` if it has no fields.
    """
    if criteria.fields and lookup.row is None:
        raise UsageError(
            "a text alone has no fields for --same, --differ and --window; "
            "give a PATH, or --id of a stored document"
        )
    return criteria.values(lookup.as_row(own))


# Candidates of short texts by their words, which stored keys alone may miss.

_MIN_LISTED = 0.5  # below, too many texts share as many words


def looks_up_words(measure: str, threshold: float, recipe: Recipe) -> bool:
    """Return whether short texts are looked up by their words too."""
    return measure == "lcs" and recipe.counts_normal_words and threshold >= _MIN_LISTED


def with_candidates_by_words(
    store: VocabularyStore,
    recipe: Recipe,
    threshold: float,
    limit: int,
    texts: Sequence[tuple[str, Fingerprint]],
    results: Sequence[Candidates],
) -> list[Candidates]:
    """Return the candidates of texts by keys, and of short ones also by words.

    `limit` of these at most for each text. Texts without keys match copies only. Where a search
    finds every word, the keys that were not looked up do not matter.
    """
    positions = [
        index
        for index, (_, own) in enumerate(texts)
        if own.bands and own.words <= max_words(threshold)
    ]
    lookups = [
        word_lookup(recipe.compared(texts[position][0]), threshold) for position in positions
    ]
    merged = list(results)
    if lookups:
        by_words = store.vocabulary.candidates(lookups, limit)
        is_complete = store.vocabulary.finds_every_word()
        for index, others in zip(positions, by_words, strict=True):
            merged[index] = _merge(results[index], others, is_complete)
    return merged


def word_lookup(text: str, threshold: float) -> WordLookup:
    """Return the look-up of the texts that reach a threshold of `lcs`, one of the two being short.

    Each word is looked up as measures compare it and as it is written.

    >>> word_lookup("The ferry leaves at 8", 0.8)
    WordLookup(words=(('the',), ('ferry',), ('leaves',), ('at',), ('8',)), shared=4, \
min_words=4, max_words=6, sampled=False)
    """
    words = normal_words(text)
    spellings: dict[str, set[str]] = {}
    for word, start, end in zip(words.folded, words.starts, words.ends, strict=True):
        written_word = text[start:end].replace('"', " ").lower()
        spellings.setdefault(word, set()).add(written_word)
    written = tuple((word, *sorted(forms - {word})) for word, forms in spellings.items())
    count = len(words.folded)
    minimum = min_in_common(count, threshold)
    limit = math.floor(count / threshold + 1e-9)
    if count >= FEW_WORDS:
        limit = min(limit, FEW_WORDS - 1)
    return WordLookup(written, max(1, len(written) - (count - minimum)), minimum, limit)


def _merge(by_keys: Candidates, by_words: Candidates, is_complete: bool) -> Candidates:
    known = {candidate.id for candidate in by_keys.found}
    new = tuple(candidate for candidate in by_words.found if candidate.id not in known)
    if is_complete:
        return Candidates(by_keys.found + new, cut=by_words.cut, complete=True)
    return replace(by_keys, found=by_keys.found + new, cut=by_keys.cut or by_words.cut)


# Copies that differ in accents, whose keys come from other words: a text with many accents is
# looked up without them, too, and of one without any its words, whatever accents they have.

MANY_ACCENTS = 0.15  # of the words; where fewer have accents, keys find the copies without them
MAX_ACCENTED = 100  # candidates by words, those with most of them
RICH_IN_ACCENTS = frozenset({"cs", "fr", "hu", "pl", "pt", "ro", "sk", "sv", "tr", "vi"})
# words that are looked up; a copy has a third of them, as full-text search may know ł from l
LONG_WORDS = 24


def has_many_accents(words: Words) -> bool:
    """Return whether enough words have an accent that keys find few copies without.

    >>> [has_many_accents(words_without_positions(text)) for text in ("řízení ve výši", "ve", "")]
    [True, False, False]
    """
    times = np.bincount(words.numbers, minlength=len(words.vocabulary))
    has_accent = [not word.isascii() and first_accent(word) != "" for word in words.vocabulary]
    return int(times[has_accent].sum()) >= MANY_ACCENTS * len(words) > 0


def accented_lookup(words: Words, threshold: float) -> WordLookup | None:
    """Return the look-up of the texts of which a text without accents may be a copy, by its longest
    words; None if it has accents, or is in a language with few.

    >>> words = words_without_positions("nebo jako rozhodnuti uradu ve veci stavebniho povoleni")
    >>> lookup = accented_lookup(words, 0.8)
    >>> lookup.words[:2], lookup.min_words, lookup.max_words
    ((('rozhodnuti',), ('stavebniho',)), 7, 10)
    >>> accented_lookup(words_without_positions("the decision of the office"), 0.8)
    """
    if words.has_accents or language_without_accents(words) not in RICH_IN_ACCENTS:
        return None
    longest = sorted(words.vocabulary, key=len, reverse=True)[:LONG_WORDS]
    minimum = math.ceil(len(words) * threshold - 1e-9)
    limit = math.floor(len(words) / threshold + 1e-9)
    spellings = tuple((word,) for word in longest)
    return WordLookup(spellings, -(-len(longest) // 3), minimum, limit, sampled=True)


WINDOW = 1000
BATCH = 50  # documents that are looked up at once
_SWITCHES = 5  # to another recipe during one look-up, after which it is given up
# below it a note names the fraction that is found; the default finds .99 of the pairs exactly at .8
USUAL_RECALL = 0.98


@dataclass(frozen=True, slots=True)
class SimilarOptions:
    """The options of `similar` and `similar_many`.

    `threshold`: minimum similarity of a match, 0 to 1.
    `measure`: name of the similarity. With a recipe of bits alone the defaults are `hamming` and
    the distance of `usual_distance`.
    `limit`: maximum number of matches of a document.
    `of`: which rows are looked up. None: parts for the id of a part, else documents. Among parts, a
    text that is one clause is looked up without its number and heading, as they are stored.
    `criteria`: what a match meets in addition to the threshold.
    `window`: candidates that are compared at most, those that share most keys.
    """

    threshold: float = DefaultNumber(REVIEW)
    measure: str = DefaultName(MEASURE)
    limit: int = 20
    of: Scope | None = None
    criteria: Criteria = NO_CRITERIA
    window: int = WINDOW

    @property
    def compares_scans(self) -> bool:
        """True where scans are compared by `lcs_misread`: no measure was asked for."""
        return self.measure == MEASURE and isinstance(self.measure, DefaultName)

    def for_recipe(self, recipe: Recipe) -> SimilarOptions:
        """Return the options with the defaults of a recipe.

        Raises `UsageError` where its sketches do not suffice for the measure and the criteria.
        """
        options = self
        if has_bits_alone(recipe) and isinstance(self.measure, DefaultName):
            is_default = isinstance(self.threshold, DefaultNumber)
            threshold = usual_threshold(recipe) if is_default else self.threshold
            options = replace(self, measure=HAMMING, threshold=threshold)
        options.criteria.check_sketches(recipe, options.measure)
        return options


@dataclass(frozen=True, slots=True)
class SimilarResult:
    """The result of a look-up. `query` names what was looked up: a path, `-`, or an id.

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


@dataclass(frozen=True, slots=True)
class _Context:
    """The values that all look-ups of one call share."""

    store: FullStore
    recipe: Recipe
    options: SimilarOptions
    rarity: Rarity
    outside: str | None = None  # the family of whose documents none is a match


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
    measure at the threshold or above, in the order of their rank, ties by path and id.

    Raises `DocumentNotFound`, `UnknownMeasure`, `UsageError` for criteria on fields of a text
    without fields, and `StoreError` when nothing was indexed yet.
    """
    recipe = require_recipe(store)
    options = options.for_recipe(recipe)
    if id is None:
        lookup = Lookup(without_heading(text or "", options.of), path=path, row=row)
    else:
        lookup = stored_lookups(store, [id])[0]
    scope = options.of or ("parts" if lookup.is_part else "documents")
    return next(_results(scope_view(store, scope), recipe, [lookup], options))


def similar_outside(store: FullStore, row: Row, options: SimilarOptions) -> SimilarResult:
    """Find the near duplicates of a stored document that are in other families, as `similar`."""
    recipe = require_recipe(store)
    view = scope_view(store, "parts" if row.parent is not None else "documents")
    lookups = [_stored_lookup(row)]
    return next(_results(view, recipe, lookups, options.for_recipe(recipe), row.family))


def similar_many(
    store: FullStore,
    texts: Sequence[str] = (),
    options: SimilarOptions = SimilarOptions(),
    *,
    ids: Sequence[str] = (),
) -> Iterator[SimilarResult]:
    """Yield the near duplicates of many texts, then of many stored documents, in the order given.

    Each result is as from `similar`; without `options.of` documents are looked up. A store in a
    search engine takes the candidates of many documents in one request. Raises as `similar` does,
    for a document that is not found when its turn comes.
    """
    recipe = require_recipe(store)
    options = options.for_recipe(recipe)
    view = store if options.of is None else scope_view(store, options.of)
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        lookups = [Lookup(without_heading(text, options.of)) for text in batch]
        yield from _results(view, recipe, lookups, options)
    for start in range(0, len(ids), BATCH):
        lookups = stored_lookups(store, ids[start : start + BATCH])
        yield from _results(view, recipe, lookups, options)


def _results(
    store: FullStore,
    recipe: Recipe,
    lookups: Sequence[Lookup],
    options: SimilarOptions,
    outside: str | None = None,
) -> Iterator[SimilarResult]:
    """Yield one result each, in order; candidates are read together.

    They are read again when the store is given another recipe meanwhile.
    """
    for attempts in range(_SWITCHES, -1, -1):
        try:
            prints, results = _look_up(store, recipe, lookups, options)
        except SnapshotExpired:
            if not attempts:
                raise
            recipe = require_recipe(store)
            continue
        current = recipe
        if not all(result.found or result.filtered for result in results):
            current = require_recipe(store)
        if current.id == recipe.id or not attempts:
            break
        recipe = current
    context = _Context(store, recipe, options, Rarity(store.vocabulary.frequencies), outside)
    for lookup, own, result in zip(lookups, prints, results, strict=True):
        yield _result(context, lookup, own, result)


def _look_up(
    store: FullStore, recipe: Recipe, lookups: Sequence[Lookup], options: SimilarOptions
) -> tuple[list[Fingerprint], list[Candidates]]:
    """Return the fingerprints of look-ups, and their candidates."""
    prints = [fingerprint(lookup.text, recipe) for lookup in lookups]
    blocks = [
        (*own.blocks, *_earlier_keys(lookup.text, recipe))
        for lookup, own in zip(lookups, prints, strict=True)
    ]
    shared = recipe.shared or 1
    with_bands = [
        (own.bands, () if shared > 1 else keys) for own, keys in zip(prints, blocks, strict=True)
    ]
    prefilters = [_prefilter(own, recipe, options) for own in prints]
    results = store.candidates(with_bands, options.window, shared, prefilters)
    if shared > 1 and options.measure == "hamming":
        near = store.candidates([((), keys) for keys in blocks], options.window)
        results = [
            _with_close_bits(result, own, others)
            for result, own, others in zip(results, prints, near, strict=True)
        ]
    if looks_up_words(options.measure, options.threshold, recipe):
        texts = [(lookup.text, own) for lookup, own in zip(lookups, prints, strict=True)]
        settings = options.threshold, options.window
        results = with_candidates_by_words(store, recipe, *settings, texts, results)
        results = _with_other_accents(store, recipe, options, lookups, prints, results)
    if looks_up_scans(options, recipe):
        results = _with_scans(store, recipe, options, lookups, prints, results)
    return prints, results


def _with_other_accents(
    store: FullStore,
    recipe: Recipe,
    options: SimilarOptions,
    lookups: Sequence[Lookup],
    prints: Sequence[Fingerprint],
    results: Sequence[Candidates],
) -> list[Candidates]:
    """Add the copies without accents of texts with many, and texts with accents of those without
    any. Short texts are looked up by their words already.
    """
    merged = list(results)
    plain: dict[int, Fingerprint] = {}
    by_words: dict[int, WordLookup] = {}
    for index, (lookup, own) in enumerate(zip(lookups, prints, strict=True)):
        if not own.bands or own.words <= max_words(options.threshold):
            continue
        text = recipe.compared(lookup.text)
        words = words_without_positions(text)
        if not text.isascii() and has_many_accents(words):
            plain[index] = fingerprint(without_accents(text.lower()), recipe)
        elif accented := accented_lookup(words, options.threshold):
            by_words[index] = accented
    if plain:
        keys = [(own.bands, ()) for own in plain.values()]
        prefilters = [_prefilter(own, recipe, options) for own in plain.values()]
        found = store.candidates(keys, options.window, recipe.shared or 1, prefilters)
        for index, others in zip(plain, found, strict=True):
            merged[index] = _merge(merged[index], others, is_complete=False)
    if by_words:
        found = store.vocabulary.candidates([*by_words.values()], MAX_ACCENTED)
        for index, others in zip(by_words, found, strict=True):
            merged[index] = _merge(merged[index], replace(others, cut=False), is_complete=False)
    return merged


def looks_up_scans(options: SimilarOptions, recipe: Recipe) -> bool:
    """Return whether keys made for other texts find too few scans."""
    if not options.compares_scans and options.measure != MISREAD:
        return False
    recall = stored_recall(recipe, MISREAD, options.threshold)
    return recall is not None and recall < USUAL_RECALL


def _with_scans(
    store: FullStore,
    recipe: Recipe,
    options: SimilarOptions,
    lookups: Sequence[Lookup],
    prints: Sequence[Fingerprint],
    results: Sequence[Candidates],
) -> list[Candidates]:
    """Add the rows that share one band, where the row or the document itself is a scan."""
    minimum = min_equal(MISREAD, options.threshold, recipe)
    prefilters = [
        None
        if own.minhash is None
        else Prefilter(pack_slots(own.minhash), recipe.slot_bytes, minimum, ocr=not lookup.is_scan)
        for lookup, own in zip(lookups, prints, strict=True)
    ]
    found = store.candidates([(own.bands, ()) for own in prints], options.window, 1, prefilters)
    return [_merge(*entry, is_complete=False) for entry in zip(results, found, strict=True)]


def _with_close_bits(result: Candidates, own: Fingerprint, near: Candidates) -> Candidates:
    """Add the rows that share a block and differ in few bits, by a look-up of their own.

    Where two bands are shared, one block alone makes no candidate: their keys are not counted
    together.
    """
    known = {candidate.id for candidate in result.found}
    added = (
        candidate
        for candidate in near.found
        if candidate.id not in known
        and None not in (own.simhash, candidate.simhash)
        and hamming(own.simhash or 0, candidate.simhash or 0) <= DISTANCE
    )
    return replace(
        result,
        found=(*result.found, *added),
        capped_keys=(*result.capped_keys, *near.capped_keys),
        cut=result.cut or near.cut,
    )


def _earlier_keys(text: str, recipe: Recipe) -> Iterator[str]:
    """Yield the blocks of a text by the earlier numbered statistics of an online recipe."""
    for earlier in recipe.by_statistics()[:-1]:
        yield from fingerprint(text, with_corpus(earlier)).blocks


def _prefilter(own: Fingerprint, recipe: Recipe, options: SimilarOptions) -> Prefilter | None:
    """Return what the sketches, and the words, of matches have in common with a fingerprint."""
    if own.minhash is None:
        return None
    slots = pack_slots(own.minhash)
    minimum = min_equal(options.measure, options.threshold, recipe)
    prefilter = Prefilter(slots, recipe.slot_bytes, minimum)
    fraction = min(options.threshold, REARRANGED)
    if options.measure != "lcs" or not recipe.counts_normal_words or not fraction:
        return prefilter
    limit = int(own.words / fraction + 1e-6)
    return replace(prefilter, lengths=(math.ceil(fraction * own.words - 1e-6), limit))


def _result(
    context: _Context, lookup: Lookup, own: Fingerprint, result: Candidates
) -> SimilarResult:
    """Return the result of one look-up, whose fingerprint is `own`."""
    recipe, options = context.recipe, context.options
    values = rule_values(lookup, own, options.criteria)
    candidates = _candidates(context, lookup, own, result)
    rows = _rows_to_compare(context, candidates)
    query = text_cache.compared(lookup.text, recipe, stored_sketch(own), own.simhash)
    texts = [
        (candidate, text_cache.compared(row.text, recipe, row.minhash, row.simhash))
        for candidate in candidates
        if (row := rows.get(candidate.id))
    ]
    broken = frozenset(id for id, row in rows.items() if not _meets_rules(context, values, row))
    is_compared = options.compares_scans
    scans = [id for id, row in rows.items() if is_compared and (lookup.is_scan or row.ocr)]
    matches, refused, similar_ids = rescore(
        query,
        texts,
        options.threshold,
        options.measure,
        options.limit,
        Conditions(options.criteria, context.rarity, broken, _embedded(lookup, rows), scans),
        _copies(replace(lookup.as_row(own), text=query.text), rows, options.criteria),
    )
    notes = [*_notes(own, result, options, recipe), *_notes_on_fields(values, options.criteria)]
    if refused and None not in values:
        documents = count_of(refused, "document")
        notes.append(f"the conditions left out {documents} at the threshold or above")
    notes += _notes_on_passages(context, lookup, [match.id for match in matches])
    if options.measure == "lcs":
        found = broken | similar_ids
        others = [entry for entry in texts if entry[0].id not in found]
        notes += _rearranged_notes(query, others, options.threshold)
    return SimilarResult(
        query=lookup.id or lookup.path or "-",
        text=lookup.text,
        recipe=recipe.name,
        status=own.status,
        matches=tuple(matches),
        capped_keys=result.capped_keys,
        notes=tuple(notes),
    )


def _candidates(
    context: _Context, lookup: Lookup, own: Fingerprint, result: Candidates
) -> list[Candidate]:
    """Return the documents that share keys, or the copies of one without keys; never itself."""
    has_keys = bool(own.bands or own.blocks)
    candidates = result.found if has_keys else _copies_without_keys(context, lookup, own)
    return [candidate for candidate in candidates if not lookup.is_itself(candidate)]


def _copies_without_keys(
    context: _Context, lookup: Lookup, own: Fingerprint
) -> Sequence[Candidate]:
    """Return the copies of a document without keys, whether their fields agree or not."""
    store, options = context.store, context.options
    row = lookup.as_row(own)
    if row.chars:
        members = store.families.members("exact", [row.exact])
    elif row.raw:
        members = store.families.members("raw", [row.raw])
    else:
        return []
    rows = store.get(list(islice((id for id, _ in members), WINDOW)))
    of_parts = lookup.is_part or options.of == "parts"
    return [
        Candidate(id, rows[id].path, 0, None, None)
        for id in _copies(row, rows, options.criteria)
        if options.of == "both" or (rows[id].parent is not None) == of_parts
    ]


def _copies(query: Row, rows: Mapping[str, Row], criteria: Criteria) -> dict[str, Sameness]:
    """Return the rows that are copies of the query, by id, and what they have in common."""
    key = criteria.content_key(query)
    return {
        id: sameness(query, row)
        for id, row in rows.items()
        if criteria.content_key(row) == key and have_same_symbols(query.text, row.text)
    }


def _rows_to_compare(context: _Context, candidates: list[Candidate]) -> dict[str, Row]:
    """Return the rows of the candidates, by id."""
    rows = context.store.get([candidate.id for candidate in candidates]) if candidates else {}
    others = [row for row in rows.values() if row.family != context.outside]
    return comparable_rows(context.store, context.recipe, others)


def _embedded(lookup: Lookup, rows: Mapping[str, Row]) -> dict[str, tuple[str, str]]:
    """Return the files in the document and in each row, if there are any; none of a text alone."""
    own = lookup.row.embedded if lookup.row else None
    if own is None:
        return {}
    return {id: (own, row.embedded) for id, row in rows.items() if own or row.embedded}


def _meets_rules(context: _Context, values: RuleValues, row: Row) -> bool:
    """Return whether the rules allow the fields of a row together with these values."""
    criteria = context.options.criteria
    return criteria.allows(values, criteria.values(row))


def _notes_on_fields(values: RuleValues, criteria: Criteria) -> Iterator[str]:
    """Yield a sentence if the document has no value of a field that the rules compare."""
    if None in values:
        missing = criteria.fields[values.index(None)]
        yield f"the document has no value of {missing}, which near duplicates need here"


def _notes_on_passages(context: _Context, lookup: Lookup, ids: Sequence[str]) -> Iterator[str]:
    """Yield a sentence if approved passages were left out of the document or of its matches."""
    recipe = context.recipe
    if not (recipe.left_out and recipe.approved):
        return
    passages = recipe.approved()
    texts = [lookup.text, *(row.text for row in context.store.get(ids).values())]
    log = OmissionLog(recipe.left_out)
    for index, text in enumerate(texts):
        left_out = passages.blank_out(text)[1]
        if left_out.passages:
            log.documents[str(index)] = left_out
    if log.documents:
        yield str(log.summary())


def _rearranged_notes(
    query: ComparedText, texts: Sequence[tuple[Candidate, ComparedText]], threshold: float
) -> Iterator[str]:
    """Yield a sentence for each document that has the same passages in another order."""
    for candidate, overlap, in_order in find_rearranged(query, texts, threshold):
        yield (
            f"{visible(candidate.path or candidate.id)} is rearranged: {percent(overlap)} of the "
            f"words are in shared passages, but only {percent(in_order)} in the same order"
        )


def _notes(
    own: Fingerprint, result: Candidates, options: SimilarOptions, recipe: Recipe
) -> Iterator[str]:
    """Yield what may be missing, in sentences."""
    if not (own.bands or own.blocks):
        status = own.status.replace("_", " ")
        yield f"the document is {status}: it has no keys, and matches copies only"
    elif own.words < FEW_WORDS and options.measure == "lcs" and not result.complete:
        yield (
            f"a text of fewer than {FEW_WORDS} words may share no keys with one that differs in a "
            "word or two; match finds all of their pairs"
        )
    if result.capped_keys:
        keys = count_of(len(result.capped_keys), "key")
        yield f"{keys} left out, as too many documents carry the same"
    if result.cut:
        limit = f"{options.window:,}"
        shared = "words" if result.complete else "keys"
        yield f"more than {limit} documents share {shared}; those that share most were compared"
    if result.complete:
        return
    if recipe.shared and options.measure == "hamming" and options.threshold < _CLOSE:
        yield (
            f"documents within {DISTANCE} different bits are all found; "
            "those with more only if they share keys of their words"
        )
    recall = stored_recall(recipe, options.measure, options.threshold)
    if recall is not None and recall < USUAL_RECALL:
        yield (
            f"the keys of the index ({recipe.name}) are expected to find {percent(recall, 1)} of "
            f"the pairs at {options.measure} {options.threshold:g}, and more of those above"
        )
