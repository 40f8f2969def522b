"""Comparisons on a terminal: side by side on a wide one, one under the other elsewhere.

They are legible without colour. Nothing of a document reaches the terminal that could control it:
control characters, bidirectional controls and characters without width are shown by their names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import astuple
from itertools import groupby
from typing import TYPE_CHECKING

from indexer.wording import (
    count_of,
    format_sameness,
    format_words_in_order,
    percent,
    visible,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from indexer.comparing.compare import Comparison, Row, Span
    from indexer.comparing.measures import MeasuredValue


TWO_COLUMNS = 80
MAX_ROWS = 200
WHOLE_WORDS = 300
SHARED_ENDS, OTHER_ENDS = 12, 40
WORD_CHARS = 20  # characters that a word may take on average
_COLOURS = ("cyan", "green", "magenta", "yellow", "blue", "bright_red")
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def print_side_by_side(comparison: Comparison, console: Console, *, whole: bool = False) -> None:
    """Print a comparison: the texts with their shared passages numbered, and every measure.

    Two columns from 80 characters on, unless a text is written from right to left: a terminal would
    mix such columns. Texts of more than 300 words (or 6,000 characters) are abridged inside long
    stretches and after 200 rows, unless `whole`.
    """
    from indexer.comparing.compare import rows

    _print_names(comparison, console)
    _print_measures(comparison, console)
    all_rows = rows(comparison)
    is_long = max(comparison.words) > WHOLE_WORDS
    is_large = max(map(len, comparison.texts)) > WHOLE_WORDS * WORD_CHARS
    brief = not whole and (is_long or is_large)
    first_rows = all_rows if whole else all_rows[:MAX_ROWS]
    columns = console.width >= TWO_COLUMNS and not any(map(_RIGHT_TO_LEFT.search, comparison.texts))
    console.print()
    if columns:
        _print_columns(first_rows, comparison, console, brief)
    else:
        _print_stacked(first_rows, comparison, console, brief)
    _print_legend(comparison, all_rows, len(first_rows), console)


def _print_names(comparison: Comparison, console: Console) -> None:
    from rich.text import Text

    for letter, name, count in zip("AB", comparison.names, comparison.words, strict=True):
        words = (f"  {count_of(count, 'word')}", "dim")
        line = Text.assemble((f"{letter}  ", "bold"), visible(name), words)
        console.print(line, soft_wrap=True)


def _print_measures(comparison: Comparison, console: Console) -> None:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from indexer.comparing.measures import DECLARED, describe_measures
    from indexer.comparing.reasons import format_differences, format_new_words_by_text

    measures = comparison.measures
    values = {name: _format_value(measures.value(name)) for name in DECLARED}
    if measures.hamming is not None and measures.hamming_interval:
        values["hamming"] = _estimated_value(measures.hamming, *measures.hamming_interval)
    table = Table.grid(padding=(0, 2, 0, 0))
    in_order = format_words_in_order(*astuple(measures.in_order))
    for name, meaning in {**describe_measures(measures), "lcs": in_order}.items():
        table.add_row(name, Text(values[name], style="bold"), Text(meaning, style="dim"))
    console.print(Padding(table, (1, 0, 0, 0)))
    if comparison.same:
        console.print(format_sameness(comparison.same))
    if comparison.rearranged:
        console.print("rearranged: nearly all passages are shared, in another order")
    for sentence in format_differences(comparison.differences):
        console.print(Text(visible(sentence)))
    if any(comparison.words) and not comparison.same:
        for sentence in format_new_words_by_text(comparison.new_words):
            console.print(Text(visible(sentence)))


def _format_value(value: MeasuredValue) -> str:
    """Return a value in per cent: both ways, or with its interval, where it has them."""
    from indexer.model import Estimate

    if value is None:
        return "no sketch"
    if isinstance(value, Estimate):
        return _estimated_value(value.similarity, value.low, value.high)
    values = value if isinstance(value, tuple) else (value,)
    return " / ".join(percent(number, 1) for number in values)


def _estimated_value(similarity: float, low: float, high: float) -> str:
    return f"{percent(similarity, 1)} ({percent(low)} to {percent(high)})"


def _print_columns(
    lines: Sequence[Row], comparison: Comparison, console: Console, brief: bool
) -> None:
    """Print both texts, each in its column, with a sign between them where they differ.

    `<` is only in A, `>` only in B, `|` not the same.
    """
    from rich.table import Table

    table = Table(box=None, expand=True, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("A", ratio=1, overflow="fold")
    table.add_column(width=1, style="bold")
    table.add_column("B", ratio=1, overflow="fold")
    for row in lines:
        left = _marked_text(row.left, comparison.texts[0], brief)
        right = _marked_text(row.right, comparison.texts[1], brief)
        table.add_row(left, _symbol(row), right)
    console.print(table)


def _symbol(row: Row) -> str:
    if row.same:
        return ""
    if row.left and row.right:
        return "|"
    return "<" if row.left else ">"


def _print_stacked(
    lines: Sequence[Row], comparison: Comparison, console: Console, brief: bool
) -> None:
    """Print what is the same once, and what differs one under the other."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=2, style="bold")
    table.add_column(overflow="fold")
    for row in lines:
        sides = (
            [("=", row.left, comparison.texts[0])]
            if row.same
            else zip("AB", (row.left, row.right), comparison.texts, strict=True)
        )
        for letter, spans, text in sides:
            if spans:
                table.add_row(letter, _marked_text(spans, text, brief))
    console.print(table)


