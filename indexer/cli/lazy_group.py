"""A group of commands whose modules are read when one of them is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click


class LazyGroup(click.Group):
    """A group that knows its commands by name and place (`module:attribute`), so that a call reads
    one module and not all.

    As in click's own documentation on complex applications.
    """

    def __init__(self, *arguments: Any, places: Mapping[str, str], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every name, sorted; nothing is read."""
        return sorted(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, its module read; None for a name that is not there."""
        if (place := self._places.get(cmd_name)) is None:
            return None
        module, _, attribute = place.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command
