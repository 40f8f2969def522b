"""Write docs/api.md: one entry for each public name, in groups.

python tools/api_reference.py
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "api.md"
HEAD = """# Python API

Everything that `from indexer import ...` gives; other names may change in any release. Written by
`tools/api_reference.py` from the docstrings. Each command of the [command line](cli.md) but
`judge`, `serve` and `roles` calls the function of its name. Functions raise
subclasses of `indexer.errors.NearfoldError`.
"""


def page() -> str:
    """The page as Markdown: functions first, then the classes of options and results, by name."""
    sys.path.insert(0, str(ROOT))
    try:
        import indexer
    finally:
        sys.path.pop(0)
    places = {name: f"{getattr(indexer, name).__module__}.{name}" for name in indexer.__all__}
    functions = sorted(name for name in places if name[0].islower())
    classes = sorted(name for name in places if name[0].isupper())
    entries = [f"\n::: {places[name]}\n" for name in functions]
    options = [f"\n::: {places[name]}\n" for name in classes]
    errors = "\n## Errors\n\n::: indexer.errors\n    options:\n      show_root_heading: false\n"
    return f"{HEAD}\n## Functions\n{''.join(entries)}\n## Classes\n{''.join(options)}{errors}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
