"""`nearfold evaluate`: measure recipes by a gold set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.cli import progress
from indexer.cli.options import (
    FractionType,
    json_option,
    measure_option_with,
    open_for_command,
    out_file_option,
    replace_option,
    seed_option,
    store_option,
    synonyms_option,
)
from indexer.cli.output import console, print_json
from indexer.defaults import CAPTURE_RULES, REVIEW
from indexer.wording import count_of, percent, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from indexer.lab.evaluation.judgements import Agreement, MeasuredAgreement
    from indexer.lab.evaluation.scores import (
        Evaluation,
        Interval,
        Mistake,
        Proportion,
        Result,
        TypeAssignment,
        TypeScores,
    )


# Tables and numbers of an evaluation, as cells for a terminal; a dash for what is undefined.

_WIDE = 1000  # characters, more than any table has


def cell_table(*titles: str) -> Table:
    """Return a table with names on the left and numbers on the right."""
    from rich.table import Table

    columns = Table(box=None, padding=(0, 2, 0, 0))
    for index, title in enumerate(titles):
        columns.add_column(title, justify="right" if index else "left", no_wrap=True)
    return columns


def print_table(columns: Table, out: Console) -> None:
    """Print a table as wide as its numbers are: a cut interval would read as another one."""
    from rich.measure import Measurement

    columns.width = Measurement.get(out, out.options.update(max_width=_WIDE), columns).maximum
    out.print(columns)


def kappa_cells(agreement: MeasuredAgreement) -> list[str]:
    """Return kappa over all pairs, its variance, z and p, the mean of groups, and Cohen's kappa."""
    pooled = agreement.pooled
    cohen = agreement.cohen
    return [
        number(pooled.kappa),
        number(pooled.variance, 5),
        number(pooled.z),
        "–" if pooled.p is None else f"{pooled.p:.2g}",
        number(agreement.by_group.mean),
        number(None if cohen is None else cohen.kappa),
    ]


def fraction_cells(measured: Proportion) -> list[str]:
    """Return a ratio, the counts it was made of, and its three intervals."""
    return [
        percentage(measured.value),
        f"{measured.part:,}/{measured.whole:,}",
        interval(measured.wilson),
        interval(measured.mitchell),
        interval(measured.bootstrap),
    ]


def percentage(value: float | None) -> str:
    """Return a ratio in per cent, with one decimal."""
    return "–" if value is None else percent(value, 1)


def interval(ends: Interval | None) -> str:
    """Return the ends of an interval in per cent, with one decimal."""
    return "–" if ends is None else f"{100 * ends[0]:.1f} to {100 * ends[1]:.1f}"


def number(value: float | None, digits: int = 3) -> str:
    """Return a number with so many decimals."""
    return "–" if value is None else f"{value:.{digits}f}"


LISTED = 10  # pairs and mistakes of a kind that are printed
_UNLISTED = {"auto": None, "different": True, "unknown": False}


