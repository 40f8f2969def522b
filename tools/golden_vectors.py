"""Write the golden vectors of the `default_v1` recipe and its variations:
`tests/golden/default_v1.json`.

    python tools/golden_vectors.py

The texts are in `tests/golden/texts.json`; `times` repeats a text, `settings` changes the recipe.
To add a vector, add a text and run this. Vectors are for ever: when the definition gives other bits
for a text that already has a vector, nothing is written, and what differs is told. A new recipe
version gets a new file instead.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from golden_cases import VECTORS, cases, recipe_of, text_of, vector  # noqa: E402

from indexer.sketch.fingerprint import define  # noqa: E402


def computed() -> dict[str, dict[str, Any]]:
    """The vector of every text, by name."""
    return {case["name"]: vector(define([text_of(case)], recipe_of(case))) for case in cases()}


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
