"""Processor time of `nearfold --help`, of each command's, and of a search and a look-up, in times
`python -c pass`.

    python benchmarks/startup.py [--runs 5]

Each number is the median of some runs with warm files; the runs of all commands take turns. The
bytecode of all modules is kept between runs, as it is where a wheel is installed.
"""

from __future__ import annotations

import statistics
import tempfile

from harness import ROOT, arguments, run_python

from indexer.cli.main import COMMANDS


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    commands = {"python -c pass": ["-c", "pass"], "nearfold --help": ["-m", "indexer", "--help"]}
    for name in COMMANDS:
        commands[f"nearfold {name} --help"] = ["-m", "indexer", name, "--help"]
    folder = tempfile.TemporaryDirectory()
    store = ["--store", f"sqlite:///{folder.name}/startup.db"]
    run_python(["-m", "indexer", "index", "examples", *store])
    commands["nearfold search"] = ["-m", "indexer", "search", "agreement", *store]
    release = str(ROOT / "examples" / "ferry-press-release.txt")
    commands["nearfold similar FILE"] = ["-m", "indexer", "similar", release, *store]
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs + 1):
        for name, words in commands.items():
            seconds[name].append(run_python(words).busy)
    medians = {name: statistics.median(times[1:]) for name, times in seconds.items()}
    base = medians["python -c pass"]
    for name, median in medians.items():
        print(f"{name:30} {1000 * median:7.1f} ms  {median / base:5.1f} times")


if __name__ == "__main__":
    main()
