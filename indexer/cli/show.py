"""`nearfold show`: print a stored document, with its near-duplicate group if asked."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.options import json_option, open_for_command, store_option
from indexer.cli.output import console, print_json, short_path
from indexer.wording import count_of, format_labels, percent, visible, visible_lines

if TYPE_CHECKING:
    from indexer.grouping.families import GroupedDocument, ListedFamily
    from indexer.model import Row


@click.command("show")
@click.argument("document", metavar="ID|PATH")
@click.option("--near", is_flag=True, help="Also print its near-duplicate group.")
@store_option
@json_option
def show_command(document: str, near: bool, store_url: str, as_json: bool) -> int:
    """Print a stored document: its fields and its text."""
    from indexer.grouping.families import show

    with open_for_command(store_url) as store:
        found = show(store, document)
    if as_json:
        print_json(_document_json(found, near))
        return 0
    _print_fields(found.row, found.group)
    if near:
        _print_group(found)
    console().out("\n" + visible_lines(found.row.text), highlight=False)
    return 0


def _print_fields(row: Row, group: ListedFamily) -> None:
    from rich.text import Text

    from indexer.review.exports.writers import iso_time

    size = count_of(group.size, "document")
    fields = {
        "path": short_path(row.path),
        "id": visible(row.id),
        "title": visible(row.title),
        "type": visible(row.content_type),
        "modified": "" if row.modified is None else iso_time(row.modified),
        "text": f"{count_of(row.words, 'word')}, {row.status.replace('_', ' ')}",
        "labels": format_labels(row.labels) if row.labels else "",
        "group": f"{size}, principal {visible(group.principal)}" if group.size > 1 else "",
    }
    fields |= {f"metadata.{name}": visible(value) for name, value in row.metadata.items()}
    for name, value in fields.items():
        if value:
            console().print(Text.assemble((f"{name}: ", "bold"), value))


def _print_group(found: GroupedDocument) -> None:
    from rich.text import Text

    others = [member for member in found.group.members if member.id != found.row.id]
    out = console()
    out.print(f"\n{count_of(len(others), 'near duplicate')} in its group; to the principal:")
    for member in others:
        fraction = "" if member.similarity is None else percent(member.similarity)
        out.print(Text(f"  {fraction:>4}  {short_path(member.path)}  {visible(member.id)}"))


def _document_json(found: GroupedDocument, near: bool) -> dict[str, Any]:
    row = found.row
    names = ("id", "path", "title", "content_type", "modified", "size", "status", "words", "recipe")
    fields: dict[str, Any] = {name: getattr(row, name) for name in names}
    fields |= {"labels": list(row.labels), "metadata": dict(row.metadata), "text": row.text}
    fields |= {"family": row.family, "similarity": row.similarity}
    if near:
        fields["near"] = list(map(asdict, found.group.members))
    return fields
