"""Maintenance of a store: the interfaces of reindexing, of copies, of repairs, and of installing
into an engine.

Every store can be reindexed. The other abilities are optional: test `store.maintenance` with
`isinstance`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from indexer.model import Row
from indexer.recipe import Recipe

FingerprintRows: TypeAlias = Callable[[Sequence[Row]], list[Row]]
OnProgress: TypeAlias = Callable[[int], None]

# Errors that a value leads to which no store of ours holds.
_VALUE_ERRORS = (TypeError, ValueError, AttributeError, LookupError)


@dataclass(frozen=True, slots=True)
class BitChanges:
    """The changes of signatures of bits when statistics changed.

    `by_distance`: how many rows, parts of documents included, changed in so many bits, 0 included.
    """

    by_distance: Mapping[int, int] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """The rows that had a signature before and after."""
        return sum(self.by_distance.values())

    @property
    def changed(self) -> int:
        """The rows whose signature is another now."""
        return self.rows - self.by_distance.get(0, 0)

    @property
    def mean_distance(self) -> float:
        """The mean distance of those that changed; 0 without any."""
        total = sum(distance * rows for distance, rows in self.by_distance.items())
        return total / self.changed if self.changed else 0.0

    @property
    def greatest_distance(self) -> int:
        """The greatest distance; 0 without any."""
        return max(self.by_distance, default=0)


@dataclass(frozen=True, slots=True)
class ReindexResult:
    """The result of reindexing: where the rows are now, how many were fingerprinted in this run,
    and where the old ones are kept, None when they are not.

    `bit_changes`: the changed bits of signatures, where the recipe differs in its corpus statistics
    alone.
    """

    index: str
    copied: int
    kept: str | None = None
    bit_changes: BitChanges | None = None


@dataclass(frozen=True, slots=True)
class ReindexOptions:
    """Options of `Reindexable.reindex`.

    `fingerprint_rows`: fingerprints rows by the recipe, in their order. `keep`: keep the old rows
    under another name. `on_progress` receives the number of rows done. `layout`: the next one of
    an `Installable` store; None: the same.
    """

    recipe: Recipe
    fingerprint_rows: FingerprintRows
    keep: bool
    on_progress: OnProgress
    layout: Layout | None = None


class Reindexable(Protocol):
    """A store that can be given another recipe while it is in service."""

    def reindex(self, options: ReindexOptions) -> ReindexResult:
        """Fingerprint every row anew, and put the rows in service in one step.

        Until then the store responds as before, whatever happens; the next run continues an
        interrupted one. Raises `StoreError` for a store that does not exist yet.
        """
        ...


@runtime_checkable
class Copyable(Protocol):
    """A store that can be copied into a file while it is in use, and restored from one."""

    def backup(self, path: str, *, replace: bool) -> None:
        """Copy the store, as one consistent snapshot, into a file.

        With `replace`, a store that lies there is replaced once the copy is whole. Raises
        `UsageError` for a file that may not be replaced.
        """
        ...

    def restore(self, path: str) -> None:
        """Put the copy instead of the store, in one step.

        Raises `MappingMismatch` or `StoreError` for a file that is not a copy of ours.
        """
        ...


@runtime_checkable
class Repairable(Protocol):
    """A store that keeps indexes of its own next to its rows, which may become inconsistent with
    them.
    """

    def inconsistencies(self) -> tuple[str, ...]:
        """Return what does not agree with the rows, one sentence each."""
        ...

    def unmatched_rows(self) -> tuple[str, ...]:
        """Return which rows lack their text or words in the index, one sentence each, without
        reading texts.
        """
        ...

    def check_sound(self) -> None:
        """Raise `StoreDamaged` when the file is corrupt; reads all of it."""
        ...

    def rebuild(self) -> None:
        """Rebuild the indexes from the rows, in one step."""
        ...


@runtime_checkable
class Shareable(Protocol):
    """A store whose documents may belong to other programs, and have fields of theirs."""

    def is_shared(self) -> bool:
        """Return whether other programs write documents too, perhaps a text without its keys."""
        ...

    def changed_rows(self) -> Sequence[Row]:
        """Return documents that were written more than once, as far as lately."""
        ...

    def stored_rows(self) -> Iterator[Row]:
        """Yield rows as `Store.scan` does, parts too; one that is stored in the group of an earlier
        text has another digest than that of its text.
        """
        ...

    def headless_families(self) -> Sequence[str]:
        """Return the families with members whose principal is gone or in another family."""
        ...

    def waiting(self) -> int:
        """Return the number of documents that clients sent and that nobody put into groups yet."""
        ...

    def check_updatable(self) -> None:
        """Raise `PartialSource` where a change of a document would lose a part of it, and
        `LimitedView` where a part of the documents is hidden from this user.

        A job that goes on waits for a store that does not respond.
        """
        ...

    def write_blocks(self) -> Mapping[str, Sequence[str]]:
        """Return the settings by which indices refuse changes now, by the name of the index; empty
        where all accept them.
        """
        ...

    def check_same(self) -> None:
        """Raise `RestoredIndex` where an index was restored from a snapshot, or made again, since
        the job began.
        """
        ...

    def check_labels(self, ids: Sequence[str]) -> None:
        """Raise `UsageError` where other programs keep something else in `labels` of these
        documents than texts, which new labels would replace.
        """
        ...

    def fingerprint_again(self, rows: Sequence[Row]) -> None:
        """Replace the keys and family fields of documents by the fields of these rows, and nothing
        else; a document whose text is another meanwhile is left as it is.
        """
        ...


@dataclass(frozen=True, slots=True)
class Change:
    """A change, done or planned, to one asset of an installation.

    `impossible`, `left out` (the engine lacks what only this asset needs, and the others do
    without) and `kept` give the reason in `detail`.
    """

    kind: str
    name: str
    action: Literal["created", "updated", "unchanged", "removed", "kept", "impossible", "left out"]
    detail: str = ""


@runtime_checkable
class Installable(Protocol):
    """A store whose engine can fingerprint and fold for programs that know nothing of nearfold."""

    def installed_recipe(self) -> Recipe | None:
        """Return the recipe that the index has, or will have by what is installed; None without."""
        ...

    def install(
        self,
        recipe: Recipe,
        dry_run: bool,
        text_field: str | None = None,
        layout: Layout | None = None,
    ) -> list[Change]:
        """Install missing or old assets, in an order that leaves every state in between usable.

        `text_field` None: the field that is fingerprinted there already, else `text`. `layout`
        None: the one that is there already, else the pipeline's. Raises `UsageError` for a layout
        that a node lacks the plugin for, or that the index cannot get without `reindex`,
        `RecipeMismatch`, `MappingMismatch`, `TextFieldMismatch`, `StoreAccessDenied` (naming the
        missing permission), and `StoreError` when a newer nearfold or another pipeline is there
        already.
        """
        ...

    def layout(self) -> Layout:
        """Return the layout of the index; `pipeline` where there is none."""
        ...

    def plugin_versions(self) -> Mapping[str, str | None]:
        """Return the version of the engine's plugin by node; None where a node lacks it."""
        ...

    def uninstall(self, recipe: Recipe, dry_run: bool) -> list[Change]:
        """Remove what `install` put there, except assets that other indices use; documents keep
        their fields.
        """
        ...

    def installation_problems(self) -> Sequence[str]:
        """Return what the index, or the next one of its name, lacks to be fingerprinted, a sentence
        each; `install` repairs it, or says what the owner is to do.
        """
        ...

    def plan_reindex(
        self, recipe: Recipe, keep: bool, layout: Layout | None = None
    ) -> list[Change]:
        """Return what `reindex` would change, in order; raise what it would raise before its first
        change.
        """
        ...

    def put_dashboards(
        self, path: str, dry_run: bool, time_field: str | None, pages: str | None
    ) -> Change:
        """Put the dashboard of the index into a file, or into a product at an address.

        `time_field`, `pages` and errors are as for `indexer.jobs.install.install_dashboards`.
        """
        ...

    def remove_dashboards(self, path: str, dry_run: bool) -> list[Change]:
        """Remove from a product at an address what `put_dashboards` put there; raise as that does.

        Objects that the product does not have are not in the result.
        """
        ...

    def put_roles(self, dry_run: bool) -> list[Change]:
        """Put the `roles` into the cluster that are missing or grant something else; `impossible`
        where the engine keeps none.

        A role that was changed and limits documents or fields is `kept`. Raises `StoreAccessDenied`
        naming the missing permission.
        """
        ...

    def remove_roles(self, dry_run: bool) -> list[Change]:
        """Remove the `roles` that are there, whoever put them. Raises as `put_roles` does."""
        ...

    def roles(self) -> dict[str, dict[str, Any]]:
        """Return the roles by name, in the engine's own form: the rights that searchers, indexers
        and admins of this index need.
        """
        ...


