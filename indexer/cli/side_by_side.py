"""Comparisons on a terminal: side by side where there is room, one under the other elsewhere;
legible without colour.

Nothing of a document reaches the terminal that could steer it: control characters, bidirectional
controls and characters that take no room are shown as what they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from indexer.comparing.compare import Comparison, Row, Span, rows
from indexer.similarity.measures import MEANINGS
from indexer.text.visible import visible
from indexer.text.wording import count_of, percent
from indexer.text.words import words

TWO_COLUMNS = 80
MOST_ROWS = 200
WHOLE_WORDS = 300
SHARED_ENDS, OTHER_ENDS = 12, 40
ROOM = 20  # characters that a shown word may take on average
_COLOURS = ("cyan", "green", "magenta", "yellow", "blue", "bright_red")
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def show(comparison: Comparison, console: Console, *, whole: bool = False) -> None:
    """Print a comparison: the texts with their shared passages numbered, and every measure.

    Two columns from 80 characters on, unless a text is written from right to left: a terminal would
    mix such columns. Texts of more than 300 words (or 6,000 characters) are abridged inside long
    stretches and after 200 rows, unless `whole`.
    """
    _print_names(comparison, console)
    _print_measures(comparison, console)
    made = rows(comparison)
    brief = not whole and (
        max(comparison.words) > WHOLE_WORDS or max(map(len, comparison.texts)) > WHOLE_WORDS * ROOM
    )
    shown = made if whole else made[:MOST_ROWS]
    columns = console.width >= TWO_COLUMNS and not any(map(_RIGHT_TO_LEFT.search, comparison.texts))
    console.print()
    if columns:
        _print_columns(shown, comparison, console, brief)
    else:
        _print_stacked(shown, comparison, console, brief)
    _print_legend(comparison, made, len(shown), console)


def _print_names(comparison: Comparison, console: Console) -> None:
    for letter, name, count in zip("AB", comparison.names, comparison.words, strict=True):
        console.print(
            Text.assemble(
                (f"{letter}  ", "bold"), visible(name), (f"  {count_of(count, 'word')}", "dim")
            ),
            soft_wrap=True,
        )


def _print_measures(comparison: Comparison, console: Console) -> None:
    made = comparison.measures
    rough, bounds = made.estimate, made.hamming_interval
    values = {
        name: _value(getattr(made, name))
        for name in MEANINGS
        if name not in ("estimate", "hamming")
    }
    values["estimate"] = (
        _estimated(rough.similarity, rough.low, rough.high) if rough else "no sketch"
    )
    values["hamming"] = (
        _estimated(made.hamming, *bounds) if made.hamming is not None and bounds else "no sketch"
    )
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, meaning in MEANINGS.items():
        table.add_row(name, Text(values[name], style="bold"), Text(meaning, style="dim"))
    console.print(Padding(table, (1, 0, 0, 0)))


def _value(share: float | tuple[float, float]) -> str:
    return " / ".join(percent(one, 1) for one in (share if isinstance(share, tuple) else (share,)))


def _estimated(similarity: float, low: float, high: float) -> str:
    return f"{percent(similarity, 1)} ({percent(low)} to {percent(high)})"


def _print_columns(
    shown: Sequence[Row], comparison: Comparison, console: Console, brief: bool
) -> None:
    """Both texts in their column; a sign between them where they differ: `<` only in A, `>` only in
    B, `|` not the same.
    """
    table = Table(box=None, expand=True, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("A", ratio=1, overflow="fold")
    table.add_column(width=1, style="bold")
    table.add_column("B", ratio=1, overflow="fold")
    for row in shown:
        sign = "" if row.same else "|" if row.left and row.right else "<" if row.left else ">"
        table.add_row(
            _told(row.left, comparison.texts[0], brief),
            sign,
            _told(row.right, comparison.texts[1], brief),
        )
    console.print(table)


def _print_stacked(
    shown: Sequence[Row], comparison: Comparison, console: Console, brief: bool
) -> None:
    """What is the same once, what differs one under the other."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=2, style="bold")
    table.add_column(overflow="fold")
    for row in shown:
        sides = (
            [("=", row.left, comparison.texts[0])]
            if row.same
            else zip("AB", (row.left, row.right), comparison.texts, strict=True)
        )
        for letter, spans, text in sides:
            if spans:
                table.add_row(letter, _told(spans, text, brief))
    console.print(table)


def _told(spans: Sequence[Span], text: str, brief: bool) -> Text:
    """Spans of a text for a reader: passages between their numbers in their colour."""
    told = Text()
    for span in spans:
        raw = text[span.start : span.end]
        if told:
            told.append(" ")
        if span.passage is None:
            told.append(abridged(raw, OTHER_ENDS) if brief else Text(_clean(raw)))
            continue
        colour = _COLOURS[(span.passage - 1) % len(_COLOURS)]
        moved = "~" if span.moved else ""
        body = abridged(raw, SHARED_ENDS) if brief else Text(_clean(raw))
        body.stylize_before(colour)
        told.append_text(
            Text.assemble(
                (f"[{moved}{span.passage} ", f"bold {colour}"),
                body,
                (f" {span.passage}{moved}]", f"bold {colour}"),
            )
        )
    return told


def _clean(raw: str) -> str:
    """One line a paragraph: blank lines part paragraphs, other white space is one blank; nothing
    steers the terminal.
    """
    lines = (" ".join(line.split()) for line in raw.split("\n"))
    return "\n".join(
        visible(" ".join(group)) for filled, group in groupby(lines, key=bool) if filled
    )


def abridged(raw: str, ends: int) -> Text:
    """The first and last `ends` words of a stretch that has many more, or as many characters as
    such words may take.
    """
    found = words(raw)
    first = last = len(raw) // 2
    if len(found) > 3 * ends:
        first, last = int(found.ends[ends - 1]), int(found.starts[-ends])
    first, last = min(first, ends * ROOM), max(last, len(raw) - ends * ROOM)
    if first >= last:
        return Text(_clean(raw))
    out = int(((found.starts >= first) & (found.ends <= last)).sum())
    left_out = count_of(out, "word") if out else count_of(last - first, "character")
    return Text.assemble(_clean(raw[:first]), (f" … {left_out} … ", "dim"), _clean(raw[last:]))


def _print_legend(
    comparison: Comparison, made: Sequence[Row], shown: int, console: Console
) -> None:
    aligned = comparison.measures.alignment
    spans = [span for row in made for span in (*row.left, *row.right)]
    console.print()
    if not all(comparison.words):
        console.print("a text without words shares nothing", style="dim")
    elif not comparison.shared:
        console.print("no passage of five or more words is shared", style="dim")
    elif all(row.same for row in made) and len(made) == 1:
        console.print("the same words in the same order", style="dim")
    else:
        shared = count_of(len(comparison.shared), "shared passage")
        console.print(
            f"{shared}, {count_of(aligned.common, 'word')}, numbered in the order of A", style="dim"
        )
    if any(span.moved for span in spans):
        console.print(
            "~ marks a passage that stands in another order in the other text", style="dim"
        )
    if comparison.matching == "information":
        console.print(
            f"repeats within a text left out: {aligned.longer:,} and {aligned.shorter:,} words counted",
            style="dim",
        )
    if shown < len(made):
        console.print(f"… {count_of(len(made) - shown, 'more row')}", style="dim")
