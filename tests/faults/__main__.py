"""Fault-injection tests on request, and the table of their results; run in the folder `tests`.

    python -m faults --kills 200                                   kill jobs on embedded stores at random
    python -m faults --kills 100 --store opensearch --files 20000  jobs, and an OpenSearch of their own (from jars)
    python -m faults --kills 80 --store elasticsearch --files 5000 jobs, and an Elasticsearch
    python -m faults --drills                                      every drill of this folder, by pytest
    python -m faults --fuzz 60                                     every fuzzer for a minute under atheris (pip install atheris)
    python -m faults --table                                       what was drilled when last recorded

`--record` puts the counts of a run into the table in docs/reliability.md.
"""
# ruff: noqa: E402

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent)]

import pytest
from killing import Toll, cluster, embedded
from servers.choosing import ENGINES
from servers.process import Server
from table import Count, record, table

CLUSTERS = ("opensearch", "elasticsearch")
say = partial(print, flush=True)


def main() -> int:
    """Run the command line; a failed assertion names the violated invariant."""
    parser = argparse.ArgumentParser(
        prog="python -m faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--store", choices=["sqlite", *CLUSTERS], default="sqlite")
    parser.add_argument(
        "--files", type=int, help="how many to index (default: 500, 20,000 into a cluster)"
    )
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10_000))
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="begin no further kill after so long"
    )
    parser.add_argument(
        "--drills", nargs="*", metavar="FILE", help="those of these files of tests, or all"
    )
    parser.add_argument(
        "--fuzz",
        type=int,
        metavar="SECONDS",
        help="each fuzzed test for so long, guided by what it reaches",
    )
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    if given.table:
        say(table())
        return 0
    if given.fuzz is not None:
        return fuzz(given.fuzz)
    return drills(given.drills, given.record) if given.drills is not None else kills(given)


def drills(names: list[str], keep: bool) -> int:
    """Run the tests of these files, or of this folder and of the killed server, and count the
    faults.
    """
    os.environ["NEARFOLD_DRILLS"] = "all"
    count = Count()
    page = f"--ignore={HERE / 'test_reliability_page.py'}"
    chosen = [str(HERE / name) for name in names] or [
        str(HERE),
        str(HERE.parent / "e2e" / "test_killed_server.py"),
    ]
    code = pytest.main(["-q", page, *chosen], plugins=[count])
    if keep and not count.failed:
        record(count.times)
    say(table())
    return int(code)


def fuzz(seconds: int) -> int:
    """Run each test of test_fuzzing.py that hypothesis feeds, in a process of its own; return 1
    when one fails.
    """
    if importlib.util.find_spec("atheris") is None:
        say("--fuzz needs atheris: pip install atheris (Python 3.11 to 3.13)")
        return 2
    import test_fuzzing

    tests = [name for name, test in vars(test_fuzzing).items() if hasattr(test, "hypothesis")]
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in tests:
            say(f"\n{name}")
            command = [sys.executable, str(HERE / "coverage_guided.py"), name, str(seconds)]
            if subprocess.run(command, cwd=scratch, check=False).returncode:
                found.append(name)
    say(
        f"\n{len(tests)} fuzzers of {seconds} s each; found something: {', '.join(found) or 'none'}"
    )
    return 1 if found else 0


def kills(given: argparse.Namespace) -> int:
    """Run a campaign of random kills."""
    say(f"--seed {given.seed}")
    began, until = time.monotonic(), time.monotonic() + 60 * given.minutes
    with tempfile.TemporaryDirectory() as scratch:
        if given.store == "sqlite":
            toll = embedded(Path(scratch), given.seed, given.files or 500, say).run(
                given.kills, until
            )
        else:
            toll = _on_cluster(Path(scratch), given, until)
    say(f"{toll}; {time.monotonic() - began:,.0f} s; seed {given.seed}")
    if given.record:
        server = toll.kills["the server"]
        of_jobs = {f"campaign nearfold {given.store}": toll.kills.total() - server}
        record(
            of_jobs if given.store == "sqlite" else {**of_jobs, f"campaign {given.store}": server}
        )
    return 0


def _on_cluster(home: Path, given: argparse.Namespace, until: float) -> Toll:
    node = Server(ENGINES[given.store])
    try:
        node.start()
        return cluster(home, given.seed, given.files or 20_000, node, say).run(given.kills, until)
    finally:
        node.close()


if __name__ == "__main__":
    sys.exit(main())
