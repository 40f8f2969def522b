"""The commands of docs/operating.md, in order, in one folder."""

import json
import re
from pathlib import Path

from command import ROOT, shell

PAGE = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")


def test_operating(tmp_path: Path) -> None:
    logging, monitoring, copying, repairing = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    assert "index  done" in shell(logging, tmp_path)
    events = [
        json.loads(line)
        for line in (tmp_path / "events.jsonl").read_text().splitlines()
        if line.startswith("{")
    ]
    assert [event["event"] for event in events] == ["job_began", "job_ended"]
    assert events[0].keys() < events[1].keys() == shown_event("job_ended").keys()
    shell(monitoring.replace("pip install", ": pip install"), tmp_path)
    assert "nearfold_documents" in (tmp_path / "nearfold.prom").read_text()
    assert "ferry-press-release.txt" in shell(copying, tmp_path)
    assert shell(repairing, tmp_path).count("note  provisional: 12 documents") == 2


def shown_event(name: str) -> dict[str, object]:
    """Return an event as the page shows it."""
    examples = [json.loads(line) for line in PAGE.splitlines() if line.startswith("{")]
    return next(event for event in examples if event["event"] == name)
