"""A standalone Spark cluster on loopback: a master and workers, each its own process.

PySpark's package has all that they need but Java.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pyspark

from servers import java
from servers.engine import Engine, Launch
from servers.process import Server
from servers.settings import free_port

WORKERS = 3
_OLDEST_JAVA = 17
_HOST = "127.0.0.1"


class SparkCluster:
    """A master and `workers`; `url` is what `spark-submit --master` is given. Ends with `close`.

    Each worker offers `cores` and `memory` (as Java writes it, `1g`) to executors, which run as the
    user that started the cluster.
    """

    variable = "NEARFOLD_SPARK_MASTER"

    def __init__(self, workers: int = WORKERS, cores: int = 1, memory: str = "1g") -> None:
        port = free_port()
        self.url = f"spark://{_HOST}:{port}"
        self._master = Server(_daemon("Master", ["--port", str(port)]))
        offer = ["--cores", str(cores), "--memory", memory, self.url]
        self.workers = [Server(_daemon("Worker", offer)) for _ in range(workers)]

    def start(self) -> None:
        """Start the master, then the workers; each registers itself."""
        self._master.start()
        with ThreadPoolExecutor(len(self.workers)) as pool:
            list(pool.map(Server.start, self.workers))

    def processes(self) -> Iterator[psutil.Process]:
        """Yield the processes that workers have started: executors and their Python processes."""
        for worker in self.workers:
            with contextlib.suppress(psutil.NoSuchProcess):
                yield from psutil.Process(worker.pid).children(recursive=True)

    def restart_worker(self) -> None:
        """Kill the worker that was killed longest ago, and start it again."""
        worker = self.workers.pop(0)
        self.workers.append(worker)
        worker.restart()

    def close(self) -> None:
        """End all processes, those of executors included, and remove their folders."""
        for server in (*self.workers, self._master):
            server.close()


def _daemon(role: str, arguments: Sequence[str]) -> Engine:
    """Return a master or a worker, whose page is what shows that it is ready."""

    def launch(home: Path, folder: Path, port: int) -> Launch:
        program = f"org.apache.spark.deploy.{role.lower()}.{role}"
        places = ["--work-dir", str(folder)] if role == "Worker" else []
        address = ["--host", _HOST, "--webui-port", str(port)]
        return Launch(
            (str(home / "bin" / "spark-class"), program, *address, *places, *arguments),
            {
                "JAVA_HOME": str(java.home(_OLDEST_JAVA)),
                "SPARK_HOME": str(home),
                "SPARK_LOCAL_DIRS": str(folder / "shuffle"),
                "SPARK_LOCAL_IP": _HOST,
                "SPARK_DAEMON_MEMORY": "256m",
                "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            },
        )

    return Engine(
        name=f"Spark-{role.lower()}",
        variable="",
        image="",
        container_port=0,
        container_environment={},
        ready="/",
        install=lambda: Path(pyspark.__file__).parent,
        launch=launch,
        refuses_root=False,
    )
