"""docs/reliability.md: its commands run, its table is the recorded one, and every fault-injection
test has a row in it.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from drill import ROOT
from e2e.command import outcome
from table import BEGIN, END, FAULTS, PAGE, recorded, table, unlisted

from indexer.system.failpoints import POINTS

TEXT = PAGE.read_text(encoding="utf-8")
INSTRUMENTS = {
    "test_clocks.py::test_the_time_of_day",
    "test_failpoints.py::test_the_oracle",
    "test_random_kills.py",
    "test_extraction_server.py",
    "test_failing_disk.py::test_the_disk",
    "test_power_loss.py::test_the_disk",
}


def test_the_table_is_what_was_recorded() -> None:
    assert TEXT.partition(BEGIN)[2].partition(END)[0].strip() == table()
    assert all(any(name.startswith(fault.tests) for name in recorded()) for fault in FAULTS), (
        "a row that nobody drilled"
    )


def test_every_drill_has_a_row() -> None:
    files = [path for path in Path(__file__).parent.glob("test_*.py") if path != Path(__file__)]
    names = [
        f"{path.name}::{name}"
        for path in files
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.M)
    ]
    assert [name for name in unlisted(names) if not name.startswith(tuple(INSTRUMENTS))] == []


def test_every_failpoint_is_told() -> None:
    assert re.findall(r"^\| `(\w+)` \|", TEXT, re.M) == list(POINTS)
    for name, meaning in POINTS.items():
        assert f"| `{name}` | {meaning} |" in TEXT


@pytest.mark.parametrize("words", re.findall(r"^python -m faults (.*?)(?: +#.*)?$", TEXT, re.M))
def test_commands_of_drills_are_understood(words: str) -> None:
    """The commands take minutes: here they only print their plan; another test runs one of them, in
    small.
    """
    command = [
        sys.executable,
        "-m",
        "faults",
        *words.split(),
        *([] if "--table" in words else ["--help"]),
    ]
    done = subprocess.run(command, cwd=ROOT / "tests", capture_output=True, text=True, check=True)
    assert (
        all(word in done.stdout for word in words.split() if word.startswith("--"))
        or "| fault |" in done.stdout
    )


def test_the_drill_on_the_page_goes_as_shown(tmp_path: Path) -> None:
    """The console block: a job is killed by a failpoint, and run again."""
    (tmp_path / "papers").mkdir()
    for number in range(3):
        (tmp_path / "papers" / f"{number}.txt").write_text(
            f"paper {number} is about something of its own, number {number}", encoding="utf-8"
        )
    (block,) = re.findall(r"```console\n(.*?)```", TEXT, re.S)
    environment = {"NEARFOLD_FAILPOINTS": re.findall(r"NEARFOLD_FAILPOINTS=(\S+)", block)[0]}
    store = f"sqlite:///{tmp_path}/x.db"
    assert outcome("index", tmp_path / "papers", store=store, **environment).returncode == -9
    done = outcome("index", tmp_path / "papers", store=store)
    assert done.returncode == 0 and "3 documents: 3 indexed" in done.stdout
