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
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias

import click

from indexer.cli import progress
from indexer.cli.manifest import check_output, run_manifest, write_manifest
from indexer.cli.options import (
    FractionType,
    cap_option,
    criteria_options,
    drop_defaults,
    explain_option,
    json_option,
    leave_out_option,
    limit_option,
    measure_option,
    memory_option,
    of_option,
    open_for_command,
    opened_out,
    out_file_option,
    recall_option,
    refuse_all_but,
    refuse_options,
    replace_option,
    seed_option,
    store_option,
    take_criteria,
    threshold_option,
    unset_options,
)
from indexer.cli.output import effective_limit, json_line, note, short_path
from indexer.defaults import NO_CAP
from indexer.errors import UsageError
from indexer.wording import count_of, join_names, unmistakable, visible

if TYPE_CHECKING:
    from rich.console import Console

    from indexer.comparing.reasons import Reasons
    from indexer.grouping.copietje_database import LabelledMatches
    from indexer.grouping.fingerprint_lists import FingerprintPair
    from indexer.grouping.match import MatchOptions, MatchResult, Pair
    from indexer.recipe import Recipe
    from indexer.system.approved_passages import ApprovedPassages


# Lines as copietje prints them, of the pairs of a store and of a database of its own.

DEFAULT_THRESHOLD = 0.5
_SHARED = ["threshold", "form", "out", "replace", "store_url", "memory", "as_json"]
_OPTIONS = frozenset(["minhashes", "false_negative_weight", *_SHARED])


def copietje_line(name: str, matches: Iterable[tuple[float, str]]) -> str:
    """Return the line of one document, given its matches, at least one, by similarity and name.

    >>> copietje_line("a", [(0.5, "b"), (0.9996, "c"), (0.9996, "d")])
    'a  # max 1.000 matches d, c, b\\n'
    """
    ranked = sorted(matches, reverse=True)
    others = join_names(other for _, other in ranked)
    return f"{unmistakable(name)}  # max {ranked[0][0]:.3f} matches {others}\n"


def print_database_lines(
    path: Path,
    threshold: float,
    weight: float,
    out: Path | None,
    replace: bool,
    form: str,
    as_json: bool,
) -> int:
    """Print the lines of a database of copietje, or a JSON line for each pair; return 0.

    `form`: text and copietje are its lines, jsonl the pairs; `UsageError` for others.
    """
    from indexer.grouping.copietje_database import match_database

    refuse_all_but(_OPTIONS, "with --minhashes")
    if form not in ("text", "copietje", "jsonl"):
        raise UsageError(
            f"pairs of a copietje database cannot be written as {form}; use its own lines, or "
            "--format jsonl"
        )
    minimum = DEFAULT_THRESHOLD if unset_options(["threshold"]) else threshold
    is_json = as_json or form == "jsonl"
    documents = pairs = 0
    with opened_out(out, replace=replace) as file:
        for match in match_database(path, minimum, weight):
            file.write(_json_pairs(match) if is_json else copietje_line(match.uid, match.matches))
            documents, pairs = documents + 1, pairs + len(match.matches)
    if as_json:
        sys.stderr.write(json_line({"documents": documents, "pairs": pairs, "threshold": minimum}))
    return 0


def _json_pairs(document: LabelledMatches) -> str:
    """Return a line for each match of a document, with the fields of other pairs."""
    ranked = sorted(document.matches, reverse=True)
    return "".join(
        json_line({"a": document.uid, "b": other, "similarity": fraction, "measure": "estimate"})
        for fraction, other in ranked
    )


# Pairs of a file of fingerprints, for `nearfold match --fingerprints`.

_FINGERPRINT_PAIRS_OPTIONS = frozenset(
    [
        "fingerprints",
        "tables",
        "threshold",
        "cap",
        "out",
        "replace",
        "memory",
        "store_url",
        "form",
        "as_json",
    ]
)
_FORMS = "its pairs are written as text, or with --format jsonl"


