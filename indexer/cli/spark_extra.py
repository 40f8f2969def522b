"""The end of the programs of `indexer.spark` where PySpark or pyarrow is not installed."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from indexer.cli.exit_codes import EXIT_USAGE
from indexer.cli.main import message_of
from indexer.errors import MissingExtra


def exit_without(error: ModuleNotFoundError) -> NoReturn:
    """Exit with the extra that has the missing package; raise the error for any other package."""
    package = (error.name or "").split(".")[0]
    if package not in ("pyspark", "pyarrow"):
        raise error
    click.echo(f"nearfold: {message_of(MissingExtra(package=package, extra='spark'))}", err=True)
    sys.exit(EXIT_USAGE)
