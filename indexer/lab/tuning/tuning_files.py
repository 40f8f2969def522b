"""What a tuning leaves behind: `report.html` for people, `results.csv` and `results.json` for
programs.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

from indexer.lab.tuning.tune import COLUMNS, TuneResult, as_json, table
from indexer.lab.tuning.tuning_page import page
from indexer.system.whole_file import write_whole

REPORT, TABLE, RESULTS = "report.html", "results.csv", "results.json"


def write(result: TuneResult, out: Path) -> None:
    """Write all three, each whole or not at all. Raises `UsageError`."""
    with write_whole(out / REPORT) as place:
        place.write_text(page(result), encoding="utf-8")
    with write_whole(out / TABLE) as place, place.open("w", encoding="utf-8", newline="") as sheet:
        writer = csv.writer(sheet, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(map(_cells, table(result)))
    with write_whole(out / RESULTS) as place:
        place.write_text(json.dumps(as_json(result), indent=1) + "\n", encoding="utf-8")


def _cells(row: tuple[str | int | float | None, ...]) -> list[str | int]:
    return ["" if one is None else f"{one:.5f}" if isinstance(one, float) else one for one in row]
