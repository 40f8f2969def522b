"""The Tika server, with its watchdog and a forked parser that the watchdog restarts."""

from __future__ import annotations

from pathlib import Path

from servers import cache, java, maven
from servers.engine import QUICK, Engine, Launch

VERSION = "3.3.2"
JDK = 11
_JAR = f"tika-server-standard-{VERSION}.jar"


def install() -> Path:
    """Fetch the server's jar once and return its folder."""
    java.home(JDK)
    name = f"tika-{VERSION}"
    with cache.installing(name) as fresh:
        if fresh:
            maven.copy(f"org.apache.tika:tika-server-standard:{VERSION}", fresh)
    return cache.folder() / name


def launch(home: Path, folder: Path, port: int) -> Launch:
    """Write the server's configuration and return its command."""
    config = folder / "tika.xml"
    config.write_text(_configuration(folder, port), encoding="utf-8")
    options = ("-Xmx64m", QUICK, f"-Djava.io.tmpdir={folder}")
    server = ("-jar", str(home / _JAR), "-h", "127.0.0.1", "-p", str(port), "-c", str(config))
    return Launch((str(_java()), *options, *server), {})


def _java() -> Path:
    return java.home(JDK) / "bin" / "java"


def _configuration(folder: Path, port: int) -> str:
    settings = {
        "host": "127.0.0.1",
        "port": port,
        "taskTimeoutMillis": 60000,
        "minimumTimeoutMillis": 1000,
        "taskPulseMillis": 1000,
        "maxFiles": 10000,
        "returnStackTrace": "false",
        "javaPath": _java(),
    }
    params = "".join(f"<{name}>{value}</{name}>" for name, value in settings.items())
    options = (
        "-Xmx1g",
        "-XX:+ExitOnOutOfMemoryError",
        QUICK,
        f"-Djava.io.tmpdir={folder}",
    )
    forked = "".join(f"<arg>{option}</arg>" for option in options)
    endpoints = "<endpoint>rmeta</endpoint><endpoint>tika</endpoint>"
    inner = f"{params}<forkedJvmArgs>{forked}</forkedJvmArgs><endpoints>{endpoints}</endpoints>"
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<properties><server><params>{inner}</params></server></properties>\n"
    )


ENGINE = Engine(
    name="Tika",
    variable="NEARFOLD_TEST_TIKA",
    image="apache/tika:3.3.2.0",
    container_port=9998,
    container_environment={},
    ready="/tika",
    install=install,
    launch=launch,
)
