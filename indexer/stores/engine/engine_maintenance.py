"""Maintenance of an index of an engine: another recipe, installation, roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from indexer.model import Row
from indexer.recipe import Recipe
from indexer.stores.engine.bodies import Body
from indexer.stores.engine.index_facts import write_blocks
from indexer.stores.engine.mapping_facts import is_shared
from indexer.stores.engine.role_files import roles
from indexer.stores.maintenance import Change, OnProgress, ReindexResult, SignRows

if TYPE_CHECKING:
    from indexer.stores.engine.open_index import OpenIndex


class EngineMaintenance:
    """Reindexable, shareable and installable: the maintenance of a store in an engine.

    What it needs is imported when it is used, because indexing and searching never do.
    """

    def __init__(self, index: OpenIndex) -> None:
        self._index = index

    def reindex(
        self, recipe: Recipe, sign_rows: SignRows, keep: bool, on_progress: OnProgress
    ) -> ReindexResult:
        """Fill a new version of the index, which takes over its name.

        The old one refuses writes for the last step.
        """
        from indexer.stores.engine.replace_index import replace_index

        index = self._index
        try:
            return replace_index(
                index.requests, index.place, index.dialect, recipe, sign_rows, keep, on_progress
            )
        finally:
            index.facts = None

    def plan_reindex(self, recipe: Recipe, keep: bool) -> list[Change]:
        """Read what `reindex` would create, change and remove, and write nothing."""
        from indexer.stores.engine.replace_index import plan_replacement

        index = self._index
        return plan_replacement(index.requests, index.place, index.dialect, recipe, keep)

    def is_shared(self) -> bool:
        """Return what the mapping says."""
        self._index.require_recipe()
        return bool(self._index.facts and is_shared(self._index.facts.mapping))

    def changed_rows(self) -> Sequence[Row]:
        """Look at the thousand documents written last; those that were written once are not read.

        Engines number the operations on an index, and the versions of a document.
        """
        from indexer.stores.engine.index_reads import changed_rows

        return changed_rows(self._index)

    def check_updatable(self) -> None:
        """Look for fields that the index holds and `_source` lacks, and for limits of the user."""
        from indexer.stores.engine.limited_view import require_whole_view

        index = self._index
        index.check_updatable()
        if index.facts:
            require_whole_view(index.requests, index.facts.members or (index.facts.index,))

    def write_blocks(self) -> Mapping[str, Sequence[str]]:
        """Read the settings of the index, or of all behind its name."""
        self._index.require_recipe()
        return write_blocks(self._index.requests, self._index.place)

    def check_labels(self, ids: Sequence[str]) -> None:
        """Look at the mapping of `labels`, and at the documents themselves."""
        from indexer.stores.engine.foreign_labels import check_labels

        check_labels(self._index, ids)

    def sign_again(self, rows: Sequence[Row]) -> None:
        """Write whole rows into an index of nearfold's own, keys alone into one that it shares."""
        from indexer.stores.engine.index_writes import sign_again

        sign_again(self._index, rows)

    def installed_recipe(self) -> Recipe | None:
        """Return the recipe that the index has, or will have by its template."""
        from indexer.stores.engine import installer

        return installer.installed_recipe(self._index.requests, self._index.place)

    def install(self, recipe: Recipe, dry_run: bool, text_field: str | None = None) -> list[Change]:
        """Install templates and pipelines for this index, and change the index itself where it
        exists.
        """
        from indexer.stores.engine import installer

        index = self._index
        index.facts = None
        return installer.install(
            index.requests, index.place, index.dialect, recipe, dry_run, text_field
        )

    def uninstall(self, recipe: Recipe, dry_run: bool) -> list[Change]:
        """Remove what `install` put there.

        The index stays as it is but for its default pipeline, and for its write alias where other
        programs write too.
        """
        from indexer.stores.engine import installer

        index = self._index
        return installer.uninstall(index.requests, index.place, index.dialect, recipe, dry_run)

    def installation_problems(self) -> Sequence[str]:
        """Look at the mapping and at index templates; at none of an alias of several indices."""
        from indexer.stores.engine import installer

        index = self._index
        index.require_recipe()
        if index.facts and index.facts.members:
            return ()
        return installer.installation_problems(index.requests, index.place)

    def put_dashboards(self, place: str, dry_run: bool, time_field: str | None) -> Change:
        """Put the dashboard with the fields that the index has."""
        from indexer.stores.engine import saved_objects
        from indexer.stores.engine.dashboards import product_of
        from indexer.stores.engine.time_fields import dashboard_fields

        index = self._index
        fields = dashboard_fields(index.requests, index.place, time_field)
        product = product_of(index.address.kind)
        return saved_objects.put(place, index.place.index, product, dry_run, fields)

    def put_roles(self, dry_run: bool) -> list[Change]:
        """Put roles by the security API of the engine."""
        from indexer.stores.engine import security

        return security.put(self._index.requests, self._index.dialect, self.roles(), dry_run)

    def remove_roles(self, dry_run: bool) -> list[Change]:
        """Remove roles by the security API of the engine."""
        from indexer.stores.engine import security

        return security.remove(self._index.requests, self._index.dialect, self.roles(), dry_run)

    def roles(self) -> dict[str, Body]:
        """Return roles in the form that the security API of this engine takes."""
        return roles(self._index.address.kind, self._index.place.index)
