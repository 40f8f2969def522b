"""Settings that OpenSearch and Elasticsearch share, and free ports."""

from __future__ import annotations

import random
import socket
from pathlib import Path

# Below the range from which Linux (32768 up) and macOS (49152 up) take ports for outgoing
# connections.
_PORTS = range(20000, 32000)


def yaml(folder: Path, port: int) -> str:
    """Return the settings of a node that is its own cluster, on loopback only, and that a nearly
    full disk does not stop.
    """
    return (
        f"cluster.name: nearfold-{port}\nnode.name: n1\ndiscovery.type: single-node\nnetwork.host: 127.0.0.1\n"
        f"http.port: {port}\ntransport.port: {free_port()}\npath.data: {folder / 'data'}\npath.logs: {folder / 'logs'}\n"
        "cluster.routing.allocation.disk.threshold_enabled: false\naction.destructive_requires_name: false\n"
    )


def free_port() -> int:
    """A loopback port that nothing listens on and that no outgoing connection is given."""
    for port in random.SystemRandom().sample(_PORTS, len(_PORTS)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no free port from 20000 to 31999")
