"""What evaluate prints: agreement of assessors, one block a recipe and threshold, errors with the
command that shows them.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from indexer.cli.console import console, print_json
from indexer.lab.evaluation.assessor_agreement import Agreement, MeasuredAgreement
from indexer.lab.evaluation.evaluation_results import (
    Evaluation,
    Interval,
    Mistake,
    Result,
    Share,
    TypeAssignment,
    TypeScores,
)
from indexer.lab.evaluation.gold import TYPES
from indexer.lab.evaluation.gold_documents import GoldDocument
from indexer.lab.evaluation.type_decider import NO_TYPE, NOT_FOUND
from indexer.statistics.kappa import Kappa
from indexer.statistics.precision_recall import RULES
from indexer.text.visible import visible
from indexer.text.wording import count_of

LISTED = 10
_WIDE = 1000  # characters, more than any table has
_TOLD = (*TYPES[:3], NO_TYPE, NOT_FOUND)


def evaluated(made: Evaluation, store_url: str, as_json: bool) -> None:
    """The whole evaluation; errors are abridged unless as JSON."""
    if as_json:
        print_json(_json(made, store_url))
        return
    out = console()
    types = ", ".join(f"{number:,} {name}" for name, number in sorted(made.types.items()))
    unlisted = (
        "pairs that are not listed are different"
        if made.closed
        else "nothing is known of other pairs"
    )
    out.print(f"{count_of(made.documents, 'document')}; pairs: {types}; {unlisted}")
    if made.assessors:
        _agreement(made.assessors, out)
        _disagreements(made, out)
    for result in made.results:
        _result(result, made, store_url, out)


def _agreement(told: Agreement, out: Console) -> None:
    names = ", ".join(map(visible, told.assessors))
    out.print(
        Text(
            f"\nagreement of {names} on {count_of(told.pairs, 'pair')}; {told.left_out:,} not judged by all"
        )
    )
    table = _table("", "kappa", "variance", "z", "p", "mean of groups", "Cohen")
    measured = {"duplicate or not": told.duplicate, "type": told.types}
    for name, one in measured.items():
        table.add_row(name, *_kappa_cells(one))
    _print(table, out)
    out.print("p is one-sided, for agreement beyond chance")
    for name, one in measured.items():
        if one.by_group.undefined:
            out.print(
                f"{name}: in {count_of(one.by_group.undefined, 'group')} all say the same: no kappa, and not in the mean"
            )


def _kappa_cells(one: MeasuredAgreement) -> list[str]:
    pooled = one.pooled
    return [
        _number(pooled.kappa),
        _number(pooled.variance, 5),
        _number(pooled.z),
        _small(pooled.p),
        _number(one.by_group.mean),
        _number(_of(one.cohen)),
    ]


def _of(kappa: Kappa | None) -> float | None:
    return None if kappa is None else kappa.kappa


def _disagreements(made: Evaluation, out: Console) -> None:
    unsettled = sum(one.type is None for one in made.disagreements)
    differing = count_of(len(made.disagreements), "disagreement")
    out.print(
        f"{differing}, {unsettled:,} not settled and left out; {made.alone:,} judged by one alone"
    )
    for one in made.disagreements[:LISTED]:
        said = ", ".join(f"{visible(name)}: {type}" for name, type in one.said.items())
        out.print(
            Text(f"  {visible(one.a)} and {visible(one.b)}: {said}; settled: {one.type or 'not'}")
        )
    _more(len(made.disagreements), out)


def _result(made: Result, whole: Evaluation, store_url: str, out: Console) -> None:
    out.print(Text(f"\n{made.recipe} at {made.threshold:g} by {made.measure}", style="bold"))
    table = _table("", "value", "of", "Wilson", "Mitchell", "bootstrap")
    for name, one in (
        ("precision of pairs", made.pairs.precision),
        ("recall of pairs", made.pairs.recall),
        ("precision of sets", made.sets.precision),
        ("recall of sets", made.sets.recall),
    ):
        table.add_row(name, *_share_cells(one))
    table.add_row(
        "F1 of pairs", percent(made.pairs.f1), "", "", "", _interval(made.pairs.f1_bootstrap)
    )
    table.add_row("F1 of sets", percent(made.sets.f1), "", "", "", "")
    _print(table, out)
    _by("by type", made.by_type, out, sets=True)
    _by("by kind", made.by_kind, out, sets=False)
    _told(made.types_told, out)
    out.print(
        f"{RULES[whole.rule]} (--capture {whole.rule}); intervals are of 95 %; the bootstrap draws {whole.drawn}"
    )
    out.print(
        f"kappa with the truth {_number(made.agreement.kappa)} over {count_of(made.judged, 'judged pair')}; "
        f"{made.unjudged:,} found of which the truth is not known"
    )
    _mistakes("found, and no duplicate", made.false_positives, store_url, out)
    _mistakes("missed", made.misses, store_url, out)


def _by(title: str, rows: Sequence[TypeScores], out: Console, sets: bool) -> None:
    if not rows:
        return
    table = _table(
        title, "recall", "of", "Wilson", "precision", "F1", *(["sets captured"] if sets else [])
    )
    for one in rows:
        recall = one.scores.recall
        cells = [
            percent(recall.value),
            f"{recall.part:,}/{recall.whole:,}",
            _interval(recall.wilson),
        ]
        cells += [percent(one.scores.precision.value), percent(one.scores.f1)]
        table.add_row(
            Text(visible(one.name)), *cells, *([f"{one.captured:,}/{one.sets:,}"] if sets else [])
        )
    _print(table, out)


def _told(made: Sequence[TypeAssignment], out: Console) -> None:
    """The types of the truth, a row each, by the types that pairs were told as."""
    if not made:
        return
    names = [name for name in _TOLD if any(one.told == name for one in made)]
    table = _table("pairs told as", *names)
    counts = {(one.type, one.told): one.pairs for one in made}
    for type in (name for name in TYPES if any(one.type == name for one in made)):
        table.add_row(type, *(f"{counts.get((type, name), 0):,}" for name in names))
    _print(table, out)


def _mistakes(title: str, mistakes: Sequence[Mistake], store_url: str, out: Console) -> None:
    if mistakes:
        out.print(f"{title}: {len(mistakes):,}")
    for one in mistakes[:LISTED]:
        kind = f" ({visible(one.kind)})" if one.kind else ""
        out.print(
            Text(
                f"  {one.similarity:.3f}  {one.type}{kind}, {visible(one.why)}  {visible(command(one, store_url))}"
            )
        )
    _more(len(mistakes), out)


def _more(number: int, out: Console) -> None:
    if number > LISTED:
        out.print(f"  ... and {number - LISTED:,} more; --json or --report lists all")


def command(mistake: Mistake, store_url: str) -> str:
    """The command that shows both texts side by side."""
    store = f" --store {shlex.quote(store_url)}" if mistake.a.stored or mistake.b.stored else ""
    return (
        f"nearfold compare {shlex.quote(_name(mistake.a))} {shlex.quote(_name(mistake.b))}{store}"
    )


def _name(document: GoldDocument) -> str:
    return document.key if document.stored else document.path


def _table(*names: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for place, name in enumerate(names):
        table.add_column(name, justify="right" if place else "left", no_wrap=True)
    return table


def _print(table: Table, out: Console) -> None:
    """As wide as its figures are: an interval that is cut short would be another one."""
    table.width = Measurement.get(out, out.options.update(max_width=_WIDE), table).maximum
    out.print(table)


def _share_cells(one: Share) -> list[str]:
    whole = f"{one.part:,}/{one.whole:,}"
    return [
        percent(one.value),
        whole,
        _interval(one.wilson),
        _interval(one.mitchell),
        _interval(one.bootstrap),
    ]


def percent(share: float | None) -> str:
    """A share with one decimal; a dash of nothing."""
    return "–" if share is None else f"{share:.1%}"


def _interval(ends: Interval | None) -> str:
    return "–" if ends is None else f"{100 * ends[0]:.1f} to {100 * ends[1]:.1f}"


def _number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _small(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"


def _json(made: Evaluation, store_url: str) -> dict[str, Any]:
    told = {**dataclasses.asdict(dataclasses.replace(made, results=())), "types": dict(made.types)}
    if made.assessors:
        for name in ("duplicate", "types"):
            told["assessors"][name] = _measured(getattr(made.assessors, name))
    return {**told, "results": [_result_json(one, store_url) for one in made.results]}


def _measured(one: MeasuredAgreement) -> dict[str, Any]:
    return {
        "pooled": _kappa(one.pooled),
        "corrected": _kappa(one.corrected),
        "by_group": dataclasses.asdict(one.by_group),
        "cohen": one.cohen and _kappa(one.cohen),
    }


def _kappa(one: Kappa) -> dict[str, Any]:
    return {**dataclasses.asdict(one), "z": one.z, "p": one.p}


def _result_json(made: Result, store_url: str) -> dict[str, Any]:
    told = dataclasses.asdict(dataclasses.replace(made, false_positives=(), misses=()))
    told["agreement"] = _kappa(made.agreement)
    for name in ("false_positives", "misses"):
        told[name] = [_mistake_json(one, store_url) for one in getattr(made, name)]
    return told


def _mistake_json(one: Mistake, store_url: str) -> dict[str, Any]:
    told = {name: getattr(one, name) for name in ("type", "kind", "group", "similarity", "why")}
    return {"a": _name(one.a), "b": _name(one.b), **told, "compare": command(one, store_url)}