def print_fingerprint_pairs(
    file: TextIO,
    threshold: float,
    cap: int,
    tables: int | None,
    out: Path | None,
    replace: bool,
    form: str,
    as_json: bool,
) -> int:
    """Print the pairs of a file of fingerprints, and how they were found; return 0.

    `form`: text or jsonl; `UsageError` for others, and for a file that is not UTF-8.
    """
    from rich.console import Console

    from indexer.fingerprinting.keys import DISTANCE, allowed_distance, design_for
    from indexer.grouping.fingerprint_lists import BITS, match_fingerprints, read_fingerprints

    refuse_all_but(_FINGERPRINT_PAIRS_OPTIONS, "with --fingerprints")
    if form not in ("text", "jsonl"):
        raise UsageError(f"a list of fingerprints has no rows of a store for {form}; {_FORMS}")
    try:
        fingerprints = read_fingerprints(file)
    except UnicodeDecodeError as error:
        raise UsageError(f"{file.name} is not UTF-8 ({error.reason}); save it as such") from error
    minimum = 1 - DISTANCE / BITS if unset_options(["threshold"]) else threshold
    distance = allowed_distance(minimum)
    design = design_for(BITS, distance, tables)
    count = 0
    with opened_out(out, replace=replace) as target:
        for pair in match_fingerprints(fingerprints, distance, cap, tables):
            target.write(_text_pair(pair) if form == "text" and not as_json else _json_pair(pair))
            count += 1
    if as_json:
        counts = {"fingerprints": len(fingerprints.names), "pairs": count, "distance": distance}
        tables_used = {"tables": design.tables, "key_bits": design.key_bits}
        sys.stderr.write(json_line({**counts, "threshold": minimum, **tables_used}))
        return 0
    notes = Console(stderr=True, highlight=False, soft_wrap=True)
    notes.print(f"{count_of(count, 'pair')} in {count_of(len(fingerprints.names), 'fingerprint')}")
    notes.print(
        f"every pair within {count_of(distance, 'bit')}: {count_of(design.tables, 'table')} of "
        f"{design.key_bits} bits, {design.expected_candidates(1_000_000):,.3g} candidates of each "
        "among a million random ones"
    )
    return 0


def _text_pair(pair: FingerprintPair) -> str:
    return f"{pair.similarity:.3f}\t{visible(pair.a)}\t{visible(pair.b)}\n"


def _json_pair(pair: FingerprintPair) -> str:
    """Return a line with the fields of other pairs, and the number of different bits."""
    from indexer.comparing.band_plan import HAMMING

    measured = {"similarity": pair.similarity, "measure": HAMMING, "distance": pair.distance}
    return json_line({"a": pair.a, "b": pair.b, **measured})


# The lines of pairs that `nearfold match` writes, in each of its formats.

Line: TypeAlias = "tuple[str, str, Pair, Reasons | None]"  # paths, and what is written of a pair
Form: TypeAlias = Literal["text", "csv", "jsonl", "parquet", "copietje"]
_COLUMNS = ("similarity", "measure", "low", "high", "as_read")


class PairLines:
    """Writes the pairs of a store in one format, in parts.

    `explain` returns the reasons of pairs of ids; None to write pairs without.
    """

    explain: Callable[[Sequence[tuple[str, str]]], Iterable[Reasons | None]] | None = None

    def __init__(self, form: Form, ids: bool, file: TextIO) -> None:
        self._form = form
        self._ids = ids
        self._file = file
        self._is_begun = False

    def write(self, part: MatchResult) -> None:
        """Write some pairs, except in the formats of `finish`."""
        names = self._names(part) if self._form == "text" else part.paths
        positions = part.left, part.right
        a, b = (map(names.__getitem__, ends) for ends in positions)
        lines = zip(a, b, part, self._reasons(part), strict=True)
        if self._form == "csv":
            containment = [] if part.within is None else ["a_in_b", "b_in_a"]
            others = ["left_out"] if part.omissions else []
            others += ["reasons"] if self.explain else []
            if not self._is_begun:
                header = ["a", "b", "a_path", "b_path", *_COLUMNS, *containment, *others]
                csv.writer(self._file).writerow(header)
            _write_csv(lines, self._file)
        elif self._form == "jsonl":
            _write_json(lines, self._file)
        elif self._form == "text":
            _write_text(lines, self._file)
        self._is_begun = True

    def finish(self, result: MatchResult) -> None:
        """Write a format that has its own order of pairs."""
        from indexer.review.exports import writers

        if self._form == "copietje":
            _write_copietje(result, self._names(result), self._file)
        elif self._form == "parquet":
            writers.write_pairs(result, Path(self._file.name))

    def _reasons(self, part: MatchResult) -> Iterable[Reasons | None]:
        if self.explain is None:
            return repeat(None, len(part))
        return self.explain([(pair.a, pair.b) for pair in part])

    def _names(self, result: MatchResult) -> Sequence[str]:
        return result.ids if self._ids else result.names


def _write_text(lines: Iterable[Line], file: TextIO) -> None:
    """Write a line for each pair: the similarity and both documents, with tabs between them.

    A similarity that was estimated from the slots, not measured on the texts, begins with ~, and
    only copies have 1.000. What is to be said of the pair comes last.
    """
    for a, b, pair, reasons in lines:
        mark = "~" if pair.measure == "estimate" else ""
        columns = [
            f"{mark}{_decimals(pair.similarity, pair.is_copy)}",
            short_path(a),
            short_path(b),
        ]
        columns += filter(None, ["; ".join(_remarks(pair, reasons))])
        file.write("\t".join(columns) + "\n")


