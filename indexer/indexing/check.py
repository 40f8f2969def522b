"""The check of a document before it is stored: is it new, a duplicate, or for a person to decide?

One call answers and, if asked, stores the document. Of similar documents that are checked and
stored at the same time, by whatever processes, one is new: docs/decisions/024-check.md says why.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from indexer.errors import StoreError, UnreadableFile, UnsupportedOperation, UsageError
from indexer.extraction.base import DEFAULT_LIMITS
from indexer.grouping.delete import repair_families
from indexer.grouping.family_options import last_options
from indexer.grouping.label_names import label_names
from indexer.indexing.claims import ClaimedCheck
from indexer.indexing.documents import STDIN, document_at
from indexer.indexing.make_rows import ExtractedBlob, row_of, with_labels_of
from indexer.indexing.parts import part_divider
from indexer.indexing.verdicts import CheckOptions, CheckResult, Judgement, judge
from indexer.model import Blob, Document, Row
from indexer.recipe import DEFAULT, Recipe
from indexer.sketch.fingerprint import fingerprint
from indexer.sources.folder import walk
from indexer.sources.members import identifier
from indexer.sources.read_blob import read
from indexer.stores.abilities import Claiming, Exclusive, FullStore
from indexer.stores.requirements import require_recipe
from indexer.stores.row_limits import storable, storable_labels

DEFAULT_OPTIONS = CheckOptions()
_TEXTS = b"text"  # the namespace of documents that have neither id nor path
_STORED = Judgement("duplicate", similarity=1.0, reasons=("it is stored already, with this text",))
CHANGED = UnreadableFile(
    reason="the file changed while it was read", remedy="run again when nothing writes to it"
)


def check(
    store: FullStore,
    text: str | None = None,
    options: CheckOptions = DEFAULT_OPTIONS,
    *,
    path: str | None = None,
    id: str | None = None,
    labels: Sequence[str] = (),
    store_it: bool = False,
    drop_duplicates: bool = False,
) -> CheckResult:
    """Say whether a text, or the file at `path`, is new, a duplicate or for review, and store it.

    `text`: None reads the file at `path`, or stdin for `-`; else `path` is where the text came
    from, such as a URL, and nothing is read. `id`: by default that which `index` gives a file, and
    a digest of a text. `labels` are those of the document if it is stored.

    With `store_it` it is stored, whatever the answer; with `drop_duplicates` as well, a duplicate
    is not. Of similar documents that are checked so at the same time by any number of processes one
    is new, if all take the same options. A document that is stored under its id already with the
    same text is a duplicate of itself; with another text, it replaces that. Families are made by
    the next `group`. Without `store_it` nothing is written.

    `review` is the answer for a similarity from `options.review` to `options.threshold`, for texts
    that folding keeps apart whatever their similarity (templates filled in for other subjects,
    tables of numbers that differ, and what the conditions of the last `group` part), and where near
    duplicates may be missed: texts that are too short, cut or empty.

    Raises `SourceNotFound` and `ExtractionError` for a file that cannot be read, `UsageError`,
    `StoreBusy` while another process writes to the same file for long, and `StoreError` when
    nothing was indexed yet and `store_it` is not given, or the store refuses the document.
    """
    if drop_duplicates and not store_it:
        raise UsageError("nothing is stored without --store-it, so leave --drop-duplicates out")
    item = _item(text, path, id)
    return check_documents(store, [item], options, labels, store_it, drop_duplicates)[0]


def check_documents(
    store: FullStore,
    items: Sequence[ExtractedBlob],
    options: CheckOptions,
    labels: Sequence[str],
    store_it: bool,
    drop: bool = False,
) -> list[CheckResult]:
    """Check documents that were read, one after the other, as `check` does."""
    if labels and not store_it:
        raise UsageError("nothing is stored without --store-it, so leave --label out")
    own = storable_labels({"labels": label_names(labels)})["labels"]
    recipe = _prepared(store) if store_it else require_recipe(store)
    results = []
    for item in items:
        signature = fingerprint(item.document.text, recipe)
        row = storable(row_of(item, signature, recipe.id, tuple(own), is_alone=True))
        if store_it:
            judgement, stored = _store(store, recipe, row, options, drop)
        else:
            judgement, stored = _look(store, recipe, row, options), False
        results.append(_result(judgement, row, options, stored))
    return results


def _store(
    store: FullStore, recipe: Recipe, row: Row, options: CheckOptions, drop: bool
) -> tuple[Judgement | None, bool]:
    """Judge and store a row; of similar ones that are stored at the same time, one is new."""
    if isinstance(store, Exclusive):
        return _store_alone(store, recipe, row, options, drop)
    if isinstance(store, Claiming):
        is_replaced = store.parts.kind() is not None and bool(store.get([row.id]))
        row = _divided(store, recipe, row, is_replaced)
        return ClaimedCheck(store, store.claims, recipe, row, options, drop).run()
    raise UnsupportedOperation(
        store=store.url,
        operation="check and store in one step",
        alternative="check without --store-it",
    )


def _item(text: str | None, path: str | None, id: str | None) -> ExtractedBlob:
    """Return the document to check, read from its file if no text is given."""
    if text is None and path is None:
        raise UsageError("there is nothing to check; give a text or a path")
    if text is None and path != STDIN:
        return read_file(str(path), id)
    _check_id(id)
    document = Document(text) if text is not None else document_at(STDIN)[1]
    data = document.text.encode("utf-8", "surrogatepass")
    raw = hashlib.sha256(data).hexdigest()
    name = id or identifier(_TEXTS, raw.encode())
    place = "" if path in (None, STDIN) else str(path)
    blob = Blob(name, name.encode("utf-8", "replace"), place, b"", len(data), None)
    return ExtractedBlob(blob, raw, raw, document)


def _check_id(id: str | None) -> None:
    if id == "":
        raise UsageError("an id has a character at least; leave it out for that of the document")


def read_file(path: str, id: str | None) -> ExtractedBlob:
    """Return the document of a file as `index` stores it.

    Raises `UnreadableFile` for one that changes while it is read.
    """
    _check_id(id)
    before = Path(path).stat() if Path(path).exists() else None
    _, document = document_at(path)
    blob = next(item for item in walk([path]) if isinstance(item, Blob))
    payload = read(blob, DEFAULT_LIMITS.bytes)
    now = payload.size, payload.modified
    if before is None or (before.st_size, before.st_mtime_ns) != now:
        raise CHANGED
    blob = replace(blob, id=id or blob.id, size=payload.size, modified=payload.modified)
    return ExtractedBlob(blob, payload.raw, payload.source, document)


def _prepared(store: FullStore) -> Recipe:
    """Return the recipe of a store, which is created where it is missing."""
    recipe = store.stored_recipe()
    if recipe is None or isinstance(store, Claiming):
        store.prepare(recipe or DEFAULT)
    return store.stored_recipe() or DEFAULT


def _look(store: FullStore, recipe: Recipe, row: Row, options: CheckOptions) -> Judgement | None:
    """Return the verdict on a row that is not stored for it, None for one that is stored."""
    before = store.get([row.id])
    if _is_stored(before.get(row.id), row):
        return None
    return judge(store, recipe, row, options, set(before))


def _store_alone(
    store: FullStore, recipe: Recipe, row: Row, options: CheckOptions, drop: bool
) -> tuple[Judgement | None, bool]:
    """Judge and store a row while no other process writes."""
    assert isinstance(store, Exclusive)
    with store.exclusive():
        before = store.get([row.id])
        if _is_stored(before.get(row.id), row):
            return None, False
        judgement = judge(store, recipe, row, options, set(before))
        if drop and judgement.verdict == "duplicate":
            return judgement, False
        row = _divided(store, recipe, row, bool(before))
        if before:
            repair_families(store, recipe, before, last_options(store).documents)
            row = with_labels_of(before[row.id], row)
        [refusal] = store.write([row])
        if refusal:
            raise StoreError(f"{store.url} refused the document: {refusal}")
    return judgement, True


def _divided(store: FullStore, recipe: Recipe, row: Row, is_replaced: bool) -> Row:
    """Return the row with its parts, if the store divides documents."""
    if store.parts.kind() is None:
        return row
    divide = part_divider(store, None, recipe, False, last_options(store).parts)
    if divide is None:
        return row
    [row] = divide([row], {row.id} if is_replaced else set(), {})
    return row


def _is_stored(stored: Row | None, row: Row) -> bool:
    return stored is not None and stored.text == row.text


def _result(
    judgement: Judgement | None, row: Row, options: CheckOptions, stored: bool
) -> CheckResult:
    if judgement is None:
        judgement = replace(_STORED, of=row.id, path=row.path)
    return CheckResult(
        judgement.verdict,
        judgement.of,
        judgement.path,
        judgement.similarity,
        options.measure,
        judgement.reasons,
        row.id,
        stored,
        judgement.notes,
    )
