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
    arguments = parser.parse_args()
    if arguments.table:
        say(table())
        return 0
    if arguments.fuzz is not None:
        return fuzz(arguments.fuzz)
    return (
        drills(arguments.drills, arguments.record)
        if arguments.drills is not None
        else kills(arguments)
    )


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
    failed = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in tests:
            say(f"\n{name}")
            command = [sys.executable, str(HERE / "coverage_guided.py"), name, str(seconds)]
            if subprocess.run(command, cwd=scratch, check=False).returncode:
                failed.append(name)
    say(
        f"\n{len(tests)} fuzzers of {seconds} s each; found something: {', '.join(failed) or 'none'}"
    )
    return 1 if failed else 0


def kills(arguments: argparse.Namespace) -> int:
    """Run a campaign of random kills."""
    say(f"--seed {arguments.seed}")
    started, until = time.monotonic(), time.monotonic() + 60 * arguments.minutes
    with tempfile.TemporaryDirectory() as scratch:
        if arguments.store == "sqlite":
            toll = embedded(Path(scratch), arguments.seed, arguments.files or 500, say).run(
                arguments.kills, until
            )
        else:
            toll = _on_cluster(Path(scratch), arguments, until)
    say(f"{toll}; {time.monotonic() - started:,.0f} s; seed {arguments.seed}")
    if arguments.record:
        server = toll.kills["the server"]
        of_jobs = {f"campaign nearfold {arguments.store}": toll.kills.total() - server}
        record(
            of_jobs
            if arguments.store == "sqlite"
            else {**of_jobs, f"campaign {arguments.store}": server}
        )
    return 0


def _on_cluster(home: Path, arguments: argparse.Namespace, until: float) -> Toll:
    node = Server(ENGINES[arguments.store])
    try:
        node.start()
        return cluster(home, arguments.seed, arguments.files or 20_000, node, say).run(
            arguments.kills, until
        )
    finally:
        node.close()


if __name__ == "__main__":
    sys.exit(main())