def _remarks(pair: Pair, reasons: Reasons | None) -> Iterator[str]:
    """Yield sentences: whether texts were cut, and the reasons."""
    from indexer.comparing.reasons import format_reasons

    if pair.as_read and not (reasons and reasons.same):
        is_same = pair.is_copy and pair.similarity == 1
        yield "the same as far as read" if is_same else "as far as read"
    if pair.left_out and pair.left_out.passages:
        yield str(pair.left_out)
    if reasons:
        yield from map(visible, format_reasons(reasons))
    elif pair.similarity == 1 and not pair.is_copy:
        yield "no copy; --explain says what differs"


def _write_copietje(result: MatchResult, names: Sequence[str], file: TextIO) -> None:
    """Write copietje's `duplicates.txt`: each document with its matches, most similar first, ties
    by descending name.
    """
    for position, matches in result.by_document():
        file.write(
            copietje_line(names[position], [(value, names[other]) for other, value in matches])
        )


def _write_csv(lines: Iterable[Line], file: TextIO) -> None:
    from indexer.comparing.reasons import format_reasons

    writer = csv.writer(file)  # CR LF: only then is a lone CR in a path quoted
    for a, b, pair, reasons in lines:
        values = [getattr(pair, name) for name in _COLUMNS[:-1]]
        values += ["true" if pair.as_read else "false", *(pair.containment or ())]
        if pair.left_out:
            values.append(pair.left_out.words)
        if reasons:
            values.append("; ".join(format_reasons(reasons)))
        writer.writerow([pair.a, pair.b, a, b, *values])


def _write_json(lines: Iterable[Line], file: TextIO) -> None:
    for a, b, pair, reasons in lines:
        fields: dict[str, object] = {"a": pair.a, "b": pair.b, "a_path": a, "b_path": b}
        fields |= {name: getattr(pair, name) for name in _COLUMNS}
        if pair.containment is not None:
            fields["containment"] = pair.containment
        if pair.left_out is not None:
            passages, words = len(pair.left_out.passages), pair.left_out.words
            fields["left_out"] = {"passages": passages, "words": words}
        if reasons:
            fields |= dataclasses.asdict(reasons)
        file.write(json_line(fields))


