"""nearfold: find near-duplicate documents and fold them in search results.

Names are imported when they are first used, so that a worker process or a command loads only what
it needs. Where a function takes a `store`, it takes the URL of one, too.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from indexer.comparing.compare import compare
    from indexer.comparing.versions import versions
    from indexer.deduplicating.dedup import dedup
    from indexer.deduplicating.dedup_options import DedupOptions
    from indexer.exports.export import ExportOptions, export
    from indexer.grouping.consistency import consistency
    from indexer.grouping.delete import delete
    from indexer.grouping.families import FamiliesOptions, families
    from indexer.grouping.group import group
    from indexer.grouping.group_options import GroupOptions
    from indexer.grouping.label import LabelOptions, label
    from indexer.grouping.label_from import LabelFileOptions, label_from
    from indexer.grouping.undo_labels import undo_labels
    from indexer.indexing.check import check
    from indexer.indexing.check_mail import check_mail
    from indexer.indexing.hash import hash
    from indexer.indexing.index import IndexOptions, index
    from indexer.indexing.verdicts import CheckOptions
    from indexer.lab.evaluation.evaluate import EvaluateOptions, evaluate
    from indexer.lab.studies.study import study
    from indexer.lab.synthesis.synth import SynthOptions, synth
    from indexer.lab.tuning.tune import TuneOptions, tune
    from indexer.matching.match import MatchOptions, match
    from indexer.matching.passages import PassagesOptions, passages
    from indexer.operations.backup import backup
    from indexer.operations.doctor import doctor
    from indexer.operations.install import install
    from indexer.operations.reindex import reindex
    from indexer.operations.restore import restore
    from indexer.operations.status import status
    from indexer.operations.threads import ThreadsOptions, threads
    from indexer.operations.uninstall import uninstall
    from indexer.recipe import Recipe
    from indexer.recipe_names import recipe_named
    from indexer.retrieval.fold_chunks import ChunkOptions, fold_chunks
    from indexer.searching.fold_hits import fold_hits
    from indexer.searching.search import search
    from indexer.searching.search_options import SearchOptions
    from indexer.searching.similar import SimilarOptions, similar, similar_many
    from indexer.similarity.approved_passages import approved_passages
    from indexer.similarity.duplicate_sets import duplicate_pairs, duplicate_sets
    from indexer.sketch.fingerprint import fingerprint, fingerprints
    from indexer.sketch.plan import plan
    from indexer.stores import open_store
    from indexer.web.compare_page import compare_page

__all__ = [
    "CheckOptions",
    "ChunkOptions",
    "DedupOptions",
    "EvaluateOptions",
    "ExportOptions",
    "FamiliesOptions",
    "GroupOptions",
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
    "delete",
    "doctor",
    "duplicate_pairs",
    "duplicate_sets",
    "evaluate",
    "export",
    "families",
    "fingerprint",
    "fingerprints",
    "fold_chunks",
    "fold_hits",
    "group",
    "hash",
    "index",
    "install",
    "label",
    "label_from",
    "match",
    "open_store",
    "passages",
    "plan",
    "recipe_named",
    "reindex",
    "restore",
    "search",
    "similar",
    "similar_many",
    "status",
    "study",
    "synth",
    "threads",
    "tune",
    "undo_labels",
    "uninstall",
    "versions",
]

_HOMES = {
    "CheckOptions": "indexer.indexing.verdicts",
    "ChunkOptions": "indexer.retrieval.fold_chunks",
    "DedupOptions": "indexer.deduplicating.dedup_options",
    "EvaluateOptions": "indexer.lab.evaluation.evaluate",
    "ExportOptions": "indexer.exports.export",
    "FamiliesOptions": "indexer.grouping.families",
    "MatchOptions": "indexer.matching.match",
    "PassagesOptions": "indexer.matching.passages",
    "GroupOptions": "indexer.grouping.group_options",
    "IndexOptions": "indexer.indexing.index",
    "LabelFileOptions": "indexer.grouping.label_from",
    "LabelOptions": "indexer.grouping.label",
    "Recipe": "indexer.recipe",
    "SearchOptions": "indexer.searching.search_options",
    "SimilarOptions": "indexer.searching.similar",
    "backup": "indexer.operations.backup",
    "check": "indexer.indexing.check",
    "check_mail": "indexer.indexing.check_mail",
    "compare": "indexer.comparing.compare",
    "compare_page": "indexer.web.compare_page",
    "consistency": "indexer.grouping.consistency",
    "dedup": "indexer.deduplicating.dedup",
    "delete": "indexer.grouping.delete",
    "doctor": "indexer.operations.doctor",
    "evaluate": "indexer.lab.evaluation.evaluate",
    "duplicate_pairs": "indexer.similarity.duplicate_sets",
    "duplicate_sets": "indexer.similarity.duplicate_sets",
    "export": "indexer.exports.export",
    "families": "indexer.grouping.families",
    "fingerprint": "indexer.sketch.fingerprint",
    "fingerprints": "indexer.sketch.fingerprint",
    "fold_chunks": "indexer.retrieval.fold_chunks",
    "fold_hits": "indexer.searching.fold_hits",
    "group": "indexer.grouping.group",
    "hash": "indexer.indexing.hash",
    "index": "indexer.indexing.index",
    "install": "indexer.operations.install",
    "label": "indexer.grouping.label",
    "label_from": "indexer.grouping.label_from",
    "match": "indexer.matching.match",
    "open_store": "indexer.stores",
    "approved_passages": "indexer.similarity.approved_passages",
    "passages": "indexer.matching.passages",
    "plan": "indexer.sketch.plan",
    "recipe_named": "indexer.recipe_names",
    "reindex": "indexer.operations.reindex",
    "restore": "indexer.operations.restore",
    "search": "indexer.searching.search",
    "similar": "indexer.searching.similar",
    "similar_many": "indexer.searching.similar",
    "status": "indexer.operations.status",
    "study": "indexer.lab.studies.study",
    "SynthOptions": "indexer.lab.synthesis.synth",
    "synth": "indexer.lab.synthesis.synth",
    "ThreadsOptions": "indexer.operations.threads",
    "threads": "indexer.operations.threads",
    "TuneOptions": "indexer.lab.tuning.tune",
    "tune": "indexer.lab.tuning.tune",
    "undo_labels": "indexer.grouping.undo_labels",
    "uninstall": "indexer.operations.uninstall",
    "versions": "indexer.comparing.versions",
}


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    if isinstance(value, type):
        return value
    return import_module("indexer.stores.store_urls").with_store_urls(value)


def __dir__() -> list[str]:
    return sorted(__all__)
