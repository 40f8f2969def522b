"""The golden vectors of the default recipe: their texts, their recipes, and what a vector is made
of.
"""

import dataclasses
import json
from pathlib import Path
from typing import Any

from indexer.recipe import DEFAULT_V1, Recipe
from indexer.sketch.codec import pack_slots
from indexer.sketch.fingerprint import Fingerprints

TEXTS = Path(__file__).parent / "golden/texts.json"
VECTORS = Path(__file__).parent / "golden/default_v1.json"


def cases() -> list[dict[str, Any]]:
    return json.loads(TEXTS.read_text(encoding="ascii"))


def text_of(case: dict[str, Any]) -> str:
    return case["text"] * case.get("times", 1)


def recipe_of(case: dict[str, Any]) -> Recipe:
    return dataclasses.replace(DEFAULT_V1, **case.get("settings", {}))


def vector(signed: Fingerprints) -> dict[str, Any]:
    """Every field of the first fingerprint, sketches as hexadecimal digits of their big-endian
    bytes.
    """
    one = signed[0]
    return {
        "status": one.status,
        "minhash": None if one.minhash is None else pack_slots(one.minhash).hex(),
        "simhash": None if one.simhash is None else f"{one.simhash:016x}",
        "bands": list(one.bands),
        "blocks": list(one.blocks),
        "exact": one.exact,
        "words": one.words,
        "chars": one.chars,
    }
