"""Texts in memory, without files and stores: what to keep, groups, pairs, one pair, and an index.

The functions take the texts as a list, as (id, text) pairs, as dicts, or as a column or table of
pandas, polars, Arrow or `datasets`. They are compared by the code of `dedup`, `group`, `match` and
`similar`, with the same results.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from os import PathLike, fspath
from tempfile import TemporaryDirectory
from typing import Any, Generic, Literal, Protocol, TypeVar, overload

from indexer.comparing.criteria import Criteria
from indexer.comparing.measures import ComparedText, check_measure, measure_pair
from indexer.comparing.reasons import differences, format_differences, ignored, new_words
from indexer.defaults import MEASURE, MEMORY_MEGABYTES
from indexer.documents.base import ReadOptions
from indexer.errors import SourceNotFound, UsageError
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.grouping.collection import Collection, gather
from indexer.grouping.group import Grouping, assign_families, grouping_of_rows
from indexer.grouping.group_options import DEFAULT_OPTIONS, GroupOptions, memory_budget
from indexer.grouping.match import MatchOptions, match_collection
from indexer.jobs.backup import backup
from indexer.jobs.check import item_of_text
from indexer.jobs.dataset_files import RowText
from indexer.jobs.dedup import BATCH_ROWS, DEFAULTS, DedupOptions, fingerprint_texts
from indexer.jobs.document_rows import row_of
from indexer.model import Difference, Match, Progress, Row, no_progress
from indexer.recipe import DEFAULT
from indexer.searching.similar import SimilarOptions, similar
from indexer.stores import open_store
from indexer.stores.abilities import FullStore
from indexer.wording import percent

Key = TypeVar("Key", bound=Hashable)
_OPTIONS = ReadOptions(metadata=False)
_MATCH, _SIMILAR = MatchOptions(), SimilarOptions()


class TextColumn(Protocol):
    """A column of texts, such as a Series of pandas or polars, or an array of Arrow."""

    def __len__(self) -> int:
        """Return the number of its texts."""
        ...

    def __getitem__(self, key: Any, /) -> Any:
        """Return a text by its position."""
        ...


# The forms in which texts come.


def _read_texts(texts: Any, text_field: str) -> dict[Any, str | None]:
    """Return texts by id: the given ids, else the labels of a pandas index, else positions.

    Raises `UsageError` for a value that is neither a text nor missing, and for an id that comes
    twice.
    """
    is_many = isinstance(texts, Iterable) or hasattr(texts, "to_pylist")
    if isinstance(texts, (str, bytes, Mapping)) or not is_many:
        raise UsageError(
            f"a list of texts is needed, not {type(texts).__name__}; put one text in a list, and "
            "give the items() of a dict"
        )
    by_id: dict[Any, str | None] = {}
    for id, text in _items(texts, text_field):
        if id in by_id:
            raise UsageError(f"the id {id!r} comes twice; give each text an id of its own")
        by_id[id] = _text(id, text)
    return by_id


def _items(texts: Any, text_field: str) -> Iterator[tuple[Any, Any]]:
    """Yield each text with its id; columns and tables are recognised by their methods."""
    names = getattr(texts, "column_names", None) or getattr(texts, "columns", None)
    if names is not None and hasattr(texts, "__getitem__"):
        yield from _table_items(texts, list(names), text_field)
    elif hasattr(texts, "to_pylist"):  # an array of Arrow
        yield from enumerate(texts.to_pylist())
    elif hasattr(texts, "index") and hasattr(texts, "items"):  # a Series of pandas
        yield from texts.items()
    else:
        for position, item in enumerate(texts):
            if isinstance(item, Mapping):
                if text_field not in item:
                    raise UsageError(f"item {position} has no {text_field!r}: {sorted(item)}")
                yield item.get("id", position), item[text_field]
            elif isinstance(item, tuple):
                if len(item) != 2:
                    raise UsageError(
                        f"item {position} has {len(item)} values; give pairs of an id and a text"
                    )
                yield item
            else:
                yield position, item


def _table_items(table: Any, names: Sequence[str], text_field: str) -> Iterator[tuple[Any, Any]]:
    if text_field not in names:
        raise UsageError(f"there is no column {text_field!r}; choose a column of: {names}")
    column = table[text_field]
    if "id" not in names:
        yield from _items(column, text_field)
        return
    ids, texts = (
        values.to_pylist() if hasattr(values, "to_pylist") else list(values)
        for values in (table["id"], column)
    )
    yield from zip(ids, texts, strict=True)


def _text(id: Any, text: Any) -> str | None:
    if isinstance(text, str):
        return text
    is_missing = text is None or (isinstance(text, float) and isnan(text))
    if is_missing or type(text).__name__ in ("NAType", "NaTType"):
        return None
    raise UsageError(f"text {id!r} is {type(text).__name__}, not a string")


class _TextRows:
    """The texts that are not missing, as rows with fingerprints; a reader for verification."""

    def __init__(self, texts: Mapping[Any, str | None], progress: Progress) -> None:
        present = [(id, text) for id, text in texts.items() if text is not None]
        self.keys = [id for id, _ in present]
        without_keys = replace(DEFAULT, bands=0, rows=0)
        self.rows: list[Row] = []
        for start in range(0, len(present), BATCH_ROWS):
            progress("fingerprinting", start, len(present))
            batch = [RowText(0, 0, text) for _, text in present[start : start + BATCH_ROWS]]
            rows = fingerprint_texts(batch, _OPTIONS, without_keys)
            self.rows += [rows.row(n, f"{start + n:012}") for n in range(len(rows))]

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """Return rows by id."""
        return {id: self.rows[int(id)] for id in ids}

    def grouping(self, options: GroupOptions, criteria: Criteria) -> Grouping:
        """Return the grouping of the texts by criteria, as `collect` takes them."""
        _check_criteria(criteria)
        budget = memory_budget(MEMORY_MEGABYTES)
        return grouping_of_rows(self.rows, self, DEFAULT, options, len(self.rows), criteria, budget)

    def collect(self, criteria: Criteria) -> Collection:
        """Return the collection of the texts.

        Raises `UsageError` for criteria on what texts alone do not have.
        """
        _check_criteria(criteria)
        budget = memory_budget(MEMORY_MEGABYTES)
        return gather(self.rows, DEFAULT, len(self.rows), budget=budget, criteria=criteria)


def _check_criteria(criteria: Criteria) -> None:
    if criteria.fields or criteria.novelty is not None:
        raise UsageError(
            "texts alone have no fields, and nothing counts how frequent their words are; "
            "leave out same, differ, window and novelty"
        )


# Removal of duplicates.


@dataclass(frozen=True, slots=True)
class RemovedText(Generic[Key]):
    """A text that is removed: its id, the id of the text that is kept for it, and why.

    `outcome`: `exact` where both are equal after normalisation, which ignores case, blanks and
    punctuation, else `near`.
    `similarity`: the value of the measure of the options, 1 for exact copies.
    """

    id: Key
    kept: Key
    similarity: float
    outcome: Literal["exact", "near"]


@dataclass(frozen=True, slots=True)
class DedupedTexts(Generic[Key]):
    """The texts that are kept and those that are removed, both in the order in which they came.

    `kept`: the ids of the texts that stay: positions in a list without ids.
    `texts`: these texts, None for missing ones.
    `removed`: the others, each with the text that stays for it and why.
    """

    kept: list[Key]
    texts: list[str | None]
    removed: list[RemovedText[Key]]


@overload
def dedupe(
    texts: Iterable[str | None],
    threshold: float | None = None,
    *,
    options: DedupOptions = ...,
    progress: Progress = ...,
) -> DedupedTexts[int]: ...
@overload
def dedupe(
    texts: Iterable[tuple[Key, str | None]],
    threshold: float | None = None,
    *,
    options: DedupOptions = ...,
    progress: Progress = ...,
) -> DedupedTexts[Key]: ...
@overload
def dedupe(
    texts: Iterable[Mapping[str, Any]] | TextColumn,
    threshold: float | None = None,
    *,
    options: DedupOptions = ...,
    progress: Progress = ...,
) -> DedupedTexts[Any]: ...
def dedupe(
    texts: Any,
    threshold: float | None = None,
    *,
    options: DedupOptions = DEFAULTS,
    progress: Progress = no_progress,
) -> DedupedTexts[Any]:
    """Return which texts to keep, and which ones are copies or near duplicates of a kept one.

    `texts`: strings; (id, text) pairs; dicts with `text` and perhaps `id`; a column of pandas,
    polars or Arrow; a table of these or a `datasets.Dataset` with a column `text` (or
    `options.text_field`) and perhaps `id`. Ids are hashable and distinct; without them a text is
    named by its position from 0, in a Series of pandas by its label.
    `threshold`: minimum similarity of a removed text to the kept one, above 0 and at most 1; None:
    as in `options`. Options and result are the same as for `dedup`; the longest of similar texts
    stays, the earlier one among equals, and a text is only removed for a text that stays. Blank
    texts and missing ones (None, NaN) are kept.
    `progress`: called with the name of a step, the number done, and the total.

    Nothing gives nothing. Raises `UsageError` for anything that is not a text, for an id that comes
    twice, and for options out of range.

    >>> texts = ["The ferry leaves at eight.", "the ferry leaves at eight", "A new library opens."]
    >>> result = dedupe(texts)
    >>> result.kept, [(text.id, text.kept, text.outcome) for text in result.removed]
    ([0, 2], [(1, 0, 'exact')])
    >>> dedupe([("a", "One two three four."), ("b", "One, two, three, four!")]).kept
    ['a']
    """
    options = options if threshold is None else replace(options, threshold=threshold)
    by_id = _read_texts(texts, options.text_field)
    table = _TextRows({id: text for id, text in by_id.items() if text and text.strip()}, progress)
    family_options = options.family_options()
    grouping = table.grouping(family_options, family_options.folding)
    order = grouping.first_order()
    pairs = grouping.pairs(order, progress)
    numbers = grouping.collection.documents.texts
    removed: dict[Any, RemovedText[Any]] = {}
    for position, principal, similarity in grouping.assign(pairs, order, progress):
        if similarity is not None:
            outcome: Literal["exact", "near"]
            outcome = "exact" if numbers[position] == numbers[principal] else "near"
            id, kept = table.keys[position], table.keys[principal]
            removed[id] = RemovedText(id, kept, similarity, outcome)
    kept_ids = [id for id in by_id if id not in removed]
    texts_kept = [by_id[id] for id in kept_ids]
    return DedupedTexts(kept_ids, texts_kept, [removed[id] for id in by_id if id in removed])


# Groups of near duplicates.


@dataclass(frozen=True, slots=True)
class TextGroup(Generic[Key]):
    """Near duplicates: the id of the principal, and each other member with its similarity to it.

    Members are most similar first, ties in the order in which they came.
    """

    principal: Key
    members: list[tuple[Key, float]]

    @property
    def ids(self) -> list[Key]:
        """The ids of all texts of the group, the principal first."""
        return [self.principal, *(id for id, _ in self.members)]


@overload
def groups(
    texts: Iterable[str | None],
    threshold: float | None = None,
    *,
    options: GroupOptions = ...,
    progress: Progress = ...,
) -> list[TextGroup[int]]: ...
@overload
def groups(
    texts: Iterable[tuple[Key, str | None]],
    threshold: float | None = None,
    *,
    options: GroupOptions = ...,
    progress: Progress = ...,
) -> list[TextGroup[Key]]: ...
@overload
def groups(
    texts: Iterable[Mapping[str, Any]] | TextColumn,
    threshold: float | None = None,
    *,
    options: GroupOptions = ...,
    progress: Progress = ...,
) -> list[TextGroup[Any]]: ...
def groups(
    texts: Any,
    threshold: float | None = None,
    *,
    options: GroupOptions = DEFAULT_OPTIONS,
    progress: Progress = no_progress,
) -> list[TextGroup[Any]]:
    """Return the near-duplicate groups of two texts or more, largest first.

    `texts` and `progress` are as in `dedupe`; `threshold`, above 0 and at most 1, is the minimum
    similarity of a member to its principal; None: that of `options`, which are those of `group`, as
    is the result. Groups of the same size come in the order of their principals. A text without a
    near duplicate, or a missing one, is in no group; no text is in two.

    Raises `UsageError` as `dedupe` does, and for options `of` parts or `within` labels, which texts
    do not have.

    >>> texts = [("a", "The ferry leaves at eight."), ("b", "Hi."), ("c", "The ferry leaves at 8.")]
    >>> groups(texts, 0.8)
    [TextGroup(principal='a', members=[('c', 0.8)])]
    """
    options = options if threshold is None else replace(options, threshold=threshold)
    if options.of != "documents" or options.within is not None:
        raise UsageError("texts alone have no parts and no labels; leave out of and within")
    by_id = _read_texts(texts, "text")
    table = _TextRows(by_id, progress)
    grouping = table.grouping(options, options.folding)
    assigned = assign_families(grouping, progress).assignments
    members: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
    for position, assignment in enumerate(assigned):
        if int(assignment.family) != position:
            members[int(assignment.family)].append((position, assignment.similarity or 0.0))
    result = []
    for principal, positions in sorted(members.items(), key=lambda item: (-len(item[1]), item[0])):
        positions.sort(key=lambda member: (-member[1], member[0]))
        named = [(table.keys[position], similarity) for position, similarity in positions]
        result.append(TextGroup(table.keys[principal], named))
    return result


# Pairs of near duplicates.


@dataclass(frozen=True, slots=True)
class TextPair(Generic[Key]):
    """Two near duplicates, `a` before `b` in the order in which they came.

    `measure` is as in the options, or `estimate` where fingerprints alone decided.
    """

    a: Key
    b: Key
    similarity: float
    measure: str


@overload
def pairs(
    texts: Iterable[str | None],
    threshold: float | None = None,
    *,
    options: MatchOptions = ...,
    progress: Progress = ...,
) -> list[TextPair[int]]: ...
@overload
def pairs(
    texts: Iterable[tuple[Key, str | None]],
    threshold: float | None = None,
    *,
    options: MatchOptions = ...,
    progress: Progress = ...,
) -> list[TextPair[Key]]: ...
@overload
def pairs(
    texts: Iterable[Mapping[str, Any]] | TextColumn,
    threshold: float | None = None,
    *,
    options: MatchOptions = ...,
    progress: Progress = ...,
) -> list[TextPair[Any]]: ...
def pairs(
    texts: Any,
    threshold: float | None = None,
    *,
    options: MatchOptions = _MATCH,
    progress: Progress = no_progress,
) -> list[TextPair[Any]]:
    """Return the pairs of texts that are similar, by rank, as `match` lists them.

    `texts` and `progress` are as in `dedupe`; `threshold` is above 0 and at most 1; None: that of
    `options` (0.8), which are those of `match`, as is the result. Each pair comes once; pairs of
    the same rank come in the order of their texts. A missing text is in no pair.

    Raises `UsageError` as `dedupe` does, and for options on labels, parts, arrival or an audit.

    >>> pairs(["The ferry leaves at eight.", "A new library.", "The ferry leaves at 8."])
    [TextPair(a=0, b=2, similarity=0.8, measure='lcs')]
    """
    options = options if threshold is None else replace(options, threshold=threshold)
    if options.of != "documents" or options.against or options.new or options.audit:
        raise UsageError(
            "texts alone have no labels, parts or time of arrival, and are not audited; leave out "
            "against, of, new and audit"
        )
    if options.false_negative_weight is not None:
        raise UsageError("texts in memory are compared by recall; leave out false_negative_weight")
    by_id = _read_texts(texts, "text")
    table = _TextRows(by_id, progress)
    collection = table.collect(options.criteria)
    found = []
    for pair in match_collection(collection, table, options, progress):
        a, b = sorted((int(pair.a), int(pair.b)))
        found.append((-pair.rank, a, b, pair.similarity, pair.measure))
    return [
        TextPair(table.keys[a], table.keys[b], similarity, measure)
        for _, a, b, similarity, measure in sorted(found)
    ]


# One pair of texts.


@dataclass(frozen=True, slots=True)
class TextSimilarity:
    """The similarity of two texts, and what differs.

    `similarity`: 0 to 1 by `measure`; `float(...)` gives it.
    `differences`: the facts that differ, each as either text writes it: numbers, dates, amounts,
    negations, names, addresses, signs.
    `only_a`, `only_b`: the words that only one of the texts has, in its order.
    `ignored`: the differences of texts of the same words: case, blanks, signs.
    """

    similarity: float
    measure: str
    differences: tuple[Difference, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    ignored: tuple[str, ...]

    def __float__(self) -> float:
        """Return the similarity."""
        return self.similarity

    def __str__(self) -> str:
        """Return a sentence."""
        reasons = format_differences(self.differences)
        return "; ".join([f"{percent(self.similarity)} {self.measure}", *reasons])


def similarity(a: str, b: str, *, measure: str = MEASURE) -> TextSimilarity:
    """Return how similar two texts are, and what differs.

    `measure`: a measure of `compare`, which also returns the passages in common. Texts without
    words have similarity 0 unless they are equal.

    Raises `UsageError` for a value that is not a text, and `UnknownMeasure`.

    >>> result = similarity("Pay 42,000 euros by May.", "Pay 45,500 euros by May.")
    >>> round(result.similarity, 2), result.differences
    (0.67, (Difference(kind='amount', a='42,000', b='45,500'),))
    >>> print(similarity("To be.", "to be"))
    100% lcs
    """
    check_measure(measure)
    for name, text in (("a", a), ("b", b)):
        if not isinstance(text, str):
            raise UsageError(f"{name} is {type(text).__name__}, not a string")
    left, right = (_operand(text, measure) for text in (a, b))
    value = 1.0 if a == b else measure_pair(measure, left, right).similarity
    only_a, only_b = new_words(left, right)
    has_same_words = left.words.folded == right.words.folded
    return TextSimilarity(
        value,
        measure,
        differences(left.facts, right.facts),
        only_a,
        only_b,
        ignored(a, b) if has_same_words and a != b else (),
    )


def _operand(text: str, measure: str) -> ComparedText:
    if measure not in ("estimate", "hamming"):
        return ComparedText(text, DEFAULT)
    own = fingerprint(text, DEFAULT)
    return ComparedText(text, DEFAULT, own.minhash, own.simhash)


# An index in memory.


class Index:
    """Texts in memory that are found by similar ones, as `similar` finds documents of a store.

    `len(index)` is the number of texts, and `id in index` whether one has an id. `save` writes a
    store that every command reads: `nearfold similar FILE --store index.db`.

    >>> index = Index()
    >>> index.add("a", "The ferry leaves the harbour at eight.")
    >>> index.add("b", "A new library opens.")
    >>> for match in index.query("The ferry leaves at 8", threshold=0.5):
    ...     print(match.id, round(match.similarity, 2))
    a 0.57
    >>> index.delete("a")
    >>> index.query("The ferry leaves the harbour at eight.")
    []
    """

    def __init__(self) -> None:
        self._store: FullStore = open_store("sqlite://:memory:")
        self._store.prepare(DEFAULT)

    def __len__(self) -> int:
        return self._store.counts().documents

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and bool(self._store.get([id]))

    def add(self, id: str, text: str) -> None:
        """Add a text, instead of the one of the same id if there is one.

        Raises `UsageError` for an id that is empty or not a string.
        """
        self.update([(id, text)])

    def update(self, texts: Any, *, progress: Progress = no_progress) -> None:
        """Add many texts, in any form that `dedupe` takes, with ids that are strings.

        Missing texts are left out. Raises `UsageError` as `dedupe` does.
        """
        items = [(id, text) for id, text in _read_texts(texts, "text").items() if text is not None]
        for id, _ in items:
            if not isinstance(id, str) or not id:
                raise UsageError(f"an id is a non-empty string, not {id!r}")
        for start in range(0, len(items), BATCH_ROWS):
            progress("adding texts", start, len(items))
            self._store.write([_row(id, text) for id, text in items[start : start + BATCH_ROWS]])
        self._store.refresh()

    def query(
        self,
        text: str,
        threshold: float | None = None,
        *,
        options: SimilarOptions = _SIMILAR,
    ) -> list[Match]:
        """Return the similar texts by rank, ties by id, each with what differs.

        `threshold`: 0 to 1; None: that of `options` (0.8), which are those of `similar`, by default
        20 texts or fewer. An empty index gives an empty list.
        """
        options = options if threshold is None else replace(options, threshold=threshold)
        return list(similar(self._store, text, options).matches)

    def delete(self, id: str) -> None:
        """Remove a text.

        Raises `KeyError` for an id that is not in the index.
        """
        if id not in self:
            raise KeyError(id)
        self._store.delete([id])
        self._store.refresh()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the index to a file, which is a store; a store that is there is replaced.

        The file is complete or, after any error, as it was. Raises `UsageError` for a path that
        cannot be written, or at which there is any other file.
        """
        with TemporaryDirectory(prefix="nearfold-") as folder:
            copy = open_store(f"sqlite:///{folder}/index.db")
            try:
                copy.prepare(DEFAULT)
                _copy_rows(self._store, copy)
                backup(copy, fspath(path), replace=True)
            finally:
                copy.close()

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Index:
        """Return the index of a file that `save` wrote; texts added later are not saved.

        Raises `SourceNotFound`, and `StoreError` for a file that is no store of this recipe.
        """
        name = fspath(path)
        try:
            open(name, "rb").close()  # noqa: PTH123 - opening a store would create it
        except OSError as error:
            raise SourceNotFound(path=name) from error
        index = cls()
        saved = open_store(f"sqlite:///{name}")
        try:
            saved.prepare(DEFAULT)
            _copy_rows(saved, index._store)
        finally:
            saved.close()
        return index


def _row(id: str, text: str) -> Row:
    return row_of(item_of_text(text, id), fingerprint(text, DEFAULT), DEFAULT.id, is_alone=True)


def _copy_rows(source: FullStore, target: FullStore) -> None:
    batch: list[Row] = []
    for row in source.scan():
        batch.append(row)
        if len(batch) >= BATCH_ROWS:
            target.write(batch)
            batch = []
    target.write(batch)
    target.refresh()
