"""The blocks of code on the pages of the documentation, and a runner for those with commands."""

import mailbox
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from command import ROOT, page_environment, shell

CLAUSES = {
    "indenture-sponsor": "Section 14.06 Successors and Assignors. "
    "All covenants and agreements in this Agreement by the Sponsor shall bind its "
    "successors and assigns, whether so expressed or not.",
    "indenture-issuer": "Section 11.09. Successors and Assignors. "
    "All covenants and agreements in this Indenture by the Issuer shall bind its "
    "successors and assigns, whether so expressed or not.",
    "plain-old": "3.1 Successors and Assigns. This agreement enures to the benefit of and "
    "is binding on the parties hereto and their respective successors and assigns.",
    "plain-new": "32. Successors and Assigns. This agreement shall be binding upon, and enure "
    "to the benefit of, the parties, their legal representatives, successors and assigns.",
}
FIRST = """Return-Path: <ann@x.org>
From: Ann <ann@x.org>
Subject: Ferry
Message-ID: <CALckR-a8UDkRjO4xJyjd_s0GPxQWw@mail.gmail.com>
Date: Mon, 5 Feb 2024 10:00:00 +0100

We do not sell the ferry to Peter this year, says Mary.
"""
ANSWER = """From: Bo <bo@x.org>
Subject: Re: Ferry
Message-ID: <2@x>
In-Reply-To: <CALckR-a8UDkRjO4xJyjd_s0GPxQWw@mail.gmail.com>
Date: Mon, 5 Feb 2024 11:00:00 +0100

Fine.

On Mon, Feb 5, 2024 at 10:00 AM Ann <ann@x.org> wrote:

> We do not sell the ferry to Peter
> this year, says Mary.
"""
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


def clauses_of_types(folder: Path) -> None:
    """Write the published pairs of clauses, and the list of words of docs/duplicate-types.md."""
    (folder / "clauses").mkdir()
    for name, text in CLAUSES.items():
        (folder / "clauses" / f"{name}.txt").write_text(text)
    (folder / "our-words.txt").write_text(blocks("docs/duplicate-types.md", "text")[0])


def mails(folder: Path) -> None:
    """Mails in a Maildir, a mailbox without an ending, and a file that is no mail."""
    (folder / "mails" / "box" / "cur").mkdir(parents=True)
    (folder / "mails" / "box" / "cur" / "1707123600.M1P2.host:2,S").write_text(FIRST)
    inbox = mailbox.mbox(folder / "mails" / "Inbox")
    inbox.add(ANSWER)
    inbox.close()
    (folder / "mails" / "notes.txt").write_text("no mail")


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
    """A page whose shell blocks run in order in one folder, and what they print and write.

    `verify` looks at more than texts: at the folder, and at what each of the blocks printed.
    """

    name: str
    printed: tuple[str, ...] = ()  # texts of the output, in this order
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # texts in written files
    lines: Mapping[str, int] = field(default_factory=dict)  # number of lines of written files
    skipped: tuple[str, ...] = ()  # beginnings of lines that a test of another page runs
    chosen: tuple[int, int | None] = (0, None)  # the first shell block that runs, and the end
    consoles: bool = False  # run the console blocks too, which print what the page shows below
    python: str | None = None  # the output of the page's program
    set_up: Callable[[Path], None] = copy_examples
    environment: Mapping[str, str] = field(default_factory=dict)
    errors: bool = False  # what goes to stderr counts as printed
    verify: Callable[[Path, list[str]], None] | None = None

    def __str__(self) -> str:
        return self.name

    def check(self, folder: Path) -> None:
        """Run the blocks of the page in a new folder, and compare their outcome."""
        self.set_up(folder)
        skipped = (*PROVIDED, *self.skipped)
        scripts = [
            without_lines(block, skipped) for block in blocks(self.name)[slice(*self.chosen)]
        ]
        assert scripts or self.consoles
        begin = "exec 2>&1\n" if self.errors else ""
        outputs = [shell(f"{begin}{script}", folder, **self.environment) for script in scripts]
        output = "".join(outputs)
        start = 0
        for text in self.printed:
            assert text in output[start:], f"{text!r} is not printed in\n{output[start:]}"
            start = output.index(text, start) + len(text)
        for name, texts in self.files.items():
            content = (folder / name).read_bytes()
            assert [text for text in texts if text.encode() not in content] == [], name
        counts = {name: len((folder / name).read_bytes().splitlines()) for name in self.lines}
        assert counts == self.lines
        for block in blocks(self.name, "console") if self.consoles else ():
            for command, shown in prompts(block):
                printed = shell(command, folder, **self.environment)
                assert matches(shown, printed, folder), f"{command}{shown}--- printed\n{printed}"
        if self.python is not None:
            [program] = blocks(self.name, "python")
            assert run_python(program, folder) == self.python
        if self.verify:
            self.verify(folder, outputs)


def matches(expected_output: str, printed: str, folder: Path) -> bool:
    """Return whether the expected lines occur in `printed` in order.

    Ids and seconds may differ; `...` ends a line early or stands for any lines.
    """
    expected_lines = [
        plain(line, folder)
        for line in expected_output.splitlines()
        if line.strip() and line.strip() != "..."
    ]
    lines = iter([plain(line, folder) for line in printed.splitlines()])
    return all(any(agrees(line, want) for line in lines) for want in expected_lines)


def agrees(line: str, want: str) -> bool:
    return line.startswith(want[:-3].rstrip()) if want.endswith("...") else line == want


def plain(line: str, folder: Path) -> str:
    """A line without what differs from machine to machine."""
    line = re.sub(r"\b[0-9a-f]{32}\b", "ID", line.replace(f"{folder}/", ""))
    return re.sub(r"\s+", " ", re.sub(r"\d+\.\d s\b", "N s", line)).strip()