@click.command("evaluate")
@click.argument("gold", nargs=-1, required=True, metavar="GOLD|SHEET...")
@click.option(
    "--recipe",
    "recipes",
    multiple=True,
    metavar="R",
    help="Recipe to measure; may be given several times (default: the store's own).",
)
@click.option(
    "--threshold",
    "thresholds",
    type=FractionType(0, 1),
    multiple=True,
    default=[REVIEW],
    show_default=True,
    help="Minimum similarity; may be given several times.",
)
@measure_option_with("Measure that scores the pairs (default: the recipe's).")
@click.option(
    "--capture",
    "rule",
    type=click.Choice(CAPTURE_RULES),
    default="connected",
    show_default=True,
    help="Rule for counting a set of GOLD as found.",
)
@click.option(
    "--unlisted",
    type=click.Choice(list(_UNLISTED)),
    default="auto",
    show_default=True,
    help="Meaning of pairs that GOLD does not list; auto: different, unless GOLD lists different "
    "pairs itself.",
)
@click.option(
    "--types",
    is_flag=True,
    help="Also measure the detection of duplicate types, by the type of each pair found.",
)
@click.option(
    "--baselines",
    is_flag=True,
    help="Also measure two published baselines: lexical signatures (Park et al. 2002) and sums of "
    "hashes (Cooper et al. 2002).",
)
@synonyms_option("With --types: a file of synonyms.")
@out_file_option("Also write an HTML report.", "--report")
@replace_option
@click.option(
    "--tables",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write the results by query, by size of set and by set, as csv files.",
)
@seed_option("Seed of the bootstrap.")
@store_option
@json_option
def evaluate_command(
    gold: tuple[str, ...],
    recipes: tuple[str, ...],
    unlisted: str,
    report: Path | None,
    replace: bool,
    tables: Path | None,
    store_url: str,
    as_json: bool,
    **options: Any,
) -> int:
    """Measure precision, recall and F1 on labelled pairs.

    GOLD is CSV or JSON Lines with the fields a, b (ids or paths) and type, or set and document. For
    sheets of several assessors, their agreement is measured too.
    """
    from indexer.lab.evaluation.evaluate import EvaluateOptions, evaluate
    from indexer.lab.evaluation.report import TABLES, evaluation_page, write_tables
    from indexer.system.files import check_output_path, folder_at, write_whole
    from indexer.system.recipe_inputs import recipe_asked

    chosen = [recipe_asked(name) for name in recipes]
    if report:
        check_output_path(report, "--report", replace=replace)
    if tables and tables.is_dir():
        for name in TABLES:
            check_output_path(tables / name, "--tables", replace=replace)
    settings = EvaluateOptions(recipes=chosen, closed=_UNLISTED[unlisted], **options)
    with open_for_command(store_url) as store, progress.show_stages(as_json) as advance:
        evaluation = evaluate(gold, store, settings, progress=advance)
    if report:
        with write_whole(report, "--report") as part:
            part.write_text(evaluation_page(evaluation), encoding="utf-8")
    if tables:
        write_tables(evaluation, folder_at(tables))
    _print_evaluation(evaluation, store_url, as_json)
    return 0


def _print_evaluation(evaluation: Evaluation, store_url: str, as_json: bool) -> None:
    """Print agreement of assessors, then each recipe and threshold; errors are abridged."""
    from indexer.lab.evaluation.report import evaluation_json

    if as_json:
        print_json(evaluation_json(evaluation, store_url))
        return
    out = console()
    counts = sorted(evaluation.types.items())
    types = ", ".join(f"{number:,} {name}" for name, number in counts)
    unlisted = "nothing is known of other pairs"
    if evaluation.closed:
        unlisted = "pairs that are not listed are different"
    out.print(f"{count_of(evaluation.documents, 'document')}; pairs: {types}; {unlisted}")
    if evaluation.assessors:
        _print_agreement(evaluation.assessors, out)
        _print_disagreements(evaluation, out)
    for result in evaluation.results:
        _print_result(result, evaluation, store_url, out)


def _print_agreement(agreement: Agreement, out: Console) -> None:
    from rich.text import Text

    names = ", ".join(map(visible, agreement.assessors))
    pairs = count_of(agreement.pairs, "pair")
    title = f"agreement of {names} on {pairs}; {agreement.left_out:,} not judged by all"
    out.print(Text(f"\n{title}"))
    table = cell_table("", "kappa", "variance", "z", "p", "mean of groups", "Cohen")
    rows = {"duplicate or not": agreement.duplicate, "type": agreement.types}
    for name, measured in rows.items():
        table.add_row(name, *kappa_cells(measured))
    print_table(table, out)
    out.print("p is one-sided, for agreement beyond chance")
    for name, measured in rows.items():
        if undefined := measured.by_group.undefined:
            groups = count_of(undefined, "group")
            out.print(f"{name}: in {groups} all say the same: no kappa, and not in the mean")


def _print_disagreements(evaluation: Evaluation, out: Console) -> None:
    from rich.text import Text

    pairs = evaluation.disagreements
    unsettled = sum(pair.type is None for pair in pairs)
    number = count_of(len(pairs), "disagreement")
    out.print(
        f"{number}, {unsettled:,} not settled and left out; "
        f"{evaluation.alone:,} judged by one assessor only"
    )
    for pair in pairs[:LISTED]:
        judgements = ", ".join(f"{visible(name)}: {type}" for name, type in pair.judgements.items())
        settled = pair.type or "not"
        line = f"  {visible(pair.a)} and {visible(pair.b)}: {judgements}; settled: {settled}"
        out.print(Text(line))
        for name, note in pair.notes.items():
            out.print(Text(f"    {visible(name)} notes: {visible(note)}"))
    _print_rest(len(pairs), out)


