"""Check the subjects of commits: at most 72 characters, and a first word by which a log is read."""

from __future__ import annotations

import shutil
import subprocess

from environment import ROOT

BASE = "0291751b"  # the last commit before this check
MAX_LENGTH = 72
VAGUE_VERBS = ("Say", "Let", "Keep", "Name", "Tell")  # they separate neither feature from fix


def check() -> int:
    """Print the subjects since `BASE` that break a rule; return 1 if there are any, otherwise 0.

    An archive without history and a shallow clone without `BASE` pass.
    """
    log = _git("log", "--no-merges", "--format=%h %s", f"{BASE}..HEAD")
    if log is None:
        print("\nno history since the base: the subjects of commits are not checked", flush=True)
        return 0
    problems = [problem for line in log.splitlines() for problem in problems_of(line)]
    for problem in problems:
        print(problem, flush=True)
    return 1 if problems else 0


def problems_of(line: str) -> list[str]:
    """Return what is wrong with a commit's hash and subject.

    >>> problems_of("1a2b3c4 Let searches retry")
    ['1a2b3c4: do not begin with "Let"; begin with Add, Fix, Remove, Rename, Speed up, Document']
    """
    name, _, subject = line.partition(" ")
    first = subject.split(" ", 1)[0]
    problems = []
    if len(subject) > MAX_LENGTH:
        problems.append(f"{name}: a subject of {len(subject)} characters; at most {MAX_LENGTH}")
    if first in VAGUE_VERBS:
        better = "begin with Add, Fix, Remove, Rename, Speed up, Document"
        problems.append(f'{name}: do not begin with "{first}"; {better}')
    return problems


def _git(*arguments: str) -> str | None:
    """Return what git prints, None if there is no git, no repository, or no such commit."""
    if not shutil.which("git"):
        return None
    command = ["git", "-C", str(ROOT), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if done.returncode else done.stdout
