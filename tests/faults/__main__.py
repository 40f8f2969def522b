"""Fault-injection tests on request, and the table of their results; run in the folder `tests`.

    python -m faults --kills 200       kill jobs on embedded stores at random
    python -m faults --kills 100 --store opensearch --files 20000
                                       kill jobs, and an OpenSearch of their own (from jars)
    python -m faults --kills 80 --store elasticsearch --files 5000
                                       kill jobs, and an Elasticsearch of their own
    python -m faults --nodes 10        for ten minutes kill nodes of an OpenSearch of three (from
                                       jars), while jobs follow each other beside searches;
                                       --store elasticsearch: of an Elasticsearch of three
    python -m faults --operations 1000 run and kill commands of every kind on eight stores: four
                                       SQLite files, two indices each of an OpenSearch and an
                                       Elasticsearch of their own (--store: those of one kind)
    python -m faults --clients 10000   take so many steps of other clients beside commands of every
                                       kind, on three nodes of an engine that are killed, too;
                                       --plugin: with the layout of the plugin (built by Maven);
                                       --parallel 8: by runs of 250 steps, eight at a time;
                                       --single: on one node, with snapshots that are restored
    python -m faults --mutations 60    take a check of nearfold out at a time, and let clients write
                                       beside commands until that is found, for 60 steps a seed
    python -m faults --tests           every fault-injection test of this folder, by pytest
    python -m faults --fuzz 60         every fuzzer for a minute under atheris (pip install atheris)
    python -m faults --table           print the last recorded counts

`--record` puts the counts of a run into the table in docs/reliability.md.
"""
# ruff: noqa: E402

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "plugin"), str(HERE.parent.parent)]

import pytest
from campaign import Tally, cluster_campaign, embedded_campaign
from long_run import run_all
from mutations import run_without_each
from node_kills import NodeKills
from other_writers import Nodes, SharedRun, run_together
from servers import with_plugin
from servers.choosing import ENGINES
from servers.cluster import Cluster
from servers.process import Server
from table import FaultCounter, record, table

from indexer.stores.maintenance import Layout

CLUSTERS = ("opensearch", "elasticsearch")
STEPS_A_RUN = 250  # of clients, where several runs are at once
MAX_TOGETHER = 50  # operations in one process: the first of them take three times longer
say = partial(print, flush=True)


def main() -> int:
    """Run the command line; a failed assertion names the violated invariant."""
    parser = command_line()
    arguments = parser.parse_args()
    if arguments.table:
        say(table())
        return 0
    if arguments.fuzz is not None:
        return fuzz(arguments.fuzz)
    if arguments.tests is not None:
        return run_tests(arguments.tests, arguments.record)
    if arguments.nodes is not None:
        if arguments.store == "sqlite":
            parser.error("--nodes kills nodes of an engine; a file has none")
        return node_kills(arguments)
    if arguments.operations is not None:
        return operations(arguments)
    if arguments.clients is not None:
        return clients(arguments)
    if arguments.mutations is not None:
        return without_checks(arguments)
    return kills(arguments)


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--store", choices=["sqlite", *CLUSTERS])
    parser.add_argument(
        "--files",
        type=int,
        help="how many to index (default: 500, 20,000 into a cluster, 12,000 with --nodes)",
    )
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10_000))
    parser.add_argument(
        "--minutes",
        type=float,
        default=float("inf"),
        help="stop --kills or --operations after so long",
    )
    parser.add_argument(
        "--nodes", type=float, metavar="MINUTES", help="kill nodes of a cluster for so long"
    )
    parser.add_argument(
        "--operations", type=int, metavar="N", help="run so many commands on each of eight stores"
    )
    parser.add_argument(
        "--clients", type=int, metavar="N", help="take so many steps of clients beside commands"
    )
    parser.add_argument(
        "--plugin", action="store_true", help="--clients, --mutations: with its layout"
    )
    parser.add_argument(
        "--parallel", type=int, default=1, metavar="K", help="--clients: so many runs at once"
    )
    parser.add_argument(
        "--single", action="store_true", help="--clients: one node, which is not killed"
    )
    parser.add_argument(
        "--mutations", type=int, metavar="N", help="take so many steps without each check"
    )
    parser.add_argument(
        "--tests", nargs="*", metavar="FILE", help="run these files of tests, or all"
    )
    parser.add_argument(
        "--fuzz",
        type=int,
        metavar="SECONDS",
        help="run each fuzzed test for so long, guided by the code that it reaches",
    )
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--record", action="store_true")
    return parser


