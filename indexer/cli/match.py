"""`nearfold match`: list all near-duplicate pairs of a store."""

from __future__ import annotations

import dataclasses
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any, Literal, TextIO

import click
from rich.console import Console
from rich.text import Text

from indexer.cli import progress
from indexer.cli.console import json_line
from indexer.cli.copietje_lines import DEFAULT_THRESHOLD, print_database_lines
from indexer.cli.fingerprint_pairs import print_fingerprint_pairs
from indexer.cli.options import (
    cap_option,
    criteria_options,
    drop_defaults,
    explain_option,
    json_option,
    leave_out_option,
    measure_option,
    memory_option,
    of_option,
    open_for_command,
    opened_out,
    out_file_option,
    recall_option,
    refuse_options,
    seed_option,
    store_option,
    take_criteria,
    threshold_option,
    unset_options,
)
from indexer.cli.pair_lines import Form, PairLines
from indexer.cli.parameter_types import ShareType
from indexer.errors import UsageError
from indexer.exports import parquet_pairs as parquet
from indexer.exports.manifest import run_manifest, write_manifest
from indexer.matching.explain_pairs import explain_pairs
from indexer.matching.limits import NO_CAP
from indexer.matching.match import MatchOptions, match
from indexer.matching.match_result import MatchResult
from indexer.matching.without_passages import without_passages
from indexer.recipe import Recipe
from indexer.similarity.approved_passages import ApprovedPassages
from indexer.similarity.omissions import left_out_json
from indexer.stores.requirements import require_recipe, scope_view
from indexer.system.whole_file import check_place
from indexer.text.wording import count_of

_COUNTS = ("documents", "pairs", "candidates", "copies_left_out")
_COPIETJE: dict[str, Any] = {
    "threshold": DEFAULT_THRESHOLD,
    "measure": "estimate",
    "cap": NO_CAP,
}


@click.command("match")
@threshold_option
@recall_option
@click.option(
    "--against",
    metavar="LABEL",
    help="Only pairs of a document without this label and one that carries it.",
)
@click.option(
    "--new", is_flag=True, help="Only pairs with a document that came after the last group."
)
@click.option(
    "--exact",
    is_flag=True,
    help="Measure each pair on its texts, as --complete and --contained do.",
)
@click.option(
    "--complete",
    "all_pairs",
    is_flag=True,
    help="Find every pair by jaccard or lcs, without chance; reads all texts.",
)
@click.option(
    "--contained",
    is_flag=True,
    help="Find excerpts, quoting replies and documents inside longer ones; reads all texts.",
)
@click.option(
    "--audit",
    type=click.IntRange(20),
    metavar="N",
    help="Verify N pairs to estimate the recall.",
)
@seed_option("Seed of the random sample of --audit.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "csv", "jsonl", "parquet", "copietje"]),
    default="text",
    show_default=True,
    help="Format of the pairs; copietje: what that program prints, by its defaults, which are "
    "--threshold 0.5 --measure estimate and no cap.",
)
@out_file_option("Write to this file instead of stdout.")
@click.option(
    "--false-negative-weight",
    type=ShareType(0, 1),
    default=0.75,
    show_default=True,
    help="With --format copietje: weight of missed pairs by which bands are planned.",
)
@click.option("--ids", is_flag=True, help="Name documents by id instead of path.")
@explain_option
@click.option(
    "--fingerprints",
    type=click.File(encoding="utf-8-sig"),
    metavar="FILE",
    help="Pairs of this file, one fingerprint of 64 bits a line, instead of a store: within 3 "
    "bits, as simhash-doc, or with --threshold 0.9 within 6, as simhash-doc-loose.",
)
@click.option(
    "--tables",
    type=click.IntRange(1),
    metavar="N",
    help="With --fingerprints: most tables of bit blocks (default: 16 for 3 bits, 28 for 6).",
)
@click.option(
    "--minhashes",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Lines of this database of copietje, from its own MinHashes, instead of a store.",
)
@of_option
@cap_option
@memory_option
@measure_option
@criteria_options
@leave_out_option
@store_option
@json_option
def match_command(
    store_url: str,
    as_json: bool,
    form: Form,
    out: Path | None,
    ids: bool,
    explain: bool,
    fingerprints: TextIO | None,
    tables: int | None,
    minhashes: Path | None,
    audit: int | None,
    memory: int,
    leave_out: ApprovedPassages,
    **options: Any,
) -> int:
    """List all near-duplicate pairs of the store.

    Each is written once, as soon as it is verified. --json is --format jsonl, with the summary as
    JSON on stderr too. Parquet and copietje's lines are written at the end.
    """
    if fingerprints is not None:
        return print_fingerprint_pairs(
            fingerprints, options["threshold"], options["cap"], tables, out, form, as_json
        )
    if minhashes is not None:
        weight = options["false_negative_weight"]
        return print_database_lines(minhashes, options["threshold"], weight, out, form, as_json)
    settings = _settings(form, as_json, audit, options)
    _check_form(form, explain, out)
    form = "jsonl" if as_json else form
    with open_for_command(store_url) as store, opened_out(out) as file:
        lines = PairLines(form, ids or settings.of == "parts", file)
        if explain:
            recipe = require_recipe(store)
            view, _ = without_passages(scope_view(store, settings.of), leave_out, recipe)
            lines.explain = partial(explain_pairs, view)
        with progress.show_stages(as_json, lines.count) as advance:
            result = match(
                store,
                settings,
                memory=memory,
                progress=advance,
                on_pairs=lines.write,
                on_estimate=lambda sentence: _print_note(sentence, as_json),
                leave_out=leave_out,
            )
        lines.finish(result)
        recipe = require_recipe(store)
    _write_account(result, settings.for_recipe(recipe), recipe, out, as_json)
    return 0


