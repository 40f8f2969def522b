"""What `hash` and `plan` print."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from indexer.cli.console import console, print_json
from indexer.indexing.hash import FileFingerprint
from indexer.model import FailedBlob, Fingerprint
from indexer.recipe import Recipe
from indexer.sketch import simhash_doc
from indexer.sketch.plan import UNRELATED, Plan
from indexer.text.visible import visible


def left_out(failure: FailedBlob) -> None:
    """A file that was not counted, on stderr."""
    Console(stderr=True).print(Text(f"left out  {visible(failure.path)}: {visible(failure.error)}"))


def signed(one: FileFingerprint, as_json: bool) -> bool:
    """The sketches of one file; True when it could not be read."""
    if one.fingerprint is None:
        Console(stderr=True).print(Text(f"{visible(one.path)}: {one.error}"))
        return True
    made, recipe = one.fingerprint, one.recipe
    if not as_json:
        print(f"{_spelled(made, recipe)}  {visible(one.path)}")
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


def _spelled(made: Fingerprint, recipe: Recipe) -> str:
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


def plan(chosen: Plan, as_json: bool) -> None:
    """Bands x rows and the S-curve."""
    if as_json:
        print_json(
            {
                "bands": chosen.bands,
                "rows": chosen.rows,
                "curve": [list(point) for point in chosen.curve],
                "false_positive": chosen.false_positive,
                "false_negative": chosen.false_negative,
            }
        )
        return
    out = console()
    least = f", at least {chosen.shared} shared" if chosen.shared > 1 else ""
    out.print(
        f"{chosen.bands} bands x {chosen.rows} rows for a threshold of {chosen.threshold:g}{least}"
    )
    out.print(
        f"areas of error: false positives {chosen.false_positive:.4f}, false negatives {chosen.false_negative:.4f}"
    )
    candidates = chosen.expected_candidates(1_000_000)
    out.print(
        f"of a million unrelated documents (similarity {UNRELATED}) about {candidates:,.0f} share enough keys\n"
    )
    for similarity, share in chosen.curve:
        out.print(f"{similarity:5.2f}  {share:7.2%}  {'█' * round(40 * share)}")
