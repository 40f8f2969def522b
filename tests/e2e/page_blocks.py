"""The blocks of code on the pages of the documentation, and a runner for those with commands."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from command import ROOT, page_environment, shell

PROVIDED = ("pip install", "docker compose")  # what these lines install is there already


def page_text(page: str) -> str:
    """Return the text of a page, which is named by its path in the repository."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str = "sh") -> list[str]:
    """Return the blocks of a page in a language, in order."""
    fence = rf"^```{re.escape(language)}\n(.*?)^```"
    return re.findall(fence, page_text(page), re.DOTALL | re.MULTILINE)


def prompts(block: str) -> list[tuple[str, str]]:
    """Return each command of a console block, with the output that is shown below it."""
    sessions = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, shown) for command, _, shown in (text.partition("\n") for text in sessions)]


def without_lines(block: str, prefixes: tuple[str, ...]) -> str:
    """Return a block without the lines that begin with a prefix."""
    lines = block.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(prefixes))


def copy_examples(folder: Path) -> None:
    shutil.copytree(ROOT / "examples", folder / "examples")


def group_examples(folder: Path) -> None:
    """Index and group the example folder in the store of the commands."""
    shell(f"nearfold index '{ROOT}/examples'\nnearfold group", folder)


def run_python(program: str, folder: Path) -> str:
    """Return what a program of a page prints in a folder."""
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=page_environment(folder),
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@dataclass(frozen=True)
class Page:
    """A page whose shell blocks run in order in one folder, and what they print and write."""

    name: str
    printed: tuple[str, ...] = ()  # texts of the output, in this order
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # texts in written files
    lines: Mapping[str, int] = field(default_factory=dict)  # number of lines of written files
    skipped: tuple[str, ...] = ()  # beginnings of lines that a test of another page runs
    set_up: Callable[[Path], None] = copy_examples

    def check(self, folder: Path) -> None:
        """Run the blocks of the page in a new folder, and compare their outcome."""
        self.set_up(folder)
        skipped = (*PROVIDED, *self.skipped)
        scripts = [without_lines(block, skipped) for block in blocks(self.name)]
        assert scripts
        output = "".join(shell(script, folder) for script in scripts)
        start = 0
        for text in self.printed:
            assert text in output[start:], f"{text!r} is not printed in\n{output[start:]}"
            start = output.index(text, start) + len(text)
        for name, texts in self.files.items():
            content = (folder / name).read_bytes()
            assert [text for text in texts if text.encode() not in content] == [], name
        counts = {name: len((folder / name).read_bytes().splitlines()) for name in self.lines}
        assert counts == self.lines