@dataclass(frozen=True, slots=True)
class LoggedSearch:
    """A search for the log: the documents that match, and the groups that they are folded into.

    `groups` None: not all hits were counted, and the log says nothing of this search but its time.
    `query` None: its words are not logged.
    """

    hits: int
    groups: int | None
    fold: str
    query: str | None = None


@runtime_checkable
class LogsSearches(Protocol):
    """A store that keeps a log of searches, from which dashboards show what folding saves."""

    def prepare_log(self, days: int) -> None:
        """Create the log where it is missing, and delete what is older than so many days."""
        ...

    def log_search(self, search: LoggedSearch) -> None:
        """Write a search. Raises `StoreError` where the log refuses it."""
        ...


Layout: TypeAlias = Literal["pipeline", "plugin"]
"""Where an index of an engine has the fingerprints of its texts: in `near_*` fields of each
document, or in a sub-field of the text, which the engine's plugin fills.
"""
Product: TypeAlias = Literal["opensearch-dashboards", "kibana"]
"""The dashboards product of an engine."""


@contextmanager
def faults_as_damage(maintenance: object) -> Iterator[None]:
    """Raise `StoreDamaged` instead of a fault of ours when the store's file is corrupt."""
    try:
        yield
    except _VALUE_ERRORS:
        if isinstance(maintenance, Repairable):
            maintenance.check_sound()
        raise
