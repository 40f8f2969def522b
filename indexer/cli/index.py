"""`nearfold index`: extract, fingerprint and store documents."""

from __future__ import annotations

from typing import Any

import click
from rich.text import Text

from indexer.cli import progress
from indexer.cli.console import console, print_json
from indexer.cli.exit_codes import EXIT_FAILED
from indexer.cli.interrupts import drain_on_interrupt
from indexer.cli.options import ShareType, json_option, open_for_command, store_option
from indexer.extraction.base import DEFAULT_LIMITS, Limits
from indexer.indexing.index import DEFAULT_OPTIONS, Account, IndexOptions, index
from indexer.indexing.open_sources import target
from indexer.sketch.fingerprint import kernel_name
from indexer.sources.base import Reading
from indexer.stores.address import StoreAddress, is_store_url, parse_address
from indexer.system.keyed_recipes import recipe_asked
from indexer.text.visible import visible
from indexer.text.wording import count_of

_READ = Reading()
_READING = (
    "text_field",
    "title_field",
    "id_field",
    "label_field",
    "own_ids",
    "containers",
    "query",
    "delimiter",
)
LISTED_FAILURES = 20


@click.command("index")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--recipe",
    "recipe_name",
    help="Settings of the fingerprint; an index keeps the recipe it was made with.",
)
@click.option(
    "--workers", type=click.IntRange(1), help="Extraction processes (default: one a processor)."
)
@click.option("--namespace", help="What ids are relative to (default: the real path of PATH).")
@click.option(
    "--label", "labels", multiple=True, help="Label every document; may be given several times."
)
@click.option(
    "--extractor",
    type=click.Choice(["native", "server", "plain"]),
    default="native",
    show_default=True,
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1),
    default=DEFAULT_LIMITS.seconds,
    show_default=True,
    help="Seconds a document.",
)
@click.option(
    "--memory",
    type=click.IntRange(64),
    default=DEFAULT_LIMITS.megabytes,
    show_default=True,
    help="MB a worker.",
)
@click.option(
    "--max-chars",
    type=click.IntRange(1),
    default=DEFAULT_LIMITS.chars,
    show_default=True,
    help="Text beyond it is cut.",
)
@click.option("--prune", is_flag=True, help="Remove documents that are gone from PATH.")
@click.option("--retry", is_flag=True, help="Read documents again that failed before.")
@click.option(
    "--text-field",
    default=_READ.text_field,
    show_default=True,
    help="Field of a record that holds its text.",
)
@click.option(
    "--title-field",
    default=_READ.title_field,
    show_default=True,
    help="Field that holds its title.",
)
@click.option("--id-field", help="Field that tells records apart (default: their number).")
@click.option("--label-field", help="Field whose values become labels.")
@click.option(
    "--delimiter",
    metavar="CHAR|tab",
    help="What stands between fields of CSV (default: as its first row shows).",
)
@click.option(
    "--own-ids",
    is_flag=True,
    help="Keep the records' own ids; they must be unique in the whole index.",
)
@click.option(
    "--containers",
    type=click.Choice(["given", "all", "none"]),
    default=_READ.containers,
    show_default=True,
    help="Archives, mailboxes and tables to open: those given as PATH, those in folders too, or none.",
)
@click.option(
    "--family-threshold",
    type=ShareType(0, 1),
    default=DEFAULT_OPTIONS.family_threshold,
    show_default=True,
    help="Similarity at which a document joins a family on arrival.",
)
@click.option(
    "--no-families", is_flag=True, help="Look up no families on arrival; `group` makes them all."
)
@click.option(
    "--parts",
    type=click.Choice(["clauses"]),
    help="Keep the clauses of each document as rows beside it; for good.",
)
@click.option("--query", help="Which documents of a project in Hansken (HQL).")
@store_option
@json_option
def index_command(
    paths: tuple[str, ...],
    recipe_name: str | None,
    store_url: str,
    as_json: bool,
    workers: int | None,
    timeout: float,
    memory: int,
    max_chars: int,
    family_threshold: float,
    no_families: bool,
    **options: Any,
) -> int:
    """Extract, fingerprint and store documents; skip what has not changed; resume what was cut
    short.
    """
    options["family_threshold"] = None if no_families else family_threshold
    limits = Limits(seconds=timeout, megabytes=memory, chars=max_chars)
    if options["delimiter"] == "tab":
        options["delimiter"] = "\t"
    reading = Reading(**{name: options.pop(name) for name in _READING})
    recipe = recipe_asked(recipe_name) if recipe_name else None
    with (
        open_for_command(store_url) as store,
        progress.show_documents(as_json) as advance,
        drain_on_interrupt() as drain,
    ):
        written = target(paths, store, reading)
        fresh = written.stored_recipe() is None
        account = index(
            paths,
            written,
            IndexOptions(recipe, limits=limits, reading=reading, **options),
            workers=workers,
            progress=advance,
            stopping=drain,
        )
    if apart := [path for path in paths if _could_be_signed_there(path, store.address)]:
        click.echo(
            f"read into {store_url}; to sign the documents of {apart[0]} where they are: --store {apart[0]}",
            err=True,
        )
    if fresh:
        click.echo(
            f"new index at {store_url}; fingerprints by the {kernel_name()} kernel", err=True
        )
    _print_account(account, as_json)
    if drain.code:
        click.echo("stopped before the end; run the same command again to go on", err=True)
    return drain.code or (EXIT_FAILED if account.failed else 0)


def _could_be_signed_there(path: str, written: StoreAddress) -> bool:
    """Return whether a PATH is an index in a search engine other than the one written to."""
    if not is_store_url(path):
        return False
    address = parse_address(path)
    return not address.is_sqlite and not address.is_same_store(written)


def _print_account(done: Account, as_json: bool) -> None:
    """What became of every file."""
    if as_json:
        failures = [{"path": one.path, "error": one.error} for one in done.failed]
        print_json(
            {
                "seen": done.seen,
                "indexed": done.indexed,
                "unchanged": done.unchanged,
                "skipped": done.skipped,
                "failed": failures,
                "removed": done.removed,
                "seconds": round(done.seconds, 3),
            }
        )
        return
    out = console()
    skipped = "".join(
        f", {number:,} {reason.replace('_', ' ')}" for reason, number in done.skipped.items()
    )
    out.print(
        f"{count_of(done.seen, 'document')}: {done.indexed:,} indexed, {done.unchanged:,} unchanged{skipped}, "
        f"{len(done.failed):,} failed{f'; {done.removed:,} removed' if done.removed else ''}  ({done.seconds:.1f} s)"
    )
    for one in done.failed[:LISTED_FAILURES]:
        out.print(Text(f"  failed  {visible(one.path)}: {visible(one.error)}"))
    if len(done.failed) > LISTED_FAILURES:
        out.print(
            f"  ... and {len(done.failed) - LISTED_FAILURES:,} more; --json or `nearfold status --failures` lists all"
        )
