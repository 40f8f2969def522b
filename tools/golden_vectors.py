"""Write the golden vectors of the `default_v1` recipe and its variations:
`tests/golden/default_v1.json`.

    python tools/golden_vectors.py

The texts are in `tests/golden/texts.json`; `times` repeats a text, `settings` changes the recipe.
To add a vector, add a text and run this. Vectors never change: when the definition gives other bits
for a text that already has a vector, nothing is written, and the differences are printed. A new
recipe version gets a new file instead.
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


def compute() -> dict[str, dict[str, Any]]:
    """Return the vector of every text, by name."""
    return {case["name"]: vector(define([text_of(case)], recipe_of(case))) for case in cases()}


def main() -> None:
    """Write the vectors, unless an existing one would change."""
    vectors = compute()
    stored = json.loads(VECTORS.read_text(encoding="ascii")) if VECTORS.exists() else {}
    changed = sorted(name for name in stored if vectors.get(name) != stored[name])
    if changed:
        sys.exit(f"these vectors would change or go, so nothing was written: {', '.join(changed)}")
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(item)}" for name, item in vectors.items())
    VECTORS.write_text(f"{{\n{rows}\n}}\n", encoding="ascii")
    print(f"{len(vectors)} vectors, {len(vectors) - len(stored)} of them new")


if __name__ == "__main__":
    main()
