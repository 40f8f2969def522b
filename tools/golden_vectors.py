"""Write the golden vectors of `default_v1` with its variations, of `default_v2`, `default_v3` and
`scans_v1`: `tests/golden/default_v1.json` and the like.

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

from golden_cases import (  # noqa: E402
    VECTORS,
    VECTORS_SCANS,
    VECTORS_V2,
    VECTORS_V3,
    cases,
    plain_cases,
    recipe_of,
    text_of,
    vector,
)

from indexer.fingerprinting.fingerprint import define  # noqa: E402
from indexer.recipe import DEFAULT_V2, DEFAULT_V3, SCANS_V1, Recipe  # noqa: E402

Vectors = dict[str, dict[str, Any]]


def compute() -> dict[Path, Vectors]:
    """Return the vector of every text, by file and name."""
    v1 = {case["name"]: vector(define([text_of(case)], recipe_of(case))) for case in cases()}

    def plain(recipe: Recipe) -> Vectors:
        return {case["name"]: vector(define([text_of(case)], recipe)) for case in plain_cases()}

    others = {VECTORS_V2: DEFAULT_V2, VECTORS_V3: DEFAULT_V3, VECTORS_SCANS: SCANS_V1}
    return {VECTORS: v1, **{path: plain(recipe) for path, recipe in others.items()}}


def write(path: Path, vectors: Vectors) -> None:
    """Write a file of vectors, unless an existing one would change."""
    stored = json.loads(path.read_text(encoding="ascii")) if path.exists() else {}
    changed = sorted(name for name in stored if vectors.get(name) != stored[name])
    if changed:
        sys.exit(f"these vectors would change or go, so nothing was written: {', '.join(changed)}")
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(item)}" for name, item in vectors.items())
    path.write_text(f"{{\n{rows}\n}}\n", encoding="ascii")
    print(f"{path.name}: {len(vectors)} vectors, {len(vectors) - len(stored)} of them new")


def main() -> None:
    """Write the vectors."""
    for path, vectors in compute().items():
        write(path, vectors)


if __name__ == "__main__":
    main()
