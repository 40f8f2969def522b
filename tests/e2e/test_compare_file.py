"""`compare --html`, and the commands of docs/reviewing.md that write files."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from command import ROOT, outcome, run, run_json

PAGE = (ROOT / "docs" / "reviewing.md").read_text(encoding="utf-8")
ONE, OTHER = (
    ROOT / "examples" / "services-agreement-2024.txt",
    ROOT / "examples" / "services-agreement-2025-renewal.txt",
)


def test_commands_of_the_page(tmp_path: Path) -> None:
    [line] = re.findall(r"^nearfold (compare .*--html.*)$", PAGE, re.MULTILINE)
    words = shlex.split(line, comments=True)
    page_file = tmp_path / words[words.index("--html") + 1]
    words[words.index("--html") + 1] = str(page_file)
    words[1:3] = [str(ROOT / word) for word in words[1:3]]
    assert str(page_file) in run(*words, store=f"sqlite:///{tmp_path}/none.db").replace("\n", "")
    assert "Brightwater" in page_file.read_text(encoding="utf-8")


def test_json_stays_alone_on_stdout(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    answer = run_json("compare", ONE, OTHER, "--html", page, store=f"sqlite:///{tmp_path}/none.db")
    assert set(answer) == {
        "measures", "shared", "differences", "in_order", "new_words", "rearranged", "same",
    }  # fmt: skip
    assert page.stat().st_size > 10_000


def test_an_unwritable_path_is_refused(tmp_path: Path) -> None:
    process = outcome("compare", ONE, OTHER, "--html", tmp_path / "absent" / "page.html")
    assert (process.returncode, process.stdout) == (2, "")
    assert "give --html another place" in process.stderr


def test_the_core_install_writes_the_page(tmp_path: Path) -> None:
    lacking = "".join(
        f"sys.modules[{name!r}] = None; " for name in ("starlette", "uvicorn", "vl_convert")
    )
    code = (
        f"import sys; {lacking}from indexer.cli.main import main; sys.argv[0] = 'nearfold'; main()"
    )
    settings = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "NEARFOLD_STORE": f"sqlite:///{tmp_path}/none.db",
    }
    page = tmp_path / "page.html"
    command = [sys.executable, "-c", code, "compare", str(ONE), str(OTHER), "--html", str(page)]
    assert subprocess.run(command, env=settings, capture_output=True, check=False).returncode == 0
    assert "Brightwater" in page.read_text(encoding="utf-8")
