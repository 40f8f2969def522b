"""Settings that OpenSearch and Elasticsearch share, and free ports."""

from __future__ import annotations

import random
import socket
from pathlib import Path

# Below the range from which Linux (32768 up) and macOS (49152 up) take ports for outgoing
# connections.
_PORTS = range(20000, 32000)


def yaml(folder: Path, port: int) -> str:
    """Return the settings of a single-node cluster, on loopback only, that accepts writes on a
    nearly full disk.
    """
    return (
        f"cluster.name: nearfold-{port}\n"
        "node.name: n1\n"
        "discovery.type: single-node\n"
        "network.host: 127.0.0.1\n"
        f"http.port: {port}\n"
        f"transport.port: {free_port()}\n"
        f"path.data: {folder / 'data'}\n"
        f"path.logs: {folder / 'logs'}\n"
        f"path.repo: {folder / 'snapshots'}\n"
        "cluster.routing.allocation.disk.threshold_enabled: false\n"
        "action.destructive_requires_name: false\n"
        "gateway.write_dangling_indices_info: false\n"  # a file at each change, for no restart here
    )


def free_port() -> int:
    """Return a loopback port without a listener, outside the range of outgoing connections."""
    for port in random.SystemRandom().sample(_PORTS, len(_PORTS)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no free port from 20000 to 31999")
