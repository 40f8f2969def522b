"""What several commands share: options, and a store that is closed again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import click

from indexer.measures import MEASURES
from indexer.stores import open_store
from indexer.stores.base import Store

store_option = click.option(
    "--store",
    "store_url",
    default="sqlite:///nearfold.db",
    envvar="NEARFOLD_STORE",
    show_default=True,
    help="Where the index is.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout and nothing else there.")
threshold_option = click.option(
    "--threshold", type=click.FloatRange(0, 1), default=0.8, show_default=True, help="Least similarity."
)
measure_option = click.option("--measure", type=click.Choice(sorted(MEASURES)), default="features", show_default=True)


@contextlib.contextmanager
def opened(url: str) -> Iterator[Store]:
    """The store at a URL, closed when the block ends."""
    store = open_store(url)
    try:
        yield store
    finally:
        store.close()
