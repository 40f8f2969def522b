"""What install and uninstall print: one line a piece."""

from __future__ import annotations

from indexer.cli.console import print_json
from indexer.operations.install import Installation
from indexer.text.visible import visible


def installation(done: Installation, as_json: bool, dry_run: bool) -> None:
    """What was installed or removed; `installed` lists the pieces in the order of the work."""
    pieces = [
        {"kind": one.kind, "name": one.name, "action": one.action, "detail": one.detail}
        for one in done.changes
    ]
    if as_json:
        print_json(
            {
                "store": done.store,
                "recipe": done.recipe.name,
                "dry_run": dry_run,
                "installed": pieces,
            }
        )
        return
    for one in done.changes:
        would = "would be " if dry_run and one.action in ("created", "updated", "removed") else ""
        print(
            visible(f"{would}{one.action}  {one.kind} {one.name}{one.detail and f': {one.detail}'}")
        )
    if not pieces:
        print("nothing is installed there")
