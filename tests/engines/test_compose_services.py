"""The services of nearfold in the compose files, as processes with the settings of those files:
they install, follow, serve, and read files by a Tika server. Docker itself does not run here.
"""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import samples
import yaml
from pipelines import FERRY, bulk, call, good, require_attachments
from test_attachments import encoded

ROOT = Path(__file__).parents[2]
FILES = {
    "opensearch": "docker-compose.yml",
    "elasticsearch": "docker-compose.elasticsearch.yml",
}
DASHBOARDS = {"opensearch": "opensearch-dashboards", "elasticsearch": "kibana"}


@dataclass
class Composed:
    """The services of a compose file, with the addresses that servers have here."""

    services: dict[str, Any]
    addresses: dict[str, str]
    variables: dict[str, str]

    def command(self, name: str, *words: str) -> tuple[list[str], dict[str, str]]:
        service = self.services[name]
        command = [*(words or service.get("command", ()))]
        settings = {key: self.local(text) for key, text in service["environment"].items()}
        return (
            [sys.executable, "-m", "indexer", *map(self.local, command)],
            {**os.environ, **settings, **self.variables},
        )

    def local(self, text: str) -> str:
        for address, here in self.addresses.items():
            text = text.replace(address, here)
        return text

    def run(self, name: str, *words: str) -> str:
        command, environment = self.command(name, *words)
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self, name: str, *words: str) -> subprocess.Popen[str]:
        command, environment = self.command(name, *words)
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def composed(
    engine: str, server: str, stores: Any, tika_url: str, tmp_path: Path
) -> Iterator[tuple[Composed, str]]:
    _, index = stores(engine, server)
    services = yaml.safe_load((ROOT / FILES[engine]).read_text(encoding="utf-8"))["services"]
    addresses = {
        f"{engine}:9200/docs": f"{server.partition('://')[2]}/{index}",
        "http://tika:9998": tika_url,
        f"http://{DASHBOARDS[engine]}:5601": str(tmp_path / "dashboards.ndjson"),
    }
    variables = {"XDG_STATE_HOME": str(tmp_path / "state"), "PYTHONUNBUFFERED": "1"}
    yield Composed(services, addresses, variables), index


def served() -> list[str]:
    """Return the command of the image, on loopback and at any port."""
    command = re.findall(r"^CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)[-1]
    return [*json.loads(command.replace("0.0.0.0", "127.0.0.1")), "--port", "0"]


def eventually(condition: Callable[[], bool]) -> None:
    """Return when a condition holds; fail after a minute."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.2)


@pytest.mark.slow
def test_services_install_follow_serve_and_read_files(
    composed: tuple[Composed, str], server: str, tmp_path: Path
) -> None:
    services, index = composed
    services.run("install")
    assert (tmp_path / "dashboards.ndjson").stat().st_size > 1000

    def family(id: str) -> str:
        return str(good("GET", f"{server}/{index}/_doc/{id}")["_source"]["near_family"])

    with ExitStack() as stack:
        follower, pages = (
            stack.enter_context(services.start(name, *words))
            for name, words in (("follower", ()), ("nearfold", served()))
        )
        for process in (follower, pages):
            stack.callback(process.wait, 30)
            stack.callback(process.terminate)
        bulk(server, index, [], {"index": {"_id": "a"}}, {"text": FERRY, "colour": "red"})
        eventually(lambda: family("a") == "a")
        later = FERRY.replace("six", "seven")
        bulk(server, index, [], {"index": {"_id": "b"}}, {"text": later})
        eventually(lambda: family("b") == "a")
        assert pages.stdout is not None
        address, password = re.findall(r" at (\S+) .* password (\S+)\)", pages.stdout.readline())[0]
        login = base64.b64encode(f"anyone:{password}".encode()).decode()
        status, found = call("GET", f"{address}api/search?q=ferry", login=f"Basic {login}")
        assert (status, found["total"]) == (200, 2)

    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.docx").write_bytes(samples.docx())
    services.run("nearfold", "index", "--extractor", "server", str(tmp_path / "files"))
    assert samples.PARAGRAPHS[0].split()[0] in services.run(
        "nearfold", "search", samples.PARAGRAPHS[0]
    )
    services.run("follower", "doctor")


def test_files_sent_as_base64_are_read_where_the_image_has_the_plugin(
    composed: tuple[Composed, str], engine: str, server: str
) -> None:
    services, index = composed
    opensearch = services.services[engine]
    assert engine == "elasticsearch" or "ingest-attachment" in str(opensearch["build"])
    require_attachments(server)
    services.run("install")
    (id,) = bulk(
        server, index, [encoded(samples.docx())], pipeline="nearfold-attachment-default_v3"
    )
    text = good("GET", f"{server}/{index}/_doc/{id}")["_source"]["text"]
    assert samples.PARAGRAPHS[0].split()[0] in text