def run_tests(names: list[str], keep: bool) -> int:
    """Run these files of tests, or this folder and the test of the killed server; count faults."""
    os.environ["NEARFOLD_FAULT_TESTS"] = "all"
    count = FaultCounter()
    page = f"--ignore={HERE / 'test_reliability_page.py'}"
    paths = [str(HERE / name) for name in names]
    if not paths:
        paths = [str(HERE), str(HERE.parent / "e2e" / "test_killed_server.py")]
    code = pytest.main(["-q", page, *paths], plugins=[count])
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
    say(f"\n{len(tests)} fuzzers of {seconds} s each; failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


def kills(arguments: argparse.Namespace) -> int:
    """Run a campaign of random kills."""
    store = arguments.store or "sqlite"
    say(f"--seed {arguments.seed}")
    started = time.monotonic()
    until = started + 60 * arguments.minutes
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        if store == "sqlite":
            campaign = embedded_campaign(home, arguments.seed, arguments.files or 500, say)
            tally = campaign.run(arguments.kills, until)
        else:
            tally = _kill_on_cluster(home, arguments, until)
    say(f"{tally}; {time.monotonic() - started:,.0f} s; seed {arguments.seed}")
    if arguments.record:
        server = tally.kills["the server"]
        counts = {f"campaign nearfold {store}": tally.kills.total() - server}
        if store != "sqlite":
            counts[f"campaign {store}"] = server
        record(counts)
    return 0


def operations(arguments: argparse.Namespace) -> int:
    """Run commands of every kind on several stores, and kill most of the processes."""
    say(f"--seed {arguments.seed}")
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as servers:
        home = Path(scratch)
        urls = {}
        if arguments.store in ("sqlite", None):
            urls = {f"sqlite-{number}": f"sqlite:///{home}/{number}.db" for number in range(1, 5)}
        for name in CLUSTERS:
            if arguments.store in (name, None):
                node = servers.enter_context(closing(Server(ENGINES[name].for_long_runs())))
                node.start()
                address = node.url.replace("http", name)
                urls |= {f"{name}-{number}": f"{address}/run{number}" for number in (1, 2)}
        limit = 60 * arguments.minutes
        runs = run_all(home, urls, arguments.operations, arguments.seed, say, limit, MAX_TOGETHER)
    seconds = time.monotonic() - started
    done = sum(run.operations.total() for run in runs.values())
    kills = sum(run.kills.total() for run in runs.values())
    say(f"{done:,} commands, {kills:,} kills; {seconds:,.0f} s; seed {arguments.seed}")
    if arguments.record:
        counts = {f"campaign operations {name}": run.kills.total() for name, run in runs.items()}
        record(counts)
    return 0


def clients(arguments: argparse.Namespace) -> int:
    """Let clients write beside commands; kill both, and nodes of a cluster of three. Return 1 when
    something does not hold.
    """
    say(f"--seed {arguments.seed}")
    kind = arguments.store or "opensearch"
    started = time.monotonic()
    until = started + 60 * arguments.minutes
    layout = _layout(arguments)
    shared, runs = Nodes(), []
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as servers:
        home = Path(scratch)
        hosts, nodes = _servers_for_clients(kind, arguments, servers)
        together = arguments.parallel
        each = arguments.clients if together == 1 else min(arguments.clients, STEPS_A_RUN)
        for number in range(-(-arguments.clients // each)):
            url = f"sqlite:///{home}/clients{number}.db"
            if kind != "sqlite":
                url = f"{kind}://{hosts}/papers{number:03}"
                url += "?shards=2&replicas=1" if nodes else ""
            name = f"{arguments.seed + number}"
            line = say if together == 1 else partial(say, name)
            killed = () if number % together else nodes
            runs.append(SharedRun(home / name, url, name, killed, line, layout, shared))
        counts, failed = run_together(runs, each, together, until)
    steps = sum(run.steps for run in runs)
    say(f"{steps:,} steps: {counts}; {time.monotonic() - started:,.0f} s; seed {arguments.seed}")
    if arguments.record and not failed:
        record({f"campaign clients {kind}": steps})
    return min(len(failed), 1)


def _layout(arguments: argparse.Namespace) -> Layout:
    return "plugin" if arguments.plugin else "pipeline"


def _servers_for_clients(
    kind: str, arguments: argparse.Namespace, servers: contextlib.ExitStack
) -> tuple[str, list[Server]]:
    """Return the hosts of a URL, and the nodes that may be killed; a file has none."""
    if kind == "sqlite":
        return "", []
    engine = with_plugin.engine(kind) if arguments.plugin else ENGINES[kind]
    if arguments.single:
        node = servers.enter_context(closing(Server(engine.for_long_runs())))
        node.start()
        return f"127.0.0.1:{node.port}", []
    cluster = servers.enter_context(closing(Cluster(kind, engine)))
    cluster.start()
    return cluster.hosts, cluster.nodes


def without_checks(arguments: argparse.Namespace) -> int:
    """Take each check out, and show that the steps of clients find that; return 1 if not."""
    arguments.single = True
    kind = "opensearch" if arguments.store in (None, "sqlite") else arguments.store
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as servers:
        hosts, _ = _servers_for_clients(kind, arguments, servers)
        url, steps = f"{kind}://{hosts}/papers", arguments.mutations
        return min(run_without_each(Path(scratch), url, steps, _layout(arguments), say), 1)


def node_kills(arguments: argparse.Namespace) -> int:
    """Kill nodes of a cluster of three at random."""
    say(f"--seed {arguments.seed}")
    kind = arguments.store or "opensearch"
    with tempfile.TemporaryDirectory() as scratch, closing(Cluster(kind)) as cluster:
        cluster.start()
        started = time.monotonic()
        until = started + 60 * arguments.nodes
        files = arguments.files or 12_000
        counts = NodeKills(Path(scratch), cluster, files, arguments.seed, until, say).run()
    say(f"{counts}; {time.monotonic() - started:,.0f} s; seed {arguments.seed}")
    if arguments.record:
        record({f"campaign nodes {kind}": counts.kills.total()})
    return 0


def _kill_on_cluster(home: Path, arguments: argparse.Namespace, until: float) -> Tally:
    node = Server(ENGINES[arguments.store])
    try:
        node.start()
        campaign = cluster_campaign(home, arguments.seed, arguments.files or 20_000, node, say)
        return campaign.run(arguments.kills, until)
    finally:
        node.close()


if __name__ == "__main__":
    sys.exit(main())
