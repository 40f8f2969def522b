"""`compare --html`, and the commands of docs/reviewing.md that write files."""

import os
import re
import shlex
import subprocess
import sys
import zipfile
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


def test_changes_are_written_as_a_word_document(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/none.db"
    run("compare", ONE, OTHER, "--docx", tmp_path / "redline.docx", store=store)
    with zipfile.ZipFile(tmp_path / "redline.docx") as package:
        text = package.read("word/document.xml").decode()
    assert re.search("<w:del [^>]+><w:r><w:delText [^>]+>42,000<", text)
    assert re.search("<w:ins [^>]+><w:r><w:t [^>]+>45,500<", text)


def test_changes_are_written_as_a_pdf(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/none.db"
    run("compare", ONE, OTHER, "--pdf", tmp_path / "redline.pdf", store=store)
    assert (tmp_path / "redline.pdf").read_bytes().startswith(b"%PDF-")


def test_an_unwritable_path_is_refused(tmp_path: Path) -> None:
    for option in ("--html", "--docx", "--pdf"):
        process = outcome("compare", ONE, OTHER, option, tmp_path / "absent" / "file")
        assert (process.returncode, process.stdout) == (2, "")
        assert f"choose another path for {option}" in process.stderr


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