def _print_result(result: Result, evaluation: Evaluation, store_url: str, out: Console) -> None:
    from rich.text import Text

    from indexer.lab.evaluation.precision_recall import RULES

    title = f"{result.recipe} at {result.threshold:g} by {result.measure}"
    out.print(Text(f"\n{title}", style="bold"))
    _print_scores(result, out)
    _print_by("by type", result.by_type, out, sets=True)
    _print_by("by kind", result.by_kind, out, sets=False)
    _print_types(result.assigned_types, out)
    out.print(
        f"{RULES[evaluation.rule]} (--capture {evaluation.rule}); intervals are of 95 %; "
        f"the bootstrap resamples {evaluation.resampled}"
    )
    kappa = number(result.agreement.kappa)
    judged = count_of(result.judged, "judged pair")
    out.print(
        f"kappa with the truth {kappa} over {judged}; "
        f"{result.unjudged:,} found of which the truth is not known"
    )
    _print_mistakes("found, and no duplicate", result.false_positives, store_url, out)
    _print_mistakes("missed", result.misses, store_url, out)


def _print_scores(result: Result, out: Console) -> None:
    table = cell_table("", "value", "of", "Wilson", "Mitchell", "bootstrap")
    fractions = {
        "precision of pairs": result.pairs.precision,
        "recall of pairs": result.pairs.recall,
        "precision of sets": result.sets.precision,
        "recall of sets": result.sets.recall,
    }
    for name, fraction in fractions.items():
        table.add_row(name, *fraction_cells(fraction))
    bootstrap = interval(result.pairs.f1_bootstrap)
    table.add_row("F1 of pairs", percentage(result.pairs.f1), "", "", "", bootstrap)
    table.add_row("F1 of sets", percentage(result.sets.f1), "", "", "", "")
    print_table(table, out)


def _print_by(title: str, rows: Sequence[TypeScores], out: Console, sets: bool) -> None:
    from rich.text import Text

    if not rows:
        return
    titles = [title, "recall", "of", "Wilson", "precision", "F1"]
    table = cell_table(*titles, *(["sets captured"] if sets else []))
    for row in rows:
        recall = row.scores.recall
        values = [
            percentage(recall.value),
            f"{recall.part:,}/{recall.whole:,}",
            interval(recall.wilson),
            percentage(row.scores.precision.value),
            percentage(row.scores.f1),
        ]
        if sets:
            values.append(f"{row.captured:,}/{row.sets:,}")
        table.add_row(Text(visible(row.name)), *values)
    print_table(table, out)


def _print_types(assignments: Sequence[TypeAssignment], out: Console) -> None:
    """Print the types of the truth, a row each, by the types that were assigned to their pairs."""
    from indexer.lab.evaluation.decider import NO_TYPE, NOT_FOUND
    from indexer.lab.evaluation.judgements import TYPES

    if not assignments:
        return
    assigned = {assignment.assigned for assignment in assignments}
    true = {assignment.type for assignment in assignments}
    names = [name for name in (*TYPES[:3], NO_TYPE, NOT_FOUND) if name in assigned]
    table = cell_table("pairs assigned", *names)
    counts = {
        (assignment.type, assignment.assigned): assignment.pairs for assignment in assignments
    }
    for type in TYPES:
        if type in true:
            table.add_row(type, *(f"{counts.get((type, name), 0):,}" for name in names))
    print_table(table, out)


def _print_mistakes(title: str, mistakes: Sequence[Mistake], store_url: str, out: Console) -> None:
    from rich.text import Text

    from indexer.lab.evaluation.report import compare_command

    if mistakes:
        out.print(f"{title}: {len(mistakes):,}")
    for mistake in mistakes[:LISTED]:
        kind = f" ({visible(mistake.kind)})" if mistake.kind else ""
        reason = f"{mistake.type}{kind}, {visible(mistake.why)}"
        command = visible(compare_command(mistake, store_url))
        out.print(Text(f"  {mistake.similarity:.3f}  {reason}  {command}"))
    _print_rest(len(mistakes), out)


def _print_rest(number: int, out: Console) -> None:
    if number > LISTED:
        out.print(f"  ... and {number - LISTED:,} more; --json or --report lists all")
