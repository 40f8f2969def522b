"""Servers as containers, where a Docker engine answers. Ports are published on loopback only."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable

from servers.engine import Engine
from servers.process import STARTUP, StartError, answers


def engine_answers() -> bool:
    """Return whether the `docker` command reaches an engine."""
    docker = shutil.which("docker")
    if docker is None:
        return False
    try:
        command = [docker, "version", "--format", "{{.Server.Version}}"]
        return subprocess.run(command, capture_output=True, timeout=10, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def start(engine: Engine) -> tuple[str, Callable[[], None]]:
    """Start a container, wait until its server is ready, and return its URL and the function that
    ends it.
    """
    from testcontainers.core.container import DockerContainer

    container = DockerContainer(engine.image).with_envs(**engine.container_environment)
    container.ports = loopback(engine.container_port)
    container.start()
    port = int(container.get_exposed_port(engine.container_port))
    if not _ready_in_time(port, engine.ready):
        log = b"".join(container.get_logs()).decode("utf-8", "replace")
        container.stop()
        raise StartError(f"{engine.image} was not ready within {STARTUP} s:\n{log[-3000:]}")
    return f"http://127.0.0.1:{port}", container.stop


def loopback(port: int) -> dict[str, tuple[str, None]]:
    """Publish a container's port on a free port of loopback, in the form of Docker's client.

    >>> loopback(9200)
    {'9200/tcp': ('127.0.0.1', None)}
    """
    return {f"{port}/tcp": ("127.0.0.1", None)}


def _ready_in_time(port: int, path: str) -> bool:
    deadline = time.monotonic() + STARTUP
    while time.monotonic() < deadline:
        if answers(port, path):
            return True
        time.sleep(0.2)
    return False
