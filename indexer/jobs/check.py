"""The check of a document before it is stored: is it new, a duplicate, or for a person to decide?

One call returns the verdict and, if requested, stores the document. Of similar documents that are
checked and stored at the same time, by whatever processes, one is new: docs/decisions/024-check.md
says why.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from indexer.coding import label_names
from indexer.comparing.criteria import NO_CRITERIA, Criteria, for_folding
from indexer.comparing.measures import ComparedText, check_measure, measure_pair
from indexer.comparing.reasons import Rarity, copy_key, explain, format_reasons, have_same_symbols
from indexer.defaults import FOLD, MEASURE, REVIEW, DefaultName
from indexer.documents.base import DEFAULT_LIMITS, ReadOptions, may_be_mail
from indexer.documents.blobs import identifier, read
from indexer.documents.containers import divide
from indexer.documents.sources import walk
from indexer.errors import StoreBusy, StoreError, UnreadableFile, UnsupportedOperation, UsageError
from indexer.fingerprinting.fingerprint import fingerprint
from indexer.fingerprinting.keys import EmbeddedDigests
from indexer.grouping.delete import repair_families, repair_strays
from indexer.grouping.group_options import (
    DEFAULT_FAMILIES,
    FamilyOptions,
    check_threshold,
    last_options,
)
from indexer.jobs.document_rows import (
    STDIN,
    ExtractedBlob,
    document_at,
    documents_of,
    row_of,
    with_labels_of,
    with_stored_ids,
)
from indexer.jobs.parts import part_divider
from indexer.model import Blob, Document, Match, Row
from indexer.recipe import DEFAULT, Recipe
from indexer.searching.similar import SimilarOptions, SimilarResult, similar
from indexer.stores.abilities import Claim, Claiming, Claims, Exclusive, FullStore
from indexer.stores.fields import storable, storable_labels
from indexer.stores.requirements import require_recipe
from indexer.wording import STATUS_LIMITS, format_marks, percent, visible

# The verdict on a document: new, a duplicate, or for review.

Verdict: TypeAlias = Literal["new", "duplicate", "review"]
_MATCHES = 5  # that are looked at where the most similar one may be no duplicate
_WINDOW = 100  # candidates; a duplicate shares more keys than nearly all others


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The options of `check`: what a duplicate is.

    `threshold`: minimum similarity of a duplicate; above 0, at most 1.
    `review`: minimum similarity of what is for review; above 0, at most `threshold`. None: 0.8, or
    `threshold` where that is lower.
    `measure`: name of the similarity.
    `review_differences`: near duplicates whose numbers, dates, amounts, negations, names, addresses
    or signs differ are for review, whatever the similarity.

    Raises `UsageError` for a value out of its range and `UnknownMeasure`.
    """

    threshold: float = FOLD
    review: float | None = None
    measure: str = DefaultName(MEASURE)
    review_differences: bool = False

    def __post_init__(self) -> None:
        check_threshold(self.threshold)
        check_threshold(self.least)
        check_measure(self.measure)
        if self.least > self.threshold:
            raise UsageError(
                f"review ({self.least:g}) lies above the threshold of duplicates "
                f"({self.threshold:g}); lower it"
            )

    @property
    def least(self) -> float:
        """The minimum similarity of a document that is not new."""
        return min(REVIEW, self.threshold) if self.review is None else self.review


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, the stored document that it is about with its similarity, and why.

    `of`, `path`, `similarity` and its `measure` are None where no stored document is similar.
    `notes` says what may be missing, in sentences.
    """

    verdict: Verdict
    of: str | None = None
    path: str | None = None
    similarity: float | None = None
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    measure: str | None = None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of `check`.

    `of`: the stored document that it is a duplicate of or resembles, with its `path` and its
    `similarity` by `measure`; None where there is none. `reasons` are sentences. `id`: that of the
    document itself, the same as `of` if it was stored before. `stored`: this call stored it.
    `notes`: what may be missing, in sentences. `attachments`: the results for the attachments of a
    mail by path, if these are checked too.
    """

    verdict: Verdict
    of: str | None
    path: str | None
    similarity: float | None
    measure: str
    reasons: tuple[str, ...]
    id: str
    stored: bool
    notes: tuple[str, ...] = ()
    attachments: dict[str, CheckResult] = field(default_factory=dict, hash=False)


