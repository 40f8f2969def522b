"""The roles that a secured cluster needs for an index."""

from __future__ import annotations

from typing import Any

from indexer.operations.install import engine_of
from indexer.stores.abilities import MaintainedStore


def roles(store: MaintainedStore) -> dict[str, dict[str, Any]]:
    """Return the roles of a secured cluster by name: `nearfold-INDEX-searcher`, `-indexer`,
    `-admin`.

    Sends nothing to the cluster. Raises `UnsupportedOperation` for a store without an engine.
    """
    return engine_of(store).roles()
