"""The golden vectors of the default recipes: their texts, recipes and fields."""

import dataclasses
import json
from pathlib import Path
from typing import Any

from indexer.fingerprinting.fingerprint import Fingerprints
from indexer.fingerprinting.keys import pack_slots
from indexer.recipe import DEFAULT_V1, Recipe

TEXTS = Path(__file__).parent / "golden/texts.json"
VECTORS = Path(__file__).parent / "golden/default_v1.json"
VECTORS_V2 = Path(__file__).parent / "golden/default_v2.json"
VECTORS_V3 = Path(__file__).parent / "golden/default_v3.json"
VECTORS_SCANS = Path(__file__).parent / "golden/scans_v1.json"


def cases() -> list[dict[str, Any]]:
    return json.loads(TEXTS.read_text(encoding="ascii"))


def plain_cases() -> list[dict[str, Any]]:
    """Return the cases that do not change `default_v1`; the other recipes have vectors of these."""
    return [case for case in cases() if not case.get("settings")]


def text_of(case: dict[str, Any]) -> str:
    return case["text"] * case.get("times", 1)


def recipe_of(case: dict[str, Any]) -> Recipe:
    return dataclasses.replace(DEFAULT_V1, **case.get("settings", {}))


def vector(fingerprints: Fingerprints) -> dict[str, Any]:
    """Return the first fingerprint as a vector; sketches are big-endian hexadecimal digits."""
    first = fingerprints[0]
    return {
        "status": first.status,
        "minhash": None if first.minhash is None else pack_slots(first.minhash).hex(),
        "simhash": None if first.simhash is None else f"{first.simhash:016x}",
        "bands": list(first.bands),
        "blocks": list(first.blocks),
        "exact": first.exact,
        "words": first.words,
        "chars": first.chars,
    }
