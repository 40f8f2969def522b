"""Fetch and run the servers by hand.

`python -m servers fetch` fills the cache and starts nothing; `run opensearch tika` runs servers
until Ctrl-C. For many test runs in a row, `eval "$(python -m servers start opensearch)"` leaves one
running in the background and sets the variable that the tests read; its output
says how to end it. `run cluster` runs three OpenSearch nodes until Ctrl-C, `run spark` a Spark
master with three workers.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence

from servers.choosing import ENGINES
from servers.cluster import Cluster
from servers.engine import AbsentError
from servers.process import Server, StartError
from servers.spark import SparkCluster

CLUSTERS = {"cluster": Cluster, "spark": SparkCluster}


def main() -> int:
    """Run the command line; return 1 when an engine is absent or does not start."""
    parser = argparse.ArgumentParser(
        prog="servers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("fetch", "run", "start"))
    parser.add_argument(
        "engines", nargs="*", metavar="ENGINE", help=f"{', '.join(ENGINES)}; all when none is named"
    )
    arguments = parser.parse_args()
    if arguments.action == "run" and arguments.engines in (["cluster"], ["spark"]):
        return _until_interrupted([CLUSTERS[arguments.engines[0]]()])
    unknown = set(arguments.engines) - ENGINES.keys()
    if unknown:
        parser.error(
            f"no engine is called {', '.join(sorted(unknown))}; there are {', '.join(ENGINES)}"
        )
    names = arguments.engines or list(ENGINES)
    try:
        {"fetch": _fetch, "run": _run, "start": _start}[arguments.action](names)
    except (AbsentError, StartError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _fetch(names: Sequence[str]) -> None:
    for name in names:
        print(f"{name}: {ENGINES[name].install()}")


def _start(names: Sequence[str]) -> None:
    for name in names:
        server = Server(ENGINES[name], detached=True)
        try:
            server.start()
        except BaseException:
            server.close()
            raise
        variable = f"export {server.engine.variable}={server.url}"
        print(f"{variable};  # ends with: kill {server.supervisor_pid}", flush=True)


def _run(names: Sequence[str]) -> None:
    _until_interrupted([Server(ENGINES[name]) for name in names])


def _until_interrupted(running: Sequence[Server | Cluster | SparkCluster]) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        for server in running:
            server.start()
            print(f"export {server.variable}={server.url}", flush=True)
        signal.pause()
    except KeyboardInterrupt:
        pass
    finally:
        for server in running:
            server.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
