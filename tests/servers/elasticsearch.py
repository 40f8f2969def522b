"""Elasticsearch, from the distribution that Elastic publishes for integration tests.

It has neither painless nor reindex nor the common ingest processors, and `GET /` answers 405; those
are in the images.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from servers import cache, java, maven
from servers.engine import Engine, Launch
from servers.settings import yaml

VERSION = "9.5.3"
JDK = 21
HEAP = "512m"


def install() -> Path:
    """Unpack the distribution once and return its home."""
    java.home(JDK)
    name = f"elasticsearch-{VERSION}"
    with cache.installing(name) as folder:
        if folder:
            maven.copy(
                f"org.elasticsearch.distribution.integ-test-zip:elasticsearch:{VERSION}:zip", folder
            )
            archive = folder / f"{name}.zip"
            shutil.unpack_archive(archive, folder)
            archive.unlink()
            for part in (folder / name).iterdir():
                part.rename(folder / part.name)
    return cache.folder() / name


def launch(home: Path, folder: Path, port: int) -> Launch:
    """Write a node's configuration and return its command."""
    for part in ("data", "logs", "tmp"):
        (folder / part).mkdir(exist_ok=True)
    config = folder / "config"
    shutil.copytree(home / "config", config, dirs_exist_ok=True)
    (config / "elasticsearch.yml").write_text(
        yaml(folder, port) + "xpack.security.enabled: false\n", encoding="utf-8"
    )
    environment = {
        "ES_JAVA_HOME": str(java.home(JDK)),
        "ES_PATH_CONF": str(config),
        "ES_TMPDIR": str(folder / "tmp"),
        "ES_JAVA_OPTS": f"-Xms{HEAP} -Xmx{HEAP} -XX:TieredStopAtLevel=1 -XX:-AlwaysPreTouch",
        "CLI_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto",
    }
    return Launch(("bash", str(home / "bin" / "elasticsearch")), environment)


ENGINE = Engine(
    name="Elasticsearch",
    variable="NEARFOLD_TEST_ELASTICSEARCH",
    image=f"docker.elastic.co/elasticsearch/elasticsearch:{VERSION}",
    container_port=9200,
    container_environment={
        "discovery.type": "single-node",
        "xpack.security.enabled": "false",
        "ES_JAVA_OPTS": f"-Xms{HEAP} -Xmx{HEAP}",
        "cluster.routing.allocation.disk.threshold_enabled": "false",
        "action.destructive_requires_name": "false",
    },
    ready="/_cluster/health?wait_for_status=yellow&timeout=1s",
    install=install,
    launch=launch,
)
