"""Count the files and functions of the package that each of four flows enters, while it runs.

    .venv/bin/python tools/flows.py [--functions]

A flow is a call of a public function on a small SQLite store: `search` (folded), `similar`, `group`
and `index`. What is entered in threads counts; what runs in other processes does not. The modules
are imported before the trace begins, so that only calls count.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = f"{ROOT / 'indexer'}/"
TEXT = (
    "The harbour ferry leaves at eight in the morning and returns at six in the evening. "
    "Passengers buy tickets at the quay, and children below twelve years travel free of charge."
)
OTHER = "A lighthouse keeper wrote the weather down each night for forty years without a gap."


def traced(call: Callable[[], object]) -> set[tuple[str, str]]:
    """Return the (file, function) pairs below `indexer/` that a call enters, in any thread."""
    entered: set[tuple[str, str]] = set()

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            name = frame.f_code.co_qualname if sys.version_info >= (3, 11) else frame.f_code.co_name
            if not name.endswith(">"):  # a module, comprehension or lambda
                entered.add((frame.f_code.co_filename.removeprefix(PACKAGE), name))

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return entered


def flows() -> dict[str, set[tuple[str, str]]]:
    """Run the four flows and return what each of them enters."""
    sys.path.insert(0, str(ROOT))
    import indexer

    with tempfile.TemporaryDirectory(prefix="nearfold-flows-") as name:
        folder = Path(name) / "texts"
        folder.mkdir()
        for number in range(4):
            (folder / f"{number}.txt").write_text(f"{TEXT} Edition {number}.", encoding="utf-8")
        (folder / "other.txt").write_text(OTHER, encoding="utf-8")
        url = f"sqlite:///{name}/flows.db"

        def index() -> object:
            return indexer.index(str(folder), url)

        def group() -> object:
            return indexer.group(url)

        def search() -> object:
            return indexer.search(url, "ferry tickets")

        def similar() -> object:
            return indexer.similar(url, TEXT)

        for warm in (index, group, search, similar):
            warm()
        (folder / "new.txt").write_text(f"{TEXT} A late edition.", encoding="utf-8")
        calls = {"index": index, "group": group, "search": search, "similar": similar}
        return {flow: traced(call) for flow, call in calls.items()}


def main(arguments: list[str]) -> int:
    """Print files and functions entered by each flow; with `--functions` name them; or `--json`."""
    found = flows()
    counts = {
        flow: {"files": len({file for file, _ in pairs}), "functions": len(pairs)}
        for flow, pairs in found.items()
    }
    if "--json" in arguments:
        print(json.dumps(counts))
        return 0
    for flow, pairs in found.items():
        print(f"{flow:8} {counts[flow]['files']:>4} files {counts[flow]['functions']:>5} functions")
        if "--functions" in arguments:
            for file, function in sorted(pairs):
                print(f"    {file}:{function}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
