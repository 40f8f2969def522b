"""`nearfold match`: list all near-duplicate pairs of a store."""

from __future__ import annotations

import csv
import dataclasses
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any, Literal, TextIO, TypeAlias

import click
from rich.console import Console
from rich.text import Text

from indexer.cli import progress
from indexer.cli.console import json_line
from indexer.cli.copietje_lines import DEFAULT_THRESHOLD, copietje_line, print_database_lines
from indexer.cli.fingerprint_pairs import print_fingerprint_pairs
from indexer.cli.options import (
    ShareType,
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
from indexer.errors import UsageError
from indexer.exports import parquet_pairs as parquet
from indexer.exports.manifest import run_manifest, write_manifest
from indexer.matching.explain_pairs import explain_pairs
from indexer.matching.limits import NO_CAP
from indexer.matching.match import MatchOptions, match
from indexer.matching.match_result import MatchResult, Pair
from indexer.matching.without_passages import without_passages
from indexer.similarity.approved_passages import ApprovedPassages, left_out_json
from indexer.similarity.reasons import Reasons, spell_reasons
from indexer.stores.requirements import require_recipe, scope_view
from indexer.system.whole_file import check_place
from indexer.text.visible import visible
from indexer.text.wording import count_of

Line: TypeAlias = tuple[str, str, Pair, Reasons | None]
Form: TypeAlias = Literal["text", "csv", "jsonl", "parquet", "copietje"]
_COUNTS = ("documents", "pairs", "candidates", "copies_left_out")
_COPIETJE: dict[str, Any] = {
    "threshold": DEFAULT_THRESHOLD,
    "measure": "estimate",
    "cap": NO_CAP,
}
_COLUMNS = ("similarity", "measure", "low", "high", "as_read")


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
    type=click.File(encoding="utf-8"),
    metavar="FILE",
    help="Pairs of this file, one fingerprint of 64 bits a line, instead of a store.",
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
            fingerprints, options["threshold"], options["cap"], tables, out, as_json
        )
    if minhashes is not None:
        weight = options["false_negative_weight"]
        return print_database_lines(minhashes, options["threshold"], weight, out)
    settings = _settings(form, as_json, audit, options)
    if explain and form in ("parquet", "copietje"):
        raise UsageError(f"{form} has no place for reasons; leave --explain out")
    if form == "parquet":
        if out is None:
            raise UsageError("parquet is no text; give --out FILE")
        parquet.check_library()
    if out is not None:
        check_place(out)
    form = "jsonl" if as_json else form
    with open_for_command(store_url) as store, opened_out(out) as file:
        lines = _Lines(form, ids or settings.of == "parts", file)
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
    settings = settings.for_recipe(recipe)
    summary = _summary(result)
    counts = {name: summary[name] for name in _COUNTS} | left_out_json(result.omissions)
    manifest = run_manifest("match", recipe, settings, counts, result.plan)
    if out is not None:
        write_manifest(out, manifest)
    if as_json:
        sys.stderr.write(json.dumps({**summary, "manifest": manifest}) + "\n")
    else:
        _print_notes(result, settings.of)
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


