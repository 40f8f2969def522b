"""`nearfold index`: extract, fingerprint and store documents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from indexer.cli import progress
from indexer.cli.exit_codes import EXIT_FAILED, EXIT_STORE
from indexer.cli.options import (
    ByteCount,
    FractionType,
    delimiter_option,
    encoding_option,
    index_recipe_option,
    json_option,
    left_out_option,
    open_for_command,
    statistics_option,
    store_option,
    text_field_option,
)
from indexer.cli.output import console, guessed_text, note, print_json, short_path
from indexer.defaults import (
    EXTRACTION_MEGABYTES,
    EXTRACTION_SECONDS,
    FILE_BYTES,
    FOLD,
    TEXT_CHARS,
    TITLE_FIELD,
)
from indexer.errors import UsageError
from indexer.wording import count_of, visible

if TYPE_CHECKING:
    from indexer.jobs.index import Account, IndexOptions
    from indexer.recipe import Recipe
    from indexer.stores.address import StoreAddress


# Interrupts of a long job: the first one ends it in order, the second one at once.

_READING = (
    "text_field",
    "title_field",
    "id_field",
    "label_field",
    "own_ids",
    "containers",
    "query",
    "delimiter",
    "encoding",
    "text_files",
    "attachments",
)
LISTED_FAILURES = 20


@click.command("index")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@index_recipe_option
@statistics_option
@left_out_option
@click.option(
    "--workers",
    type=click.IntRange(1),
    help="Number of extraction processes (default: one per processor).",
)
@click.option(
    "--namespace", help="Prefix of the ids of documents (default: the real path of PATH)."
)
@click.option(
    "--label", "labels", multiple=True, help="Label every document; may be given several times."
)
@click.option(
    "--extractor",
    type=click.Choice(["native", "server", "plain"]),
    default="native",
    show_default=True,
    help="Built-in Tika, a Tika server (NEARFOLD_TIKA), or plain text only.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1),
    default=EXTRACTION_SECONDS,
    show_default=True,
    help="Maximum seconds for one document.",
)
@click.option(
    "--memory",
    type=click.IntRange(64),
    default=EXTRACTION_MEGABYTES,
    show_default=True,
    help="Maximum memory of a worker in MB.",
)
@click.option(
    "--max-chars",
    type=click.IntRange(1),
    default=TEXT_CHARS,
    show_default=True,
    help="Maximum characters of a text; longer texts are cut.",
)
@click.option(
    "--max-bytes",
    type=ByteCount(),
    default=FILE_BYTES,
    show_default=True,
    help="Maximum bytes of a file; a larger one fails.",
)
@click.option(
    "--include",
    multiple=True,
    metavar="PATTERN",
    help="Read only documents whose names match: '*.pdf', 'drafts/*'; may be given several times.",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    help="Do not read documents whose names match; may be given several times.",
)
@click.option(
    "--prune",
    is_flag=True,
    help="Remove documents that are gone from PATH; their labels and notes move to a document with "
    "the same bytes.",
)
@click.option(
    "--force",
    is_flag=True,
    help="With --prune: also remove documents whose labels and notes would be lost.",
)
@click.option("--retry", is_flag=True, help="Retry documents that failed before.")
@click.option(
    "--refresh",
    is_flag=True,
    help="Also read unchanged documents whose text was extracted by an older version.",
)
@text_field_option
@click.option(
    "--title-field",
    default=TITLE_FIELD,
    show_default=True,
    help="Field that holds its title.",
)
@click.option("--id-field", help="Field that identifies records (default: their number).")
@click.option("--label-field", help="Field whose values become labels.")
@delimiter_option
@encoding_option
@click.option(
    "--text-files",
    type=click.Path(exists=True, file_okay=False),
    help="Folder that the paths of text files in records are relative to (default for load files: "
    "the folder of the load file).",
)
@click.option(
    "--attachments/--no-attachments",
    default=None,
    help="Store attachments as documents of their own, or as part of the text of their mail "
    "(default: as in the store; in a new store, as documents).",
)
@click.option(
    "--custodian",
    metavar="NAME",
    default="",
    help="Custodian of every document under PATH, kept as metadata.",
)
@click.option(
    "--own-ids",
    is_flag=True,
    help="Use the ids of the records; they must be unique in the whole index.",
)
@click.option(
    "--containers",
    type=click.Choice(["given", "all", "none"]),
    default="given",
    show_default=True,
    help="Archives, mailboxes and tables to open: those given as PATH, also those in folders "
    "(all), or none.",
)
@click.option(
    "--family-threshold",
    type=FractionType(0, 1),
    help="Minimum similarity at which an arriving document joins a near-duplicate group, by the "
    f"measure and criteria of the last `group` (default: that of the last `group`, or {FOLD}).",
)
@click.option(
    "--no-families",
    is_flag=True,
    help="Do not assign arriving documents to near-duplicate groups; wait for `group`.",
)
@click.option(
    "--parts",
    type=click.Choice(["clauses"]),
    help="Also store the clauses of each document as rows of their own; applies to the store from "
    "then on.",
)
@click.option("--query", help="Query that selects documents of a Hansken project (HQL).")
@store_option
@json_option
def index_command(
    paths: tuple[str, ...],
    store_url: str,
    as_json: bool,
    workers: int | None,
    **options: Any,
) -> int:
    """Extract, fingerprint and store documents.

    Unchanged documents are skipped. Run the same command again to resume after an interruption.
    """
    from indexer.fingerprinting.fingerprint import kernel_name
    from indexer.jobs.index import count_outdated, index, target

    if options["force"] and not options["prune"]:
        raise UsageError("--force is for --prune only; leave it out")
    settings = _options(options)
    with (
        open_for_command(store_url) as store,
        progress.show_documents(as_json, partial(_count_files, paths)) as advance,
        progress.drain_on_interrupt(as_json) as drain,
    ):
        destination = target(paths, store, settings.reading)
        before = destination.stored_recipe()
        account = index(
            paths, destination, settings, workers=workers, progress=advance, stopping=drain
        )
        recipe = destination.stored_recipe()
        outdated = count_outdated(destination, settings.extractor) if account.unchanged else 0
    if outdated:
        documents = count_of(outdated, "document")
        command = f"`nearfold index PATH --refresh --store {store_url}`"
        advice = f"{command} reads again what is at PATH"
        note(f"{documents} read by another version of the extractor; {advice}", as_json)
    for path in paths:
        if _could_be_fingerprinted_there(path, store.address):
            advice = f"to fingerprint the documents of {path} where they are: --store {path}"
            note(f"read into {store_url}; {advice}", as_json)
            break
    if recipe and not before:
        kernel = _fingerprinted_with(recipe) or f"fingerprints by the {kernel_name()} kernel"
        begun = "new index at" if destination is store else "documents fingerprinted in place in"
        note(f"{begun} {store_url}; {kernel}", as_json)
    elif recipe and before and recipe.statistics_number > before.statistics_number:
        advice = (
            f"`nearfold reindex --recipe {recipe.name} --store {store_url}` fingerprints the "
            "earlier documents by them, too"
        )
        note(f"new documents are {_fingerprinted_with(recipe)}; {advice}", as_json)
    _print_account(account, store_url, as_json)
    if excluded := _all_excluded(account, settings):
        note(excluded, as_json)
    if drain.code:
        note("stopped before the end; run the same command again to go on", as_json)
    if account.refused:
        note(_refusal(account.refused), as_json)
        return EXIT_STORE
    return drain.code or (EXIT_FAILED if account.failed else 0)


def _refusal(paths: Sequence[str]) -> str:
    """Return the sentence about labelled documents for which `--prune` removes nothing."""
    listed = ", ".join(short_path(path) for path in paths[:3])
    more = f" and {len(paths) - 3:,} more" if len(paths) > 3 else ""
    return (
        f"nothing was removed: {listed}{more} would lose labels, notes or decisions, and no "
        "document has the same bytes; index the folder to which they were moved first, or add "
        "--force to remove them too"
    )


def _all_excluded(account: Account, options: IndexOptions) -> str:
    """Return a sentence where patterns left out every document; empty where they did not."""
    excluded = account.skipped.get("excluded", 0)
    is_all = sum(account.skipped.values()) == account.seen
    if not (excluded and is_all and (options.include or options.exclude)):
        return ""
    patterns = [f"--include {pattern}" for pattern in options.include]
    patterns += [f"--exclude {pattern}" for pattern in options.exclude]
    return f"{count_of(excluded, 'document')} left out, which is all, by {' '.join(patterns)}"


def _count_files(paths: Sequence[str]) -> int:
    """Return the number of files under paths; 0, which is unknown, with a URL among them."""
    from indexer.documents.sources import walk

    return 0 if any("://" in path for path in paths) else sum(1 for _ in walk(paths))


def _options(values: dict[str, Any]) -> IndexOptions:
    """Return the options of `index` from the options of the command line."""
    from indexer.documents.base import Limits, ReadOptions
    from indexer.jobs.index import IndexOptions
    from indexer.system.recipe_inputs import recipe_asked

    read_options = ReadOptions(**{name: values.pop(name) for name in _READING})
    limits = Limits(
        seconds=values.pop("timeout"),
        megabytes=values.pop("memory"),
        chars=values.pop("max_chars"),
        bytes=values.pop("max_bytes"),
    )
    name = values.pop("recipe_name")
    recipe = recipe_asked(name) if name else None
    if values["family_threshold"] is None:
        values["family_threshold"] = "group"
    if values.pop("no_families"):
        values["family_threshold"] = None
    return IndexOptions(recipe, limits=limits, reading=read_options, **values)


def _fingerprinted_with(recipe: Recipe | None) -> str:
    """Return the corpus statistics of a recipe in words; empty for one without."""
    if recipe is None or recipe.corpus is None:
        return ""
    statistics = recipe.corpus()
    name = recipe.statistics_number or statistics.id
    return f"fingerprinted with statistics {name}, of {count_of(statistics.documents, 'document')}"


def _could_be_fingerprinted_there(path: str, destination: StoreAddress) -> bool:
    """Return whether a PATH is an index in a search engine other than the one written to."""
    from indexer.stores.address import is_store_url, parse_address

    if not is_store_url(path):
        return False
    address = parse_address(path)
    return not address.is_sqlite and not address.is_same_store(destination)


def _print_account(account: Account, store_url: str, as_json: bool) -> None:
    """Print the outcomes of all documents, and each failure with its reason."""
    from rich.text import Text

    if as_json:
        print_json(_account_json(account))
        return
    out = console()
    statuses = [f"{n:,} {name.replace('_', ' ')}" for name, n in account.statuses.items()]
    indexed = f" ({', '.join(statuses)})" if statuses else ""
    outcomes = [f"{account.indexed:,} indexed{indexed}", f"{account.unchanged:,} unchanged"]
    for reason, number in account.skipped.items():
        outcomes.append(_skipped(reason, number))
    outcomes.append(f"{len(account.failed):,} failed")
    removed = f"; {account.removed:,} removed" if account.removed else ""
    if account.moved:
        removed += f", labels and notes of {account.moved:,} carried over"
    documents = count_of(account.seen, "document")
    out.print(f"{documents}: {', '.join(outcomes)}{removed}  ({account.seconds:.1f} s)")
    if account.guessed_encodings:
        out.print(f"  {guessed_text(account.guessed_encodings)}")
    for failure in account.failed[:LISTED_FAILURES]:
        out.print(Text(f"  failed  {short_path(failure.path)}: {visible(failure.error)}"))
    if len(account.failed) > LISTED_FAILURES:
        rest = len(account.failed) - LISTED_FAILURES
        command = f"`nearfold status --failures --store {store_url}`"
        out.print(f"  ... and {rest:,} more; --json or {command} lists all")


def _skipped(reason: str, number: int) -> str:
    """Return a number of skipped blobs, such as `2 symbolic links` or `2 excluded`."""
    words = reason.replace("_", " ")
    return count_of(number, words) if "_" in reason else f"{number:,} {words}"


def _account_json(account: Account) -> dict[str, Any]:
    failures = [{"path": failure.path, "error": failure.error} for failure in account.failed]
    return {
        "seen": account.seen,
        "indexed": account.indexed,
        "statuses": account.statuses,
        "guessed_encodings": account.guessed_encodings,
        "unchanged": account.unchanged,
        "skipped": account.skipped,
        "failed": failures,
        "removed": account.removed,
        "moved": account.moved,
        "refused": account.refused,
        "seconds": round(account.seconds, 3),
    }
