"""The command of docs/engines.md prints the rows that the page shows."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
SMALL = ["--documents", "300", "--lookups", "4", "--searches", "3", "--arrivals", "2"]

pytestmark = pytest.mark.engines


def labels(printed: str) -> list[str]:
    """Return the label of each line: its words before the first number in a column.

    Settings that are chosen may differ.
    """
    cells = [
        re.split(r"  +-?\d[\d,.]*(?=\s|$)|, \d+ [%t]|:? +\d", line.strip())[0].rstrip(",:")
        for line in printed.splitlines()
    ]
    return [re.sub(r"\s+", " ", cell) for cell in cells if cell and not cell[0].isdigit()]


@pytest.mark.slow
def test_the_command_prints_what_the_page_shows(opensearch_url: str) -> None:
    [command] = re.findall(r"```sh\n(.*?)\n```", PAGE, re.DOTALL)
    [expected] = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
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
