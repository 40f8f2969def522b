"""Write the golden vectors of the `default_v1` recipe and its variations: `tests/golden/default_v1.json`.

    python tools/golden_vectors.py

The texts are in `tests/golden/texts.json`; `times` repeats a text, `settings` changes the recipe. To add a vector, add a
text and run this. Vectors are for ever: when the definition gives other bits for a text that already has a vector, nothing
is written, and what differs is told. A new recipe version gets a new file instead.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from indexer.fingerprinting import Fingerprints, define  # noqa: E402
from indexer.recipe import DEFAULT_V1  # noqa: E402
from indexer.sketch.codec import pack_slots  # noqa: E402

TEXTS = ROOT / "tests/golden/texts.json"
VECTORS = ROOT / "tests/golden/default_v1.json"


def vector(signed: Fingerprints) -> dict[str, Any]:
    """Every field of one fingerprint, sketches as hexadecimal digits of their big-endian bytes."""
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


def computed() -> dict[str, dict[str, Any]]:
    """The vector of every text, by name."""
    return {
        case["name"]: vector(
            define([case["text"] * case.get("times", 1)], dataclasses.replace(DEFAULT_V1, **case.get("settings", {})))
        )
        for case in json.loads(TEXTS.read_text(encoding="ascii"))
    }


def main() -> None:
    vectors = computed()
    kept = json.loads(VECTORS.read_text(encoding="ascii")) if VECTORS.exists() else {}
    changed = sorted(name for name in kept if vectors.get(name) != kept[name])
    if changed:
        sys.exit(f"these vectors would change or go, so nothing was written: {', '.join(changed)}")
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in vectors.items())
    VECTORS.write_text(f"{{\n{rows}\n}}\n", encoding="ascii")
    print(f"{len(vectors)} vectors, {len(vectors) - len(kept)} of them new")


if __name__ == "__main__":
    main()
