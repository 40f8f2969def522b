"""`nearfold hash`: print sketches and keys of files, store nothing."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.cli.exit_codes import EXIT_FAILED
from indexer.cli.options import (
    json_option,
    out_file_option,
    recipe_option,
    replace_option,
    statistics_option,
)
from indexer.cli.output import note, print_json, report_failures, short_path
from indexer.wording import visible

if TYPE_CHECKING:
    from indexer.jobs.hash import FileFingerprint
    from indexer.model import FailedBlob, Fingerprint
    from indexer.recipe import Recipe


_TOKENS = "tokens_"


@click.command("hash")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...|-")
@recipe_option
@statistics_option
@out_file_option("Keep the statistics in this file.", "--save-statistics")
@replace_option
@json_option
def hash_command(
    paths: tuple[str, ...],
    recipe_name: str,
    statistics: str | None,
    save_statistics: Path | None,
    replace: bool,
    as_json: bool,
) -> int:
    """Print the sketches and keys of files without storing them."""
    from indexer.jobs.hash import hash, statistics_at
    from indexer.system.files import check_output_path, write_whole
    from indexer.system.recipe_inputs import recipe_asked

    recipe = recipe_asked(recipe_name)
    if save_statistics:
        check_output_path(save_statistics, "--save-statistics", replace=replace)
    left_out = partial(_report_left_out, as_json)
    corpus = statistics_at(statistics, recipe, left_out) if statistics else None
    if corpus and save_statistics:
        with write_whole(save_statistics, "--save-statistics") as part:
            part.write_bytes(corpus.pack())
    failed = False
    for fingerprint in hash(paths, recipe, corpus):
        failed |= _print_fingerprint(fingerprint, as_json)
    return EXIT_FAILED if failed else 0


def _report_left_out(as_json: bool, failure: FailedBlob) -> None:
    """Write on stderr a file that is left out of the statistics."""
    note(f"left out  {short_path(failure.path)}: {visible(failure.error)}", as_json)


def _print_fingerprint(file: FileFingerprint, as_json: bool) -> bool:
    """Print the sketches of one file; return whether it could not be read."""
    if file.fingerprint is None:
        report_failures([(file.path, file.error or "")], as_json)
        return True
    fingerprint = file.fingerprint
    recipe = file.recipe
    if not as_json:
        print(f"{_short_form(fingerprint, recipe)}  {short_path(file.path)}")
        return False
    simhash = fingerprint.simhash
    minhash = fingerprint.minhash
    fields: dict[str, Any] = {
        "path": file.path,
        "recipe": recipe.name,
        "status": fingerprint.status,
        "simhash": None if simhash is None else _hexadecimal(simhash, recipe),
        "minhash": None if minhash is None else minhash.tolist(),
        "bands": list(fingerprint.bands),
        "blocks": list(fingerprint.blocks),
    }
    if simhash is not None and recipe.features.startswith(_TOKENS):
        fields["base32"] = _base32(simhash, recipe)
    if recipe.terms:
        fields |= _fields(fingerprint)
    print_json(fields)
    return False


def _fields(fingerprint: Fingerprint) -> dict[str, Any]:
    """Return length, hash and terms of a rare-term vector, and the keys of the terms."""
    from indexer.fingerprinting.rare_terms import format_hash

    vector = fingerprint.vector
    return {
        "length": None if vector is None else int(vector[0]),
        "hash": None if vector is None else format_hash(vector),
        "terms": list(fingerprint.terms),
        "rare": list(fingerprint.rare),
    }


def _short_form(fingerprint: Fingerprint, recipe: Recipe) -> str:
    """Return the fingerprint in one word where it has one, else its beginning.

    A text without a fingerprint is named by its status.
    """
    from indexer.fingerprinting.rare_terms import format_hash

    if fingerprint.simhash is not None and recipe.features.startswith(_TOKENS):
        return _base32(fingerprint.simhash, recipe)
    if fingerprint.simhash is not None:
        return _hexadecimal(fingerprint.simhash, recipe)
    if fingerprint.minhash is not None:
        digits = 2 * recipe.slot_bytes
        first = " ".join(f"{slot:0{digits}x}" for slot in fingerprint.minhash[:4].tolist())
        return f"{len(fingerprint.minhash)} slots {first} ..."
    if fingerprint.vector is not None:
        header = f"{int(fingerprint.vector[0])} {format_hash(fingerprint.vector)}"
        return f"{header} {' '.join(fingerprint.terms[:8])}"
    return fingerprint.status


def _base32(bits: int, recipe: Recipe) -> str:
    """Return the serialised form of a simhash-doc."""
    from indexer.fingerprinting import simhash

    return simhash.format_base32(bits, recipe.features.removeprefix(_TOKENS))


def _hexadecimal(bits: int, recipe: Recipe) -> str:
    return f"{bits:0{(recipe.bits or 64) // 4}x}"
