"""`nearfold reindex`: fingerprint all stored texts by another recipe."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from indexer.cli import progress
from indexer.cli.install import print_installation
from indexer.cli.options import (
    dry_run_option,
    json_option,
    layout_option,
    left_out_option,
    open_for_command,
    statistics_option,
    store_option,
)
from indexer.wording import count_of

if TYPE_CHECKING:
    from indexer.recipe import Recipe
    from indexer.stores.maintenance import BitChanges, Layout, ReindexResult
    from indexer.system.approved_passages import ApprovedPassages


@click.command("reindex")
@click.option(
    "--recipe",
    "recipe_name",
    help="New fingerprint settings (default: the recipe of the index).",
)
@layout_option(
    "Where fingerprints are computed from then on: by the ingest pipeline, or by the plugin."
)
@statistics_option
@left_out_option
@click.option("--keep", is_flag=True, help="Keep the old index, or a copy of the old file.")
@dry_run_option("Change nothing; print what would change.")
@store_option
@json_option
def reindex_command(
    recipe_name: str | None,
    layout: Layout | None,
    statistics: str | None,
    leave_out: ApprovedPassages,
    keep: bool,
    dry_run: bool,
    store_url: str,
    as_json: bool,
) -> int:
    """Fingerprint all stored texts again, with another recipe.

    Searches work meanwhile, and the new rows replace the old ones in one step. With the recipe of
    the index, the default, full text stored by an earlier nearfold is renewed. Run the same command
    again to resume after an interruption.
    """
    from indexer.jobs.corpus_statistics import with_passages
    from indexer.jobs.install import Installation
    from indexer.jobs.reindex import plan_reindex, reindex
    from indexer.stores.requirements import require_recipe
    from indexer.system.recipe_inputs import recipe_asked

    asked = recipe_asked(recipe_name) if recipe_name else None
    if dry_run:
        with open_for_command(store_url) as store:
            recipe = with_passages(asked or require_recipe(store), leave_out, None)
            changes = plan_reindex(store, recipe, keep=keep, layout=layout)
            plan = Installation(store.url, recipe, changes)
        print_installation(plan, as_json, dry_run)
        return 0
    with open_for_command(store_url) as store, progress.show_stages(as_json) as advance:
        recipe = with_passages(asked or require_recipe(store), leave_out, None)
        stored = store.stored_recipe()
        total = store.counts().documents if stored else 0
        result = reindex(
            store,
            recipe,
            keep=keep,
            statistics=statistics,
            on_progress=lambda fingerprinted: advance("fingerprinting", fingerprinted, total),
            layout=layout,
        )
        current = store.stored_recipe()
    if as_json:
        click.echo(json.dumps(_fields(result, recipe, current)))
    else:
        if layout:
            click.echo(f"the layout of {result.index} is {layout}")
        for sentence in _sentences(result, recipe, stored, current):
            click.echo(sentence)
    return 0


def _fields(result: ReindexResult, recipe: Recipe, current: Recipe | None) -> dict[str, object]:
    return {
        "recipe": recipe.name,
        "index": result.index,
        "signed": result.copied,
        "kept": result.kept,
        "statistics_number": (current and current.statistics_number) or None,
        "moved": result.bit_changes and _change_fields(result.bit_changes),
    }


def _sentences(
    result: ReindexResult, recipe: Recipe, stored: Recipe | None, current: Recipe | None
) -> Iterator[str]:
    """Yield what was done; `stored` was the recipe of the index before, `current` is it now."""
    is_same = stored == current
    if is_same and not result.copied:
        unchanged = "and its full text is of today; nothing was changed"
        yield f"{result.index} has recipe {recipe.name} already, {unchanged}"
        return
    if current and (stored and stored.left_out) != current.left_out:
        yield _passages_sentence(current)
    change = "renewed for the search of today" if is_same else f"fingerprinted by {recipe.name}"
    fingerprinted = f"{count_of(result.copied, 'document')} {change}"
    kept = f"; the old one is kept as {result.kept}" if result.kept else ""
    yield f"{fingerprinted}; {result.index} is in service{kept}"
    if result.bit_changes:
        number = current.statistics_number if current else 0
        yield _change_sentence(result.bit_changes, recipe.bits or 0, number)


def _passages_sentence(recipe: Recipe) -> str:
    if recipe.left_out is None:
        return "texts are fingerprinted and compared as they are again"
    return (
        "texts are fingerprinted and compared without the approved passages of list "
        f"{recipe.left_out}"
    )


def _change_fields(changes: BitChanges) -> dict[str, object]:
    return {
        "signatures": changes.changed,
        "of": changes.rows,
        "mean_bits": round(changes.mean_distance, 2),
        "most_bits": changes.greatest_distance,
        "by_distance": dict(changes.by_distance),
    }


def _change_sentence(changes: BitChanges, bits: int, number: int) -> str:
    """Return how many signatures moved, and by how many bits; numbered statistics are named."""
    by = f"by statistics {number}: " if number else ""
    start = f"{by}{changes.changed:,} of {count_of(changes.rows, 'signature')} moved"
    if not changes.changed:
        return start
    mean, greatest = changes.mean_distance, changes.greatest_distance
    return f"{start}, by {mean:.1f} of {bits} bits on average, {greatest} at most"