def _decimals(similarity: float, is_copy: bool) -> str:
    """Return three decimals; texts that differ are never shown as equal.

    >>> _decimals(1.0, True), _decimals(1.0, False), _decimals(0.9998, False)
    ('1.000', '0.999', '0.999')
    """
    return f"{similarity if similarity == 1 and is_copy else min(similarity, 0.999):.3f}"


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
    help="Only pairs of one document with this label and one without it.",
)
@click.option(
    "--new", is_flag=True, help="Only pairs with a document that arrived after the last `group`."
)
@click.option(
    "--exact",
    is_flag=True,
    help="Compute each similarity from the texts, as --complete and --contained do.",
)
@click.option(
    "--complete",
    "all_pairs",
    is_flag=True,
    help="Find every pair by jaccard or lcs, not only those with a common band; reads all texts.",
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
    help="Format of the pairs; copietje: the output of that program, with its defaults: "
    "--threshold 0.5 --measure estimate and no cap.",
)
@out_file_option("Write to this file instead of stdout.")
@replace_option
@click.option(
    "--false-negative-weight",
    type=FractionType(0, 1),
    default=0.75,
    show_default=True,
    help="With --format copietje: weight of missed pairs when bands are planned.",
)
@click.option(
    "--ids",
    is_flag=True,
    help="In text and copietje output: identify documents by id instead of path. Other formats "
    "have both.",
)
@limit_option
@explain_option
@click.option(
    "--fingerprints",
    type=click.File(encoding="utf-8-sig"),
    metavar="FILE",
    help="Find pairs in this file, one 64-bit fingerprint per line, instead of a store: within 3 "
    "bits, as simhash-doc does, or with --threshold 0.9 within 6, as simhash-doc-loose does.",
)
@click.option(
    "--tables",
    type=click.IntRange(1),
    metavar="N",
    help="With --fingerprints: maximum number of tables of bit blocks (default: 16 for 3 bits, 28 "
    "for 6).",
)
@click.option(
    "--minhashes",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Find pairs in this copietje database, by its own MinHashes, instead of a store.",
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
    replace: bool,
    ids: bool,
    limit: int | None,
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

    Pairs are sorted by similarity; with lcs, by lcs - 0.02 ln(1 + new words). --json is --format
    jsonl, with the summary as JSON on stderr. Parquet is sorted by id, copietje by document.
    """
    from indexer.grouping.checked_rows import without_passages
    from indexer.grouping.families import explain_pairs
    from indexer.grouping.match import match
    from indexer.stores.requirements import require_recipe, scope_view

    if fingerprints is not None:
        return print_fingerprint_pairs(
            fingerprints, options["threshold"], options["cap"], tables, out, replace, form, as_json
        )
    if minhashes is not None:
        weight = options["false_negative_weight"]
        return print_database_lines(
            minhashes, options["threshold"], weight, out, replace, form, as_json
        )
    settings = _settings(form, as_json, audit, options)
    _check_form(form, explain, out, replace)
    form = "jsonl" if as_json else form
    with open_for_command(store_url) as store, opened_out(out, replace=replace) as file:
        lines = PairLines(form, ids or settings.of == "parts", file)
        if explain:
            recipe = require_recipe(store)
            view, _ = without_passages(scope_view(store, settings.of), leave_out, recipe)
            lines.explain = partial(explain_pairs, view)
        found = PairCount()
        with progress.show_stages(as_json, found.describe) as advance:
            result = match(
                store,
                settings,
                memory=memory,
                progress=advance,
                on_pairs=found.add,
                on_estimate=lambda sentence: note(sentence, as_json),
                leave_out=leave_out,
            )
        limit = effective_limit(limit, as_json or out is not None)
        for part in result.best_first(limit):
            lines.write(part)
        lines.finish(result)
        recipe = require_recipe(store)
    if limit is not None and len(result) > limit:
        note(f"... and {len(result) - limit:,} more; --limit N lists more", as_json)
    _write_account(result, settings.for_recipe(recipe), recipe, out, as_json)
    return 0


class PairCount:
    """The number of pairs that were found so far."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, part: MatchResult) -> None:
        """Count more pairs."""
        self._count += len(part)

    def describe(self) -> str:
        """Return the number in words."""
        return count_of(self._count, "pair")


def _settings(
    form: Form, as_json: bool, audit: int | None, options: dict[str, Any]
) -> MatchOptions:
    """Return the options of `match`; raise `UsageError` for some that exclude each other."""
    from indexer.grouping.match import MatchOptions

    is_other_form = as_json and form != "jsonl"
    refusals = (
        (True, ["tables"], "without --fingerprints"),
        (options["all_pairs"], ["recall", "cap"], "with --complete"),
        (options["contained"], ["recall", "measure"], "with --contained"),
        (audit is None, ["seed"], "without --audit"),
        (is_other_form, ["form"], "with --json"),
        (form == "copietje", ["recall"], "with --format copietje"),
        (form != "copietje", ["false_negative_weight"], "without --format copietje"),
        (form in ("copietje", "parquet"), ["limit"], f"with --format {form}"),
    )
    for applies, names, clause in refusals:
        if applies:
            refuse_options(names, clause)
    reads_texts = options["all_pairs"] or options["contained"]
    if form == "copietje" and not reads_texts:
        options |= {name: _COPIETJE[name] for name in unset_options(_COPIETJE)}
    else:
        options["false_negative_weight"] = None
        drop_defaults(options, "threshold", "measure")
    return MatchOptions(audit=audit or 0, criteria=take_criteria(options), **options)


def _check_form(form: Form, explain: bool, out: Path | None, replace: bool) -> None:
    """Raise the error of a format or file that cannot be written, or not with reasons."""
    from indexer.review.exports import writers

    if explain and form in ("parquet", "copietje"):
        raise UsageError(f"{form} cannot hold reasons; leave --explain out")
    if form == "parquet":
        if out is None:
            raise UsageError("parquet cannot be printed; give --out FILE")
        writers.check_pyarrow()
    if out is not None:
        check_output(out, replace=replace)


def _notes() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def _write_account(
    result: MatchResult, settings: MatchOptions, recipe: Recipe, out: Path | None, as_json: bool
) -> None:
    """Write the manifest next to the file of pairs, and the summary to stderr."""
    from indexer.system.approved_passages import left_out_json

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
    """Print on stderr how many pairs there are, and what limits the result."""
    from rich.text import Text

    notes = _notes()
    notes.print(f"{count_of(len(result), 'pair')} in {count_of(result.documents, of[:-1])}")
    for sentence in result.notes():
        notes.print(Text(sentence))


def _summary(result: MatchResult) -> dict[str, object]:
    from indexer.system.approved_passages import left_out_json

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
