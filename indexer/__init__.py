"""nearfold: near-duplicate documents, found and folded inside search results.

Names are imported when they are first used, so that a worker process or a command loads what it needs and no more.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from indexer.checkup import doctor
    from indexer.comparing.comparison import compare
    from indexer.comparing.revisions import versions
    from indexer.duplicates.sets import duplicate_pairs, duplicate_sets
    from indexer.evaluation.evaluating import evaluate
    from indexer.exports.exporting import export
    from indexer.fingerprinting import fingerprint, fingerprints
    from indexer.grouping import group
    from indexer.ingest import index
    from indexer.installing import install, uninstall
    from indexer.labels.agreement import consistency
    from indexer.labels.labelling import label, undo_labels
    from indexer.lookup import similar, similar_many
    from indexer.overview import status
    from indexer.pairs import match
    from indexer.planning import plan
    from indexer.planting.corpus import synth
    from indexer.recipe import Recipe, recipe_named
    from indexer.removal import delete
    from indexer.renewing import reindex
    from indexer.results import fold_hits, search
    from indexer.safekeeping import backup, restore
    from indexer.signing import hash
    from indexer.stores import open_store
    from indexer.studying.studied import study
    from indexer.tuning.tuned import tune
    from indexer.web.comparisonfile import compare_page

__all__ = [
    "Recipe",
    "backup",
    "compare",
    "compare_page",
    "consistency",
    "delete",
    "doctor",
    "duplicate_pairs",
    "duplicate_sets",
    "evaluate",
    "export",
    "fingerprint",
    "fingerprints",
    "fold_hits",
    "group",
    "hash",
    "index",
    "install",
    "label",
    "match",
    "open_store",
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
    "tune",
    "undo_labels",
    "uninstall",
    "versions",
]

_HOMES = {
    "Recipe": "indexer.recipe",
    "backup": "indexer.safekeeping",
    "compare": "indexer.comparing.comparison",
    "compare_page": "indexer.web.comparisonfile",
    "consistency": "indexer.labels.agreement",
    "delete": "indexer.removal",
    "doctor": "indexer.checkup",
    "evaluate": "indexer.evaluation.evaluating",
    "duplicate_pairs": "indexer.duplicates.sets",
    "duplicate_sets": "indexer.duplicates.sets",
    "export": "indexer.exports.exporting",
    "fingerprint": "indexer.fingerprinting",
    "fingerprints": "indexer.fingerprinting",
    "fold_hits": "indexer.results",
    "group": "indexer.grouping",
    "hash": "indexer.signing",
    "index": "indexer.ingest",
    "install": "indexer.installing",
    "label": "indexer.labels.labelling",
    "match": "indexer.pairs",
    "open_store": "indexer.stores",
    "plan": "indexer.planning",
    "recipe_named": "indexer.recipe",
    "reindex": "indexer.renewing",
    "restore": "indexer.safekeeping",
    "search": "indexer.results",
    "similar": "indexer.lookup",
    "similar_many": "indexer.lookup",
    "status": "indexer.overview",
    "study": "indexer.studying.studied",
    "synth": "indexer.planting.corpus",
    "tune": "indexer.tuning.tuned",
    "undo_labels": "indexer.labels.labelling",
    "uninstall": "indexer.installing",
    "versions": "indexer.comparing.revisions",
}


def __getattr__(name: str) -> Any:
    """A public name, from the module that defines it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
