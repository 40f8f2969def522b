"""Three nodes of one cluster on loopback, of either engine, each with a small heap; any of them may
be killed.

Those of Elasticsearch are without its security, which wants certificates between nodes.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from servers import elasticsearch, opensearch
from servers.engine import Engine, Launch
from servers.process import Server
from servers.settings import free_port

NODES = 3
_HEAPS = {"OpenSearch": "256m", "Elasticsearch": "384m"}
_MASTERS = {"OpenSearch": "cluster_manager", "Elasticsearch": "master"}
_NAMES = [f"n{number + 1}" for number in range(NODES)]


class Cluster:
    """Three servers in `nodes`; `hosts` are those of a store URL, `url` is that of the first node.
    `kind` is the scheme of a store's URL, `engine` another one than the tests'. Ends with `close`.
    """

    def __init__(self, kind: str = "opensearch", engine: Engine | None = None) -> None:
        if engine is None:
            engine = elasticsearch.ENGINE if kind == "elasticsearch" else opensearch.ENGINE
        self.kind, self.variable = kind, engine.variable
        transports = _distinct_ports()
        self.nodes = [
            Server(_member(engine, name, port, transports))
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


def _member(engine: Engine, name: str, transport: int, transports: list[int]) -> Engine:
    """Return one node: the usual configuration, except for the heap and the other nodes."""
    seeds = ",".join(f"127.0.0.1:{port}" for port in transports)
    members = (
        f"cluster.name: nearfold-{transports[0]}\n"
        f"node.name: {name}\n"
        f"transport.port: {transport}\n"
        f"discovery.seed_hosts: [{seeds}]\n"
        f"cluster.initial_{_MASTERS[engine.name]}_nodes: [{','.join(_NAMES)}]\n"
        "cluster.fault_detection.leader_check.interval: 500ms\n"
        "cluster.fault_detection.follower_check.interval: 500ms\n"
    )
    own_settings = ("cluster.name", "node.name", "transport.port", "discovery.type", "xpack.")
    if engine.name == "Elasticsearch":
        members += "xpack.security.enabled: false\n"

    def launch(home: Path, folder: Path, port: int) -> Launch:
        command = engine.launch(home, folder, port)
        settings = folder / "config" / f"{engine.name.lower()}.yml"
        common = [
            line
            for line in settings.read_text(encoding="utf-8").splitlines()
            if not line.startswith(own_settings)
        ]
        settings.write_text("\n".join([*common, members]), encoding="utf-8")
        return _with_heap(command, _HEAPS[engine.name])

    ready = f"/_cluster/health?wait_for_nodes={NODES}&timeout=1s"
    return replace(engine, launch=launch, ready=ready)


def _with_heap(launch: Launch, heap: str) -> Launch:
    """Return a command with another heap, as its words or its environment name it."""

    def small(text: str) -> str:
        for bound in "sx":
            text = text.replace(f"-Xm{bound}{opensearch.HEAP}", f"-Xm{bound}{heap}")
        return text

    environment = {name: small(value) for name, value in launch.environment.items()}
    return Launch(tuple(map(small, launch.argv)), environment)