def judge(
    store: FullStore, recipe: Recipe, row: Row, options: CheckOptions, without: Collection[str]
) -> Judgement:
    """Return the verdict on a row among the stored ones, leaving out the ids in `without`.

    It is a duplicate of the most similar stored document that reaches the threshold and would be
    folded with it. Ties go to the first by path, then id.
    """
    limit = len(without) + _MATCHES
    window = len(without) + _WINDOW
    wanted = SimilarOptions(options.least, options.measure, limit, window=window)
    result = similar(store, row.text, wanted, row=row)
    found = sorted(result.matches, key=lambda match: -match.similarity)
    matches = [match for match in found if match.id not in without]
    for match in matches:
        if match.similarity >= options.threshold and not _doubt(store, recipe, row, match, options):
            return _about("duplicate", match, (), result)
    if matches:
        best = matches[0]
        doubt = _doubt(store, recipe, row, best, options) or _between(best, options)
        return _about("review", best, (doubt,), result)
    unseen = _unseen(row, result)
    if unseen:
        return Judgement("review", reasons=(unseen,), notes=result.notes)
    minimum = percent(options.least)
    reason = f"no stored document reaches {minimum} by {options.measure}"
    return Judgement("new", reasons=(reason,), notes=result.notes)


def are_similar(row: Row, other: Row, options: CheckOptions, recipe: Recipe) -> bool:
    """Return whether two rows are so similar that one is not new if the other is stored.

    >>> from indexer.recipe import DEFAULT
    >>> row = Row("a", "", "empty", "", "", "", "", None, 0, "", "", "raw", "", 0, 0, "a")
    >>> are_similar(row, row, CheckOptions(), DEFAULT)
    True
    """
    if copy_key(row) == copy_key(other) and have_same_symbols(row.text, other.text):
        return True
    has_keys = all(item.bands or item.blocks for item in (row, other))
    texts = ComparedText(row.text, recipe), ComparedText(other.text, recipe)
    return has_keys and (
        measure_pair(options.measure, *texts, minimum=options.least).similarity >= options.least
    )


def _about(
    verdict: Verdict, match: Match, doubts: tuple[str, ...], result: SimilarResult
) -> Judgement:
    reasons = (*doubts, *format_reasons(match))
    about = match.id, match.path, match.similarity
    return Judgement(verdict, *about, reasons, result.notes, match.measure)


def _doubt(store: FullStore, recipe: Recipe, row: Row, match: Match, options: CheckOptions) -> str:
    """Return why a match may be no duplicate in spite of its similarity; empty without doubt."""
    if match.same and match.same.kind == "bytes":
        return ""
    if match.measure != options.measure and match.same is None:
        return "one of them is a scan, whose characters may be misread"
    stored = store.get([match.id]).get(match.id)
    if row.status == "truncated" or (stored and stored.status == "truncated"):
        return "a text was cut: they are similar as far as read"
    if options.review_differences and match.differences:
        return "facts differ"
    return _kept_apart(store, recipe, row, stored, options.measure) if stored else ""


def _kept_apart(store: FullStore, recipe: Recipe, row: Row, stored: Row, measure: str) -> str:
    """Return why folding does not hide one of two texts under the other; empty where it does.

    It has the conditions on texts of the last `group`, the defaults where that is not known.
    """
    criteria = for_folding(_criteria(store), measure)
    is_copy = criteria.content_key(row) == criteria.content_key(stored)
    if is_copy and have_same_symbols(row.text, stored.text):
        return ""
    if not {row.status, stored.status} <= set(criteria.folded):
        return "texts of numbers alone are duplicates where they are equal"
    texts = ComparedText(row.text, recipe), ComparedText(stored.text, recipe)
    embedded = row.embedded, stored.embedded
    files = tuple(map(EmbeddedDigests.of, embedded))
    if criteria.reads_embedded and not files[0].allow(files[1]):
        return format_marks(explain(*texts, embedded=embedded).marks[:1])
    if languages := criteria.refused_languages(texts[0].words, texts[1].words):
        return f"words of {languages.a} stand for words of {languages.b}: they are two languages"
    if replaced := criteria.refused_replacement(*texts):
        return (
            f'"{replaced.a}" stands for "{replaced.b}" {replaced.times} times, '
            "as where one form is filled in for another subject"
        )
    if not criteria.accepts(*texts, Rarity(store.vocabulary.frequencies)):
        if not criteria.accepts_marks(*texts):
            found = format_marks(explain(*texts).marks)
            return f"the policy {criteria.policy} does not fold them: {found}"
        return "the conditions of the last group keep them apart"
    return ""


