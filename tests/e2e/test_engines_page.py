"""The command of docs/engines.md prints the rows that the page shows, and its table of versions
shows the recorded counts.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from engine_versions import BEGIN, END, MODULES, OF_THE_GATE, VERSIONS, read_counts, table
from page_blocks import blocks

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
SMALL = ["--documents", "300", "--lookups", "4", "--searches", "3", "--arrivals", "2"]


def labels(printed: str) -> list[str]:
    """Return the label of each line: its words before the first number in a column.

    Settings that are chosen may differ.
    """
    cells = [
        re.split(r"  +-?\d[\d,.]*(?=\s|$)|, \d+ [%t]|:? +\d", line.strip())[0].rstrip(",:")
        for line in printed.splitlines()
    ]
    return [re.sub(r"\s+", " ", cell) for cell in cells if cell and not cell[0].isdigit()]


@pytest.mark.engines
@pytest.mark.slow
def test_the_command_prints_what_the_page_shows(opensearch_url: str) -> None:
    [command] = blocks("docs/engines.md")
    [expected] = blocks("docs/engines.md", "text")
    python, *words = shlex.split(command)
    assert python == "python"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.run(
        [sys.executable, *words, *SMALL, "--server", opensearch_url],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    assert labels(process.stdout) == labels(expected)
    assert len(labels(expected)) > 25


def test_the_table_of_versions_shows_the_recorded_counts() -> None:
    assert PAGE.partition(BEGIN)[2].partition(END)[0].strip() == table()
    counts = read_counts()
    assert set(VERSIONS) - set(OF_THE_GATE) <= counts.keys() <= set(VERSIONS)
    assert not any(version["failed"] for version in counts.values())


def test_tests_that_need_a_module_exist() -> None:
    for line in MODULES.read_text(encoding="utf-8").splitlines():
        for name in line.partition(": ")[2].split():
            file, _, function = name.partition("::")
            assert f"def {function}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), name
