"""nearfold: find near-duplicate documents and fold them in search results.

Names are imported when they are first used, so that a worker process or a command loads only what
it needs. Where a function takes a `store`, it takes the URL of one, too.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from indexer.comparing.band_plan import plan
    from indexer.comparing.clauses.duplicates import duplicate_pairs, duplicate_sets
    from indexer.comparing.compare import compare
    from indexer.fingerprinting.fingerprint import fingerprint, fingerprints
    from indexer.grouping.consistency import consistency
    from indexer.grouping.delete import delete
    from indexer.grouping.families import FamiliesOptions, families
    from indexer.grouping.group import group
    from indexer.grouping.group_options import GroupOptions
    from indexer.grouping.label import LabelOptions, label, undo_labels
    from indexer.grouping.label_from import LabelFileOptions, label_from
    from indexer.grouping.match import MatchOptions, match
    from indexer.grouping.passages import PassagesOptions, passages
    from indexer.jobs.backup import backup
    from indexer.jobs.check import CheckOptions, check, check_mail
    from indexer.jobs.dedup import DedupOptions, dedup
    from indexer.jobs.doctor import doctor
    from indexer.jobs.duplicates import DuplicatesOptions, duplicates, undo_duplicates
    from indexer.jobs.hash import hash
    from indexer.jobs.in_memory import Index, dedupe, groups, pairs, similarity
    from indexer.jobs.index import IndexOptions, index
    from indexer.jobs.install import install, uninstall
    from indexer.jobs.reindex import reindex
    from indexer.jobs.restore import restore
    from indexer.jobs.status import status
    from indexer.jobs.threads import ThreadsOptions, threads
    from indexer.jobs.versions import versions
    from indexer.lab.evaluation.evaluate import EvaluateOptions, evaluate
    from indexer.lab.studies.study import study
    from indexer.lab.synthesis.synth import SynthOptions, synth
    from indexer.lab.tuning.tune import TuneOptions, tune
    from indexer.recipe import Recipe, recipe_named
    from indexer.review.compare_page import compare_page
    from indexer.review.exports.export import ExportOptions, export
    from indexer.searching.fold_chunks import ChunkOptions, fold_chunks
    from indexer.searching.fold_hits import fold_hits
    from indexer.searching.search import SearchOptions, search
    from indexer.searching.similar import SimilarOptions, similar, similar_many
    from indexer.stores import open_store
    from indexer.system.approved_passages import approved_passages

__all__ = [
    "CheckOptions",
    "ChunkOptions",
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

_HOMES = {
    "CheckOptions": "indexer.jobs.check",
    "ChunkOptions": "indexer.searching.fold_chunks",
    "DedupOptions": "indexer.jobs.dedup",
    "EvaluateOptions": "indexer.lab.evaluation.evaluate",
    "ExportOptions": "indexer.review.exports.export",
    "FamiliesOptions": "indexer.grouping.families",
    "MatchOptions": "indexer.grouping.match",
    "PassagesOptions": "indexer.grouping.passages",
    "GroupOptions": "indexer.grouping.group_options",
    "Index": "indexer.jobs.in_memory",
    "IndexOptions": "indexer.jobs.index",
    "LabelFileOptions": "indexer.grouping.label_from",
    "LabelOptions": "indexer.grouping.label",
    "Recipe": "indexer.recipe",
    "SearchOptions": "indexer.searching.search",
    "SimilarOptions": "indexer.searching.similar",
    "backup": "indexer.jobs.backup",
    "check": "indexer.jobs.check",
    "check_mail": "indexer.jobs.check",
    "compare": "indexer.comparing.compare",
    "compare_page": "indexer.review.compare_page",
    "consistency": "indexer.grouping.consistency",
    "dedup": "indexer.jobs.dedup",
    "dedupe": "indexer.jobs.in_memory",
    "delete": "indexer.grouping.delete",
    "duplicates": "indexer.jobs.duplicates",
    "undo_duplicates": "indexer.jobs.duplicates",
    "DuplicatesOptions": "indexer.jobs.duplicates",
    "doctor": "indexer.jobs.doctor",
    "evaluate": "indexer.lab.evaluation.evaluate",
    "duplicate_pairs": "indexer.comparing.clauses.duplicates",
    "duplicate_sets": "indexer.comparing.clauses.duplicates",
    "export": "indexer.review.exports.export",
    "families": "indexer.grouping.families",
    "fingerprint": "indexer.fingerprinting.fingerprint",
    "fingerprints": "indexer.fingerprinting.fingerprint",
    "fold_chunks": "indexer.searching.fold_chunks",
    "fold_hits": "indexer.searching.fold_hits",
    "group": "indexer.grouping.group",
    "groups": "indexer.jobs.in_memory",
    "hash": "indexer.jobs.hash",
    "index": "indexer.jobs.index",
    "install": "indexer.jobs.install",
    "label": "indexer.grouping.label",
    "label_from": "indexer.grouping.label_from",
    "match": "indexer.grouping.match",
    "open_store": "indexer.stores",
    "pairs": "indexer.jobs.in_memory",
    "approved_passages": "indexer.system.approved_passages",
    "passages": "indexer.grouping.passages",
    "plan": "indexer.comparing.band_plan",
    "recipe_named": "indexer.recipe",
    "reindex": "indexer.jobs.reindex",
    "restore": "indexer.jobs.restore",
    "search": "indexer.searching.search",
    "similarity": "indexer.jobs.in_memory",
    "similar": "indexer.searching.similar",
    "similar_many": "indexer.searching.similar",
    "status": "indexer.jobs.status",
    "study": "indexer.lab.studies.study",
    "SynthOptions": "indexer.lab.synthesis.synth",
    "synth": "indexer.lab.synthesis.synth",
    "ThreadsOptions": "indexer.jobs.threads",
    "threads": "indexer.jobs.threads",
    "TuneOptions": "indexer.lab.tuning.tune",
    "tune": "indexer.lab.tuning.tune",
    "undo_labels": "indexer.grouping.label",
    "uninstall": "indexer.jobs.install",
    "versions": "indexer.jobs.versions",
}


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    if isinstance(value, type):
        return value
    return import_module("indexer.stores").with_store_urls(value)


def __dir__() -> list[str]:
    return sorted(__all__)
