"""Check the installation and the store: one line for each check, with the way to fix it."""

from __future__ import annotations

import importlib.util
import platform
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from indexer.errors import MappingMismatch, NearfoldError, StoreAccessDenied, StoreDamaged
from indexer.fingerprinting.fingerprint import fresh_rows, kernel_name
from indexer.jobs.repair import stored_rows, stored_twice
from indexer.jobs.status import count_fingerprinted_earlier
from indexer.recipe import Recipe
from indexer.stores import open_store
from indexer.stores.abilities import FullStore
from indexer.stores.journal import journal_path, stored_failures
from indexer.stores.maintenance import Installable, Repairable, Shareable, faults_as_damage
from indexer.stores.requirements import blocks_in_words, fingerprint_command
from indexer.system.release import release, requirement
from indexer.wording import count_of, visible

SAMPLE = 200
_DISK_BLOCK = "index.blocks.read_only_allow_delete"  # set by the engine itself
_EXTRAS = (("opensearchpy", "opensearch"), ("elasticsearch", "elasticsearch"), ("tika", "tika"))


@dataclass(frozen=True, slots=True)
class Check:
    """The verdict of one check: `good`, `note` (works, could be better) or `bad`; `detail` says
    what to do.
    """

    name: str
    verdict: Literal["good", "note", "bad"]
    detail: str


def doctor(store_url: str) -> list[Check]:
    """Check this machine and the store. Problems are reported, not raised; a store that does not
    exist yet is a note.
    """
    return [*_check_machine(), *_check_store(store_url)]


def _check_machine() -> Iterator[Check]:
    system = f"{platform.system()} {platform.machine()}"
    yield Check("python", "good", f"{platform.python_version()} on {system}")
    if kernel_name() == "rust":
        yield Check("kernel", "good", "rust (compiled)")
    else:
        yield Check(
            "kernel",
            "note",
            "numpy: the same bits, slower; install a Rust toolchain and reinstall nearfold "
            "for the compiled one",
        )
    yield _check_full_text()
    yield Check("extractor", "good", f"iscc-tika {release('iscc-tika')}")
    for module, extra in _EXTRAS:
        if importlib.util.find_spec(module) is not None:
            yield Check(extra, "good", "installed")
        else:
            yield Check(extra, "note", f"not installed; pip install {requirement(extra)}")


def _check_full_text() -> Check:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except sqlite3.OperationalError:
        return Check(
            "sqlite",
            "bad",
            f"SQLite {sqlite3.sqlite_version} has no FTS5; use a Python built with it",
        )
    finally:
        connection.close()
    return Check("sqlite", "good", f"SQLite {sqlite3.sqlite_version} with FTS5")


def _check_store(url: str) -> Iterator[Check]:
    try:
        store = open_store(url)
    except NearfoldError as error:
        yield Check("store", "bad", str(error))
        return
    checks: list[Check] = []
    try:
        for check in _check_contents(store):
            checks.append(check)  # noqa: PERF402 - those before an error stay
    except NearfoldError as error:
        checks = [check for check in checks if check.name != "store"]
        checks.append(Check("store", "bad", _with_remedy(error, url)))
    finally:
        store.close()
    yield from checks


def _with_remedy(error: NearfoldError, url: str) -> str:
    if not isinstance(error, MappingMismatch) or not error.can_install:
        return str(error)
    detail = f"{error}; if it was deleted and made again, `nearfold install --store {url}`"
    return f"{detail} adds what nearfold needs, as it did before"


def _check_contents(store: FullStore) -> Iterator[Check]:
    url = store.url
    recipe = store.stored_recipe()
    if recipe is None:
        yield Check(
            "store", "note", f"nothing at {url} yet; `nearfold index PATH --store {url}` makes it"
        )
        return
    counts = store.counts()
    documents = count_of(counts.documents, "document")
    yield Check("store", "good", f"{documents} in {url}, recipe {recipe.name}")
    if isinstance(store.maintenance, Shareable):
        yield from _check_blocks(store.maintenance)
    if isinstance(store.maintenance, Installable):
        yield from _check_plugin(store.maintenance)
        for problem in store.maintenance.installation_problems():
            detail = f"{problem}; `nearfold install --store {url}`"
            yield Check("installation", "bad", detail)
    if counts.not_fingerprinted:
        documents = count_of(counts.not_fingerprinted, "document")
        detail = f"{documents} never fingerprinted; `{fingerprint_command(url)}` fingerprints them"
        engine = store.maintenance
        if isinstance(engine, Installable) and engine.layout() == "plugin":
            name = store.address.index
            detail = (
                f"{documents} written before the plugin's field was there; "
                f"`POST {name}/_update_by_query?conflicts=proceed` fingerprints them"
            )
        yield Check("signed", "note", detail)
    earlier = count_fingerprinted_earlier(recipe, counts)
    if earlier:
        command = f"nearfold reindex --recipe {recipe.name} --store {url}"
        detail = f"{count_of(earlier, 'document')} fingerprinted by earlier statistics; `{command}`"
        yield Check("statistics", "note", f"{detail} fingerprints them again")
    with faults_as_damage(store.maintenance):
        yield _check_keys(store, recipe)
    if isinstance(store.maintenance, Shareable) and store.maintenance.is_shared():
        yield _check_changes(store.maintenance, recipe, url)
        yield _check_principals(store.maintenance, url)
    if isinstance(store.maintenance, Repairable):
        yield _check_index(store.maintenance, url)
        yield _check_copies(store)
    yield _check_journal(store)