def _criteria(store: FullStore) -> Criteria:
    """Return the conditions of the last `group`, none while a job works on the store."""
    try:
        return last_options(store).documents.criteria
    except StoreBusy:
        return NO_CRITERIA


def _between(match: Match, options: CheckOptions) -> str:
    value = percent(match.similarity, 1)
    low, high = percent(options.least), percent(options.threshold)
    return f"{value} by {match.measure} lies between {low} for review and {high} for duplicates"


def _unseen(row: Row, result: SimilarResult) -> str:
    """Return why a duplicate may have been missed; empty where none is expected to be."""
    keys = row.bands or row.blocks
    if keys and set(keys) <= set(result.capped_keys):
        return "all its keys are on too many documents to be looked up"
    if row.status == "numbers_only" and keys:
        return ""
    return STATUS_LIMITS.get(row.status, "")


# Similar documents that are checked at the same time: one of them is new.

ABANDONED_SECONDS = 60.0  # after which a claim is decided by whoever sees it
_DECIDED_ELSEWHERE = "another check that ran at the same time decided it"


@dataclass(slots=True)
class ClaimedCheck:
    """A check of one row that is stored as a claim.

    `drop`: a duplicate is not stored.
    """

    store: FullStore
    claims: Claims
    recipe: Recipe
    row: Row
    options: CheckOptions
    drop: bool
    token: str = field(default_factory=lambda: secrets.token_hex(8))
    _judgements: dict[str, Judgement] = field(default_factory=dict)
    _seen: list[Claim] = field(default_factory=list)

    def run(self) -> tuple[Judgement | None, bool]:
        """Return the verdict, and whether the row is stored for it.

        The verdict is None for a document that is stored already, with the same text and files.
        """
        id = self.row.id
        while True:
            claim = self.claims.get(id)
            if claim is None:
                judgement = self._judge_dropped()
                if judgement is not None:
                    return judgement, False
                self.claims.create(self.row, self._note())
            elif claim.note and not claim.outcome:
                self._decide(id)
            elif self._is_own(claim):
                self._decide_abandoned()
                return self._judgement(claim), True
            elif _is_stored(self.store.get([id]).get(id), self.row):
                return None, False
            else:
                self._replace(claim)

    def _judge_dropped(self) -> Judgement | None:
        """Return the verdict on a duplicate that is not to be stored, None for other documents."""
        if not self.drop:
            return None
        without: set[str] = set()
        while True:
            judgement = judge(self.store, self.recipe, self.row, self.options, without)
            if judgement.of is None or self._is_decided(judgement.of):
                return judgement if judgement.verdict == "duplicate" else None
            without.add(judgement.of)

    def _decide(self, id: str) -> None:
        """Decide on a claim, whoever made it; nothing if that is done, or the row is gone."""
        while True:
            own = self.claims.get(id)
            if own is None or own.outcome or not own.note:
                return
            self._seen = [claim for claim in self.claims.undecided() if claim.id != id]
            others = {claim.id: claim for claim in self._seen}
            rows = self.store.get([id, *others])
            note = json.loads(own.note)
            options = CheckOptions(**note["options"])
            alike = self._alike(id, others, rows, options)
            earlier = [claim for claim in alike if claim.id < id]
            for claim in earlier:
                self._decide(claim.id)
            if earlier or id not in rows or not all(map(self.claims.touch, alike)):
                continue
            judgement = judge(self.store, self.recipe, rows[id], options, {id, *others})
            if judgement.of is not None and not self._is_decided(judgement.of):
                continue
            if self._record(own, judgement, note):
                return

    def _is_decided(self, id: str) -> bool:
        """Return whether a row is stored and no claim. Nothing is compared with others: a row that
        was stored after the claims were read may be a duplicate of this one, or be gone again.
        """
        claim = self.claims.get(id)
        return claim is not None and (not claim.note or bool(claim.outcome))

    def _alike(
        self, id: str, others: Mapping[str, Claim], rows: Mapping[str, Row], options: CheckOptions
    ) -> list[Claim]:
        """Return the claims that are not decided and of which this one is perhaps a duplicate."""
        row = rows.get(id)
        return [
            claim
            for name, claim in others.items()
            if row and name in rows and are_similar(row, rows[name], options, self.recipe)
        ]

    def _record(self, claim: Claim, judgement: Judgement, note: Mapping[str, Any]) -> bool:
        """Record a verdict, or remove a duplicate; return False if the row changed meanwhile."""
        if note["drop"] and judgement.verdict == "duplicate":
            removed = self.claims.remove(claim)
            if removed:
                options = self._families().documents
                repair_strays(self.store, self.recipe, [claim.id], options)
            return removed
        similarity = "" if judgement.similarity is None else f"{judgement.similarity:.4f}"
        words = judgement.verdict, note["token"], similarity, judgement.of or ""
        self._judgements[claim.id] = judgement
        return self.claims.decide(claim, " ".join(words))

    def _families(self) -> FamilyOptions:
        """Return the options of the last `group`, the defaults while a job works on the store."""
        try:
            return last_options(self.store)
        except StoreBusy:
            return DEFAULT_FAMILIES

    def _judgement(self, claim: Claim) -> Judgement:
        """Return the verdict that was recorded, with its reasons where this process knows them."""
        verdict, _, similarity, of = claim.outcome.split(" ", 3)
        known = self._judgements.get(claim.id)
        if known and (known.verdict, known.of or "") == (verdict, of):
            return known
        value = float(similarity) if similarity else None
        reasons = (_DECIDED_ELSEWHERE,)
        return Judgement(cast(Verdict, verdict), of or None, None, value, reasons)

    def _decide_abandoned(self) -> None:
        """Decide on the claims of processes that ended before they could, of those that this one
        saw.
        """
        for claim in self._seen:
            if json.loads(claim.note)["at"] < time.time() - ABANDONED_SECONDS:
                self._decide(claim.id)

    def _is_own(self, claim: Claim) -> bool:
        return claim.outcome.split(" ", 2)[1:2] == [self.token]

    def _replace(self, claim: Claim) -> None:
        """Store the row instead of another text of its id, with the labels of that text."""
        stored = self.store.get([self.row.id])
        options = last_options(self.store).documents
        repair_families(self.store, self.recipe, stored, options)
        row = with_labels_of(stored.get(self.row.id), self.row)
        self.claims.replace(row, self._note(), claim)

    def _note(self) -> str:
        return json.dumps(
            {
                "token": self.token,
                "at": time.time(),
                "drop": self.drop,
                "options": asdict(self.options),
            }
        )


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

    A mail is checked as `check_mail` does where the store has attachments as documents of their
    own; with `drop_duplicates`, a mail that is a duplicate is dropped with its attachments.

    `text`: None reads the file at `path`, or stdin for `-`; else `path` is where the text came
    from, such as a URL, and nothing is read. `id` defaults to the id that `index` gives a file, and
    to a digest of a text. `labels` belong to the document if it is stored.

    With `store_it` it is stored, whatever the verdict; with `drop_duplicates` as well, a duplicate
    is not. Of similar documents that are checked so at the same time by any number of processes one
    is new, if all take the same options. A document that is stored under its id already with the
    same text is a duplicate of itself; with another text, it replaces that. Families are made by
    the next `group`. Without `store_it` nothing is written.

    `review` is the verdict for a similarity from `options.review` to `options.threshold`, for texts
    that folding separates whatever their similarity (templates filled in for other subjects,
    tables of numbers that differ, and what the conditions of the last `group` separate), and where
    near duplicates may be missed: texts that are too short, cut or empty.

    Raises `SourceNotFound` and `ExtractionError` for a file that cannot be read, `UsageError`,
    `StoreBusy` while another process writes to the same file for long, and `StoreError` when
    nothing was indexed yet and `store_it` is not given, or the store refuses the document.
    """
    if drop_duplicates and not store_it:
        raise UsageError("nothing is stored without --store-it, so leave --drop-duplicates out")
    item = _item(text, path, id)
    if text is None and may_be_mail(item.blob.path) and store.parts.attachments():
        checked = _divided_mail(item)
        return _check_mail(store, checked, options, labels, store_it, drop_duplicates)
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
    blobs = [item.blob for item in items]
    if any(blob.other_ids is not tuple for blob in blobs):
        blobs, _ = with_stored_ids(blobs, store, {})
    results = []
    for item in (replace(item, blob=blob) for item, blob in zip(items, blobs, strict=True)):
        fingerprinted = fingerprint(item.document.text, recipe)
        row = storable(row_of(item, fingerprinted, recipe.id, tuple(own), is_alone=True))
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
    content = document_at(STDIN)[1] if text is None else Document(text)
    return _item_of(content, id, "" if path in (None, STDIN) else str(path))


def item_of_text(text: str, id: str | None = None) -> ExtractedBlob:
    """Return a text as a document to store; without an id it has one of its content."""
    return _item_of(Document(text), id, "")


def _item_of(document: Document, id: str | None, path: str) -> ExtractedBlob:
    data = document.text.encode("utf-8", "surrogatepass")
    raw = hashlib.sha256(data).hexdigest()
    name = id or identifier(_TEXTS, raw.encode())
    blob = Blob(name, name.encode("utf-8", "replace"), path, b"", len(data), None)
    return ExtractedBlob(blob, raw, raw, document)


def _check_id(id: str | None) -> None:
    if id == "":
        raise UsageError("the id is empty; omit it to use the document's own id")


def mail_alone(path: str) -> tuple[str, Document]:
    """Read a mail as `document_at` does, but without its attachments, as a store has it where these
    are documents.
    """
    (mail, *_), _ = _divided_mail(read_file(path, None))
    return mail.blob.path, mail.document


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
    blob = replace(blob, size=payload.size, modified=payload.modified)
    if id is not None:
        blob = replace(blob, id=id, other_ids=tuple)
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
    """Return whether the row of this id is stored, with the same text and files in it."""
    return stored is not None and (stored.text, stored.embedded) == (row.text, row.embedded)


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
        judgement.measure or options.measure,
        judgement.reasons,
        row.id,
        stored,
        judgement.notes,
    )


# The check of a mail whose attachments are documents of their own.


def check_mail(
    store: FullStore,
    path: str,
    options: CheckOptions = DEFAULT_OPTIONS,
    *,
    id: str | None = None,
    labels: Sequence[str] = (),
    store_it: bool = False,
) -> CheckResult:
    """Check a mail as `check` does, and its attachments, read as `index --attachments` reads them.

    The text of the mail is compared without its attachments, and each attachment by itself; the
    results for these are the `attachments` of the result. With `store_it` the mail is stored with
    all of them, whatever the verdicts. An attachment that cannot be read is neither checked nor
    stored; `notes` name it. A file that is no mail is checked as it is.

    Raises what `check` raises.
    """
    return _check_mail(store, _divided_mail(read_file(path, id)), options, labels, store_it)


def _check_mail(
    store: FullStore,
    divided: tuple[list[ExtractedBlob], list[str]],
    options: CheckOptions,
    labels: Sequence[str],
    store_it: bool,
    drop: bool = False,
) -> CheckResult:
    (item, *attached), notes = divided
    [mail] = check_documents(store, [item], options, labels, store_it, drop)
    keeps = store_it and not (drop and mail.verdict == "duplicate" and not mail.stored)
    others = check_documents(store, attached, options, labels if keeps else (), keeps)
    positions = [item.blob.path for item in attached]
    attachments = dict(zip(positions, others, strict=True))
    return replace(mail, notes=(*mail.notes, *notes), attachments=attachments)


def _divided_mail(item: ExtractedBlob) -> tuple[list[ExtractedBlob], list[str]]:
    """Return a mail without its attachments and then these, and a note for each that cannot be
    read; any other document as it is.
    """
    blobs = (
        divide(item.blob, ReadOptions(attachments=True)) if may_be_mail(item.blob.path) else None
    )
    if blobs is None or len(blobs) == 1:
        return [item], []
    documents = dict(documents_of(blobs))
    divided: list[ExtractedBlob] = []
    notes = []
    for blob in blobs:
        payload = read(blob, DEFAULT_LIMITS.bytes)
        document = documents[blob.path]
        if isinstance(document, Document):
            divided.append(ExtractedBlob(blob, payload.raw, payload.source, document))
        elif blob is blobs[0]:
            raise document
        else:
            notes.append(f"{visible(blob.path)} was neither checked nor stored: {document}")
    if divided[0].raw != item.raw:
        raise CHANGED
    return divided, notes
