"""Figures for monitoring, where the library that spells them is installed."""

from __future__ import annotations

from indexer.errors import MissingExtra
from indexer.stores.base import Store


def figures_of(store: Store) -> bytes:
    """A store's figures in Prometheus' text format. Raises `MissingExtra`, and `StoreError` when nothing was indexed yet."""
    try:
        from indexer.metrics import Figures
    except ModuleNotFoundError as error:
        raise MissingExtra(package="prometheus-client", extra="metrics") from error
    return Figures(store).text()