class _Lines:
    """Writes the pairs of a store in one format, in parts.

    `explain` returns the reasons of pairs of ids; None to write pairs without.
    """

    explain: Callable[[Sequence[tuple[str, str]]], Iterable[Reasons | None]] | None = None

    def __init__(self, form: Form, ids: bool, file: TextIO) -> None:
        self._form = form
        self._ids = ids
        self._file = file
        self._count = 0
        self._is_begun = False

    def count(self) -> str:
        """Return the number of pairs so far."""
        return count_of(self._count, "pair")

    def write(self, part: MatchResult) -> None:
        """Write some pairs, except in formats that need all of them."""
        names = self._names(part)
        places = part.left, part.right
        a, b = (map(names.__getitem__, side) for side in places)
        lines = zip(a, b, part, self._reasons(part), strict=True)
        if self._form == "csv":
            sides = [] if part.within is None else ["a_in_b", "b_in_a"]
            others = ["left_out"] if part.omissions else []
            others += ["reasons"] if self.explain else []
            if not self._is_begun:
                csv.writer(self._file).writerow(["a", "b", *_COLUMNS, *sides, *others])
            _write_csv(lines, self._file)
        elif self._form == "jsonl":
            _write_json(lines, self._file)
        elif self._form == "text":
            _write_text(lines, self._file)
        self._count += len(part)
        self._is_begun = True
        self._file.flush()

    def finish(self, result: MatchResult) -> None:
        """Write what needs all pairs."""
        if self._form == "copietje":
            _write_copietje(result, self._names(result), self._file)
        elif self._form == "parquet":
            parquet.write(result, Path(self._file.name), self._names(result))

    def _reasons(self, part: MatchResult) -> Iterable[Reasons | None]:
        if self.explain is None:
            return repeat(None, len(part))
        return self.explain([(pair.a, pair.b) for pair in part])

    def _names(self, result: MatchResult) -> Sequence[str]:
        return result.ids if self._ids else result.names


def _notes() -> Console:
    return Console(stderr=True, highlight=False, soft_wrap=True)


def _print_note(sentence: str, as_json: bool) -> None:
    """Print a sentence on stderr while the command runs."""
    if as_json:
        sys.stderr.write(json_line({"note": sentence}))
    else:
        _notes().print(Text(sentence))


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


def _write_text(lines: Iterable[Line], file: TextIO) -> None:
    """Write a line for each pair: the similarity and both documents, with tabs between them.

    A similarity that was estimated from the slots, not measured on the texts, begins with ~. What
    is to be said of the pair comes last.
    """
    for a, b, pair, reasons in lines:
        mark = "~" if pair.measure == "estimate" else ""
        columns = [f"{mark}{_decimals(pair.similarity)}", visible(a), visible(b)]
        columns += filter(None, ["; ".join(_remarks(pair, reasons))])
        file.write("\t".join(columns) + "\n")


def _remarks(pair: Pair, reasons: Reasons | None) -> Iterator[str]:
    """Yield sentences: whether texts were cut, and the reasons."""
    if pair.as_read and not (reasons and reasons.same):
        yield "the same as far as read" if pair.similarity == 1 else "as far as read"
    if pair.left_out and pair.left_out.passages:
        yield str(pair.left_out)
    if reasons:
        yield from map(visible, spell_reasons(reasons))


def _write_copietje(result: MatchResult, names: Sequence[str], file: TextIO) -> None:
    """Write copietje's `duplicates.txt`: each document with its matches, most similar first, ties
    by descending name.
    """
    for place, matches in result.by_document():
        file.write(copietje_line(names[place], [(value, names[other]) for other, value in matches]))


def _write_csv(lines: Iterable[Line], file: TextIO) -> None:
    writer = csv.writer(file)  # CR LF: only then is a lone CR in a path quoted
    for a, b, pair, reasons in lines:
        values = [getattr(pair, name) for name in _COLUMNS[:-1]]
        values += ["true" if pair.as_read else "false", *(pair.containment or ())]
        if pair.left_out:
            values.append(pair.left_out.words)
        if reasons:
            values.append("; ".join(spell_reasons(reasons)))
        writer.writerow([a, b, *values])


def _write_json(lines: Iterable[Line], file: TextIO) -> None:
    for a, b, pair, reasons in lines:
        fields: dict[str, object] = {"a": a, "b": b}
        fields |= {name: getattr(pair, name) for name in _COLUMNS}
        if pair.containment is not None:
            fields["containment"] = pair.containment
        if pair.left_out is not None:
            passages, words = len(pair.left_out.passages), pair.left_out.words
            fields["left_out"] = {"passages": passages, "words": words}
        if reasons:
            fields |= dataclasses.asdict(reasons)
        file.write(json_line(fields))


def _decimals(similarity: float) -> str:
    """Return three decimals; texts that differ are never shown as equal.

    >>> _decimals(1.0), _decimals(0.9998)
    ('1.000', '0.999')
    """
    return f"{similarity if similarity == 1 else min(similarity, 0.999):.3f}"
