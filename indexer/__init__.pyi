"""The public names of nearfold. Written by tools/public_types.py."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from indexer.coding import Coding
from indexer.coding import CodingField as CodingField
from indexer.coding import CodingRule as CodingRule
from indexer.comparing.band_plan import plan as plan
from indexer.comparing.clauses.duplicates import duplicate_pairs as duplicate_pairs
from indexer.comparing.clauses.duplicates import duplicate_sets as duplicate_sets
from indexer.comparing.compare import compare as compare
from indexer.comparing.criteria import Criteria
from indexer.fingerprinting.fingerprint import fingerprint as fingerprint
from indexer.fingerprinting.fingerprint import fingerprints as fingerprints
from indexer.grouping.consistency import Disagreement
from indexer.grouping.delete import DeleteResult
from indexer.grouping.families import FamiliesOptions as FamiliesOptions
from indexer.grouping.families import GroupedDocument, ListedFamily
from indexer.grouping.group import GroupResult
from indexer.grouping.group_options import GroupOptions as GroupOptions
from indexer.grouping.match import MatchOptions as MatchOptions
from indexer.grouping.match import MatchResult
from indexer.grouping.passages import PassagesOptions as PassagesOptions
from indexer.grouping.passages import RepeatedPassage
from indexer.jobs.backup import Copy
from indexer.jobs.check import CheckOptions as CheckOptions
from indexer.jobs.check import CheckResult
from indexer.jobs.dedup import DedupOptions as DedupOptions
from indexer.jobs.dedup import dedup as dedup
from indexer.jobs.doctor import doctor as doctor
from indexer.jobs.duplicates import DuplicatesOptions as DuplicatesOptions
from indexer.jobs.duplicates import duplicates as duplicates
from indexer.jobs.duplicates import undo_duplicates as undo_duplicates
from indexer.jobs.hash import hash as hash
from indexer.jobs.in_memory import Index as Index
from indexer.jobs.in_memory import dedupe as dedupe
from indexer.jobs.in_memory import groups as groups
from indexer.jobs.in_memory import pairs as pairs
from indexer.jobs.in_memory import similarity as similarity
from indexer.jobs.index import Account
from indexer.jobs.index import IndexOptions as IndexOptions
from indexer.jobs.install import Installation
from indexer.jobs.label import LabelOptions as LabelOptions
from indexer.jobs.label import LabelResult, UndoResult
from indexer.jobs.label_from import LabelFileOptions as LabelFileOptions
from indexer.jobs.label_from import LabelFileResult
from indexer.jobs.status import Overview
from indexer.jobs.threads import ThreadsOptions as ThreadsOptions
from indexer.jobs.threads import threads as threads
from indexer.jobs.versions import Versions
from indexer.lab.evaluation.evaluate import EvaluateOptions as EvaluateOptions
from indexer.lab.evaluation.scores import Evaluation
from indexer.lab.studies.study import study as study
from indexer.lab.synthesis.synth import SynthOptions as SynthOptions
from indexer.lab.synthesis.synth import synth as synth
from indexer.lab.tuning.results import TuneResult
from indexer.lab.tuning.tune import TuneOptions as TuneOptions
from indexer.model import Hit, Outcome, Progress, Row
from indexer.recipe import Recipe as Recipe
from indexer.recipe import recipe_named as recipe_named
from indexer.review.comparison_files import compare_page as compare_page
from indexer.review.exports.export import ExportOptions as ExportOptions
from indexer.review.exports.export import ExportResult, Form, What
from indexer.searching.fold_chunks import ChunkOptions as ChunkOptions
from indexer.searching.fold_chunks import fold_chunks as fold_chunks
from indexer.searching.fold_hits import Fold
from indexer.searching.search import Page
from indexer.searching.search import SearchOptions as SearchOptions
from indexer.searching.similar import SimilarOptions as SimilarOptions
from indexer.searching.similar import SimilarResult
from indexer.stores import open_store as open_store
from indexer.stores.abilities import FullStore, MaintainedStore, PartStore
from indexer.stores.base import Store
from indexer.stores.maintenance import Layout, OnProgress, ReindexResult
from indexer.system.approved_passages import ApprovedPassages
from indexer.system.approved_passages import approved_passages as approved_passages

__all__ = [
    "CheckOptions",
    "ChunkOptions",
    "CodingField",
    "CodingRule",
    "DedupOptions",
    "DuplicatesOptions",
    "EvaluateOptions",
    "ExportOptions",
    "FamiliesOptions",
    "GroupOptions",
    "Index",
    "IndexOptions",
    "LabelFileOptions",
    "LabelOptions",
    "MatchOptions",
    "PassagesOptions",
    "Recipe",
    "SearchOptions",
    "SimilarOptions",
    "SynthOptions",
    "ThreadsOptions",
    "TuneOptions",
    "approved_passages",
    "backup",
    "check",
    "check_mail",
    "compare",
    "compare_page",
    "consistency",
    "dedup",
    "dedupe",
    "define_coding",
    "delete",
    "doctor",
    "duplicate_pairs",
    "duplicate_sets",
    "duplicates",
    "evaluate",
    "export",
    "families",
    "fingerprint",
    "fingerprints",
    "fold_chunks",
    "fold_hits",
    "group",
    "groups",
    "hash",
    "index",
    "install",
    "label",
    "label_from",
    "match",
    "open_store",
    "pairs",
    "passages",
    "plan",
    "recipe_named",
    "reindex",
    "restore",
    "search",
    "show",
    "similar",
    "similar_many",
    "similarity",
    "status",
    "study",
    "synth",
    "threads",
    "tune",
    "undo_duplicates",
    "undo_labels",
    "uninstall",
    "versions",
]

def backup(store: MaintainedStore | str, path: str, *, replace: bool = ...) -> Copy: ...
def check(
    store: FullStore | str,
    text: str | None = ...,
    options: CheckOptions = ...,
    *,
    path: str | None = ...,
    id: str | None = ...,
    labels: Sequence[str] = ...,
    store_it: bool = ...,
    drop_duplicates: bool = ...,
) -> CheckResult: ...
def check_mail(
    store: FullStore | str,
    path: str,
    options: CheckOptions = ...,
    *,
    id: str | None = ...,
    labels: Sequence[str] = ...,
    store_it: bool = ...,
) -> CheckResult: ...
def consistency(store: Store | str, field: str = ...) -> tuple[Disagreement, ...]: ...
def define_coding(
    store: Store | str, fields: Iterable[CodingField] = ..., rules: Iterable[CodingRule] = ...
) -> Coding: ...
def delete(
    store: FullStore | str,
    ids: Sequence[str],
    *,
    threshold: float | None = ...,
    measure: str | None = ...,
    principal: str | None = ...,
) -> DeleteResult: ...
def evaluate(
    gold: Sequence[str],
    store: Store | str | None = ...,
    options: EvaluateOptions = ...,
    *,
    progress: Progress = ...,
) -> Evaluation: ...
def export(
    store: FullStore | str,
    out: str | Path,
    form: Form = ...,
    what: What = ...,
    options: ExportOptions = ...,
    *,
    replace: bool = ...,
    progress: Progress = ...,
) -> ExportResult: ...
def families(store: FullStore | str, options: FamiliesOptions = ...) -> Iterator[ListedFamily]: ...
def fold_hits(
    store: FullStore | str,
    ids: Iterable[str],
    threshold: float | None = ...,
    *,
    measure: str | None = ...,
    fold: Fold = ...,
    synonyms: str = ...,
    show: str | None = ...,
    criteria: Criteria = ...,
) -> tuple[Hit, ...]: ...
def group(
    store: FullStore | str,
    options: GroupOptions = ...,
    *,
    memory: int = ...,
    write: bool = ...,
    progress: Progress = ...,
    leave_out: ApprovedPassages = ...,
    joined: Mapping[str, str] = ...,
) -> GroupResult: ...
def index(
    paths: Sequence[str] | str | Path,
    store: FullStore | str,
    options: IndexOptions = ...,
    *,
    workers: int | None = ...,
    progress: Callable[[Outcome], None] = ...,
    stopping: Callable[[], bool] = ...,
) -> Account: ...
def install(
    store: MaintainedStore | str,
    recipe: Recipe | None = ...,
    *,
    text_field: str | None = ...,
    dry_run: bool = ...,
    create: bool = ...,
    roles: bool = ...,
    layout: Layout | None = ...,
) -> Installation: ...
def label(
    store: FullStore | str,
    ids: Sequence[str],
    options: LabelOptions,
    *,
    carrying: str | None = ...,
    dry_run: bool = ...,
    seen: str = ...,
    reviewer: str = ...,
) -> LabelResult: ...
def label_from(
    store: FullStore | str,
    path: str | Path,
    options: LabelFileOptions = ...,
    *,
    dry_run: bool = ...,
    reviewer: str = ...,
) -> LabelFileResult: ...
def match(
    store: PartStore | str,
    options: MatchOptions = ...,
    *,
    memory: int = ...,
    progress: Progress = ...,
    on_pairs: Callable[[MatchResult], None] | None = ...,
    on_estimate: Callable[[str], None] = ...,
    leave_out: ApprovedPassages = ...,
) -> MatchResult: ...
def passages(
    store: FullStore | str,
    options: PassagesOptions = ...,
    memory: int = ...,
    progress: Progress = ...,
) -> Iterator[RepeatedPassage]: ...
def reindex(
    store: MaintainedStore | str,
    recipe: Recipe,
    *,
    keep: bool = ...,
    statistics: str | None = ...,
    leave_out: ApprovedPassages = ...,
    on_progress: OnProgress = ...,
    layout: Layout | None = ...,
) -> ReindexResult: ...
def restore(store: MaintainedStore | str, path: str, *, replace: bool = ...) -> Copy: ...
def search(
    store: FullStore | str, query: str, options: SearchOptions = ..., progress: Progress = ...
) -> Page: ...
def show(store: FullStore | str, name: str) -> GroupedDocument: ...
def similar(
    store: FullStore | str,
    text: str | None = ...,
    options: SimilarOptions = ...,
    *,
    id: str | None = ...,
    path: str | None = ...,
    row: Row | None = ...,
) -> SimilarResult: ...
def similar_many(
    store: FullStore | str,
    texts: Sequence[str] = ...,
    options: SimilarOptions = ...,
    *,
    ids: Sequence[str] = ...,
) -> Iterator[SimilarResult]: ...
def status(store: MaintainedStore | str) -> Overview: ...
def tune(
    gold: str | Path | Sequence[str | Path],
    out: str | Path,
    store: Store | str | None = ...,
    options: TuneOptions = ...,
    *,
    progress: Progress = ...,
) -> TuneResult: ...
def undo_labels(
    store: FullStore | str, job: int, *, dry_run: bool = ..., reviewer: str = ...
) -> UndoResult: ...
def uninstall(
    store: MaintainedStore | str, recipe: Recipe = ..., *, dry_run: bool = ..., roles: bool = ...
) -> Installation: ...
def versions(store: Store | str, id: str, *, dates: bool = ...) -> Versions: ...
