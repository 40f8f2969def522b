"""The manifest of a run: what it was made with, so that a later run can be held against it."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from indexer.comparing.band_plan import Plan
    from indexer.recipe import Recipe


if TYPE_CHECKING:
    from indexer.grouping.group_options import GroupOptions
    from indexer.grouping.match import MatchOptions
    from indexer.jobs.dedup import DedupOptions
    from indexer.review.exports.export import ExportOptions

    Settings = MatchOptions | GroupOptions | ExportOptions | DedupOptions


def run_manifest(
    command: str,
    recipe: Recipe | None,
    settings: Settings,
    counts: Mapping[str, object],
    layout: Plan | None = None,
) -> dict[str, Any]:
    """Return the recipe, settings, layout of bands, versions and counts of a run as JSON has them.

    Two runs over the same documents with the same manifest have the same result. It names no store
    and no time.
    """
    from indexer.fingerprinting.fingerprint import kernel_name
    from indexer.system.release import release, source_digest

    return {
        "command": command,
        "recipe": recipe and {"name": recipe.name, "id": recipe.id},
        "settings": asdict(settings),
        "layout": layout and _layout(layout),
        "versions": {
            "nearfold": release(),
            "source": source_digest(),
            "kernel": kernel_name(),
            "rapidfuzz": release("rapidfuzz"),
            "numpy": release("numpy"),
            "python": platform.python_version(),
        },
        "counts": dict(counts),
    }


def manifest_path(out: Path) -> Path:
    """Return where the manifest of `out` is."""
    return out.with_name(f"{out.name}.manifest.json")


def check_output(out: Path, *, replace: bool) -> None:
    """Raise `UsageError` where `out` or its manifest cannot be written, or is there already."""
    from indexer.system.files import check_output_path, is_special

    check_output_path(out, replace=replace)
    if not is_special(out):
        check_output_path(manifest_path(out), replace=replace)


def write_manifest(out: Path, manifest: Mapping[str, object]) -> None:
    """Write a manifest next to `out`, as NAME.manifest.json; none next to a device, pipe, link."""
    from indexer.system.files import is_special, write_whole

    if is_special(out):
        return
    with write_whole(manifest_path(out)) as part:
        part.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _layout(plan: Plan) -> dict[str, object]:
    names = ("bands", "rows", "fewest_equal", "expected_recall")
    return {name: getattr(plan, name) for name in names}
