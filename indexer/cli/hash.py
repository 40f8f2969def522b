"""`nearfold hash`: print sketches and keys of files, store nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from indexer.cli.console import print_json
from indexer.cli.exit_codes import EXIT_FAILED
from indexer.cli.options import json_option
from indexer.indexing.hash import FileFingerprint, hash, statistics_at
from indexer.model import FailedBlob, Fingerprint
from indexer.recipe import Recipe
from indexer.sketch import simhash_doc
from indexer.system.keyed_recipes import recipe_asked
from indexer.system.whole_file import check_place, write_whole
from indexer.text.visible import visible


@click.command("hash")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...|-")
@click.option("--recipe", "recipe_name", default="default", show_default=True)
@click.option(
    "--statistics", metavar="FOLDER|STORE|FILE", help="Corpus statistics, for recipes with weights."
)
@click.option(
    "--save-statistics",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep the statistics in this file.",
)
@json_option
def hash_command(
    paths: tuple[str, ...],
    recipe_name: str,
    statistics: str | None,
    save_statistics: Path | None,
    as_json: bool,
) -> int:
    """Sketches and keys of files, nothing stored."""
    recipe = recipe_asked(recipe_name)
    if save_statistics:
        check_place(save_statistics, "--save-statistics")
    corpus = statistics_at(statistics, recipe, _print_left_out) if statistics else None
    if corpus and save_statistics:
        with write_whole(save_statistics, "--save-statistics") as part:
            part.write_bytes(corpus.pack())
    failed = False
    for fingerprint in hash(paths, recipe, corpus):
        failed |= _print_fingerprint(fingerprint, as_json)
    return EXIT_FAILED if failed else 0


def _print_left_out(failure: FailedBlob) -> None:
    """A file that was not corpus, on stderr."""
    Console(stderr=True).print(Text(f"left out  {visible(failure.path)}: {visible(failure.error)}"))


def _print_fingerprint(one: FileFingerprint, as_json: bool) -> bool:
    """The sketches of one file; True when it could not be read."""
    if one.fingerprint is None:
        Console(stderr=True).print(Text(f"{visible(one.path)}: {one.error}"))
        return True
    made, recipe = one.fingerprint, one.recipe
    if not as_json:
        print(f"{_short_form(made, recipe)}  {visible(one.path)}")
        return False
    fields: dict[str, Any] = {
        "path": one.path,
        "recipe": recipe.name,
        "status": made.status,
        "simhash": None if made.simhash is None else _hexadecimal(made.simhash, recipe),
        "minhash": None if made.minhash is None else made.minhash.tolist(),
        "bands": list(made.bands),
        "blocks": list(made.blocks),
    }
    if recipe.terms:
        fields |= {"terms": list(made.terms), "rare": list(made.rare)}
    print_json(fields)
    return False


def _short_form(made: Fingerprint, recipe: Recipe) -> str:
    """The signature in one word where it has one, else its beginning; the status of a text without
    one.
    """
    if made.simhash is not None and recipe.features.startswith("tokens_"):
        return simhash_doc.spell_base32(made.simhash, recipe.features.removeprefix("tokens_"))
    if made.simhash is not None:
        return _hexadecimal(made.simhash, recipe)
    if made.minhash is not None:
        return f"{len(made.minhash)} slots {' '.join(f'{slot:08x}' for slot in made.minhash[:4].tolist())} ..."
    return " ".join(made.terms[:8]) if made.terms else made.status


def _hexadecimal(bits: int, recipe: Recipe) -> str:
    return f"{bits:0{(recipe.bits or 64) // 4}x}"
