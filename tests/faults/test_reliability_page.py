"""docs/reliability.md: its commands run, its table is the recorded one, and every fault-injection
test has a row in it.
"""

import re
from pathlib import Path

from e2e.command import outcome
from faults.__main__ import command_line
from page_blocks import blocks
from table import BEGIN, END, FAULTS, PAGE, read_counts, table, unlisted_tests

from indexer.system.failpoints import POINTS

TEXT = PAGE.read_text(encoding="utf-8")
INSTRUMENTS = {
    "test_clocks.py::test_the_time_of_day",
    "test_failpoints.py::test_the_oracle",
    "test_other_writers.py::test_the_oracle",
    "test_random_kills.py",
    "test_extraction_server.py",
    "test_failing_disk.py::test_the_disk",
    "test_power_loss.py::test_the_disk",
}


def test_the_table_shows_the_recorded_counts() -> None:
    assert TEXT.partition(BEGIN)[2].partition(END)[0].strip() == table()
    assert all(any(name.startswith(fault.tests) for name in read_counts()) for fault in FAULTS), (
        "a row without a recorded count"
    )


def test_every_fault_injection_test_has_a_row() -> None:
    files = [path for path in Path(__file__).parent.glob("test_*.py") if path != Path(__file__)]
    names = [
        f"{path.name}::{name}"
        for path in files
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.M)
    ]
    assert [name for name in unlisted_tests(names) if not name.startswith(tuple(INSTRUMENTS))] == []


def test_every_failpoint_is_documented() -> None:
    assert re.findall(r"^\| `(\w+)` \|", TEXT, re.M) == list(POINTS)
    for name, meaning in POINTS.items():
        assert f"| `{name}` | {meaning} |" in TEXT


def test_the_commands_on_the_page_are_accepted() -> None:
    """The commands take minutes, so they are only parsed; test_random_kills.py runs some kills."""
    commands = re.findall(r"^python -m faults (.*?)(?: +#.*)?$", TEXT, re.M)
    assert len(commands) > 10
    help_text = command_line().format_help()
    for options in map(str.split, commands):
        command_line().parse_args(options)
        assert all(name in help_text for name in options if name.startswith("--"))


def test_the_example_on_the_page_gives_the_result_shown(tmp_path: Path) -> None:
    """The console example: a job is killed by a failpoint, and run again."""
    (tmp_path / "papers").mkdir()
    for number in range(3):
        (tmp_path / "papers" / f"{number}.txt").write_text(
            f"paper {number} is about something of its own, number {number}", encoding="utf-8"
        )
    (block,) = blocks("docs/reliability.md", "console")
    environment = {"NEARFOLD_FAILPOINTS": re.findall(r"NEARFOLD_FAILPOINTS=(\S+)", block)[0]}
    store = f"sqlite:///{tmp_path}/x.db"
    assert outcome("index", tmp_path / "papers", store=store, **environment).returncode == -9
    completed = outcome("index", tmp_path / "papers", store=store)
    assert completed.returncode == 0 and "3 documents: 3 indexed" in completed.stdout
