"""A group of commands whose modules are imported on demand."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from typing import Any

import click


class LazyGroup(click.Group):
    """A group that knows its commands by name and place (`module:attribute`).

    A call imports one module and not all, as click's documentation on complex applications does.
    """

    def __init__(self, *arguments: Any, places: Mapping[str, str], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names, sorted; nothing is imported."""
        return sorted(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of its imported module; None for an unknown name."""
        place = self._places.get(cmd_name)
        if place is None:
            return None
        module, _, attribute = place.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the words name; the error for none names the nearest one."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            for name in difflib.get_close_matches(args[0], self._places, n=1):
                ctx.fail(f"{error.message} Did you mean {name}?")
            raise