def _settings(
    form: Form, as_json: bool, audit: int | None, options: dict[str, Any]
) -> MatchOptions:
    """Return the options of `match`; raise `UsageError` for some that exclude each other."""
    is_other_form = as_json and form != "jsonl"
    refusals = (
        (True, ["tables"], "without --fingerprints"),
        (options["all_pairs"], ["recall", "cap"], "with --complete"),
        (options["contained"], ["recall", "measure"], "with --contained"),
        (audit is None, ["seed"], "without --audit"),
        (is_other_form, ["form"], "with --json"),
        (form == "copietje", ["recall"], "with --format copietje"),
        (form != "copietje", ["false_negative_weight"], "without --format copietje"),
    )
    for applies, names, beside in refusals:
        if applies:
            refuse_options(names, beside)
    reads_texts = options["all_pairs"] or options["contained"]
    if form == "copietje" and not reads_texts:
        options |= {name: _COPIETJE[name] for name in unset_options(_COPIETJE)}
    else:
        options["false_negative_weight"] = None
        drop_defaults(options, "threshold", "measure")
    return MatchOptions(audit=audit or 0, criteria=take_criteria(options), **options)


def _check_form(form: Form, explain: bool, out: Path | None) -> None:
    """Raise the error of a format that cannot be written, or not with reasons."""
    if explain and form in ("parquet", "copietje"):
        raise UsageError(f"{form} has no place for reasons; leave --explain out")
    if form == "parquet":
        if out is None:
            raise UsageError("parquet is no text; give --out FILE")
        parquet.check_library()
    if out is not None:
        check_place(out)


def _notes() -> Console:
    return Console(stderr=True, highlight=False, soft_wrap=True)


def _print_note(sentence: str, as_json: bool) -> None:
    """Print a sentence on stderr while the command runs."""
    if as_json:
        sys.stderr.write(json_line({"note": sentence}))
    else:
        _notes().print(Text(sentence))


def _write_account(
    result: MatchResult, settings: MatchOptions, recipe: Recipe, out: Path | None, as_json: bool
) -> None:
    """Write the manifest beside the file of pairs, and the summary to stderr."""
    summary = _summary(result)
    counts = {name: summary[name] for name in _COUNTS} | left_out_json(result.omissions)
    manifest = run_manifest("match", recipe, settings, counts, result.plan)
    if out is not None:
        write_manifest(out, manifest)
    if as_json:
        sys.stderr.write(json.dumps({**summary, "manifest": manifest}) + "\n")
    else:
        _print_notes(result, settings.of)


def _print_notes(result: MatchResult, of: Literal["documents", "parts"]) -> None:
    """Print on stderr how many pairs there are, and what limits the answer."""
    notes = _notes()
    notes.print(f"{count_of(len(result), 'pair')} in {count_of(result.documents, of[:-1])}")
    for note in result.notes():
        notes.print(Text(note))


def _summary(result: MatchResult) -> dict[str, object]:
    return {
        "documents": result.documents,
        "pairs": len(result),
        "threshold": result.threshold,
        "candidates": result.candidates,
        "copies_left_out": result.copies_left_out,
        "capped": dataclasses.asdict(result.capped),
        "audit": result.audit and dataclasses.asdict(result.audit),
        "notes": list(result.notes()),
        **left_out_json(result.omissions),
    }
