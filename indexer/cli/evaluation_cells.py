"""Tables and figures of an evaluation, as cells for a terminal; a dash for what is undefined."""

from __future__ import annotations

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from indexer.lab.evaluation.evaluation_results import Interval, Share
from indexer.lab.evaluation.judgements import MeasuredAgreement
from indexer.text.wording import percent

_WIDE = 1000  # characters, more than any table has


def table(*titles: str) -> Table:
    """Return a table with names on the left and figures on the right."""
    columns = Table(box=None, padding=(0, 2, 0, 0))
    for place, title in enumerate(titles):
        columns.add_column(title, justify="right" if place else "left", no_wrap=True)
    return columns


def print_table(columns: Table, out: Console) -> None:
    """Print a table as wide as its figures are: a cut interval would read as another one."""
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


def share_cells(measured: Share) -> list[str]:
    """Return a share, the counts it was made of, and its three intervals."""
    return [
        share(measured.value),
        f"{measured.part:,}/{measured.whole:,}",
        interval(measured.wilson),
        interval(measured.mitchell),
        interval(measured.bootstrap),
    ]


def share(value: float | None) -> str:
    """Return a share in per cent, with one decimal."""
    return "–" if value is None else percent(value, 1)


def interval(ends: Interval | None) -> str:
    """Return the ends of an interval in per cent, with one decimal."""
    return "–" if ends is None else f"{100 * ends[0]:.1f} to {100 * ends[1]:.1f}"


def number(value: float | None, digits: int = 3) -> str:
    """Return a number with so many decimals."""
    return "–" if value is None else f"{value:.{digits}f}"
