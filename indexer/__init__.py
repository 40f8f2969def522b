"""nearfold: near-duplicate documents, found and folded inside search results."""

from indexer.checkup import doctor
from indexer.comparison import compare
from indexer.fingerprinting import fingerprint, fingerprints
from indexer.grouping import group
from indexer.ingest import index
from indexer.installing import install, uninstall
from indexer.lookup import similar
from indexer.overview import status
from indexer.pairs import match
from indexer.planning import plan
from indexer.recipe import Recipe, recipe_named
from indexer.removal import delete
from indexer.results import search
from indexer.signing import hash
from indexer.stores import open_store

__all__ = [
    "Recipe",
    "compare",
    "delete",
    "doctor",
    "fingerprint",
    "fingerprints",
    "group",
    "hash",
    "index",
    "install",
    "match",
    "open_store",
    "plan",
    "recipe_named",
    "search",
    "similar",
    "status",
    "uninstall",
]