def _check_plugin(maintenance: Installable) -> Iterator[Check]:
    """Report the engine's plugin by node, where a node has it or the index needs it."""
    is_needed = maintenance.layout() == "plugin"
    try:
        versions = maintenance.plugin_versions()
    except StoreAccessDenied:
        if is_needed:
            yield Check("plugin", "note", "the index needs it; its nodes may not be read")
        return
    having = [f"{version} on {node}" for node, version in versions.items() if version]
    lacking = ", ".join(node for node, version in versions.items() if version is None)
    detail = f"nearfold {', '.join(having)}" if having else ""
    if lacking and (having or is_needed):
        remedy = "a node without it cannot open an index of the layout plugin"
        verdict: Literal["note", "bad"] = "bad" if is_needed else "note"
        found = f"{detail}; " if detail else ""
        yield Check("plugin", verdict, f"{found}missing on {lacking}: {remedy} (docs/plugin.md)")
    elif having:
        layout = "the index has its layout" if is_needed else "the index has the layout pipeline"
        yield Check("plugin", "good", f"{detail}; {layout}")


def _check_blocks(maintenance: Shareable) -> Iterator[Check]:
    """Report indices that refuse changes: an engine sets one of the blocks itself, when a disk is
    nearly full; the others are of an owner, who may mean them.
    """
    for index, blocks in maintenance.write_blocks().items():
        is_full = _DISK_BLOCK in blocks
        detail = f"{blocks_in_words({index: blocks})}: nothing can be indexed, grouped or labelled"
        if is_full:
            detail = f"{detail}; free disk space on the cluster, then set it to null"
        yield Check("writes", "bad" if is_full else "note", detail)


def _repair_command(url: str) -> str:
    return f"nearfold doctor --repair --store {url}"


def _check_copies(store: FullStore) -> Check:
    """Look for files that earlier releases stored under the ids of two PATHs."""
    copies = stored_twice(store)
    if not copies:
        return Check("copies", "good", "no file is stored twice")
    path, ids = next(iter(copies.items()))
    return Check(
        "copies",
        "note",
        f"{count_of(len(copies), 'file')} stored twice, first {visible(path)} as "
        f"{' and '.join(ids)}; `{_repair_command(store.url)}` merges them, --dry-run lists them",
    )


def _check_index(maintenance: Repairable, url: str) -> Check:
    """Look for documents, texts and index entries without each other, as after a DELETE in SQL."""
    problems = maintenance.unmatched_rows()
    if not problems:
        return Check("index", "good", "every document has its text and its words")
    return Check("index", "bad", f"{', '.join(problems)}; `{_repair_command(url)}` repairs them")


def _check_journal(store: FullStore) -> Check:
    try:
        failures = stored_failures(journal_path(store.address))
    except StoreDamaged as error:
        return Check(
            "journal",
            "bad",
            f"{error.path} cannot be used ({error.reason}); "
            f"`{_repair_command(store.url)}` repairs it",
        )
    if failures is None:
        return Check("journal", "good", "a job is running")
    return Check("journal", "good", f"{count_of(len(failures), 'failure')} recorded")


def _check_changes(maintenance: Shareable, recipe: Recipe, url: str) -> Check:
    """Compare the keys of documents that were changed lately with the keys of their texts."""
    pairs = list(fresh_rows(maintenance.changed_rows(), recipe))
    documents = count_of(len(pairs), "document")
    wrong = [stored.id for stored, fresh in pairs if fresh is not stored]
    if not pairs:
        return Check("changes", "good", "none of the last documents was changed after it came")
    if not wrong:
        return Check("changes", "good", f"{documents} changed lately, with the keys of their texts")
    return Check(
        "changes",
        "bad",
        f"{len(wrong)} of {documents} changed lately with keys or a group of an older text, first "
        f"{wrong[0]}; `nearfold group --store {url}` fingerprints them again",
    )


def _check_principals(maintenance: Shareable, url: str) -> Check:
    """Look for groups whose principal another program deleted, or sent again with another text."""
    headless = maintenance.headless_families()
    if not headless:
        return Check("groups", "good", "every group has its principal")
    return Check(
        "groups",
        "bad",
        f"{count_of(len(headless), 'group')} whose principal is gone or has another text now, "
        f"first {visible(headless[0])}: clients that look at principals alone do not see them; "
        f"`nearfold group --store {url}` chooses others",
    )


def _check_keys(store: FullStore, recipe: Recipe) -> Check:
    """Compare the stored keys of a sample of rows with keys computed from their texts."""
    fingerprinted = (
        row
        for row in stored_rows(store)
        if row.recipe and row.status != "unsigned" and not recipe.has_other_statistics(row.recipe)
    )
    pairs = list(fresh_rows(islice(fingerprinted, SAMPLE), recipe))
    wrong = [stored.id for stored, fresh in pairs if fresh is not stored]
    if wrong:
        return Check(
            "keys",
            "bad",
            f"{len(wrong)} of {count_of(len(pairs), 'row')} with keys that are not of their text, "
            f"first {wrong[0]}; `{_repair_command(store.url)}` repairs all",
        )
    return Check("keys", "good", f"equal to recomputed keys in {count_of(len(pairs), 'row')}")