def _marked_text(spans: Sequence[Span], text: str, brief: bool) -> Text:
    """Return spans of a text, the shared passages in colour between their numbers."""
    from rich.text import Text

    marked = Text()
    for span in spans:
        raw = text[span.start : span.end]
        if marked:
            marked.append(" ")
        if span.passage is None:
            marked.append(abridged(raw, OTHER_ENDS) if brief else Text(_clean(raw)))
            continue
        colour = _COLOURS[(span.passage - 1) % len(_COLOURS)]
        moved = "~" if span.moved else ""
        body = abridged(raw, SHARED_ENDS) if brief else Text(_clean(raw))
        body.stylize_before(colour)
        marked.append_text(
            Text.assemble(
                (f"[{moved}{span.passage} ", f"bold {colour}"),
                body,
                (f" {span.passage}{moved}]", f"bold {colour}"),
            )
        )
    return marked


def _clean(raw: str) -> str:
    """Return one line a paragraph, without characters that control the terminal.

    Blank lines separate paragraphs; other white space becomes one blank.
    """
    lines = (" ".join(line.split()) for line in raw.split("\n"))
    groups = groupby(lines, key=bool)
    paragraphs = [" ".join(group) for is_filled, group in groups if is_filled]
    return "\n".join(map(visible, paragraphs))


def abridged(raw: str, ends: int) -> Text:
    """Return the first and last `ends` words of a stretch that has many more.

    Both are cut at the number of characters that so many words may take.
    """
    from rich.text import Text

    from indexer.comparing.words import normal_words

    tokens = normal_words(raw)
    first = last = len(raw) // 2
    if len(tokens) > 3 * ends:
        first, last = int(tokens.ends[ends - 1]), int(tokens.starts[-ends])
    first, last = min(first, ends * WORD_CHARS), max(last, len(raw) - ends * WORD_CHARS)
    if first >= last:
        return Text(_clean(raw))
    is_between = (tokens.starts >= first) & (tokens.ends <= last)
    number = int(is_between.sum())
    left_out = count_of(number, "word") if number else count_of(last - first, "character")
    return Text.assemble(_clean(raw[:first]), (f" … {left_out} … ", "dim"), _clean(raw[last:]))


def _print_legend(
    comparison: Comparison, all_rows: Sequence[Row], printed: int, console: Console
) -> None:
    alignment = comparison.measures.alignment
    moved = [span.moved for row in all_rows for span in (*row.left, *row.right)]
    console.print()
    if not all(comparison.words):
        console.print("a text without words shares nothing", style="dim")
    elif not comparison.shared:
        console.print("no passage of five or more words is shared", style="dim")
    elif len(all_rows) == 1 and all_rows[0].same:
        console.print("the same words in the same order", style="dim")
    else:
        shared = count_of(len(comparison.shared), "shared passage")
        words = count_of(alignment.common, "word")
        console.print(f"{shared}, {words}, numbered in the order of A", style="dim")
    if any(moved):
        console.print(
            "~ marks a passage that stands in another order in the other text", style="dim"
        )
    if comparison.matching == "information":
        console.print(
            "repeats within a text left out: "
            f"{alignment.longer:,} and {alignment.shorter:,} words counted",
            style="dim",
        )
    if printed < len(all_rows):
        more = count_of(len(all_rows) - printed, "more row")
        console.print(f"… {more}", style="dim")
