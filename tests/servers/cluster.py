"""Three OpenSearch nodes of one cluster on loopback, each with a small heap; any of them may be
killed.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from servers import opensearch
from servers.engine import Engine, Launch
from servers.process import Server
from servers.settings import free_port

NODES = 3
_HEAP = "256m"
_NAMES = [f"n{number + 1}" for number in range(NODES)]


class Cluster:
    """Three servers in `nodes`; `hosts` are those of a store URL, `url` is that of the first node.
    Ends with `close`.
    """

    variable = opensearch.ENGINE.variable

    def __init__(self) -> None:
        transports = _distinct_ports()
        self.nodes = [
            Server(_member(name, port, transports))
            for name, port in zip(_NAMES, transports, strict=True)
        ]
        self.hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        self.url = self.nodes[0].url

    def start(self) -> None:
        """Start all nodes at once and return when each answers as a member of the whole."""
        with ThreadPoolExecutor(NODES) as pool:
            list(pool.map(Server.start, self.nodes))

    def close(self) -> None:
        """End all nodes and remove their data."""
        for node in self.nodes:
            node.close()


def _distinct_ports() -> list[int]:
    ports: set[int] = set()
    while len(ports) < NODES:
        ports.add(free_port())
    return sorted(ports)


def _member(name: str, transport: int, transports: list[int]) -> Engine:
    """Return one node: the usual configuration, except for the heap and the other nodes."""
    seeds = ",".join(f"127.0.0.1:{port}" for port in transports)
    members = (
        f"cluster.name: nearfold-{transports[0]}\n"
        f"node.name: {name}\n"
        f"transport.port: {transport}\n"
        f"discovery.seed_hosts: [{seeds}]\n"
        f"cluster.initial_cluster_manager_nodes: [{','.join(_NAMES)}]\n"
        "cluster.fault_detection.leader_check.interval: 500ms\n"
        "cluster.fault_detection.follower_check.interval: 500ms\n"
    )
    own_settings = ("cluster.name", "node.name", "transport.port", "discovery.type")

    def launch(home: Path, folder: Path, port: int) -> Launch:
        command = opensearch.launch(home, folder, port)
        settings = folder / "config" / "opensearch.yml"
        common = [
            line
            for line in settings.read_text(encoding="utf-8").splitlines()
            if not line.startswith(own_settings)
        ]
        settings.write_text("\n".join([*common, members]), encoding="utf-8")
        heap = {f"-Xm{bound}{opensearch.HEAP}": f"-Xm{bound}{_HEAP}" for bound in "sx"}
        return Launch(tuple(heap.get(word, word) for word in command.argv), command.environment)

    ready = f"/_cluster/health?wait_for_nodes={NODES}&timeout=1s"
    return replace(opensearch.ENGINE, launch=launch, ready=ready)
