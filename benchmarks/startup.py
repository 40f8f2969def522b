"""Processor time of `nearfold --help`, of each command's, and of a search and a look-up, in times
`python -c pass`.

    python benchmarks/startup.py [--runs 5]

Each number is the median of some runs with warm files; the runs of all commands take turns. The
bytecode of all modules is kept between runs, as it is where a wheel is installed.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from indexer.cli.main import COMMANDS


def cpu_seconds(arguments: list[str], bytecode: str) -> float:
    """Return the processor time of one run of Python, which keeps its bytecode in a folder."""
    settings = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
    settings.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, *arguments]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=settings)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    commands = {"python -c pass": ["-c", "pass"], "nearfold --help": ["-m", "indexer", "--help"]}
    for name in COMMANDS:
        commands[f"nearfold {name} --help"] = ["-m", "indexer", name, "--help"]
    folder = tempfile.TemporaryDirectory()
    store = ["--store", f"sqlite:///{folder.name}/startup.db"]
    examples = Path(__file__).parent.parent / "examples"
    bytecode = f"{folder.name}/bytecode"
    cpu_seconds(["-m", "indexer", "index", str(examples), *store], bytecode)
    commands["nearfold search"] = ["-m", "indexer", "search", "agreement", *store]
    release = str(examples / "ferry-press-release.txt")
    commands["nearfold similar FILE"] = ["-m", "indexer", "similar", release, *store]
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs + 1):
        for name, arguments in commands.items():
            seconds[name].append(cpu_seconds(arguments, bytecode))
    medians = {name: statistics.median(times[1:]) for name, times in seconds.items()}
    base = medians["python -c pass"]
    for name, median in medians.items():
        print(f"{name:30} {1000 * median:7.1f} ms  {median / base:5.1f} times")


if __name__ == "__main__":
    main()
