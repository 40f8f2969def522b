"""Why nearfold does not write to an index that another program created."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indexer.errors import MappingMismatch
from indexer.stores.engine.index_mapping import fields_of_others, mapping_problems, near_field
from indexer.stores.engine.partial_updates import source_gap
from indexer.stores.requirements import signing_command


def foreign_index_error(
    url: str, wanted: str, name: str, index: Mapping[str, Any]
) -> MappingMismatch:
    """Return the error of an index, or of a data stream's, that another program created."""
    if "data_stream" in index:
        problem = (
            f"{name} is of a data stream whose template is not composed of nearfold's component "
            "template"
        )
        remedy = (
            "change its template and its indices as docs/index-life.md (Data streams) says, or "
        )
        return MappingMismatch(index=wanted, problems=(problem,), remedy=remedy, can_install=False)
    problems = mapping_problems(index.get("mappings", {}), "")
    if name != wanted:  # an alias, perhaps of several
        problems = (f"{name}, which it stands for, was not made by nearfold",)
        url = f"{url.rpartition('/')[0]}/{name}"
    gaps = fields_of_others(index.get("mappings", {}))
    if gap := source_gap(index):
        gaps = (*gaps, f"it {gap}")
    if gaps:  # signing it would be refused
        problems = (*problems, *gaps)
        return MappingMismatch(index=wanted, problems=problems, can_install=False)
    remedy = f"`{signing_command(url)}` fingerprints what another program keeps there; or "
    if near_field(index.get("mappings", {})):
        remedy = f"`nearfold install --layout plugin --store {url}` adds what it lacks; or "
    return MappingMismatch(index=wanted, problems=problems, remedy=remedy)
